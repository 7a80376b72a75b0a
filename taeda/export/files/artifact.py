"""An exported program as four texts of bytes, for those who keep them in files of their own."""

from __future__ import annotations

import dataclasses
import io
import json
from typing import Any

import taeda
from taeda.export.exported_program import ExportedProgram
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
