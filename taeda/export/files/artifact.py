"""An exported program as four texts of bytes, for those who keep them in files of their own."""

from __future__ import annotations

import dataclasses
import io
import json
from typing import Any

import taeda
from taeda.export.exported_program import ExportedProgram
from taeda.export.files import codes
from taeda.export.files.program import _described, _example, _restored


class SerializeError(RuntimeError):
    """A program holds, or bytes say, what the format has no form for."""


@dataclasses.dataclass
class SerializedArtifact:
    """The graph as JSON in ``exported_program``; the tensors and the example as `taeda.save` writes them."""

    exported_program: bytes
    state_dict: bytes
    constants: bytes
    example_inputs: bytes


def serialize(
    exported_program: ExportedProgram, opset_version: dict[str, int] | None = None, pickle_protocol: int = 2
) -> SerializedArtifact:
    """The bytes of a program.

    Args:
        exported_program: the program.
        opset_version: accepted; ops are named with their schemas.
        pickle_protocol: that of the tensors.

    Raises:
        SerializeError: it holds what the format has no form for.
    """
    try:
        described = json.dumps(_described(exported_program), allow_nan=False).encode()
    except (RuntimeError, TypeError, ValueError) as error:
        raise SerializeError(f"taeda.export: {error}") from error
    return SerializedArtifact(
        described, _saved(exported_program.state_dict, pickle_protocol),
        _saved(exported_program.constants, pickle_protocol), _example(exported_program.example_inputs),
    )  # fmt: skip


def _saved(values: dict[str, Any], protocol: int) -> bytes:
    stream = io.BytesIO()
    taeda.save(values, stream, pickle_protocol=protocol)
    return stream.getvalue()


def _loaded(data: bytes) -> Any:
    return taeda.load(io.BytesIO(data), weights_only=True) if data else {}


def deserialize(artifact: SerializedArtifact, expected_opset_version: dict[str, int] | None = None) -> ExportedProgram:
    """The program of such bytes, which may be PyTorch's. Nothing of them is run.

    Raises:
        SerializeError: the bytes are no program's.
    """
    try:
        described = json.loads(artifact.exported_program)
        state, constants = _loaded(artifact.state_dict), _loaded(artifact.constants)
        try:
            example = _loaded(artifact.example_inputs) or None
        except Exception:  # it holds objects of classes that only their program knows
            example = None
        return _restored(described, state, constants, example)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError, RecursionError) as error:
        raise SerializeError(f"taeda.export: these bytes are no exported program's: {error!r}") from error


# --- by parts, for those who look at the graph as it is written
_TABLES = frozenset([
    "as_string_to_argument", "custom_obj_values", "metadata", "opset_version", "range_constraints", "sym_bool_values",
    "sym_float_values", "sym_int_values", "tensor_values", "treespec_namedtuple_fields",
])  # fmt: skip


class Record:
    """A part of a written program: its fields are attributes. Of one that is of several kinds, ``type`` is the name of
    its only field and ``value`` what that holds."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    @property
    def type(self) -> str:
        """Of which kind it is: ``"as_tensor"``."""
        (kind,) = self._fields
        return kind

    @property
    def value(self) -> Any:
        """What it holds."""
        return getattr(self, self.type)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self._fields:
            raise AttributeError(f"taeda.export: this part has {', '.join(self._fields)}; got {name}")
        value = self._fields[name]
        if name in _TABLES and isinstance(value, dict):
            return {key: _part(item) for key, item in value.items()}
        return _part(value)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_fields":
            object.__setattr__(self, name, value)
        else:
            self._fields[name] = value._fields if isinstance(value, Record) else value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self._fields == other._fields

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Record({', '.join(f'{name}={_part(value)!r}' for name, value in self._fields.items())})"


def _part(value: Any) -> Any:
    if isinstance(value, list):
        return [_part(item) for item in value]
    return Record(value) if isinstance(value, dict) else value


@dataclasses.dataclass
class _SerializedProgram:
    """A program in parts: the graph with what describes it, and bytes."""

    exported_program: Record
    state_dict: bytes
    constants: bytes
    example_inputs: bytes


class ExportedProgramSerializer:
    """`serialize`, with the graph as a `Record` that can be looked at.

    Args:
        opset_version: accepted; ops are named with their schemas.
        pickle_protocol: that of the tensors.
    """

    def __init__(self, opset_version: dict[str, int] | None = None, pickle_protocol: int = 2) -> None:
        self.opset_version, self.pickle_protocol = opset_version or {}, pickle_protocol

    def serialize(
        self, exported_program: ExportedProgram, *, serialize_state_dict: bool = True,
        serialize_constants: bool = True, serialize_example_inputs: bool = True,
    ) -> _SerializedProgram:  # fmt: skip
        """The parts of a program; those that are not wanted are empty."""
        written = serialize(exported_program, self.opset_version, self.pickle_protocol)
        return _SerializedProgram(
            Record(json.loads(written.exported_program)), written.state_dict if serialize_state_dict else b"",
            written.constants if serialize_constants else b"",
            written.example_inputs if serialize_example_inputs else b"",
        )  # fmt: skip


class ExportedProgramDeserializer:
    """Makes a program of the parts that `ExportedProgramSerializer` gives.

    Args:
        expected_opset_version: accepted.
    """

    def __init__(self, expected_opset_version: dict[str, int] | None = None) -> None:
        self.expected_opset_version = expected_opset_version or {}

    def deserialize(
        self, exported_program: Record, state_dict: Any, constants: Any, example_inputs: Any = None, *,
        _unsafe_skip_version_check: bool = False,
    ) -> ExportedProgram:  # fmt: skip
        """The program.

        Args:
            exported_program: the graph and what describes it.
            state_dict, constants: the tensors, as bytes or as dicts of them.
            example_inputs: the example, as bytes or as ``(args, kwargs)``.
            _unsafe_skip_version_check: read other versions of the format, too.

        Raises:
            SerializeError: the program is written in another version of the format.
        """
        major = exported_program.schema_version.major
        if major != codes.MAJOR and not _unsafe_skip_version_check:
            raise SerializeError(
                f"taeda.export: the program is of version {major} of the format; this is {codes.MAJOR}"
            )
        plain = {"state": state_dict, "constants": constants, "example": example_inputs}
        given = {name: _loaded(value) if isinstance(value, bytes) else value for name, value in plain.items()}
        return _restored(exported_program._fields, given["state"], given["constants"], given["example"] or None)
