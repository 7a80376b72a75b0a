"""What a build holds: which ops, with which kernels in which layers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from taedagen.opdef.declaration import LAYOUTS, Declaration, Op, Registry, layout_layer

# The devices that the library itself has functions for.
BACKENDS = ("CPU", "Meta")


@dataclass(frozen=True)
class Kernel:
    """A statically known kernel of an op."""

    functionality: str  # of core/key_set.h, or Composite
    symbol: str
    device: str = ""  # a DeviceType; "" for all

    @property
    def key(self) -> str:
        """What it serves, by its dispatch key, or by its functionality where it serves every device."""
        if self.device:
            return LAYOUTS.get(self.functionality, "") + self.device
        return {"Dense": "AnyDevice", "ADInplaceOrView": "InplaceOrView"}.get(self.functionality, self.functionality)

    @property
    def layer(self) -> str:
        """The namespace of its function."""
        return self.symbol.partition("::")[0]

    @property
    def folder(self) -> str:
        return layer_folder(self.layer)

    @property
    def takes_keys(self) -> bool:
        return self.functionality in ("Autograd", "ADInplaceOrView", "Autocast")


@dataclass(frozen=True)
class Family:
    """The ops of one declaration file."""

    name: str
    source: str
    ops: tuple[Op, ...]
    declared: tuple[Op, ...] = ()  # those too that are not selected: C++ may still name them

    @property
    def made(self) -> str:
        """The first line of what is generated from it."""
        return f"// Made by taedagen from {self.source}."

    @property
    def declarations(self) -> list[Declaration]:
        return list(dict.fromkeys(op.declaration for op in self.ops))


class Plan:
    """A registry with the build's options applied.

    What is declared before ``begin`` may be called, and is not written.
    """

    def __init__(self, registry: Registry, selected: Callable[[Op], bool] | None = None, autograd: bool = True,
                 force_schemas: bool = False, backends: tuple[str, ...] = BACKENDS,
                 begin: int = 0) -> None:  # fmt: skip
        self.registry = registry
        self.autograd = autograd
        self.backends = backends
        self.skipped: list[str] = []
        self._selected = selected or (lambda op: True)
        kept: dict[str, list[Op]] = {}
        declared: dict[str, list[Op]] = {}
        for declaration in registry.declarations:
            for op in declaration.ops():
                declared.setdefault(declaration.family, []).append(op)
                if self._selected(op) or force_schemas:
                    kept.setdefault(declaration.family, []).append(op)
                else:
                    self.skipped.append(f"{op.schema.full_name}: not among the selected ops")
        # All families, since C++ written by hand includes their headers, and those with anything to build.
        self.known = [
            Family(n, ops[0].declaration.where[0], tuple(kept.get(n, ())), tuple(ops)) for n, ops in declared.items()
        ]
        own = set(registry.declarations[begin:])
        self.declared = [family for family in self.known if own & {op.declaration for op in family.declared}]
        self.families = [family for family in self.declared if family.ops]
        takes_generator = lambda d: any(a.type.base == "Generator" for a in d.schema.arguments)
        self._drawing = {d.name for d in registry.declarations if d.options.get("draws") or takes_generator(d)}
        self._by_cpp_name: dict[str, list[Op]] = {}
        for family in self.known:
            for op in family.declared:
                self._by_cpp_name.setdefault(op.cpp_name, []).append(op)

    def ops_named(self, cpp_name: str) -> list[Op]:
        """The ops that are overloads of one C++ function, in the order of declaration."""
        return self._by_cpp_name[cpp_name]

    @property
    def left_out(self) -> list[Op]:
        """The ops that this build is made without: their schema, too, or only their kernels."""
        return [op for f in self.declared for op in f.declared if not self.has_body(op)]

    def has_body(self, op: Op) -> bool:
        """False for an op that only keeps its schema."""
        return self._selected(op)

    # --- kernels by layer
    def kernels(self, op: Op) -> list[Kernel]:
        if not self.has_body(op):
            return []
        result = self.backend_kernels(op)
        if self.has_inplace_or_view_layer(op):
            result.append(Kernel("ADInplaceOrView", f"inplace_or_view::{op.cpp_name}"))
        if self.has_autograd_layer(op):
            result.append(Kernel("Autograd", f"autograd::{op.cpp_name}"))
        if self.has_autocast_layer(op):
            result.append(Kernel("Autocast", f"autocast::{op.cpp_name}"))
        return result

    def backend_kernels(self, op: Op) -> list[Kernel]:
        """What computes, whether or not the op is among the selected ones."""
        layouts = op.declaration.layouts if op.is_declared else []
        return [
            *self._dense_kernels(op),
            *(Kernel(k.functionality, f"{k.layer}::{op.cpp_name}", k.device) for k in layouts),
        ]

    def _dense_kernels(self, op: Op) -> list[Kernel]:
        declaration = op.declaration
        if declaration.kind == "composite":
            any_device = declaration.derivative is not None or declaration.options.get("explicit")
            return [Kernel("Dense" if any_device else "Composite", f"composite::{op.cpp_name}")]
        if declaration.kind == "view" or declaration.options.get("any_device"):
            return [Kernel("Dense", f"any_device::{op.cpp_name}")]
        return [Kernel("Dense", f"{backend.lower()}::{op.cpp_name}", backend) for backend in self.backends]

    def has_inplace_or_view_layer(self, op: Op) -> bool:
        if (
            op.declaration.kind == "composite"
            and not op.declaration.derivative
            and not op.declaration.options.get("explicit")
        ):
            return False
        return op.variant != "functional" or is_view(op) or writes(op)

    def has_autograd_layer(self, op: Op) -> bool:
        """Composites record through their parts; ops without tensors, or with only integer results, record nothing."""
        declaration = op.declaration
        if not self.autograd or (declaration.kind == "composite" and not declaration.derivative):
            return bool(self.autograd and declaration.options.get("explicit") and has_tensor(op))
        return has_tensor(op)

    def has_autocast_layer(self, op: Op) -> bool:
        """What writes into a tensor computes in that tensor's dtype, so only functional forms are cast."""
        return op.variant == "functional" and "autocast" in op.declaration.options

    def tags(self, op: Op) -> list[str]:
        tags = []
        if op.declaration.name in self._drawing:
            tags.append("kNondeterministicSeeded")
        if is_view(op):
            tags.append("kViewOp")
        if op.variant == "inplace":
            tags.append("kInplaceOp")
        if op.variant == "out":
            tags.append("kOutOp")
        if op.declaration.options.get("shape") == "dynamic":
            tags.append("kDataDependent")
        if op.declaration.kind in ("pointwise", "reduction"):
            tags.append(f"k{op.declaration.kind.capitalize()}")
        if op.declaration.options.get("geometry_only"):
            tags.append("kGeometryOnly")
        return tags

    def kernel_headers(self, family: Family) -> list[str]:
        """The headers that declare what the family's table points to."""
        return list(dict.fromkeys(f"{k.folder}/{family.name}.h" for op in family.ops for k in self.kernels(op)))


def layer_folder(layer: str) -> str:
    """Where the generated functions of a namespace stand: ``sparse/ops`` and, of ``sparse_cpu``,
    ``backend/cpu/sparse/ops``."""
    for layout in sorted(map(layout_layer, LAYOUTS), key=len, reverse=True):
        if layer == layout:
            return f"{layout}/ops"
        if layer.startswith(f"{layout}_"):
            return f"backend/{layer.removeprefix(f'{layout}_')}/{layout}/ops"
    if layer in ("autograd", "inplace_or_view"):
        return "autograd/ops"
    return f"{layer}/ops" if layer in ("autocast", "composite") else f"backend/{layer}/ops"


def has_tensor(op: Op) -> bool:
    return any(a.type.is_tensor for a in op.schema.arguments)


def is_view(op: Op) -> bool:
    """Whether a result shares storage with an argument that is not written to."""
    return op.declaration.kind == "view" and op.variant == "functional"


def writes(op: Op) -> bool:
    return any(a.type.is_mutable for a in op.schema.arguments)
