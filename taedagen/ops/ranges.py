"""Sequences and matrices that positions alone decide: ranges, windows, triangles."""

from taedagen.opdef import *


@kernel(
    "arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor",
    variants="function out",
    shape="arange",
    files="ranges",
    not_differentiable=True,
)
def arange(start, end, step, dtype, layout, device, pin_memory):
    """Numbers from ``start`` to before ``end``, ``step`` apart; int64 unless one of them is a float."""


@composite(
    "arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
)
def arange_from(start, end, dtype, layout, device, pin_memory):
    """Numbers from ``start`` to before ``end``, 1 apart."""
    return op.arange(start, end, 1, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)


@composite(
    "arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    variants="function out",
)
def arange_to(end, dtype, layout, device, pin_memory):
    """Numbers from 0 to before ``end``, 1 apart."""
    return op.arange(0, end, 1, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)


@kernel(
    "range.step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor",
    variants="function out",
    shape="range",
    files="ranges",
    not_differentiable=True,
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


def _number_in(tensor):
    """The number in a tensor without dimensions; an integer counts as a float."""
    check(
        tensor.dim() == 0,
        f"start and end must be numbers or 0-d tensors; got shape {tensor.shape}",
    )
    return op._to_copy(tensor, dtype=complex128 if tensor.is_complex() else float64).item()


@composite(
    "linspace.Tensor_Tensor(Tensor start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor",
    variants="function out",
    explicit=True,
)
def linspace_tensors(start, end, steps, dtype, layout, device, pin_memory):
    """``linspace`` between the numbers in 0-d tensors."""
    return op.linspace(
        _number_in(start),
        _number_in(end),
        steps,
        dtype=dtype,
        layout=layout,
        device=device,
        pin_memory=pin_memory,
    )


@composite(
    "linspace.Tensor_Scalar(Tensor start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor",
    variants="function out",
    explicit=True,
)
def linspace_from(start, end, steps, dtype, layout, device, pin_memory):
    """``linspace`` from the number in a 0-d tensor."""
    return op.linspace(
        _number_in(start),
        end,
        steps,
        dtype=dtype,
        layout=layout,
        device=device,
        pin_memory=pin_memory,
    )


@composite(
    "linspace.Scalar_Tensor(Scalar start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor",
    variants="function out",
    explicit=True,
)
def linspace_to(start, end, steps, dtype, layout, device, pin_memory):
    """``linspace`` to the number in a 0-d tensor."""
    return op.linspace(
        start,
        _number_in(end),
        steps,
        dtype=dtype,
        layout=layout,
        device=device,
        pin_memory=pin_memory,
    )


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
    explicit=True,
)
def logspace_tensors(start, end, steps, base, dtype, layout, device, pin_memory):
    """``logspace`` between the numbers in 0-d tensors."""
    return op.logspace(
        _number_in(start),
        _number_in(end),
        steps,
        base,
        dtype=dtype,
        layout=layout,
        device=device,
        pin_memory=pin_memory,
    )


@composite(
    "logspace.Tensor_Scalar(Tensor start, Scalar end, int steps, float base=10.0, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    variants="function out",
    explicit=True,
)
def logspace_from(start, end, steps, base, dtype, layout, device, pin_memory):
    """``logspace`` from the number in a 0-d tensor."""
    return op.logspace(
        _number_in(start),
        end,
        steps,
        base,
        dtype=dtype,
        layout=layout,
        device=device,
        pin_memory=pin_memory,
    )


@composite(
    "logspace.Scalar_Tensor(Scalar start, Tensor end, int steps, float base=10.0, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    variants="function out",
    explicit=True,
)
def logspace_to(start, end, steps, base, dtype, layout, device, pin_memory):
    """``logspace`` to the number in a 0-d tensor."""
    return op.logspace(
        start,
        _number_in(end),
        steps,
        base,
        dtype=dtype,
        layout=layout,
        device=device,
        pin_memory=pin_memory,
    )


@composite(
    "eye(SymInt n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) "
    "-> Tensor",
    variants="function out",
)
def eye(n, dtype, layout, device, pin_memory):
    """The n x n matrix with ones on the diagonal and zeros elsewhere."""
    return op.eye(n, n, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)


@composite(
    "eye.m(SymInt n, SymInt m, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    variants="function out",
)
def eye_m(n, m, dtype, layout, device, pin_memory):
    """The n x m matrix with ones on the diagonal and zeros elsewhere."""
    check(
        n >= 0 and m >= 0,
        f"the numbers of rows and columns must not be negative; got {n} and {m}",
    )
    result = op.zeros([n, m], dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
    with unrecorded():
        result.diagonal().fill_(1)
    return result


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
