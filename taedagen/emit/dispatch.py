"""The op table and ``ops::``: per family ``api/<family>.h``, ``dispatch/<family>.h`` and ``dispatch/<family>.cpp``."""

from __future__ import annotations

import re
from zlib import crc32

from taedagen.emit import cpp
from taedagen.emit.plan import Family, Plan
from taedagen.opdef.declaration import Op
from taedagen.opdef.schema import Argument

_HEADER = "// Made by taedagen from {sources}.\n"


def emit_dispatch(plan: Plan) -> dict[str, str]:
    """File name to text, relative to the output folder."""
    files: dict[str, str] = {}
    for family in plan.declared:
        files[f"csrc/api/{family.name}.h"] = _api(plan, family)
    for family in plan.families:
        files[f"csrc/dispatch/ops/{family.name}.h"] = _table_header(family)
        files[f"csrc/dispatch/ops/{family.name}.cpp"] = _table(plan, family)
    files["csrc/api/ops.h"] = _lines(
        _HEADER.format(sources="all families"), "#pragma once",
        *(f'#include "api/{family.name}.h"' for family in plan.declared),
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
        _HEADER.format(sources=family.source), "#pragma once", '#include "api/values.h"', "",
        "namespace taeda::ops {", "",
        *(_prototype(plan, op) for op in family.declared), "", "}  // namespace taeda::ops",
    )  # fmt: skip


def _prototype(plan: Plan, op: Op) -> str:
    arguments = op.schema.arguments
    first = cpp.optional_from(op, plan.ops_named(op.cpp_name))
    shown = ", ".join(filter(None, (cpp.parameters(arguments[:first]), cpp.parameters(arguments[first:], True))))
    return f"TAEDA_API {cpp.return_type(op)} {op.cpp_name}({shown});"


def prototypes(plan: Plan, body: list[str]) -> list[str]:
    """Declares the ops that ``body`` calls, and no others: a new op then changes nobody else's unit."""
    called = set(re.findall(r"\bops::(\w+)", "\n".join(body)))
    found = [_prototype(plan, op) for family in plan.declared for op in family.declared if op.cpp_name in called]
    return ["namespace ops {", *found, "}  // namespace ops"] if found else []


def _table_header(family: Family) -> str:
    entries = ", ".join(cpp.entry_name(op) for op in family.ops)
    return _lines(
        _HEADER.format(sources=family.source),
        "#pragma once",
        '#include "dispatch/op.h"',
        "",
        "namespace taeda::table {",
        f"TAEDA_API extern const Op {family.name}[];",
        f"enum {family.name.capitalize()}Entry {{ {entries} }};",
        "}  // namespace taeda::table",
    )


def _table(plan: Plan, family: Family) -> str:
    includes = [
        f"api/{family.name}.h",
        f"dispatch/ops/{family.name}.h",
        "dispatch/call.h",
        *plan.kernel_headers(family),
    ]
    lines = [
        _HEADER.format(sources=family.source),
        *(f'#include "{name}"' for name in includes),
        "",
        "namespace taeda {",
        *elsewhere(family),
    ]
    lines += ["namespace {", ""]
    for op in family.ops:
        lines += _constants(plan, op)
    lines.append("const OpInfo infos[] = {")
    lines += [_info(plan, op) for op in family.ops]
    lines += ["};", "", "}  // namespace", "", f"const Op table::{family.name}[] = {{"]
    lines += [f"    Op(infos[{i}])," for i in range(len(family.ops))]
    lines += ["};", "", "namespace ops {", ""]
    for op in family.ops:
        if plan.has_body(op):
            lines += [_function(op), ""]
    return _lines(*lines, "}  // namespace ops", "}  // namespace taeda")


