"""How a tensor prints, and ``set_printoptions``.

The elements that will be shown are gathered first (at most ``2 * edgeitems`` per dimension when the tensor is
summarised) and become Python numbers once, so printing costs the same for a large tensor as for a small one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import taeda
from taeda import Tensor
from taeda._tensor.sparse_methods import SPARSE

_PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}
PRINT_OPTS = SimpleNamespace(**_PROFILES["default"], sci_mode=None)

Format = tuple[int, Callable[[Any], str]]  # the width of a column, and what writes one element

# Beyond these, fixed-point digits stop being readable and scientific notation takes over.
_SCI_RATIO = 1000.0
_SCI_LARGEST = 1.0e8
_SCI_SMALLEST = 1.0e-4


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors print from now on.

    Args:
        precision: digits after the point (4).
        threshold: element count above which a tensor is summarised (1000).
        edgeitems: entries kept at each end of a summarised dimension (3).
        linewidth: characters per line (80).
        profile: ``"default"``, ``"short"`` or ``"full"``: a preset that the other arguments then refine.
        sci_mode: scientific notation always (True), never (False), or where the values ask for it (None).

    Raises:
        ValueError: ``profile`` is not one of the three.
    """
    if profile is not None:
        if profile not in _PROFILES:
            raise ValueError(f"taeda.set_printoptions: profile must be one of {sorted(_PROFILES)}; got {profile!r}")
        vars(PRINT_OPTS).update(_PROFILES[profile])
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    vars(PRINT_OPTS).update({name: value for name, value in given.items() if value is not None})
    PRINT_OPTS.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """The options in force, by name."""
    return dict(vars(PRINT_OPTS))


@contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """``set_printoptions(**options)`` for the length of a ``with`` block."""
    before = get_printoptions()
    set_printoptions(**options)
    try:
        yield
    finally:
        vars(PRINT_OPTS).update(before)


def tensor_str(self: Tensor) -> str:
    """The text of ``repr(self)``: values, then whatever is not the default among device, size, dtype and gradient."""
    with taeda._C.DisableTorchFunctionSubclass(), taeda.no_grad():
        return _repr(self)


def _repr(self: Tensor) -> str:
    plain = type(self) is Tensor or type(self) is taeda.nn.Parameter
    prefix = "tensor(" if plain else type(self).__name__ + "("
    indent = len(prefix)
    suffixes = []
    if self.layout in SPARSE:
        from taeda.sparse._printing import repr_of

        return repr_of(self, prefix, _grad_suffix(self))
    if self.device.type != "cpu":
        suffixes.append(f"device='{self.device}'")
    default_dtype = taeda.get_default_dtype()
    shows_values = self.device.type != "meta" and self.numel() > 0
    if self.is_quantized or (not shows_values and (self.is_meta or self.dim() != 1)):
        suffixes.append(f"size={tuple(self.shape)}")
    if not _dtype_is_obvious(self.dtype, default_dtype, shows_values):
        suffixes.append(f"dtype={_dtype_name(self.dtype)}")
    if shows_values:
        body = _tensor_str(self.dequantize() if self.is_quantized else self.detach(), indent)
    else:
        body = "..." if self.is_meta else "[]"
    if self.is_quantized:
        suffixes += _quantizer_suffix(self)
    if self.layout != taeda.strided:
        suffixes.append(f"layout={self.layout}")
    suffixes += _grad_suffix(self)
    suffixes += _tangent_suffix(self)
    return _join(prefix + body, suffixes, indent) + ")"


def _dtype_name(dtype: taeda.dtype) -> str:
    return "torch." + str(dtype).rpartition(".")[2]


def _dtype_is_obvious(dtype: taeda.dtype, default: taeda.dtype, shows_values: bool) -> bool:
    """Whether ``taeda.tensor`` would give this dtype to the printed values."""
    if dtype == default:
        return True
    if not shows_values:
        return False
    complex_default = taeda.complex128 if default == taeda.float64 else taeda.complex64
    return dtype in (taeda.int64, taeda.bool, complex_default)


def _quantizer_suffix(self: Tensor) -> list[str]:
    from taeda._main.schemes import parameters_of

    scheme, scale, zero_point, *axis = parameters_of(self)
    suffixes = [f"quantization_scheme={scheme}", f"scale={scale}", f"zero_point={zero_point}"]
    return [*suffixes, *(f"axis={value}" for value in axis)]


def _grad_suffix(self: Tensor) -> list[str]:
    try:
        node = self.grad_fn
    except RuntimeError:  # an in-place change made this view's history unreadable; it should still print
        return ["grad_fn=<Invalid>"]
    if node is not None:
        return [f"grad_fn=<{node.name().rpartition('::')[2]}>"]
    return ["requires_grad=True"] if self.requires_grad else []


