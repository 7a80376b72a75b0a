"""Whether a trace does what the program does, on the example, on other inputs and on other sizes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.jit.optimise.effects import is_random
from taeda.jit.tracing.recorder import Fixed, TracerWarning
from taeda.jit.tracing.structure import map_tensors, tensors_in

Call = tuple[tuple[Any, ...], dict[str, Any]]


class TracingCheckError(Exception):
    """A traced function and the original do not agree."""

    def __init__(self, graph_diff_error: Any, tensor_compare_error: Any, extra_msg: str | None = None) -> None:
        parts = [part for part in (extra_msg, graph_diff_error, tensor_compare_error) if part is not None]
        self.message = "\n".join(["the trace and the function do not agree", *map(str, parts)])
        super().__init__(self.message)


def check_trace(function: Any, traced: Any, calls: Sequence[Call], tolerance: float, fixed: Sequence[Fixed]) -> None:
    """Compares a program with what it was traced from.

    Raises:
        TracingCheckError: they differ on a given example. On inputs of other sizes that is a `TracerWarning`.
    """
    module = _module_of(function)
    _warn_of_randomness(traced)
    for i, (args, kwargs) in enumerate(calls):
        problem = _difference(function, traced, module, args, kwargs, tolerance, fixed if i else ())
        if problem == UNSTEADY:
            warnings.warn(
                "taeda.jit.trace: two calls of the function on the same example differ, so the trace cannot be "
                "checked; does it draw random numbers?", TracerWarning, stacklevel=3,
            )  # fmt: skip
            return
        if problem is not None:
            raise TracingCheckError(None, problem, _story(fixed))
    second = _with_other_sizes(*calls[0])
    if second is not None and _runs(function, module, second):
        problem = _difference(function, traced, module, *second, tolerance, fixed)
        if problem is not None and problem != UNSTEADY:
            shapes = ", ".join(str(tuple(t.shape)) for t in tensors_in(second))
            warnings.warn(
                f"taeda.jit.trace: on inputs of other sizes ({shapes}) the trace does something else than the "
                f"function: {problem}\n{_story(fixed) or ''}".rstrip(), TracerWarning, stacklevel=3,
            )  # fmt: skip


UNSTEADY = "unsteady"


def _warn_of_randomness(traced: Any) -> None:
    """A trace that draws random numbers draws others each time: of dropout that is a module left in training mode."""
    graph = getattr(traced, "inlined_graph", None)
    nodes = [node for node in graph.all_nodes() if is_random(node) and _draws(node)] if graph is not None else []
    if nodes:
        shown = "\n".join(f"  {node.kind()} at {node.sourceRange()}" for node in nodes[:5])
        warnings.warn(f"taeda.jit.trace: the trace draws random numbers, so that each call differs; is a module in "
                      f"training mode (eval() ends it)?\n{shown}", TracerWarning, stacklevel=4)  # fmt: skip


def _draws(node: Any) -> bool:
    """Of an op that draws in training only, whether it was traced so."""
    schema = node.op_schema()
    names = [a.name for a in schema.arguments] if schema is not None else []
    flag = next((n for n in ("training", "train") if n in names), None)
    if flag is not None:
        return node.namedInput(flag).toIValue() is not False
    return "dropout_p" not in names or node.namedInput("dropout_p").toIValue() != 0


def _story(fixed: Sequence[Fixed]) -> str | None:
    if not fixed:
        return None
    return "what the trace keeps from its example:\n" + "\n".join(f"  {each}" for each in fixed)


def _module_of(function: Any) -> nn.Module | None:
    owner = function if isinstance(function, nn.Module) else getattr(function, "__self__", None)
    return owner if isinstance(owner, nn.Module) else None


def _fresh(value: Any) -> Any:
    return map_tensors(value, lambda t: t.detach().clone().requires_grad_(t.requires_grad))


def _sizes_as_tensors(value: Any) -> Any:
    """Sizes among results, which a trace gives as tensors."""
    if type(value) is int:
        return taeda.tensor(value)
    return tuple(map(_sizes_as_tensors, value)) if type(value) in (tuple, taeda.Size) else value


def _called(function: Callable[..., Any], module: nn.Module | None, call: Call) -> Any:
    """The result of a call that leaves no trace in the generator or in the module's buffers."""
    kept = [] if module is None else [(b, b.detach().clone()) for b in module.buffers()]
    counts = [] if module is None else [p._version for p in module.parameters()]
    try:
        with taeda.random.fork_rng(devices=[]):
            args, kwargs = _fresh(call[0]), _fresh(call[1])
            result = _sizes_as_tensors(function(*args, **kwargs))
            return map_tensors(result, lambda t: t.detach().clone())
    finally:
        del counts
        with taeda.no_grad():
            for buffer, before in kept:
                if not taeda.equal(buffer, before):
                    buffer.copy_(before)


def _runs(function: Callable[..., Any], module: nn.Module | None, call: Call) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _called(function, module, call)
    except Exception:
        return False
    return True


def _difference(
    function: Any, traced: Any, module: nn.Module | None, args: tuple[Any, ...], kwargs: dict[str, Any],
    tolerance: float, fixed: Sequence[Fixed],
) -> str | None:  # fmt: skip
    call = args, kwargs
    expected = _called(function, module, call)
    try:
        found = _called(traced, module, call)
    except Exception as error:
        return f"the trace fails where the function does not: {error}"
    problem = _compare(found, expected, tolerance)
    if problem is not None and not fixed and _compare(_called(function, module, call), expected, tolerance):
        return UNSTEADY
    return problem


def _compare(found: Any, expected: Any, tolerance: float) -> str | None:
    mine, theirs = tensors_in(found), tensors_in(expected)
    if len(mine) != len(theirs):
        return f"the trace gives {len(mine)} tensors, the function {len(theirs)}"
    for i, (a, b) in enumerate(zip(mine, theirs, strict=True)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"result {i} has shape {tuple(a.shape)} and {a.dtype}; the function's {tuple(b.shape)} and {b.dtype}"
        if a.is_sparse or a.is_quantized or a.numel() == 0:
            continue
        if not taeda.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True):
            off = (a.to(taeda.complex128 if a.is_complex() else taeda.float64) - b).abs()
            return f"result {i} differs by up to {off.max().item():.3g}, in {int((off > tolerance).sum())} elements"
    return None


def _with_other_sizes(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call | None:
    """The example with another first size, where all tensors share it."""
    tensors = tensors_in((args, kwargs))
    if not tensors or any(t.dim() == 0 or t.layout is not taeda.strided for t in tensors):
        return None
    size = tensors[0].shape[0]
    if size < 2 or any(t.shape[0] != size for t in tensors):
        return None

    def longer(tensor: Tensor) -> Tensor:
        return taeda.cat([tensor.detach(), tensor.detach()[:1]]).requires_grad_(tensor.requires_grad)

    return map_tensors(args, longer), map_tensors(kwargs, longer)
