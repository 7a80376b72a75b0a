"""``compile`` as it is while there is no compiler: what it returns computes the same, eagerly."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

from taeda import nn

MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")
# The backends that programs name. Of these, the eager ones do in PyTorch what is done here; the others would compile.
EAGER_BACKENDS = ("eager", "eager_noexcept", "eager_debug")
BACKENDS = (*EAGER_BACKENDS, "inductor", "cudagraphs", "aot_eager", "aot_eager_decomp_partition")

_default_backend: str | Callable[..., Any] | None = None
_said_so = False


class InvalidBackend(RuntimeError):
    """A backend of that name is not known."""


def get_default_backend() -> str | Callable[..., Any]:
    """The backend that ``compile`` takes if it is told none."""
    return "inductor" if _default_backend is None else _default_backend


def set_default_backend(backend: str | Callable[..., Any] | None) -> None:
    """Sets what `get_default_backend` gives; ``None`` sets it back."""
    global _default_backend
    if backend is not None:
        _check_backend(backend)
    _default_backend = backend


def _check_backend(backend: Any) -> None:
    if callable(backend):
        raise RuntimeError(
            "taeda.compile: a backend of your own needs the program's graph, and Taeda does not record one yet"
        )
    if backend not in BACKENDS:
        raise InvalidBackend(f"taeda.compile: there is no backend {backend!r}; known are {', '.join(BACKENDS)}")


def _say_once() -> None:
    global _said_so
    if not _said_so:
        _said_so = True
        warnings.warn(
            "taeda.compile: nothing is compiled yet; the result computes the same as its argument, eagerly. "
            "backend='eager' asks for that, without this warning",
            UserWarning,
            stacklevel=3,
        )


class OptimizedModule(nn.Module):
    """A module that calls another, ``_orig_mod``, and shares its attributes. The names of its state begin with
    ``_orig_mod.``, as they do in checkpoints of compiled models."""

    _orig_mod: nn.Module

    def __init__(self, mod: nn.Module) -> None:
        super().__init__()
        self._modules["_orig_mod"] = mod

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._orig_mod(*args, **kwargs)

    @property
    def training(self) -> bool:  # type: ignore[override]
        """Whether the module is in training mode."""
        return self._orig_mod.training

    @training.setter
    def training(self, mode: bool) -> None:
        self._orig_mod.training = mode

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if "_modules" not in self.__dict__:  # while it is being unpickled
                raise
            return getattr(self._modules["_orig_mod"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_orig_mod" or hasattr(type(self), name):
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __delattr__(self, name: str) -> None:
        if name in self.__dict__:
            super().__delattr__(name)
        else:
            delattr(self._orig_mod, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._orig_mod)})

    def __len__(self) -> int:
        if hasattr(self._orig_mod, "__len__"):
            return len(self._orig_mod)  # type: ignore[arg-type]
        raise TypeError(f"{type(self._orig_mod).__name__} does not support len()")

    def __bool__(self) -> bool:
        return True

    def get_submodule(self, target: str) -> nn.Module:
        """By its name here, or in the module that is called."""
        try:
            return super().get_submodule(target)
        except AttributeError:
            return self._orig_mod.get_submodule(target)


def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable[..., Any] | None = None,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    name: str | None = None,
    disable: bool = False,
    recompile_limit: int | None = None,
    isolate_recompiles: bool = False,
    shapes_spec: Any = None,
) -> Any:
    """``model`` as something that is called in the same way and computes the same. Nothing is compiled yet, which a
    warning says once; the settings are checked, and change nothing.

    A module becomes an `OptimizedModule` around it, a function a function. Without ``model`` the result is a decorator.

    Raises:
        RuntimeError: an unknown ``mode`` or ``backend``, ``mode`` with ``options``, or a backend that is a function.
        AssertionError: ``model`` cannot be called.
    """
    if mode is not None and options:
        raise RuntimeError("taeda.compile: mode and options exclude each other")
    if mode is not None and mode not in MODES:
        raise RuntimeError(f"taeda.compile: there is no mode {mode!r}; known are {', '.join(MODES)}")
    backend = get_default_backend() if backend is None else backend
    if not disable:
        _check_backend(backend)
    if model is None:
        return functools.partial(
            compile, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options, disable=disable
        )
    if not callable(model):
        raise AssertionError(f"taeda.compile: wants a function or a module; got {type(model).__name__}")
    if disable or isinstance(model, OptimizedModule) or inspect.isclass(model):
        return model
    if backend not in EAGER_BACKENDS:
        _say_once()
    return OptimizedModule(model) if isinstance(model, nn.Module) else _eagerly(model)


def _eagerly(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def eager(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    eager._torchdynamo_orig_callable = function  # type: ignore[attr-defined]  # by this name programs look for it
    return eager
