"""Functions of tensors whose Python is more than programs hold: subscripts in lists, gradients, classes of a dtype."""

import io
from typing import List, Optional  # noqa: UP035

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


def backward(x: torch.Tensor) -> None:
    x.softmax(0).sum().backward()


def backward_of_one(x: torch.Tensor) -> None:
    torch.autograd.backward(x.exp().sum())


def backward_of_several(x: torch.Tensor) -> None:
    y = x.exp()
    gradients: List[Optional[torch.Tensor]] = [torch.ones_like(y), None]  # noqa: UP006, UP045
    torch.autograd.backward((y, y.sum()), gradients)


@pytest.mark.parametrize("function", [backward, backward_of_one, backward_of_several])
def test_backward(function) -> None:
    program = jit.script(function)
    assert "torch.autograd.backward(" in program.code
    want, got = torch.arange(4.0, requires_grad=True), torch.arange(4.0, requires_grad=True)
    function(want)
    program(got)
    assert torch.equal(got.grad, want.grad)

    class Net(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            function(x)
            return x

    got = torch.arange(4.0, requires_grad=True)
    saved(jit.script(Net()))(got)
    assert torch.equal(got.grad, want.grad)


def test_gradients_as_results() -> None:
    @jit.script
    def slope(x: torch.Tensor, start: torch.Tensor):
        (found,) = torch.autograd.grad(x * x, x, start, create_graph=True)
        return found

    x = torch.arange(3.0, requires_grad=True)
    assert slope(x, torch.ones(3)).tolist() == [0, 2, 4]
    with pytest.raises(RuntimeError, match="2 gradients for 1 outputs"):
        jit.script(lambda x: torch.autograd.grad([x.sum()], [x], [x, x]))(x)


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


def test_characters_in_texts() -> None:
    unit = jit.CompilationUnit("def f(a: str, n: int) -> str:\n  return '%c%c|' % (a, n)")
    assert unit.f("ä", 65) == "äA|"
    with pytest.raises(TypeError, match="%c takes a character"):
        unit.f("ab", 65)


def test_schemes_of_quantisation_are_constants() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scheme = torch.per_tensor_affine

        def forward(self) -> int:
            return 3 if self.scheme == torch.per_tensor_symmetric else 4

    assert jit.script(Net())() == 4 and saved(jit.script(Net()))() == 4


def test_tensordot_over_dimensions_in_a_tensor() -> None:
    program = jit.script(lambda a, b, dims: torch.tensordot(a, b, dims=dims))
    a, b = torch.randn(2, 3, 4), torch.randn(3, 2, 4)
    for dims in (torch.tensor([[1, 0], [0, 1]]), torch.tensor([0])):
        assert torch.equal(program(a, b, dims), torch.tensordot(a, b, dims))
    with pytest.raises(RuntimeError, match="must not be negative"):
        program(a, b, torch.tensor(-1))
