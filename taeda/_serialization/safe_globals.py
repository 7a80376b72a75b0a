"""The list of globals that safe loading admits, and the user's additions to it."""

from __future__ import annotations

import pickle
from typing import Any

from taeda._serialization import names
from taeda._serialization.safe_pickle import BUILTINS, Refused

_added: dict[str, tuple[Any, Any]] = {}  # name in files: the entry as given, the object


def key_of(entry: Any) -> tuple[str, Any]:
    """The name and object of one addition: a class or function, or a pair of it and the name that files use."""
    if isinstance(entry, tuple):
        if len(entry) != 2 or not isinstance(entry[1], str):
            raise ValueError(
                f"taeda.serialization: a safe global is an object or (object, 'module.name'); got {entry!r}"
            )
        return entry[1], entry[0]
    return names.qualified(entry), entry


_BLOCKED = {"sys", "os", "posix", "nt"}


def find_global(name: str) -> Any:
    """The admitted global called ``name``.

    Raises:
        pickle.UnpicklingError: it is not admitted.
        RuntimeError: it is a dtype that does not exist here.
    """
    if name.partition(".")[0] in _BLOCKED:
        raise Refused(f"it needs the global {name[:200]!r}, of a module that reaches the system: nothing admits those")
    if name in _added:
        return _added[name][1]
    for table in (BUILTINS, names.known()):
        if name in table:
            return table[name]
    if name in names.ON_DEMAND:
        module, _, attribute = name.rpartition(".")
        return names.resolve(module, attribute)
    names.check_dtype(name)
    shown = repr(name[:200])[1:-1]
    raise Refused(
        f"it needs the global {shown}, which weights_only=True does not admit. If you trust that class or function, "
        "admit it with taeda.serialization.add_safe_globals; if you trust whoever made the file, and only then, "
        "load with weights_only=False, which can run code from the file"
    )


def globals_in(data: bytes) -> list[str]:
    """Every global that a pickle names, sorted; nothing is loaded."""
    import pickletools

    found: set[str] = set()
    strings: list[str] = []
    memo: dict[Any, str | None] = {}
    last: str | None = None
    try:
        opcodes = list(pickletools.genops(data))
    except ValueError as error:
        raise Refused(f"taeda.load: the pickle is damaged: {error}") from error
    for opcode, arg, _ in opcodes:
        if opcode.name == "GLOBAL":
            found.add(str(arg).replace(" ", ".", 1))
        elif opcode.name == "STACK_GLOBAL":
            found.add(".".join(strings[-2:]))
        elif opcode.name == "MEMOIZE":
            memo[len(memo)] = last
            continue
        elif opcode.name in ("PUT", "BINPUT", "LONG_BINPUT"):
            memo[arg] = last
            continue
        last = memo.get(arg) if opcode.name in ("GET", "BINGET", "LONG_BINGET") else arg
        last = last if isinstance(last, str) else None
        if last is not None and opcode.name != "GLOBAL":
            strings.append(last)
    return sorted(found)


def unsafe_in(data: bytes) -> list[str]:
    """The globals that a pickle names and ``find_global`` refuses."""
    return [name for name in globals_in(data) if not _is_safe(name)]


def _is_safe(name: str) -> bool:
    try:
        find_global(name)
    except pickle.UnpicklingError:
        return False
    return True


def add(entries: list[Any]) -> None:
    for entry in entries:
        name, value = key_of(entry)
        _added.pop(name, None)
        _added[name] = (entry, value)


def added() -> list[Any]:
    return [entry for entry, _ in _added.values()]


def replace(entries: list[Any]) -> None:
    _added.clear()
    add(entries)
