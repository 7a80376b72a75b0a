"""Views' results in memory of their own: each op gives a contiguous copy of what the view of its name shows."""

from typing import Any

from taedagen.opdef import *
from taedagen.opdef.samples import S, f
from taedagen.opdef.schema import parse_schema


@composite("contiguous_copy(Tensor self) -> Tensor", unbound=True)
def contiguous_copy(self):
    """A contiguous copy, also of what is contiguous already."""
    return self.clone(memory_format=contiguous_format)


@composite("contiguous_copies(Tensor[] tensors) -> Tensor[]", unbound=True)
def contiguous_copies(tensors):
    """A contiguous copy of each."""
    return [t.clone(memory_format=contiguous_format) for t in tensors]


# A detached copy is part of the graph all the same, as in PyTorch; and any layout can be copied into any shape.
_SHOWS = {("detach", ""): "alias", ("view", ""): "reshape"}
# These show the memory, so it must hold what the tensor shows.
_OF_MEMORY = {("view", ".dtype"), ("view_as_real", "")}


def _copied(view: str, overload: str, arguments: str, samples: Any = None) -> None:
    """Declares ``<view>_copy``, with the arguments of ``view``."""
    several = view in ("split", "split_with_sizes", "unbind")
    text = f"{view}_copy{overload}(Tensor self{arguments}) -> Tensor{'[]' if several else ''}"
    schema = parse_schema(text)
    names = schema.names
    given = "".join(f", {a.name}={a.name}" if a.keyword_only else f", {a.name}" for a in schema.arguments[1:])
    shown = "op.resolve_neg(op.resolve_conj(self))" if (view, overload) in _OF_MEMORY else "self"
    call = f"op.{_SHOWS.get((view, overload), view)}({shown}{given})"
    copies = "contiguous_copies" if several else "contiguous_copy"
    function = defined(f"def {view}_copy({', '.join(names)}): return op.{copies}({call})")
    function.__doc__ = f"A contiguous copy of what ``{view}`` shows."
    composite(text, variants="function" if several else "function out", samples=samples or view + overload)(function)


for _view in (
    ("_conj", "", ""),
    ("_neg_view", "", ""),
    ("alias", "", ""),
    ("as_strided", "", ", SymInt[] size, SymInt[] stride, SymInt? storage_offset=None"),
    ("detach", "", ""),
    ("diagonal", "", ", int offset=0, int dim1=0, int dim2=1"),
    ("expand", "", ", SymInt[] size, *, bool implicit=False"),
    ("permute", "", ", int[] dims"),
    ("select", ".int", ", int dim, SymInt index"),
    ("slice", ".Tensor", ", int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1",
     [S(f(5, 3), 0, 1, 4), S(f(5, 3), 0, None, None, 2), S(f(5), 0, -3, 100)]),
    ("split", ".Tensor", ", SymInt split_size, int dim=0"),
    ("split_with_sizes", "", ", SymInt[] split_sizes, int dim=0"),
    ("squeeze", "", ""),
    ("squeeze", ".dim", ", int dim"),
    ("squeeze", ".dims", ", int[] dim"),
    ("t", "", ""),
    ("transpose", ".int", ", int dim0, int dim1"),
    ("unbind", ".int", ", int dim=0"),
    ("unfold", "", ", int dimension, int size, int step"),
    ("unsqueeze", "", ", int dim"),
    ("view", "", ", SymInt[] size"),
    ("view", ".dtype", ", ScalarType dtype"),
    ("view_as_complex", "", ""),
    ("view_as_real", "", ""),
):  # fmt: skip
    _copied(*_view)


# With a list as out=, nothing is returned.


@composite("split_copy.Tensor_out(Tensor self, SymInt split_size, int dim=0, *, Tensor(a!)[] out) -> ()",
           files="view_copy",
           samples=[S(f(6, 4), 2, out=[f(2, 4), f(2, 4), f(2, 4)]), S(f(5), 5, 0, out=[f(5)])])  # fmt: skip
def split_copy(self, split_size, dim, out):
    """Copies what ``split`` shows into the tensors of ``out``."""


@composite("split_with_sizes_copy.out(Tensor self, SymInt[] split_sizes, int dim=0, *, Tensor(a!)[] out) -> ()",
           files="view_copy",
           samples=[S(f(6, 4), [1, 3], 1, out=[f(6, 1), f(6, 3)]), S(f(6), [1, 5], out=[f(1), f(5)])])  # fmt: skip
def split_with_sizes_copy(self, split_sizes, dim, out):
    """Copies what ``split_with_sizes`` shows into the tensors of ``out``."""


@composite(
    "unbind_copy.int_out(Tensor self, int dim=0, *, Tensor(a!)[] out) -> ()",
    files="view_copy",
    samples=[S(f(2, 4), out=[f(4), f(4)]), S(f(2, 3), -1, out=[f(2), f(2), f(2)])],
)
def unbind_copy(self, dim, out):
    """Copies what ``unbind`` shows into the tensors of ``out``."""
