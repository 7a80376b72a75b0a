"""In-place and out= forms of ops that have no kernel of their own for them: the functional form, then a copy."""

from __future__ import annotations

from taedagen.emit import cpp
from taedagen.opdef.declaration import Op


def through_functional(op: Op, space: str, tensors: str = "") -> list[str]:
    """In-place and out variants of what has no kernel of its own for them: compute, then copy. ``tensors`` ends the
    names of the tensors that are read, where these are other variables than the arguments."""
    functional = op.declaration.name
    read = [f"{a.name}{tensors}" if tensors and a.type.is_tensor else cpp.identifier(a.name) for a in op.inputs]
    call = f"{space}::{functional}({', '.join(read)})"
    if op.variant == "inplace":
        first = cpp.identifier(op.schema.arguments[0].name)
        start = [f"Tensor result = {call};"]
        if space == "composite" and not op.declaration.derivative:  # it records through its parts
            tensors = ", ".join(cpp.identifier(a.name) for a in op.inputs if a.type.is_tensor and not a.type.is_list)
            inputs = ", ".join("before" if a is op.inputs[0] else cpp.identifier(a.name) for a in op.inputs)
            start = [f"const Tensor before = before_writing({tensors});",
                     f"Tensor result = {space}::{functional}({inputs});"]  # fmt: skip
        return [*start, f"shape::check_inplace_result({first}, result.sizes(), result.dtype());",
                f"ops::copy_({first}, result, false);"]  # fmt: skip
    names = op.declaration.out_names
    if len(names) == 1:
        before = [*device_from(op, names[0]), *dtype_from(op, names[0])]
        checks = out_checks(op, names[0], "result.dtype()")
        if checks:
            return [*before, f"Tensor result = {call};", *checks, f"shape::copy_to_out(result, {names[0]});"]
        unchecked = ", false" if op.declaration.options.get("out") == "any" else ""
        return [*before, f"shape::copy_to_out({call}, {names[0]}{unchecked});"]
    return [
        f"auto results = {call};",
        *(check for i, n in enumerate(names) for check in out_checks(op, n, f"std::get<{i}>(results).dtype()")),
        *(f"shape::copy_to_out(std::get<{i}>(results), {n});" for i, n in enumerate(names)),
    ]


def out_checks(op: Op, name: str, dtype: str) -> list[str]:
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


def dtype_from(op: Op, target: str) -> list[str]:
    """Statements that take ``dtype`` from what is written, and raise where another one or a layout is asked for."""
    optional = {a.name for a in op.inputs if a.type.optional}
    lines = []
    if "dtype" in optional and op.declaration.options.get("out") != "same":
        lines = [f"if (!dtype) dtype = {target}.dtype();",
                 f"shape::check_out_dtype({target}, *dtype, true, ErrorKind::Runtime);"]  # fmt: skip
    if "layout" in optional:
        lines.append(f'TAEDA_CHECK(!layout || *layout == {target}->layout(), "layout must be that of out");')
    return lines


def device_from(op: Op, target: str) -> list[str]:
    """The statement that takes ``device`` from what is written, unless another one is asked for."""
    asked = any(a.name == "device" and a.type.optional for a in op.inputs)
    return [f"if (!device) device = {target}.device();"] if asked else []
