"""The headers of PyTorch's C++ interface that list ops: methods of ``at::Tensor``, functions of ``at::``, ``torch::``.

Each has the signature that PyTorch's C++ has for the schema, so that programs compile as they are. The headers only
declare them, so that they are quick to read; the definitions, calls of ``taeda::ops``, are in ``libtaeda_torch``.
"""

from __future__ import annotations

from collections.abc import Iterable

from taedagen.emit.cpp_api.forwards import forwards
from taedagen.emit.cpp_api.functions import Function, functions, methods, variable_factory, with_symbolic_sizes
from taedagen.emit.plan import Plan
from taedagen.opdef.declaration import Op

# What the hand-written headers define, since C++ knows other forms than the schema.
BY_HAND_METHODS = {
    "item", "size", "stride", "numel", "dim", "is_floating_point", "is_complex", "is_signed", "is_conj", "is_neg",
    "is_inference", "requires_grad_", "retain_grad", "backward", "set_data", "data", "is_leaf", "output_nr", "_version",
    "index", "index_put_", "is_contiguous", "storage_offset", "detach_", "__and__", "__or__", "__xor__", "__lshift__",
    "__rshift__", "__iand__", "__ior__", "__ixor__", "__ilshift__", "__irshift__", "is_pinned", "is_nonzero",
    "contiguous", "sparse_dim", "dense_dim", "to_dense",
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


# Namespaces of torch:: whose functions are ops with that prefix: torch::fft::rfft is at::fft_rfft.
NAMESPACES = ("fft", "linalg", "special")


def _ops(plan: Plan) -> dict[str, list[Op]]:
    """By family."""
    return {
        family.name: [
            op for op in family.declared
            if op.schema.namespace == "aten"
            and not op.schema.overload.startswith("prim")
            and not op.schema.takes_objects
        ]
        for family in plan.declared
    }  # fmt: skip


def _paths_of_ops(plan: Plan) -> list[str]:
    """The headers that PyTorch has for one op each, which editors write into programs."""
    names = {op.schema.name.rstrip("_") for ops in _ops(plan).values() for op in ops if op.schema.name[0] != "_"}
    return [f"ATen/ops/{name}.h" for name in sorted(names | {"from_blob", "tensor"})]


def _with_symbolic(op: Op, made: list[Function]) -> list[Function]:
    """Its functions, and the first with sizes that graphs may leave open."""
    return made + (with_symbolic_sizes(op, made[0]) if made else [])


class _Scope:
    """A place for functions of all families, without those whose heads an earlier one has: C++ takes them for one."""

    def __init__(self, namespace: str, qualifier: str = "") -> None:
        self.namespace, self.qualifier = namespace, qualifier
        self.declarations: list[str] = []
        self._seen: set[str] = set()

    def take(self, made: Iterable[Function]) -> list[str]:
        """Declares the new ones; their definitions."""
        definitions = []
        for function in made:
            if function.declaration not in self._seen:
                self._seen.add(function.declaration)
                self.declarations.append(function.declaration)
                definitions.append(function.definition(self.qualifier))
        return [f"namespace {self.namespace} {{", *definitions, "}", ""] if definitions else []

    def declared(self) -> list[str]:
        return [f"namespace {self.namespace} {{", "#pragma GCC visibility push(default)", "", *self.declarations, "",
                "#pragma GCC visibility pop", f"}}  // namespace {self.namespace}"]  # fmt: skip


def emit_cpp_api(plan: Plan) -> dict[str, str]:
    """File name to text, relative to the output folder."""
    tensor, at, torch = _Scope("at", "Tensor::"), _Scope("at"), _Scope("torch")
    prefixed = {name: _Scope(f"torch::{name}") for name in NAMESPACES}
    files = forwards(_paths_of_ops(plan))
    for family, ops in _ops(plan).items():
        defined = [
            *tensor.take(
                m for op in ops if op.schema.name not in BY_HAND_METHODS for m in _with_symbolic(op, methods(op))
            ),
            *at.take(
                f for op in ops if op.schema.name not in BY_HAND_FUNCTIONS for f in _with_symbolic(op, functions(op))
            ),
            *torch.take(f for op in ops for f in variable_factory(op)),
        ]
        for name, scope in prefixed.items():
            defined += scope.take(
                f.renamed(f.name.removeprefix(f"{name}_"))
                for op in ops if op.cpp_name.startswith(f"{name}_") for f in functions(op)
            )  # fmt: skip
        if defined:
            files[f"csrc/frontend/ops/{family}.cpp"] = "\n".join(
                [f"// Made by taedagen from taedagen/ops/{family}.py.", "", "#include <torch/namespaces.h>",
                 "#include <torch/types.h>", "", "#include \"taeda/ops.h\"", "", *defined])  # fmt: skip
    made = "// Made by taedagen from the declarations.\n"
    return files | {
        "include/ATen/core/methods.inc": "\n".join([made, *tensor.declarations, ""]),
        "include/ATen/Functions.h": "\n".join(
            [made, "#pragma once", "#include <ATen/core/Tensor.h>", "", *at.declared(), "",
             "#include <ATen/functions_by_hand.h>", ""]),
        "include/torch/csrc/autograd/generated/variable_factories.h": "\n".join(
            [made, "#pragma once", "#include <ATen/Functions.h>", "#include <torch/detail/tensor_data.h>", "",
             *torch.declared(), ""]),
        "include/torch/namespaces.h": "\n".join(
            [made, "#pragma once", "#include <torch/types.h>", "",
             *(line for scope in prefixed.values() for line in scope.declared()), ""]),
    }  # fmt: skip
