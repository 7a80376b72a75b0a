"""Sequences and matrices that positions alone decide: ranges, windows, triangles."""

from taedagen.opdef import *
from taedagen.opdef.samples import Name, S, f, v


@kernel(
    "arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor",
    variants="function out",
    shape="arange",
    files="ranges",
    not_differentiable=True,
    samples=[S(1, 9, 2), S(5, 0, -1.5), S(0, 1, 0), S(1, 0, 1), S(0, 1, 0.1)],
    out_overload="start_out",
)
def arange(start, end, step, dtype, layout, device, pin_memory):
    """Numbers from ``start`` to before ``end``, ``step`` apart; int64 unless one of them is a float."""


@composite(
    "arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    samples=[S(1, 5), S(0.5, 3), S(2, 2)],
)
def arange_from(start, end, dtype, layout, device, pin_memory):
    """Numbers from ``start`` to before ``end``, 1 apart."""
    return op.arange(start, end, 1, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)


@composite(
    "arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    variants="function out",
    samples=[S(5), S(2.5), S(0), S(-1), S(5, dtype=Name("float32"))],
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
    samples=[S(1, 5, 2), S(0.0, 2.0, 0.5)],
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


linspace.samples([
    S(0, 10, 5, dtype=Name("float32")), S(-1.5, 2.5, 4, dtype=Name("float32")), S(3, 3, 1, dtype=Name("float32")),
    S(0, 1, 0, dtype=Name("float32")), S(0, 1, -1),
])  # fmt: skip


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
    not_differentiable=True,
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


linspace_tensors.samples([
    S(v(0, "float64"), v(10, "float64"), 5, dtype=Name("float32")),
    S(v(-1.5, "float64"), v(2.5, "float64"), 4, dtype=Name("float32")),
    S(v(3, "float64"), v(3, "float64"), 1, dtype=Name("float32")),
    S(v(0, "float64"), v(1, "float64"), 0, dtype=Name("float32")),
])  # fmt: skip


@composite(
    "linspace.Tensor_Scalar(Tensor start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor",
    variants="function out",
    explicit=True,
    not_differentiable=True,
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


linspace_from.samples([
    S(v(0, "float64"), 10, 5, dtype=Name("float32")), S(v(-1.5, "float64"), 2.5, 4, dtype=Name("float32")),
    S(v(3, "float64"), 3, 1, dtype=Name("float32")), S(v(0, "float64"), 1, 0, dtype=Name("float32")),
])  # fmt: skip


@composite(
    "linspace.Scalar_Tensor(Scalar start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor",
    variants="function out",
    explicit=True,
    not_differentiable=True,
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


linspace_to.samples([
    S(0, v(10, "float64"), 5, dtype=Name("float32")), S(-1.5, v(2.5, "float64"), 4, dtype=Name("float32")),
    S(3, v(3, "float64"), 1, dtype=Name("float32")), S(0, v(1, "float64"), 0, dtype=Name("float32")),
])  # fmt: skip


@kernel(
    "logspace(Scalar start, Scalar end, int steps, float base=10.0, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor",
    variants="function out",
    shape="logspace",
    files="ranges",
    not_differentiable=True,
    samples="linspace",
)
def logspace(start, end, steps, base, dtype, layout, device, pin_memory):
    """``base`` to the power of each number of ``linspace(start, end, steps)``."""


@composite(
    "logspace.Tensor_Tensor(Tensor start, Tensor end, int steps, float base=10.0, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    variants="function out",
    explicit=True,
    not_differentiable=True,
    samples="linspace.Tensor_Tensor",
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
    not_differentiable=True,
    samples="linspace.Tensor_Scalar",
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
    not_differentiable=True,
    samples="linspace.Scalar_Tensor",
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
    samples=[S(3), S(0), S(-1)],
)
def eye(n, dtype, layout, device, pin_memory):
    """The n x n matrix with ones on the diagonal and zeros elsewhere."""
    return op.eye(n, n, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)


@composite(
    "eye.m(SymInt n, SymInt m, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    variants="function out",
    samples=[S(2, 3), S(3, 2)],
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
    batch="matrices",
    samples=[S(f(3, 4)), S(f(3, 4), 1), S(f(2, 3, 3), -1), S(f(3))],
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
    batch="matrices",
    samples="tril",
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
    samples=[S(3, 4), S(4, 3, offset=1), S(3, 3, -1), S(0, 3)],
)
def tril_indices(row, col, offset, dtype, layout, device, pin_memory):
    """Rows and columns, as a (2, n) tensor, of the elements on and below a diagonal of a row x col matrix."""


@kernel(
    "triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=long, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor",
    shape="triu_indices",
    files="ranges",
    not_differentiable=True,
    samples="tril_indices",
)
def triu_indices(row, col, offset, dtype, layout, device, pin_memory):
    """Rows and columns, as a (2, n) tensor, of the elements on and above a diagonal of a row x col matrix."""