def _constants(plan: Plan, op: Op) -> list[str]:
    """The parameters and kernels of one op, as constant arrays."""
    entry = cpp.entry_name(op)
    lines = []
    if op.schema.arguments:
        lines.append(f"constexpr Param {entry}_params[] = {{")
        lines += [f"    {_param(a)}," for a in op.schema.arguments]
        lines.append("};")
    kernels = plan.kernels(op)
    if kernels:
        pointer = f"{cpp.return_type(op)}(*)"
        types = [cpp.cpp_type(a.type) for a in op.schema.arguments]
        lines.append(f"const StaticKernel {entry}_kernels[] = {{")
        for kernel in kernels:
            leading = ["KeySet"] if kernel.takes_keys else []
            cast = f"static_cast<{pointer}({', '.join(leading + types)})>(&{kernel.symbol})"
            lines.append(
                f"    {{KernelKind::{kernel.kind}, DeviceType::{kernel.backend}, reinterpret_cast<void*>({cast})}},"
            )
        lines.append("};")
    return [*lines, ""]


def _param(argument: Argument) -> str:
    type_ = argument.type
    base = cpp.ARG_TYPES.get(type_.base, type_.base)
    if type_.is_list:
        base = "OptTensorList" if type_.is_tensor and type_.optional_elements else f"{base}List"
    flags = [type_.optional, argument.default is not None, argument.keyword_only, type_.is_mutable]
    text = "nullptr" if argument.default is None else cpp.string(argument.default)
    shown = ", ".join(str(flag).lower() for flag in flags)
    return f'{{"{argument.name}", ArgType::{base}, {shown}, {type_.list_size}, {text}}}'


def _info(plan: Plan, op: Op) -> str:
    declaration, entry = op.declaration, cpp.entry_name(op)
    kernels = plan.kernels(op)
    tags = "|".join(plan.tags(op)) or "0"
    mutable = str(op.variant != "functional").lower()
    fields = [
        f'"aten::{op.schema.name}"', f'"{op.schema.overload}"', cpp.string(f"aten::{op.schema}"),
        f"{entry}_params" if op.schema.arguments else "nullptr", f"{entry}_kernels" if kernels else "nullptr",
        f"&Boxing<{cpp.signature(op)}>::signature", f'"{declaration.where[0]}"', str(declaration.where[1]),
        str(len(op.schema.arguments)), str(len(op.schema.returns)), str(len(kernels)), str(len(op.outs)), mutable, tags,
    ]  # fmt: skip
    return f"    {{{', '.join(fields)}}},"


def _function(op: Op) -> str:
    """``ops::name``: the key set of the tensor arguments, then the table."""
    arguments = op.schema.arguments
    tensors = [cpp.identifier(a.name) for a in arguments if a.type.is_tensor]
    device = next((cpp.identifier(a.name) for a in arguments if a.type.base == "Device"), "std::nullopt")
    keys = f"dispatch_keys({', '.join(tensors)})" if tensors else f"effective(factory_keys({device}))"
    call_arguments = "".join(f", {cpp.identifier(a.name)}" for a in arguments)
    return _lines(
        cpp.place_comment(op.declaration),
        f"{cpp.return_type(op)} {op.cpp_name}({cpp.parameters(arguments)}) {{",
        f"  return Caller<{cpp.signature(op)}>::call({cpp.table_symbol(op)}, {keys}{call_arguments});",
        "}",
    ).rstrip()


def _left_out(plan: Plan) -> str:
    """``ops::name`` of the ops that the build leaves out, so that C++ written by hand still links."""
    lines = [
        _HEADER.format(sources="all families"), '#include "api/ops.h"', "", "namespace taeda::ops {", "namespace {", "",
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


def elsewhere(family: Family) -> list[str]:
    """Declares that what ``family`` calls through is instantiated in another unit."""
    return _templates("extern template", {cpp.signature(op) for op in family.ops})


def _templates(keyword: str, signatures: set[str]) -> list[str]:
    return [f"{keyword} struct {kind}<{s}>;" for s in sorted(signatures) for kind in ("Boxing", "Caller")]


def _signatures(plan: Plan) -> dict[str, str]:
    """Each distinct signature's boxing and slow path, instantiated once; its bytes choose its file."""
    chunks: list[set[str]] = [set() for _ in range(_CHUNKS)]
    for family in plan.families:
        for op in family.ops:
            signature = cpp.signature(op)
            chunks[crc32(signature.encode()) % _CHUNKS].add(signature)
    return {
        f"csrc/dispatch/signatures_{i}.cpp": _lines(
            _HEADER.format(sources="all families"), '#include "dispatch/call.h"', "", "namespace taeda {",
            *_templates("template", chunk), "}  // namespace taeda",
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
