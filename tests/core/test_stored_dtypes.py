"""complex32, which formulas compute in complex64, and the integers of less than a byte, which are stored."""

import copy
import io
import pickle

import pytest

import taeda

NARROW = [f"{sign}int{bits}" for sign in ("u", "") for bits in range(1, 8)]


def z():
    return taeda.tensor([1 + 2j, 3 - 1j], dtype=taeda.complex32)


def test_facts():
    half = taeda.complex32
    assert (half.itemsize, half.is_complex, half.is_floating_point, half.is_signed) == (4, True, False, True)
    assert half.to_real() == taeda.float16 and taeda.float16.to_complex() == half == taeda.chalf
    assert str(half) == "torch.complex32" and taeda.finfo(half).dtype == "float16"
    assert z().is_complex() and z().type() == "torch.ComplexHalfTensor" and pickle.loads(pickle.dumps(half)) is half


def test_parts_and_pairs():
    assert z().real.tolist() == [1, 3] and z().imag.dtype == taeda.float16
    assert taeda.view_as_real(z()).tolist() == [[1, 2], [3, -1]]
    assert taeda.equal(taeda.view_as_complex(taeda.view_as_real(z())).to(taeda.complex64), z().to(taeda.complex64))
    conjugate = z().conj()
    assert conjugate.is_conj() and conjugate.resolve_conj().tolist() == conjugate.tolist() == [1 - 2j, 3 + 1j]
    assert taeda.stack([z(), z()]).t().conj().clone().tolist() == [[1 - 2j] * 2, [3 + 1j] * 2]
    assert z().copy_(conjugate).tolist() == [1 - 2j, 3 + 1j]


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "int64", "bool", "complex64", "complex128"])
def test_conversions(dtype):
    wide = taeda.tensor([0.0, 1.0, 2.0]).to(getattr(taeda, dtype))
    assert wide.chalf().tolist() == [complex(v) for v in wide.tolist()]
    back = z().to(wide.dtype)
    assert taeda.equal(back, z().to(taeda.complex64).to(wide.dtype))


@pytest.mark.parametrize("other, common", [
    ("float16", "complex32"), ("bfloat16", "complex64"), ("float32", "complex64"), ("float64", "complex128"),
    ("int64", "complex32"), ("bool", "complex32"), ("complex32", "complex32"), ("complex128", "complex128"),
])  # fmt: skip
def test_formulas(other, common):
    x, common = taeda.tensor([2.0, 1.0]).to(getattr(taeda, other)), getattr(taeda, common)
    assert taeda.promote_types(x.dtype, taeda.complex32) == common == (z() * x).dtype == (x + z()).dtype
    assert (z() * x).tolist() == (z().to(taeda.complex64) * x).tolist() and (z() == x).tolist() == [False, False]
    assert (x.half() * 2j).dtype == taeda.complex32 and (z() * 2.5).tolist() == [2.5 + 5j, 7.5 - 2.5j]
    assert z().abs().dtype == taeda.linalg.norm(z()).dtype == taeda.float16 and z().isnan().tolist() == [False] * 2
    assert taeda.zeros(2, dtype=taeda.complex64).copy_(z()).sub_(z()).tolist() == [0, 0]
    with pytest.raises(RuntimeError):
        taeda.promote_types(taeda.complex32, taeda.float8_e5m2)


def test_rounding_and_overflow():
    x = taeda.tensor([0.1, 1e-8, 70000.0]).to(taeda.complex32)
    assert x.real.tolist() == taeda.tensor([0.1, 1e-8, 70000.0]).half().tolist() and x.imag.tolist() == [0, 0, 0]


def test_what_moves_elements():
    assert repr(z()) == "tensor([1.+2.j, 3.-1.j], dtype=torch.complex32)"
    assert taeda.cat([z(), z()[1:]]).tolist() == [1 + 2j, 3 - 1j, 3 - 1j] and z()[0].item() == 1 + 2j
    assert taeda.full((2,), 1 + 1j, dtype=taeda.complex32).tolist() == [1 + 1j] * 2 and bool(z()[0])
    assert copy.deepcopy(z()).tolist() == z().tolist() == pickle.loads(pickle.dumps(z())).tolist()
    with pytest.raises(NotImplementedError, match="complex32"):
        z() @ z()
    with pytest.raises(TypeError):
        z().numpy()


def test_gradients():
    x = z().requires_grad_()
    wide = x.to(taeda.complex64)
    (wide * wide.conj()).real.sum().backward()
    assert x.grad.dtype == taeda.complex32 and x.grad.tolist() == [2 + 4j, 6 - 2j]


@pytest.mark.torch
def test_files():
    torch = pytest.importorskip("torch")
    for writer, reader in ((taeda, torch), (torch, taeda), (taeda, taeda)):
        file = io.BytesIO()
        writer.save(writer.tensor([1 + 2j], dtype=writer.complex32), file)
        file.seek(0)
        assert reader.load(file).tolist() == [1 + 2j]


@pytest.mark.parametrize("name", NARROW)
def test_narrow_integers(name):
    dtype = getattr(taeda, name)
    assert (dtype.itemsize, dtype.is_signed) == (1, not name.startswith("u")) and str(dtype) == f"torch.{name}"
    assert not dtype.is_floating_point and not dtype.is_complex and pickle.loads(pickle.dumps(dtype)) is dtype
    packed = taeda.tensor([1, 2, 255], dtype=taeda.uint8).view(dtype)
    assert packed.dtype == dtype and packed.view(taeda.uint8).tolist() == [1, 2, 255]
    assert (
        packed[1:].view(taeda.uint8).tolist() == [2, 255] and taeda.empty(2, dtype=dtype, device="meta").dtype == dtype
    )
    for refused in (lambda: packed + 1, packed.sum, packed.tolist, lambda: taeda.ones(3).to(dtype), packed.float):
        with pytest.raises((NotImplementedError, RuntimeError), match=name):
            refused()
    with pytest.raises(TypeError):
        taeda.iinfo(dtype)


def test_old_questions():
    for name, answer in (("has_cuda", False), ("has_cudnn", False), ("has_mps", False), ("has_mkldnn", True)):
        with pytest.warns(UserWarning, match=name):
            assert getattr(taeda, name) is answer


@pytest.mark.parametrize("name", ["is_complex", "is_floating_point", "is_signed", "is_conj", "numel"])
def test_questions_can_be_overridden(name):
    class Answers:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__

    assert getattr(taeda, name)(Answers()) == name
