"""How a module's parameters, arguments and results lie over the processes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from taeda import Tensor, nn
from taeda.distributed.device_mesh import DeviceMesh
from taeda.distributed.tensor._distribute import distribute_module, distribute_tensor
from taeda.distributed.tensor._dtensor import DTensor
from taeda.distributed.tensor.placement_types import Placement, Replicate, Shard

__all__ = [
    "ColwiseParallel", "ParallelStyle", "PrepareModuleInput", "PrepareModuleInputOutput", "PrepareModuleOutput",
    "RowwiseParallel", "SequenceParallel",
]  # fmt: skip

Layouts = Placement | Sequence[Placement | None] | None


class ParallelStyle(ABC):
    """One of the ways; a program may write its own."""

    src_data_rank: int | None = 0

    @abstractmethod
    def _apply(self, module: nn.Module, device_mesh: DeviceMesh) -> nn.Module:
        """Makes the module so, in place."""


def _laid(value: Any, mesh: DeviceMesh, given: Placement, wanted: Placement | None = None) -> Any:
    """A tensor as a DTensor; a plain one lies as ``given``, and becomes ``wanted``."""
    if not isinstance(value, Tensor):
        return value
    placed = value if isinstance(value, DTensor) else DTensor.from_local(value, mesh, (given,), run_check=False)
    if wanted is not None and placed.placements != (wanted,):
        placed = placed.redistribute(placements=(wanted,))
    return placed


def _replaced(module: nn.Module, name: str, mesh: DeviceMesh, placement: Placement, source: int | None) -> None:
    """Lays a parameter over the mesh."""
    value = module._parameters.get(name)
    if value is not None and not isinstance(value, DTensor):
        laid = distribute_tensor(value.data, mesh, [placement], src_data_rank=source)
        module._parameters[name] = nn.Parameter(laid, value.requires_grad)


class _ForLayers(ParallelStyle):
    """What the styles of layers with a weight have in common."""

    _input: Placement
    _wanted_input: Placement
    _output: Placement
    use_local_output: bool

    def _cuts(self, module: nn.Module) -> dict[str, Placement]:
        """How each parameter is cut."""
        raise NotImplementedError

    def _apply(self, module: nn.Module, device_mesh: DeviceMesh) -> nn.Module:
        cuts = self._cuts(module)

        def cut(name: str, part: nn.Module, mesh: DeviceMesh) -> None:
            for parameter, placement in cuts.items():
                _replaced(part, parameter, mesh, placement, self.src_data_rank)

        return distribute_module(module, device_mesh, cut, self._take, self._give)

    def _take(self, module: nn.Module, inputs: Any, mesh: DeviceMesh) -> Any:
        return (_laid(inputs[0], mesh, self._input, self._wanted_input), *inputs[1:])

    def _give(self, module: nn.Module, outputs: Any, mesh: DeviceMesh) -> Any:
        wanted = self._output
        if isinstance(wanted, Shard) and wanted.dim < 0:
            wanted = Shard(wanted.dim + outputs.ndim)
        if outputs.placements != (wanted,):
            outputs = outputs.redistribute(placements=(wanted,))
        return outputs.to_local() if self.use_local_output else outputs


def _unknown(style: ParallelStyle, module: nn.Module) -> NotImplementedError:
    return NotImplementedError(f"{type(style).__name__}: for Linear and Embedding; got {type(module).__name__}")


class ColwiseParallel(_ForLayers):
    """Cuts the columns of a layer's product: each process computes some of the outputs (`Linear`, `Embedding`).

    Args:
        input_layouts: how plain arguments lie; `Replicate` by default, which is what is needed.
        output_layouts: how the result is to lie, by default cut along its last dimension.
        use_local_output: whether the result is a plain tensor.
    """

    def __init__(
        self, *, input_layouts: Placement | None = None, output_layouts: Placement | None = None,
        use_local_output: bool = True,
    ) -> None:  # fmt: skip
        self.input_layouts = (input_layouts or Replicate(),)
        self.output_layouts = (output_layouts or Shard(-1),)
        self.desired_input_layouts = (Replicate(),)
        self._input, self._wanted_input, self._output = self.input_layouts[0], Replicate(), self.output_layouts[0]
        self.use_local_output = use_local_output

    def _cuts(self, module: nn.Module) -> dict[str, Placement]:
        if isinstance(module, nn.Linear):
            return {"weight": Shard(0), "bias": Shard(0)}
        if isinstance(module, nn.Embedding):
            return {"weight": Shard(1)}
        raise _unknown(self, module)


class RowwiseParallel(_ForLayers):
    """Cuts the rows of a layer's product: each process computes a term of every output (`Linear`, `Embedding`).

    Args:
        input_layouts: how plain arguments lie; by default cut along the last dimension.
        output_layouts: how the result is to lie; by default whole.
        use_local_output: whether the result is a plain tensor.
    """

    def __init__(
        self, *, input_layouts: Placement | None = None, output_layouts: Placement | None = None,
        use_local_output: bool = True,
    ) -> None:  # fmt: skip
        self.input_layouts = (input_layouts or Shard(-1),)
        self.output_layouts = (output_layouts or Replicate(),)
        self._input, self._output = self.input_layouts[0], self.output_layouts[0]
        self.use_local_output = use_local_output

    def _cuts(self, module: nn.Module) -> dict[str, Placement]:
        if isinstance(module, nn.Linear):
            return {"weight": Shard(1), "bias": Replicate()}
        if isinstance(module, nn.Embedding):
            return {"weight": Shard(0)}
        raise _unknown(self, module)

    def _apply(self, module: nn.Module, device_mesh: DeviceMesh) -> nn.Module:
        made = super()._apply(module, device_mesh)
        if isinstance(module, nn.Embedding):
            weight: Any = module.weight
            weight.register_hook(lambda g: None if g is None else g.redistribute(placements=weight.placements))
        return made

    def _take(self, module: nn.Module, inputs: Any, mesh: DeviceMesh) -> Any:
        if isinstance(module, nn.Embedding):
            return (_laid(inputs[0], mesh, self._input, Replicate()), *inputs[1:])
        given = inputs[0]
        return (_laid(given, mesh, self._input, Shard(given.ndim - 1)), *inputs[1:])


class SequenceParallel(ParallelStyle):
    """Works on parts of a sequence (`LayerNorm`, `Dropout`, `RMSNorm`); the parameters are whole on each process.

    Args:
        sequence_dim: along which arguments are cut.
        use_local_output: whether the result is a plain tensor.
    """

    def __init__(self, *, sequence_dim: int = 1, use_local_output: bool = False) -> None:
        self.sequence_sharding = (Shard(sequence_dim),)
        self.use_local_output = use_local_output

    def _apply(self, module: nn.Module, device_mesh: DeviceMesh) -> nn.Module:
        cut = self.sequence_sharding[0]

        def replicate(name: str, part: nn.Module, mesh: DeviceMesh) -> None:
            for parameter in list(part._parameters):
                _replaced(part, parameter, mesh, Replicate(), self.src_data_rank)

        def take(module: nn.Module, inputs: Any, mesh: DeviceMesh) -> Any:
            return (_laid(inputs[0], mesh, cut, cut), *inputs[1:])

        def give(module: nn.Module, outputs: Any, mesh: DeviceMesh) -> Any:
            return outputs.to_local() if self.use_local_output else outputs

        return distribute_module(module, device_mesh, replicate, take, give)


def _listed(layouts: Layouts) -> tuple[Placement | None, ...] | None:
    if layouts is None:
        return None
    return (layouts,) if isinstance(layouts, Placement) else tuple(layouts)


def _relaid(
    style: str, values: Any, mesh: DeviceMesh, given: Sequence[Placement | None],
    wanted: Sequence[Placement | None], local: bool,
) -> tuple[Any, ...]:  # fmt: skip
    many = values if isinstance(values, (tuple, list)) else (values,)
    if len(many) != len(given):
        raise ValueError(f"{style}: a layout for each of {len(many)} values is wanted; got {len(given)}")
    made = []
    for value, layout, target in zip(many, given, wanted, strict=True):
        if layout is not None and isinstance(value, Tensor):
            value = _laid(value, mesh, layout, target)
            value = value.to_local() if local else value
        made.append(value)
    return tuple(made)


class PrepareModuleInput(ParallelStyle):
    """Lays a module's arguments over the processes.

    Args:
        input_layouts: how plain positional arguments lie; None for those to leave alone.
        desired_input_layouts: how they are to lie.
        input_kwarg_layouts, desired_input_kwarg_layouts: the same by name.
        use_local_output: whether the module gets plain tensors.

    Raises:
        AssertionError: not as many wanted as given.
    """

    def __init__(
        self, *, input_layouts: Layouts = None, desired_input_layouts: Layouts = None,
        input_kwarg_layouts: dict[str, Placement] | None = None,
        desired_input_kwarg_layouts: dict[str, Placement] | None = None, use_local_output: bool = False,
    ) -> None:  # fmt: skip
        self.input_layouts, self.desired_input_layouts = _listed(input_layouts), _listed(desired_input_layouts)
        self.input_kwarg_layouts = dict(input_kwarg_layouts or {})
        self.desired_input_kwarg_layouts = dict(desired_input_kwarg_layouts or {})
        self.use_local_output = use_local_output
        if (self.input_layouts is None) != (self.desired_input_layouts is None) or (
            self.input_layouts is not None
            and self.desired_input_layouts is not None
            and len(self.input_layouts) != len(self.desired_input_layouts)
        ):
            raise AssertionError("PrepareModuleInput: input_layouts and desired_input_layouts are wanted for the same")

    def _take(self, args: Any, kwargs: dict[str, Any], mesh: DeviceMesh) -> tuple[Any, Any]:
        if self.input_layouts is not None and self.desired_input_layouts is not None:
            args = _relaid("PrepareModuleInput", args, mesh, self.input_layouts, self.desired_input_layouts,
                           self.use_local_output)  # fmt: skip
        for name, given in self.input_kwarg_layouts.items():
            if name in kwargs:
                wanted = self.desired_input_kwarg_layouts.get(name)
                (kwargs[name],) = _relaid("", (kwargs[name],), mesh, (given,), (wanted,), self.use_local_output)
        return args, kwargs

    def _apply(self, module: nn.Module, device_mesh: DeviceMesh) -> nn.Module:
        module.register_forward_pre_hook(
            lambda _, args, kwargs: self._take(args, dict(kwargs), device_mesh), with_kwargs=True
        )
        return module


class PrepareModuleOutput(ParallelStyle):
    """Lays a module's results over the processes.

    Args:
        output_layouts: how plain results lie; None for those to leave alone.
        desired_output_layouts: how they are to lie.
        use_local_output: whether they become plain tensors.
    """

    def __init__(
        self, *, output_layouts: Layouts, desired_output_layouts: Layouts, use_local_output: bool = True
    ) -> None:
        self.output_layouts = _listed(output_layouts) or ()
        self.desired_output_layouts = _listed(desired_output_layouts) or ()
        self.use_local_output = use_local_output
        if len(self.output_layouts) != len(self.desired_output_layouts):
            raise AssertionError(
                "PrepareModuleOutput: output_layouts and desired_output_layouts are wanted for the same"
            )

    def _apply(self, module: nn.Module, device_mesh: DeviceMesh) -> nn.Module:
        def give(module: nn.Module, inputs: Any, outputs: Any) -> Any:
            made = _relaid("PrepareModuleOutput", outputs, device_mesh, self.output_layouts,
                           self.desired_output_layouts, self.use_local_output)  # fmt: skip
            return made if isinstance(outputs, (tuple, list)) else made[0]

        module.register_forward_hook(give)
        return module


class PrepareModuleInputOutput(ParallelStyle):
    """`PrepareModuleInput` and `PrepareModuleOutput` in one."""

    def __init__(
        self, *, input_layouts: Layouts = None, desired_input_layouts: Layouts = None,
        input_kwarg_layouts: dict[str, Placement] | None = None,
        desired_input_kwarg_layouts: dict[str, Placement] | None = None, use_local_input: bool = False,
        output_layouts: Layouts, desired_output_layouts: Layouts, use_local_output: bool = True,
    ) -> None:  # fmt: skip
        self.prepare_module_input = PrepareModuleInput(
            input_layouts=input_layouts, desired_input_layouts=desired_input_layouts,
            input_kwarg_layouts=input_kwarg_layouts, desired_input_kwarg_layouts=desired_input_kwarg_layouts,
            use_local_output=use_local_input,
        )  # fmt: skip
        self.prepare_module_output = PrepareModuleOutput(
            output_layouts=output_layouts, desired_output_layouts=desired_output_layouts,
            use_local_output=use_local_output,
        )  # fmt: skip

    def _apply(self, module: nn.Module, device_mesh: DeviceMesh) -> nn.Module:
        self.prepare_module_input._apply(module, device_mesh)
        return self.prepare_module_output._apply(module, device_mesh)
