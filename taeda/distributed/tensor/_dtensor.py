"""``DTensor``: a tensor that knows the mesh it lies on, and how.

With one process the part that a process has is the whole, whatever the placements say. So a DTensor is a tensor like
any other, with memory and a graph of its own: ops run on it as on plain ones, gradients flow as there, and what is
added is that results are DTensors too. A result lies as an operand of its shape that is in parts does, else whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import taeda
from taeda import Tensor
from taeda._C import DisableTorchFunctionSubclass
from taeda.distributed.device_mesh import DeviceMesh, current_mesh
from taeda.distributed.tensor.placement_types import Placement, Replicate, Shard
from taeda.utils._pytree import tree_leaves, tree_map

Placements = tuple[Placement, ...]


class DTensorSpec(NamedTuple):
    """Where a `DTensor` lies."""

    mesh: DeviceMesh
    placements: Placements


def spec_for(
    function: str, ndim: int, mesh: DeviceMesh | None, placements: Sequence[Placement] | None
) -> DTensorSpec:  # fmt: skip
    """The placements, whole on each process by default, of a tensor with ``ndim`` dimensions; negative ones counted.

    Raises:
        RuntimeError: there is no mesh, or a `Shard` along a dimension that is not there.
        ValueError: not one placement for each dimension of the mesh.
    """
    mesh = current_mesh(function) if mesh is None else mesh
    wanted: list[Placement] = [Replicate()] * mesh.ndim if placements is None else list(placements)
    if len(wanted) != mesh.ndim or not all(isinstance(p, Placement) for p in wanted):
        raise ValueError(
            f"{function}: {mesh.ndim} placements are wanted, one for each dimension of {mesh}; got {wanted}"
        )
    for at, placement in enumerate(wanted):
        if isinstance(placement, Shard):
            if not -ndim <= placement.dim < ndim:
                raise RuntimeError(f"{function}: {placement} of a tensor with {ndim} dimensions")
            wanted[at] = Shard(placement.dim % ndim)
    return DTensorSpec(mesh, tuple(wanted))


class DTensor(Tensor):
    """One tensor over the processes of a mesh. Made by `from_local`, `distribute_tensor` and the factory functions.

    An op on DTensors takes DTensors of one mesh, and plain tensors of one element; it raises RuntimeError for others.
    ``grad`` is a DTensor; what hooks get and what ``autograd.grad`` gives are plain tensors.
    """

    _spec: DTensorSpec

    def __new__(cls, local_tensor: Tensor, spec: DTensorSpec, *, requires_grad: bool) -> DTensor:
        return wrapped(local_tensor.detach(), spec).requires_grad_(requires_grad)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None) -> Any:
        given = (args, kwargs or {})
        operands = _operands(func, given)
        with DisableTorchFunctionSubclass():
            result = func(*args, **given[1])
        if not operands:
            return result

        def placed(leaf: Any) -> Any:
            if not isinstance(leaf, Tensor) or isinstance(leaf, DTensor) and hasattr(leaf, "_spec"):
                return leaf
            return wrapped(leaf, _result_spec(operands, leaf))

        return tree_map(placed, result)

    @staticmethod
    def from_local(
        local_tensor: Tensor,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
        *,
        run_check: bool = False,
        shape: Any = None,
        stride: tuple[int, ...] | None = None,
    ) -> DTensor:
        """The DTensor of which this process has ``local_tensor``, whose memory it shares; gradients flow back into it.

        Args:
            device_mesh: that of ``with mesh:`` by default.
            placements: `Replicate` by default.
            run_check: compare with the other processes; there are none.
            shape, stride: the whole tensor's, both or none; with one process they are the local one's.

        Raises:
            RuntimeError: no plain tensor, no mesh, or one of ``shape`` and ``stride`` only.
            ValueError: placements that do not fit the mesh, or a shape that is not the tensor's.
        """
        if not isinstance(local_tensor, Tensor) or isinstance(local_tensor, DTensor):
            raise RuntimeError(f"DTensor.from_local: a plain Tensor is wanted; got {type(local_tensor).__name__}")
        if (shape is None) != (stride is None):
            raise RuntimeError("DTensor.from_local: shape and stride are wanted together")
        if shape is not None and tuple(shape) != tuple(local_tensor.shape):
            raise ValueError(f"DTensor.from_local: one process has all of {tuple(shape)}, not {local_tensor.shape}")
        return wrapped(local_tensor, spec_for("DTensor.from_local", local_tensor.ndim, device_mesh, placements))

    @property
    def device_mesh(self) -> DeviceMesh:
        """The mesh it lies on."""
        return self._spec.mesh

    @property
    def placements(self) -> Placements:
        """How it lies over each dimension of the mesh."""
        return self._spec.placements

    @property
    def _local_tensor(self) -> Tensor:
        """This process's part, outside of the graph."""
        return _plain(self.detach())

    def to_local(self, *, grad_placements: Sequence[Placement] | None = None) -> Tensor:
        """This process's part, a plain tensor that shares memory; gradients flow back.

        Args:
            grad_placements: how its gradient lies, if not as this tensor; with one process it is whole anyway.

        Raises:
            ValueError: ``grad_placements`` do not fit the mesh.
        """
        if grad_placements is not None:
            spec_for("DTensor.to_local", self.ndim, self.device_mesh, grad_placements)
        return _plain(self)

    def redistribute(
        self,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
        *,
        async_op: bool = False,
        forward_dtype: taeda.dtype | None = None,
        backward_dtype: taeda.dtype | None = None,
    ) -> DTensor:
        """The same tensor with other placements on the same mesh; gradients flow back.

        Args:
            async_op: do not wait for the other processes; there are none.
            forward_dtype: the result's dtype, this tensor's by default.
            backward_dtype: the dtype that the gradient is rounded to on its way back.

        Raises:
            RuntimeError: no placements, or `Partial` for what is not.
            NotImplementedError: another mesh.
        """
        if device_mesh is not None and device_mesh != self.device_mesh:
            raise NotImplementedError(f"DTensor.redistribute: from {self.device_mesh} to {device_mesh}")
        if placements is None:
            raise RuntimeError("DTensor.redistribute: placements are wanted")
        spec = spec_for("DTensor.redistribute", self.ndim, self.device_mesh, placements)
        for old, new in zip(self.placements, spec.placements, strict=True):
            if new.is_partial() and old != new:
                raise RuntimeError(f"DTensor.redistribute: what is {old} does not become {new}")
        local = _plain(self).to(forward_dtype or self.dtype)
        if backward_dtype is not None and local.requires_grad:
            local = local.view_as(local)
            local.register_hook(lambda grad: grad.to(backward_dtype).to(grad.dtype))
        return wrapped(local, spec)

    def full_tensor(self, *, grad_placements: Sequence[Placement] | None = None) -> Tensor:
        """The whole, a plain tensor; gradients flow back. ``grad_placements`` as in `to_local`."""
        return self.to_local(grad_placements=grad_placements)

    def tolist(self) -> NoReturn:
        raise RuntimeError("DTensor.tolist: not for a DTensor; use full_tensor().tolist()")

    def numpy(self, *, force: bool = False) -> NoReturn:
        raise RuntimeError("DTensor.numpy: not for a DTensor; use full_tensor().numpy()")

    def __repr__(self) -> str:  # type: ignore[override]
        local = self._local_tensor
        return f"DTensor(local_tensor={local}, device_mesh={self.device_mesh}, placements={self.placements})"

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            copied = DTensor(self._local_tensor.clone(), self._spec, requires_grad=self.requires_grad)
            vars(copied).update(vars(self))
            memo[id(self)] = copied
        return memo[id(self)]

    def __reduce_ex__(self, proto: Any) -> Any:
        return _rebuild, (self._local_tensor, tuple(self._spec), self.requires_grad)


