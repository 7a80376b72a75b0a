"""Writing archives: TorchScript's, which PyTorch reads, with Taeda's instructions beside the source."""

from __future__ import annotations

import io
import os
import sys
from typing import IO, Any

from taeda import _C
from taeda._schema.function_schema import FunctionSchema
from taeda._serialization.archive import bytes_of
from taeda._serialization.pickler import StorageTable
from taeda.jit._module import face_of_module
from taeda.jit._script import ScriptFunction
from taeda.jit.files.archive import ProgramWriter
from taeda.jit.files.definitions import Definitions
from taeda.jit.files.instructions import write_instructions
from taeda.jit.files.kept import texts_of
from taeda.jit.files.objects import behind_interfaces
from taeda.jit.files.pickle_writer import PickleWriter

_PLACEHOLDER = "__torch__.PlaceholderModule"


def save(m: Any, f: Any, extra_files: dict[str, Any] | None = None, needs_instructions: bool = False) -> None:
    """Writes the archive of a compiled module or function; see `taeda.jit.save`. What has no instructions is written
    without unless it ``needs_instructions``."""
    if isinstance(m, _C._jit.Object):
        m = face_of_module(m)
    if not isinstance(m, ScriptFunction) and not isinstance(getattr(m, "_c", None), _C._jit.Object):
        raise TypeError(
            f"taeda.jit.save: wants what taeda.jit.script or trace returned; got {type(m).__name__}. Of a plain module "
            "taeda.save(m.state_dict(), f) keeps the state"
        )
    if isinstance(f, (str, os.PathLike)):
        from taeda.serialization import _save_to_path

        _save_to_path(os.fspath(f), lambda file, stem: _write(m, file, stem, extra_files or {}, needs_instructions))
        return
    if not hasattr(f, "write"):
        raise AttributeError(f"taeda.jit.save: f must be a path or a file with write(); got {type(f).__name__}")
    _write(m, f, "archive", extra_files or {}, needs_instructions)
    if hasattr(f, "flush"):
        f.flush()


def to_bytes(m: Any, extra_files: dict[str, Any] | None = None) -> bytes:
    """The archive of a compiled module or function."""
    buffer = io.BytesIO()
    save(m, buffer, extra_files)
    return buffer.getvalue()


def _write(m: Any, file: IO[bytes], folder: str, extra_files: dict[str, Any], needs_instructions: bool) -> None:
    definitions = Definitions()
    held = _placeholder(m, definitions) if isinstance(m, ScriptFunction) else m._c
    for type in (held.type(), *behind_interfaces(held)):
        definitions.need_type(type)
    texts = texts_of(held.type(), definitions, m if isinstance(m, ScriptFunction) else None, needs_instructions)
    writer = ProgramWriter(file, folder)
    for name, content in extra_files.items():
        writer.write(f"extra/{name}", content.encode() if isinstance(content, str) else bytes(content))
    write_values(writer, "data", lambda pickle: pickle.write(held))
    for name, data in texts.records.items():
        writer.write(name, data)
    write_values(writer, "constants", lambda pickle: pickle.write(tuple(texts.constants)))
    if texts.instructions is not None:
        write_instructions(writer, texts.instructions)
    writer.write("byteorder", sys.byteorder.encode())
    writer.finish()


def write_values(writer: ProgramWriter, name: str, write: Any) -> None:
    """A pickle, ``name.pkl``, and the storages that it names, ``name/0`` and on."""
    table = StorageTable()
    pickle = PickleWriter(table)
    write(pickle)
    for key, storage in enumerate(table.storages):
        if storage.device.type == "meta":
            plain = storage.__class__(storage.nbytes())  # of no contents
        else:
            plain = storage if storage.device.type == "cpu" else storage.cpu()
        writer.write(f"{name}/{key}", bytes_of(plain))
    writer.write(f"{name}.pkl", pickle.finish())


def _placeholder(function: ScriptFunction, definitions: Definitions) -> Any:
    """A module whose ``forward`` is the function: archives hold modules only."""
    type = _C._class_type(_PLACEHOLDER, True)
    if not any(name == "training" for name, _, _ in _C._class_attributes(type)):
        _C._add_class_attribute(type, "training", _C._parse_type("bool"))
    graph = function.graph.copy()
    graph.insertInput(0, "self", type)
    text = str(function.schema)
    head, _, rest = text.partition("(")
    del head
    schema = FunctionSchema(f"forward({_PLACEHOLDER} self{'' if rest.startswith(')') else ', '}{rest}")
    definitions.add_method(type, "forward", graph, schema)
    made = _C._jit.Object(type)
    made.setattr("training", True)
    return made
