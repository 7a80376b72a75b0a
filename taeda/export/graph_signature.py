"""What inputs and outputs of an exported graph are: parameters, buffers, constants, what the user gives and gets."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Collection, Mapping
from typing import Any

__all__ = [
    "ConstantArgument", "CustomObjArgument", "ExportBackwardSignature", "ExportGraphSignature", "InputKind",
    "InputSpec", "OutputKind", "OutputSpec", "SymBoolArgument", "SymFloatArgument", "SymIntArgument", "TensorArgument",
    "TokenArgument",
]  # fmt: skip


@dataclasses.dataclass
class TensorArgument:
    """A tensor, by the name of its node."""

    name: str


@dataclasses.dataclass
class TokenArgument:
    """A token that orders effects, by the name of its node."""

    name: str


@dataclasses.dataclass
class SymIntArgument:
    """A size, by the name of its node."""

    name: str


@dataclasses.dataclass
class SymFloatArgument:
    """A real number, by the name of its node."""

    name: str


@dataclasses.dataclass
class SymBoolArgument:
    """A truth value, by the name of its node."""

    name: str


@dataclasses.dataclass
class CustomObjArgument:
    """An object of a class that a program registered."""

    name: str
    class_fqn: str
    fake_val: Any = None


@dataclasses.dataclass
class ConstantArgument:
    """A number, text or None that the graph was made for."""

    name: str
    value: int | float | bool | str | None


class InputKind(enum.Enum):
    """What an input of the graph is."""

    USER_INPUT = enum.auto()
    PARAMETER = enum.auto()
    BUFFER = enum.auto()
    CONSTANT_TENSOR = enum.auto()
    CUSTOM_OBJ = enum.auto()
    TOKEN = enum.auto()


class OutputKind(enum.Enum):
    """What an output of the graph is."""

    USER_OUTPUT = enum.auto()
    LOSS_OUTPUT = enum.auto()
    BUFFER_MUTATION = enum.auto()
    PARAMETER_MUTATION = enum.auto()
    GRADIENT_TO_PARAMETER = enum.auto()
    GRADIENT_TO_USER_INPUT = enum.auto()
    USER_INPUT_MUTATION = enum.auto()
    TOKEN = enum.auto()


@dataclasses.dataclass
class InputSpec:
    """One input: its kind, its node, and the dotted path of a parameter, buffer or constant."""

    kind: InputKind
    arg: Any
    target: str | None
    persistent: bool | None = None

    def __str__(self) -> str:
        target = "" if self.target is None else f" target={self.target!r}"
        kept = "" if self.persistent is None else f" persistent={self.persistent}"
        return f"{self.arg.name}: {self.kind.name}{target}{kept}"


@dataclasses.dataclass
class OutputSpec:
    """One output: its kind, its node, and what it is the new value of."""

    kind: OutputKind
    arg: Any
    target: str | None

    def __str__(self) -> str:
        return f"{self.arg.name}: {self.kind.name}" + ("" if self.target is None else f" target={self.target!r}")


@dataclasses.dataclass
class ExportBackwardSignature:
    """Which outputs are gradients, and which is the loss."""

    gradients_to_parameters: dict[str, str]
    gradients_to_user_inputs: dict[str, str]
    loss_output: str


def _copied(spec: Any) -> Any:
    made, made.arg = object.__new__(type(spec)), object.__new__(type(spec.arg))
    made.__dict__ |= spec.__dict__ | {"arg": made.arg}
    made.arg.__dict__ |= spec.arg.__dict__
    return made


def _user_value(arg: Any) -> Any:
    return arg.value if isinstance(arg, ConstantArgument) else arg.name


@dataclasses.dataclass
class ExportGraphSignature:
    """The inputs and outputs of an exported graph, in order.

    Parameters, buffers and constants come first among the inputs; new values of what the program changed come first
    among the outputs.
    """

    input_specs: list[InputSpec]
    output_specs: list[OutputSpec]

    def __deepcopy__(self, memo: Any) -> ExportGraphSignature:
        # Passes copy signatures once each, of all parameters: two levels, of fields that are not changed in place.
        return ExportGraphSignature([_copied(s) for s in self.input_specs], [_copied(s) for s in self.output_specs])

    def _inputs(self, kind: InputKind) -> list[InputSpec]:
        return [spec for spec in self.input_specs if spec.kind == kind]

    def _outputs(self, kind: OutputKind) -> list[OutputSpec]:
        return [spec for spec in self.output_specs if spec.kind == kind]

    @property
    def parameters(self) -> Collection[str]:
        """The paths of the parameters."""
        return tuple(str(spec.target) for spec in self._inputs(InputKind.PARAMETER))

    @property
    def buffers(self) -> Collection[str]:
        """The paths of the buffers."""
        return tuple(str(spec.target) for spec in self._inputs(InputKind.BUFFER))

    @property
    def non_persistent_buffers(self) -> Collection[str]:
        """The paths of the buffers that state dicts leave out."""
        return tuple(str(s.target) for s in self._inputs(InputKind.BUFFER) if s.persistent is False)

    @property
    def lifted_tensor_constants(self) -> Collection[str]:
        """The paths of tensors that are no buffers."""
        return tuple(str(spec.target) for spec in self._inputs(InputKind.CONSTANT_TENSOR))

    @property
    def lifted_custom_objs(self) -> Collection[str]:
        """The paths of objects of registered classes."""
        return tuple(str(spec.target) for spec in self._inputs(InputKind.CUSTOM_OBJ))

    @property
    def user_inputs(self) -> Collection[Any]:
        """The nodes of what the user gives; constants as they are."""
        return tuple(_user_value(spec.arg) for spec in self._inputs(InputKind.USER_INPUT))

    @property
    def user_outputs(self) -> Collection[Any]:
        """The nodes of what the user gets; constants as they are."""
        kinds = OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT
        return tuple(_user_value(spec.arg) for spec in self.output_specs if spec.kind in kinds)

    @property
    def inputs_to_parameters(self) -> Mapping[str, str]:
        """Paths of parameters by nodes."""
        return {s.arg.name: str(s.target) for s in self._inputs(InputKind.PARAMETER)}

    @property
    def inputs_to_buffers(self) -> Mapping[str, str]:
        """Paths of buffers by nodes."""
        return {s.arg.name: str(s.target) for s in self._inputs(InputKind.BUFFER)}

    @property
    def inputs_to_lifted_tensor_constants(self) -> Mapping[str, str]:
        """Paths of constants by nodes."""
        return {s.arg.name: str(s.target) for s in self._inputs(InputKind.CONSTANT_TENSOR)}

    @property
    def inputs_to_lifted_custom_objs(self) -> Mapping[str, str]:
        """Paths of objects by nodes."""
        return {s.arg.name: str(s.target) for s in self._inputs(InputKind.CUSTOM_OBJ)}

    @property
    def buffers_to_mutate(self) -> Mapping[str, str]:
        """Paths of the buffers that change, by the nodes of their new values."""
        return {s.arg.name: str(s.target) for s in self._outputs(OutputKind.BUFFER_MUTATION)}

    @property
    def parameters_to_mutate(self) -> Mapping[str, str]:
        """Paths of the parameters that change, by the nodes of their new values."""
        return {s.arg.name: str(s.target) for s in self._outputs(OutputKind.PARAMETER_MUTATION)}

    @property
    def user_inputs_to_mutate(self) -> Mapping[str, str]:
        """Names of the user's inputs that change, by the nodes of their new values."""
        return {s.arg.name: str(s.target) for s in self._outputs(OutputKind.USER_INPUT_MUTATION)}

    @property
    def backward_signature(self) -> ExportBackwardSignature | None:
        """What is known of gradients: nothing, unless outputs are declared to be such."""
        loss = self._outputs(OutputKind.LOSS_OUTPUT)
        if not loss:
            return None
        to_parameters = {s.arg.name: str(s.target) for s in self._outputs(OutputKind.GRADIENT_TO_PARAMETER)}
        to_inputs = {s.arg.name: str(s.target) for s in self._outputs(OutputKind.GRADIENT_TO_USER_INPUT)}
        return ExportBackwardSignature(to_parameters, to_inputs, loss[0].arg.name)

    @property
    def assertion_dep_token(self) -> Mapping[int, str] | None:
        """None: assertions are nodes of the graph."""
        return None

    @property
    def input_tokens(self) -> list[str]:
        """The names of tokens among the inputs."""
        return [spec.arg.name for spec in self._inputs(InputKind.TOKEN)]

    @property
    def output_tokens(self) -> list[str]:
        """The names of tokens among the outputs."""
        return [spec.arg.name for spec in self._outputs(OutputKind.TOKEN)]

    def replace_all_uses(self, old: str, new: str) -> None:
        """Takes the node ``new`` wherever ``old`` is named."""
        specs: list[Any] = [*self.input_specs, *self.output_specs]
        for spec in specs:
            if spec.arg.name == old:
                spec.arg.name = new

    def get_replace_hook(self, replace_inputs: bool = False) -> Any:
        """A function of (old node, new name, user) that keeps this signature right while a graph is changed."""

        def hook(old: Any, new: str, user: Any) -> None:
            if user.op == "output" or (replace_inputs and old.op == "placeholder"):
                self.replace_all_uses(old.name, new)

        return hook

    def __str__(self) -> str:
        inputs = "\n".join(map(str, self.input_specs))
        outputs = "\n".join(map(str, self.output_specs))
        return f"\n# inputs\n{inputs}\n\n# outputs\n{outputs}\n"
