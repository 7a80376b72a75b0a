"""The op table and ``ops::``: per family ``taeda/ops/<family>.h`` and ``dispatch/ops/<family>.h``, ``.inc`` and
``.cpp``."""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

from taedagen.emit import cpp
from taedagen.emit.locations import function_mark
from taedagen.emit.plan import Family, Kernel, Plan
from taedagen.emit.sources import CALL
from taedagen.opdef.declaration import Op
from taedagen.opdef.schema import Argument

_HEADER = "// Made by taedagen from {sources}.\n"


def emit_dispatch(plan: Plan) -> dict[str, str]:
    """File name to text, relative to the output folder."""
    files: dict[str, str] = {}
    for family in plan.declared:
        files[f"include/taeda/ops/{family.name}.h"] = _api(plan, family)
    for family in plan.families:
        files[f"csrc/dispatch/ops/{family.name}.h"] = _table_header(family)
        files[f"csrc/dispatch/ops/{family.name}.inc"] = _table(plan, family)
        files[f"csrc/dispatch/ops/{family.name}.cpp"] = _functions(plan, family)
    files["include/taeda/ops.h"] = _lines(
        _HEADER.format(sources="all families"), "#pragma once",
        *(f'#include "taeda/ops/{family.name}.h"' for family in plan.declared),
    )  # fmt: skip
    files |= _signatures(plan)
    files["csrc/dispatch/families.cpp"] = _families(plan)
    if plan.left_out:
        files["csrc/dispatch/left_out.cpp"] = _left_out(plan)
    return files


def _lines(*parts: str) -> str:
    return "\n".join(parts) + "\n"


def _api(plan: Plan, family: Family) -> str:
    return _lines(
        _HEADER.format(sources=family.source), "#pragma once", '#include "taeda/ops/defaults.h"', "",
        *boxed_values(family.declared), "namespace taeda::ops {", "",
        *(_prototype(plan, op) for op in family.declared), "", "}  // namespace taeda::ops",
    )  # fmt: skip


def boxed_values(ops: Iterable[Op]) -> list[str]:
    """What declares the type of objects, where ops take or give any."""
    return ["namespace taeda {", "class Value;", "}"] * any("Value" in cpp.signature(op) for op in ops)


def _prototype(plan: Plan, op: Op) -> str:
    """With default arguments, which may be said only once in a unit."""
    arguments = op.schema.arguments
    first = cpp.optional_from(op, plan.ops_named(op.cpp_name))
    shown = ", ".join(filter(None, (cpp.parameters(arguments[:first]), cpp.parameters(arguments[first:], True))))
    return cpp.declaration(op, f"TAEDA_API {cpp.return_type(op)} {op.cpp_name}({shown})")


def prototypes(plan: Plan, body: list[str]) -> list[str]:
    """Declares the ops that ``body`` calls, and no others: a new op then changes nobody else's unit."""
    called = set(CALL.findall("\n".join(body)))
    found = [
        cpp.declaration(op, f"TAEDA_API {cpp.signature_of(op)}")
        for family in plan.known for op in family.declared if op.cpp_name in called
    ]  # fmt: skip
    value = ["class Value;"] * any("Value" in line for line in found)
    return [*value, "namespace ops {", *found, "}  // namespace ops"] if found else []


def _boxing(signatures: Iterable[str]) -> list[str]:
    """What includes the boxing of arguments and results."""
    boxed = any("Value" in signature or "std::vector<int64_t>" in signature for signature in signatures)
    return ['#include "taeda/dispatch/call.h"', *['#include "dispatch/boxed_arguments.h"'] * boxed]


def _table_header(family: Family) -> str:
    """The table, and a typed name for each of its entries."""
    signatures = sorted({cpp.signature(op) for op in family.ops})
    return _lines(
        _HEADER.format(sources=family.source), "#pragma once", *_boxing(signatures), "", "namespace taeda {",
        *(f"extern template struct Boxing<{signature}>;" for signature in signatures), "", "namespace table {",
        f"TAEDA_API extern const Op {family.name}[{len(family.ops)}];",
        *(f"constexpr TypedOp<{cpp.signature(op)}> {cpp.entry_name(op)}{{{family.name}[{i}]}};"
          for i, op in enumerate(family.ops)),
        "}  // namespace table", "}  // namespace taeda",
    )  # fmt: skip


