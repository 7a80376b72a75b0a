"""Functions of functions as ops that graphs name: ``taeda.ops.higher_order.cond`` and its kin."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import _control_flow
from taeda._control_flow.auto_functionalize import auto_functionalized, auto_functionalized_v2
from taeda._control_flow.higher_order import HigherOrderOperator, known
from taeda._control_flow.inline_asm_elementwise import inline_asm_elementwise
from taeda._control_flow.out_dtype import out_dtype


class _Namespace:
    """``taeda.ops.higher_order``."""

    name = "higher_order"

    def __init__(self) -> None:
        for function in (_cond, _while_loop, _map_impl, _scan, _wrap_with_set_grad_enabled, _wrap_with_autocast):
            name = function.__name__.removeprefix("_")
            setattr(self, name, HigherOrderOperator(name, function))
        for made in (auto_functionalized, auto_functionalized_v2, inline_asm_elementwise, out_dtype):
            setattr(self, made.name(), made)

    def __getattr__(self, name: str) -> Any:
        if name in known:
            return known[name]
        raise AttributeError(f"torch.ops.higher_order has no op {name!r}")

    def __reduce__(self) -> Any:
        return _find, ()


def _find() -> Any:
    return higher_order


def _cond(pred: Any, true_graph: Any, false_graph: Any, operands: Any) -> Any:
    """``true_graph(*operands)`` where ``pred`` holds, else ``false_graph(*operands)``."""
    return _control_flow.cond(pred, true_graph, false_graph, tuple(operands))


def _while_loop(cond_graph: Any, body_graph: Any, carried: Any, additional: Any = ()) -> Any:
    """Applies ``body_graph`` while ``cond_graph`` holds; both take what is carried and what is additional."""

    def holds(*values: Any) -> Any:
        result = cond_graph(*values, *additional)
        return result[0] if isinstance(result, tuple) else result

    return _control_flow.while_loop(holds, lambda *values: body_graph(*values, *additional), tuple(carried))


def _map_impl(graph: Any, xs: Any, additional: Any = ()) -> Any:
    """The graph applied to each slice, the results stacked."""
    count = xs[0].shape[0]
    rows = [graph(*(x[i] for x in xs), *additional) for i in range(count)]
    return tuple(taeda.stack(column) for column in zip(*rows))


def _scan(graph: Any, init: Any, xs: Any, additional: Any = ()) -> Any:
    """The graph over the slices: it takes the state and a slice, and gives the next state and a result."""
    state, rows = tuple(init), []
    for i in range(xs[0].shape[0]):
        result = graph(*state, *(x[i] for x in xs), *additional)
        state, row = tuple(result[: len(state)]), result[len(state) :]
        rows.append(row)
    return (*state, *(taeda.stack(column) for column in zip(*rows)))


def _wrap_with_set_grad_enabled(enable_grad: bool, wrapped_func: Any, *args: Any, **kwargs: Any) -> Any:
    """``wrapped_func(*args, **kwargs)`` with or without gradients."""
    with taeda.set_grad_enabled(enable_grad):
        return wrapped_func(*args, **kwargs)


def _wrap_with_autocast(
    device_type: str, dtype: Any, enabled: bool, cache_enabled: bool | None, wrapped_func: Any, *args: Any,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """``wrapped_func(*args, **kwargs)`` under autocast, or within none."""
    with taeda.autocast(device_type, dtype=dtype, enabled=enabled, cache_enabled=cache_enabled):
        return wrapped_func(*args, **kwargs)


higher_order = _Namespace()
