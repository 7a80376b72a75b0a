"""The headers of PyTorch's C++ interface that list ops: methods of ``at::Tensor``, functions of ``at::``, ``torch::``.

Inline calls of ``taeda::ops``, each with the signature that PyTorch's C++ has for the schema, so that programs compile
as they are, and nothing stands between a call and the dispatcher.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from taedagen.emit.cpp_api.forwards import forwards
from taedagen.emit.cpp_api.functions import functions, method, variable_factory
from taedagen.emit.plan import Plan
from taedagen.opdef.declaration import Op

# What the hand-written headers define, since C++ knows other forms than the schema.
BY_HAND_METHODS = {
    "item", "size", "stride", "numel", "dim", "is_floating_point", "is_complex", "is_signed", "is_conj", "is_neg",
    "is_inference", "requires_grad_", "retain_grad", "backward", "set_data", "data", "is_leaf", "output_nr", "_version",
    "index", "index_put_", "is_contiguous", "storage_offset", "detach_", "__and__", "__or__", "__xor__", "__lshift__",
    "__rshift__", "__iand__", "__ior__", "__ixor__", "__ilshift__", "__irshift__", "is_pinned", "is_nonzero",
    "contiguous",
}  # fmt: skip
BY_HAND_FUNCTIONS = {
    "is_floating_point",
    "is_complex",
    "is_signed",
    "is_conj",
    "is_neg",
    "is_inference",
    "size",
    "stride",
}


def _ops(plan: Plan) -> Iterator[Op]:
    for family in plan.declared:
        for op in family.declared:
            if (
                op.schema.namespace == "aten"
                and not op.schema.overload.startswith("prim")
                and not op.schema.takes_objects
            ):
                yield op


# Namespaces of torch:: whose functions are ops with that prefix: torch::fft::rfft is at::fft_rfft.
NAMESPACES = ("fft", "linalg", "special")


def _namespace(plan: Plan, name: str) -> list[str]:
    """The functions of ``torch::name``, without the prefix that their ops have."""
    lines = _unique(
        line.replace(f" {name}_", " ", 1)
        for op in _ops(plan) if op.cpp_name.startswith(f"{name}_") for line in functions(op)
    )  # fmt: skip
    return [f"namespace torch::{name} {{", "", *lines, "", f"}}  // namespace torch::{name}"]


def _unique(lines: Iterable[str]) -> list[str]:
    """In order, without those whose parameters have the types of an earlier one: C++ takes them for one function."""
    return list(dict.fromkeys(lines))


def emit_cpp_api(plan: Plan) -> dict[str, str]:
    """File name to text, relative to the output folder."""
    made = "// Made by taedagen from the declarations.\n"
    methods = _unique(line for op in _ops(plan) if op.schema.name not in BY_HAND_METHODS for line in method(op))
    at = _unique(line for op in _ops(plan) if op.schema.name not in BY_HAND_FUNCTIONS for line in functions(op))
    factories = _unique(line for op in _ops(plan) for line in variable_factory(op))
    return forwards() | {
        "include/ATen/core/methods.inc": "\n".join([made, *methods, ""]),
        "include/ATen/Functions.h": "\n".join(
            [made, "#pragma once", "#include <ATen/core/Tensor.h>", "#include <taeda/ops.h>", "", "namespace at {", "",
             *at, "", "}  // namespace at", "", "#include <ATen/functions_by_hand.h>", ""]),
        "include/torch/csrc/autograd/generated/variable_factories.h": "\n".join(
            [made, "#pragma once", "#include <ATen/Functions.h>", "#include <torch/detail/tensor_data.h>", "",
             "namespace torch {", "", *factories, "", "}  // namespace torch", ""]),
        "include/torch/namespaces.h": "\n".join(
            [made, "#pragma once", "#include <torch/types.h>", "",
             *(line for name in NAMESPACES for line in _namespace(plan, name)), ""]),
    }  # fmt: skip
