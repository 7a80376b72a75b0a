"""Names: of nodes within a graph, and of targets as people and generated code write them."""

from __future__ import annotations

import builtins
import keyword
import operator
import re
import sys
from typing import Any

from taeda._library.ops import OpOverload, OpOverloadPacket

_NUMBERED = re.compile(r"(.*)_(\d+)")
# What generated code may say without an import of its own; nodes get other names.
RESERVED = frozenset(["inf", "nan", "NoneType", "torch", "device", "fx_pytree", "pytree"])
_MISSING = object()


class Namespace:
    """Hands out names that are legal in Python, hide no builtin and never repeat."""

    def __init__(self) -> None:
        self._taken: dict[str, Any] = {}
        self._last: dict[str, int] = {}

    def create_name(self, candidate: str, obj: Any) -> str:
        """``candidate``, made legal, and numbered if the name is taken by anything but ``obj`` itself."""
        is_legal = candidate.isascii() and candidate.isidentifier()
        name = candidate if is_legal else re.sub(r"[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
        if name[0].isdigit():
            name = f"_{name}"
        if obj is not None and self._taken.get(name) is obj:
            return name
        base, number = name, 0
        if match := _NUMBERED.fullmatch(name):
            base, number = match[1], int(match[2])
        if name in self._taken or self._is_illegal(name, obj):
            number = max(number, self._last.get(base, 0))
            while name in self._taken or self._is_illegal(name, obj):
                number += 1
                name = f"{base}_{number}"
            self._last[base] = number
        self._taken[name] = obj
        return name

    def associate_name_with_obj(self, name: str, obj: Any) -> None:
        """From now on ``name`` is that of ``obj``."""
        self._taken[name] = obj

    def forget(self, name: str) -> None:
        """Frees a name."""
        self._taken.pop(name, None)

    @staticmethod
    def _is_illegal(name: str, obj: Any) -> bool:
        if keyword.iskeyword(name):
            return True
        builtin = getattr(builtins, name, _MISSING)
        return (builtin is not _MISSING and builtin is not obj) or name in RESERVED or name == "self"


def snake_case(name: str) -> str:
    """``camelCase`` as ``camel_case``."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def name_of_target(target: Any) -> str:
    """What a node that calls ``target`` is called, before numbering."""
    if isinstance(target, str):
        name = target[2:-2] if target.startswith("__") and target.endswith("__") else target
    else:
        name = getattr(target, "__name__", None) or type(target).__name__
    return snake_case(name)


# What PyTorch writes in nn.functional and in torch anew; programs call the former, as their modules do.
_OF_FUNCTIONAL = frozenset(("layer_norm", "rms_norm", "pad"))


def qualified_name(function: Any) -> str:
    """The dotted name of a function or class; what is Taeda's begins with ``torch``, as in every printed thing."""
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    if name is not None and getattr(builtins, name, _MISSING) is function:
        return f"builtins.{name}"
    if isinstance(function, (OpOverload, OpOverloadPacket)):
        return f"torch.ops.{function}"
    if name is None:
        return f"{type(function).__module__}.{type(function).__qualname__}"
    if name in _OF_FUNCTIONAL and getattr(sys.modules.get("taeda.nn.functional"), name, _MISSING) is function:
        return f"torch.nn.functional.{name}"
    module = getattr(function, "__module__", None) or "builtins"
    if module == "_operator":
        module = "operator"
    elif module.startswith(("taeda._", "torch._")) and getattr(sys.modules["taeda"], name, None) is function:
        module = "torch"
    elif getattr(sys.modules["taeda._C"], name, None) is function:
        module = "torch._C"
    elif module == "taeda" or module.startswith("taeda."):
        module = f"torch{module.removeprefix('taeda')}"
    return f"{module}.{name}"


def found_by_name(name: str) -> Any:
    """What of the library, or of ``operator``, has this dotted name; the name itself if nothing has."""
    first, *parts = name.split(".")
    found: Any = {"torch": sys.modules["taeda"], "_operator": operator, "operator": operator}.get(first, _MISSING)
    for part in parts:
        found = getattr(found, part, _MISSING)
    return name if found is _MISSING else found


def is_reachable(name: str, obj: Any) -> bool:
    """Whether ``name`` (``torch.nn.functional.relu``) leads to ``obj`` where ``torch`` is Taeda."""
    first, *parts = name.split(".")
    found: Any = sys.modules["taeda"] if first == "torch" else None
    for part in parts:
        found = getattr(found, part, _MISSING)
    return found is obj
