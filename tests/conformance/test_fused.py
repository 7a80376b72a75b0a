"""Fused gradients beside the same derivatives run as ops, which is what a gradient with a history is made of."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from comparison import differ, flat
from declared import Op, base_ops, call, find, report, samples_of, seed_for
from test_gradients import CONSTANT

import taeda
from taeda.testing._samples import LAYOUTS
from taeda.utils._python_dispatch import TorchDispatchMode
from taedagen.emit.autograd.analysis import may_have_gradient, trace_derivative
from taedagen.opdef.samples import Sample

DTYPES = ("float32", "float64", "float16", "bfloat16")
# Of several operations rounded to the dtype one by one, and of the largest gradient.
RTOL = {"float64": 1e-12, "float32": 1e-5, "float16": 2e-2, "bfloat16": 1e-1}


def has_kernel(op: Op) -> bool:
    derivative = trace_derivative(op) if op.variant == "functional" and may_have_gradient(op) else None
    return derivative is not None and bool(derivative.fused)


OPS = [op for op in base_ops() if op.declaration.kind == "pointwise" and has_kernel(op)]


def gradients(op: Op, sample: Sample, leaves: list[int], expanded: bool, with_history: bool) -> list[Any] | None:
    """Of the result for the chosen floating-point variables; None where the call itself fails."""
    chosen: list[Any] = []
    constants = CONSTANT.get(op.schema.name, set())

    def prepare(args: list[Any]) -> None:
        variables = [arg for name, arg in zip(op.schema.names, args) if name not in constants]
        tensors = [t for t in flat(variables) if hasattr(t, "requires_grad_") and t.is_floating_point()]
        chosen.extend(tensors[i].requires_grad_() for i in leaves if i < len(tensors))

    function = find(taeda, op.schema.name, op.schema.overload)
    outcome = call(taeda, function, sample, seed_for(op), prepare=prepare)
    if outcome.error is not None or len(chosen) < len(leaves) or not outcome.results[0].requires_grad:
        return None
    result = outcome.results[0]
    taeda.manual_seed(1)
    given = taeda.randn(()).to(result.dtype).expand(result.shape) if expanded else taeda.randn_like(result)
    found = taeda.autograd.grad(result, chosen, given, create_graph=with_history, allow_unused=True)
    assert all(g is None or not with_history or not g.is_complex() for g in found)
    return [g for g in found if g is not None]


def mistakes(op: Op, sample: Sample) -> list[str]:
    count = sum(fill.dtype in DTYPES for fill in sample.fills)
    found = []
    for size in range(1, count + 1):
        for leaves in combinations(range(count), size):
            for expanded in (False, True):
                fused, wanted = (gradients(op, sample, list(leaves), expanded, h) for h in (False, True))
                for got, want in zip(fused or [], wanted or []):
                    difference = differ(got, want.detach(), strides=False, rtol=RTOL[str(want.dtype)[6:]])
                    if difference:
                        found.append(f"{sample} for {leaves}: {difference}")
    return found


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.schema.full_name)
def test_both_forms_agree(op: Op) -> None:
    found = []
    for sample in samples_of(op):
        variants = [sample.with_layout(layout) for layout in LAYOUTS]
        variants += [sample.with_dtype(dtype) for dtype in DTYPES]
        found += [m for variant in variants for m in mistakes(op, variant)]
    report(op, found)


@pytest.mark.parametrize("first, second", [("float32", "float64"), ("bfloat16", "float32"), ("float16", "bfloat16")])
@pytest.mark.parametrize("name", ["mul", "div", "hypot", "atan2"])
def test_mixed_dtypes(name: str, first: str, second: str) -> None:
    for shapes in [((3, 4), (4,)), ((3, 4), ()), ((0, 4), (4,))]:
        made = []
        for history in (False, True):
            taeda.manual_seed(0)
            x, y = (taeda.rand(s, dtype=getattr(taeda, d)).add_(1).requires_grad_()
                    for s, d in zip(shapes, (first, second)))  # fmt: skip
            z = getattr(taeda, name)(x, y)
            made.append(taeda.autograd.grad(z, (x, y), taeda.rand_like(z), create_graph=history))
        for got, want in zip(*made):
            assert not differ(got, want.detach(), strides=False, rtol=0.1)


class Seen(TorchDispatchMode):
    """Hears of the ops in its scope."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(function.name())
        return function(*args, **(kwargs or {}))


def test_a_dispatch_mode_sees_the_ops_of_a_derivative() -> None:
    x = taeda.rand(4, requires_grad=True)
    y = x.sin()
    with Seen() as seen:
        y.backward(taeda.ones(4))
    assert {"aten::cos", "aten::mul.Tensor"} <= set(seen.names)
    assert x.grad.allclose(x.detach().cos())


def test_other_devices_and_dtypes_take_the_ops() -> None:
    x = taeda.rand(4, device="meta", requires_grad=True)
    (gradient,) = taeda.autograd.grad(x.atan2(x), x, taeda.ones(4, device="meta"))
    assert gradient.device.type == "meta" and gradient.shape == (4,)
    z = taeda.rand(4, dtype=taeda.complex64, requires_grad=True)
    (gradient,) = taeda.autograd.grad(z.sin(), z, taeda.ones(4, dtype=taeda.complex64))
    assert gradient.allclose(z.detach().cos().conj())
    real = taeda.rand(4, requires_grad=True)
    (gradient,) = taeda.autograd.grad(real * z.detach(), real, taeda.ones(4, dtype=taeda.complex64))
    assert gradient.dtype == taeda.float32 and gradient.allclose(z.detach().real)


def test_saved_tensors_are_checked_as_ever() -> None:
    x = taeda.rand(4, requires_grad=True)
    y = taeda.rand(4, requires_grad=True)
    z = x.atan2(y)
    with taeda.no_grad():
        y.add_(1)
    with pytest.raises(RuntimeError, match="in.?place"):
        z.sum().backward()
    z = x.atan2(y)
    z.sum().backward()
    with pytest.raises(RuntimeError, match="retain_graph=True"):
        z.sum().backward()
