"""Where the functions are that a call runs through: the generated tree and what ``ops.json`` says of the rest."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from taedagen.emit.sources import Definition

_GENERATED = Path(__file__).parents[1] / "generated"
_ISA_FOLDERS = {"AVX512": "avx512", "AVX2": "avx2"}


@functools.cache
def ops_table() -> dict[str, dict[str, Any]]:
    """``generated/ops.json``: facts of each op by ``name.overload``."""
    from taedagen.emit.table import read_table

    for path in (_GENERATED / "ops.json", _GENERATED / "taeda" / "generated" / "ops.json"):
        if path.exists():
            return read_table(path.read_text())
    raise RuntimeError(f"taeda.explain: {_GENERATED / 'ops.json'} is missing; the installation is incomplete")


@functools.cache
def _definitions(folder: str, family: str) -> list[Definition]:
    """In the family's file of a folder, and in those with its other parts: ``binary.cpp``, ``binary_1.cpp``."""
    from taedagen.emit.sources import scan

    place = _GENERATED / "csrc" / folder
    paths = [p for p in (place / f"{family}.cpp", *sorted(place.glob(f"{family}_[0-9]*.cpp"))) if p.exists()]
    return [definition for path in paths for definition in scan(path, f"taeda/generated/csrc/{folder}/{path.name}")]


def find(symbol: str, types: list[str], families: str | tuple[str, ...], folder: str) -> Definition | None:
    """The generated function of that name and those parameter types, in a folder's file for one of the families."""
    for family in [families] if isinstance(families, str) else families:
        for definition in _definitions(folder, family):
            if definition.symbol == symbol and list(definition.types) == types:
                return definition
    return None


def binding_location(symbol: str, family: str) -> str:
    """Of the straight path of a Python name."""
    found = find(f"python::bound::{symbol}", ["PyObject* const*", "Py_ssize_t"], family, "python/ops")
    return found.at if found else ""


def kernel_definition(symbol: str, entry: dict[str, Any]) -> Definition | None:
    """Of a generated kernel or layer, in whichever file its kind puts it."""
    from taedagen.emit.plan import layer_folder
    from taedagen.emit.table import argument_types

    layer = symbol.partition("::")[0]
    types, family = argument_types(entry), entry["family"]
    if layer in ("autograd", "inplace_or_view", "autocast"):
        types = ["KeySet", *types]
    return find(symbol, types, family, layer_folder(layer))


def _read(definition: Definition) -> tuple[list[str], str]:
    """The lines of a function's file, and the function."""
    source = (_GENERATED / definition.file.removeprefix("taeda/generated/")).read_text().splitlines()
    return source, "\n".join(source[definition.line - 1 : definition.line + 40]).partition("\n}")[0]


def loop_location(entry: dict[str, Any], definition: Definition, dtype: str) -> tuple[str, str] | None:
    """What a generated CPU kernel runs for a dtype: the formula's loop in the instruction set of this machine."""
    source, body = _read(definition)
    suffix = "_reduction" if entry["kind"] == "reduction" else ""
    table = _table_name(body, source)
    return _loop_location(table, f"csrc/backend/cpu/ops/{entry['family']}{suffix}_loops.h", dtype) if table else None


def gradient_locations(entry: dict[str, Any], recording: Definition, dtype: str) -> list[tuple[str, str]]:
    """The loops that make gradients in one pass: those that the node of a function of the autograd layer names."""
    source, body = _read(recording)
    node = re.search(r"make_node<(\w+)>", body)
    text = "\n".join(source).partition(f"struct {node[1]} final")[2].partition("\n};")[0] if node else ""
    header = f"csrc/backend/cpu/ops/{entry['family']}_gradients_loops.h"
    locations = [
        _loop_location(f"k_{kernel}_loops", header, dtype) for kernel in re.findall(r"fused::run\(fused::(\w+)", text)
    ]
    return [found for found in locations if found]


def _loop_location(table: str, header: str, dtype: str) -> tuple[str, str] | None:
    """The entry for a dtype of a table of loops."""
    from taeda import _C

    path = _GENERATED / header
    if not path.exists():
        return None
    lines = path.read_text().splitlines()
    at = next((i for i, line in enumerate(lines) if f" {table}[] = {{" in line), None)
    if at is None:
        return None
    from taedagen.emit.variants import COMPUTES

    c_type = next(c_type for dtypes, c_type in COMPUTES.values() if dtype in dtypes)
    isa = _ISA_FOLDERS.get(_C._get_cpu_capability(), "baseline")
    shown, line = _loop_of(lines, at, c_type)
    widened = f", {dtype} widened in blocks" if dtype in ("float16", "bfloat16") else ""
    return f"cpu::{isa}::{shown or table}{widened}", f"taeda/generated/{header}:{line + 1}"


def _table_name(body: str, source: list[str]) -> str | None:
    """The loops that the kernel's constant (``k_add_Tensor``) points to."""
    constant = re.search(r"\bk_\w+", body)
    if not constant:
        return None
    declared = re.compile(rf"constexpr \w+ {constant[0]}\b[^;]*TAEDA_ISA_TABLES\((\w+)\)")
    found = declared.search("\n".join(source))
    return found[1] if found else None


def _loop_of(lines: list[str], at: int, c_type: str) -> tuple[str, int]:
    """The table's entry for a C++ type and the line of its formula."""
    end = next(i for i in range(at, len(lines)) if lines[i].rstrip().endswith("};"))
    entries = re.findall(r"loop<(\w+), ((?:[^<>]|<[^<>]*>)+)>", "\n".join(lines[at : end + 1]))
    for functor, type_ in entries:
        if type_ == c_type:
            line = next((i for i, text in enumerate(lines) if text.startswith(f"struct {functor} ")), at)
            return f"loop<{functor}, {type_}>", line
    return "", at
