"""Broadcasting, indexing, views and promotion beside NumPy, over arguments that hypothesis finds."""

from __future__ import annotations

from typing import Any

import hypothesis.extra.numpy as arrays
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import taeda

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float32", "float64", "complex64", "complex128"]
SHAPES = arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)


def numbered(shape: tuple[int, ...]) -> np.ndarray:
    return np.arange(int(np.prod(shape, dtype=int)), dtype=np.float64).reshape(shape)


def same(tensor: Any, array: np.ndarray) -> None:
    assert tuple(tensor.shape) == array.shape
    assert np.array_equal(tensor.numpy(), array)


@given(arrays.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=4))
def test_broadcasting(shapes: Any) -> None:
    a, b = map(numbered, shapes.input_shapes)
    same(taeda.from_numpy(a) + taeda.from_numpy(b), a + b)
    same(taeda.from_numpy(a).expand(shapes.result_shape), np.broadcast_to(a, shapes.result_shape))
    assert tuple(taeda.broadcast_shapes(*shapes.input_shapes)) == shapes.result_shape


@given(SHAPES, SHAPES)
def test_shapes_that_do_not_broadcast_raise(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    a, b = numbered(first), numbered(second)
    try:
        wanted = a + b
    except ValueError:
        with pytest.raises(RuntimeError):
            taeda.from_numpy(a) + taeda.from_numpy(b)
    else:
        same(taeda.from_numpy(a) + taeda.from_numpy(b), wanted)


@st.composite
def indexed(draw: Any) -> tuple[np.ndarray, Any]:
    """An array and a basic index; steps are positive, which is what a tensor takes."""
    array = numbered(draw(arrays.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=5)))
    index = draw(arrays.basic_indices(array.shape, allow_newaxis=True))
    parts = index if isinstance(index, tuple) else (index,)
    return array, tuple(slice(p.start, p.stop, abs(p.step)) if isinstance(p, slice) and p.step else p for p in parts)


@given(indexed())
def test_basic_indexing(case: tuple[np.ndarray, Any]) -> None:
    array, index = case
    tensor = taeda.from_numpy(array.copy())
    same(tensor[index], array[index])
    tensor[index] = -1.0
    array[index] = -1.0
    same(tensor, array)


@given(st.data())
def test_advanced_indexing(data: Any) -> None:
    array = numbered(data.draw(arrays.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4)))
    index = data.draw(
        arrays.integer_array_indices(array.shape, result_shape=arrays.array_shapes(max_dims=2, max_side=3))
    )
    places = tuple(taeda.from_numpy(np.ascontiguousarray(i)) for i in index)
    same(taeda.from_numpy(array)[places], array[index])


@given(st.data())
def test_boolean_indexing(data: Any) -> None:
    array = numbered(data.draw(arrays.array_shapes(min_dims=1, max_dims=3, max_side=4)))
    mask = data.draw(arrays.arrays(bool, array.shape))
    same(taeda.from_numpy(array)[taeda.from_numpy(mask)], array[mask])


@given(SHAPES, st.randoms(use_true_random=False))
def test_permutation_and_reshape(shape: tuple[int, ...], random: Any) -> None:
    array, order = numbered(shape), list(range(len(shape)))
    random.shuffle(order)
    tensor = taeda.from_numpy(array).permute(order)
    same(tensor, array.transpose(order))
    same(tensor.reshape(-1), array.transpose(order).reshape(-1))
    same(tensor.contiguous(), array.transpose(order))
    assert tensor.is_contiguous() == array.transpose(order).flags.c_contiguous or array.size == 0


@given(SHAPES, st.randoms(use_true_random=False))
def test_views_share_memory(shape: tuple[int, ...], random: Any) -> None:
    tensor, order = taeda.zeros(shape), list(range(len(shape)))
    random.shuffle(order)
    tensor.permute(order).add_(1)
    assert tensor.sum().item() == tensor.numel()


@given(st.sampled_from(DTYPES), st.sampled_from(DTYPES))
def test_promotion_of_tensors(first: str, second: str) -> None:
    wanted = np.promote_types(first, second).name
    floats = ("float", "complex")
    if first.startswith(floats) != second.startswith(floats):  # integers do not widen a float here
        wanted = first if first.startswith(floats) else second
    elif {first, second} == {"complex64", "float64"}:
        wanted = "complex128"
    assert str(taeda.promote_types(getattr(taeda, first), getattr(taeda, second))) == f"torch.{wanted}"


@given(SHAPES, st.integers(-4, 3), st.booleans())
def test_reductions(shape: tuple[int, ...], dim: int, keepdim: bool) -> None:
    array = numbered(shape)
    tensor = taeda.from_numpy(array)
    if not -max(len(shape), 1) <= dim < max(len(shape), 1):
        with pytest.raises(IndexError):
            tensor.sum(dim, keepdim=keepdim)
    elif shape:
        same(tensor.sum(dim, keepdim=keepdim), array.sum(dim, keepdims=keepdim))


def test_shapes_that_are_none_are_refused() -> None:
    class Endless:
        def __getitem__(self, place: int) -> int:
            return 1

    assert taeda.broadcast_shapes(2, [1, 1], range(1, 3)) == (1, 2)
    for wrong in (Endless(), taeda.tensor([2, 3]), {1: 2}):
        with pytest.raises(RuntimeError, match="ints"):
            taeda.broadcast_shapes((2,), wrong)
