"""Jagged tensors with gaps between their components, by index, beside padded ones, in files; and what does not fit."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import taeda
from taeda import Tensor, nested
from taeda._serialization import rebuild
from taeda.nn import functional as F

VALUES, OFFSETS = taeda.arange(24.0).view(12, 2), taeda.tensor([0, 3, 7, 12])


def jagged(lengths: list[int] | None = None, values: Tensor = VALUES) -> Tensor:
    return nested.nested_tensor_from_jagged(values, OFFSETS, None if lengths is None else taeda.tensor(lengths))


def strided() -> Tensor:
    return nested.nested_tensor([VALUES[:3], VALUES[3:7]])


@pytest.mark.parametrize("lengths", [None, [2, 3, 1]])
def test_what_is_done_to_each_element_keeps_the_places(lengths: Any) -> None:
    x = jagged(lengths, VALUES.clone().requires_grad_())
    y = F.gelu(x * 2 + x).detach().clone()
    assert y.values().shape == (12, 2) and y.offsets() is OFFSETS and y.lengths() is x.lengths() and y.shape == x.shape
    y.zero_().copy_(x).add_(jagged()) if lengths is None else y.zero_().copy_(x)
    x.sum().backward()
    assert bool((x.grad.unbind()[1] == 1).all())


def test_gaps_and_none() -> None:
    gaps = jagged([2, 3, 1], VALUES.clone())
    whole = gaps.contiguous()
    assert taeda.equal(gaps + whole, whole * 2) and (gaps + whole).lengths() is None
    gaps.mul_(whole)
    assert gaps[1].tolist() == (VALUES[3:6] ** 2).tolist() and gaps.values()[6].tolist() == [12, 13]
    gaps.add_(taeda.tensor([10.0, 20, 30]).view(3, 1, 1))
    assert gaps[2].tolist() == [[14.0**2 + 30, 15.0**2 + 30]] and gaps.values()[2].tolist() == [4, 5]
    with pytest.raises(RuntimeError, match="other lengths"):
        gaps.add_(jagged())


@pytest.mark.parametrize("lengths", [None, [2, 3, 1]])
def test_padded_rows_beside_components(lengths: Any) -> None:
    x = jagged(lengths)
    longest = max(part.shape[0] for part in x)
    padded = taeda.arange(3.0 * longest * 2).view(3, longest, 2).requires_grad_()
    made = x * padded
    for part, component, row in zip(made, x, padded, strict=True):
        assert taeda.equal(part, component * row[: len(component)])
    made.sum().backward()
    assert padded.grad is not None and padded.grad[0].tolist() == x.to_padded_tensor(0.0)[0].tolist()
    for sizes in ((3, longest + 1, 2), (2, longest, 2), (3, 2)):
        with pytest.raises(RuntimeError, match="broadcast|dimension 0|ragged"):
            x + taeda.ones(sizes)


def test_by_index() -> None:
    x, batch, row = jagged([2, 4, 5]), taeda.tensor([0, 2, 1]), taeda.tensor([1, 4, -1])
    assert x[batch, row].tolist() == [VALUES[1].tolist(), VALUES[11].tolist(), VALUES[6].tolist()]
    assert x[batch, row, taeda.tensor([0, 1, 0])].tolist() == [2, 23, 12]
    y = x.clone()
    y[batch, row] = -1.0
    y.index_put_((batch[:1], row[:1]), taeda.tensor([1.0, 2.0]), accumulate=True)
    assert y.values()[[1, 11, 6]].tolist() == [[0, 1], [-1, -1], [-1, -1]] and y.values()[0].tolist() == [0, 1]
    made = x.index_put((taeda.tensor([1]),), taeda.tensor(7.0))
    assert bool((made[1] == 7).all()) and made[0].tolist() == x[0].tolist() and x[1][0, 0] == 6
    with pytest.raises(RuntimeError, match="outside of the component"):
        y.index_put_((batch, row + 4), taeda.tensor(1.0))
    with pytest.raises(IndexError, match="outside of the component"):
        x[taeda.tensor([0]), taeda.tensor([2])]
    with pytest.raises(NotImplementedError, match="takes a jagged tensor"):
        strided().index_put_((batch,), taeda.tensor(1.0))
    assert jagged(values=VALUES[:, 0])[:, 0].tolist() == [0, 6, 14]


def test_sizes_compare_where_all_lengths_would() -> None:
    j = jagged().shape[1]
    assert j >= 2 and j > 1 and not j < 2 and not j <= 1 and 2 * j > j and j <= 2 * j and not 2 * j < j
    for undecided in (
        lambda: j > 2,
        lambda: j <= 2,
        lambda: j < 3,
        lambda: j >= 3,
        lambda: j < jagged([1, 1, 1]).shape[1],
    ):
        with pytest.raises(ValueError, match="no single number"):
            undecided()


def test_several_sizes_left_open() -> None:
    assert [part.shape for part in jagged().unsqueeze(-1).view(3, -1, -1, 1, 1)] == [(n, 2, 1, 1) for n in (3, 4, 5)]
    assert (
        jagged().nbytes == 96
        and strided().nbytes == 56
        and strided()._nested_tensor_storage_offsets().tolist() == [0, 6]
    )


def test_hooks_get_nested_gradients() -> None:
    x, seen = jagged(values=VALUES.clone().requires_grad_()), []
    y = x * 2
    y.register_hook(lambda grad: seen.append(grad.is_nested))
    handle = x.register_hook(lambda grad: grad * 3)
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t is x and t.grad[0][0, 0].item()))
    y.sum().backward()
    assert seen == [True, 6.0] and bool((x.grad.values() == 6).all())
    handle.remove()
    (x * 2).sum().backward()
    assert bool((x.grad.values() == 8).all())


X, S = jagged(), strided()
WRONG: dict[str, tuple[Callable[[], Any], type[Exception]]] = {
    "bmm of vectors": (lambda: taeda.bmm(X.unsqueeze(-1), X.unsqueeze(-1)), ValueError),
    "bmm of vectors, strided": (lambda: taeda.bmm(S.unsqueeze(-1), S.unsqueeze(-1)), RuntimeError),
    "products of vectors": (lambda: X.sum(-1) @ X.sum(-1), RuntimeError),
    "norm of the batch": (lambda: F.layer_norm(X, X.shape), RuntimeError),
    "rms of the batch": (lambda: F.rms_norm(X, X.shape), ValueError),
    "max along two": (lambda: X.max((1, 2)), TypeError),
    "argmax along two": (lambda: X.argmax((1, 2)), TypeError),
    "too few dimensions": (lambda: X.permute(0, 1), ValueError),
    "too few, strided": (lambda: S.permute(0, 1), RuntimeError),
    "no such dimension": (lambda: X.transpose(1, 3), IndexError),
    "batch, strided": (lambda: S.transpose(0, 1), RuntimeError),
    "cat of other batches": (lambda: taeda.cat([X, X[1:]], -1), RuntimeError),
    "cat of other ranks": (lambda: taeda.cat([X, X.unsqueeze(-1)], -1), RuntimeError),
    "cat of other layouts": (lambda: taeda.cat([X[:2], S], -1), RuntimeError),
    "other numbers of pieces": (lambda: S.chunk(4, 1), RuntimeError),
    "dtypes": (lambda: nested.nested_tensor([VALUES, VALUES.long()], layout=taeda.jagged), RuntimeError),
    "dtypes, kept": (lambda: nested.as_nested_tensor([VALUES, VALUES.long()], layout=taeda.jagged), RuntimeError),
    "a list of offsets": (lambda: nested.nested_tensor_from_jagged(VALUES, [0, 12]), TypeError),  # type: ignore[arg-type]
    "offsets that are no integers": (lambda: nested.nested_tensor_from_jagged(VALUES, OFFSETS / 1), TypeError),
    "a table of offsets": (lambda: nested.nested_tensor_from_jagged(VALUES, OFFSETS[None]), AssertionError),
    "no ragged dimension": (lambda: nested._internal.nested_tensor.NestedTensor(VALUES, OFFSETS, _ragged_idx=0),
                            RuntimeError),
    "a mask beside lengths": (lambda: F.scaled_dot_product_attention(*[X.unsqueeze(1)] * 3, attn_mask=VALUES),
                              ValueError),
    "plain queries": (lambda: F.scaled_dot_product_attention(VALUES, *[X.unsqueeze(1)] * 2), ValueError),
    "a hook of parts": (lambda: S.clone().requires_grad_().register_hook(print), NotImplementedError),
    "a plain tensor": (lambda: nested.to_padded_tensor(VALUES, 0.0), NotImplementedError),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_fit(name: str) -> None:
    call, error = WRONG[name]
    with pytest.raises(error, match="taeda"):
        call()


MADE: dict[str, Callable[[Any], Any]] = {
    "jagged": lambda m: m.nested.nested_tensor([m.ones(2, 3), m.zeros(4, 3)], layout=m.jagged, requires_grad=True),
    "transposed": lambda m: m.nested.nested_tensor([m.ones(2, 3), m.zeros(4, 3)], layout=m.jagged).transpose(1, 2),
    "gaps": lambda m: m.nested.nested_tensor_from_jagged(
        m.arange(16.0).view(8, 2), m.tensor([0, 4, 8]), m.tensor([2, 3])
    ),
    "strided": lambda m: m.nested.nested_tensor([m.arange(6.0).view(2, 3), m.ones(4, 2)], requires_grad=True),
    "strided, transposed": lambda m: m.nested.nested_tensor([m.arange(6.0).view(2, 3), m.ones(4, 2)]).transpose(1, 2),
    "integers": lambda m: m.nested.nested_tensor([m.arange(2), m.arange(3)]),
}


def _facts(x: Any) -> Any:
    return [part.tolist() for part in x.unbind()], str(x.layout), str(x.dtype), x.requires_grad, x.dim()


@pytest.mark.parametrize("name", MADE)
def test_files(name: str) -> None:
    x = MADE[name](taeda)
    file = io.BytesIO()
    taeda.save({"x": x}, file)
    file.seek(0)
    for made in (taeda.load(file)["x"], pickle.loads(pickle.dumps(x))):
        assert _facts(made) == _facts(x)
        if x.layout == taeda.jagged:
            assert (made.offsets().tolist(), made._metadata_cache) == (x.offsets().tolist(), x._metadata_cache)
            assert (made.lengths() is None) == (x.lengths() is None)


@pytest.mark.torch
@pytest.mark.parametrize("name", MADE)
def test_files_travel_both_ways(name: str) -> None:
    torch = pytest.importorskip("torch")
    for source, target in ((taeda, torch), (torch, taeda)):
        x, file = MADE[name](source), io.BytesIO()
        source.save(x, file)
        file.seek(0)
        assert _facts(target.load(file)) == _facts(x)


def test_files_of_components_that_are_not_there() -> None:
    from taeda._serialization.rebuild import nested_jagged, nested_strided

    sizes, strides = taeda.tensor([[2, 2]]), taeda.tensor([[2, 1]])
    for offset in (9, -1):
        with pytest.raises(RuntimeError, match="damaged"):
            nested_strided(taeda.ones(12), sizes, strides, taeda.tensor([offset]))
    for parts in (None, {"values": VALUES}, {"values": VALUES, "offsets": OFFSETS / 1}):
        with pytest.raises(RuntimeError, match="damaged"):
            nested_jagged(parts)


ROWS, AT = taeda.arange(12.0).reshape(6, 2), taeda.tensor([0, 3, 6])


@pytest.mark.parametrize(
    "parts",
    [
        {"offsets": taeda.tensor([0, 1000])}, {"offsets": taeda.tensor([-5, 3])}, {"offsets": taeda.tensor([0, 4, 2])},
        {"lengths": taeda.tensor([100, 2])}, {"lengths": taeda.tensor([-1, 2])}, {"lengths": 3}, {"offsets": ROWS},
        {"_ragged_idx": 7}, {"_ragged_idx": "x"}, {"_metadata_cache": [1]}, {"_metadata_cache": {"max_seqlen": 3}},
    ],
)  # fmt: skip
def test_damaged_files_of_jagged_tensors(parts):
    with pytest.raises(RuntimeError, match="damaged|outside|jagged_dim"):
        rebuild.nested_jagged({"values": ROWS, "offsets": AT} | parts)


@pytest.mark.parametrize(
    ("sizes", "strides", "offsets"),
    [
        ([[2, 300]], [[3, 1]], [0]), ([[2, 3]], [[3, 1]], [100]), ([[2, 3]], [[-3, 1]], [0]),
        ([[2, 3]], [[3, 1]], [-1]), ([2, 3], [3, 1], [0, 0]),
        ([[2.5, 3]], [[3.0, 1]], [0]), ([[2, 3]], [[3, 1]], [0, 1]), ([[2, 3]], [[3]], [0]),
        (2, 3, 0), ([[2**62, 4]], [[2**62, 1]], [0]),
    ],
)  # fmt: skip
def test_damaged_files_of_strided_ones(sizes, strides, offsets):
    with pytest.raises(RuntimeError, match="damaged"):
        rebuild.nested_strided(taeda.arange(6.0), *map(taeda.tensor, (sizes, strides, offsets)))


@pytest.mark.parametrize("layout", [taeda.strided, taeda.jagged])
@pytest.mark.parametrize("parts", [[], [taeda.ones(2, 3), taeda.ones(0, 3)], [taeda.ones(1, 0)]])
def test_files_of_tensors_without_components_or_elements(parts, layout):
    made = taeda.nested.as_nested_tensor(parts, layout=layout) if parts else taeda.nested.nested_tensor(parts)
    found = pickle.loads(pickle.dumps(made))
    assert [part.shape for part in found.unbind()] == [part.shape for part in parts] and found.layout == made.layout
