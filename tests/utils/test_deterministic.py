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


OPEN = {
    "put_": lambda: taeda.zeros(3).put_(taeda.tensor([0, 0]), taeda.ones(2)),
    "put": lambda: taeda.zeros(3).put(taeda.tensor([0, 0]), taeda.ones(2)),
    "max_unpool1d": lambda: taeda.nn.functional.max_unpool1d(taeda.ones(1, 1, 2), taeda.tensor([[[0, 2]]]), 2),
    "max_unpool3d": lambda: taeda.nn.MaxUnpool3d(1)(taeda.ones(1, 1, 1, 1, 1), taeda.zeros(1, 1, 1, 1, 1).long()),
    "resize_": lambda: taeda.quantize_per_tensor(taeda.ones(3), 0.1, 0, taeda.quint8).resize_(9),
}


@pytest.mark.parametrize("call", OPEN)
def test_what_is_left_open_is_refused(call: str, deterministic: None) -> None:
    with pytest.raises(RuntimeError, match="use_deterministic_algorithms"):
        OPEN[call]()
    taeda.use_deterministic_algorithms(True, warn_only=True)
    with pytest.warns(UserWarning, match="use_deterministic_algorithms"):
        OPEN[call]()
    taeda.zeros(3).put_(taeda.tensor([0, 0]), taeda.ones(2), accumulate=True)
    taeda.use_deterministic_algorithms(False)
    OPEN[call]()
