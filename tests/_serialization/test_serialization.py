"""save and load: both directions against torch's own files, sharing, safety, and files that lie."""

import io
import os
import pickle
import stat
import warnings
import zipfile
from collections import Counter, OrderedDict, defaultdict
from multiprocessing.reduction import ForkingPickler

import numpy
import pytest

import taeda
from taeda import serialization
from taeda._serialization import archive
from taeda._serialization.safe_globals import globals_in

DTYPES = [
    "float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64",
    "complex128", "uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
    "float8_e8m0fnu",
]  # fmt: skip


class Point:
    def __init__(self, x):
        self.x = x


class Slotted:
    __slots__ = ("y",)


class MyTensor(taeda.Tensor):
    pass


def sample(module, dtype):
    return module.arange(6, device="cpu").to(getattr(module, dtype)).reshape(2, 3)


def same(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and a.stride() == b.stride() and a.tolist() == b.tolist()


class Slots(taeda.Tensor):
    __slots__ = ("unit",)


class Stateful(taeda.Tensor):
    def __getstate__(self):
        return {"custom": self.note}

    def __setstate__(self, state):
        self.note = state["custom"] + "!"


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


@pytest.mark.parametrize("weights_only", [True, False])
def test_subclass_state(weights_only):
    slotted = taeda.ones(2).as_subclass(Slots)
    slotted.unit, slotted.note = "cm", 1
    stateful = taeda.ones(2).as_subclass(Stateful)
    stateful.note = "a"
    with serialization.safe_globals([Slots, Stateful]):
        one, two = roundtrip([slotted, stateful], {"weights_only": weights_only})
    assert (one.unit, one.note, two.note) == ("cm", 1, "a!")


def test_a_file_cannot_set_what_the_class_defines():
    x = taeda.ones(2)
    x.__dict__["data"] = taeda.zeros(2)
    assert roundtrip(x).tolist() == [1, 1]


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


def test_numpy_arrays_load_safely_once_their_dtype_is_admitted():
    made = [numpy._core.multiarray._reconstruct, numpy.ndarray, numpy.dtype]
    file = io.BytesIO()
    taeda.save(numpy.arange(3, dtype=numpy.uint32), file)
    file.seek(0)
    with serialization.safe_globals([*made, numpy.dtypes.UInt32DType]):
        assert taeda.load(file).tolist() == [0, 1, 2]
    file.seek(0)
    with serialization.safe_globals(made), pytest.raises(pickle.UnpicklingError, match="UInt32DType"):
        taeda.load(file)


def test_safe_globals():
    point = Point([1, taeda.ones(2)])
    with pytest.raises(pickle.UnpicklingError, match="Point"):
        roundtrip(point)
    before = serialization.get_safe_globals()  # those of modules that were imported
    serialization.add_safe_globals([Point])
    try:
        assert roundtrip(point).x[0] == 1
        assert serialization.get_safe_globals() == [*before, Point]
    finally:
        serialization.clear_safe_globals()
    assert serialization.get_safe_globals() == []
    serialization.add_safe_globals(before)
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
    with pytest.raises(pickle.UnpicklingError, match="taeda.load: the pickle is damaged"):
        globals_in(b"S'\xf7'\n.")


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


def test_cuda_without_cuda(monkeypatch):
    monkeypatch.setattr(taeda.cuda, "is_available", lambda: False)
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
    """Above 4 GB the zip's 64-bit fields are written; the limit is lowered to see them in a small file."""
    monkeypatch.setattr(archive, "_NO_FIT", 300)
    file = io.BytesIO()
    serialization.save([taeda.arange(n * 10.0) for n in range(20)], file)
    data = file.getvalue()
    locator = data.index(b"PK\x06\x07")
    end = int.from_bytes(data[locator + 8 : locator + 16], "little")
    assert data[end : end + 4] == b"PK\x06\x06" and end + 56 == locator
    count, size, start = (int.from_bytes(data[end + at : end + at + 8], "little") for at in (32, 40, 48))
    assert count == data.count(b"PK\x01\x02") and start + size == end and data[start : start + 4] == b"PK\x01\x02"


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


def test_fake_tensors_become_blank_ones():
    from taeda._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        whole = taeda.ones(2, 3, dtype=taeda.bfloat16)
        layer = taeda.nn.Linear(2, 3)
    things = {"whole": whole, "row": whole[1], "layer": layer.state_dict(), "real": taeda.ones(2)}
    file = io.BytesIO()
    with serialization.skip_data(materialize_fake_tensors=True):
        taeda.save(things, file)
    file.seek(0)
    read = taeda.load(file)
    assert type(read["whole"]) is type(read["layer"]["weight"]) is taeda.Tensor
    assert read["whole"].dtype is taeda.bfloat16 and read["whole"].tolist() == [[0.0] * 3] * 2
    assert read["row"].untyped_storage() is read["whole"].untyped_storage() and read["row"].storage_offset() == 3
    assert (read["layer"]["weight"].shape, read["real"].tolist()) == ((3, 2), [0.0, 0.0])
    with serialization.skip_data(), pytest.raises(pickle.UnpicklingError, match="FakeTensor"):
        roundtrip(things)


def test_files_are_flushed():
    class File(io.BytesIO):
        flushed = 0

        def flush(self):
            self.flushed = len(self.getvalue())

    file = File()
    taeda.save(taeda.ones(2), file)
    assert file.flushed == len(file.getvalue()) > 0


def test_records_one_by_one(tmp_path):
    path = str(tmp_path / "file.pt")
    taeda.save({"a": taeda.arange(4.0)}, path)
    for source in (path, tmp_path / "file.pt", io.BytesIO((tmp_path / "file.pt").read_bytes())):
        reader = taeda.PyTorchFileReader(source)
        assert {"data.pkl", "data/0", "version", "byteorder"} <= set(reader.get_all_records())
        assert (
            reader.has_record("data/0") and not reader.has_record("data/1") and reader.get_record_size("data/0") == 16
        )
        offset = reader.get_record_offset("data/0")
        assert (tmp_path / "file.pt").read_bytes()[offset : offset + 16] == reader.get_record("data/0")
        tensor = reader.get_storage_from_record("data/0", 4, taeda.float32)
        assert tensor.numel() == 0 and tensor.storage().tolist() == [0, 1, 2, 3]
        raw = reader.get_storage_from_record("data/0", 16, taeda.UntypedStorage)
        assert bytes(raw.untyped_storage().tolist()) == reader.get_record("data/0")
    assert taeda._C.PyTorchFileReader is taeda.PyTorchFileReader
    with pytest.raises(RuntimeError, match="'nothing' is missing"):
        reader.get_record("nothing")
    with pytest.raises(RuntimeError, match="16 bytes, not 3 elements"):
        reader.get_storage_from_record("data/0", 3, taeda.float32)
    with pytest.raises(RuntimeError, match="PyTorchFileReader"):
        taeda.PyTorchFileReader(str(tmp_path / "no such file"))


def test_rebuilders_that_programs_call():
    from taeda import _utils

    storage = taeda.arange(6.0).storage()
    tensor = _utils._rebuild_tensor_v2(storage, 1, (2, 2), (2, 1), True, OrderedDict())
    assert tensor.tolist() == [[1, 2], [3, 4]] and tensor.requires_grad and tensor.untyped_storage().nbytes() == 24
    parameter = _utils._rebuild_parameter(tensor.detach(), False, OrderedDict())
    assert type(parameter) is taeda.nn.Parameter and not parameter.requires_grad
    empty = taeda.storage.TypedStorage(dtype=taeda.float64, device="meta")
    tensor = _utils._rebuild_tensor_v2(empty, 0, (2, 3), (3, 1), False, OrderedDict())
    assert tensor.is_meta and tensor.shape == (2, 3) and tensor.dtype == taeda.float64
    assert _utils._element_size(taeda.bfloat16) == 2
    with pytest.raises(RuntimeError, match="7 elements"):
        _utils._rebuild_tensor_v2(storage, 1, (2, 3), (3, 1), False, OrderedDict())
    with pytest.raises(AttributeError, match="_rebuild_nothing"):
        _ = _utils._rebuild_nothing


def test_versions_compare():
    from types import SimpleNamespace

    newer = taeda.serialization.check_module_version_greater_or_equal
    module = SimpleNamespace(__name__="module", __version__="1.10.2")
    assert newer(module, (1, 2)) and newer(module, (1, 10, 2)) and not newer(module, (2,))
    module.__version__ = "1.x"
    with pytest.raises(RuntimeError, match="1.x"):
        newer(module, (1, 2))
    with pytest.warns(UserWarning, match="new enough"):
        assert newer(module, (1, 2), error_if_malformed=False)


@pytest.mark.parametrize("save", [pickle.dumps, ForkingPickler.dumps, lambda x: taeda.save(x, io.BytesIO())])
def test_hooks_that_a_pickle_lacks(save):
    """They are told of, unless they are marked."""
    tensor = taeda.ones(2, requires_grad=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tensor.register_hook(taeda.utils.hooks.unserializable_hook(lambda g: g))
        save(tensor)
        assert not caught
        handle = tensor.register_hook(lambda g: g)
        save(tensor)
        assert len(caught) == 1 and "without its hook" in str(caught[0].message)
        handle.remove()
        save(tensor)
    assert len(caught) == 1
