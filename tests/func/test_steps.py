"""The steps of ``vmap``: libraries walk through them by themselves, and put others in their place."""

from __future__ import annotations

import pytest

import taeda
from taeda.func import _steps, vmap
from taeda.utils._pytree import tree_flatten, tree_unflatten


def test_a_level_is_walked_through() -> None:
    x = taeda.arange(6.0).view(2, 3)
    with _steps.vmap_increment_nesting(3, "error") as outer:
        column = _steps._add_batch_dim(x, -1, outer)
        assert column.shape == (2,) and _steps.is_batchedtensor(column) and not _steps.is_batchedtensor(x)
        with _steps.vmap_increment_nesting(2, "error") as inner:
            assert inner == outer + 1
            one = _steps._add_batch_dim(column, 0, inner)
            assert one.shape == () and bool((one * 2).requires_grad) is False
            back = _steps._remove_batch_dim(one * 2, inner, 2, 0)
        result = _steps._remove_batch_dim(back + column, outer, 3, 1)
        same = _steps._remove_batch_dim(taeda.ones(1), outer, 3, 0)
    assert result.tolist() == (3 * x).tolist() and same.shape == (3, 1)
    with pytest.raises(RuntimeError, match="has ended"):
        column + 1
    with pytest.raises(RuntimeError, match="no batch of level 1 is running"):
        _steps._add_batch_dim(x, 0, outer)
    with pytest.raises(RuntimeError, match="none was begun"):
        _steps._vmap_decrement_nesting()
    with pytest.raises(TypeError, match="takes a tensor; got int"):
        _steps.is_batchedtensor(3)


@pytest.mark.parametrize("randomness", ["different", "same"])
def test_random_numbers_of_a_level(randomness: str) -> None:
    with _steps.vmap_increment_nesting(4, randomness) as level:
        _steps._add_batch_dim(taeda.ones(4), 0, level)
        drawn = _steps._remove_batch_dim(taeda.rand(()), level, 4, 0)
    assert len(set(drawn.tolist())) == (4 if randomness == "different" else 1)
    with _steps.vmap_increment_nesting(4, "error"), pytest.raises(RuntimeError, match="rand.* draws random numbers"):
        taeda.rand(2)
    with pytest.raises(RuntimeError, match="must be 'error', 'different' or 'same'; got 'no'"):
        _steps._vmap_increment_nesting(4, "no")
    taeda.rand(2)  # no level is left behind


class Pair:
    """Two tensors of a batch, whose dimension they both have first: no pytree knows it."""

    def __init__(self, a: taeda.Tensor, b: taeda.Tensor) -> None:
        self.a, self.b = a, b

    def narrow(self, dim: int, start: int, size: int) -> Pair:
        return Pair(self.a.narrow(dim, start, size), self.b.narrow(dim, start, size))


@pytest.fixture
def pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps that take `Pair` apart, put where libraries put theirs."""
    add, remove, unwrap = _steps._add_batch_dim, _steps._remove_batch_dim, _steps._unwrap_batched

    def process(in_dims, args, func):
        leaves, spec = tree_flatten(args)
        return leaves[0].a.shape[in_dims], [in_dims] * len(leaves), leaves, spec

    def create(dims, leaves, level, spec):
        made = [Pair(add(x.a, dim, level), add(x.b, dim, level)) for x, dim in zip(leaves, dims)]
        return tree_unflatten(made, spec)

    def unwrapped(result, out_dims, level, size, func):
        if isinstance(result, Pair):
            return Pair(remove(result.a, level, size, out_dims), remove(result.b, level, size, out_dims))
        return unwrap(result, out_dims, level, size, func)

    theirs = taeda._functorch.vmap
    for name, step in [("process_batched_inputs", process), ("create_batched_inputs", create),
                       ("unwrap_batched", unwrapped)]:  # fmt: skip
        monkeypatch.setattr(theirs, f"_{name}", step)


@pytest.mark.usefixtures("pairs")
def test_steps_of_others_take_containers() -> None:
    x = Pair(taeda.arange(6.0).view(3, 2), taeda.ones(3))
    result = vmap(lambda pair: Pair(pair.a.sum(), pair.b + 1))(x)
    assert result.a.tolist() == [1, 5, 9] and result.b.tolist() == [2, 2, 2]
    assert vmap(lambda pair: pair.a * pair.b, chunk_size=2)(x).tolist() == x.a.tolist()
    calls = []

    def fails(pair):
        calls.append(pair)
        raise KeyError("absent")

    with pytest.raises(KeyError):  # no example of such a container can be told from others
        vmap(fails)(x)
    assert len(calls) == 1


def test_what_is_one_for_all_must_be() -> None:
    assert vmap(lambda x: 3, out_dims=None)(taeda.ones(2)) == 3
    with _steps.vmap_increment_nesting(2, "error") as level:
        x = _steps._add_batch_dim(taeda.ones(2), 0, level)
        with pytest.raises(ValueError, match="None for a result of f that differs"):
            _steps._maybe_remove_batch_dim("f", x, level, 2, None)
        with pytest.raises(ValueError, match="got int"):
            _steps._maybe_remove_batch_dim("f", 3, level, 2, 0)
        assert _steps._maybe_remove_batch_dim("f", "text", level, 2, None) == "text"


def test_truth_of_all_examples_is_one_answer() -> None:
    seen = []

    def function(x):
        seen.append((bool(taeda._is_all_true(x)), bool(taeda._is_any_true(x))))
        return taeda.distributions.Normal(0.0, x + 1.0).scale.sum()  # whose arguments are checked

    truth = taeda.tensor([[True, True], [True, False]])
    assert vmap(function)(truth).tolist() == [4, 3] and seen == [(False, True)]