def _tangent_suffix(self: Tensor) -> list[str]:
    tangent = taeda._C._autograd._get_tangent(self, 0) if taeda._C._autograd._dual_levels() else None
    return [] if tangent is None else [f"tangent={tangent}"]


def _join(text: str, suffixes: list[str], indent: int) -> str:
    """Append the suffixes, starting a new line where one would run past the line width."""
    used = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if used + len(suffix) + 2 > PRINT_OPTS.linewidth:
            text += ",\n" + " " * indent + suffix
            used = indent + len(suffix)
        else:
            text += ", " + suffix
            used += len(suffix) + 2
    return text


def _tensor_str(self: Tensor, indent: int) -> str:
    """The elements in brackets; lines after the first begin with ``indent`` spaces."""
    sizes = tuple(self.shape)
    summarise = self.numel() > PRINT_OPTS.threshold
    shown = _edges(self) if summarise else self
    values = shown.resolve_conj().resolve_neg().tolist()
    flat = list(_flatten(values, self.dim()))
    choose = _complex_format if self.is_complex() else _float_format if self.is_floating_point() else _plain_format
    width, fmt = choose(flat)
    if not sizes:
        return fmt(values)
    return _Layout(fmt, width, summarise).render(values, sizes, indent)


def _edges(self: Tensor) -> Tensor:
    """The corner blocks of a tensor: ``edgeitems`` entries from each end of every dimension that is longer."""
    edge = PRINT_OPTS.edgeitems
    for dim, size in enumerate(self.shape):
        if size > 2 * edge:
            self = taeda.cat([self.narrow(dim, 0, edge), self.narrow(dim, size - edge, edge)], dim)
    return self


def _flatten(values: Any, dims: int) -> Iterator[Any]:
    if dims == 0:
        yield values
    elif dims == 1:
        yield from values
    else:
        for row in values:
            yield from _flatten(row, dims - 1)


class _Layout:
    """Places formatted elements in rows, brackets and ellipses."""

    def __init__(self, fmt: Callable[[Any], str], width: int, summarise: bool) -> None:
        self.fmt = fmt
        self.cell = width + 2  # the comma and the space
        self.edge = PRINT_OPTS.edgeitems if summarise else math.inf

    def render(self, values: list[Any], sizes: tuple[int, ...], indent: int) -> str:
        cut = self.edge if sizes[0] > 2 * self.edge else None
        if len(sizes) == 1:
            return self._row([self.fmt(value) for value in values], cut, indent)
        blocks = [self.render(value, sizes[1:], indent + 1) for value in values]
        if cut is not None:
            blocks.insert(int(cut), "...")
        gap = "," + "\n" * (len(sizes) - 1) + " " * (indent + 1)
        return "[" + gap.join(blocks) + "]"

    def _row(self, cells: list[str], cut: float | None, indent: int) -> str:
        per_line = max(1, (PRINT_OPTS.linewidth - indent) // self.cell)
        if cut is not None:
            cells.insert(int(cut), " ...")
        lines = [", ".join(cells[i : i + per_line]) for i in range(0, len(cells), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _plain_format(values: list[Any]) -> Format:
    width = max((len(str(value)) for value in values), default=1)
    return width, lambda value: str(value).rjust(width)


def _float_format(values: list[Any]) -> Format:
    """One format for all values: integers with a bare point, fixed point, or scientific."""
    finite = [value for value in values if value != 0 and math.isfinite(value)]
    write = _float_writer(finite)
    width = max((len(write(value)) for value in finite), default=1)
    return width, lambda value: write(value).rjust(width)


def _float_writer(finite: list[float]) -> Callable[[float], str]:
    precision = PRINT_OPTS.precision
    integral = all(value.is_integer() for value in finite)
    sci = PRINT_OPTS.sci_mode
    if sci is None and finite:
        sci = _wants_sci(finite, integral)
    if sci and finite:
        return lambda value: f"{value:.{precision}e}"
    if integral:
        return lambda value: f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"
    return lambda value: f"{value:.{precision}f}"


def _wants_sci(finite: list[float], integral: bool) -> bool:
    largest = max(abs(value) for value in finite)
    smallest = min(abs(value) for value in finite)
    if largest / smallest > _SCI_RATIO or largest > _SCI_LARGEST:
        return True
    return not integral and smallest < _SCI_SMALLEST


def _complex_format(values: list[Any]) -> Format:
    real_width, real = _float_format([value.real for value in values])
    imag_width, imag = _float_format([value.imag for value in values])

    def fmt(value: complex) -> str:
        part = imag(value.imag).lstrip()
        sign = "" if part.startswith("-") else "+"
        return f"{real(value.real)}{sign}{part}j"

    return real_width + imag_width + 1, fmt
