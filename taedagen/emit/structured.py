"""Views, kernels and composites: ``shape/<family>.h`` and ``.cpp`` make results by the shape rules and call what is
written by hand in ``csrc/backend`` and ``csrc/composite``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

from taedagen.emit import cpp
from taedagen.emit.dispatch import prototypes
from taedagen.emit.lowering import Lowering, Typed, argument_kind
from taedagen.emit.plan import Family, Plan
from taedagen.emit.table import ROOT
from taedagen.opdef.declaration import Declaration, Op
from taedagen.opdef.expr import arg, trace


def emit_structured(plan: Plan) -> dict[str, str]:
    files: dict[str, str] = {}
    rules = _written_rules()
    for family in plan.declared:
        for op in family.declared:
            rule = op.declaration.options.get("shape", "dynamic")
            if rule != "dynamic" and rule not in rules:
                close = "".join(f"; did you mean '{name}'?" for name in get_close_matches(rule, rules, 1))
                raise op.declaration.fail(f"the shape rule '{rule}' is no function of csrc/shape{close}")
        declared = [op for op in family.declared if op.declaration.kind in ("view", "kernel", "composite")]
        ops = [op for op in declared if plan.has_body(op)]
        if declared:
            files[f"csrc/shape/ops/{family.name}.h"] = _header(plan, family, declared)
        if ops:
            files[f"csrc/shape/ops/{family.name}.cpp"] = _source(plan, family, ops)
    return files


def _written_rules() -> set[str]:
    """The functions that the headers of ``csrc/shape`` declare."""
    headers = sorted((ROOT / "csrc" / "shape").glob("*.h"))
    return {name for path in headers for name in re.findall(r"^\S.* (\w+)\(", path.read_text(), re.MULTILINE)}


def _declare(op: Op, scope: str = "") -> str:
    return f"{cpp.return_type(op)} {scope}{op.cpp_name}({cpp.parameters(op.schema.arguments)})"


def is_shaped(declaration: Declaration) -> bool:
    """Whether results are made here by a shape rule, so that the kernel only fills them."""
    shape = declaration.options.get("shape")
    return declaration.kind == "kernel" and bool(shape) and shape != "dynamic"


def _namespaces(plan: Plan, op: Op) -> list[str]:
    return list(dict.fromkeys(kernel.symbol.split("::")[0] for kernel in plan.backend_kernels(op)))


def _header(plan: Plan, family: Family, ops: list[Op]) -> str:
    lines = [
        family.made,
        "#pragma once",
        '#include "taeda/ops/defaults.h"',
        "",
        "namespace taeda {",
    ]
    for op in ops:
        lines.append(cpp.place_comment(op.declaration))
        for space in _namespaces(plan, op):
            lines.append(f"namespace {space} {{ {_declare(op)}; }}")
        if is_shaped(op.declaration) and op.variant == "functional":
            for backend in _handwritten_backends(plan):
                lines.append(f"namespace {backend} {{ void {op.cpp_name}({_kernel_parameters(op)}); }}")
    return "\n".join([*lines, "}  // namespace taeda", ""])


def _handwritten_backends(plan: Plan) -> list[str]:
    return [b.lower() for b in plan.backends if b != "Meta"]


def _returns_list(op: Op) -> bool:
    return len(op.declaration.schema.returns) == 1 and op.declaration.schema.returns[0].type.is_list


def _kernel_parameters(op: Op) -> str:
    """The inputs, then the results to fill."""
    outs = ["TensorList outs"] if _returns_list(op) else [f"const Tensor& {n}" for n in op.declaration.out_names]
    return ", ".join(filter(None, (cpp.parameters(op.inputs), *outs)))


def _source(plan: Plan, family: Family, ops: list[Op]) -> str:
    body: list[str] = []
    for op in ops:
        body += _definitions(plan, op)
    lines = [family.made, '#include "taeda/ops/defaults.h"',
             '#include "autograd/numbers.h"', '#include "autograd/overwritten.h"', '#include "shape/arguments.h"',
             f'#include "shape/ops/{family.name}.h"',
             '#include "shape/rules.h"', '#include "shape/spec.h"', "",
             "namespace taeda {", *prototypes(plan, body), "using namespace taeda::autograd;", ""]  # fmt: skip
    return "\n".join([*lines, *body, "}  // namespace taeda", ""])


def _definitions(plan: Plan, op: Op) -> list[str]:
    declaration = op.declaration
    comment = cpp.place_comment(declaration)
    lines: list[str] = []
    for space in _namespaces(plan, op):
        body = _body(plan, op, space)
        if body is not None:
            body = [*(_device_checks(op) if space == "meta" else ()), *body]
            body = [*_unused(op, body), *body]
            lines += [comment, f"{_declare(op, f'{space}::')} {{", *(f"  {line}" for line in body), "}", ""]
    return lines


def _unused(op: Op, body: list[str]) -> list[str]:
    """Statements that name the arguments which the function ignores, as a compiler warns of them."""
    used = set(re.findall(r"\w+", "\n".join(body)))
    names = (cpp.identifier(a.name) for a in op.schema.arguments)
    return [f"(void){name};" for name in names if name not in used]


def _body(plan: Plan, op: Op, space: str) -> list[str] | None:
    """The generated function's statements; None where it is written by hand."""
    declaration = op.declaration
    declared_inplace = op.variant == "inplace" and declaration.schema.name == op.schema.name
    if declaration.kind == "composite":
        if op.variant == "functional":
            return None if declaration.options.get("files") else _traced(op)
        return None if declared_inplace else _through_functional(op, "composite")
    if declaration.kind == "view":
        base = cpp.identifier(declaration.schema.arguments[0].name)
        return [
            f"return shape::alias({base}, shape::{declaration.options['shape']}({cpp.names(op.schema.arguments)}));"
        ]
    if declared_inplace or not declaration.schema.returns:
        return [] if space == "meta" else None
    if space == "everywhere":
        return None if op.variant == "functional" else _through_functional(op, "everywhere")
    if is_shaped(declaration):
        return _shaped(op, space)
    if op.variant == "functional":
        message = (
            'TAEDA_FAIL(NotImplemented, "the shape of its result depends on the data, which a meta tensor lacks");'
        )
        return [message] if space == "meta" else None
    return _through_functional(op, space)


