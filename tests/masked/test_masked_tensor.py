"""Masked tensors beside numpy.ma, which knows the same."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import taeda
from taeda import Tensor
from taeda.masked import MaskedTensor, as_masked_tensor, is_masked_tensor, masked_tensor
from taeda.nn import functional as F

DATA = taeda.arange(6.0).view(2, 3)
MASK = taeda.tensor([[True, False, True], [False, False, True]])


def masked(**options: Any) -> MaskedTensor:
    return masked_tensor(DATA, MASK, **options)


def array(x: MaskedTensor) -> Any:
    return np.ma.masked_array(x.get_data().detach().numpy(), ~x.get_mask().numpy())


REFERENCE = array(masked())


@pytest.mark.parametrize(
    ("mine", "numpys"),
    [
        (lambda x: x.exp(), np.ma.exp),
        (lambda x: 2 - x * 3 / 4, lambda x: 2 - x * 3 / 4),
        (lambda x: x + x, lambda x: x + x),
        (lambda x: x + DATA, lambda x: x + DATA.numpy()),
        (lambda x: x > 1, lambda x: x > 1),
        (lambda x: x.square(), lambda x: x**2),
        (lambda x: x.clamp(1, 3), lambda x: x.clip(1, 3)),
        (lambda x: x.double(), lambda x: x.astype(np.float64)),
        (lambda x: x.sum(), lambda x: np.ma.masked_array(x.sum())),
        (lambda x: x.sum(0), lambda x: x.sum(0)),
        (lambda x: x.sum(1, keepdim=True), lambda x: x.sum(1, keepdims=True)),
        (lambda x: x.mean(0), lambda x: x.mean(0)),
        (lambda x: x.prod(0), lambda x: x.prod(0)),
        (lambda x: x.amax(0), lambda x: x.max(0)),
        (lambda x: x.max(0).values, lambda x: x.max(0)),
        (lambda x: x.min(), lambda x: np.ma.masked_array(x.min())),
        (lambda x: x.var(0, unbiased=False), lambda x: x.var(0)),
        (lambda x: x.all(0), lambda x: x.all(0)),
        (lambda x: x.any(1), lambda x: x.any(1)),
        (lambda x: x.cumsum(1), lambda x: x.cumsum(1)),
        (lambda x: x.t(), lambda x: x.T),
        (lambda x: x[0], lambda x: x[0]),
        (lambda x: x[:, 1:], lambda x: x[:, 1:]),
        (lambda x: x.reshape(-1), lambda x: x.reshape(-1)),
        (lambda x: x.unsqueeze(0).expand(2, 2, 3), lambda x: np.ma.stack([x, x])),
        (lambda x: taeda.cat([x, x]), lambda x: np.ma.concatenate([x, x])),
        (lambda x: taeda.stack([x, DATA]), lambda x: np.ma.stack([x, np.ma.masked_array(DATA.numpy())])),
        (lambda x: x.split(1)[1], lambda x: x[1:]),
        (lambda x: x @ taeda.ones(3, 2), lambda x: np.ma.dot(x, np.ones((3, 2)))),
    ],
)
def test_agrees_with_numpy(mine: Callable[[Any], Any], numpys: Callable[[Any], Any]) -> None:
    found, wanted = array(mine(masked())), numpys(REFERENCE)
    np.testing.assert_array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(wanted))
    np.testing.assert_allclose(found.filled(0), wanted.filled(0), rtol=1e-6)


def test_softmax_leaves_out() -> None:
    for function in (taeda.softmax, F.softmax):
        found = function(masked(), dim=1)
        taeda.testing.assert_close(found.to_tensor(0)[0, [0, 2]], taeda.tensor([0.0, 2.0]).softmax(0))
        assert found.get_mask().equal(MASK)


def test_where_brings_the_masks_together() -> None:
    found = taeda.where(MASK, masked(), masked_tensor(DATA, ~MASK))
    assert bool(found.get_mask().all()) and found.get_data().equal(DATA)
    assert taeda.where(MASK, masked(), 7.0).to_tensor(0).tolist() == [[0, 7, 2], [7, 7, 5]]


def test_gradients_pass_what_is_left_out_by() -> None:
    x = masked(requires_grad=True)
    (1 / x.clamp(1) * x).mean().backward()
    assert is_masked_tensor(x.grad) and x.grad.get_mask().equal(MASK)
    leaf = taeda.tensor([1.0, 0.0, 2.0], requires_grad=True)
    under = as_masked_tensor(leaf, leaf > 0)
    (under.log() / under).sum().backward()  # 0 * log(0) and its kin are nobody's business
    taeda.testing.assert_close(leaf.grad, taeda.tensor([1.0, 0.0, float(1 - np.log(2)) / 4]))
    (found,) = taeda.autograd.grad((x * x).sum(), x)
    assert is_masked_tensor(found) and found.to_tensor(0).equal((2 * DATA).masked_fill(~MASK, 0))


def test_facts_and_copies() -> None:
    x = masked(requires_grad=True)
    assert isinstance(x, Tensor) and is_masked_tensor(x) and not is_masked_tensor(DATA) and x.requires_grad
    assert x.shape == (2, 3) and len(x) == 2 and x.dtype == taeda.float32 and x.numel() == 6
    for made in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert repr(made) == repr(x) and made.requires_grad
    y = masked()
    assert y.add_(1) is y and y.get_data().equal(DATA + 1) and DATA[0, 0] == 0
    assert masked_tensor(taeda.tensor(3.0), taeda.tensor(True)).item() == 3
    with pytest.raises(RuntimeError, match="left out"):
        masked_tensor(taeda.tensor(3.0), taeda.tensor(False)).item()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: masked_tensor(DATA, MASK.float()), TypeError, "mask must be bool"),
        (lambda: masked_tensor(DATA, MASK[0]), ValueError, "one shape"),
        (lambda: masked_tensor([1.0], MASK), TypeError, "data must be a plain tensor; got list"),
        (lambda: masked() + masked_tensor(DATA, ~MASK), ValueError, "masks of the operands differ"),
        (lambda: taeda.linalg.inv(masked()), TypeError, "takes no MaskedTensor"),
        (lambda: masked().numpy(), RuntimeError, "to_tensor"),
    ],
)
def test_mistakes(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.torch
def test_prints_as_pytorch_does() -> None:
    torch = pytest.importorskip("torch")
    for made in (lambda m: m.arange(6.0).view(2, 3), lambda m: m.arange(3), lambda m: m.tensor(2.0)):
        mine, theirs = (m.masked.masked_tensor(made(m), made(m) > 1) for m in (taeda, torch))
        assert repr(mine) == repr(theirs)


def test_ops_by_their_names() -> None:
    from taeda.masked.maskedtensor import binary, reductions, unary

    x = masked_tensor(taeda.full((2,), 0.5), taeda.tensor([True, False]))
    assert {"abs", "negative"} < set(unary.UNARY_NAMES) and {"add", "less"} < set(binary.BINARY_NAMES)
    assert "amax" in reductions.REDUCE_NAMES
    for op, wanted in ((taeda.ops.aten.negative, -0.5), (taeda.ops.aten.multiply_.Tensor, 0.25)):
        made = op(x) if op is taeda.ops.aten.negative else op(x, x)
        assert made.get_data()[0].item() == wanted and made.get_mask().tolist() == [True, False]


@pytest.mark.parametrize("layout", ["coo", "csr"])
def test_sparse_tensors_compute_with_what_they_store(layout: str) -> None:
    """A function that makes something of zero, too: what is not stored is masked."""
    i, kept = taeda.tensor([[1, 0, 1], [0, 2, 2]]), taeda.tensor([False, True, True])
    data = taeda.sparse_coo_tensor(i, taeda.tensor([4.0, 3.0, 5.0]), (2, 3))
    mask = taeda.sparse_coo_tensor(i, kept, (2, 3))
    if layout == "csr":
        data, mask = data.to_sparse_csr(), mask.to_sparse_csr()
    x = masked_tensor(data, mask)
    stored = taeda.tensor([3.0, 4.0, 5.0])
    for made, wanted in ((x.cos(), stored.cos()), (x * x + x, stored * stored + stored), (x == x, stored == stored)):
        assert made.layout == data.layout and made.get_mask().to_dense().tolist() == mask.to_dense().tolist()
        assert taeda.equal(made.get_data().values(), wanted)
    with pytest.raises(ValueError, match="masks of the operands differ"):
        x + masked_tensor(data, data != 0)


def test_layouts_and_positions_must_be_one() -> None:
    i, values = taeda.tensor([[0, 1], [1, 0]]), taeda.tensor([1.0, 2.0])
    data = taeda.sparse_coo_tensor(i, values, (2, 2))
    other = taeda.sparse_coo_tensor(taeda.tensor([[0, 1], [1, 1]]), taeda.tensor([True, True]), (2, 2))
    with pytest.raises(ValueError, match="same positions"):
        masked_tensor(data, other)
    with pytest.raises(TypeError, match="one layout"):
        masked_tensor(data, other.to_dense())
    with pytest.warns(UserWarning, match="no gradient reaches data"):
        masked_tensor(taeda.ones(2, requires_grad=True), taeda.tensor([True, False]))
