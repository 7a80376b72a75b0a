"""The expressions of a body in C++."""

from __future__ import annotations

import ast
import builtins
import math
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from taedagen.emit import cpp
from taedagen.emit.body import words
from taedagen.emit.body.calls import op_call
from taedagen.emit.body.values import (
    LOCALS,
    NONE,
    Value,
    convert,
    element,
    fits,
    is_list,
    is_tuple,
    join,
    parts_of,
    result_text,
    unwrapped,
)
from taedagen.opdef import vocabulary
from taedagen.opdef.declaration import Declaration
from taedagen.opdef.errors import DeclarationError
from taedagen.opdef.expr import op as ops_namespace
from taedagen.opdef.intrinsics import CALLS
from taedagen.opdef.words import Name, Word

if TYPE_CHECKING:
    from taedagen.emit.body.unit import Unit

_ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_OPS_OF = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder", ast.Pow: "pow", ast.MatMult: "matmul", ast.BitAnd: "bitwise_and", ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip
# With the number first.
_SWAPPED = {"add": "add", "mul": "mul", "sub": "rsub", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq",
            "ne": "ne"}  # fmt: skip
_COMPARED = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_HOST = ("bool", "int", "float", "str", "Scalar", "ScalarType", "Device", "Layout", "MemoryFormat")


