"""Schemas as C++: types, parameters, defaults, calls. Every emitter spells C++ through here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from taedagen.opdef.declaration import Declaration, Op
from taedagen.opdef.schema import Argument, Type

_PLAIN = {
    "int": "int64_t", "SymInt": "int64_t", "float": "double", "bool": "bool", "str": "std::string_view",
    "ScalarType": "DType", "Layout": "Layout", "Device": "Device", "MemoryFormat": "MemoryFormat",
}  # fmt: skip
_LISTS = {
    "Tensor": "TensorList", "int": "IntList", "SymInt": "IntList", "bool": "IntList",
    "float": "std::span<const double>", "Scalar": "std::span<const Scalar>",
}  # fmt: skip
ARG_TYPES = {
    "int": "Int", "SymInt": "Int", "float": "Float", "bool": "Bool", "str": "String", "ScalarType": "DType",
}  # fmt: skip
_NAMED_DEFAULTS = {
    "contiguous_format": "MemoryFormat::Contiguous", "preserve_format": "MemoryFormat::Preserve",
    "strided": "Layout::Strided", "Mean": "1", "Sum": "2", "float": "DType::Float32", "long": "DType::Int64",
}  # fmt: skip
# Operators that numbers and vectors share; what the bitwise and the logical ones mean depends on the element.
INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip
# Words of C++, and of generated functions, that schemas use as parameter names.
_RESERVED = {
    "default", "float", "int", "bool", "double", "char", "and", "or", "not", "this", "new", "keys_", "long",
    "records", "forward", "node", "made",  # locals of the autograd layer
}  # fmt: skip


def identifier(name: str) -> str:
    return name + "_" if name in _RESERVED else name


def cpp_type(type_: Type) -> str:
    """As a parameter. An optional tensor is an undefined one, an optional generator a null one."""
    if type_.is_class:
        return "const Value&"
    if type_.is_list:
        inner = _LISTS[type_.base]
        return f"std::optional<{inner}>" if type_.optional and not type_.is_tensor else inner
    if type_.is_tensor:
        return "const Tensor&"
    if type_.base == "Scalar":
        return "const std::optional<Scalar>&" if type_.optional else "const Scalar&"
    if type_.base == "Generator":
        return "const Ref<Generator>&"
    plain = _PLAIN[type_.base]
    return f"std::optional<{plain}>" if type_.optional else plain


def return_type(op: Op) -> str:
    """In-place and out functions return nothing: their results are their arguments."""
    if op.variant != "functional":
        return "void"
    parts = [_return_part(r.type) for r in op.schema.returns]
    return parts[0] if len(parts) == 1 else f"std::tuple<{', '.join(parts)}>" if parts else "void"


def _return_part(type_: Type) -> str:
    if type_.is_class:
        return "Value"
    if type_.is_tensor:
        return "std::vector<Tensor>" if type_.is_list else "Tensor"
    if type_.is_list and type_.base in ("int", "SymInt"):
        return "std::vector<int64_t>"
    return {"Scalar": "Scalar", "ScalarType": "DType"}.get(type_.base) or _PLAIN[type_.base]


def signature(op: Op) -> str:
    """``Tensor(const Tensor&, const Scalar&)``: ops with the same one share their boxing."""
    return f"{return_type(op)}({', '.join(cpp_type(a.type) for a in op.schema.arguments)})"


def default(argument: Argument) -> str | None:
    """The C++ default of an argument, None where it has none."""
    text, type_ = argument.default, argument.type
    if text is None:
        return None
    if text == "None":
        if type_.is_tensor:
            return "TensorList()" if type_.is_list else "Tensor()"
        # Typed, so that overloads that differ in an optional's type stay apart.
        return (
            "Ref<Generator>()"
            if type_.base == "Generator"
            else cpp_type(type_).removeprefix("const ").removesuffix("&") + "()"
        )
    if type_.is_list:
        return _list_default(text, type_)
    if text in ("True", "False"):
        return text.lower()
    if text[0] in "'\"":
        return f'std::string_view("{text[1:-1]}")'
    if type_.base == "Scalar":
        return f"Scalar({text if any(c in text for c in '.eijn') else f'int64_t{{{text}}}'})".replace("inf", "INFINITY")
    return _NAMED_DEFAULTS.get(text, text).replace("inf", "INFINITY")


def _list_default(text: str, type_: Type) -> str:
    element = {"float": "double", "Scalar": "Scalar"}.get(type_.base, "int64_t")
    if text == "[]":
        return f"{_LISTS[type_.base]}()"
    values = text.strip("[]").replace("True", "1").replace("False", "0")
    count = max(type_.list_size, 1) if not text.startswith("[") else len(values.split(","))
    return f"kList<{element}, {count}, {values}>" if "," not in values else f"kValues<{element}, {values}>"


def parameters(arguments: Iterable[Argument], with_defaults: bool = False) -> str:
    parts = []
    for argument in arguments:
        text = f"{cpp_type(argument.type)} {identifier(argument.name)}"
        value = default(argument) if with_defaults else None
        parts.append(text if value is None else f"{text} = {value}")
    return ", ".join(parts)


def keyed_parameters(op: Op) -> str:
    """Of a kernel above the backends, which gets the keys that are left."""
    return ", ".join(filter(None, ("KeySet keys", parameters(op.schema.arguments))))


def names(arguments: Iterable[Argument]) -> str:
    return ", ".join(identifier(a.name) for a in arguments)


def place_comment(declaration: Declaration) -> str:
    return f"// {declaration.where[0]}:{declaration.where[1]}"


def string(text: str) -> str:
    """A C++ string literal."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def trailing_defaults(arguments: tuple[Argument, ...]) -> int:
    """From which index on every argument has a default, as C++ demands."""
    index = len(arguments)
    while index and arguments[index - 1].default is not None:
        index -= 1
    return index


