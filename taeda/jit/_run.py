"""Calls of compiled functions from Python."""

from __future__ import annotations

from typing import Any

from taeda import _C
from taeda.jit._graph import as_object_deep, face_of
from taeda.jit._ir_types import contained_in
from taeda.jit.check.classes import SERVING
from taeda.jit.check.function import Function
from taeda.jit.translate.build import code_of

_C._jit.set_object_face(face_of)
_SERVED: set[Any] = set()


def runnable(function: Function) -> Any:
    """What runs a function; of a method, the object is the first argument. Objects of Python's classes that were
    compiled are made objects of the program."""
    known = len(SERVING)
    code = code_of(function)
    if known != len(_SERVED) or len(SERVING) != known:
        for info in [info for info in SERVING if info not in _SERVED]:
            _SERVED.add(info)
            for method in info.methods.values():
                code_of(method)
    if not any(map(_may_hold_objects, function.parameters())):
        return code
    return lambda *args, **kwargs: code(*map(as_object_deep, args), **{k: as_object_deep(v) for k, v in kwargs.items()})


def _may_hold_objects(parameter: Any) -> bool:
    plain = lambda t: t.kind() == "ClassType" and not _C._is_module_class(t)
    return contained_in(parameter.type, lambda t: plain(t) or t.kind() in ("InterfaceType", "AnyType"))
