"""A declared body as a function of tensors: its names mean ops here, where the generator's mean C++."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

import taeda
from taeda._decompositions.words import NAMES, WORDS
from taeda._library.ops import packet_of

if TYPE_CHECKING:
    from taedagen.opdef.declaration import Declaration


@functools.cache
def _declarations() -> dict[str, Declaration]:
    """The composites with a body, by the full names of their functional ops and of those declared in place."""
    from taedagen.emit.composite import has_body
    from taedagen.opdef import REGISTRY, load_ops

    load_ops()
    return {op.schema.full_name: d for d in REGISTRY.declarations for op in d.ops() if has_body(op)}


def names() -> list[str]:
    """The ops that have a body: ``linear``, ``div.Tensor_mode``."""
    return list(_declarations())


@functools.cache
def _formulas() -> dict[str, Declaration]:
    from taedagen.opdef import REGISTRY, load_ops

    load_ops()
    return {
        op.schema.full_name: d
        for d in REGISTRY.declarations
        if d.kind == "pointwise" and callable(d.function)
        for op in d.ops()
        if op.variant == "functional"
    }


def formula_of(name: str) -> Callable[..., Any] | None:
    """The formula of a pointwise op by its full name, as a function of tensors; None for an op that has none."""
    declaration = _formulas().get(name)
    if declaration is None or "__name__" not in getattr(
        declaration.function, "__globals__", {}
    ):  # a function of C++ alone
        return None
    return _callable(declaration)


def decomposition_of(name: str) -> Callable[..., Any] | None:
    """The body of an op by its full name, taking what the op takes; None for an op that has none."""
    declaration = _declarations().get(name)
    return None if declaration is None else _callable(declaration)


@functools.cache
def _callable(declaration: Declaration) -> Callable[..., Any]:
    body: Any = declaration.function
    run = FunctionType(body.__code__, _meaning(body.__globals__["__name__"]), body.__name__, None, body.__closure__)
    parameters = [
        inspect.Parameter(
            argument.name if argument.name.isidentifier() else f"{argument.name}_",
            inspect.Parameter.KEYWORD_ONLY if argument.keyword_only else inspect.Parameter.POSITIONAL_OR_KEYWORD,
        )
        for argument in declaration.schema.arguments
    ]
    defaults = {a.name: _default(declaration, a.name) for a in declaration.schema.arguments if a.default is not None}

    @functools.wraps(body)
    def decomposed(*args: Any, **kwargs: Any) -> Any:
        bound = _bound(signature, args, kwargs, defaults)
        return run(*(_listed(value, a.type) for value, a in zip(bound, declaration.schema.arguments)))

    signature = inspect.Signature(parameters)
    return decomposed


def _bound(signature: inspect.Signature, args: Any, kwargs: Any, defaults: dict[str, Any]) -> list[Any]:
    given = signature.bind_partial(*args, **kwargs).arguments
    missing = [name for name in signature.parameters if name not in given and name not in defaults]
    if missing:
        raise TypeError(f"the arguments {missing} are missing")
    return [given.get(name, defaults.get(name)) for name in signature.parameters]


def _listed(value: Any, type_: Any) -> Any:
    """A number where a list is declared, as a list of it."""
    if type_.is_list and type_.list_size and isinstance(value, (int, float)):
        return [value] * type_.list_size
    return value


def _default(declaration: Declaration, name: str) -> Any:
    overload = getattr(packet_of(declaration.schema.name), declaration.schema.overload or "default")
    return next(a.default_value for a in overload._schema.arguments if a.name == name)


class _Ops:
    """``op`` of a declaration's body: ``op.add``, ``op.demo.bell``."""

    def __getattr__(self, name: str) -> Any:
        return getattr(taeda.ops.aten, name, None) or getattr(taeda.ops, name)


@functools.cache
def _meaning(module: str) -> dict[str, Any]:
    """The globals of a family file with ops for declarations, and functions of tensors for the words of bodies."""
    import sys

    from taedagen.opdef.declaration import Declaration
    from taedagen.opdef.expr import op
    from taedagen.opdef.intrinsics import CALLS, FUNCTIONS
    from taedagen.opdef.words import Name, Word

    source = vars(sys.modules[module])
    names: dict[str, Any] = dict(source)
    intrinsics = {id(function): name for name, function in FUNCTIONS.items()}
    for name, value in source.items():
        if isinstance(value, Declaration):
            names[name] = packet_of(value.name)
        elif isinstance(value, Word):
            names[name] = WORDS[value.name]
        elif isinstance(value, Name):
            names[name] = NAMES.get(value.name) or getattr(taeda, value.name)
        elif value is op:
            names[name] = _Ops()
        elif id(value) in intrinsics:
            names[name] = _intrinsic(CALLS[intrinsics[id(value)]].op)
        elif isinstance(value, FunctionType) and value.__module__ == module:
            names[name] = FunctionType(value.__code__, names, name, value.__defaults__, value.__closure__)
    return names


def _intrinsic(name: str) -> Callable[..., Any]:
    """An op, or between a tensor and a number the one for that."""

    def call(*args: Any) -> Any:
        if name in ("maximum", "minimum") and not isinstance(args[1], taeda.Tensor):
            return getattr(taeda.ops.aten, "clamp_min" if name == "maximum" else "clamp_max")(*args)
        return getattr(taeda.ops.aten, name)(*args)

    return call
