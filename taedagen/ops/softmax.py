"""Softmax and its logarithm."""

from taedagen.opdef import *
from taedagen.opdef.samples import Name, S, f


@composite(
    "softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    variants="function method out",
    samples=[S(f(2, 3), 0), S(f(2, 3, 4), -1), S(f(2, 67), 1), S(f(2), 1)],
)
def softmax(self, dim, dtype):
    """``exp(self)`` divided by its sum along ``dim``, of the same shape; computed in ``dtype`` if given."""
    if dtype is not None and dtype != self.dtype:
        return op._softmax(self.to(dtype), dim, False)
    return op._softmax(self, dim, False)


@composite("_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor")
def _safe_softmax(self, dim, dtype):
    """``softmax``, with 0 instead of NaN where all along ``dim`` is -inf."""
    nothing = op.all(op.isneginf(self), dim, True)
    return op.masked_fill(op.softmax(op.masked_fill(self, nothing, 0), dim, dtype), nothing, 0)


@composite(
    "log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    variants="function method out",
    samples="softmax.int",
)
def log_softmax(self, dim, dtype):
    """The logarithm of ``softmax``, without overflow on the way; computed in ``dtype`` if given."""
    if dtype is not None and dtype != self.dtype:
        return op._log_softmax(self.to(dtype), dim, False)
    return op._log_softmax(self, dim, False)


@composite(
    "special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", module="special", samples=[S(f(2, 3), 0)]
)
def special_softmax(self, dim, dtype):
    """``softmax``."""
    return op.softmax(self, dim, dtype)


@composite(
    "special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
    module="special",
    samples=[S(f(2, 3), -1)],
)
def special_log_softmax(self, dim, dtype):
    """``log_softmax``."""
    return op.log_softmax(self, dim, dtype)


@kernel(
    "_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
    variants="function out",
    shape="softmax",
    files="softmax",
    batch="along",
    samples=[S(f(2, 3), 0, False), S(f(2, 3, 4), -1, False)],
)
def _softmax(self, dim, half_to_float):
    """``softmax`` of a floating-point tensor; ``half_to_float`` widens float16 on the way."""


@_softmax.backward
def _(grad, result, dim, self):
    return {"self": op._softmax_backward_data(grad, result, dim, self.dtype())}


@kernel(
    "_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
    variants="function out",
    shape="softmax",
    files="softmax",
    batch="along",
    samples="_softmax",
)
def _log_softmax(self, dim, half_to_float):
    """``log_softmax`` of a floating-point tensor; ``half_to_float`` widens float16 on the way."""


@_log_softmax.backward
def _(grad, result, dim, self):
    return {"self": op._log_softmax_backward_data(grad, result, dim, self.dtype())}


@kernel(
    "_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
    variants="function",
    shape="softmax_backward",
    files="softmax",
    batch="along",
    samples=[S(f(2, 3), f(2, 3), 1, Name("float64"))],
)
def _softmax_backward_data(grad_output, output, dim, input_dtype):
    """``output * (grad_output - sum(grad_output * output))`` along ``dim``, where ``output`` is a softmax."""


@_softmax_backward_data.backward
def _(grad, grad_output, output, dim, input_dtype):
    inner = op.sum(grad * output, dim, True)
    return {
        "grad_output": op._softmax_backward_data(grad, output, dim, input_dtype),
        "output": grad * grad_output - grad * op.sum(grad_output * output, dim, True) - grad_output * inner,
    }


@kernel(
    "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
    variants="function",
    shape="softmax_backward",
    files="softmax",
    batch="along",
    samples="_softmax_backward_data",
)
def _log_softmax_backward_data(grad_output, output, dim, input_dtype):
    """``grad_output - exp(output) * sum(grad_output)`` along ``dim``, where ``output`` is a log-softmax."""


@_log_softmax_backward_data.backward
def _(grad, grad_output, output, dim):
    return {
        "grad_output": grad - op.sum(grad * exp(output), dim, True),
        "output": -grad * exp(output) * op.sum(grad_output, dim, True),
    }
