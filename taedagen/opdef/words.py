"""What the body of a composite may say besides ops, operators, numbers and lists.

``WORDS`` are functions with a C++ form in ``taedagen/emit/body/words.py`` and a Python one in ``taeda/_decomp``, which
runs bodies on tensors; ``NAMES`` are dtypes and memory formats.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from taedagen.opdef.errors import DeclarationError

_WORDS = {
    "check": "check(condition, message, kind=RuntimeError): raises unless the condition holds",
    "warn": "warn(message): a warning to the user",
    "wrap_dim": "wrap_dim(dim, rank): a dimension counted from the front; IndexError outside",
    "broadcast_shapes": "broadcast_shapes(a, b): the sizes that both expand to",
    "infer_size": "infer_size(sizes, numel): the sizes with one -1 replaced by what is left",
    "promote_types": "promote_types(a, b): the dtype that both convert to",
    "result_type": "result_type(a, b): the dtype of a result of two tensors or numbers",
    "compute_dtype": "compute_dtype(dtype): float32 for smaller floats, else the dtype itself",
    "default_dtype": "default_dtype(): that of new tensors",
    "is_differentiable": "is_differentiable(dtype): whether it is floating or complex",
    "is_integral": "is_integral(dtype): whether it holds integers; bool does not",
    "natural_dtype": "natural_dtype(number): the dtype of a tensor made of this number alone",
    "is_whole": "is_whole(number): whether it is an integer, and no bool",
    "suggested_format": "suggested_format(tensor): the memory format that a result like it keeps",
    "may_record": "may_record(*tensors): whether a gradient may itself be differentiated",
    "needs_autograd": "needs_autograd(tensor): whether it requires a gradient, or is a view of one that may",
    "has_values": "has_values(tensor): whether its elements can be read: not on meta, not fake",
    "unwritten": "unwritten(tensor): a fresh result, as if one call had made what was written into it",
    "written": "written(tensor): tells what was saved of it that a kernel changed it",
    "copy_for": "copy_for(tensor, others, memory_format=contiguous_format): a copy that others may be written to",
    "no_grad": "with no_grad(): nothing in it is recorded",
    "unrecorded": "with unrecorded(): fills a tensor that nobody has seen: no graph and no version knows",
}
_DTYPES = (
    "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
    "float64", "complex64", "complex128",
)  # fmt: skip
_FORMATS = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")


@dataclass(frozen=True)
class Word:
    """A function of bodies; in a formula it has no meaning."""

    name: str
    doc: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise DeclarationError(("taedagen", 0), f"'{self.name}' is for the bodies of composites: {self.doc}")


@dataclass(frozen=True)
class Name:
    """A dtype (``kind`` is ScalarType) or a memory format, as bodies name it."""

    name: str
    kind: str


WORDS = {name: Word(name, doc) for name, doc in _WORDS.items()}
NAMES = {
    **{name: Name(name, "ScalarType") for name in _DTYPES},
    "bool_": Name("bool", "ScalarType"),
    **{name: Name(name, "MemoryFormat") for name in _FORMATS},
}
