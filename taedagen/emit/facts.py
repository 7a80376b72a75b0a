"""What ``taeda`` reads of declarations at run time: the rule of ``vmap`` for each op, and flop formulas.

``generated/batching.txt`` has lines ``name.overload file.rule option=value flag``, ``generated/flops.txt`` lines
``name lambda``.
"""

from __future__ import annotations

import ast
import difflib
from functools import cache
from pathlib import Path

from taedagen.emit.plan import Plan
from taedagen.opdef.declaration import Declaration, Op

RULES = Path(__file__).resolve().parents[2] / "taeda" / "func" / "_batched"
_DIMS = {"dim", "dims", "dim0", "dim1", "dim2", "dimension"}


def emit_facts(plan: Plan) -> dict[str, str]:
    batching, flops = [], {}
    for op in (op for family in plan.families for op in family.ops):
        rule = _rule(op)
        if rule:
            batching.append(f"{op.schema.full_name} {rule}\n")
        if "flops" in op.declaration.options:
            flops[op.declaration.name] = _formula(op.declaration)
    return {
        "taeda/generated/batching.txt": "".join(batching),
        "taeda/generated/flops.txt": "".join(f"{name} {formula}\n" for name, formula in flops.items()),
    }


# --- rules of vmap


@cache
def known_rules() -> dict[str, tuple[str, set[str]]]:
    """By name the file of a rule, and its keyword-only parameters: public functions ``(batch, op, ...)``."""
    found = {}
    for path in sorted(RULES.glob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
                continue
            if [a.arg for a in node.args.args[:2]] == ["batch", "op"]:
                found[node.name] = path.stem, {a.arg for a in node.args.kwonlyargs}
    return found


def _rule(op: Op) -> str | None:
    """The rule and its options; None where the kind of op tells it. With ``out=`` nothing is batched, and what
    follows ``inplace`` of a functional declaration only if it says so."""
    declaration = op.declaration
    said = declaration.options.get("batch") or _of_kind(declaration)
    if not said or op.variant == "out":
        return None
    name, *options = said.split()
    if op.schema.name != declaration.name and "inplace" not in options:
        return None
    if name not in known_rules():
        raise declaration.fail(f"the batching rule '{name}' is no function in taeda/func/_batched{_near(name)}")
    file, taken = known_rules()[name]
    options = [option for option in options if option != "inplace"]
    unknown = {option.partition("=")[0] for option in options} - (taken - set(declaration.schema.names))
    if unknown:
        raise declaration.fail(f"the batching rule '{name}' takes {sorted(taken)}; got {sorted(unknown)}")
    return " ".join([f"{file}.{name}", *options])


def _of_kind(declaration: Declaration) -> str:
    """A view that names dimensions is the same view of the batch, with dimensions that count from behind it."""
    return "by_dims" if declaration.kind == "view" and _DIMS & set(declaration.schema.names) else ""


def _near(name: str) -> str:
    close = difflib.get_close_matches(name, known_rules(), 1)
    return f"; did you mean '{close[0]}'?" if close else f"; there are {', '.join(sorted(known_rules()))}"


# --- flops


def _formula(declaration: Declaration) -> str:
    """A function for ``taeda.utils.flop_counter``: ``lambda self, mat2, *_, out_shape=None, **__: ...``."""
    text = declaration.options["flops"]
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError as wrong:
        raise declaration.fail(f"flops='{text}': {wrong.msg}") from None
    given = [a.name for a in declaration.schema.arguments if a.default is None and not a.keyword_only]
    names = [n for n in ast.walk(tree) if isinstance(n, ast.Name)]
    unknown = {n.id for n in names} - {*given, "result", "prod"}
    if unknown:
        raise declaration.fail(
            f"flops='{text}' names {sorted(unknown)}; there are the shapes of {[*given, 'result']}, and prod"
        )
    for name in names:
        name.id = "out_shape" if name.id == "result" else name.id
    return f"lambda {', '.join([*given, '*_', 'out_shape=None', '**__'])}: {ast.unparse(tree)}"
