"""Files of the two systems are exchanged: PyTorch reads ours and we read PyTorch's."""

import io
import zipfile
from collections import Counter, OrderedDict

import pytest

import taeda
from taeda import serialization

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

DTYPES = [
    "float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64",
    "complex128", "uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
    "float8_e8m0fnu",
]  # fmt: skip


def sample(module, dtype):
    return module.arange(6, device="cpu").to(getattr(module, dtype)).reshape(2, 3)


def same(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and a.stride() == b.stride() and a.tolist() == b.tolist()


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


def test_a_negation_that_torch_put_off(tmp_path):
    torch.save(torch.tensor([1 + 2j, 3j]).conj().imag, tmp_path / "f.pt")
    assert serialization.load(tmp_path / "f.pt").tolist() == [-2, -3]


def test_pickles_equal_torchs(tmp_path):
    import pickletools

    def opcodes(save, module):
        objects = zoo(module)
        del objects["lazy"]  # PyTorch writes down that it is still to be conjugated; ours is conjugated already
        save(objects, tmp_path / "f.pt")
        with zipfile.ZipFile(tmp_path / "f.pt") as z:
            return [(op.name, arg) for op, arg, _ in pickletools.genops(z.read("f/data.pkl"))]

    assert opcodes(serialization.save, taeda) == opcodes(torch.save, torch)


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("dtype", ["float4_e2m1fn_x2"])
def test_a_dtype_that_only_torch_has_is_named(tmp_path, weights_only, dtype):
    torch.save({"w": torch.empty(3, dtype=getattr(torch, dtype))}, tmp_path / "f.pt")
    with pytest.raises(RuntimeError, match=f"torch.{dtype}"):
        serialization.load(tmp_path / "f.pt", weights_only=weights_only)


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


def test_programs_are_loaded_where_all_is_admitted():
    file = io.BytesIO()
    taeda.jit.save(taeda.jit.script(taeda.nn.Linear(3, 4)), file)
    file.seek(0)
    with pytest.raises(RuntimeError, match=r"jit\.load"):
        taeda.load(file)
    file.seek(0)
    with pytest.warns(UserWarning, match=r"jit\.load"):
        assert taeda.load(file, weights_only=False)(taeda.ones(2, 3)).shape == (2, 4)
