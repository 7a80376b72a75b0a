"""Reading archives: what PyTorch's ``torch.jit.save`` or ours wrote becomes a module that runs."""

from __future__ import annotations

import gc
import os
import sys
from typing import IO, Any

from taeda import _C, nn
from taeda._serialization.archive import Damaged
from taeda._serialization.locations import default_restore_location, restorer
from taeda._serialization.safe_pickle import Refused
from taeda._serialization.storages import StorageLoader
from taeda.jit import _packed
from taeda.jit._module import RecursiveScriptModule, bind_hooks
from taeda.jit.check.classes import class_named
from taeda.jit.files.archive import ProgramReader
from taeda.jit.files.instructions import NAMES, PROGRAM, Instructions
from taeda.jit.files.objects import call_method, method_of
from taeda.jit.files.program import ArchiveProgram
from taeda.jit.files.sources import Sources
from taeda.jit.files.unpickle import ProgramUnpickler, SavedMember, SavedObject


def load(f: Any, map_location: Any = None, extra_files: dict[str, Any] | None = None) -> RecursiveScriptModule:
    """The module in an archive; see `taeda.jit.load`."""
    if isinstance(f, (str, os.PathLike)):
        if not os.path.exists(f):
            raise ValueError(f"taeda.jit.load: there is no file {os.fspath(f)}")
        if os.path.isdir(f):
            raise ValueError(f"taeda.jit.load: {os.fspath(f)} is a folder")
        with open(f, "rb") as file:
            return _load(file, map_location, extra_files)
    return _load(_seekable(f), map_location, extra_files)


def _seekable(f: Any) -> Any:
    missing = [name for name in ("read", "seek", "tell") if not hasattr(f, name)]
    if missing:
        raise AttributeError(
            f"taeda.jit.load: f must be a path or a file that can read, seek and tell; {type(f).__name__} has no "
            f"{missing[0]}()"
        )
    if f.tell():
        import io

        return io.BytesIO(f.read())  # an archive in the middle of a file: its places count from its beginning
    return f


def _load(file: IO[bytes], map_location: Any, extra_files: dict[str, Any] | None) -> RecursiveScriptModule:
    collects = gc.isenabled()
    gc.disable()  # nothing that is made here becomes garbage, and looking for it takes a sixth of the time
    try:
        return _read(file, map_location, extra_files)
    finally:
        if collects:
            gc.enable()


def _read(file: IO[bytes], map_location: Any, extra_files: dict[str, Any] | None) -> RecursiveScriptModule:
    try:
        reader = ProgramReader(file)
        version = reader.check_version()
        reader.read_byteorder(sys.byteorder)
        for name in extra_files or {}:
            if reader.has(f"extra/{name}"):
                extra_files[name] = reader.read(f"extra/{name}")  # type: ignore[index]
        restore = _placing(map_location)
        constants = _unpickled(reader, "constants", restore)
        if not isinstance(constants, tuple):
            raise Damaged("its constants are no tuple")
        saved = _unpickled(reader, "data", restore)
    except Refused as error:
        raise RuntimeError(f"taeda.jit.load: the archive is damaged or was tampered with: {error}") from error
    if not isinstance(saved, SavedObject):
        raise Damaged("it holds no module")
    program = ArchiveProgram(Sources(reader), constants, _instructions(reader, restore), version)
    return Maker(program).module(saved)


def _placing(map_location: Any) -> Any:
    """What places the storages; those without elements stay on the device ``meta``."""
    restore = restorer(map_location)
    return lambda storage, place: (default_restore_location if place == "meta" else restore)(storage, place)


def _instructions(reader: ProgramReader, restore: Any) -> Instructions | None:
    """Taeda's own, where the archive has them; what is wrong with them leaves the source."""
    if not (reader.has(PROGRAM) and reader.has(NAMES)):
        return None
    try:
        return Instructions(reader, lambda: _unpickled(reader, "instructions", restore))
    except (RuntimeError, Refused, TypeError, ValueError):
        return None


def _unpickled(reader: ProgramReader, name: str, restore: Any) -> Any:
    storages = StorageLoader(reader, restore, None, False, name)
    return ProgramUnpickler(reader.read(f"{name}.pkl"), storages.load).load()


