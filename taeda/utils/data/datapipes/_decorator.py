"""Decorators of classes and methods of pipes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, get_origin, get_type_hints

from taeda.utils.data.datapipes._typing import issubinstance, sample_type
from taeda.utils.data.datapipes.datapipe import IterDataPipe, MapDataPipe

_determinism = False
_runtime_validation_enabled = True


class functional_datapipe:
    """Makes a class of pipes a method of all pipes: ``pipe.name(...)`` is that class made of ``pipe``.

    Args:
        enable_df_api_tracing: what it makes is a pipe of dataframes.
    """

    def __init__(self, name: str, enable_df_api_tracing: bool = False) -> None:
        self.name, self.enable_df_api_tracing = name, enable_df_api_tracing

    def __call__(self, cls: Any) -> Any:
        if issubclass(cls, IterDataPipe):
            IterDataPipe.register_datapipe_as_function(self.name, cls, self.enable_df_api_tracing)
        elif issubclass(cls, MapDataPipe):
            MapDataPipe.register_datapipe_as_function(self.name, cls)
        return cls


class guaranteed_datapipes_determinism:
    """Within it, pipes that declare themselves non-deterministic are refused."""

    def __init__(self) -> None:
        global _determinism
        self.prev, _determinism = _determinism, True

    def __enter__(self) -> None:
        pass

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        global _determinism
        _determinism = self.prev


class non_deterministic:
    """Declares a class of pipes non-deterministic: always, or when a function of its arguments says so.

    Raises:
        TypeError: it is put on what is neither a class of IterDataPipe nor a function.
    """

    def __init__(self, arg: Any) -> None:
        self.cls: type[IterDataPipe[Any]] | None = None
        if isinstance(arg, type):
            self.cls = self._checked(arg)
        elif callable(arg):
            self.deterministic_fn = arg
        else:
            raise TypeError(f"non_deterministic: a class of IterDataPipe, or a function, is wanted; got {arg!r}")

    @staticmethod
    def _checked(cls: Any) -> type[IterDataPipe[Any]]:
        if not (isinstance(cls, type) and issubclass(cls, IterDataPipe)):
            raise TypeError(f"non_deterministic: a class of IterDataPipe is wanted; got {cls!r}")
        return cls

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.cls is not None:
            if _determinism:
                raise self._refusal()
            return self.cls(*args, **kwargs)
        self.cls = self._checked(args[0] if args else None)
        return self.deterministic_wrapper_fn

    def deterministic_wrapper_fn(self, *args: Any, **kwargs: Any) -> IterDataPipe[Any]:
        """Makes the pipe if the function allows it.

        Raises:
            TypeError: the pipe is not deterministic and must be, or the function gives no bool.
        """
        assert self.cls is not None
        answer = self.deterministic_fn(*args, **kwargs)
        if not isinstance(answer, bool):
            raise TypeError(f"non_deterministic: its function must return a bool; got {type(answer).__name__}")
        if answer and _determinism:
            raise self._refusal()
        return self.cls(*args, **kwargs)

    def _refusal(self) -> TypeError:
        name = self.cls.__name__ if self.cls is not None else ""
        return TypeError(f"{name} is not deterministic; make it outside of guaranteed_datapipes_determinism")


def argument_validation(f: Callable[..., Any]) -> Callable[..., Any]:
    """Checks arguments that are annotated as ``IterDataPipe``.

    Raises:
        TypeError: when called, such an argument is no pipe.
    """
    signature = inspect.signature(f)
    try:
        hints = get_type_hints(f)
    except NameError:  # of a class that is local to a function, or comes later
        hints = {}
    hinted = {
        n for n, h in hints.items() if isinstance(h, type) and get_origin(h) is None and issubclass(h, IterDataPipe)
    }

    @functools.wraps(f)
    def checked(*args: Any, **kwargs: Any) -> Any:
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            if name in hinted and not isinstance(value, IterDataPipe):
                raise TypeError(
                    f"{f.__qualname__}: argument {name} must be an IterDataPipe; got {type(value).__name__}"
                )
        return f(*args, **kwargs)

    return checked


class runtime_validation_disabled:
    """Within it, samples are not checked."""

    def __init__(self) -> None:
        global _runtime_validation_enabled
        self.prev, _runtime_validation_enabled = _runtime_validation_enabled, False

    def __enter__(self) -> None:
        pass

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        global _runtime_validation_enabled
        _runtime_validation_enabled = self.prev


def runtime_validation(f: Callable[..., Any]) -> Callable[..., Any]:
    """Checks every sample that an ``__iter__`` yields against what its class says: ``IterDataPipe[int]``.

    Raises:
        TypeError: it is put on another method.
        RuntimeError: when iterated, a sample is of another type.
    """
    if f.__name__ != "__iter__":
        raise TypeError(f"runtime_validation: it is for __iter__ only; got {f.__name__}")

    @functools.wraps(f)
    def checked(self: Any) -> Iterator[Any]:
        wanted = sample_type(type(self))
        for sample in f(self):
            if _runtime_validation_enabled and not issubinstance(sample, wanted):
                raise RuntimeError(
                    f"{type(self).__name__}: samples are declared as {wanted}; got {sample!r} of type"
                    f" {type(sample).__name__}"
                )
            yield sample

    return checked
