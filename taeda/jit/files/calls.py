"""How a node is spelled as an expression: operators of the language, and calls of ops."""

from __future__ import annotations

import keyword
from collections.abc import Callable
from typing import Any

from taeda.jit.files.literals import type_text
from taeda.jit.ir import Node

Spell = Callable[[Node, list[str]], str]


def member(owner: str, name: str) -> str:
    """An attribute of an object."""
    return f"{owner}.{name}" if name.isidentifier() and not keyword.iskeyword(name) else f'getattr({owner}, "{name}")'


def _list(node: Node, inputs: list[str]) -> str:
    type = node.output().static_type
    if type.kind() != "ListType":
        return f"[{', '.join(inputs)}]"
    element = type.containedTypes()[0]
    text = f"[{', '.join(inputs)}]"
    same = all(value.static_type is element for value in node.inputs())
    return text if inputs and same else f"annotate({type_text(type)}, {text})"


def _dict(node: Node, inputs: list[str]) -> str:
    type = node.output().static_type
    pairs = ", ".join(f"{key}: {value}" for key, value in zip(inputs[::2], inputs[1::2], strict=True))
    wanted = type.containedTypes()
    same = all(value.static_type is wanted[i % 2] for i, value in enumerate(node.inputs()))
    return f"{{{pairs}}}" if inputs and same else f"annotate({type_text(type)}, {{{pairs}}})"


def _tuple(node: Node, inputs: list[str]) -> str:
    type = node.output().static_type
    if type._name:  # a named tuple
        return f"{type_text(type)}({', '.join(inputs)})"
    return f"({', '.join(inputs)}{',' if len(inputs) == 1 else ''})"


def _isinstance(node: Node, inputs: list[str]) -> str:
    types = [type_text(type) for type in node.attribute("types")]
    return f"isinstance({inputs[0]}, {types[0] if len(types) == 1 else '(' + ', '.join(types) + ')'})"


def _method(node: Node, inputs: list[str]) -> str:
    return f"({inputs[0]}).{node.s('name')}({''.join(f'{text}, ' for text in inputs[1:])})"


def _function(node: Node, inputs: list[str]) -> str:
    return f"{inputs[0]}({''.join(f'{text}, ' for text in inputs[1:])})"


def _implicit(name: str) -> Spell:
    return lambda node, inputs: f"annotate({name}, {inputs[0]})"


def _conversion(name: str) -> Spell:
    return lambda node, inputs: f"{name}({', '.join(inputs)})"


def _subscript(node: Node, inputs: list[str]) -> str:
    return f"{inputs[0]}[{inputs[1]}]"


def _tuple_slice(node: Node, inputs: list[str]) -> str:
    return f"{inputs[0]}[{node.i('beg')}:{node.i('end')}]"


_EXPRESSIONS: dict[str, Spell] = {
    "prim::ListConstruct": _list,
    "prim::DictConstruct": _dict,
    "prim::TupleConstruct": _tuple,
    "prim::isinstance": _isinstance,
    "prim::CallMethod": _method,
    "prim::CallFunction": _function,
    "prim::GetAttr": lambda node, inputs: member(inputs[0], node.s("name")),
    "prim::TupleIndex": _subscript,
    "prim::TupleSlice": _tuple_slice,
    "prim::CreateObject": lambda node, inputs: "{0}.__new__({0})".format(type_text(node.output().static_type)),
    "prim::unchecked_cast": lambda node, inputs: f"unchecked_cast({type_text(node.output().static_type)}, {inputs[0]})",
    "prim::Uninitialized": lambda node, inputs: f"uninitialized({type_text(node.output().static_type)})",
    "prim::EnumName": lambda node, inputs: f"({inputs[0]}).name",
    "prim::EnumValue": lambda node, inputs: f"({inputs[0]}).value",
    "prim::ModuleContainerIndex": _subscript,
    "prim::tolist": lambda node, inputs: f"annotate({type_text(node.output().static_type)}, {inputs[0]}.tolist())",
    "prim::Print": lambda node, inputs: f"print({', '.join(inputs)})",
    "aten::IntImplicit": _implicit("int"),
    "aten::FloatImplicit": _implicit("float"),
    "aten::ComplexImplicit": _implicit("complex"),
    "aten::ScalarImplicit": _implicit("number"),
    "aten::Int": _conversion("int"),
    "aten::Float": _conversion("float"),
    "aten::Complex": _conversion("complex"),
    "aten::Bool": _conversion("bool"),
    "aten::str": _conversion("str"),
    "aten::__getitem__": _subscript,
    "aten::sorted": _conversion("sorted"),
    "aten::device": _conversion("torch.device"),
    "aten::backward": lambda node, inputs: op_call(node, inputs, "torch.autograd.backward"),
    "aten::grad": lambda node, inputs: op_call(node, inputs, "torch.autograd.grad"),
}


def spell(node: Node, inputs: list[str]) -> str:
    """The expression for a node, given those for its inputs."""
    special = _EXPRESSIONS.get(node.kind())
    return special(node, inputs) if special is not None else op_call(node, inputs)


def op_call(node: Node, inputs: list[str], called: str = "") -> str:
    """A call of an op. Arguments at the end that are the schema's defaults are left out."""
    space, _, name = node.kind().partition("::")
    called = called or (f"torch.{name}" if space == "aten" else f"ops.{space}.{name}")
    schema = node.op_schema()
    if schema is None:
        return f"{called}({', '.join(inputs)})"
    names = [argument.name if argument.kwarg_only else "" for argument in schema.arguments]
    count = _needed(node, schema)
    kept = [f"{name}={text}" if name else text for name, text in zip(names, inputs, strict=False)][:count]
    outs = [(i, a) for i, a in enumerate(schema.arguments) if a.is_out and i >= count and i < len(inputs)]
    kept += [f"{argument.name}={inputs[i]}" for i, argument in outs]
    return f"{called}({', '.join([*kept, *inputs[len(names) :]])})"


def _needed(node: Node, schema: Any) -> int:
    """How many arguments have to be written."""
    arguments = schema.arguments
    count = min(len(arguments), node.inputsSize())
    while count and (_is_default(node, count - 1, arguments[count - 1]) or arguments[count - 1].is_out):
        count -= 1
    return count


def _is_default(node: Node, place: int, argument: Any) -> bool:
    value = node.inputsAt(place)
    if not argument.has_default_value() or value.node().kind() not in ("prim::Constant", "prim::ListConstruct"):
        return False
    given, default = constant_of(value), argument.default_value
    if given is NotImplemented:
        return False
    if isinstance(default, (list, tuple)) and isinstance(given, list):
        return list(default) == given and all(type(a) is type(b) for a, b in zip(default, given, strict=True))
    default = _as_number(default)
    return type(given) is type(default) and given == default  # 1.0 is not 1: kernels tell them apart


def _as_number(default: Any) -> Any:
    from taeda import dtype, layout, memory_format
    from taeda.jit._ir_types import number_of

    return number_of(default) if isinstance(default, (dtype, layout, memory_format)) else default


def constant_of(value: Any) -> Any:
    """The value of a constant, or of a list of constants; NotImplemented for anything else."""
    node = value.node()
    if node.kind() == "prim::Constant":
        return node.constant()
    if node.kind() == "prim::ListConstruct":
        items = [constant_of(item) for item in node.inputs()]
        return NotImplemented if any(item is NotImplemented for item in items) else items
    return NotImplemented
