"""What every pipe is: a dataset with the pipes that can follow it as methods."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, TypeVar

from taeda.utils.data.datapipes._hook_iterator import _SnapshotState
from taeda.utils.data.datapipes._typing import _DataPipeMeta, _IterDataPipeMeta
from taeda.utils.data.datapipes.utils.common import dill
from taeda.utils.data.dataset import Dataset, IterableDataset

__all__ = ["DFIterDataPipe", "DataChunk", "IterDataPipe", "MapDataPipe"]

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)
UNTRACABLE_DATAFRAME_PIPES = ("batch", "groupby", "_dataframes_as_tuples", "trace_as_dataframe")


class DataChunk(list[_T]):
    """A batch of samples: a list that prints as one."""

    def __init__(self, items: Iterable[_T]) -> None:
        items = list(items)
        super().__init__(items)
        self.items = items

    def as_str(self, indent: str = "") -> str:
        """The samples as text, after ``indent``."""
        return indent + "[" + ", ".join(str(i) for i in iter(self)) + "]"

    def raw_iterator(self) -> Iterator[_T]:
        """What the chunk was made of, one by one."""
        return iter(self.items)


class _Pipe:
    """What both kinds of pipes have: functions as methods, and hooks for pickling and printing."""

    functions: ClassVar[dict[str, Callable[..., Any]]]
    reduce_ex_hook: ClassVar[Callable[..., Any] | None] = None
    getstate_hook: ClassVar[Callable[..., Any] | None] = None
    str_hook: ClassVar[Callable[..., str] | None] = None
    repr_hook: ClassVar[Callable[..., str] | None] = None

    def __getattr__(self, attribute_name: str) -> Any:
        function = type(self).functions.get(attribute_name)
        if function is None:
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {attribute_name!r}, nor is there a pipe of that name"
            )
        method = functools.partial(function, self)
        functools.update_wrapper(method, function, assigned=("__doc__",))
        return method

    @classmethod
    def register_function(cls, function_name: str, function: Callable[..., Any]) -> None:
        """Has ``pipe.function_name(...)`` be ``function(pipe, ...)``."""
        cls.functions[function_name] = function

    @classmethod
    def register_datapipe_as_function(cls, function_name: str, cls_to_register: type[Any]) -> None:
        """Has ``pipe.function_name(...)`` be ``cls_to_register(pipe, ...)``.

        Raises:
            Exception: there is such a method already.
        """
        cls._register(function_name, cls_to_register, functools.partial(_make, cls_to_register))

    @classmethod
    def _register(cls, name: str, made: type[Any], function: Any) -> None:
        if name in cls.functions:
            raise Exception(f"{cls.__name__}: there is a pipe by the name {name} already; choose another one")
        cls.functions[name] = functools.update_wrapper(function, made, assigned=("__doc__",), updated=())

    def __getstate__(self) -> Any:
        return self._hooked_state(self.__dict__)

    def _hooked_state(self, state: Any) -> Any:
        hook = type(self).getstate_hook
        return state if hook is None else hook(state)

    def __reduce_ex__(self, *args: Any, **kwargs: Any) -> Any:
        hook = type(self).reduce_ex_hook
        if hook is not None:
            try:
                return hook(self)
            except NotImplementedError:
                pass
        return super().__reduce_ex__(*args, **kwargs)

    @classmethod
    def set_getstate_hook(cls, hook_fn: Callable[..., Any] | None) -> None:
        """Sets what a pipe's state goes through when it is pickled; None takes the hook away.

        Raises:
            RuntimeError: there is one already.
        """
        cls._set_hook("getstate_hook", hook_fn)

    @classmethod
    def set_reduce_ex_hook(cls, hook_fn: Callable[..., Any] | None) -> None:
        """Sets what reduces a pipe for pickling, unless it raises NotImplementedError; None takes the hook away.

        Raises:
            RuntimeError: there is one already.
        """
        cls._set_hook("reduce_ex_hook", hook_fn)

    @classmethod
    def _set_hook(cls, name: str, hook: Callable[..., Any] | None) -> None:
        if getattr(cls, name) is not None and hook is not None:
            raise RuntimeError(f"{cls.__name__}.set_{name}: there is a hook already; set None first")
        setattr(cls, name, hook and staticmethod(hook))

    def __repr__(self) -> str:
        hook = type(self).repr_hook
        return type(self).__qualname__ if hook is None else hook(self)

    def __str__(self) -> str:
        hook = type(self).str_hook
        return type(self).__qualname__ if hook is None else hook(self)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.functions]


def _make(cls: type[Any], source: Any, *args: Any, **kwargs: Any) -> Any:
    return cls(source, *args, **kwargs)


def _make_iter(cls: type[Any], name: str, tracing: bool, source: Any, *args: Any, **kwargs: Any) -> Any:
    result = cls(source, *args, **kwargs)
    frames = tracing or isinstance(source, DFIterDataPipe)
    if isinstance(result, IterDataPipe) and frames and name not in UNTRACABLE_DATAFRAME_PIPES:
        return result.trace_as_dataframe()
    return result


class IterDataPipe(_Pipe, IterableDataset[_T_co], metaclass=_IterDataPipeMeta):
    """A pipe that is read in order; a subclass defines ``__iter__``, and ``reset`` if it keeps anything.

    A new iterator resets the pipe, and makes an older one invalid. Pipes that can follow are methods: ``pipe.map(fn)``
    is ``Mapper(pipe, fn)``.
    """

    functions: ClassVar[dict[str, Callable[..., Any]]] = {}
    _valid_iterator_id: int | None = None
    _number_of_samples_yielded: int = 0
    _snapshot_state: _SnapshotState = _SnapshotState.NotStarted
    _fast_forward_iterator: Iterator[Any] | None = None

    def __iter__(self) -> Iterator[_T_co]:
        return self  # type: ignore[return-value]

    @classmethod
    def register_datapipe_as_function(
        cls, function_name: str, cls_to_register: type[Any], enable_df_api_tracing: bool = False
    ) -> None:
        """Has ``pipe.function_name(...)`` be ``cls_to_register(pipe, ...)``.

        Args:
            enable_df_api_tracing: what it makes is a pipe of dataframes.

        Raises:
            Exception: there is such a method already.
        """
        make = functools.partial(_make_iter, cls_to_register, function_name, enable_df_api_tracing)
        cls._register(function_name, cls_to_register, make)

    def reset(self) -> None:
        """Called before the pipe is read anew; a subclass that keeps something forgets it here."""


class DFIterDataPipe(IterDataPipe[_T_co]):
    """A pipe of dataframes."""

    def _is_dfpipe(self) -> bool:
        return True


class MapDataPipe(_Pipe, Dataset[_T_co], metaclass=_DataPipeMeta):
    """A pipe that is asked for samples by key; a subclass defines ``__getitem__``, and ``__len__`` if it has one."""

    functions: ClassVar[dict[str, Callable[..., Any]]] = {}


class _DataPipeSerializationWrapper:
    """A pipe on its way to a worker: pickled with dill, where that is there, if pickle cannot."""

    def __init__(self, datapipe: Any) -> None:
        self._datapipe = datapipe

    def __getstate__(self) -> Any:
        try:
            return pickle.dumps(self._datapipe), False
        except Exception:
            if dill is None:
                raise
            return dill.dumps(self._datapipe), True

    def __setstate__(self, state: Any) -> None:
        text, by_dill = state
        self._datapipe = dill.loads(text) if by_dill else pickle.loads(text)

    def __len__(self) -> int:
        try:
            return len(self._datapipe)
        except Exception as error:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length: {error}") from error


class _IterDataPipeSerializationWrapper(_DataPipeSerializationWrapper, IterDataPipe[_T_co]):
    def __init__(self, datapipe: IterDataPipe[_T_co]) -> None:
        super().__init__(datapipe)
        self._datapipe_iter: Iterator[_T_co] | None = None

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        self._datapipe_iter = None

    def __iter__(self) -> Iterator[_T_co]:
        self._datapipe_iter = iter(self._datapipe)
        return self  # type: ignore[return-value]

    def __next__(self) -> _T_co:
        if self._datapipe_iter is None:
            raise TypeError(f"{type(self).__name__}: next wants an iterator of the pipe; call iter first")
        return next(self._datapipe_iter)


class _MapDataPipeSerializationWrapper(_DataPipeSerializationWrapper, MapDataPipe[_T_co]):
    def __getitem__(self, idx: Any) -> _T_co:
        sample: _T_co = self._datapipe[idx]
        return sample
