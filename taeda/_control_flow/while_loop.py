"""A loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda import Tensor
from taeda._control_flow.capture import current_capture, recorders


def while_loop(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: tuple[Any, ...]) -> Any:
    """Applies ``body_fn`` for as long as ``cond_fn`` says so.

    Args:
        cond_fn: takes the carried values; returns a truth value or a tensor of one element.
        body_fn: takes the carried values; returns as many, as a tuple.
        carried_inputs: the values at the start.

    Returns:
        The values at the end, as a tuple.

    Raises:
        RuntimeError: an argument is of another kind, or ``body_fn`` returns another number of values.
    """
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("taeda.while_loop: cond_fn and body_fn must be callable")
    if not isinstance(carried_inputs, (tuple, list)):
        raise RuntimeError(f"taeda.while_loop: carried_inputs must be a tuple; got {type(carried_inputs).__name__}")
    carried = tuple(carried_inputs)
    capture = current_capture()
    if capture is not None:
        return recorders["while_loop"](capture, cond_fn, body_fn, carried)
    while bool(cond_fn(*carried)):
        result = body_fn(*carried)
        carried = (result,) if isinstance(result, Tensor) else tuple(result)
        if len(carried) != len(carried_inputs):
            raise RuntimeError(
                f"taeda.while_loop: body_fn must return {len(carried_inputs)} values; got {len(carried)}"
            )
    return carried
