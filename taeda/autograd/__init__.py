"""Gradients of recorded computations."""

from __future__ import annotations

import importlib as _importlib
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import taeda
import taeda as torch  # noqa: F401 - programs find it here
from taeda import Tensor
from taeda._C import _autograd
from taeda._C import _profiler_enabled as _profiler_enabled

__all__ = [
    "Function",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "enforce_grad_layout_policy",
    "forward_ad",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]

SavedTensor = _autograd.SavedTensor

_LAZY = {
    "Function": "function",
    "Variable": "variable",
    "detect_anomaly": "anomaly_mode",
    "set_detect_anomaly": "anomaly_mode",
    "enable_grad": "grad_mode",
    "inference_mode": "grad_mode",
    "no_grad": "grad_mode",
    "set_grad_enabled": "grad_mode",
    "enforce_grad_layout_policy": "grad_mode",
    "set_multithreading_enabled": "grad_mode",
    "is_multithreading_enabled": "grad_mode",
    "kineto_available": "profiler",
}
_MODULES = frozenset([
    "_functions", "anomaly_mode", "forward_ad", "function", "functional", "grad_mode", "graph", "profiler",
    "profiler_util", "variable",
])  # fmt: skip


if TYPE_CHECKING:
    from taeda.autograd import anomaly_mode as anomaly_mode
    from taeda.autograd import forward_ad as forward_ad
    from taeda.autograd import function as function
    from taeda.autograd import functional as functional
    from taeda.autograd import grad_mode as grad_mode
    from taeda.autograd import graph as graph
    from taeda.autograd import profiler as profiler
    from taeda.autograd import profiler_util as profiler_util
    from taeda.autograd import variable as variable
    from taeda.autograd.anomaly_mode import detect_anomaly as detect_anomaly
    from taeda.autograd.anomaly_mode import set_detect_anomaly as set_detect_anomaly
    from taeda.autograd.function import Function as Function
    from taeda.autograd.grad_mode import enable_grad as enable_grad
    from taeda.autograd.grad_mode import enforce_grad_layout_policy as enforce_grad_layout_policy
    from taeda.autograd.grad_mode import inference_mode as inference_mode
    from taeda.autograd.grad_mode import is_multithreading_enabled as is_multithreading_enabled
    from taeda.autograd.grad_mode import no_grad as no_grad
    from taeda.autograd.grad_mode import set_grad_enabled as set_grad_enabled
    from taeda.autograd.grad_mode import set_multithreading_enabled as set_multithreading_enabled
    from taeda.autograd.profiler import kineto_available as kineto_available
    from taeda.autograd.variable import Variable as Variable
else:

    def __getattr__(name: str) -> Any:
        if name in _LAZY:
            value = getattr(_importlib.import_module(f"taeda.autograd.{_LAZY[name]}"), name)
        elif name in _MODULES:
            return _importlib.import_module(f"taeda.autograd.{name}")
        else:
            from taeda._main.absent import missing

            raise missing(__name__, name)
        globals()[name] = value
        return value


def _is_checkpoint_valid() -> bool:
    """False while a backward pass for given inputs only runs, inside of which none for all leaves may start."""
    return _autograd._is_checkpoint_valid()


def _as_tuple(value: Any) -> tuple[Any, ...]:
    """One tensor or GradientEdge, or a sequence of them, as a tuple."""
    if taeda.overrides.is_tensor_like(value) or hasattr(value, "output_nr"):
        return (value,)
    from taeda._main.listed import iterated

    return tuple(iterated("taeda.autograd: tensors", value))


def _check_shape(grad: Tensor, output: Any, index: int, function: str) -> None:
    if grad.shape != output.shape:
        raise RuntimeError(
            f"{function}: gradient {index} must have its output's shape {tuple(output.shape)}; got {tuple(grad.shape)}"
        )
    if grad.is_complex() != output.dtype.is_complex:
        raise RuntimeError(
            f"{function}: gradient {index} must be complex exactly if its output is; got {grad.dtype} for "
            f"{output.dtype}"
        )


