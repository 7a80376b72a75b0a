"""What a target is: it turns the declarations of a family into one backend's functions."""

from __future__ import annotations

from collections.abc import Mapping

from taedagen.emit.fused import Fused
from taedagen.emit.plan import Family, layer_folder
from taedagen.emit.wrappers import kernel_body
from taedagen.opdef.declaration import Declaration, Op


class Target:
    """One backend. A subclass says how formulas become its code; kernels that people write it takes as they are."""

    backend: str  # a DeviceType of taeda/core/device.h
    has_elements = True  # False where results are made and nothing is computed
    includes: Mapping[str, tuple[str, ...]] = {}  # by the kind of op, what the functions call

    @property
    def folder(self) -> str:
        return layer_folder(self.space)

    @property
    def space(self) -> str:
        """The namespace of its functions, and the folder in ``backend``."""
        return self.backend.lower()

    # --- the statements of an op's function
    def pointwise(self, op: Op) -> list[str]:
        raise NotImplementedError

    def reduction(self, op: Op) -> list[str]:
        raise NotImplementedError

    def kernel(self, op: Op) -> list[str] | None:
        """What stands around a kernel written by hand; None where that is all of the function."""
        return kernel_body(op, self)

    # --- what the functions need besides
    def constants(self, declarations: list[Declaration]) -> list[str]:
        """What stands before the functions of pointwise ops and reductions, in namespace ``taeda``."""
        return []

    def loops(self, family: Family, declarations: list[Declaration]) -> dict[str, str]:
        """The files of what those functions run."""
        return {}

    def gradients(self, family: Family, kernels: list[Fused]) -> dict[str, str]:
        """The files that bring kernels of fused gradients; without, backward calls the ops of the derivative."""
        return {}

    def body(self, op: Op) -> list[str] | None:
        """The statements of the op's function; None where it is written by hand."""
        kinds = {"pointwise": self.pointwise, "reduction": self.reduction, "kernel": self.kernel}
        return kinds[op.declaration.kind](op)