def wrapped(tensor: Tensor, spec: DTensorSpec) -> DTensor:
    """A plain tensor as a DTensor: the same memory, in the same graph."""
    made: DTensor = tensor.as_subclass(DTensor)
    made._spec = spec
    return made


def _plain(tensor: Tensor) -> Tensor:
    with DisableTorchFunctionSubclass():
        return tensor.as_subclass(Tensor)


def _rebuild(local: Tensor, spec: tuple[DeviceMesh, Placements], requires_grad: bool) -> DTensor:
    return DTensor(local, DTensorSpec(*spec), requires_grad=requires_grad)


def _operands(func: Any, given: Any) -> list[DTensor]:
    """The DTensors among a call's arguments.

    A plain tensor beside them would be taken for a part or for the whole, so it must have a single element.
    """
    name = getattr(func, "__name__", str(func))
    tensors = [leaf for leaf in tree_leaves(given) if isinstance(leaf, Tensor)]
    operands = [tensor for tensor in tensors if isinstance(tensor, DTensor)]
    if len({tensor._spec.mesh for tensor in operands}) > 1:
        raise RuntimeError(f"{name}: DTensors of different meshes: {[tensor._spec.mesh for tensor in operands]}")
    for tensor in tensors:
        if not isinstance(tensor, DTensor) and tensor.numel() != 1 and name != "__set__":
            raise RuntimeError(f"{name}: a DTensor and a plain Tensor of shape {tuple(tensor.shape)}; distribute both")
    return operands


def _result_spec(operands: Sequence[DTensor], result: Tensor) -> DTensorSpec:
    with DisableTorchFunctionSubclass():
        alike = [x._spec for x in operands if x.shape == result.shape]
    whole = DTensorSpec(operands[0]._spec.mesh, (Replicate(),) * operands[0]._spec.mesh.ndim)
    return next((spec for spec in alike if any(p.is_shard() for p in spec.placements)), whole)
