"""``with``: objects of compiled classes with ``__enter__`` and ``__exit__``, and the modes of the library as such."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import taeda
from taeda import Tensor
from taeda.jit.check.classes import class_of, construct, has_method, method_named
from taeda.jit.check.emitter import Emitter
from taeda.jit.check.environment import is_ours
from taeda.jit.check.function import traced_result
from taeda.jit.check.values import Kind, Known, Sugar
from taeda.jit.ir import Value
from taeda.jit.parse.errors import fail
from taeda.jit.source import SourceRange

_set: Any = Kind("aten::set_grad_enabled")
_is_enabled: Any = Kind("aten::is_grad_enabled")
_begin: Any = Kind("profiler::_record_function_enter")
_end: Any = Kind("profiler::_record_function_exit")
_lower_dtype: Any = Kind("aten::get_autocast_dtype")


@dataclass
class Entered(Sugar):
    """A context that was entered: its object, and what ``as`` names."""

    value: Value
    given: Any


class no_grad:
    """Nothing is recorded by autograd within."""

    def __init__(self) -> None:
        self.prev = False

    def __enter__(self) -> None:
        self.prev = _is_enabled()
        _set(False)

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        _set(self.prev)


class enable_grad:
    """Autograd records within."""

    def __init__(self) -> None:
        self.prev = False

    def __enter__(self) -> None:
        self.prev = _is_enabled()
        _set(True)

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        _set(self.prev)


class set_grad_enabled:
    """Autograd records within, or not."""

    def __init__(self, mode: bool) -> None:
        self.prev = _is_enabled()
        self.mode = mode
        _set(mode)

    def __enter__(self) -> None:
        _set(self.mode)

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        _set(self.prev)


class record_function:
    """A mark in the profile of the thread that runs the program."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self.handle: Tensor | None = None

    def __enter__(self) -> None:
        self.handle = _begin(self.name, self.args)

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        handle = self.handle
        if handle is not None:
            _end(handle)


class without_tangents:
    """No tangents are carried within: those of compiled programs never are."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        pass


class _Casting:
    """Ops choose the dtype they compute in within: `taeda.jit.translate.modes` sees to it."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        pass


class autocast(_Casting):
    """By its present name."""

    def __init__(
        self,
        device_type: str,
        dtype: taeda.dtype | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        self.fast_dtype = _lower_dtype(device_type) if dtype is None else dtype
        self._enabled = enabled
        self.device = device_type


class cpu_autocast(_Casting):
    """By an older name."""

    def __init__(self, enabled: bool = True, dtype: taeda.dtype = taeda.bfloat16, cache_enabled: bool = True) -> None:
        self.fast_dtype = dtype
        self._enabled = enabled
        self.device = "cpu"


class cuda_autocast(_Casting):
    """By an older name."""

    def __init__(self, enabled: bool = True, dtype: taeda.dtype = taeda.float16, cache_enabled: bool = True) -> None:
        self.fast_dtype = dtype
        self._enabled = enabled
        self.device = "cuda"


_NAMES = {
    autocast: "torch.amp.autocast_mode.autocast", cpu_autocast: "torch.cpu.amp.autocast_mode.autocast",
    cuda_autocast: "torch.cuda.amp.autocast_mode.autocast",
    without_tangents: "torch.autograd.forward_ad._set_fwd_grad_enabled",
    no_grad: "torch.autograd.grad_mode.no_grad", enable_grad: "torch.autograd.grad_mode.enable_grad",
    set_grad_enabled: "torch.autograd.grad_mode.set_grad_enabled",
    record_function: "torch.autograd.profiler.record_function",
}  # fmt: skip


def stand_in(cls: Any) -> Any:
    """The class that is compiled in place of one of the library's."""
    if cls in (taeda.no_grad, taeda.inference_mode):
        return no_grad
    if cls is taeda.enable_grad:
        return enable_grad
    if cls is taeda.autograd.grad_mode.set_grad_enabled:
        return set_grad_enabled
    if getattr(cls, "__name__", "") == "autocast" and is_ours(cls):
        return {"cpu": cpu_autocast, "cuda": cuda_autocast}.get(getattr(cls, "_device_type", ""), autocast)
    if getattr(cls, "__name__", "") == "record_function" and is_ours(cls):
        return record_function
    if getattr(cls, "__name__", "") == "_set_fwd_grad_enabled" and is_ours(cls):
        return without_tangents
    return None


def construct_stand_in(emitter: Emitter, cls: Any, args: list[Any], kwargs: dict[str, Any],
                       range: SourceRange | None) -> Any:  # fmt: skip
    """An object of the class that stands for one of the library's modes."""
    info = class_of(cls, range, f"__torch__.{_NAMES[cls]}")
    return construct(emitter, info, args, kwargs, range)


def enter(emitter: Emitter, what: Any, range: SourceRange) -> Entered:
    """Enters a context."""
    if isinstance(what, Known) and stand_in(what.obj) is not None:
        what = construct_stand_in(emitter, stand_in(what.obj), [], {}, range)
    value = emitter.value(what, range)
    if not has_method(value, "__enter__") or not has_method(value, "__exit__"):
        fail(range, f"a {value.static_type} is no context: it lacks __enter__ or __exit__")
    given = traced_result(method_named(value, "__enter__"), emitter, range)
    return Entered(value, emitter.graph.emit("prim::Enter", [value], [given], range).output())


def leave(emitter: Emitter, context: Entered, range: SourceRange) -> None:
    """Leaves a context."""
    traced_result(method_named(context.value, "__exit__"), emitter, range)
    emitter.graph.emit("prim::Exit", [context.value], [taeda._C._parse_type("NoneType")], range)