def _device_checks(op: Op) -> list[str]:
    """Statements that raise where the arguments of a call on the meta device live on several devices.

    A list of optional tensors is an index, which may come from elsewhere.
    """
    tensors = [a for a in op.schema.arguments if a.type.is_tensor and not a.type.optional_elements]
    if len(tensors) == 1 and not tensors[0].type.is_list:
        return []
    return [
        f"shape::check_on_meta({cpp.identifier(a.name)}, {str(a.type.is_mutable or a in op.outs).lower()});"
        for a in tensors
    ]


def _out_checks(op: Op, name: str, dtype: str) -> list[str]:
    """Where an out argument may not have any dtype that can hold the result (``out="same"``), or where one that cannot
    is a TypeError (``out="type error"``)."""
    rule = op.declaration.options.get("out")
    if rule in (None, "any"):
        return []
    if rule not in ("same", "type error"):
        raise op.declaration.fail(f"out must be 'same', 'type error' or 'any'; got {rule!r}")
    kind = "Type" if rule == "type error" else "Runtime"
    same = str(rule == "same").lower()
    return [f"shape::check_out_dtype({cpp.identifier(name)}, {dtype}, {same}, ErrorKind::{kind});"]


def _dtype_from(op: Op, target: str) -> list[str]:
    """Statements that take ``dtype`` from what is written, and raise where another one is asked for."""
    if op.declaration.options.get("out") == "same" or not any(a.name == "dtype" and a.type.optional for a in op.inputs):
        return []
    return [f"if (!dtype) dtype = {target}.dtype();",
            f"shape::check_out_dtype({target}, *dtype, true, ErrorKind::Runtime);"]  # fmt: skip


def _device_from(op: Op, target: str) -> list[str]:
    """The statement that takes ``device`` from what is written, unless another one is asked for."""
    asked = any(a.name == "device" and a.type.optional for a in op.inputs)
    return [f"if (!device) device = {target}.device();"] if asked else []


def _traced(op: Op) -> list[str]:
    result = trace(op.declaration.function, {a.name: arg(a.name) for a in op.schema.arguments})  # type: ignore[arg-type]
    known = {a.name: Typed(cpp.identifier(a.name), argument_kind(a.type)) for a in op.schema.arguments}
    parts = list(result) if isinstance(result, tuple) else [result]
    lowering = Lowering(op.declaration, known)
    values = lowering.lower(parts)
    text = values[0].text if len(values) == 1 else f"{{{', '.join(v.text for v in values)}}}"
    return [*lowering.statements, f"return {text};"]


