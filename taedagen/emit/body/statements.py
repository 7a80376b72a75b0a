"""The statements of a body in C++."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from taedagen.emit import cpp
from taedagen.emit.body import words
from taedagen.emit.body.expressions import Expressions
from taedagen.emit.body.loops import Loops
from taedagen.emit.body.scopes import declared_at, targets
from taedagen.emit.body.values import (
    PARAMETERS,
    Value,
    annotated,
    convert,
    fits,
    is_list,
    is_tuple,
    join,
    local_type,
    parts_of,
    result_text,
    unwrapped,
)
from taedagen.opdef.words import Word

if TYPE_CHECKING:
    from taedagen.emit.body.unit import Unit


class Body(Loops, Expressions):
    """One function. Types of variables are found by translating until none changes."""

    def __init__(self, unit: Unit, function: types.FunctionType, tree: ast.FunctionDef, file: str,
                 parameters: Mapping[str, Value], result: str | None) -> None:  # fmt: skip
        self.unit, self.function, self.file = unit, function, file
        self.result = result  # None: found from what is returned
        self.parameters = dict(parameters)
        self.statements = [s for s in tree.body if not _is_docstring(s)]
        self.sites = declared_at(self.statements)
        self.types: dict[str, str] = {}
        self.loop_scopes: list[dict[str, Value]] = []
        self.before: list[str] | None = []
        self.lists = 0

    # --- the whole
    def lines(self) -> list[str]:
        """The statements of the C++ function."""
        known = self.result
        for _ in range(8):
            before = (dict(self.types), self.result)
            self.lists = 0
            self.result = known if known is not None else self.result
            text = [*self._copies(), *self._block(self.statements)]
            if before == (self.types, self.result):
                return text
        raise self.fail(self.statements[0], "the types of its variables do not settle")

    def _copies(self) -> list[str]:
        """Variables for those parameters that are assigned to and are only lent."""
        lines = []
        for name, value in self.parameters.items():
            if name in self.sites and _is_lent(value.type):
                self.types[name] = join(self.types.get(name, value.type), value.type) or value.type
                lines.append(f"{local_type(self.types[name])} {_own(name)} = {result_text(value, self.types[name])};")
        return lines

    def variable(self, name: str) -> Value | None:
        for scope in reversed(self.loop_scopes):
            if name in scope:
                return scope[name]
        if name in self.parameters and not (name in self.sites and _is_lent(self.parameters[name].type)):
            return self.parameters[name]
        if name in self.types:
            text = _own(name) if name in self.parameters else cpp.identifier(name)
            return Value(text, self.types[name], owned=is_list(self.types[name]))
        if name in self.sites:
            return Value(cpp.identifier(name), "None")
        return None

    # --- blocks
    def _block(self, body: list[ast.stmt]) -> list[str]:
        lines: list[str] = []
        for number, statement in enumerate(body):
            own = self._declared_by(statement)
            for name, site in self.sites.items():
                if site == (id(body), number) and name not in own and name != "_" and name not in self.parameters:
                    lines.append(self._declaration(name))
            lines += self._statement(statement, {n for n in own if self.sites[n] == (id(body), number)})
        return lines

    def _declared_by(self, statement: ast.stmt) -> set[str]:
        """The variables that an assignment may declare as it stands."""
        if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], (ast.Name, ast.Tuple)):
            return set()
        read = {n.id for n in ast.walk(statement.value) if isinstance(n, ast.Name)}
        return {n for n in targets(statement.targets[0]) if n not in read and n not in self.parameters}

    def _declaration(self, name: str) -> str:
        type_ = self.types.get(name, "int")
        start = {"int": " = 0", "float": " = 0", "bool": " = false", "ScalarType": " = DType::Undefined"}.get(type_, "")
        return f"{local_type(type_) if type_ not in ('None', '[]') else 'Tensor'} {cpp.identifier(name)}{start};"

    def _statement(self, statement: ast.stmt, declares: set[str]) -> list[str]:
        method: Callable[..., list[str]] | None = getattr(self, f"_on_{type(statement).__name__.lower()}", None)
        if method is None:
            raise self.fail(statement, f"a body has no '{type(statement).__name__.lower()}' statement")
        outer, self.before = self.before, []
        lines = method(statement, declares) if isinstance(statement, ast.Assign) else method(statement)
        lines, self.before = [*self.before, *lines], outer
        return lines

    def _note(self, node: ast.AST, name: str, type_: str) -> str:
        """The type of a variable, now that a value of ``type_`` is assigned to it."""
        known = self.parameters[name].type if name in self.parameters else None
        joined = join(self.types.get(name, known or type_), type_)
        if joined is None or (known is not None and not _is_lent(known) and joined != known):
            raise self.fail(node, f"'{name}' is {self.types.get(name, known)} and would become {type_}")
        if name not in self.parameters or _is_lent(str(known)):
            self.types[name] = joined
        return joined

    # --- assignments
    def _on_assign(self, node: ast.Assign, declares: set[str]) -> list[str]:
        if len(node.targets) > 1:
            raise self.fail(node, "one assignment at a time")
        target = node.targets[0]
        if isinstance(target, ast.Tuple):
            return self._unpack(node, target, declares)
        if isinstance(target, ast.Subscript):
            base, item = self.value(target.value), self.value(node.value)
            index = self._index(base, self.value(target.slice))
            return [f"{base.text}[{index}] = {unwrapped(item.text)};"]
        if not isinstance(target, ast.Name):
            raise self.fail(node, f"'{ast.unparse(target)}' cannot be assigned to")
        if isinstance(node.value, ast.ListComp) and target.id in declares:
            kind, lines = self.filled_list(node.value, cpp.identifier(target.id))
            self._note(node, target.id, kind)
            return lines
        return self._store(node, target.id, self.value(node.value), target.id in declares)

    def _on_annassign(self, node: ast.AnnAssign) -> list[str]:
        if node.value is None or not isinstance(node.target, ast.Name):
            raise self.fail(node, "a variable is declared with a value")
        type_ = annotated(ast.unparse(node.annotation))
        given = self.value(node.value)
        if given.type != "None" and not is_list(type_) and not fits(given, type_):
            raise self.fail(node, f"'{node.target.id}' is to be {type_}; got {given.type}")
        value = Value("{}" if is_list(type_) else convert(given, type_), type_)
        lines = self._store(node, node.target.id, value, False)
        return [] if is_list(type_) else lines

    def _store(self, node: ast.AST, name: str, value: Value, declares: bool) -> list[str]:
        if value.type == "void":
            raise self.fail(node, "a call in place gives no value here; write it as a statement of its own")
        type_ = self._note(node, name, value.type)
        if type_ in ("None", "[]"):
            return []  # its type is found further on
        text = unwrapped(result_text(value, type_))
        variable = self.variable(name)
        assert variable is not None
        return [f"{local_type(type_)} {variable.text} = {text};" if declares else f"{variable.text} = {text};"]

    def _unpack(self, node: ast.Assign, target: ast.Tuple, declares: set[str]) -> list[str]:
        if not all(isinstance(e, ast.Name) for e in target.elts):
            raise self.fail(node, "a tuple is unpacked into variables")
        names = [e.id for e in target.elts if isinstance(e, ast.Name)]
        value = self.value(node.value)
        if not is_tuple(value.type):
            raise self.fail(node, f"'{ast.unparse(node.value)}' is {value.type}, no tuple")
        kinds = parts_of(value.type)
        if len(kinds) != len(names):
            raise self.fail(node, f"{len(kinds)} values cannot go to {len(names)} variables")
        if value.items is not None:
            read = {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
            if not read & set(names):
                return [line for n, v in zip(names, value.items, strict=True) for line in
                        self._store(node, n, v, n in declares)]  # fmt: skip
            value = Value(f"{local_type(value.type)}{value.text}", value.type)
        for name, kind in zip(names, kinds, strict=True):
            if name != "_":
                self._note(node, name, kind)
        if "_" not in names and set(names) == declares and len(set(names)) == len(names) and all(
            self.types[n] == k for n, k in zip(names, kinds, strict=True)
        ):  # fmt: skip
            return [f"auto [{', '.join(map(cpp.identifier, names))}] = {value.text};"]
        self.lists += 1
        whole = f"results{self.lists}"
        parts = (Value(f"std::get<{i}>({whole})", kind) for i, kind in enumerate(kinds))
        stores = (self._store(node, n, p, n in declares) for n, p in zip(names, parts, strict=True) if n != "_")
        return [f"auto {whole} = {value.text};", *(line for store in stores for line in store)]

    def _on_augassign(self, node: ast.AugAssign) -> list[str]:
        target, value = self.value(node.target), self.value(node.value)
        if target.type == "Tensor":
            raise self.fail(node, "whether a tensor is written to or replaced is said plainly: x = x + y, x.add_(y)")
        if is_list(target.type) and isinstance(node.op, ast.Add):
            return [f"for (const auto& item : {value.text}) {target.text}.push_back(item);"]
        sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.BitOr: "|", ast.BitAnd: "&"}.get(type(node.op))
        if sign is None or not target.is_number or not value.is_number:
            raise self.fail(node, f"'{ast.unparse(node)}' is of {target.type} and {value.type}")
        return [f"{target.text} {sign}= {unwrapped(value.text)};"]

    # --- branches and loops
    def _on_if(self, node: ast.If) -> list[str]:
        test, body = unwrapped(self.truth(node.test)), self._block(node.body)
        if (
            not node.orelse
            and len(body) == 1
            and isinstance(node.body[0], (ast.Return, ast.Raise, ast.Expr, ast.Assign))
        ):
            return [f"if ({test}) {body[0]}"]
        lines = [f"if ({test}) {{", *_indented(body)]
        rest = self._block(node.orelse)
        if rest and len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If) and rest[0].startswith("if ("):
            return [*lines, f"}} else {rest[0]}", *rest[1:]]
        return [*lines, *(["} else {", *_indented(rest)] if rest else []), "}"]

    def _on_while(self, node: ast.While) -> list[str]:
        test = self._later(lambda: unwrapped(self.truth(node.test)))
        return [f"while ({test}) {{", *_indented(self._block(node.body)), "}"]

    def _on_for(self, node: ast.For) -> list[str]:
        return self.loop(node, node.target, node.iter, lambda: self._block(node.body))

    def _on_with(self, node: ast.With) -> list[str]:
        call = node.items[0].context_expr
        known = self.known(call.func) if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else None
        if not isinstance(known, Word) or known.name not in words.SCOPES:
            raise self.fail(node, f"with is for {sorted(words.SCOPES)}")
        return ["{", f"  {words.SCOPES[known.name]}", *_indented(self._block(node.body)), "}"]

    def _on_break(self, _: ast.Break) -> list[str]:
        return ["break;"]

    def _on_continue(self, _: ast.Continue) -> list[str]:
        return ["continue;"]

    def _on_pass(self, _: ast.Pass) -> list[str]:
        return []

    # --- results, errors, calls
    def _on_return(self, node: ast.Return) -> list[str]:
        if node.value is None:
            return ["return;"]
        if isinstance(node.value, ast.ListComp) and self.result != "void":
            kind, lines = self.filled_list(node.value, "result")
            self._returns(node, kind)
            return [*lines, "return result;"]
        value = self.value(node.value)
        if self.result == "void":
            return [f"{value.text};", "return;"] if value.type == "void" else ["return;"]
        if value.type == "void":
            raise self.fail(node, "a call in place gives no value here; return the tensor after it")
        wanted = self._returns(node, value.type)
        return [f"return {unwrapped(result_text(value, wanted))};"]

    def _returns(self, node: ast.AST, type_: str) -> str:
        if self.unit.is_helper(self):
            joined = type_ if self.result is None else join(self.result, type_)
            if joined is None:
                raise self.fail(node, f"it returns {self.result} and {type_}")
            self.result = joined
            return joined
        wanted = str(self.result)
        if join(wanted, type_) != wanted and not fits(Value("", type_.removesuffix("?")), wanted):
            raise self.fail(node, f"it returns {type_}, but the schema says {wanted}")
        return wanted

    def _on_raise(self, node: ast.Raise) -> list[str]:
        call = node.exc
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id not in words.ERRORS:
            raise self.fail(node, f"raise one of {sorted(words.ERRORS)} with a message")
        return [f"TAEDA_FAIL({words.ERRORS[call.func.id]}, {self._message(call.args[0])});"]

    def _on_expr(self, node: ast.Expr) -> list[str]:
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and self.variable(call.func.id) is None:
            known = self.known(call.func)
            if isinstance(known, Word) and known.name == "check":
                return [self._check(call)]
            if isinstance(known, Word) and known.name == "warn":
                return [f"warn(str({self._message(call.args[0])}));"]
            if isinstance(known, Word) and known.name == "alert_open_result":
                return [f"alert_open_result({self._message(call.args[0])});"]
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr in ("append", "insert")
        ):
            self._found_list(call, call.func)
        return [f"{unwrapped(self.value(call).text)};"]

    def _found_list(self, call: ast.Call, func: ast.Attribute) -> None:
        """What is appended tells the type of an empty list."""
        if isinstance(func.value, ast.Name) and self.types.get(func.value.id) in ("[]", None):
            self._note(call, func.value.id, f"{self.value(call.args[-1]).type}[]")

    def _check(self, call: ast.Call) -> str:
        kind = "RuntimeError"
        for given in [*call.args[2:], *(k.value for k in call.keywords)]:
            kind = given.id if isinstance(given, ast.Name) else ""
        if kind not in words.ERRORS:
            raise self.fail(call, f"check raises one of {sorted(words.ERRORS)}")
        named = {"Runtime": "", "Value": "_VALUE", "Type": "_TYPE", "Index": "_INDEX"}
        macro = words.ERRORS[kind]
        start = f"TAEDA_CHECK{named[macro]}(" if macro in named else f"TAEDA_CHECK_KIND({macro}, "
        condition = unwrapped(self.truth(call.args[0]))
        return f"{start}{condition}, {self._later(lambda: self._message(call.args[1]))});"

    def _message(self, node: ast.expr) -> str:
        """The parts of a message, with commas between."""
        if not isinstance(node, ast.JoinedStr):
            return self.value(node).text
        parts: list[str] = []
        for item in node.values:
            if isinstance(item, ast.Constant):
                parts.append(str(item.value))
            elif isinstance(item, ast.FormattedValue):
                value = self.value(item.value)
                if value.type in ("Tensor", "void", "None") or is_tuple(value.type):
                    raise self.fail(node, f"a message cannot show {value.type}")
                text = f"*{value.text}" if value.type.endswith("?") else unwrapped(value.text)
                text = f"IntList({text})" if value.type == "int[]" and not value.owned else text
                quoted = item.conversion == ord("r") and value.type.startswith("str")
                parts += ["'", (text,), "'"] if quoted else [(text,)]  # type: ignore[list-item]
        merged: list[Any] = []
        for part in parts:
            if isinstance(part, str) and merged and isinstance(merged[-1], str):
                merged[-1] += part
            else:
                merged.append(part)
        return ", ".join(cpp.string(p) if isinstance(p, str) else p[0] for p in merged)


def _is_lent(type_: str) -> bool:
    return PARAMETERS.get(type_, "").endswith("&") or is_list(type_)


def _own(name: str) -> str:
    """The variable of a parameter that is assigned to."""
    return f"{name}_now"


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]
