"""Files that lie: valid archives with something changed. Loading refuses, with an error of the promised type."""

import io
import os
import pickle
import random
import zipfile
from collections import Counter

import pytest

import taeda
from taeda import serialization
from taeda._serialization import old_format


class Evil:
    def __reduce__(self):
        return os.getenv, ("HOME",)


def sample(module, dtype):
    return module.arange(6, device="cpu").to(getattr(module, dtype)).reshape(2, 3)


def same(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and a.stride() == b.stride() and a.tolist() == b.tolist()


def rewrite(data, replace=None, compress=False, drop=()):
    """The same archive with records replaced by name (without the folder)."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(out, "w") as target:
        for info in source.infolist():
            name = info.filename.partition("/")[2]
            if name not in drop:
                content = (replace or {}).get(name, source.read(info))
                target.writestr(info.filename, content, zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED)
    return out.getvalue()


def checkpoint(obj=None):
    file = io.BytesIO()
    serialization.save({"w": taeda.arange(6.0).reshape(2, 3)} if obj is None else obj, file)
    return file.getvalue()


def pickled(data):
    with zipfile.ZipFile(io.BytesIO(data)) as z:
        return z.read("archive/data.pkl")


def lie(old, new, count=1):
    data = checkpoint()
    text = pickled(data)
    assert old in text
    return rewrite(data, {"data.pkl": text.replace(old, new, count)})


TENSOR_ARGS = b"K\x00K\x02K\x03\x86"  # offset 0, then the size (2, 3)
STRIDES = b"K\x03K\x01\x86"


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: lie(TENSOR_ARGS, b"K\x01K\x02K\x03\x86"), RuntimeError),
        (lambda: lie(TENSOR_ARGS, b"J\xff\xff\xff\xffK\x02K\x03\x86"), RuntimeError),
        (lambda: lie(TENSOR_ARGS, b"K\x00K\x02K\x09\x86"), RuntimeError),
        (lambda: lie(TENSOR_ARGS, b"K\x00J\xff\xff\xff\xffK\x03\x86"), RuntimeError),
        (lambda: lie(TENSOR_ARGS, b"K\x00\x8a\x09" + b"\xff" * 8 + b"\x00K\x03\x86"), RuntimeError),
        (lambda: lie(TENSOR_ARGS, b"K\x00K\x02\x85"), RuntimeError),
        (lambda: lie(STRIDES, b"M\x00\x40K\x01\x86"), RuntimeError),
        (lambda: lie(STRIDES, b"J\xff\xff\xff\xffK\x01\x86"), RuntimeError),
        (lambda: lie(b"K\x06t", b"K\x07t"), RuntimeError),
        (lambda: lie(b"K\x06t", b"J\xff\xff\xff\xfft"), RuntimeError),
        (lambda: lie(b"K\x06t", b"\x8a\x08" + b"\xff" * 7 + b"\x7ft"), RuntimeError),
        (lambda: lie(b"FloatStorage", b"DoubleStorage"), RuntimeError),
        (lambda: lie(b"X\x01\x00\x00\x000", b"X\x01\x00\x00\x007"), RuntimeError),
        (lambda: lie(b"X\x03\x00\x00\x00cpu", b"X\x03\x00\x00\x00xpu"), RuntimeError),
        (lambda: lie(b"ctorch._utils\n_rebuild_tensor_v2", b"cos\nsystem"), pickle.UnpicklingError),
        (lambda: lie(b"ctorch\nFloatStorage", b"cos\nenviron"), pickle.UnpicklingError),
        (lambda: rewrite(checkpoint(), {"data.pkl": pickled(checkpoint())[:-20]}), pickle.UnpicklingError),
        (lambda: rewrite(checkpoint(), {"data.pkl": b""}), pickle.UnpicklingError),
        (lambda: rewrite(checkpoint(), {"byteorder": b"middle"}), RuntimeError),
        (lambda: rewrite(checkpoint(), {"data/0": b"short"}), RuntimeError),
        (lambda: rewrite(checkpoint(), compress=True), RuntimeError),
        (lambda: rewrite(checkpoint(), drop=("data/0",)), RuntimeError),
        (lambda: rewrite(checkpoint(), drop=("data.pkl",)), RuntimeError),
        (lambda: checkpoint()[:-30], RuntimeError),
        (lambda: checkpoint()[: len(checkpoint()) // 2], RuntimeError),
        (lambda: b"", EOFError),
        (lambda: b"not a checkpoint at all", pickle.UnpicklingError),
        (lambda: b"PK\x03\x04", RuntimeError),
        (lambda: checkpoint([Evil()]), pickle.UnpicklingError),
    ],
)
def test_lies_are_refused(make, error):
    with pytest.raises(error) as caught:
        serialization.load(io.BytesIO(make()))
    assert caught.type is error or caught.type.__mro__[1] is error


ENDLESS = b"2\x86" * 60  # (x, x) sixty deep: 2**60 steps to hash, to print or to walk


def load_pickle(text):
    return serialization.load(io.BytesIO(rewrite(checkpoint(), {"data.pkl": text})))


@pytest.mark.parametrize(
    "text",
    [
        b"\x80\x02c__builtin__\nbytearray\n\x8a\x06\xff\xff\xff\xff\xff\x00\x85R.",  # terabytes of zeros
        b"\x80\x02ccollections\nOrderedDict\nN}X\x01\x00\x00\x00aK\x01s\x86b.",  # attributes set on a class
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\nN}X\x0c\x00\x00\x00__defaults__K\x01s\x86b.",
        b"\x80\x02(K\x01K\x02tK\x01\x85R.",  # calls a tuple
        b"\x80\x02ccollections\nCounter\n\x8a\x06\xff\xff\xff\xff\xff\x00\x85R.",
        b"\x80\x02h\x05.",  # an empty memo
        b"\x80\x02t.",  # no mark
        b"\x80\x02(.",  # the mark is the result
        b"\x80\x02}K\x01a.",
        b"\x80\x02X\xff\xff\xff\x7fab.",  # a string longer than the file
        b"\x80\x63K\x01.",
        b"cbuiltins\neval\nX\x01\x00\x00\x001\x85R.",
        b"\x80\x02}N" + ENDLESS + b"K\x01s.",
        b"\x80\x04\x8f(N" + ENDLESS + b"\x90.",
        b"\x80\x02ccollections\nOrderedDict\nN" + ENDLESS + b"R.",
        b"\x80\x02ccollections\nOrderedDict\n)RN" + ENDLESS + b"b.",
        b"\x80\x02N" + ENDLESS + b"Q.",
        b"\x80\x02(X\x07\x00\x00\x00storageN" + ENDLESS + b"tQ.",
        b"\x80\x02ctorch._utils\n_rebuild_sparse_tensor\nN" + ENDLESS + b"N\x86R.",
        b"\x80\x02]]a\x85" + b"}" + b"]K\x01s.",  # an unhashable key
        b"\x80\x02ctorch\ndevice\nX\x05\x00\x00\x00bogus\x85R0K\x01.",
        b"\x80\x02\x8b\xff\xff\xff\xff.",
        b"\x80\x02r\xff\xff\xff\xff.",
        b"\x80\x02\xff.",
    ],
)
def test_hostile_pickles(text):
    with pytest.raises((pickle.UnpicklingError, RuntimeError)):
        load_pickle(text)


def test_tuples_without_end_in_an_old_file():
    head = [pickle.dumps(part, 2) for part in (old_format._MAGIC, old_format._VERSION, {}, {})]
    endless = b"\x80\x02N" + ENDLESS + b"."
    id_ = endless[:-1] + b"Q."  # where no persistent id belongs
    for data in (id_, head[0] + id_ + head[2]):
        with pytest.raises(pickle.UnpicklingError, match="taeda.load"):
            serialization.load(io.BytesIO(data))
    for data in (head[0] + endless + head[2], b"".join(head) + b"\x80\x02]N" + ENDLESS + b"a."):
        with pytest.raises(RuntimeError, match="taeda.load"):
            serialization.load(io.BytesIO(data))


def test_overlapping_records():
    data = bytearray(checkpoint([taeda.zeros(4000), taeda.ones(4000), taeda.ones(2000)]))
    at = [i for i in range(len(data)) if data[i : i + 4] == b"PK\x01\x02"]
    for record in at:
        if data[record + 46 :].startswith((b"archive/data/1", b"archive/data/2")):
            data[record + 20 : record + 28] = (46_000).to_bytes(4, "little") * 2
    with pytest.raises(RuntimeError):
        serialization.load(io.BytesIO(bytes(data)))


def test_damage_never_escapes_as_something_else():
    """Random bytes changed: the load succeeds or raises one of the promised errors."""
    rng = random.Random(0)
    data = checkpoint({"w": taeda.arange(6.0), "p": taeda.nn.Parameter(taeda.ones(3)), "n": [1, "x", (2.5, None)]})
    for _ in range(1500):
        damaged = bytearray(data)
        for _ in range(rng.choice([1, 1, 2, 8])):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        if rng.random() < 0.2:
            del damaged[rng.randrange(len(damaged)) :]
        try:
            serialization.load(io.BytesIO(bytes(damaged)))
        except (RuntimeError, pickle.UnpicklingError, EOFError) as error:
            assert "taeda.load" in str(error), error


def test_damaged_pickles_never_escape_as_something_else():
    rng = random.Random(1)
    text = pickled(checkpoint({"w": taeda.arange(6.0), "p": taeda.nn.Parameter(taeda.ones(3)), "n": Counter("ab")}))
    for _ in range(1500):
        damaged = bytearray(text)
        for _ in range(rng.choice([1, 1, 2, 4])):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        try:
            load_pickle(bytes(damaged))
        except (RuntimeError, pickle.UnpicklingError):
            pass


def test_checksums_catch_flipped_bits():
    data = bytearray(checkpoint())
    at = bytes(data).index(taeda.arange(6.0).numpy().tobytes()[4:])
    data[at] ^= 1
    with pytest.raises(RuntimeError, match="checksum"):
        serialization.load(io.BytesIO(bytes(data)))


@pytest.mark.parametrize("dtype", ["float32", "int16", "complex64", "uint8"])
def test_the_other_byte_order(dtype):
    import numpy

    x = sample(taeda, dtype)
    swapped = x.numpy().astype(x.numpy().dtype.newbyteorder(">")).tobytes()
    data = rewrite(checkpoint(x), {"byteorder": b"big", "data/0": swapped})
    assert numpy.array_equal(serialization.load(io.BytesIO(data)).numpy(), x.numpy())
    data = rewrite(checkpoint(x), {"data/0": swapped}, drop=("byteorder",))
    serialization.set_default_load_endianness(serialization.LoadEndianness.BIG)
    try:
        assert same(serialization.load(io.BytesIO(data)), x)
    finally:
        serialization.set_default_load_endianness(None)


@pytest.mark.parametrize(
    "data",
    [
        b"\x8e" + b"\xff" * 7 + b"\x3f" + bytes(20),  # bytes and a bytearray longer than any memory
        b"\x96" + b"\xff" * 8 + bytes(20),
        b"\x8d" + b"\xff" * 7 + b"\x3f" + bytes(20),
        b"\x80\x02" + b"(" * 50_000 + b"t" * 50_000 + b".",
    ],
)
@pytest.mark.parametrize("safe", [True, False])
def test_a_first_pickle_that_asks_for_too_much(data, safe, tmp_path):
    (tmp_path / "x").write_bytes(data)
    for file in (tmp_path / "x", io.BytesIO(data)):
        with pytest.raises(pickle.UnpicklingError, match="no checkpoint"):
            serialization.load(file, weights_only=safe)