def _through_functional(op: Op, space: str) -> list[str]:
    """In-place and out variants of what has no kernel of its own for them: compute, then copy."""
    functional = op.declaration.name
    call = f"{space}::{functional}({cpp.names(op.inputs)})"
    if op.variant == "inplace":
        first = cpp.identifier(op.schema.arguments[0].name)
        start = [f"Tensor result = {call};"]
        if space == "composite" and not op.declaration.derivative:  # it records through its parts
            read = ", ".join(cpp.identifier(a.name) for a in op.inputs if a.type.is_tensor and not a.type.is_list)
            inputs = ", ".join("before" if a is op.inputs[0] else cpp.identifier(a.name) for a in op.inputs)
            start = [f"const Tensor before = before_writing({read});",
                     f"Tensor result = {space}::{functional}({inputs});"]  # fmt: skip
        return [*start, f"shape::check_inplace_result({first}, result.sizes(), result.dtype());",
                f"ops::copy_({first}, result, false);"]  # fmt: skip
    names = op.declaration.out_names
    if len(names) == 1:
        before = [*_device_from(op, names[0]), *_dtype_from(op, names[0])]
        checks = _out_checks(op, names[0], "result.dtype()")
        if checks:
            return [*before, f"Tensor result = {call};", *checks, f"shape::copy_to_out(result, {names[0]});"]
        unchecked = ", false" if op.declaration.options.get("out") == "any" else ""
        return [*before, f"shape::copy_to_out({call}, {names[0]}{unchecked});"]
    return [
        f"auto results = {call};",
        *(f"shape::copy_to_out(std::get<{i}>(results), {n});" for i, n in enumerate(names)),
    ]


def _shaped(op: Op, space: str) -> list[str]:
    declaration = op.declaration
    inputs = cpp.names(op.inputs)
    rule = f"shape::{declaration.options['shape']}({inputs})"
    names = declaration.out_names
    fills = space != "meta"
    joined = ", ".join(filter(None, (inputs, *("{}" for _ in names))))
    if op.variant == "inplace":
        return [
            *_shaped_temporary(op, space, rule),
            f"ops::copy_({cpp.identifier(op.schema.arguments[0].name)}, result, false);",
        ]
    if _returns_list(op):
        call = [f"{space}::{declaration.name}({inputs}, outs);"] if fills else []
        return [f"auto outs = shape::make_all({rule}, {_device(op, space)});", *call, "return outs;"]
    many = len(names) > 1
    lines = _dtype_from(op, cpp.identifier(names[0])) if op.variant == "out" else []
    lines.append(f"auto specs = {rule};")
    spec = [f"std::get<{i}>(specs)" for i in range(len(names))] if many else ["specs"]
    if op.variant == "functional":
        lines += [f"Tensor out{i} = shape::make({s}, {_device(op, space)});" for i, s in enumerate(spec)]
        values = [f"out{i}" for i in range(len(names))]
        if fills:
            lines.append(f"{space}::{declaration.name}({joined.format(*values)});")
        return [*lines, f"return {{{', '.join(values)}}};" if many else "return out0;"]
    for n, s in zip(names, spec, strict=True):
        lines += _out_checks(op, n, f"{s}.dtype")
    if fills:
        lines += _apart(op, names)
        inputs = ", ".join(f"{a.name}_read" if a.type.is_tensor else cpp.identifier(a.name) for a in op.inputs)
        joined = ", ".join(filter(None, (inputs, *("{}" for _ in names))))
    lines += [
        f"shape::Out target{i}({cpp.identifier(n)}, {s});" for i, (n, s) in enumerate(zip(names, spec, strict=True))
    ]
    if fills:
        values = [f"target{i}.tensor()" for i in range(len(names))]
        lines.append(f"{space}::{declaration.name}({joined.format(*values)});")
        lines += [f"target{i}.finish();" for i in range(len(names))]
    return lines


def _apart(op: Op, outs: Sequence[str]) -> list[str]:
    """Statements that make ``x_read`` of each tensor argument ``x``: kernels may read after they began to write."""
    own = str(bool(op.declaration.options.get("own_out"))).lower()
    targets = ", ".join(f"&{cpp.identifier(n)}" for n in outs)
    return [f"auto {a.name}_read = shape::apart({cpp.identifier(a.name)}, {{{targets}}}, {own});"
            for a in op.inputs if a.type.is_tensor]  # fmt: skip


def _shaped_temporary(op: Op, space: str, rule: str) -> list[str]:
    first = cpp.identifier(op.schema.arguments[0].name)
    lines = [*_dtype_from(op, first), f"auto specs = {rule};",
             f"shape::check_inplace_result({first}, specs.sizes, specs.dtype);",
             f"Tensor result = shape::make(specs, {_device(op, space)});"]  # fmt: skip
    if space != "meta":
        lines.append(f"{space}::{op.declaration.name}({cpp.names(op.inputs)}, result);")
    return lines


def _device(op: Op, space: str) -> str:
    if space == "meta":
        return "Device{DeviceType::Meta}"
    tensor = next((a for a in op.schema.arguments if a.type.is_tensor and not a.type.optional), None)
    if tensor is None:
        return f"Device{{DeviceType::{space.upper()}}}"
    name = cpp.identifier(tensor.name)
    return f"shape::device_of({name})"
