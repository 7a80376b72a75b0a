"""A schema's types as PyTorch's C++ spells them, and what turns such an argument into one of ``taeda::ops``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from taedagen.emit import cpp
from taedagen.opdef.declaration import Op
from taedagen.opdef.schema import Argument, Type

# The type of a parameter, and the expression that a call of ours takes, where it is not the name alone.
_PLAIN = {
    "int": ("int64_t", "{}"), "SymInt": ("int64_t", "{}"), "float": ("double", "{}"), "bool": ("bool", "{}"),
    "str": ("c10::string_view", "{}"), "ScalarType": ("at::ScalarType", "c10::to_dtype({})"),
    "Layout": ("at::Layout", "{}"), "Device": ("at::Device", "{}"), "MemoryFormat": ("at::MemoryFormat", "{}"),
    "Scalar": ("const at::Scalar&", "{}"), "Generator": ("at::Generator", "{}.ref()"),
    "Tensor": ("const at::Tensor&", "{}"),
}  # fmt: skip
_OPTIONAL = {
    "Tensor": ("const ::std::optional<at::Tensor>&", "at::detail::tensor_or_none({})"),
    "Scalar": ("const ::std::optional<at::Scalar>&", "at::detail::number_or_none({})"),
    "Generator": ("::std::optional<at::Generator>", "at::detail::generator_or_none({})"),
    "ScalarType": ("::std::optional<at::ScalarType>", "c10::to_dtype({})"),
    "Device": ("::std::optional<at::Device>", "at::detail::device_or_none({})"),
}
_LISTS = {
    "Tensor": ("at::TensorList", "{}"), "int": ("at::IntArrayRef", "{}"), "SymInt": ("at::IntArrayRef", "{}"),
    "float": ("at::ArrayRef<double>", "{}"), "Scalar": ("at::ArrayRef<at::Scalar>", "{}"),
}  # fmt: skip
_OPTIONAL_LISTS = {
    "int": ("at::OptionalIntArrayRef", "{}.span()"), "SymInt": ("at::OptionalIntArrayRef", "{}.span()"),
    "float": ("::std::optional<at::ArrayRef<double>>", "at::detail::list_or_none({})"),
}  # fmt: skip
_DEFAULTS = {
    "contiguous_format": "at::MemoryFormat::Contiguous", "preserve_format": "at::MemoryFormat::Preserve",
    "strided": "at::Layout::Strided", "Mean": "at::Reduction::Mean", "Sum": "at::Reduction::Sum",
    "float": "at::ScalarType::Float", "long": "at::ScalarType::Long",
}  # fmt: skip
OPTIONS = ("dtype", "layout", "device", "pin_memory")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a C++ function, the arguments of ``taeda::ops`` that it stands for, and its default."""

    type: str
    name: str
    passes: tuple[tuple[str, str], ...]  # argument's name, expression
    default: str | None = None

    @property
    def text(self) -> str:
        return f"{self.type} {self.name}"

    @property
    def text_with_default(self) -> str:
        return self.text if self.default is None else f"{self.text} = {self.default}"


def parameter(argument: Argument) -> Parameter:
    type_, expression = _type(argument.type)
    name = cpp.identifier(argument.name)
    passed = ((argument.name, expression.format(name)),)
    return Parameter(type_, name, passed, _default(argument, type_))


def _type(type_: Type) -> tuple[str, str]:
    if type_.is_mutable:
        return ("at::TensorList", "{}") if type_.is_list else ("at::Tensor&", "{}")
    if type_.is_list:
        if type_.is_tensor and type_.optional_elements:
            return "const c10::List<::std::optional<at::Tensor>>&", "{}.tensors()"
        if type_.base == "bool":
            return f"::std::array<bool, {type_.list_size}>", "at::detail::ints({})"
        return (_OPTIONAL_LISTS if type_.optional else _LISTS)[type_.base]
    if type_.optional:
        plain, expression = _PLAIN[type_.base]
        return _OPTIONAL.get(type_.base, (f"::std::optional<{plain}>", expression))
    return _PLAIN[type_.base]


