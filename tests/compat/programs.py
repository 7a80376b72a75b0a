"""Ops as programs: each sample as a line of TorchScript, and as a trace, where PyTorch itself can make them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import torch

import taeda

from .checks import Check, attempt, call, main_dtypes
from .op_db import Arguments, Case, Entry
from .translate import _names

Call = Callable[..., Any]


class Unspellable(Exception):
    """A value that source cannot spell."""


class Spelling:
    """A call's arguments as source: tensors by the names of parameters."""

    def __init__(self) -> None:
        self.tensors: list[torch.Tensor] = []

    def __call__(self, value: Any) -> str:
        if isinstance(value, torch.Tensor):
            self.tensors.append(value)
            return f"t{len(self.tensors) - 1}"
        if value is None or isinstance(value, (bool, int, str)):
            return repr(value)
        if isinstance(value, float):
            return repr(value) if math.isfinite(value) else f"float('{value}')"
        if isinstance(value, complex):
            return f"complex({self(value.real)}, {self(value.imag)})"
        if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            return str(value)
        if isinstance(value, torch.device):
            return f"torch.device({str(value)!r})"
        if type(value) in (list, torch.Size):
            return f"[{', '.join(map(self, value))}]"
        if type(value) is tuple:
            return f"({', '.join(map(self, value))}{',' if len(value) == 1 else ''})"
        raise Unspellable


def source(entry: Entry, arguments: Arguments) -> str:
    """A function that makes the call, of the tensors in it."""
    spell = Spelling()
    parts = [spell(arguments.input), *map(spell, arguments.args)]
    parts += [f"{name}={spell(value)}" for name, value in arguments.kwargs.items()]
    path = _names().get(id(entry.info.op))
    if path is None:
        raise Unspellable
    if path.startswith("Tensor."):
        body = f"{parts[0]}.{path.removeprefix('Tensor.')}({', '.join(parts[1:])})"
    else:
        body = f"torch.{path}({', '.join(parts)})"
    names = ", ".join(f"t{i}" for i in range(len(spell.tensors)))
    return f"def the_call({names}):\n    return {body}\n"


def _tensors_of(arguments: Arguments) -> list[Any]:
    """In the order of `Spelling`."""
    found: list[Any] = []

    def visit(value: Any) -> None:
        if isinstance(value, (torch.Tensor, taeda.Tensor)):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            for part in value:
                visit(part)

    visit([arguments.input, *arguments.args, *arguments.kwargs.values()])
    return found


def _flat(function: Call) -> Call:
    """A function of a call's tensors, called as the op is."""
    return lambda input, *args, **kwargs: function(*_tensors_of(Arguments(input, args, kwargs, lambda x: x)))


def script(entry: Entry, case: Case) -> str:
    """The call, compiled from a line of source."""
    try:
        text = source(entry, case.theirs().arguments)
        theirs = torch.jit.CompilationUnit(text).the_call
    except Exception:  # not in a program of PyTorch's
        return ""
    right = case.theirs()
    if attempt(right, lambda: right.arguments.call(_flat(theirs))).error is not None:
        return ""
    try:
        ours = taeda.jit.CompilationUnit(text).the_call
    except Exception as error:
        return f"{text.splitlines()[1].strip()}: {str(error)[:200]}"
    return call(entry, case, _flat(ours), _flat(theirs))


def trace(entry: Entry, case: Case) -> str:
    """The call, recorded on these very arguments."""
    left, right = case.sides()
    try:
        theirs = traced(torch, right.arguments, entry.info.op)
    except Exception:
        return ""
    try:
        ours = traced(taeda, left.arguments, entry.function())
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return call(entry, case, _flat(ours), _flat(theirs))


def traced(library: Any, arguments: Arguments, op: Call) -> Call:
    """The trace of a call of ``op``: a function of the tensors among its arguments."""
    given = _tensors_of(arguments)

    def again(*tensors: Any) -> Any:
        rest = iter(tensors)

        def replaced(value: Any) -> Any:
            if isinstance(value, (torch.Tensor, taeda.Tensor)):
                return next(rest)
            if type(value) in (list, tuple):
                return type(value)(map(replaced, value))
            return value

        input = replaced(arguments.input)
        args = [replaced(value) for value in arguments.args]
        return op(input, *args, **{name: replaced(value) for name, value in arguments.kwargs.items()})

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library.default_generator.manual_seed(0)
        return library.jit.trace(again, tuple(given), check_trace=False, strict=False)


PROGRAM_CHECKS = (
    Check("script", script, dtypes=lambda e: main_dtypes(e)[:1], cap=12),
    Check("trace", trace, dtypes=lambda e: main_dtypes(e)[:1], cap=6),
)
