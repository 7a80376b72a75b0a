"""functionalize: the same values, no writes below, what is written to arguments is theirs at the end."""

from __future__ import annotations

from typing import Any

import pytest

import taeda
from taeda.func import functionalize, grad, jvp, vmap
from taeda.utils._python_dispatch import TorchDispatchMode


class Ops(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Any] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(func)
        return func(*args, **(kwargs or {}))


def through_views(x: taeda.Tensor) -> Any:
    y = x + 1
    y[0].add_(2)
    y.view(-1).mul_(2)
    y.t()[1].zero_()
    y[:, 1:].copy_(x[:, :2])
    y.diagonal().exp_()
    y.permute(1, 0).unsqueeze(0).squeeze(0).neg_()
    y.unfold(1, 2, 2)[0].fill_(3)
    y[:, ::2] = 7
    return y, y.as_strided((2,), (1,), 1).sub_(1)


def through_parts(x: taeda.Tensor) -> Any:
    y = x.clone()
    a, b = y.split(1)
    c, _ = y.unbind(0)
    return a + c.mul(2) + b, y.masked_fill_(y > 2, 0), y.index_put_((taeda.tensor([0]),), taeda.tensor(5.0))


def to_arguments(x: taeda.Tensor) -> Any:
    out = taeda.empty(2, 3)
    taeda.add(x.mul_(3), 1, out=out)
    x[0] = 9
    return out.normal_(0, 0) + x, x.view(-1)


def both(function: Any, remove: str) -> tuple[Any, Any, list[Any]]:
    x, twin = taeda.arange(6.0).view(2, 3), taeda.arange(6.0).view(2, 3)
    with Ops() as ops:
        found = functionalize(function, remove=remove)(x)
    return [*found, x], [*function(twin), twin], ops.seen


@pytest.mark.parametrize("remove", ["mutations", "mutations_and_views"])
@pytest.mark.parametrize("function", [through_views, through_parts, to_arguments])
def test_the_same_without_writes(function: Any, remove: str) -> None:
    found, wanted, ops = both(function, remove)
    assert [t.tolist() for t in found] == [t.tolist() for t in wanted]
    written = {str(op) for op in ops if op._schema.is_mutable}
    if function is to_arguments:  # copies that nobody else has, and the argument at the end
        assert written == {"aten.add.Scalar_out", "aten.normal_.default", "aten.copy_.default"}
    else:
        assert not written
    views = {str(op) for op in ops} & {"aten.select.int", "aten.slice.Tensor", "aten.t.default"}
    assert not views or remove == "mutations"


def halves(x: taeda.Tensor) -> taeda.Tensor:
    y = x.clone()
    y[0].mul_(x[1])
    return (y.view(-1)[2:].sin_() * y.view(-1)[2:]).sum()


def test_with_other_transforms() -> None:
    x = taeda.arange(6.0).view(2, 3)
    slope = grad(halves)(x)
    assert taeda.equal(grad(functionalize(halves))(x), slope)
    assert taeda.equal(functionalize(grad(halves))(x), slope)
    for f in (functionalize(halves), halves):
        assert jvp(f, (x,), (x,))[1].item() == pytest.approx((slope * x).sum().item())
    many = taeda.stack([x, x + 1])
    wanted = taeda.stack([halves(x), halves(x + 1)])
    for f in (vmap(functionalize(halves)), functionalize(vmap(halves))):
        taeda.testing.assert_close(f(many), wanted)


def turned_view(x: taeda.Tensor) -> Any:
    y = x.view(8).reshape(2, 4).transpose(1, 0)
    y.unsqueeze_(0)
    y.squeeze_()
    y.split(2)[0].add_(taeda.ones(2, 2))
    return x


def turned_base(x: taeda.Tensor) -> Any:
    y = x + 1
    row = y[0]
    y.unsqueeze_(0).transpose_(0, 1)
    row.mul_(5)
    y[1] = 7
    y.swapaxes_(1, 2).squeeze_(2).t_().neg_()
    return y, row, y.shape[0]


def strided(x: taeda.Tensor) -> Any:
    y = x + 1
    y.as_strided_((2, 3), (1, 2)).neg_()
    return y


def turned_argument(x: taeda.Tensor) -> Any:
    x.unsqueeze_(0).add_(1)
    return x * 2


def resized(x: taeda.Tensor) -> Any:
    y = x.sin()
    y.resize_(3)
    x.resize_(2, 5).fill_(2)
    return y


@pytest.mark.parametrize("remove", ["mutations", "mutations_and_views"])
@pytest.mark.parametrize("f", [turned_view, turned_base, strided, turned_argument, resized])
def test_shapes_change_in_place(f: Any, remove: str) -> None:
    plain, inner = taeda.arange(8.0).view(4, 2), taeda.arange(8.0).view(4, 2)
    wanted, got = f(plain), functionalize(f, remove=remove)(inner)
    taeda.testing.assert_close(got, wanted)
    taeda.testing.assert_close(inner, plain)  # the argument's shape, too


def test_what_it_cannot_do() -> None:
    with pytest.raises(RuntimeError, match="remove"):
        functionalize(halves, remove="all")
    with pytest.raises(RuntimeError, match="without writes"):
        functionalize(lambda x: taeda.view_as_real(x.clone()).add_(1))(taeda.ones(2, dtype=taeda.cfloat))
