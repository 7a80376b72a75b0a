"""Loops, and lists and truths that are made by one."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from taedagen.emit import cpp
from taedagen.emit.body.values import LOCALS, PARAMETERS, Value, convert, element, is_list, is_tuple, unwrapped

if TYPE_CHECKING:
    from taedagen.emit.body.expressions import Expressions as Base
else:
    Base = object


class Loops(Base):
    """The part of a body's translation that deals with loops."""

    loop_scopes: list[dict[str, Value]]
    lists: int

    def loop(self, node: ast.AST, target: ast.expr, over: ast.expr, body: Callable[[], list[str]]) -> list[str]:
        """``for target in over``, around what ``body`` gives with the target known."""
        if isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and self.variable(over.func.id) is None:
            special = getattr(self, f"_loop_{over.func.id}", None)
            if special is not None:
                return special(node, target, over, body)  # type: ignore[no-any-return]
        items = self.value(over)
        if items.items is not None and any(is_tuple(i.type) for i in items.items):
            return [line for item in items.items for line in self._once(node, target, item, body)]
        if isinstance(target, ast.Name) and items.items is not None:
            kind = items.items[0].type
            listed = ", ".join(unwrapped(i.text) for i in items.items)
            written = f"std::initializer_list<{LOCALS[kind]}>{{{listed}}}"
            header = f"for ({PARAMETERS[kind]} {cpp.identifier(target.id)} : {written}) {{"
        elif isinstance(target, ast.Name) and is_list(items.type):
            kind = element(items.type)
            header = f"for ({PARAMETERS[kind]} {cpp.identifier(target.id)} : {items.text}) {{"
        else:
            raise self.fail(node, f"a loop runs over a range or a list; '{ast.unparse(over)}' is {items.type}")
        return self._around(header, [], {target.id: Value(cpp.identifier(target.id), kind)}, body)

    def _around(
        self, header: str, start: list[str], scope: dict[str, Value], body: Callable[[], list[str]]
    ) -> list[str]:
        self.loop_scopes.append(scope)
        outer, self.before = self.before, []
        inside = body()
        lines = [header, *(f"  {line}" for line in [*start, *self.before, *inside]), "}"]
        self.before = outer
        self.loop_scopes.pop()
        return lines

    def _once(self, node: ast.AST, target: ast.expr, item: Value, body: Callable[[], list[str]]) -> list[str]:
        """One turn of a loop over tuples that are written out."""
        if not isinstance(target, ast.Tuple) or item.items is None or len(item.items) != len(target.elts):
            raise self.fail(node, "a loop over tuples names each of their items")
        scope = {e.id: v for e, v in zip(target.elts, item.items, strict=True) if isinstance(e, ast.Name)}
        return self._around("{", [], scope, body)

    def _loop_range(self, node: ast.AST, target: ast.expr, over: ast.Call, body: Callable[[], list[str]]) -> list[str]:
        if not isinstance(target, ast.Name):
            raise self.fail(node, "a range has one variable")
        numbers = [self.value(a) for a in over.args]
        texts = [unwrapped(convert(n, "int")) for n in numbers]
        start, end = ("0", texts[0]) if len(texts) == 1 else texts[:2]
        step = numbers[2].constant if len(texts) == 3 else 1
        if not isinstance(step, int):
            raise self.fail(node, "the step of a range is a number")
        name = cpp.identifier(target.id)
        is_fixed = end.endswith(".dim()") or end.replace("_", "").replace("-", "").isalnum()
        bound = "" if is_fixed else f", {name}_end = {end}"
        sign, turn = ("<", f"++{name}") if step == 1 else (">", f"--{name}") if step == -1 else (
            "<" if step > 0 else ">", f"{name} += {step}")  # fmt: skip
        header = f"for (int64_t {name} = {start}{bound}; {name} {sign} {end if is_fixed else f'{name}_end'}; {turn}) {{"
        return self._around(header, [], {target.id: Value(name, "int")}, body)

    def _named_list(self, value: Value) -> str:
        """A list that a loop indexes: a name for it, unless it has one."""
        if value.text.replace("_", "").replace(".sizes()", "").isalnum():
            return value.text
        if self.before is None:
            raise self.fail(ast.Pass(), "a loop over several lists stands in a statement of its own")
        self.lists += 1
        self.before.append(f"const auto& list{self.lists} = {convert(value, value.type)};")
        return f"list{self.lists}"

    def _loop_enumerate(self, node: ast.AST, target: ast.expr, over: ast.Call,
                        body: Callable[[], list[str]]) -> list[str]:  # fmt: skip
        if not isinstance(target, ast.Tuple) or not all(isinstance(e, ast.Name) for e in target.elts):
            raise self.fail(node, "enumerate has two variables")
        number, name = (e.id for e in target.elts if isinstance(e, ast.Name))
        return self._indexed([name], [over.args[0]], number, body)

    def _loop_zip(self, node: ast.AST, target: ast.expr, over: ast.Call, body: Callable[[], list[str]]) -> list[str]:
        if not isinstance(target, ast.Tuple) or len(target.elts) != len(over.args):
            raise self.fail(node, "zip has a variable for each list")
        names = [e.id for e in target.elts if isinstance(e, ast.Name)]
        return self._indexed(names, over.args, "", body)

    def _indexed(
        self, names: list[str], lists: list[ast.expr], number: str, body: Callable[[], list[str]]
    ) -> list[str]:
        """All the lists at once, by a number."""
        values = [self.value(v) for v in lists]
        texts = [self._named_list(v) for v in values]
        at = cpp.identifier(number) if number else "at" + str(len(self.loop_scopes) or "")
        end = f"std::ssize({texts[0]})"
        if len(texts) > 1:
            end = f"std::min({{{', '.join(f'std::ssize({t})' for t in texts)}}})"
        scope = {number: Value(at, "int")} if number else {}
        start = []
        for name, text, value in zip(names, texts, values, strict=True):
            kind = element(value.type)
            start.append(f"{PARAMETERS[kind]} {cpp.identifier(name)} = {text}[{at}];")
            scope[name] = Value(cpp.identifier(name), kind)
        header = f"for (int64_t {at} = 0; {at} < {end}; ++{at}) {{"
        return self._around(header, start, scope, body)

    # --- lists
    def filled_list(self, node: ast.ListComp, name: str) -> tuple[str, list[str]]:
        """The type of a list that a comprehension makes, and the statements that make it as ``name``."""
        if len(node.generators) != 1:
            raise self.fail(node, "a comprehension has one loop")
        generator, found = node.generators[0], []

        def push() -> list[str]:
            tests = [self.truth(test) for test in generator.ifs]
            item = self.value(node.elt)
            found.append("int" if item.type == "bool" else item.type)
            line = f"{name}.push_back({unwrapped(item.text)});"
            return [f"if ({unwrapped(' && '.join(tests))}) {line}" if tests else line]

        lines = self.loop(node, generator.target, generator.iter, push)
        kind = f"{found[0]}[]"
        if kind not in LOCALS:
            raise self.fail(node, f"there are no lists of {found[0]}")
        counted = self._first_list(generator.iter) if kind != "int[]" and not generator.ifs else None
        reserve = [f"{name}.reserve({counted}.size());"] if counted else []
        return kind, [f"{LOCALS[kind]} {name};", *reserve, *lines]

    def _first_list(self, over: ast.expr) -> str | None:
        """The list whose length a loop's is, if it has a name."""
        if isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id in ("zip", "enumerate"):
            over = over.args[0]
        return self.value(over).text if isinstance(over, ast.Name) else None

    def comprehension(self, node: ast.ListComp) -> Value:
        if self.before is None:  # where it is evaluated on a condition only
            self.before = []
            kind, lines = self.filled_list(node, "made")
            lines, self.before = [*self.before, *lines], None
            return Value(f"[&] {{ {' '.join(line.strip() for line in lines)} return made; }}()", kind, owned=True)
        self.lists += 1
        name = f"list{self.lists}"
        kind, lines = self.filled_list(node, name)
        self.before += lines
        return Value(name, kind, owned=True)

    def _quantified(self, node: ast.Call, name: str) -> Value:
        """any(...) and all(...) of a condition for each item."""
        made = node.args[0]
        if not isinstance(made, ast.GeneratorExp) or len(made.generators) != 1:
            raise self.fail(
                node, f"{name} takes one condition for each item of a list: {name}(t.dim() > 1 for t in list)"
            )
        generator = made.generators[0]
        found = "true" if name == "any" else "false"

        def test() -> list[str]:
            tests = [self.truth(t) for t in generator.ifs]
            condition = self.truth(made.elt) if name == "any" else f"!({unwrapped(self.truth(made.elt))})"
            return [f"if ({unwrapped(' && '.join([*tests, condition]))}) return {found};"]

        outer, self.before = self.before, []
        lines = self.loop(node, generator.target, generator.iter, test)
        lines, self.before = [*self.before, *lines], outer
        text = " ".join(line.strip() for line in lines)
        return Value(f"[&] {{ {text} return {'false' if name == 'any' else 'true'}; }}()", "bool")
