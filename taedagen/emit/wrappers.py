"""What stands around kernels that are written by hand: results by the shape rule, in-place and out= forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from taedagen.emit import cpp
from taedagen.emit.forms import dtype_from, out_checks, through_functional
from taedagen.opdef.declaration import Declaration, Op

if TYPE_CHECKING:
    from taedagen.emit.targets.base import Target


def is_shaped(declaration: Declaration) -> bool:
    """Whether results are made here by a shape rule, so that the kernel only fills them."""
    shape = declaration.options.get("shape")
    return declaration.kind == "kernel" and bool(shape) and shape != "dynamic"


def _kernel_parameters(op: Op) -> str:
    """The inputs, then the results to fill."""
    outs = ["TensorList outs"] if _returns_list(op) else [f"const Tensor& {n}" for n in op.declaration.out_names]
    return ", ".join(filter(None, (cpp.parameters(op.inputs), *outs)))


def _returns_list(op: Op) -> bool:
    return len(op.declaration.schema.returns) == 1 and op.declaration.schema.returns[0].type.is_list


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


def _shaped(op: Op, target: Target) -> list[str]:
    declaration = op.declaration
    inputs = cpp.names(op.inputs)
    rule = f"shape::{declaration.options['shape']}({inputs})"
    names = declaration.out_names
    joined = ", ".join(filter(None, (inputs, *("{}" for _ in names))))
    if op.variant == "inplace":
        return [
            *_shaped_temporary(op, target, rule),
            f"ops::copy_({cpp.identifier(op.schema.arguments[0].name)}, result, false);",
        ]
    if _returns_list(op):
        call = [f"{target.space}::{declaration.name}({inputs}, outs);"] if target.has_elements else []
        return [f"auto outs = shape::make_all({rule}, {_device(op, target)});", *call, "return outs;"]
    many = len(names) > 1
    lines = dtype_from(op, cpp.identifier(names[0])) if op.variant == "out" else []
    lines.append(f"auto specs = {rule};")
    spec = [f"std::get<{i}>(specs)" for i in range(len(names))] if many else ["specs"]
    if op.variant == "functional":
        lines += [f"Tensor out{i} = shape::make({s}, {_device(op, target)});" for i, s in enumerate(spec)]
        values = [f"out{i}" for i in range(len(names))]
        if target.has_elements:
            lines.append(f"{target.space}::{declaration.name}({joined.format(*values)});")
        return [*lines, f"return {{{', '.join(values)}}};" if many else "return out0;"]
    for n, s in zip(names, spec, strict=True):
        lines += out_checks(op, n, f"{s}.dtype")
    if target.has_elements:
        lines += _apart(op, names)
        inputs = ", ".join(f"{a.name}_read" if a.type.is_tensor else cpp.identifier(a.name) for a in op.inputs)
        joined = ", ".join(filter(None, (inputs, *("{}" for _ in names))))
    lines += [
        f"shape::Out target{i}({cpp.identifier(n)}, {s});" for i, (n, s) in enumerate(zip(names, spec, strict=True))
    ]
    if target.has_elements:
        values = [f"target{i}.tensor()" for i in range(len(names))]
        lines.append(f"{target.space}::{declaration.name}({joined.format(*values)});")
        lines += [f"target{i}.finish();" for i in range(len(names))]
    return lines


def _apart(op: Op, outs: Sequence[str]) -> list[str]:
    """Statements that make ``x_read`` of each tensor argument ``x``: kernels may read after they began to write."""
    own = str(bool(op.declaration.options.get("own_out"))).lower()
    targets = ", ".join(f"&{cpp.identifier(n)}" for n in outs)
    return [f"auto {a.name}_read = shape::apart({cpp.identifier(a.name)}, {{{targets}}}, {own});"
            for a in op.inputs if a.type.is_tensor]  # fmt: skip


def _shaped_temporary(op: Op, target: Target, rule: str) -> list[str]:
    first = cpp.identifier(op.schema.arguments[0].name)
    lines = [*dtype_from(op, first), f"auto specs = {rule};",
             f"shape::check_inplace_result({first}, specs.sizes, specs.dtype);",
             f"Tensor result = shape::make(specs, {_device(op, target)});"]  # fmt: skip
    if target.has_elements:
        lines.append(f"{target.space}::{op.declaration.name}({cpp.names(op.inputs)}, result);")
    return lines


def _device(op: Op, target: Target) -> str:
    tensor = next((a for a in op.schema.arguments if a.type.is_tensor and not a.type.optional), None)
    if tensor is None or not target.has_elements:
        return f"Device{{DeviceType::{target.backend}}}"
    name = cpp.identifier(tensor.name)
    return f"shape::device_of({name})"


def kernel_body(op: Op, target: Target) -> list[str] | None:
    """The statements around a backend's kernel; None where all of the function is written by hand."""
    declaration = op.declaration
    before = [] if target.has_elements else _device_checks(op)
    declared_inplace = op.variant == "inplace" and declaration.schema.name == op.schema.name
    if declared_inplace or not declaration.schema.returns:
        return None if target.has_elements else before
    if is_shaped(declaration):
        return [*before, *_shaped(op, target)]
    if op.variant == "out" and target.has_elements and declaration.options.get("own_out"):
        return [*_apart(op, declaration.out_names), *through_functional(op, target.space, "_read")]
    if op.variant != "functional":
        return [*before, *through_functional(op, target.space)]
    message = "the shape of its result depends on the data, which a meta tensor lacks"
    return None if target.has_elements else [*before, f'TAEDA_FAIL(NotImplemented, "{message}");']


def filled_kernel(op: Op) -> str | None:
    """The function that fills results, where these are made by a shape rule."""
    shaped = is_shaped(op.declaration) and op.variant == "functional"
    return f"void {op.cpp_name}({_kernel_parameters(op)})" if shaped else None
