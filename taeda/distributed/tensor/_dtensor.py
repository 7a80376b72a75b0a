"""``DTensor``: a tensor that knows the mesh it lies on, and how.

A process has a part, the whole, or a term of it (`_local_tensor`); shape and strides are the whole's. Ops run on the
parts, after what must be moved is moved (`_dispatch`, `_rules`); one that has no rule runs on the whole. A process
outside the mesh runs the same ops on the meta device, on a part of the first process's shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import taeda
from taeda import Tensor
from taeda.autograd import Function
from taeda.distributed._objects import all_gather_object
from taeda.distributed._replicas import broadcast_coalesced
from taeda.distributed.device_mesh import DeviceMesh, _known_mesh
from taeda.distributed.tensor._dispatch import run
from taeda.distributed.tensor._redistribute import move
from taeda.distributed.tensor._spec import DTensorSpec, Placements, local_shape, placements_for
from taeda.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard, _MaskPartial, _StridedShard
from taeda.serialization import add_safe_globals


class DTensor(Tensor):
    """One tensor over the processes of a mesh. Made by `from_local`, `distribute_tensor` and the factory functions.

    An op on DTensors takes DTensors of one mesh, and plain tensors of one element; it raises RuntimeError for others.
    ``grad`` is a DTensor.
    """

    _local_tensor: Tensor
    _spec: DTensorSpec
    _masks: Placements | None = None  # what was looked up in parts says so; to ops it is terms as others are
    _seen_from: tuple[DTensor, Any] | None = None  # the base of a view that is a copy, and how it is seen from there

    def __new__(cls, local_tensor: Tensor, spec: DTensorSpec, *, requires_grad: bool) -> DTensor:
        return cls._made(local_tensor.detach(), spec, requires_grad)

    @staticmethod
    def _made(local: Tensor, spec: DTensorSpec, requires_grad: bool = False) -> DTensor:
        """A DTensor around this process's part."""
        device = local.device
        if spec.mesh.get_coordinate() is None:
            device, local = taeda.device(spec.mesh.device_type), local.to("meta")
        made: DTensor = Tensor._make_wrapper_subclass(
            DTensor, spec.shape, strides=_strides(local, spec.shape), dtype=local.dtype, device=device,
            requires_grad=requires_grad,
        )  # fmt: skip
        made._local_tensor, made._spec = local, spec
        return made

    __torch_function__ = taeda._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None) -> Any:
        return run(func, args, kwargs or {}, DTensor)

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
            run_check: compare the parts' properties, and make what is whole on each process that of the first.
            shape, stride: the whole tensor's, both or none; by default all processes have parts of one size.

        Raises:
            RuntimeError: no plain tensor, no mesh, or one of ``shape`` and ``stride`` only.
            ValueError: placements that do not fit the mesh, a shape of which the tensor is not this process's part, or
                with ``run_check`` parts that differ in dtype, layout, strides, dimensions or requires_grad.
        """
        if not isinstance(local_tensor, Tensor) or isinstance(local_tensor, DTensor):
            raise RuntimeError(f"DTensor.from_local: a plain Tensor is wanted; got {type(local_tensor).__name__}")
        if (shape is None) != (stride is None):
            raise RuntimeError("DTensor.from_local: shape and stride are wanted together")
        mesh, placed = placements_for("DTensor.from_local", local_tensor.ndim, device_mesh, placements)
        sizes = list(local_tensor.shape)
        for dim, placement in enumerate(placed):
            if isinstance(placement, Shard):
                sizes[placement.dim] *= mesh.size(dim)
        if shape is not None:
            sizes = list(shape)
            _check_part(local_tensor, tuple(sizes), mesh, placed)
        if run_check and mesh.get_coordinate() is not None:
            _check_alike(local_tensor, mesh)
            for dim, placement in enumerate(placed):
                if placement.is_replicate():
                    broadcast_coalesced(mesh.get_group(dim), [local_tensor.detach()])
        result: DTensor = _FromLocal.apply(local_tensor, DTensorSpec(mesh, placed, tuple(sizes)))
        return result

    @property
    def device_mesh(self) -> DeviceMesh:
        """The mesh it lies on."""
        return self._spec.mesh

    @property
    def placements(self) -> Placements:
        """How it lies over each dimension of the mesh."""
        return self._masks or self._spec.placements

    def to_local(self, *, grad_placements: Sequence[Placement] | None = None) -> Tensor:
        """This process's part, a plain tensor that shares memory; gradients flow back.

        Args:
            grad_placements: how its gradient lies, if not as this tensor.

        Raises:
            ValueError: ``grad_placements`` do not fit the mesh.
        """
        back = None
        if grad_placements is not None:
            back = placements_for("DTensor.to_local", self.ndim, self.device_mesh, grad_placements)[1]
        if not taeda.is_grad_enabled() or not self.requires_grad:
            return self._part()
        result: Tensor = _ToLocal.apply(self, back)
        return result

    def _part(self) -> Tensor:
        """This process's part; outside the mesh nothing, or 0 for what has no dimensions."""
        if self.device_mesh.get_coordinate() is not None:
            return self._local_tensor
        return taeda.zeros(() if not self.shape else 0, dtype=self.dtype, device=self.device)

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
            async_op: accepted; the result is there when it is returned.
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
        _, wanted = placements_for("DTensor.redistribute", self.ndim, self.device_mesh, placements)
        for old, new in zip(self.placements, wanted, strict=True):
            if new.is_partial() and old != new:
                raise RuntimeError(f"DTensor.redistribute: what is {old} does not become {new}")
        wanted = tuple(Partial() if isinstance(one, _MaskPartial) else one for one in wanted)
        result: DTensor = _Redistribute.apply(self, wanted, forward_dtype, backward_dtype)
        return result

    def full_tensor(self, *, grad_placements: Sequence[Placement] | None = None) -> Tensor:
        """The whole, a plain tensor; gradients flow back. ``grad_placements`` as in `to_local`."""
        whole = [Replicate()] * self.device_mesh.ndim
        return self.redistribute(placements=whole).to_local(grad_placements=grad_placements)

    def item(self) -> Any:
        """The value of the only element."""
        return self.full_tensor().detach().item()

    __float__ = __int__ = __bool__ = __index__ = __complex__ = None  # type: ignore[assignment]  # set below

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
            vars(copied).update(
                {name: value for name, value in vars(self).items() if name not in ("_local_tensor", "_seen_from")}
            )
            memo[id(self)] = copied
        return memo[id(self)]

    def __reduce_ex__(self, proto: Any) -> Any:
        return _rebuild, (self._local_tensor, tuple(self._spec), self.requires_grad)


