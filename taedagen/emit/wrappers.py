"""What stands around kernels that are written by hand: results by the shape rule, in-place and out= forms."""

from __future__ import annotations

from collections.abc import Sequence

from taedagen.emit import cpp
from taedagen.emit.forms import dtype_from, out_checks, through_functional
from taedagen.opdef.declaration import Declaration, Op


def is_shaped(declaration: Declaration) -> bool:
    """Whether results are made here by a shape rule, so that the kernel only fills them."""
    shape = declaration.options.get("shape")
    return declaration.kind == "kernel" and bool(shape) and shape != "dynamic"


def kernel_parameters(op: Op) -> str:
    """The inputs, then the results to fill."""
    outs = ["TensorList outs"] if returns_list(op) else [f"const Tensor& {n}" for n in op.declaration.out_names]
    return ", ".join(filter(None, (cpp.parameters(op.inputs), *outs)))


def returns_list(op: Op) -> bool:
    return len(op.declaration.schema.returns) == 1 and op.declaration.schema.returns[0].type.is_list


def device_checks(op: Op) -> list[str]:
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
    if returns_list(op):
        call = [f"{space}::{declaration.name}({inputs}, outs);"] if fills else []
        return [f"auto outs = shape::make_all({rule}, {_device(op, space)});", *call, "return outs;"]
    many = len(names) > 1
    lines = dtype_from(op, cpp.identifier(names[0])) if op.variant == "out" else []
    lines.append(f"auto specs = {rule};")
    spec = [f"std::get<{i}>(specs)" for i in range(len(names))] if many else ["specs"]
    if op.variant == "functional":
        lines += [f"Tensor out{i} = shape::make({s}, {_device(op, space)});" for i, s in enumerate(spec)]
        values = [f"out{i}" for i in range(len(names))]
        if fills:
            lines.append(f"{space}::{declaration.name}({joined.format(*values)});")
        return [*lines, f"return {{{', '.join(values)}}};" if many else "return out0;"]
    for n, s in zip(names, spec, strict=True):
        lines += out_checks(op, n, f"{s}.dtype")
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
    lines = [*dtype_from(op, first), f"auto specs = {rule};",
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


def kernel_body(op: Op, space: str) -> list[str] | None:
    """The statements of a view or of what stands around a kernel; None where it is written by hand."""
    declaration = op.declaration
    if declaration.kind == "view":
        base = cpp.identifier(declaration.schema.arguments[0].name)
        return [
            f"return shape::alias({base}, shape::{declaration.options['shape']}({cpp.names(op.schema.arguments)}));"
        ]
    declared_inplace = op.variant == "inplace" and declaration.schema.name == op.schema.name
    if declared_inplace or not declaration.schema.returns:
        return [] if space == "meta" else None
    if space == "everywhere":
        return None if op.variant == "functional" else through_functional(op, "everywhere")
    if is_shaped(declaration):
        return _shaped(op, space)
    if op.variant == "functional":
        message = (
            'TAEDA_FAIL(NotImplemented, "the shape of its result depends on the data, which a meta tensor lacks");'
        )
        return [message] if space == "meta" else None
    return through_functional(op, space)
