"""How what a body may say is spelled in C++: questions about tensors and dtypes, words of the vocabulary, functions of
numbers.

A spelling is ``(text, result, parameters)``: ``{0}`` is the receiver or the first argument.
"""

from __future__ import annotations

from typing import NamedTuple


class Spelling(NamedTuple):
    """A call as C++; parameters are types, those with ``=`` have a default."""

    text: str
    result: str
    parameters: tuple[str, ...] = ()


def _s(text: str, result: str, *parameters: str) -> Spelling:
    return Spelling(text, result, parameters)


# Attributes, by the receiver's type.
ATTRIBUTES: dict[str, dict[str, Spelling]] = {
    "Tensor": {
        "shape": _s("{0}.sizes()", "int[]"),
        "dtype": _s("{0}.dtype()", "ScalarType"),
        "device": _s("{0}.device()", "Device"),
        "layout": _s("{0}->layout()", "Layout"),
        "is_meta": _s("({0}.device().type == DeviceType::Meta)", "bool"),
        "is_cpu": _s("{0}.is_cpu()", "bool"),
        "itemsize": _s("{0}.itemsize()", "int"),
        "ndim": _s("{0}.dim()", "int"),
    },
    "ScalarType": {
        "is_floating_point": _s("is_floating({0})", "bool"),
        "is_complex": _s("is_complex({0})", "bool"),
        "itemsize": _s("itemsize({0})", "int"),
    },
}
# Methods that are no ops.
METHODS: dict[str, dict[str, Spelling]] = {
    "Tensor": {
        "dim": _s("{0}.dim()", "int"),
        "size": _s("{0}.size({1})", "int", "int"),
        "stride": _s("{0}.stride({1})", "int", "int"),
        "strides": _s("{0}.strides()", "int[]"),
        "sizes": _s("{0}.sizes()", "int[]"),
        "numel": _s("{0}.numel()", "int"),
        "storage_offset": _s("{0}.storage_offset()", "int"),
        "is_complex": _s("is_complex({0}.dtype())", "bool"),
        "is_floating_point": _s("is_floating({0}.dtype())", "bool"),
        "is_contiguous": _s("{0}.is_contiguous({1})", "bool", "MemoryFormat=MemoryFormat::Contiguous"),
        "is_conj": _s("{0}->is_conj()", "bool"),
        "is_neg": _s("{0}->is_neg()", "bool"),
        "item": _s("ops::_local_scalar_dense({0})", "Scalar"),
    },
    "ScalarType": {
        "to_real": _s("to_real({0})", "ScalarType"),
        "to_complex": _s("to_complex({0})", "ScalarType"),
    },
}
# Words of opdef/words.py; may_record and copy_for take any number of tensors.
WORDS: dict[str, Spelling] = {
    "wrap_dim": _s("wrap_dim({0}, {1})", "int", "int", "int"),
    "broadcast_shapes": _s("shape::broadcast_sizes({0}, {1})", "int[]", "int[]", "int[]"),
    "infer_size": _s("shape::infer_size({0}, {1})", "int[]", "int[]", "int"),
    "promote_types": _s("promote({0}, {1})", "ScalarType", "ScalarType", "ScalarType"),
    "compute_dtype": _s("compute_type({0})", "ScalarType", "ScalarType"),
    "default_dtype": _s("default_dtype()", "ScalarType"),
    "is_differentiable": _s("is_differentiable({0})", "bool", "ScalarType"),
    "is_integral": _s("is_integral({0})", "bool", "ScalarType"),
    "natural_dtype": _s("{0}.natural_dtype()", "ScalarType", "Scalar"),
    "is_whole": _s("{0}.is_integral()", "bool", "Scalar"),
    "suggested_format": _s("shape::suggested_format({0})", "MemoryFormat", "Tensor"),
    "needs_autograd": _s("{0}->needs_autograd()", "bool", "Tensor"),
    "has_values": _s("composite::has_values({0})", "bool", "Tensor"),
    "written": _s("{0}->bump_version()", "void", "Tensor"),
    "unwritten": _s("composite::unwritten({0})", "Tensor", "Tensor"),
}
OWNED = ("broadcast_shapes", "infer_size")  # whose lists are nobody else's memory
# Within "with": what is in force until the block ends.
SCOPES = {
    "no_grad": "Scoped grad_off(t_state.grad_mode, false);",
    "unrecorded": "BelowAutograd unrecorded;",
}
# Of the module math, over float.
MATH: dict[str, Spelling] = {
    **{name: _s(f"std::{name}({{0}})", "float", "float") for name in
       ("sqrt", "log", "log2", "exp", "sin", "cos", "tanh")},
    "floor": _s("static_cast<int64_t>(std::floor({0}))", "int", "float"),
    "ceil": _s("static_cast<int64_t>(std::ceil({0}))", "int", "float"),
    "isinf": _s("std::isinf({0})", "bool", "float"),
    "isfinite": _s("std::isfinite({0})", "bool", "float"),
    "prod": _s("numel_of({0})", "int", "int[]"),
}  # fmt: skip
CONSTANTS = {"inf": "INFINITY", "nan": "NAN"}
ERRORS = {
    "RuntimeError": "Runtime", "ValueError": "Value", "TypeError": "Type", "IndexError": "Index",
    "NotImplementedError": "NotImplemented",
}  # fmt: skip
