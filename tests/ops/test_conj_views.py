"""Conjugates and negatives are views that compute when they are read, as in PyTorch."""

from __future__ import annotations

import copy
import pickle
import threading
import warnings
from typing import Any

import numpy as np
import pytest

import taeda
from taeda.autograd import forward_ad, gradcheck, gradgradcheck


def names(T: Any) -> dict[str, Any]:
    x = T.tensor([[1 + 2j, 3 - 4j], [5 + 0.5j, -1j]])
    c, N, R = x.conj(), T._neg_view(x), T.tensor([[1.0, 2.0], [3.0, -4.0]])
    return {
        **{"T": T, "x": x, "c": c, "n": c.imag, "N": N, "CN": T._neg_view(c), "R": R, "RN": T._neg_view(R)},
        **{"I": T.tensor([1, 2, 3]), "B": T.tensor([True, False]), "copy": copy, "pickle": pickle, "np": np},
        "M": T.empty(2, 2, dtype=T.complex64, device="meta"),
    }


def run(expression: str, T: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(expression, names(T))


def bits(t: Any) -> str:
    return " ".join(word for word, on in (("conj", t.is_conj()), ("neg", t.is_neg()), ("view", t._is_view())) if on)


# What PyTorch 2.13 says of the results.
BITS = {
    "c": "conj view",
    "n": "neg view",
    "N": "neg view",
    "CN": "conj neg view",
    "RN": "neg view",
    "T._neg_view(I)": "neg view",
    "T._conj(x)": "conj view",
    "T._conj(c)": "view",
    "c.conj()": "view",
    "T._neg_view(N)": "view",
    "c.resolve_conj()": "",
    "n.resolve_neg()": "",
    "CN.resolve_conj()": "",
    "CN.resolve_neg()": "",
    "N.resolve_conj()": "neg view",
    "c.conj_physical()": "",
    "x.conj_physical()": "",
    "x.clone().conj().conj_physical_()": "conj view",
    "c.real": "view",
    "c.imag": "neg view",
    "N.real": "neg view",
    "N.imag": "neg view",
    "CN.real": "neg view",
    "CN.imag": "view",
    "T.view_as_real(N)": "neg view",
    "T.view_as_complex(RN)": "neg view",
    "c.clone()": "",
    "n.clone()": "",
    "c.contiguous()": "conj view",
    "c.t().contiguous()": "",
    "c.to(T.complex128)": "",
    "c.to(T.complex64)": "conj view",
    "c.to(T.complex64, copy=True)": "",
    "c.to('meta')": "",
    "M.conj()": "conj view",
    "M.conj().imag": "neg view",
    "n.double()": "",
    "c.detach()": "conj",
    "c.data": "conj",
    "c.view(4)": "conj view",
    "c.reshape(4)": "conj view",
    "c.t().reshape(4)": "",
    "c.flatten()": "conj view",
    "c.as_strided((2,), (1,))": "conj view",
    "c[0]": "conj view",
    "c[:, 1]": "conj view",
    "c[..., None]": "conj view",
    "c[T.tensor([0, 1])]": "",
    "c[[0]]": "",
    "c[c.real > 0]": "",
    "c.expand(3, 2, 2)": "conj view",
    "c.permute(1, 0)": "conj view",
    "c.diagonal()": "conj view",
    "c.unfold(0, 1, 1)": "conj view",
    "c.unbind()[0]": "conj view",
    "c.split(1)[1]": "conj view",
    "T.unsafe_split(c, 1)[0]": "",
    "T.ops.aten._unsafe_view(c, (4,))": "conj",
    "c.H": "view",
    "c.mH": "view",
    "c.mT": "conj view",
    "c.adjoint()": "view",
    "x.H": "conj view",
    "x.mH": "conj view",
    "x.adjoint()": "conj view",
    "R.H": "view",
    "R.mH": "view",
    "R.adjoint()": "view",
    "R.conj()": "",
    "x[0, 0].H": "conj view",
    "T.empty_like(c)": "",
    "T.zeros_like(c)": "",
    "T.ones_like(n)": "",
    "T.full_like(c, 2)": "",
    "c.new_zeros(2)": "",
    "T.as_tensor(c)": "conj view",
    "c + 1": "",
    "-c": "",
    "c.abs()": "",
    "c @ x": "",
    "c.mH @ x": "",
    "T.fft.fft(c)": "",
    "T.fft.hfft(x)": "",
    "T.fft.ihfft(R)": "conj view",
    "T.fft.ihfftn(R)": "",
    "T.svd(x)[2]": "conj view",
    "T.linalg.svd(x)[2]": "",
    "T.linalg.eigh(x + x.mH)[1]": "",
    "T.linalg.inv(c)": "",
    "T.linalg.pinv(x)": "",
    "T.linalg.cholesky(x @ x.mH + T.eye(2), upper=True)": "",
    "T.cat([c, x])": "",
    "T.where(R > 0, c, x)": "",
    "T.triu(c)": "",
    "c.repeat(2, 1)": "",
    "T.view_as_real_copy(c)": "",
    "T.view_copy(c, T.float32)": "",
    "T._conj_copy(x)": "",
    "T._neg_view_copy(R)": "",
    "T.t_copy(c)": "",
    "+c": "conj view",
    "T.nn.Parameter(c)": "conj",
    "T.nn.Parameter(c).data": "conj",
    "T.broadcast_to(c, (2, 2, 2))": "conj view",
    "T._foreach_add([c], 1)[0]": "",
    "T.empty(0, dtype=T.complex64).set_(c)": "",
    "x.clone().conj().set_(x)": "conj view",
    "x.clone().conj().resize_(1, 2)": "conj view",
    "x.clone().conj().t_()": "conj view",
    "x.clone().conj().add_(1)": "conj view",
    "T.add(x, 1, out=T.empty(0, dtype=T.complex64).conj())": "conj view",
    "copy.copy(c)": "conj",
    "copy.deepcopy(c)": "",
    "copy.deepcopy(n)": "",
    "copy.deepcopy(T.nn.Parameter(c))": "",
    "pickle.loads(pickle.dumps(c))": "conj",
    "pickle.loads(pickle.dumps(n))": "neg",
    "pickle.loads(pickle.dumps(CN))": "conj neg",
}
ERRORS = {
    "T.view_as_real(c)": RuntimeError,
    "T.view_as_real(CN)": RuntimeError,
    "T._neg_view(B).tolist()": NotImplementedError,
    "c.view(T.float32)": RuntimeError,
    "c.view(T.complex64)": RuntimeError,
    "RN.view(T.int32)": RuntimeError,
    "RN.view(T.float32)": RuntimeError,
    "c.numpy()": RuntimeError,
    "RN.numpy()": RuntimeError,
    "c.__array__()": RuntimeError,
    "np.asarray(c)": RuntimeError,
    "np.asarray(RN)": RuntimeError,
    "np.add(c, 1)": RuntimeError,
    "T.from_dlpack(c)": BufferError,
    "c.__dlpack__()": BufferError,
    "x[0].conj().adjoint()": RuntimeError,
    "x.conj().expand(3, 2, 2).add_(1)": RuntimeError,
    "x.conj().imag.add_(1j)": RuntimeError,
}


@pytest.mark.parametrize("expression", BITS)
def test_what_is_lazy_is_what_pytorch_has(expression: str) -> None:
    assert bits(run(expression, taeda)) == BITS[expression]


@pytest.mark.parametrize("expression", ERRORS)
def test_what_memory_cannot_show_is_an_error(expression: str) -> None:
    with pytest.raises(ERRORS[expression]):
        run(expression, taeda)


@pytest.mark.torch
@pytest.mark.parametrize("expression", [*BITS, *ERRORS])
def test_the_record_is_right(expression: str) -> None:
    torch = pytest.importorskip("torch")
    if expression in ERRORS:
        with pytest.raises(ERRORS[expression]):
            run(expression, torch)
        return
    mine, theirs = run(expression, taeda), run(expression, torch)
    assert bits(theirs) == BITS[expression]
    if mine.device.type == "cpu":
        wanted = theirs.detach().resolve_conj().resolve_neg().numpy()
        if not expression.startswith("T.empty_like"):
            np.testing.assert_allclose(mine.detach().numpy(force=True), wanted, rtol=1e-5, atol=1e-6)
        assert mine.stride() == theirs.stride()


def numbers(*shape: int, dtype: taeda.dtype = taeda.complex128) -> taeda.Tensor:
    return taeda.randn(shape, dtype=dtype, generator=taeda.Generator().manual_seed(sum(shape)))


# --- writes reach the base, conjugated or negated

WRITES = {
    "add_": lambda v: v.add_(2 - 1j),
    "add_ itself": lambda v: v.add_(v),
    "mul_ base": lambda v: v.mul_(v._base),
    "copy_": lambda v: v.copy_(numbers(*v.shape)),
    "copy_ conj": lambda v: v.copy_(numbers(*v.shape).conj()),
    "copy_ neg": lambda v: v.copy_(taeda._neg_view(numbers(*v.shape))),
    "copy_ other dtype": lambda v: v.copy_(numbers(*v.shape, dtype=taeda.complex64).conj()),
    "copy_ real": lambda v: v.copy_(numbers(*v.shape, dtype=taeda.float32)),
    "copy_ broadcast": lambda v: v.copy_(numbers(1, *v.shape[1:]).conj()),
    "fill_": lambda v: v.fill_(1 + 2j),
    "zero_": lambda v: v.zero_(),
    "setitem": lambda v: v.__setitem__(0, 3j),
    "setitem mask": lambda v: v.__setitem__(v.abs() > 1, 3j),
    "index_put_": lambda v: v.index_put_((taeda.tensor([0, 1]),), numbers(2, *v.shape[1:]), accumulate=True),
    "index_add_": lambda v: v.index_add_(0, taeda.tensor([1]), numbers(1, *v.shape[1:]).conj()),
    "masked_fill_": lambda v: v.masked_fill_(v.abs() > 1, 3j),
    "exp_": lambda v: v.exp_(),
    "out": lambda v: taeda.mul(v, 2j, out=v),
    "out of matmul": lambda v: taeda.matmul(v.mH, v, out=v),
    "foreach": lambda v: taeda._foreach_mul_([v, v], 2j),
    "slice": lambda v: v[1:].mul_(2j),
    "conj again": lambda v: v.conj().mul_(2j),
    "real": lambda v: v.real.mul_(2),
    "imag": lambda v: v.imag.copy_(taeda.ones(v.shape)),
    "imag =": lambda v: setattr(v, "imag", taeda.ones(v.shape)),
    "cumsum_": lambda v: v.cumsum_(0),
    "tril_": lambda v: v.tril_(),
}
LAZY = {
    "conj": lambda x: x.conj(),
    "neg": taeda._neg_view,
    "conj neg": lambda x: taeda._neg_view(x.conj()),
    "mH": lambda x: x.mH,
    "strided": lambda x: x[:, ::2].conj(),
}


@pytest.mark.parametrize("way", LAZY)
@pytest.mark.parametrize("write", WRITES)
def test_a_write_reaches_the_base(write: str, way: str) -> None:
    base = numbers(4, 8 if way == "strided" else 4)
    view = LAZY[way](base)
    plain = view.clone()
    assert not plain.is_conj() and not plain.is_neg()
    version, told = base._version, bits(view)
    if write == "mul_ base" and view.shape == base.shape:
        plain.mul_(base.clone())
    elif write == "mul_ base":
        return
    else:
        WRITES[write](plain)
    WRITES[write](view)
    np.testing.assert_allclose(view.numpy(force=True), plain.numpy(), rtol=1e-12)
    np.testing.assert_allclose(LAZY[way](base).numpy(force=True), plain.numpy(), rtol=1e-12)
    assert bits(view) == told and base._version > version == 0


def test_a_write_that_fails_changes_nothing() -> None:
    base = numbers(3, 3)
    before = base.clone()
    with pytest.raises(RuntimeError):
        base.conj().add_(numbers(4, 3))
    assert taeda.equal(base, before)


def test_out_takes_the_result_s_shape() -> None:
    out = taeda.empty(0, dtype=taeda.complex64).conj()
    assert taeda.add(numbers(2, 3, dtype=taeda.complex64), 1, out=out) is out
    assert out.shape == (2, 3) and out.is_conj()


# --- autograd

FUNCTIONS = {
    "conj": lambda x: x.conj() * x,
    "matmul": lambda x: x.mH @ x,
    "imag": lambda x: x.conj().imag * x.real,
    "imag of neg": lambda x: taeda._neg_view(x).imag,
    "neg": lambda x: taeda._neg_view(x) * x,
    "clone": lambda x: x.conj().clone() ** 2,
    "to": lambda x: x.conj().to(taeda.complex128, copy=True) * x,
    "resolved": lambda x: x.conj().resolve_conj() * x,
    "index": lambda x: x.conj()[taeda.tensor([0, 0])] * 2j,
    "written": lambda x: write(x * 1, lambda y: y.conj().mul_(2j)),
    "written twice": lambda x: write(x * 1, lambda y: y.mH[0].imag.mul_(y.real[0] * 3)),
    "exp_": lambda x: write(x * 1, lambda y: y.conj().exp_()),
    "written neg": lambda x: write(x * 1, lambda y: taeda._neg_view(y)[1].copy_(x[0] ** 2)),
    "cat": lambda x: taeda.cat([x.conj(), x]) ** 2,
    "eigh": lambda x: taeda.linalg.eigvalsh(x + x.mH),
    "solve": lambda x: taeda.linalg.solve(x.conj(), x.mH),
}


def write(y: taeda.Tensor, change: Any) -> taeda.Tensor:
    change(y)
    return y * y


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients(name: str) -> None:
    x = numbers(3, 3).requires_grad_()
    assert gradcheck(FUNCTIONS[name], (x,), check_forward_ad=True)
    assert gradgradcheck(FUNCTIONS[name], (x,))


@pytest.mark.parametrize("lazy", [lambda x: x.conj(), taeda._neg_view, lambda x: taeda._neg_view(x.conj())])
def test_a_lazy_leaf(lazy: Any) -> None:
    x = lazy(numbers(3, 3)).detach().requires_grad_()
    for function in FUNCTIONS.values():
        assert gradcheck(function, (x,), check_forward_ad=True)
    (x.conj() * 2j).sum().abs().backward()
    assert x.grad is not None and bits(x.grad) == ""


def test_tangents_need_not_be_lazy_as_their_primals_are() -> None:
    x, t = numbers(3), numbers(3) * 2
    for primal, tangent in (
        (x.conj(), t),
        (x, t.conj()),
        (taeda._neg_view(x), t),
        (x.conj().expand(2, 3), t.expand(2, 3)),
    ):
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(primal, tangent)
            parts = [forward_ad.unpack_dual(part).tangent for part in (dual.imag, dual.conj(), dual.view_as(dual))]
        for got, wanted in zip(parts, (tangent.imag, tangent.conj(), tangent), strict=True):
            np.testing.assert_array_equal(got.numpy(force=True), wanted.numpy(force=True))


def test_names_of_nodes() -> None:
    x = numbers(2).requires_grad_()
    assert x.conj().grad_fn.name() == "ConjBackward0"
    assert taeda._neg_view(x).grad_fn.name() == "NegViewBackward0"


# --- elsewhere


def test_layouts_of_clones_do_not_depend_on_bits() -> None:
    for x in (numbers(2, 3, 4), numbers(2, 3, 4).mT, numbers(2, 6, 4)[:, ::2].mT, numbers(4).expand(2, 4)):
        for format in (taeda.preserve_format, taeda.contiguous_format):
            clones = [y.clone(memory_format=format) for y in (x, x.conj(), taeda._neg_view(x))]
            assert len({clone.stride() for clone in clones}) == 1
            np.testing.assert_array_equal(clones[1].numpy(), np.conj(x.numpy()))
            np.testing.assert_array_equal(clones[2].numpy(), -x.numpy())


def test_a_saved_view_shares_memory(tmp_path: Any) -> None:
    x = numbers(3)
    taeda.save({"x": x, "c": x.conj(), "n": taeda._neg_view(x)}, tmp_path / "f")
    loaded = taeda.load(tmp_path / "f")
    assert bits(loaded["c"]) == "conj" and bits(loaded["n"]) == "neg" and taeda.equal(loaded["c"], x.conj())
    loaded["x"].zero_()
    assert not loaded["c"].any() and not loaded["n"].any()


def test_batches_threads_and_inference() -> None:
    x = numbers(64, 64)
    assert taeda.equal(taeda.func.vmap(lambda row: row.conj() * row)(x), x.conj() * x)
    with taeda.inference_mode():
        y = x.clone().conj()
        assert y.is_conj() and taeda.equal(y.mul_(2), x.conj() * 2) and taeda.equal(y.imag, x.imag * -2)
    results: list[Any] = []
    threads = [threading.Thread(target=lambda: results.append((x.conj() @ x.mH).sum().item())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(results)) == 1


def test_numbers_keep_their_signs_and_nans() -> None:
    parts = [0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1.5]
    x = taeda.complex(taeda.tensor(parts)[:, None], taeda.tensor(parts)).flatten()
    for lazy, wanted in ((x.conj(), x.conj_physical()), (taeda._neg_view(x), -x)):
        for got in (lazy.clone(), lazy.resolve_conj().resolve_neg(), taeda.tensor(lazy.tolist()), taeda.cat([lazy])):
            for part in ("real", "imag"):
                a, b = getattr(got, part).numpy(force=True), getattr(wanted, part).numpy(force=True)
                np.testing.assert_array_equal(a, b)
                np.testing.assert_array_equal(np.signbit(a)[~np.isnan(a)], np.signbit(b)[~np.isnan(b)])
