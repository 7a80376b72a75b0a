"""Sequences and matrices that positions alone decide: ranges, windows, triangles."""

from taedagen.opdef import *


@kernel(
    "arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor",
    variants="function out",
    shape="arange",
    files="ranges",
    not_differentiable=True,
    out_overload="start_out",
)
def arange(start, end, step, dtype, layout, device, pin_memory):
    """Numbers from ``start`` to before ``end``, ``step`` apart; int64 unless one of them is a float."""


@composite(
    "arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    files="ranges",
)
def arange_from(start, end, dtype, layout, device, pin_memory):
    """Numbers from ``start`` to before ``end``, 1 apart."""


@composite(
    "arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    variants="function out",
    files="ranges",
)
def arange_to(end, dtype, layout, device, pin_memory):
    """Numbers from 0 to before ``end``, 1 apart."""


@kernel(
    "range.step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor",
    variants="function out",
    shape="range",
    files="ranges",
    not_differentiable=True,
    out_overload="out",
)
def range_(start, end, step, dtype, layout, device, pin_memory):
    """Numbers from ``start`` to ``end``, which is included; deprecated in favour of ``arange``."""


@kernel(
    "linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor",
    variants="function out",
    shape="linspace",
    files="ranges",
    not_differentiable=True,
)
def linspace(start, end, steps, dtype, layout, device, pin_memory):
    """``steps`` numbers at equal distances from ``start`` to ``end``, both included."""


@composite(
    "linspace.Tensor_Tensor(Tensor start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor",
    variants="function out",
    files="ranges",
    explicit=True,
)
def linspace_tensors(start, end, steps, dtype, layout, device, pin_memory):
    """``linspace`` between the numbers in 0-d tensors."""


@composite(
    "linspace.Tensor_Scalar(Tensor start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor",
    variants="function out",
    files="ranges",
    explicit=True,
)
def linspace_from(start, end, steps, dtype, layout, device, pin_memory):
    """``linspace`` from the number in a 0-d tensor."""


@composite(
    "linspace.Scalar_Tensor(Scalar start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor",
    variants="function out",
    files="ranges",
    explicit=True,
)
def linspace_to(start, end, steps, dtype, layout, device, pin_memory):
    """``linspace`` to the number in a 0-d tensor."""


@kernel(
    "logspace(Scalar start, Scalar end, int steps, float base=10.0, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor",
    variants="function out",
    shape="logspace",
    files="ranges",
    not_differentiable=True,
)
def logspace(start, end, steps, base, dtype, layout, device, pin_memory):
    """``base`` to the power of each number of ``linspace(start, end, steps)``."""


@composite(
    "logspace.Tensor_Tensor(Tensor start, Tensor end, int steps, float base=10.0, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    variants="function out",
    files="ranges",
    explicit=True,
)
def logspace_tensors(start, end, steps, base, dtype, layout, device, pin_memory):
    """``logspace`` between the numbers in 0-d tensors."""


@composite(
    "logspace.Tensor_Scalar(Tensor start, Scalar end, int steps, float base=10.0, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    variants="function out",
    files="ranges",
    explicit=True,
)
def logspace_from(start, end, steps, base, dtype, layout, device, pin_memory):
    """``logspace`` from the number in a 0-d tensor."""


@composite(
    "logspace.Scalar_Tensor(Scalar start, Tensor end, int steps, float base=10.0, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    variants="function out",
    files="ranges",
    explicit=True,
)
def logspace_to(start, end, steps, base, dtype, layout, device, pin_memory):
    """``logspace`` to the number in a 0-d tensor."""


@composite(
    "eye(SymInt n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) "
    "-> Tensor",
    variants="function out",
    files="ranges",
)
def eye(n, dtype, layout, device, pin_memory):
    """The n x n matrix with ones on the diagonal and zeros elsewhere."""


@composite(
    "eye.m(SymInt n, SymInt m, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    variants="function out",
    files="ranges",
)
def eye_m(n, m, dtype, layout, device, pin_memory):
    """The n x m matrix with ones on the diagonal and zeros elsewhere."""


# --- triangles


@kernel(
    "tril(Tensor self, SymInt diagonal=0) -> Tensor",
    variants="function method inplace out",
    shape="triangle",
    files="ranges",
    out="same",
)
def tril(self, diagonal):
    """Matrices with zeros above a diagonal; ``diagonal`` counts above the main one."""


@tril.backward
def _(grad, diagonal):
    return {"self": op.tril(grad, diagonal)}


@kernel(
    "triu(Tensor self, SymInt diagonal=0) -> Tensor",
    variants="function method inplace out",
    shape="triangle",
    files="ranges",
    out="same",
)
def triu(self, diagonal):
    """Matrices with zeros below a diagonal; ``diagonal`` counts above the main one."""


@triu.backward
def _(grad, diagonal):
    return {"self": op.triu(grad, diagonal)}


@kernel(
    "tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=long, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor",
    shape="tril_indices",
    files="ranges",
    not_differentiable=True,
)
def tril_indices(row, col, offset, dtype, layout, device, pin_memory):
    """Rows and columns, as a (2, n) tensor, of the elements on and below a diagonal of a row x col matrix."""


@kernel(
    "triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=long, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor",
    shape="triu_indices",
    files="ranges",
    not_differentiable=True,
)
def triu_indices(row, col, offset, dtype, layout, device, pin_memory):
    """Rows and columns, as a (2, n) tensor, of the elements on and above a diagonal of a row x col matrix."""