def _table(plan: Plan, family: Family) -> str:
    """The constant data of the family's ops."""
    lines = [_HEADER.format(sources=family.source), "namespace {"]
    for op in family.ops:
        lines += _constants(plan, op)
    infos = [line for op in family.ops for line in _info(plan, op)]
    entries = ", ".join(f"Op({family.name}_infos[{i}])" for i in range(len(family.ops)))
    return _lines(
        *lines, f"const OpInfo {family.name}_infos[] = {{", *infos, "};",
        "}  // namespace", "", f"const Op table::{family.name}[] = {{{entries}}};",
    )  # fmt: skip


def _functions(plan: Plan, family: Family) -> str:
    includes = [f"taeda/ops/{family.name}.h", f"dispatch/ops/{family.name}.h", *plan.kernel_headers(family)]
    functions = [line for op in family.ops if plan.has_body(op) for line in (_function(op), "")]
    includes += ["taeda/core/sparse.h"] * any("sparse_keys(" in line for line in functions)
    return _lines(
        _HEADER.format(sources=family.source), *(f'#include "{name}"' for name in includes), "", "namespace taeda {",
        f'#include "dispatch/ops/{family.name}.inc"', "", "namespace ops {", "", *functions, "}  // namespace ops",
        "}  // namespace taeda",
    )  # fmt: skip


def _constants(plan: Plan, op: Op) -> list[str]:
    """The parameters and kernels of one op, as constant arrays."""
    entry = cpp.entry_name(op)
    lines = []
    if op.schema.arguments:
        lines += cpp.wrapped(f"constexpr Param {entry}_params[] = {{", map(_param, op.schema.arguments), "};")
    kernels = plan.kernels(op)
    if kernels:
        lines += [f"const StaticKernel {entry}_kernels[] = {{", *(_kernel(entry, k) for k in kernels), "};"]
    return [*lines, ""] if lines else []


def _kernel(entry: str, kernel: Kernel) -> str:
    if kernel.takes_keys:
        return f"    TAEDA_LAYER({kernel.functionality}, {entry}, {kernel.symbol}),"
    composite = kernel.functionality == "Composite"
    functionality = "kComposite" if composite else f"Functionality::{kernel.functionality}"
    device = f"DeviceType::{kernel.device}" if kernel.device else "kEveryDevice"
    return f"    TAEDA_KERNEL({functionality}, {device}, {entry}, {kernel.symbol}),"


def _param(argument: Argument) -> str:
    """A ``Param``, as far as it differs from the defaults of its fields."""
    type_ = argument.type
    base = "Any" if type_.is_class else cpp.ARG_TYPES.get(type_.base, type_.base)
    if type_.is_list and not type_.is_class:
        base = "OptTensorList" if type_.is_tensor and type_.optional_elements else f"{base}List"
    fields = {
        "name": cpp.string(argument.name),
        "type": f"ArgType::{base}",
        "default_text": None if argument.default is None else cpp.string(argument.default),
        "optional": "true" if type_.optional else None,
        "keyword_only": "true" if argument.keyword_only else None,
        "is_mutable": "true" if type_.is_mutable else None,
        "list_size": str(type_.list_size) if type_.list_size else None,
    }
    return f"{{{', '.join(f'.{name} = {value}' for name, value in fields.items() if value)}}}"


def _qualified(name: str) -> str:
    """With the namespace, that of aten too."""
    return name if "::" in name.partition("(")[0] else f"aten::{name}"


