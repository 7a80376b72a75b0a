"""The schema of a function with type hints."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Union

import taeda


def _names() -> dict[Any, str]:
    """The types that stand for themselves."""
    return {
        taeda.Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str", taeda.dtype: "ScalarType",
        taeda.device: "Device",
    }  # fmt: skip


_NUMBERS = {int, float, bool}


def _is_union(hint: Any) -> bool:
    return typing.get_origin(hint) in (Union, types.UnionType)


def _type_text(hint: Any, alias: str = "") -> str | None:
    """The hint in the schema grammar; None if it has no place there."""
    plain = _names().get(hint)
    if plain is not None:
        return plain + (alias if plain == "Tensor" else "")
    parts = typing.get_args(hint)
    if _is_union(hint):
        if set(parts) in (_NUMBERS, _NUMBERS | {complex}):
            return "Scalar"
        rest = [part for part in parts if part is not type(None)]
        inner = _type_text(Union[tuple(rest)], alias) if len(rest) < len(parts) else None  # noqa: UP007
        return inner and inner + "?"
    if typing.get_origin(hint) in (list, Sequence) and len(parts) == 1:
        inner = _type_text(parts[0])
        return inner and f"{inner}{alias}[]"
    return None


def _default_text(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, taeda.dtype):
        return str(value).removeprefix("torch.")
    return str(value)


def _argument_text(function: str, parameter: inspect.Parameter, hint: Any, alias: str) -> str:
    if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
        raise ValueError(
            f"taeda.library.infer_schema: {function} has the parameter '*{parameter.name}'; a schema has no such thing"
        )
    if hint is None:
        raise ValueError(
            f"taeda.library.infer_schema: the parameter '{parameter.name}' of {function} needs a type hint"
        )
    text = _type_text(hint, alias)
    if text is None:
        raise ValueError(
            f"taeda.library.infer_schema: '{parameter.name}: {hint}' of {function} is no type that a schema can say"
        )
    default = "" if parameter.default is inspect.Parameter.empty else f"={_default_text(parameter.default)}"
    return f"{text} {parameter.name}{default}"


def _returns_text(function: str, hint: Any) -> str:
    if hint is None or hint is type(None):
        return "()"
    parts = typing.get_args(hint) if typing.get_origin(hint) is tuple else None
    texts = [_type_text(part) for part in parts] if parts else [_type_text(hint)]
    if None in texts:
        raise ValueError(
            f"taeda.library.infer_schema: {function} returns {hint}, which is no type that a schema can say"
        )
    return f"({', '.join(map(str, texts))})" if parts else str(texts[0])


def infer_schema(prototype_function: Callable[..., Any], /, *, mutates_args: str | Iterable[str],
                 op_name: str | None = None) -> str:  # fmt: skip
    """The schema ``"(Tensor x, float by=2.0) -> Tensor"`` of a function, read from its type hints.

    Args:
        mutates_args: the names of the tensors that the function writes to, or ``"unknown"`` for all of them.
        op_name: put in front if given.

    Raises:
        ValueError: a hint is missing or cannot be said in a schema, or ``mutates_args`` names no parameter.
    """
    name = getattr(prototype_function, "__name__", "the function")
    signature = inspect.signature(prototype_function)
    hints = typing.get_type_hints(prototype_function)
    if "return" not in hints:
        raise ValueError(f"taeda.library.infer_schema: {name} needs a type hint for what it returns (None if nothing)")
    written = (
        None if mutates_args == "unknown" else {mutates_args} if isinstance(mutates_args, str) else set(mutates_args)
    )
    unknown = (written or set()) - set(signature.parameters)
    if unknown:
        raise ValueError(
            f"taeda.library.infer_schema: mutates_args names {sorted(unknown)}, which {name} does not take"
        )
    parts, starred = [], False
    for i, parameter in enumerate(signature.parameters.values()):
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        alias = f"(a{i}!)" if written is None or parameter.name in written else ""
        parts.append(_argument_text(name, parameter, hints.get(parameter.name), alias))
    return f"{op_name or ''}({', '.join(parts)}) -> {_returns_text(name, hints['return'])}"
