"""``ops.json``: every op with its schema, kernels and places, for tools; ``locations.json``: generated functions, and
``natives.json``: Python's functions that people wrote in C++, for ``explain``."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from taedagen.emit import cpp
from taedagen.emit.autograd.analysis import derivatives_of
from taedagen.emit.bindings import operator_names
from taedagen.emit.locations import Locations
from taedagen.emit.plan import Plan
from taedagen.emit.reductions import reduction_of
from taedagen.emit.sources import HAND_WRITTEN, Definition, scan_all, scan_natives
from taedagen.opdef.declaration import ALL, LAYOUTS, Op, layout_layer

ROOT = Path(__file__).resolve().parents[2]


def emit_table(plan: Plan, locations: Locations, root: Path = ROOT) -> dict[str, str]:
    """``{"add.Tensor": {"schema": ..., "kind": ..., "kernels": ..., ...}}`` in the order of declaration, one a line.

    Kernels go by their backend, or by their kind where they serve all backends; ``by_hand`` says where those that
    people wrote are defined in the repository below ``root``, which an installed package has no copy of. ``dtypes`` is
    absent from an op that takes all; ``read_table`` fills in what else is left out for the file's size.
    """
    written = scan_all(root, [f"csrc/{folder}" for folder in HAND_WRITTEN])
    table = {op.schema.full_name: _entry(plan, op, written, root) for family in plan.families for op in family.ops}
    lines = (f"{json.dumps(name)}:{json.dumps(entry, separators=(',', ':'))}" for name, entry in table.items())
    files = {"locations.json": _locations(plan, locations), "ops.json": "{\n" + ",\n".join(lines) + "\n}\n"}
    files["natives.json"] = json.dumps(scan_natives(root), indent=0) + "\n"
    files["left_out.txt"] = "".join(f"{name}\n" for name in sorted({op.schema.name for op in plan.left_out}))
    return files


def _locations(plan: Plan, locations: Locations) -> str:
    """Where the generated functions of each op are, what those made of ops call, and which loops the CPU's run; which
    op an operator of Python is."""
    known: dict[str, Any] = {}
    for family in plan.families:
        derivatives = derivatives_of(plan, family)
        for op in family.ops:
            entry: dict[str, Any] = {"at": locations.functions.get(op.schema.full_name, {})}
            entry |= {"calls": calls} if (calls := locations.calls.get(op.schema.full_name)) else {}
            entry |= {"loops": _kernel_name(op)} if op.declaration.kind in ("pointwise", "reduction") else {}
            fused = derivatives[op].fused if op in derivatives else []
            entry |= {"gradients": [cpp.constant_name(kernel.declaration) for kernel in fused]} if fused else {}
            known[op.schema.full_name] = entry
    lines = [f"{json.dumps(name)}:{json.dumps(entry, separators=(',', ':'))}" for name, entry in known.items()]
    ops = "{\n" + ",\n".join(lines) + "\n}"
    tables = {"loops": locations.loops, "operators": operator_names()}
    rest = ",\n".join(
        f"{json.dumps(name)}:{json.dumps(table, separators=(',', ':'))}" for name, table in tables.items()
    )
    return f'{{"ops":{ops},\n{rest}}}\n'


def _kernel_name(op: Op) -> str:
    """Of the kernel whose loops compute a pointwise op or a reduction."""
    declaration = op.declaration
    return cpp.constant_name(
        (reduction_of(declaration).twin if declaration.kind == "reduction" else None) or declaration
    )


def read_table(text: str) -> dict[str, dict[str, Any]]:
    """The facts of each op from the text of ``ops.json``."""
    table = json.loads(text)
    for full_name, entry in table.items():
        entry["name"] = full_name
        entry["schema"] = full_name + entry["schema"]
        entry.setdefault("variant", "functional")
        entry.setdefault("module", "")
        for place in ("declared", "derivative_at"):
            if entry.get(place, "").startswith(":"):
                entry[place] = _family_file(entry["family"]) + entry[place]
        name = re.split(r"[.(]", entry["schema"], maxsplit=1)[0] + ("_out" if entry["variant"] == "out" else "")
        if isinstance(entry["kernels"], str):
            entry["kernels"] = dict.fromkeys(entry["kernels"].split(), "")
        for layer, symbol in entry["kernels"].items():
            entry["kernels"][layer] = symbol or f"{_space(layer)}::{name}"
        for layer, place in entry.get("by_hand", {}).items():
            place.setdefault("symbol", entry["kernels"][layer])
            if place.get("switch", "").startswith(":"):
                place["switch"] = place["at"].partition(":")[0] + place["switch"]
    return table  # type: ignore[no-any-return]


def _family_file(family: str) -> str:
    return f"taedagen/ops/{family}.py"


def _entry(plan: Plan, op: Op, written: dict[str, list[Definition]], root: Path) -> dict[str, Any]:
    declaration = op.declaration
    kernels = plan.kernels(op)
    symbols = {k.key: "" if k.symbol == f"{_space(k.key)}::{op.cpp_name}" else k.symbol for k in kernels}
    entry: dict[str, Any] = {
        "schema": str(op.schema).removeprefix(op.schema.full_name),
        "kind": declaration.kind,
        **({"variant": op.variant} if op.variant != "functional" else {}),
        "family": declaration.family,
        **({"module": declaration.module} if declaration.module else {}),
        "declared": _short(declaration.where, declaration.family),
        "kernels": symbols if any(symbols.values()) else " ".join(symbols),
    }
    if not set(ALL) <= set(declaration.supported):
        entry["dtypes"] = " ".join(declaration.supported)
    if declaration.derivative_where:
        entry["derivative_at"] = _short(declaration.derivative_where, declaration.family)
    by_hand = {}
    for kernel in kernels:
        found = None if kernel.takes_keys else _hand_written(op, kernel.symbol, written)
        file = f"csrc/composite/{declaration.options.get('files')}.cpp"
        if found:
            by_hand[kernel.key] = _place(found, kernel.symbol)
        elif kernel.symbol.startswith("composite::") and (root / file).exists():
            by_hand[kernel.key] = {"at": file}  # a macro made its name
    if by_hand:
        entry["by_hand"] = by_hand
    return entry


def _space(key: str) -> str:
    """The C++ namespace of a kernel: ``inplace_or_view`` of ``InplaceOrView``, ``sparse_cpu`` of ``SparseCPU``."""
    for functionality, prefix in sorted(LAYOUTS.items(), key=lambda item: -len(item[1])):
        if key.startswith(prefix):
            return "_".join(filter(None, (layout_layer(functionality), key.removeprefix(prefix).lower())))
    return key.lower() if key.isupper() else layout_layer(key)


def _short(where: tuple[str, int], family: str) -> str:
    return f"{where[0]}:{where[1]}".removeprefix(_family_file(family))


def _hand_written(op: Op, symbol: str, written: dict[str, list[Definition]]) -> Definition | None:
    """The function that ``symbol`` is or, where results are made by a shape rule, the one that fills them."""
    own = tuple(cpp.cpp_type(a.type) for a in op.schema.arguments)
    declaration = op.declaration
    outs = (
        ["TensorList"]
        if any(r.type.is_list for r in declaration.schema.returns)
        else ["const Tensor&"] * len(declaration.out_names)
    )
    filled = (*(cpp.cpp_type(a.type) for a in op.inputs), *outs)
    space = symbol.partition("::")[0]
    plain = f"{space}::{declaration.name}"
    wanted = ((symbol, own), (plain, filled), (plain, own))
    # By its exact types; else, since sources may use shorter names for them, by their number; else by its name.
    for name, types in wanted:
        for definition in written.get(name, []):
            if definition.types == types:
                return definition
    for name, types in wanted:
        for definition in written.get(name, []):
            if len(definition.types) == len(types) and not definition.by_macro:
                return definition
    short = declaration.name.removeprefix("_foreach_").removeprefix("_fused_").rstrip("_")
    candidates = [d for name in (symbol, plain, f"{space}::{short}") for d in written.get(name, [])]
    return next((d for d in candidates if d.by_macro), candidates[0] if candidates and _is_hand_written(op) else None)


def _is_hand_written(op: Op) -> bool:
    """Whether a person wrote what computes it, be it that the parameters are a macro's."""
    declaration = op.declaration
    return declaration.kind == "kernel" or "files" in declaration.options


def _place(definition: Definition, kernel: str) -> dict[str, Any]:
    place: dict[str, Any] = {"at": definition.at}
    if definition.symbol != kernel:
        place["symbol"] = definition.symbol
    if definition.switch_line:
        place["switch"] = f":{definition.switch_line}"
    if definition.calls:
        place["calls"] = definition.calls
    return place
