"""One Markdown page per family: signatures, documentation, formula and derivative of each op."""

from __future__ import annotations

import inspect

from taedagen.emit.cpp_api.functions import heads
from taedagen.emit.plan import Family, Plan
from taedagen.opdef.declaration import Declaration


def emit_docs(plan: Plan) -> dict[str, str]:
    return {f"docs/{family.name}.md": _page(family) for family in plan.families}


def _page(family: Family) -> str:
    parts = [f"# {family.name}", "", f"Made from `{family.source}`.", ""]
    for declaration in family.declarations:
        parts += _section(declaration)
    return "\n".join(parts)


def _section(declaration: Declaration) -> list[str]:
    lines = [f"## {declaration.schema.full_name}", "", "```", *(str(op.schema) for op in declaration.ops()), "```", "",
             declaration.doc, "", f"dtypes: {', '.join(declaration.supported)}", ""]  # fmt: skip
    shown = declaration.schema.namespace == "aten" and not declaration.schema.takes_objects
    in_cpp = [head for op in declaration.ops() if shown for head in heads(op)]
    if in_cpp:
        lines += ["In C++:", "", "```cpp", *in_cpp, "```", ""]
    for title, function in (("Formula", declaration.function), ("Derivative", declaration.derivative)):
        if function is None or (title == "Formula" and declaration.kind not in ("pointwise", "reduction")):
            continue
        lines += [f"{title}:", "", "```python", inspect.getsource(function).rstrip(), "```", ""]
    return lines