def optional_from(op: Op, siblings: list[Op]) -> int:
    """From which argument on C++ defaults are declared: late enough that no shorter overload takes the same call."""
    arguments = op.schema.arguments
    first = trailing_defaults(arguments)
    rank = {id(o): (len(o.schema.arguments), i) for i, o in enumerate(siblings)}
    earlier = [o for o in siblings if rank[id(o)] < rank[id(op)]]
    types = [cpp_type(a.type) for a in arguments]
    while first < len(arguments) and any(_takes(other, types[:first]) for other in earlier):
        first += 1
    return first


def _takes(op: Op, types: list[str]) -> bool:
    own = [cpp_type(a.type) for a in op.schema.arguments]
    return trailing_defaults(op.schema.arguments) <= len(types) and own[: len(types)] == types


def table_symbol(op: Op) -> str:
    """The op as C++ calls it: ``table::add_Tensor``."""
    return f"table::{entry_name(op)}"


def call(op: Op, keys: str) -> str:
    """A call of the op, by its parameters' names, with that key set."""
    return f"{table_symbol(op)}({', '.join([keys, *(identifier(a.name) for a in op.schema.arguments)])})"


def signature_of(op: Op, scope: str = "") -> str:
    """The head of an op's function in a layer: ``Tensor cpu::add(const Tensor& self, ...)``."""
    return f"{return_type(op)} {scope}{op.cpp_name}({parameters(op.schema.arguments)})"


def declaration(op: Op, head: str) -> str:
    """``head``, a function's with the op's name, as a declaration: a name of another namespace stands in that."""
    space, _, plain = op.cpp_name.rpartition("::")
    if not space:
        return f"{head};"
    return f"namespace {space} {{ {head.replace(f' {op.cpp_name}(', f' {plain}(', 1)}; }}"


def flat(name: str) -> str:
    """A schema's name as one identifier: ``linear_of_quantized``, which no op of aten is called."""
    space, _, plain = name.rpartition("::")
    return f"{plain}_of_{space}" if space else name


def constant_name(declaration: Declaration) -> str:
    """``add_Tensor``."""
    return identifier(flat(declaration.schema.full_name.replace(".", "_")))


# As in the repository's own sources.
_WIDTH = 120


def wrapped(start: str, parts: Iterable[str], end: str, between: str = ", ") -> list[str]:
    """``start``, the parts and ``end`` on one line, or on as many as it takes."""
    items = list(parts)
    line = f"{start}{between.join(items)}{end}"
    if len(line) <= _WIDTH:
        return [line]
    lines, current = [start.rstrip()], ""
    indent = " " * (len(start) - len(start.lstrip()) + 4)
    for i, item in enumerate(items):
        text = item + (between.rstrip() if i + 1 < len(items) else end)
        if current and len(indent) + len(current) + len(text) + 1 > _WIDTH:
            lines.append(f"{indent}{current}")
            current = ""
        current = f"{current} {text}" if current else text
    return [*lines, f"{indent}{current}"]


def constant(kind: str, name: str, fields: Mapping[str, str], checked_by: str = "") -> list[str]:
    """``constexpr Rule add{.results = 1, ...};`` or, through a function, ``= checked_by({.results = 1, ...});``."""
    shown = (f".{field} = {value}" for field, value in fields.items())
    start, end = (f" = {checked_by}({{", "});") if checked_by else ("{", "};")
    return wrapped(f"{kind} {name}{start}", shown, end)


def entry_name(op: Op) -> str:
    return identifier(flat(f"{op.schema.name}_{op.schema.overload or 'plain'}"))