def _info(plan: Plan, op: Op) -> list[str]:
    declaration, entry = op.declaration, cpp.entry_name(op)
    kernels = plan.kernels(op)
    fields = {
        "name": f'"{_qualified(op.schema.name)}"',
        "overload": f'"{op.schema.overload}"',
        "schema": cpp.string(_qualified(str(op.schema))),
        "params": f"{entry}_params" if op.schema.arguments else "nullptr",
        "kernels": f"{entry}_kernels" if kernels else "nullptr",
        "signature": f"&decltype(table::{entry})::Boxing::signature",
        "file": cpp.string(declaration.where[0]),
        "line": str(declaration.where[1]),
        "param_count": str(len(op.schema.arguments)),
        "return_count": str(len(op.schema.returns)),
        "kernel_count": str(len(kernels)),
        "out_count": str(len(op.outs)),
        "returns_mutable": str(op.variant != "functional").lower(),
        "tags": " | ".join(plan.tags(op)) or "0",
    }
    return cpp.wrapped("    {", (f".{name} = {value}" for name, value in fields.items()), "},")


def _function(op: Op) -> str:
    """``ops::name``: the key set of the tensor arguments, then the table."""
    arguments = op.schema.arguments
    tensors = [cpp.identifier(a.name) for a in arguments if a.type.is_tensor]
    device = next((cpp.identifier(a.name) for a in arguments if a.type.base == "Device"), "std::nullopt")
    layout = next((f"sparse_keys({cpp.identifier(a.name)}) | " for a in arguments if a.type.base == "Layout"), "")
    keys = f"dispatch_keys({', '.join(tensors)})" if tensors else f"effective({layout}factory_keys({device}))"
    return _lines(
        cpp.place_comment(op.declaration),
        f"{function_mark(op, 'ops')}{cpp.signature_of(op)} {{",
        *(f"  prepare_write({name});" for name in _elements_written(op)),
        f"  return {cpp.call(op, keys)};",
        "}",
    ).rstrip()


def _elements_written(op: Op) -> list[str]:
    """The tensors whose elements the op declares to write; ops of geometry alone leave them as they are."""
    if op.declaration.options.get("geometry_only"):
        return []
    return [cpp.identifier(a.name) for a in op.schema.arguments if a.type.is_tensor and a.type.is_mutable]


def _left_out(plan: Plan) -> str:
    """``ops::name`` of the ops that the build leaves out, so that C++ written by hand still links."""
    lines = [
        _HEADER.format(sources="all families"), '#include "taeda/ops.h"', "", "namespace taeda::ops {", "namespace {",
        "",
        "[[noreturn]] void left_out(const char* name) {",
        "  TAEDA_FAIL(NotImplemented, \"this build leaves out '\", name, \"'; add it to the file of --select-ops\");",
        "}", "", "}  // namespace", "",
    ]  # fmt: skip
    for op in plan.left_out:
        types = ", ".join(cpp.cpp_type(a.type) for a in op.schema.arguments)
        result = cpp.return_type(op)
        lines.append(f'{result} {op.cpp_name}({types}) {{ left_out("{op.schema.name}"); }}')
    return _lines(*lines, "", "}  // namespace taeda::ops")


# A new signature should rebuild one of these and its own family alone; one unit for all took 49 s to compile.
_CHUNKS = 8


def _signatures(plan: Plan) -> dict[str, str]:
    """Each distinct signature's boxing and slow path, instantiated once; its bytes choose its file."""
    chunks: list[set[str]] = [set() for _ in range(_CHUNKS)]
    for family in plan.families:
        for op in family.ops:
            signature = cpp.signature(op)
            chunks[crc32(signature.encode()) % _CHUNKS].add(signature)
    return {
        f"csrc/dispatch/signatures_{i}.cpp": _lines(
            _HEADER.format(sources="all families"), *_boxing(chunk), "", "namespace taeda {",
            *(f"template struct Boxing<{signature}>;" for signature in sorted(chunk)), "}  // namespace taeda",
        )
        for i, chunk in enumerate(chunks)
    }  # fmt: skip


def _families(plan: Plan) -> str:
    names = [family.name for family in plan.families]
    return _lines(
        _HEADER.format(sources="all families"), *(f'#include "dispatch/ops/{name}.h"' for name in names), "",
        "namespace taeda {", "namespace {",
        "OpFamily families[] = {",
        *(f'    {{"{f.name}", table::{f.name}, {len(f.ops)}, nullptr}},' for f in plan.families), "};",
        "struct Announce {", "  Announce() {", "    for (OpFamily& family : families) add_family(&family);", "  }",
        "} announce;", "}  // namespace", "}  // namespace taeda",
    )  # fmt: skip