class Expressions:
    """Translates expressions; ``statements.Body`` adds statements and variables."""

    unit: Unit
    function: Any  # with its globals and closure
    file: str
    before: list[str] | None  # statements that the current one needs before it; None where nothing may come before

    def fail(self, node: ast.AST, message: str) -> DeclarationError:
        return DeclarationError((self.file, getattr(node, "lineno", 0)), f"{self.function.__name__}: {message}")

    def variable(self, name: str) -> Value | None:
        raise NotImplementedError

    # --- one expression
    def value(self, node: ast.expr) -> Value:
        method: Callable[[Any], Value] | None = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise self.fail(node, f"a body cannot say '{ast.unparse(node)}'")
        return method(node)

    def truth(self, node: ast.expr) -> str:
        """As a condition."""
        value = self.value(node)
        if value.type == "bool":
            return value.text
        if value.type == "bool?":
            return f"{value.text}.value_or(false)"
        if is_list(value.type) or value.type == "str":
            return f"!{value.text}.empty()"
        if value.type == "int":
            return f"({value.text} != 0)"
        if value.type == "Tensor":
            raise self.fail(node, f"'{ast.unparse(node)}' is a tensor, whose elements are not known when a call is "
                                  "made; use where(cond, a, b), or 'is None' for an absent one")  # fmt: skip
        raise self.fail(node, f"'{ast.unparse(node)}' is {value.type}, no condition; compare it, or ask 'is None'")

    def as_type(self, node: ast.expr, wanted: str) -> str:
        value = self.value(node)
        if value.type != wanted and not fits(value, wanted, True):
            raise self.fail(node, f"'{ast.unparse(node)}' is {value.type}; {wanted} is needed here")
        return convert(value, wanted)

    def _later(self, make: Callable[[], str]) -> str:
        """What is computed on a condition: nothing of it may come before the statement."""
        before, self.before = self.before, None
        try:
            return make()
        finally:
            self.before = before

    # --- names and literals
    def _constant(self, node: ast.Constant) -> Value:
        return self.literal(node, node.value)

    def literal(self, node: ast.AST, value: object) -> Value:
        if value is None or value is Ellipsis:
            return NONE
        if isinstance(value, bool):
            return Value(str(value).lower(), "bool", constant=value)
        if isinstance(value, int):
            return Value(str(value), "int", constant=value)
        if isinstance(value, float):
            text = {"inf": "INFINITY", "-inf": "-INFINITY", "nan": "NAN"}.get(repr(value), repr(value))
            return Value(text, "float", constant=value)
        if isinstance(value, complex):
            return Value(f"complex128({value.real!r}, {value.imag!r})", "complex", constant=value)
        if isinstance(value, str):
            return Value(cpp.string(value), "str", constant=value)
        if isinstance(value, (tuple, list)):
            return self._display(node, [self.literal(node, item) for item in value], isinstance(value, tuple))
        raise self.fail(node, f"a body cannot use a {type(value).__name__}")

    def known(self, node: ast.Name) -> object:
        """What a name stands for outside of the function."""
        closure = dict(zip(self.function.__code__.co_freevars, self.function.__closure__ or (), strict=True))
        if node.id in closure:
            return closure[node.id].cell_contents
        if node.id in self.function.__globals__:
            return self.function.__globals__[node.id]
        if hasattr(builtins, node.id):
            return getattr(builtins, node.id)
        raise self.fail(node, f"the name '{node.id}' is unknown")

    def _name(self, node: ast.Name) -> Value:
        found = self.variable(node.id)
        if found is not None:
            return found
        known = self.known(node)
        if isinstance(known, Name):
            return self._named(known)
        return self.literal(node, known)

    def _named(self, known: Name) -> Value:
        names = {"uint": "UInt", "int": "Int", "float": "Float", "bfloat": "BFloat", "complex": "Complex",
                 "bool": "Bool"}  # fmt: skip
        if known.kind == "ScalarType":
            letters = known.name.rstrip("0123456789")
            return Value(f"DType::{names[letters]}{known.name[len(letters) :]}", "ScalarType")
        spelled = "".join(word.capitalize() for word in known.name.removesuffix("_format").split("_"))
        return Value(f"MemoryFormat::{spelled}", "MemoryFormat")

    def _attribute(self, node: ast.Attribute) -> Value:
        if isinstance(node.value, ast.Name) and self.variable(node.value.id) is None:
            known = self.known(node.value)
            if known is math:
                if node.attr in words.CONSTANTS:
                    return Value(words.CONSTANTS[node.attr], "float")
                return self.literal(node, getattr(math, node.attr))
        base = self.value(node.value)
        spelling = words.ATTRIBUTES.get(base.type, {}).get(node.attr)
        if spelling:
            return Value(spelling.text.format(base.text), spelling.result)
        if base.type == "Tensor":
            return self._op(node, node.attr, [base], {})
        raise self.fail(node, f"'{ast.unparse(node.value)}' is {base.type}, which has no '{node.attr}'")

    def _display(self, node: ast.AST, items: list[Value], is_tuple_: bool) -> Value:
        if is_tuple_:
            return Value(
                f"{{{', '.join(i.text for i in items)}}}", f"({', '.join(i.type for i in items)})", tuple(items)
            )
        if not items:
            return Value("{}", "[]", ())
        joined: str | None = items[0].type
        for item in items[1:]:
            joined = joined and join(joined, item.type)
        joined = {"bool": "int", "None": "Tensor"}.get(joined or "", joined)
        if joined not in ("int", "Tensor", "float", "Scalar"):
            raise self.fail(node, f"a list holds ints, floats or tensors; got {[i.type for i in items]}")
        texts = [convert(item, joined) for item in items]
        if joined == "int":
            if all(isinstance(i.constant, int) for i in items):
                return Value(f"kValues<int64_t, {', '.join(texts)}>", "int[]", tuple(items))
            return Value(f"shape::Dims{{{', '.join(texts)}}}", "int[]", tuple(items), owned=True)
        array = f"std::array<{LOCALS[joined]}, {len(texts)}>{{{', '.join(texts)}}}"
        return Value(array, f"{joined}[]", tuple(items), owned=True)

    def _tuple(self, node: ast.Tuple) -> Value:
        return self._display(node, [self.value(e) for e in node.elts], True)

    def _list(self, node: ast.List) -> Value:
        if not any(isinstance(e, ast.Starred) for e in node.elts):
            return self._display(node, [self.value(e) for e in node.elts], False)
        pieces: list[Value] = []
        run: list[Value] = []
        for item in node.elts:
            if isinstance(item, ast.Starred):
                pieces += [self._display(node, run, False)] if run else []
                pieces.append(self.value(item.value))
                run = []
            else:
                run.append(self.value(item))
        pieces += [self._display(node, run, False)] if run else []
        return self._joined(node, pieces)

    def _joined(self, node: ast.AST, pieces: list[Value]) -> Value:
        """Several lists one after another."""
        kind = next((p.type for p in pieces if p.type != "[]"), "int[]")
        if kind not in ("int[]", "Tensor[]") or any(p.type not in (kind, "[]") for p in pieces):
            raise self.fail(node, f"lists of one type can be joined; got {[p.type for p in pieces]}")
        texts = ", ".join(convert(p, kind) for p in pieces)
        return Value(f"composite::joined({{{texts}}})", kind, owned=True)

    # --- operators
    def _binop(self, node: ast.BinOp) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        if "Tensor" in (left.type, right.type):
            return self._tensor_operator(node, _OPS_OF[type(node.op)], left, right)
        if is_list(left.type) or left.type == "[]":
            if isinstance(node.op, ast.Add):
                return self._joined(node, [left, right])
            if isinstance(node.op, ast.Mult) and left.items is not None and len(left.items) == 1:
                return self._repeated(node, left.items[0], right)
        if left.is_number and right.is_number:
            return self._number(node, node.op, left, right)
        left, right = (Value(f"*{v.text}", v.type[:-1]) if v.type.endswith("?") else v for v in (left, right))
        if left.is_number and right.is_number:
            return self._number(node, node.op, left, right)
        raise self.fail(node, f"'{ast.unparse(node)}' is of {left.type} and {right.type}")

    def _repeated(self, node: ast.AST, item: Value, count: Value) -> Value:
        kind = {"bool": "int"}.get(item.type, item.type)
        if kind not in ("int", "Tensor", "Scalar"):
            raise self.fail(node, f"a list of {item.type} cannot be repeated")
        if kind == "int":
            return Value(f"composite::repeated({item.text}, {count.text})", "int[]", owned=True)
        return Value(f"std::vector<{LOCALS[kind]}>({count.text}, {item.text})", f"{kind}[]", owned=True)

    def _tensor_operator(self, node: ast.AST, name: str, left: Value, right: Value) -> Value:
        if left.type != "Tensor" and name in _SWAPPED:
            return self._op(node, _SWAPPED[name], [right, left], {})
        if left.type != "Tensor" and name == "div":
            return self._op(node, "mul", [self._op(node, "reciprocal", [right], {}), left], {})
        return self._op(node, name, [left, right], {})

    def _number(self, node: ast.AST, operator: ast.operator, left: Value, right: Value) -> Value:
        kind = str(join(left.type, right.type))
        kind = "int" if kind == "bool" else kind
        if isinstance(operator, ast.Pow):
            both = ", ".join(convert(v, "float") for v in (left, right))
            return Value(f"std::pow({both})", "float")
        if isinstance(operator, (ast.FloorDiv, ast.Mod)):
            if kind != "int":
                raise self.fail(node, f"// and % are for ints; got {left.type} and {right.type}")
            name = "floor_div" if isinstance(operator, ast.FloorDiv) else "floor_mod"
            return Value(f"composite::{name}({left.text}, {right.text})", "int")
        if isinstance(operator, ast.BitAnd) and left.type == right.type == "bool":
            return Value(f"({left.text} & {right.text})", "bool")
        if isinstance(operator, ast.BitOr) and left.type == right.type == "bool":
            return Value(f"({left.text} | {right.text})", "bool")
        if type(operator) not in _ARITHMETIC:
            raise self.fail(node, "numbers know + - * / // % and **")
        if isinstance(operator, ast.Div) and kind == "int":
            kind = "float"
        texts = [v.text if v.type == kind or (kind == "int") else convert(v, kind) for v in (left, right)]
        return Value(f"({texts[0]} {_ARITHMETIC[type(operator)]} {texts[1]})", kind)

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            text = self.truth(node.operand)
            return Value(text[1:] if text.startswith("!") and " " not in text else f"!{text}", "bool")
        value = self.value(node.operand)
        if isinstance(node.op, ast.USub) and isinstance(value.constant, (int, float)):
            return self.literal(node, -value.constant)
        if value.type == "Tensor":
            return self._op(node, "neg" if isinstance(node.op, ast.USub) else "bitwise_not", [value], {})
        if isinstance(node.op, ast.USub) and value.is_number:
            return Value(f"(-{value.text})", value.type)
        raise self.fail(node, f"'{ast.unparse(node)}' is of {value.type}")

    def _boolop(self, node: ast.BoolOp) -> Value:
        sign = " && " if isinstance(node.op, ast.And) else " || "
        first, *rest = node.values
        texts = [self.truth(first), *(self._later(lambda v=v: self.truth(v)) for v in rest)]  # type: ignore[misc]
        return Value(f"({sign.join(texts)})", "bool")

    def _compare(self, node: ast.Compare) -> Value:
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
            return self._membership(node, node.ops[0], node.left, node.comparators[0])
        values = [self.value(v) for v in (node.left, *node.comparators)]
        if any(v.type == "Tensor" for v in values):
            return self._tensor_operator(node, _OPS_OF[type(node.ops[0])], values[0], values[1])
        tests = [self._compared(node, o, a, b) for o, a, b in zip(node.ops, values, values[1:], strict=False)]
        return Value(tests[0] if len(tests) == 1 else f"({' && '.join(tests)})", "bool")

    def _compared(self, node: ast.AST, operator: ast.cmpop, left: Value, right: Value) -> str:
        sign = _COMPARED[type(operator)]
        if is_list(left.type) and (is_list(right.type) or right.type == "[]"):
            same = f"std::ranges::equal({left.text}, {convert(right, left.type)})"
            return same if sign == "==" else f"!{same}"
        types_ = [v.type.removesuffix("?") for v in (left, right)]
        if left.type.endswith("?") or right.type.endswith("?"):
            if sign not in ("==", "!=") and types_[0] in ("int", "float"):
                left, right = (Value(convert(v, v.type.removesuffix("?")), v.type.removesuffix("?"))
                               for v in (left, right))  # fmt: skip
            elif types_[0] == types_[1]:
                return f"({left.text} {sign} {right.text})"
        if left.type == right.type and left.type in _HOST:
            if left.type == "Scalar":
                return f"({left.text}.as_double() {sign} {right.text}.as_double())"
            return f"({left.text} {sign} {right.text})"
        if "Scalar" in (left.type, right.type) and left.is_number and right.is_number:
            if left.type == "Scalar" and sign in ("==", "!="):
                return f"{'!' if sign == '!=' else ''}{left.text}.equals({convert(right, 'float')})"
            return f"({convert(left, 'float')} {sign} {convert(right, 'float')})"
        if left.is_number and right.is_number:
            kind = str(join(left.type, right.type))
            a, b = (v.text if kind == "int" else convert(v, kind) for v in (left, right))
            return f"({a} {sign} {b})"
        raise self.fail(node, f"{left.type} and {right.type} cannot be compared")

    def _membership(self, node: ast.Compare, operator: ast.cmpop, left: ast.expr, right: ast.expr) -> Value:
        negated = "!" if isinstance(operator, (ast.IsNot, ast.NotIn)) else ""
        value = self.value(left)
        if isinstance(operator, (ast.Is, ast.IsNot)):
            other = self.value(right)
            if other.type == "None":
                return Value(self._absent(node, value, not negated), "bool")
            if value.type == other.type == "Tensor":
                return Value(f"{negated}{value.text}.is({other.text})", "bool")
            raise self.fail(node, "'is' asks for None, or whether two tensors are one")
        among = self.value(right)
        if among.items is not None and len(among.items) > 0:
            sign, joint = ("!=", " && ") if negated else ("==", " || ")
            tests = [self._compared(node, ast.NotEq() if sign == "!=" else ast.Eq(), value, i) for i in among.items]
            return Value(f"({joint.join(tests)})", "bool")
        if among.type == "int[]":
            return Value(f"{negated}composite::contains({among.text}, {convert(value, 'int')})", "bool")
        raise self.fail(node, "'in' looks into a tuple or a list of ints")

    def _absent(self, node: ast.AST, value: Value, absent: bool) -> str:
        if value.type == "Tensor":
            return f"{'!' if absent else ''}{value.text}.defined()"
        if value.type.endswith("?"):
            return f"!{value.text}.has_value()" if absent else f"{value.text}.has_value()"
        if value.type == "Generator":
            return f"{'!' if absent else ''}{value.text}"
        raise self.fail(node, f"it is {value.type}, which is never None")

    def _ifexp(self, node: ast.IfExp) -> Value:
        condition = self.truth(node.test)
        before, self.before = self.before, None
        branches = [self.value(node.body), self.value(node.orelse)]
        self.before = before
        kind = join(branches[0].type, branches[1].type)
        if kind is None:
            raise self.fail(node, f"the branches are {branches[0].type} and {branches[1].type}")
        # x if x is not None else y: where the optional is known to be there, it is no optional.
        for i, name in _known_values(node.test):
            given = branches[i]
            if given.text == name and given.type.endswith("?"):
                branches[i] = Value(f"*{given.text}", given.type[:-1])
                kind = str(join(branches[0].type, branches[1].type))
        if kind == "Tensor[]" and any(branch.items for branch in branches):
            # within ?: GCC 12 cleans up a wrong place if one of the items throws
            raise self.fail(node, "a list of tensors is chosen by an if statement")
        texts = [self._branch(branch, kind) for branch in branches]
        return Value(f"({condition} ? {texts[0]} : {texts[1]})", kind, owned=True)

    def _branch(self, value: Value, kind: str) -> str:
        if kind == "int[]":
            return value.text if value.text.startswith("shape::") else f"shape::Dims({convert(value, kind)})"
        if is_list(kind) or is_tuple(kind):
            return result_text(value, kind)
        if value.type == "None":
            return convert(value, kind)
        if kind.endswith("?"):
            return f"std::make_optional({convert(value, kind[:-1])})" if value.type != kind else value.text
        return convert(value, kind)

    # --- parts
    def _subscript(self, node: ast.Subscript) -> Value:
        base = self.value(node.value)
        if base.type.endswith("?") and is_list(base.type[:-1]):
            base = Value(f"(*{base.text})", base.type[:-1])
        if isinstance(node.slice, ast.Slice):
            return self._slice(node, base, node.slice)
        index = self.value(node.slice)
        if is_tuple(base.type) or (base.items is not None and isinstance(index.constant, int)):
            if not isinstance(index.constant, int):
                raise self.fail(node, "the index of a tuple is a number")
            if base.items is not None:
                return base.items[index.constant]
            types_ = parts_of(base.type)
            at = index.constant % len(types_)
            return Value(f"std::get<{at}>({base.text})", types_[at])
        if is_list(base.type):
            return Value(f"{base.text}[{self._index(base, index)}]", element(base.type))
        if base.type == "Tensor":
            raise self.fail(node, "a part of a tensor is told by select, narrow, slice or index_select")
        raise self.fail(node, f"'{ast.unparse(node.value)}' is {base.type}, which has no parts")

    def _index(self, base: Value, index: Value) -> str:
        if isinstance(index.constant, int) and index.constant < 0:
            return f"{base.text}.size() - {-index.constant}"
        return unwrapped(convert(index, "int"))

    def _slice(self, node: ast.Subscript, base: Value, part: ast.Slice) -> Value:
        if part.step is not None or base.type not in ("int[]", "Tensor[]"):
            raise self.fail(node, "a part of a list is list[start:end]")
        start = self.as_type(part.lower, "int") if part.lower else "0"
        end = f", {unwrapped(self.as_type(part.upper, 'int'))}" if part.upper else ""
        return Value(f"composite::part({convert(base, base.type)}, {unwrapped(start)}{end})", base.type)

    def _listcomp(self, node: ast.ListComp) -> Value:
        return self.comprehension(node)

    def comprehension(self, node: ast.ListComp) -> Value:
        raise NotImplementedError

    # --- calls
    def _call(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Attribute):
            return self._method(node, node.func)
        if not isinstance(node.func, ast.Name):
            raise self.fail(node, "a call names an op, a method or a function")
        known = self.known(node.func)
        if isinstance(known, Declaration):
            return self._op(node, known.name, *self._arguments(node))
        if isinstance(known, Word):
            return self._word(node, known.name)
        if known is not None and known is getattr(vocabulary, getattr(known, "__name__", ""), None):
            return self._intrinsic(node, known.__name__)  # type: ignore[union-attr]
        if isinstance(known, types.FunctionType):
            values, named = self._arguments(node)
            return self.unit.helper(self, node, known, values, named)
        builtin = getattr(self, f"_builtin_{node.func.id}", None)
        if builtin is None or known is not getattr(builtins, node.func.id, None):
            raise self.fail(node, f"a body cannot call '{node.func.id}'")
        return builtin(node)  # type: ignore[no-any-return]

    def _arguments(self, node: ast.Call) -> tuple[list[Value], dict[str, Value]]:
        if any(k.arg is None for k in node.keywords) or any(isinstance(a, ast.Starred) for a in node.args):
            raise self.fail(node, "a body writes each argument")
        return [self.value(a) for a in node.args], {str(k.arg): self.value(k.value) for k in node.keywords}

    def _op(self, node: ast.AST, name: str, values: list[Value], named: dict[str, Value]) -> Value:
        if name == "where" and values and values[0].type == "bool":
            kind = str(join(values[1].type, values[2].type))
            return Value(f"({values[0].text} ? {convert(values[1], kind)} : {convert(values[2], kind)})", kind)
        found = op_call(name, values, named)
        if isinstance(found, str):
            raise self.fail(node, found)
        return found

    def _intrinsic(self, node: ast.Call, name: str) -> Value:
        values, _ = self._arguments(node)
        if name in ("maximum", "minimum") and values[1].type != "Tensor":
            return self._op(node, "clamp_min" if name == "maximum" else "clamp_max", values, {})
        return self._op(node, CALLS[name].op or name, values, {})

    def _namespace(self, node: ast.expr) -> str:
        """``demo`` of ``op.demo``, an op's namespace; "" of anything else."""
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            return ""
        named = self.variable(node.value.id) is None and self.known(node.value) is ops_namespace
        return node.attr if named else ""

    def _method(self, node: ast.Call, func: ast.Attribute) -> Value:
        if isinstance(func.value, ast.Name) and self.variable(func.value.id) is None:
            known = self.known(func.value)
            if known is ops_namespace:
                return self._op(node, func.attr, *self._arguments(node))
            if known is math:
                return self._spelled(node, func.attr, words.MATH)
        space = self._namespace(func.value)
        if space:
            return self._op(node, f"{space}::{func.attr}", *self._arguments(node))
        base = self.value(func.value)
        if base.type == "Tensor" and func.attr == "size" and not node.args:
            return Value(f"{base.text}.sizes()", "int[]")
        if base.type == "Tensor" and func.attr == "stride" and not node.args:
            return Value(f"{base.text}.strides()", "int[]")
        methods = words.METHODS.get(base.type, {})
        if func.attr in methods:
            return self._spelled(node, func.attr, methods, base)
        if is_list(base.type):
            return self._list_method(node, base, func.attr)
        if base.type != "Tensor":
            raise self.fail(node, f"'{ast.unparse(func.value)}' is {base.type}, which has no '{func.attr}'")
        values, named = self._arguments(node)
        return self._op(node, func.attr, [base, *values], named)

    def _list_method(self, node: ast.Call, base: Value, name: str) -> Value:
        kind = element(base.type)
        if name == "append" and len(node.args) == 1:
            return Value(f"{base.text}.push_back({unwrapped(self.as_type(node.args[0], kind))})", "void")
        if name == "insert" and len(node.args) == 2:
            at, item = (unwrapped(self.as_type(a, t)) for a, t in zip(node.args, ("int", kind), strict=True))
            where = at if kind == "int" else f"{base.text}.begin() + {at}"
            return Value(f"{base.text}.insert({where}, {item})", "void")
        raise self.fail(node, f"lists know append and insert, not '{name}'")

    def _spelled(self, node: ast.Call, name: str, table: dict[str, words.Spelling], base: Value | None = None) -> Value:
        if name not in table:
            raise self.fail(node, f"there is no '{name}'; there are {sorted(table)}")
        spelling = table[name]
        given = [*node.args, *(k.value for k in node.keywords)]
        texts = [base.text] if base else []
        for i, parameter in enumerate(spelling.parameters):
            wanted, _, default = parameter.partition("=")
            if i < len(given):
                texts.append(unwrapped(self.as_type(given[i], wanted)))
            elif default:
                texts.append(default)
            else:
                raise self.fail(node, f"'{name}' takes {len(spelling.parameters)} arguments")
        return Value(spelling.text.format(*texts), spelling.result, owned=name in words.OWNED)

    def _word(self, node: ast.Call, name: str) -> Value:
        if name == "may_record":
            texts = [self.as_type(a, "Tensor") for a in node.args]
            return Value(f"composite::may_record({', '.join(texts)})", "bool")
        if name == "copy_for":
            self_text, others = self.value(node.args[0]).text, self.value(node.args[1])
            pointers = ", ".join(f"&{item.text}" for item in others.items or ())
            rest = "".join(f", {self.as_type(k.value, 'MemoryFormat')}" for k in node.keywords)
            return Value(f"composite::copy_for({self_text}, {{{pointers}}}{rest})", "Tensor")
        if name == "result_type":
            texts = [self.value(a).text for a in node.args]
            return Value(f"composite::result_type({', '.join(texts)})", "ScalarType")
        if name in ("check", "warn", "alert_open_result"):
            raise self.fail(node, f"{name}(...) is a statement of its own")
        return self._spelled(node, name, words.WORDS)

    # --- Python's own functions
    def _builtin_len(self, node: ast.Call) -> Value:
        value = self.value(node.args[0])
        if value.type.endswith("[]?"):
            value = Value(f"*{value.text}", value.type[:-1])
        if not is_list(value.type):
            raise self.fail(node, f"len is for lists; got {value.type}")
        return Value(f"std::ssize({value.text})", "int")

    def _builtin_abs(self, node: ast.Call) -> Value:
        value = self.value(node.args[0])
        if value.type == "Tensor":
            return self._op(node, "abs", [value], {})
        value = value if value.type != "Scalar" else Value(convert(value, "float"), "float")
        return Value(f"std::abs({unwrapped(value.text)})", value.type)

    def _builtin_min(self, node: ast.Call) -> Value:
        return self._extreme(node, "min")

    def _builtin_max(self, node: ast.Call) -> Value:
        return self._extreme(node, "max")

    def _extreme(self, node: ast.Call, name: str) -> Value:
        values = [self.value(a) for a in node.args]
        values = [Value(f"*{v.text}", v.type[:-1]) if v.type.endswith("?") else v for v in values]
        kind = str(join(values[0].type, values[1].type)) if len(values) == 2 else ""
        if kind not in ("int", "float"):
            raise self.fail(node, f"{name} takes two ints or floats")
        texts = ", ".join(unwrapped(convert(v, kind)) for v in values)
        return Value(f"std::{name}<{LOCALS[kind]}>({texts})", kind)

    def _builtin_int(self, node: ast.Call) -> Value:
        value = self.value(node.args[0])
        if value.type == "Scalar":
            return Value(f"{value.text}.as_int()", "int")
        return Value(f"static_cast<int64_t>({unwrapped(value.text)})", "int")

    def _builtin_float(self, node: ast.Call) -> Value:
        value = self.value(node.args[0])
        if isinstance(value.constant, str):
            return self.literal(node, float(value.constant))
        return Value(convert(value, "float"), "float")

    def _builtin_bool(self, node: ast.Call) -> Value:
        value = self.value(node.args[0])
        return Value(f"{value.text}.to<bool>()" if value.type == "Scalar" else self.truth(node.args[0]), "bool")

    def _builtin_complex(self, node: ast.Call) -> Value:
        return Value(f"complex128({', '.join(self.as_type(a, 'float') for a in node.args)})", "complex")

    def _builtin_list(self, node: ast.Call) -> Value:
        value = self.value(node.args[0])
        if not is_list(value.type):
            raise self.fail(node, f"list is for lists; got {value.type}")
        return Value(f"{LOCALS[value.type]}({value.text})" if value.type == "int[]" else value.text, value.type,
                     owned=value.type == "int[]")  # fmt: skip

    def _builtin_any(self, node: ast.Call) -> Value:
        return self._quantified(node, "any")

    def _builtin_all(self, node: ast.Call) -> Value:
        return self._quantified(node, "all")

    def _quantified(self, node: ast.Call, name: str) -> Value:
        raise NotImplementedError


def _known_values(test: ast.expr) -> list[tuple[int, str]]:
    """In which branch of a choice an optional is known to be there: ``x is not None`` in the first."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.left, ast.Name):
        other = test.comparators[0]
        if isinstance(other, ast.Constant) and other.value is None:
            return [(0 if isinstance(test.ops[0], ast.IsNot) else 1, cpp.identifier(test.left.id))]
    return []
