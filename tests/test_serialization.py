"""save and load: both directions against torch's own files, sharing, safety, and files that lie."""

import io
import os
import pickle
import random
import stat
import zipfile
from collections import Counter, OrderedDict, defaultdict

import pytest
import taeda
from taeda import serialization
from taeda._serialization import archive

DTYPES = (
    "float32 float64 float16 bfloat16 int64 int32 int16 int8 uint8 bool complex64 complex128 uint16 uint32 uint64 "
    "float8_e4m3fn float8_e5m2"
).split()


class Point:
    def __init__(self, x):
        self.x = x


class Slotted:
    __slots__ = ("y",)


class Evil:
    def __reduce__(self):
        return os.getenv, ("HOME",)


class MyTensor(taeda.Tensor):
    pass


def sample(module, dtype):
    return module.arange(6, device="cpu").to(getattr(module, dtype)).reshape(2, 3)


def same(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and a.stride() == b.stride() and a.tolist() == b.tolist()


def roundtrip(obj, load_args=None, **save_args):
    file = io.BytesIO()
    serialization.save(obj, file, **save_args)
    file.seek(0)
    return serialization.load(file, **(load_args or {}))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("view", ["plain", "transposed", "sliced", "empty", "scalar", "expanded"])
def test_dtypes_and_views(dtype, view):
    x = sample(taeda, dtype)
    x = {
        "plain": lambda: x,
        "transposed": lambda: x.t(),
        "sliced": lambda: x[1:, ::2],
        "empty": lambda: x[:, :0],
        "scalar": lambda: x[1, 2],
        "expanded": lambda: x[:, :1].expand(2, 5),
    }[view]()
    assert same(roundtrip(x), x)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("weights_only", [True, False])
def test_containers(protocol, weights_only):
    obj = {
        "list": [1, -1, 2**40, 2**100, 1.5, None, True, "é" * 300, b"bytes", bytearray(b"ab"), 2 + 3j],
        "tuple": ((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)),
        3: {1, 2},
        (1, "k"): OrderedDict([("b", 1), ("a", 2)]),
        "counter": Counter("aab"),
        "size": taeda.Size([2, 3]),
        "dtypes": [taeda.float32, taeda.bool, taeda.bfloat16],
        "device": taeda.device("cpu"),
        "layout": taeda.strided,
    }
    back = roundtrip(obj, {"weights_only": weights_only}, pickle_protocol=protocol)
    assert back == obj
    assert type(back["size"]) is taeda.Size and type(back[(1, "k")]) is OrderedDict


def test_sharing_is_kept():
    base = taeda.arange(10.0)
    back = roundtrip({"a": base, "b": base[2:5], "same": base})
    assert back["same"] is back["a"]
    back["a"][3] = 100
    assert back["b"][1] == 100
    assert back["a"].untyped_storage().nbytes() == 40


def test_one_storage_under_two_dtypes_is_refused():
    x = taeda.zeros(4)
    with pytest.raises(RuntimeError, match="one dtype"):
        roundtrip([x, x.view(taeda.int32)])


def test_parameters_and_attributes():
    p = taeda.nn.Parameter(taeda.ones(2), requires_grad=False)
    q = taeda.nn.Parameter(taeda.ones(2))
    q.note = "kept"
    t = taeda.ones(2)
    t.note = [1]
    p2, q2, t2 = roundtrip([p, q, t])
    assert type(p2) is taeda.nn.Parameter and not p2.requires_grad
    assert type(q2) is taeda.nn.Parameter and q2.requires_grad and q2.note == "kept"
    assert type(t2) is taeda.Tensor and t2.note == [1]


def test_requires_grad_and_non_leaf():
    x = taeda.ones(2, requires_grad=True)
    a, b = roundtrip([x, x * 2])
    assert a.requires_grad and a.is_leaf and b.requires_grad and b.is_leaf


def test_subclass_needs_admission():
    x = taeda.ones(2).as_subclass(MyTensor)
    with pytest.raises(pickle.UnpicklingError, match="MyTensor"):
        roundtrip(x)
    with serialization.safe_globals([MyTensor]):
        assert type(roundtrip(x)) is MyTensor
    assert type(roundtrip(x, {"weights_only": False})) is MyTensor


def test_meta_and_lazy_views():
    back = roundtrip(taeda.empty_strided((2, 3), (1, 2), device="meta"))
    assert back.is_meta and back.stride() == (1, 2)
    z = taeda.tensor([1 + 2j, 3 - 4j])
    assert roundtrip(z.conj()).tolist() == z.conj().tolist()
    assert roundtrip(z.conj().imag).tolist() == [-2.0, 4.0]


def test_untyped_storage_itself():
    storage = taeda.arange(3, dtype=taeda.uint8).untyped_storage()
    assert list(roundtrip(storage)) == [0, 1, 2]


def test_module_state(tmp_path):
    layer = taeda.nn.Linear(3, 2)
    path = tmp_path / "model.pt"
    serialization.save(layer.state_dict(), path)
    state = serialization.load(path)
    assert list(state) == ["weight", "bias"]
    assert same(state["weight"], layer.weight)


def test_whole_module():
    layer = roundtrip(taeda.nn.Linear(3, 2), {"weights_only": False})
    assert type(layer) is taeda.nn.Linear
    with pytest.raises(pickle.UnpicklingError, match="add_safe_globals"):
        roundtrip(layer)


def test_safe_globals():
    point = Point([1, taeda.ones(2)])
    with pytest.raises(pickle.UnpicklingError, match="Point"):
        roundtrip(point)
    serialization.add_safe_globals([Point])
    try:
        assert roundtrip(point).x[0] == 1
        assert serialization.get_safe_globals() == [Point]
    finally:
        serialization.clear_safe_globals()
    assert serialization.get_safe_globals() == []
    with serialization.safe_globals([(defaultdict, "collections.defaultdict"), int]), pytest.raises(ValueError):
        serialization.add_safe_globals([(1, 2, 3)])


def test_unsafe_globals_are_listed():
    for protocol in (2, 4):
        file = io.BytesIO()
        serialization.save([Point(1), taeda.ones(1), defaultdict(list)], file, pickle_protocol=protocol)
        file.seek(0)
        listed = serialization.get_unsafe_globals_in_checkpoint(file)
        assert f"{__name__}.Point" in listed and "collections.defaultdict" in listed
        assert not any("_rebuild" in name for name in listed)


def test_map_location():
    x = taeda.ones(2)
    seen = []
    for where in ("cpu", taeda.device("cpu"), {"cpu": "cpu"}, lambda storage, location: seen.append(location)):
        assert same(roundtrip(x, {"map_location": where}), x)
    assert seen == ["cpu"]
    assert roundtrip(x, {"map_location": "meta"}).is_meta
    assert same(roundtrip(x, {"map_location": lambda storage, location: storage}), x)
    with pytest.raises(RuntimeError, match="nowhere"):
        roundtrip(x, {"map_location": "nowhere"})


@pytest.mark.skipif("taeda.cuda.is_available()")
def test_cuda_without_cuda():
    with pytest.raises(RuntimeError, match="CUDA is not available"):
        roundtrip(taeda.ones(2), {"map_location": "cuda:0"})


def test_mmap(tmp_path):
    path = str(tmp_path / "m.pt")
    obj = {"a": taeda.arange(1000.0), "b": taeda.arange(7, dtype=taeda.int16)}
    serialization.save(obj, path)
    back = serialization.load(path, mmap=True)
    assert same(back["a"], obj["a"]) and same(back["b"], obj["b"])
    back["a"][0] = 5  # private pages
    assert serialization.load(path)["a"][0] == 0
    with pytest.raises(ValueError, match="path"):
        serialization.load(io.BytesIO(), mmap=True)
    assert serialization.get_default_mmap_options() == serialization.MAP_PRIVATE
    with serialization.set_default_mmap_options(serialization.MAP_SHARED):
        serialization.load(path, mmap=True)["a"][0] = 9
    assert serialization.load(path, mmap=True)["a"][0] == 9
    assert serialization.get_default_mmap_options() == serialization.MAP_PRIVATE


class OnlyRead:
    def __init__(self, data):
        self._file = io.BytesIO(data)
        self.read, self.seek, self.tell = self._file.read, self._file.seek, self._file.tell


def test_file_likes():
    x = taeda.arange(5.0)
    file = io.BytesIO()
    serialization.save(x, file)
    assert same(serialization.load(OnlyRead(file.getvalue())), x)
    with pytest.raises(AttributeError, match="seek"):
        serialization.load(type("F", (), {"read": None})())
    with pytest.raises(AttributeError, match="write"):
        serialization.save(x, 3)


def test_pickle_module_and_weights_only():
    x = [taeda.arange(5.0), Point(3)]
    assert roundtrip(x, {"pickle_module": pickle})[1].x == 3
    with pytest.raises(RuntimeError, match="pickle_module"):
        roundtrip(x, {"pickle_module": pickle, "weights_only": True})


def test_foreign_pickler():
    class Foreign:
        Pickler = type("Pickler", (pickle.Pickler,), {})

    back = roundtrip([taeda.arange(3.0)], {"weights_only": False}, pickle_module=Foreign)
    assert same(back[0], taeda.arange(3.0))


def test_saving_is_atomic(tmp_path):
    path = tmp_path / "a.pt"
    serialization.save(taeda.ones(1), path)
    os.chmod(path, 0o640)
    before = path.read_bytes()
    with pytest.raises(Exception, match="lambda|local"):
        serialization.save([taeda.ones(1000), lambda: 0], path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["a.pt"]
    link = tmp_path / "link.pt"
    link.symlink_to(path)
    serialization.save(taeda.ones(2), link)
    assert link.is_symlink() and serialization.load(path).shape == (2,)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    with pytest.raises(RuntimeError, match="parent"):
        serialization.save(1, tmp_path / "no" / "where.pt")


def test_structure(tmp_path):
    path = tmp_path / "name.of.pt"
    serialization.save([taeda.arange(n + 1.0) for n in range(12)], path)
    with zipfile.ZipFile(path) as z, open(path, "rb") as raw:
        assert z.testzip() is None
        names = [info.filename for info in z.infolist()]
        for info in z.infolist():
            raw.seek(info.header_offset + 26)
            lengths = raw.read(4)
            start = info.header_offset + 30 + lengths[0] + 256 * lengths[1] + lengths[2] + 256 * lengths[3]
            assert start % 64 == 0 and info.compress_type == zipfile.ZIP_STORED
    expected = ["data.pkl", ".format_version", ".storage_alignment", "byteorder", *(f"data/{i}" for i in range(12))]
    assert names == ["name.of/" + n for n in [*expected, "version", ".data/serialization_id"]]


def test_equal_objects_make_equal_files():
    def write():
        file = io.BytesIO()
        serialization.save({"w": taeda.arange(5.0)}, file)
        return file.getvalue()

    assert write() == write()


def test_zip64(monkeypatch):
    monkeypatch.setattr(archive, "_NO_FIT", 300)
    file = io.BytesIO()
    obj = [taeda.arange(n * 10.0) for n in range(20)]
    # The reader sees 64-bit fields only where the 32-bit ones say so; 300 does not, so look at the extra fields alone.
    serialization.save(obj, file)
    assert b"PK\x06\x06" in file.getvalue() and b"PK\x06\x07" in file.getvalue()


def test_options():
    serialization.set_crc32_options(False)
    try:
        file = io.BytesIO()
        serialization.save(taeda.arange(4.0), file)
        assert {info.CRC for info in zipfile.ZipFile(file).infolist()} == {0}
        assert same(serialization.load(file), taeda.arange(4.0))
    finally:
        serialization.set_crc32_options(True)
    with serialization.skip_data():
        assert roundtrip(taeda.ones(3, 2)).shape == (3, 2)
    with pytest.raises(ValueError, match="zip"):
        serialization.save(1, io.BytesIO(), _use_new_zipfile_serialization=False)


# Files that lie. Each is a valid archive with one thing changed.


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


def load_pickle(text):
    return serialization.load(io.BytesIO(rewrite(checkpoint(), {"data.pkl": text})))


@pytest.mark.parametrize(
    "text",
    [
        b"\x80\x02c__builtin__\nbytearray\n\x8a\x06\xff\xff\xff\xff\xff\x00\x85R.",  # terabytes of zeros
        b"\x80\x02ccollections\nOrderedDict\nN}X\x01\x00\x00\x00aK\x01s\x86b.",  # attributes set on a class
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\nN}X\x0c\x00\x00\x00__defaults__K\x01s\x86b.",
        b"\x80\x02(K\x01K\x02tK\x01\x85R.",  # calls a tuple
        b"\x80\x02h\x05.",  # an empty memo
        b"\x80\x02t.",  # no mark
        b"\x80\x02(.",  # the mark is the result
        b"\x80\x02}K\x01a.",
        b"\x80\x02X\xff\xff\xff\x7fab.",  # a string longer than the file
        b"\x80\x63K\x01.",
        b"cbuiltins\neval\nX\x01\x00\x00\x001\x85R.",
        b"\x80\x02}" + b"K\x01" + b"2\x86" * 60 + b"K\x01s.",  # (x, x) sixty deep as a key: 2**60 steps to hash
        b"\x80\x02]]a\x85" + b"}" + b"]K\x01s.",  # an unhashable key
        b"\x80\x02ctorch\ndevice\nX\x05\x00\x00\x00bogus\x85R0K\x01",
        b"\x80\x02\x8b\xff\xff\xff\xff.",
        b"\x80\x02r\xff\xff\xff\xff.",
        b"\x80\x02\xff.",
    ],
)
def test_hostile_pickles(text):
    with pytest.raises((pickle.UnpicklingError, RuntimeError)):
        load_pickle(text)


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


# Files of the two systems are exchanged.

torch = pytest.importorskip("torch")


def zoo(module):
    base = module.arange(10.0)
    parameter = module.nn.Parameter(module.ones(2, 2))
    noted = module.nn.Parameter(module.zeros(2))
    noted.note = "n"
    return OrderedDict(
        [(dtype, sample(module, dtype).t()) for dtype in DTYPES],
        base=base,
        view=base[2:8:2],
        parameter=parameter,
        noted=noted,
        size=module.Size([1, 2]),
        dtype=module.float16,
        device=module.device("cpu"),
        nested=[{"a": (1, [2.5, "s"])}, {3, 4}],
        lazy=module.tensor([1 + 2j]).conj(),
        meta=module.empty(2, 3, device="meta"),
        counter=Counter("aab"),
    )


def check_zoo(back, module):
    for name, expected in zoo(module).items():
        got = back[name]
        assert type(got) is type(expected), name
        if isinstance(expected, module.Tensor):
            if expected.is_meta:
                assert got.is_meta and got.shape == expected.shape
            else:
                assert same(got, expected), name
            assert got.requires_grad == expected.requires_grad
        else:
            assert got == expected, name
    assert back["noted"].note == "n"
    assert back["base"].untyped_storage().data_ptr() == back["view"].untyped_storage().data_ptr()


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("mmap", [True, False])
def test_torch_reads_ours(tmp_path, weights_only, mmap):
    serialization.save(zoo(taeda), tmp_path / "f.pt")
    check_zoo(torch.load(tmp_path / "f.pt", weights_only=weights_only, mmap=mmap), torch)


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("mmap", [True, False])
def test_we_read_torchs(tmp_path, weights_only, mmap):
    torch.save(zoo(torch), tmp_path / "f.pt")
    check_zoo(serialization.load(tmp_path / "f.pt", weights_only=weights_only, mmap=mmap), taeda)


def test_pickles_equal_torchs(tmp_path):
    import pickletools

    def opcodes(save, module):
        save(zoo(module), tmp_path / "f.pt")
        with zipfile.ZipFile(tmp_path / "f.pt") as z:
            return [(op.name, arg) for op, arg, _ in pickletools.genops(z.read("f/data.pkl"))]

    assert opcodes(serialization.save, taeda) == opcodes(torch.save, torch)


def test_optimizer_checkpoint_reads_in_torch(tmp_path):
    layer = taeda.nn.Linear(3, 2)
    optimizer = taeda.optim.Adam(layer.parameters())
    layer(taeda.ones(1, 3)).sum().backward()
    optimizer.step()
    serialization.save({"model": layer.state_dict(), "optim": optimizer.state_dict(), "epoch": 3}, tmp_path / "c.pt")
    back = torch.load(tmp_path / "c.pt")
    assert back["epoch"] == 3 and back["model"]["weight"].tolist() == layer.weight.tolist()
    other = torch.optim.Adam(torch.nn.Linear(3, 2).parameters())
    other.load_state_dict(back["optim"])
    assert other.state_dict()["state"][0]["step"] == 1


def test_whole_module_reads_in_torch(tmp_path):
    layer = taeda.nn.Linear(3, 2)
    serialization.save(layer, tmp_path / "m.pt")
    back = torch.load(tmp_path / "m.pt", weights_only=False)
    assert type(back) is torch.nn.Linear and back.weight.tolist() == layer.weight.tolist()
