"""Files of the format from before PyTorch 1.6: written, read, exchanged with PyTorch, damaged and hostile."""

import io
import pickle
import random
import struct

import pytest

import taeda
from taeda import nn, serialization
from taeda._serialization import old_format

DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int8", "uint8", "bool", "complex64")


def things(lib):
    base = lib.arange(12.0)
    tensors = {name: lib.arange(6).reshape(2, 3).to(getattr(lib, name)) for name in DTYPES}
    return {
        **tensors, "part": base[2:6], "turned": base.view(3, 4).t(), "none": lib.empty(0), "number": lib.tensor(2.5),
        "weight": lib.nn.Parameter(lib.ones(2)), "rest": [1, "a", None, {"deep": lib.Size([1, 2])}, lib.device("cpu")],
    }  # fmt: skip


def facts(loaded):
    tensors = {name: value for name, value in loaded.items() if name != "rest"}
    facts = {n: (str(t.dtype), tuple(t.shape), t.stride(), t.tolist(), type(t).__name__) for n, t in tensors.items()}
    shared = loaded["part"].untyped_storage().data_ptr() == loaded["turned"].untyped_storage().data_ptr()
    return facts, shared, str(loaded["rest"])


def written(obj, lib=taeda, **options):
    file = io.BytesIO()
    lib.save(obj, file, _use_new_zipfile_serialization=False, **options)
    return file.getvalue()


def read(data, **options):
    return taeda.load(io.BytesIO(data), **options)


@pytest.mark.parametrize("protocol", [2, 4])
@pytest.mark.parametrize("weights_only", [True, False])
def test_roundtrip(protocol, weights_only):
    loaded = read(written(things(taeda), pickle_protocol=protocol), weights_only=weights_only)
    assert facts(loaded) == facts(things(taeda))


@pytest.mark.torch
@pytest.mark.parametrize("protocol", [2, 4])
def test_exchange_with_torch(protocol):
    torch = pytest.importorskip("torch")
    theirs = written(things(torch), torch, pickle_protocol=protocol)
    assert facts(read(theirs)) == facts(things(taeda)) == facts(read(theirs, weights_only=False))
    ours = io.BytesIO(written(things(taeda)))
    assert facts(torch.load(ours)) == facts(things(torch))


@pytest.mark.torch
def test_a_whole_module_from_torch():
    torch = pytest.importorskip("torch")
    theirs = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
    data = written(theirs, torch)
    ours = read(data, weights_only=False)
    assert type(ours[0]) is nn.Linear and ours[0].weight.tolist() == theirs[0].weight.tolist()
    with pytest.raises(pickle.UnpicklingError, match="Sequential"):
        read(data)
    assert "torch.nn.modules.linear.Linear" in serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(data))


def test_places_and_paths(tmp_path):
    path, data = tmp_path / "old.pt", written(things(taeda))
    path.write_bytes(data)
    assert facts(taeda.load(path)) == facts(things(taeda))
    assert read(data, map_location="meta")["part"].is_meta
    assert read(data, map_location=lambda storage, location: storage)["float32"].tolist() == [[0, 1, 2], [3, 4, 5]]
    with serialization.skip_data():
        assert read(data)["float32"].shape == (2, 3)
    with pytest.raises(RuntimeError, match="mmap"):
        taeda.load(path, mmap=True)
    taeda.save(things(taeda), path, _use_new_zipfile_serialization=False)
    assert path.read_bytes() == data and list(tmp_path.iterdir()) == [path]


class Storage:
    """Writes the words for a storage that a test makes up."""

    def __init__(self, *pid):
        self.pid = pid


def made_up(obj, keys, storages, version=1001):
    """A file whose ``Storage`` objects are written as they say."""

    class Pickler(pickle.Pickler):
        def persistent_id(self, obj):
            return obj.pid if isinstance(obj, Storage) else None

    file = io.BytesIO()
    for head in (old_format._MAGIC, version, {"little_endian": True}):
        pickle.dump(head, file, 2)
    body = io.BytesIO()
    Pickler(body, 2).dump(obj)
    text = body.getvalue().replace(b"taeda._serialization.storage_types", b"torch")
    file.write(text.replace(b"taeda._serialization.rebuild\ntensor_v2", b"torch._utils\n_rebuild_tensor_v2"))
    pickle.dump(keys, file, 2)
    for values in storages:
        file.write(struct.pack(f"<q{len(values)}f", len(values), *values))
    return file.getvalue()


class Rebuilt:
    def __init__(self, *args):
        self.args = args

    def __reduce__(self):
        from taeda._serialization.rebuild import tensor_v2

        return tensor_v2, self.args


def tensor(numel, part=None, size=2, key="0", kind=None):
    from taeda._serialization import storage_types

    storage = Storage("storage", kind or storage_types.FloatStorage, key, "cpu", numel, part)
    return Rebuilt(storage, 0, (size,), (1,), False, None)


def test_parts_of_storages():
    data = made_up([tensor(4, ("1", 2, 2)), tensor(4, size=4)], ["0"], [[1.0, 2.0, 3.0, 4.0]])
    part, whole = read(data)
    assert part.tolist() == [3, 4] and whole.tolist() == [1, 2, 3, 4]
    whole[3] = 9
    assert part.tolist() == [3, 9]


@pytest.mark.parametrize(
    "data",
    [
        lambda: made_up(tensor(10**12), ["0"], [[1.0, 2.0]]),  # terabytes that the file does not hold
        lambda: made_up(tensor(3), ["0"], [[1.0, 2.0]]),
        lambda: made_up(tensor(2, ("1", 1, 2)), ["0"], [[1.0, 2.0]]),
        lambda: made_up(tensor(2, ("1", -1, 2)), ["0"], [[1.0, 2.0]]),
        lambda: made_up(tensor(2, "part"), ["0"], [[1.0, 2.0]]),
        lambda: made_up(tensor(-1), ["0"], [[1.0, 2.0]]),
        lambda: made_up(tensor(2, size=3), ["0"], [[1.0, 2.0]]),
        lambda: made_up(tensor(2), ["1"], [[1.0, 2.0]]),
        lambda: made_up(tensor(2), ["0", "1"], [[1.0, 2.0]]),
        lambda: made_up(tensor(2), ["0"], []),
        lambda: made_up(tensor(2), 5, [[1.0, 2.0]]),
        lambda: made_up(tensor(2), ["0"], [[1.0, 2.0]], version=5),
        lambda: made_up([tensor(2), tensor(1, size=1)], ["0"], [[1.0, 2.0]]),
        lambda: made_up(Storage("other"), ["0"], []),
        lambda: written(taeda.ones(3))[:-1],
        lambda: written(taeda.ones(3))[:60],
        lambda: b"\x80\x02K\x01.",
        lambda: b"no checkpoint at all",
    ],
)
def test_lies_and_damage(data):
    with pytest.raises((RuntimeError, pickle.UnpicklingError), match=r"taeda\.load"):
        read(data())


def test_damage_never_escapes_as_something_else():
    rng, data = random.Random(0), written(things(taeda))
    for _ in range(600):
        damaged = bytearray(data)
        for _ in range(rng.choice([1, 1, 2, 8])):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        if rng.random() < 0.2:
            del damaged[rng.randrange(len(damaged)) :]
        try:
            read(bytes(damaged))
        except (RuntimeError, pickle.UnpicklingError, EOFError) as error:
            assert "taeda.load" in str(error), error