def _make_grads(outputs: Sequence[Any], grads: Sequence[Any], function: str) -> tuple[Any, ...]:
    """Checks the gradients; the engine starts from one where a gradient is None."""
    if len(outputs) != len(grads):
        raise RuntimeError(f"{function}: got {len(outputs)} tensors and {len(grads)} gradients")
    made: list[Tensor | None] = []
    for i, (output, grad) in enumerate(zip(outputs, grads, strict=True)):
        if isinstance(grad, Tensor):
            shown = output if isinstance(output, Tensor) else output.node._input_metadata[output.output_nr]
            if shown is not None:
                _check_shape(grad, shown, i, function)
            made.append(grad)
        elif grad is not None:
            raise TypeError(f"{function}: gradients must be tensors or None; got {type(grad).__name__}")
        elif not isinstance(output, Tensor):
            made.append(_one_for(output, i, function))
        elif not output.requires_grad:
            made.append(None)  # the engine says what is wrong
        elif output.numel() != 1:
            raise RuntimeError(
                f"{function}: a gradient can be left out only for outputs of one element; output {i} has the shape "
                f"{tuple(output.shape)}"
            )
        elif not output.is_floating_point():
            raise RuntimeError(
                f"{function}: a gradient can be left out only for real outputs; output {i} is {output.dtype}"
            )
        else:
            made.append(None)
    return tuple(made)


