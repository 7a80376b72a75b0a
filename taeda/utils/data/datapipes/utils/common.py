"""Checks of functions, names of files, and files that close by themselves."""

from __future__ import annotations

import fnmatch
import functools
import inspect
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from io import IOBase
from typing import Any

from taeda.utils._import_utils import import_dill

__all__ = [
    "StreamWrapper",
    "get_file_binaries_from_pathnames",
    "get_file_pathnames_from_root",
    "match_masks",
    "validate_input_col",
    "validate_pathname_binary_tuple",
]

dill: Any = import_dill()
DILL_AVAILABLE = dill is not None


def validate_input_col(fn: Callable[..., Any], input_col: Any) -> None:
    """Checks that a function takes as many positional arguments as there are columns.

    Raises:
        ValueError: it does not, or it wants arguments by keyword.
    """
    try:
        parameters = inspect.signature(fn).parameters.values()
    except ValueError:  # of a built-in function
        return
    name = getattr(fn, "__name__", type(fn).__name__)
    columns = len(input_col) if isinstance(input_col, (list, tuple)) else 1
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    wanted = sum(p.default is p.empty for p in positional)
    by_keyword = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    if by_keyword:
        raise ValueError(f"{name}: a function of columns gets them by position; it wants {by_keyword} by keyword")
    most = float("inf") if any(p.kind is p.VAR_POSITIONAL for p in parameters) else len(positional)
    if not wanted <= columns <= most:
        raise ValueError(f"{name} takes {wanted} to {most} arguments; input_col={input_col!r} gives {columns}")


def _is_local_fn(fn: Any) -> bool:
    return inspect.isfunction(fn) and "<locals>" in fn.__qualname__


def _check_unpickable_fn(fn: Callable[..., Any]) -> None:
    """Warns of functions that pickle refuses, if there is no dill either.

    Raises:
        TypeError: it cannot be called.
    """
    if not callable(fn):
        raise TypeError(f"a function is wanted; got {type(fn).__name__}")
    if isinstance(fn, functools.partial):
        fn = fn.func
    kind = "lambda" if getattr(fn, "__name__", "") == "<lambda>" else "local function" if _is_local_fn(fn) else None
    if kind and not DILL_AVAILABLE:
        warnings.warn(
            f"a {kind} cannot be pickled, nor go to a spawned worker; name it in a module, or install dill",
            UserWarning,
            stacklevel=3,
        )


def match_masks(name: str, masks: str | list[str]) -> bool:
    """Whether a name fits one of the masks; all do if there is none."""
    masks = [masks] if isinstance(masks, str) and masks else masks
    return not masks or any(fnmatch.fnmatch(name, mask) for mask in masks)


def get_file_pathnames_from_root(
    root: str,
    masks: str | list[str],
    recursive: bool = False,
    abspath: bool = False,
    non_deterministic: bool = False,
) -> Iterable[str]:
    """The files in a folder, or the file itself, that fit the masks, sorted unless ``non_deterministic``.

    Raises:
        OSError: when iterated, the folder cannot be read; there was a warning.
    """

    def refuse(error: OSError) -> None:
        warnings.warn(f"{error.filename}: {error.strerror}", UserWarning, stacklevel=4)
        raise error

    if os.path.isfile(root):
        path = os.path.abspath(root) if abspath else root
        if match_masks(os.path.basename(path), masks):
            yield path
        return
    for folder, folders, files in os.walk(os.path.abspath(root) if abspath else root, onerror=refuse):
        if not non_deterministic:
            files.sort()
        for name in files:
            if match_masks(name, masks):
                yield os.path.join(folder, name)
        if not recursive:
            break
        if not non_deterministic:
            folders.sort()


def get_file_binaries_from_pathnames(
    pathnames: Iterable[str], mode: str, encoding: str | None = None
) -> Iterator[tuple[str, StreamWrapper]]:
    """Each path with its file, open.

    Raises:
        TypeError: when iterated, a path is no text.
    """
    if isinstance(pathnames, str):
        pathnames = [pathnames]
    mode = "r" + mode if mode in ("b", "t") else mode
    for path in pathnames:
        if not isinstance(path, str):
            raise TypeError(f"a path is wanted as a str; got {type(path).__name__}")
        yield path, StreamWrapper(open(path, mode, encoding=encoding))  # noqa: SIM115


def validate_pathname_binary_tuple(data: tuple[str, IOBase]) -> None:
    """Checks that it is a path with its file.

    Raises:
        TypeError: it is not.
    """
    fits = isinstance(data, tuple) and len(data) == 2 and isinstance(data[0], str)
    if not fits or not isinstance(data[1], (IOBase, StreamWrapper)):
        raise TypeError(f"a tuple of a path and an open file is wanted; got {data!r}")


class StreamWrapper:
    """A file that is closed when nobody has it any more.

    Args:
        parent_stream: the file this one reads from, closed once all its children are.
    """

    session_streams: dict[Any, int] = {}
    debug_unclosed_streams = False

    def __init__(self, file_obj: Any, parent_stream: Any = None, name: str | None = None) -> None:
        self.file_obj, self.parent_stream, self.name = file_obj, parent_stream, name
        self.child_counter, self.close_on_last_child, self.closed = 0, False, False
        if parent_stream is not None:
            if not isinstance(parent_stream, StreamWrapper):
                raise RuntimeError(
                    f"StreamWrapper: parent_stream must be one itself; got {type(parent_stream).__name__}"
                )
            parent_stream.child_counter += 1
        if StreamWrapper.debug_unclosed_streams:
            StreamWrapper.session_streams[self] = 1

    @classmethod
    def close_streams(cls, v: Any, depth: int = 0) -> None:
        """Closes the files in a sample: in lists, tuples and values of dicts."""
        if depth > 10:
            return
        if isinstance(v, StreamWrapper):
            v.close()
        elif isinstance(v, dict):
            for part in v.values():
                cls.close_streams(part, depth + 1)
        elif isinstance(v, (list, tuple)):
            for part in v:
                cls.close_streams(part, depth + 1)

    def __getattr__(self, name: str) -> Any:
        if name == "file_obj":  # of one that was not made to the end
            raise AttributeError(name)
        return getattr(self.file_obj, name)

    def close(self, *args: Any, **kwargs: Any) -> None:
        """Closes the file, and its parent if that waited for it."""
        if self.closed:
            return
        if StreamWrapper.debug_unclosed_streams:
            StreamWrapper.session_streams.pop(self, None)
        parent = self.parent_stream
        if parent is not None:
            parent.child_counter -= 1
            if parent.child_counter == 0 and parent.close_on_last_child:
                parent.close()
        self.file_obj.close(*args, **kwargs)
        self.closed = True

    def autoclose(self) -> None:
        """Closes the file as soon as no child reads from it."""
        self.close_on_last_child = True
        if self.child_counter == 0:
            self.close()

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *dir(self.file_obj)]

    def __del__(self) -> None:
        if not self.__dict__.get("closed", True):
            self.close()

    def __iter__(self) -> Any:
        yield from self.file_obj

    def __next__(self) -> Any:
        return next(self.file_obj)

    def __repr__(self) -> str:
        return (
            f"StreamWrapper<{self.file_obj!r}>"
            if self.name is None
            else f"StreamWrapper<{self.name},{self.file_obj!r}>"
        )

    def __getstate__(self) -> Any:
        return self.file_obj

    def __setstate__(self, obj: Any) -> None:
        self.__init__(obj)  # type: ignore[misc]
