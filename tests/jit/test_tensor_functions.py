"""Functions of tensors whose Python is more than programs hold: subscripts in lists, classes of a dtype."""

import io

import pytest

import taeda as torch
from taeda import jit, nn
from taeda._main.script_marks import BroadcastingList2
from taeda.nn.common_types import _size_2_t


def saved(program: object) -> object:
    file = io.BytesIO()
    jit.save(program, file)
    file.seek(0)
    return jit.load(file)


def test_einsum_with_subscripts_in_lists() -> None:
    def outer(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.einsum(x, [0], y, [1], [1, 0])

    def batched(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.einsum(x, [..., 0, 1], y, [..., 1, 2]) + torch.einsum("bij,bjk->bik", (x, y))

    x, y = torch.randn(3), torch.randn(4)
    assert torch.equal(jit.script(outer)(x, y), outer(x, y))
    x, y = torch.randn(2, 3, 4), torch.randn(2, 4, 5)
    assert torch.equal(jit.script(batched)(x, y), batched(x, y))
    with pytest.raises(RuntimeError, match="known while the program is compiled"):
        jit.script(lambda x, n: torch.einsum(x, [0], x, n)).graph  # noqa: B018


def test_classes_of_one_dtype() -> None:
    @jit.script
    def made():
        return torch.LongTensor([2, 3]), torch.BoolTensor([2]), torch.HalfTensor(2, 3), torch.DoubleTensor()

    long, truth, half, double = made()
    assert long.tolist() == [2, 3] and long.dtype is torch.int64 and truth.tolist() == [True]
    assert half.shape == (2, 3) and half.dtype is torch.float16 and double.shape == (0,)
    with pytest.raises(RuntimeError, match="takes sizes or one list"):
        jit.script(lambda: torch.LongTensor(1, [2]))()
    with pytest.raises(RuntimeError, match="no 'size'"):
        jit.script(lambda: torch.LongTensor(size=2))()


def test_one_number_for_a_list_of_them() -> None:
    @jit.script
    def area(x: _size_2_t, scale: BroadcastingList2[float] = 1.5) -> float:
        return x[0] * x[1] * scale[0] * scale[1]

    @jit.script
    def of_comment(x):
        # type: (BroadcastingList3[int]) -> List[int]
        return x

    @jit.script
    def areas() -> float:
        return area(2) + area((2, 3), 1.0) + area([1, 2], [1.0, 2.0])

    assert area(4) == 36.0 and area((2, 3), 1.0) == 6.0 and area(x=[2, 2], scale=2.0) == 16.0
    assert areas() == 9.0 + 6.0 + 4.0
    assert of_comment(2) == [2, 2, 2] and of_comment((1, 2, 3)) == [1, 2, 3]


def test_schemes_of_quantisation_are_constants() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scheme = torch.per_tensor_affine

        def forward(self) -> int:
            return 3 if self.scheme == torch.per_tensor_symmetric else 4

    assert jit.script(Net())() == 4 and saved(jit.script(Net()))() == 4
