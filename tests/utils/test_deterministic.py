"""Memory without values in deterministic mode."""

from __future__ import annotations

import pytest

import taeda

DTYPES = [
    taeda.float32, taeda.float64, taeda.float16, taeda.bfloat16, taeda.complex64, taeda.complex128, taeda.uint8,
    taeda.int8, taeda.int16, taeda.int32, taeda.int64, taeda.bool,
]  # fmt: skip
MAKERS = {
    "empty": lambda d: taeda.empty(3, 4, dtype=d),
    "channels_last": lambda d: taeda.empty(1, 3, 2, 2, dtype=d, memory_format=taeda.channels_last),
    "empty_like": lambda d: taeda.empty_like(taeda.zeros(3, 4, dtype=d)),
    "empty_strided": lambda d: taeda.empty_strided((3, 4), (1, 5), dtype=d),
    "empty_permuted": lambda d: taeda.empty_permuted((2, 3, 5), (1, 0, 2), dtype=d),
    "new_empty": lambda d: taeda.zeros(2, dtype=d).new_empty(5),
    "resize_": lambda d: taeda.zeros(2, dtype=d).resize_(5)[2:],
}


@pytest.fixture
def deterministic():
    taeda.use_deterministic_algorithms(True)
    yield
    taeda.use_deterministic_algorithms(False)
    taeda.utils.deterministic.fill_uninitialized_memory = True


def undefined(tensor: taeda.Tensor) -> taeda.Tensor:
    if tensor.is_floating_point() or tensor.is_complex():
        return tensor.isnan()
    return tensor == (True if tensor.dtype == taeda.bool else taeda.iinfo(tensor.dtype).max)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("maker", MAKERS)
def test_memory_without_values_is_filled(maker: str, dtype: taeda.dtype, deterministic: None) -> None:
    assert undefined(MAKERS[maker](dtype)).all()


def test_only_when_asked(deterministic: None) -> None:
    taeda.utils.deterministic.fill_uninitialized_memory = False
    assert not taeda.utils.deterministic.fill_uninitialized_memory
    taeda.full((100,), 3.0)
    assert not taeda.empty(100).isnan().all()
    assert taeda.zeros(3).tolist() == [0, 0, 0]
    with pytest.raises(RuntimeError, match="bool"):
        taeda.utils.deterministic.fill_uninitialized_memory = 1