def _default(argument: Argument, type_: str) -> str | None:
    text = argument.default
    if text is None:
        return None
    if argument.type.is_list and text != "None":
        if argument.type.base == "bool":
            return "{{" + text.strip("[]").lower() + "}}"
        return "{}" if text == "[]" else text.replace("[", "{").replace("]", "}")
    if text == "None":
        return "{}" if "std::optional" not in type_ else "::std::nullopt"
    if text in ("True", "False"):
        return text.lower()
    if text[0] in "'\"":
        return f'"{text[1:-1]}"'
    return _DEFAULTS.get(text, text).replace("inf", "INFINITY")


def parameters(arguments: Iterable[Argument]) -> list[Parameter]:
    """As the schema has them, which C++ needs in this order; what follows a default has one."""
    made = [parameter(a) for a in arguments]
    last = max((i for i, p in enumerate(made) if p.default is None), default=-1)
    return [p if i > last else Parameter(p.type, p.name, p.passes) for i, p in enumerate(made)]


# A parameter that is a size or several, with sizes that graphs may leave open, and how it is passed as numbers.
_SYMBOLIC = {
    "int64_t": ("c10::SymInt", "{}"), "at::IntArrayRef": ("c10::SymIntArrayRef", "C10_AS_INTARRAYREF_SLOW({})"),
    "at::OptionalIntArrayRef": ("at::OptionalSymIntArrayRef", "c10::asIntArrayRefSlowOpt({})"),
    "::std::optional<int64_t>": ("::std::optional<c10::SymInt>", "{}"),
}  # fmt: skip


def symbolic(p: Parameter) -> tuple[Parameter, str]:
    """A parameter with ``c10::SymInt`` in place of numbers, and the expression that makes it the old one."""
    type_, expression = _SYMBOLIC[p.type]
    is_one = type_.endswith("ArrayRef") and p.default is not None and p.default.lstrip("-").isdigit()
    return replace(p, type=type_, default=f"c10::SymInt({p.default})" if is_one else p.default), expression.format(
        p.name
    )


def options_at(arguments: Iterable[Argument]) -> int | None:
    """Where the four arguments begin that ``TensorOptions`` stand for; None where an op has none."""
    names = [a.name for a in arguments]
    return next((i for i in range(len(names)) if tuple(names[i : i + 4]) == OPTIONS), None)


def with_options(arguments: tuple[Argument, ...], at: int) -> list[Parameter]:
    """The parameters with ``TensorOptions`` in place of four."""
    group = arguments[at : at + 4]
    passed = (
        ("dtype", "options.dtype_or_none()"), ("layout", "options.layout_opt()"),
        ("device", "at::detail::device_or_none(options.device_opt())"), ("pin_memory", "options.pinned_memory_opt()"),
    )  # fmt: skip
    default = "{}" if all(a.default is not None for a in group) else None
    made = [*map(parameter, arguments[:at]), Parameter("at::TensorOptions", "options", passed, default)]
    for argument in arguments[at + 4 :]:
        later = parameter(argument)
        if argument.name == "memory_format":
            expression = "at::detail::memory_format_of(options, memory_format)"
            later = Parameter(later.type, later.name, (("memory_format", expression),), later.default)
        made.append(later)
    last = max((i for i, p in enumerate(made) if p.default is None), default=-1)
    return [p if i > last else Parameter(p.type, p.name, p.passes) for i, p in enumerate(made)]


def result(op: Op) -> str:
    """The type of a functional op's results."""
    parts = []
    for part in op.schema.returns:
        if part.type.is_tensor:
            parts.append("::std::vector<at::Tensor>" if part.type.is_list else "at::Tensor")
        else:
            parts.append(_PLAIN[part.type.base][0].removeprefix("const ").removesuffix("&"))
    return parts[0] if len(parts) == 1 else f"::std::tuple<{', '.join(parts)}>" if parts else "void"