def _asks_whole(name: str) -> Any:
    return lambda self: getattr(self.full_tensor().detach(), name)()


for _name in ("__float__", "__int__", "__bool__", "__index__", "__complex__"):
    setattr(DTensor, _name, _asks_whole(_name))


def _strides(local: Tensor, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The whole's strides: its dimensions lie in the order of the part's."""
    if local.is_contiguous():
        order = list(range(len(shape)))
    else:
        order = sorted(range(len(shape)), key=lambda dim: (-local.stride(dim), dim))
    strides, step = [0] * len(shape), 1
    for dim in reversed(order):
        strides[dim] = step
        step *= max(1, shape[dim])
    return tuple(strides)


def _check_alike(local: Tensor, mesh: DeviceMesh) -> None:
    own = (local.dtype, local.layout, local.stride(), local.dim(), local.requires_grad)
    for dim in range(mesh.ndim):
        every: list[Any] = [None] * mesh.size(dim)
        all_gather_object(every, own, group=mesh.get_group(dim))
        if any(other != own for other in every):
            raise ValueError(
                "DTensor.from_local: the parts of a tensor have one dtype, layout, strides, number of dimensions and "
                f"requires_grad; the processes have {every}"
            )


def _check_part(local: Tensor, shape: tuple[int, ...], mesh: DeviceMesh, placements: Placements) -> None:
    sizes = local_shape(DTensorSpec(mesh, placements, shape))
    if sizes != tuple(local.shape):
        raise ValueError(f"DTensor.from_local: of {tuple(shape)} this process has {sizes}, not {tuple(local.shape)}")


def _rebuild(local: Tensor, spec: tuple[DeviceMesh, Placements, tuple[int, ...]], requires_grad: bool) -> DTensor:
    if not (
        isinstance(local, Tensor) and isinstance(spec, tuple) and len(spec) == 3 and isinstance(spec[0], DeviceMesh)
    ):
        raise ValueError(
            "taeda.load: a DTensor is saved as a part, a mesh, placements and a shape; the file has others"
        )
    placements_for("taeda.load", len(spec[2]), *spec[:2])
    return DTensor(local, DTensorSpec(*spec), requires_grad=requires_grad)


def _without_terms(placements: Placements) -> Placements:
    """What a gradient lies as: it is whole where its tensor is in terms."""
    return tuple(Replicate() if isinstance(placement, Partial) else placement for placement in placements)


def _moved(tensor: DTensor, wanted: Placements) -> DTensor:
    return DTensor._made(move(tensor._local_tensor, tensor._spec, wanted), tensor._spec._replace(placements=wanted))


class _FromLocal(Function):
    @staticmethod
    def forward(ctx: Any, local: Tensor, spec: DTensorSpec) -> DTensor:
        ctx.placements = _without_terms(spec.placements)
        return DTensor._made(local.detach(), spec)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        part = _moved(grad, ctx.placements)._local_tensor
        return None if grad.device_mesh.get_coordinate() is None else part, None


class _ToLocal(Function):
    @staticmethod
    def forward(ctx: Any, tensor: DTensor, back: Placements | None) -> Tensor:
        ctx.spec = tensor._spec._replace(placements=back or _without_terms(tensor.placements))
        part = tensor._part()
        return part.view_as(part)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        if ctx.spec.mesh.get_coordinate() is None:
            grad = taeda.empty(local_shape(ctx.spec), dtype=grad.dtype, device="meta")
        return DTensor._made(grad.contiguous(), ctx.spec), None


class _Redistribute(Function):
    @staticmethod
    def forward(ctx: Any, tensor: DTensor, wanted: Placements, forward_dtype: Any, backward_dtype: Any) -> DTensor:
        ctx.placements, ctx.dtypes = _without_terms(tensor.placements), (backward_dtype, tensor.dtype)
        made = _moved(tensor, wanted)
        local = made._local_tensor
        if local is tensor._local_tensor:
            local = local.view_as(local)
        return DTensor._made(local.to(forward_dtype or tensor.dtype), made._spec)

    @staticmethod
    def backward(ctx: Any, grad: DTensor) -> Any:
        rounded, own = ctx.dtypes
        if rounded is not None:
            grad = grad.to(rounded)  # type: ignore[assignment]
        return _moved(grad, ctx.placements).to(own), None, None, None


add_safe_globals([_rebuild, _known_mesh, Partial, Replicate, Shard, _MaskPartial, _StridedShard])