def _one_for(edge: Any, index: int, function: str) -> Tensor:
    """The gradient that starts at an edge when none is given."""
    known = edge.node._input_metadata[edge.output_nr]
    if known.shape.numel() != 1 or not known.dtype.is_floating_point:
        raise RuntimeError(
            f"{function}: a gradient can be left out only for real outputs of one element; output {index} is a "
            f"GradientEdge of shape {tuple(known.shape)} and {known.dtype}"
        )
    return taeda.ones(known.shape, dtype=known.dtype, device=known.device)


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Computes the gradients of the sum of ``tensors`` and adds them to the leaves' ``.grad``.

    Args:
        tensors: one tensor or several, or GradientEdges.
        grad_tensors: for each the gradient to start from, with its shape; None for tensors of one element means one.
        retain_graph: keeps what the graph saved, so that it can be run again; by default as ``create_graph``.
        create_graph: records the computation of the gradients, so that they can be differentiated.
        grad_variables: an old name of ``grad_tensors``.
        inputs: the tensors to whose ``.grad`` gradients are added; by default all leaves.

    Raises:
        RuntimeError: a tensor does not require grad, shapes do not fit, or the graph was released.
    """
    if grad_variables is not None:
        if grad_tensors is not None:
            raise RuntimeError("taeda.autograd.backward: got both grad_tensors and grad_variables, which mean the same")
        grad_tensors = grad_variables
    given_inputs = () if inputs is None else _as_tuple(inputs)
    if inputs is not None and not given_inputs:
        raise RuntimeError("taeda.autograd.backward: inputs must not be empty; leave it out for all leaves")
    outputs = _as_tuple(tensors)
    grads = (None,) * len(outputs) if grad_tensors is None else _as_grads(grad_tensors, "taeda.autograd.backward")
    made = _make_grads(outputs, grads, "taeda.autograd.backward")
    keep = create_graph if retain_graph is None else retain_graph
    if create_graph:
        _warn_of_cycles()
    _autograd.run_backward(outputs, made, keep, create_graph, given_inputs, True, True)


_warned_of_cycles = False


def _warn_of_cycles() -> None:
    global _warned_of_cycles
    if not _warned_of_cycles or taeda.is_warn_always_enabled():
        _warned_of_cycles = True
        warnings.warn(
            "taeda.autograd.backward: create_graph=True makes .grad refer to the graph and the graph to the leaf, a "
            "cycle that keeps both alive; autograd.grad makes none, or set .grad to None afterwards",
            stacklevel=3,
        )


def _as_grads(grads: Any, function: str) -> tuple[Any, ...]:
    if isinstance(grads, Tensor):
        return (grads,)
    if not isinstance(grads, (tuple, list)):
        raise TypeError(f"{function}: gradients must be tensors or None; got {type(grads).__name__}")
    return tuple(grads)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """The gradients of the sum of ``outputs`` with respect to ``inputs``; no ``.grad`` is touched.

    Args:
        outputs: one tensor or several, or GradientEdges.
        inputs: the tensors (or GradientEdges) to differentiate by.
        grad_outputs: for each output the gradient to start from, with its shape; None for outputs of one element means
            one. With ``is_grads_batched`` each has one more dimension in front.
        retain_graph: keeps what the graph saved, so that it can be run again; by default as ``create_graph``.
        create_graph: records the computation of the gradients, so that they can be differentiated.
        only_inputs: must stay True.
        allow_unused: gives None for inputs that the outputs do not depend on, instead of raising; by default as
            ``materialize_grads``.
        is_grads_batched: computes one gradient for each slice of ``grad_outputs`` along its first dimension; the
            results are stacked along a new first dimension.
        materialize_grads: gives zeros instead of None.

    Returns:
        One gradient for each input, with its shape.

    Raises:
        RuntimeError: there is no input, one does not require grad or is unused, shapes do not fit, or the graph was
            released.
    """
    if not only_inputs:
        raise RuntimeError("taeda.autograd.grad: only_inputs must be True; use backward to fill .grad")
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "taeda.autograd.grad: materialize_grads=True gives zeros for unused inputs, so allow_unused cannot be False"
        )
    results, sources = _as_tuple(outputs), _as_tuple(inputs)
    if taeda._C._has_torch_function((*results, *sources)):
        return taeda.overrides.handle_torch_function(
            grad, (*results, *sources), results, sources, grad_outputs=grad_outputs, retain_graph=retain_graph,
            create_graph=create_graph, only_inputs=only_inputs, allow_unused=allow_unused,
            is_grads_batched=is_grads_batched, materialize_grads=materialize_grads,
        )  # fmt: skip
    if not sources:
        raise RuntimeError("taeda.autograd.grad: inputs must not be empty; name the tensors to differentiate by")
    given = (None,) * len(results) if grad_outputs is None else _as_grads(grad_outputs, "taeda.autograd.grad")
    if materialize_grads and len(results) == len(given):  # what depends on nothing has zeros for gradients
        pairs = [(o, g) for o, g in zip(results, given, strict=True) if not isinstance(o, Tensor) or o.requires_grad]
        if not pairs:
            return tuple(_zeros(source) for source in sources)
        results, given = tuple(o for o, _ in pairs), tuple(g for _, g in pairs)
    unused = materialize_grads if allow_unused is None else allow_unused
    keep = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        found = _batched(results, sources, given, keep, create_graph, unused)
    else:
        made = _make_grads(results, given, "taeda.autograd.grad")
        found = _autograd.run_backward(results, made, keep, create_graph, sources, unused, False)
    if materialize_grads:
        found = tuple(_zeros(source) if g is None else g for g, source in zip(found, sources, strict=True))
    return found


def _zeros(source: Any) -> Tensor:
    if not isinstance(source, Tensor):
        raise RuntimeError("taeda.autograd.grad: materialize_grads takes tensors as inputs, not GradientEdges")
    return taeda.zeros_like(source)


def _batched(
    outputs: Sequence[Any], inputs: Sequence[Any], grads: Sequence[Any], keep: bool, create_graph: bool, unused: bool
) -> tuple[Any, ...]:
    """One pass for each slice of the gradients, the results stacked."""
    count = next((len(g) for g in grads if g is not None), None)
    if count is None:
        raise RuntimeError(
            "taeda.autograd.grad: is_grads_batched=True needs grad_outputs with a batch dimension in front"
        )
    whole = list(zip(outputs, grads, strict=True))
    for i, (output, g) in enumerate(whole):
        if isinstance(output, Tensor) and g is not None and g.shape[1:] != output.shape:
            raise RuntimeError(
                f"taeda.autograd.grad: with is_grads_batched=True gradient {i} must have the shape (batch, "
                f"*{tuple(output.shape)}); got {tuple(g.shape)}"
            )
    grads = [_like_output(g, output) for output, g in whole]
    passes = []
    for i in range(count):
        one = [None if g is None else g[i] for g in grads]
        made = _make_grads(outputs, one, "taeda.autograd.grad")
        last = i == count - 1
        passes.append(_autograd.run_backward(outputs, made, keep or not last, create_graph, inputs, unused, False))
    return tuple(None if column[0] is None else taeda.stack(column) for column in zip(*passes, strict=True))


def _like_output(grad: Any, output: Any) -> Any:
    """Gradients of a batch may be integers."""
    exact = (
        isinstance(grad, Tensor) and isinstance(output, Tensor) and not (grad.is_floating_point() or grad.is_complex())
    )
    return grad.to(output.dtype) if exact else grad


# Not lazy: the package has a function and a module of one name, and importing the module later would hide the function.
from taeda.autograd.gradcheck import gradcheck, gradgradcheck  # noqa: E402