class Maker:
    """Makes the objects of an archive from their records."""

    def __init__(self, program: ArchiveProgram) -> None:
        self._program = program
        self._made: dict[int, Any] = {}

    def module(self, saved: SavedObject) -> RecursiveScriptModule:
        """A record as a module, with the modules in it.

        Raises:
            RuntimeError: the record does not go with its class.
        """
        self._object(saved)
        return self._wrapped(saved, {})

    def _wrapped(self, saved: SavedObject, seen: dict[int, RecursiveScriptModule]) -> RecursiveScriptModule:
        found = seen.get(id(saved))
        if found is not None:
            return found
        held = self._made[id(saved)]
        info = class_named(held.type()._name)
        assert info is not None
        children: dict[str, nn.Module] = {}
        for name, type, _ in _C._class_attributes(info.type):
            if not _may_be_module(type):
                continue
            inner = saved.state.get(name) if isinstance(saved.state, dict) else _face(held, name)
            if isinstance(inner, nn.Module):  # of an object that made itself
                children[name] = inner
            elif isinstance(inner, SavedObject) and _C._is_module_class(self._made[id(inner)].type()):
                children[name] = self._wrapped(inner, seen)
        made = seen[id(saved)] = RecursiveScriptModule(held, info, children, {})
        for names in info.hooks.values():
            if unknown := [name for name in names if name not in info.methods]:
                raise Damaged(f"{info.name[:100]} has no hook '{unknown[0][:100]}'")
        bind_hooks(made)
        return made

    def _object(self, saved: SavedObject) -> Any:
        if id(saved) in self._made:
            return self._made[id(saved)]
        type = self._program.types.read(saved.class_name)
        if type.kind() != "ClassType":
            raise Damaged(f"it holds an object of {saved.class_name[:100]}, which is no class")
        made = self._made[id(saved)] = _C._jit.Object(type)
        if method_of(type, "__setstate__") is not None and not isinstance(saved.state, dict):
            call_method(made, "__setstate__", self._value(saved.state))
            return made
        if _packed.is_packed(saved.class_name) and not isinstance(saved.state, dict):
            made = self._made[id(saved)] = _packed.from_state((self._value(saved.state), saved.class_name))
            return made
        if not isinstance(saved.state, dict):
            raise Damaged(f"the state of a {saved.class_name[:100]} is no dict")
        for name, held, _ in _C._class_attributes(type):
            if name in saved.state:
                self._set(made, name, held, saved.state[name])
            elif held.kind() not in ("NoneType", "OptionalType"):
                raise Damaged(f"a {saved.class_name[:100]} has no '{name}'")
        return made

    def _set(self, made: Any, name: str, type: Any, saved: Any) -> None:
        value = self._value(saved)
        if type.kind() == "InterfaceType" and isinstance(value, _C._jit.Object):
            self._link(value.type())
        try:
            made.setattr(name, value)
        except (TypeError, RuntimeError) as error:
            raise Damaged(f"the attribute '{name}' is a {type} and its value is none ({error})") from error

    def _link(self, type: Any) -> None:
        """Builds all methods of a class, which calls through an interface ask for by name."""
        from taeda.jit.translate.build import build

        info = class_named(type._name)
        build([], [(type, name) for name in info.methods] if info is not None else [])

    def _value(self, saved: Any) -> Any:
        if saved.__class__ in _PLAIN:
            return saved
        if isinstance(saved, SavedObject):
            return self._object(saved)
        if isinstance(saved, SavedMember):
            return self._member(saved)
        if not isinstance(saved, (list, tuple, dict)):
            return saved
        if id(saved) not in self._made:  # what is shared is made once: tuples that share parts can be endless
            if isinstance(saved, dict):
                made: Any = {self._value(key): self._value(value) for key, value in saved.items()}
            else:
                made = [self._value(item) for item in saved]
                made = tuple(made) if isinstance(saved, tuple) else made
            self._made[id(saved)] = made
        return self._made[id(saved)]

    def _member(self, saved: SavedMember) -> Any:
        cls = self._program.members.get(self._program.types.read(saved.class_name))
        try:
            return cls(saved.value)  # type: ignore[misc]
        except (TypeError, ValueError) as error:
            raise Damaged(f"{saved.class_name[:100]} has no member of the value {saved.value!r}") from error


_PLAIN = frozenset([int, float, bool, str, type(None), complex])


def _may_be_module(type: Any) -> bool:
    return type.kind() in ("ClassType", "InterfaceType") or (
        type.kind() == "OptionalType" and _may_be_module(type.containedTypes()[0])
    )


def _face(held: Any, name: str) -> Any:
    """An attribute, as Python sees it."""
    return held.getattr(name)
