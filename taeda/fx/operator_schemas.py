"""The signatures of the functions that graphs call, and calls in their order."""

from __future__ import annotations

import inspect
import numbers
import typing
from collections.abc import Callable
from typing import Any, NamedTuple

import taeda
from taeda import nn
from taeda._library.ops import OpOverload, OpOverloadPacket

__all__ = [
    "ArgsKwargsPair",
    "check_for_mutable_operation",
    "create_type_hint",
    "get_signature_for_torch_op",
    "normalize_function",
    "normalize_module",
    "type_matches",
]


class ArgsKwargsPair(NamedTuple):
    """The arguments of a call."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


_TYPES = {
    "Tensor": taeda.Tensor, "int": int, "SymInt": int, "float": float, "bool": bool, "str": str,
    "number": numbers.Number, "Scalar": numbers.Number, "Device": taeda.device, "Generator": taeda.Generator,
    "complex": complex, "ScalarType": int, "Layout": int, "MemoryFormat": int,
}  # fmt: skip


def _python_type(text: str) -> Any:
    """The annotation for a type of a schema."""
    if text.endswith("?") or text.startswith("Optional["):
        inner = text[:-1] if text.endswith("?") else text[len("Optional[") : -1]
        return typing.Optional[_python_type(inner)]  # noqa: UP045
    if text.startswith("List["):
        return list[_python_type(text[len("List[") : -1])]  # type: ignore[misc]
    if text.endswith("]"):
        return list[_python_type(text[: text.rindex("[")])]  # type: ignore[misc]
    return _TYPES.get(text.partition("(")[0], Any)


def _signature_of(schema: Any) -> inspect.Signature:
    kinds = inspect.Parameter
    parameters = []
    for argument in schema.arguments:
        default = argument.default_value if argument.has_default_value() else kinds.empty
        kind = kinds.KEYWORD_ONLY if argument.kwarg_only else kinds.POSITIONAL_OR_KEYWORD
        name = "input" if argument.name == "self" else "from_" if argument.name == "from" else argument.name
        parameters.append(kinds(name, kind, default=default, annotation=_python_type(str(argument.type))))
    returns = [_python_type(str(r.type)) for r in schema.returns]
    result: Any = returns[0] if len(returns) == 1 else tuple(returns) if returns else None
    optional = [p for p in parameters if p.kind is kinds.POSITIONAL_OR_KEYWORD]
    first = next((i for i, p in enumerate(optional) if p.default is not kinds.empty), len(optional))
    parameters = [  # Python has no required argument after one with a default
        p.replace(default=None) if p in optional[first:] and p.default is kinds.empty else p for p in parameters
    ]
    return inspect.Signature(parameters, return_annotation=result)


def _torchscript_type_to_python_type(ts_type: Any) -> Any:
    """The annotation for a type of a schema: `list[int]` for `List[int]`."""
    return _python_type(str(ts_type))


def _torchscript_schema_to_signature(ts_schema: Any) -> inspect.Signature:
    """The signature of an op, from its schema."""
    return _signature_of(ts_schema)


def _args_kwargs_to_normalized_args_kwargs(
    sig: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any], normalize_to_only_use_kwargs: bool
) -> ArgsKwargsPair | None:
    """The arguments of a call in the order of a signature, defaults filled in; None if they do not fit."""
    return _normalized(sig, args, kwargs, normalize_to_only_use_kwargs)


def _schemas_of(op: Any) -> list[Any]:
    if isinstance(op, OpOverload):
        return [op._schema]
    if isinstance(op, OpOverloadPacket):
        return [getattr(op, name)._schema for name in op.overloads()]
    name = getattr(op, "__name__", None)
    module = getattr(op, "__module__", None) or ""
    if not isinstance(name, str) or not module.startswith(("taeda", "torch", "_operator", "builtins")):
        return []
    packet = getattr(taeda.ops.aten, name, None) if module != "_operator" else _arithmetic(name)
    return _schemas_of(packet) if isinstance(packet, OpOverloadPacket) else []


def _arithmetic(name: str) -> Any:
    names = {"truediv": "div", "floordiv": "floor_divide", "mod": "remainder", "and_": "bitwise_and"}
    return getattr(taeda.ops.aten, names.get(name, name), None) if not name.startswith("get") else None


def get_signature_for_torch_op(op: Callable[..., Any], return_schemas: bool = False) -> Any:
    """The signatures of an op's overloads; None for what is none.

    Args:
        op: the function or op.
        return_schemas: return the schemas, too: ``(signatures, schemas)``.
    """
    schemas = _schemas_of(op)
    if not schemas:
        return (None, None) if return_schemas else None
    signatures = [_signature_of(schema) for schema in schemas]
    return (signatures, schemas) if return_schemas else signatures


def create_type_hint(x: Any) -> Any:
    """The type of what lists and tuples of types hold: ``list[int]`` for ``[int, int]``; others as they are."""
    if not isinstance(x, (list, tuple)):
        return x
    if not x:
        return list[Any] if isinstance(x, list) else tuple[Any, ...]
    kinds = list(x)
    base = next((k for k in kinds if isinstance(k, type) and all(_is_sub(other, k) for other in kinds)), Any)
    return list[base] if isinstance(x, list) else tuple[base, ...]  # type: ignore[valid-type]


def _is_sub(kind: Any, base: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, base)


def type_matches(signature_type: Any, argument_type: Any) -> bool:
    """Whether an argument of one type may stand for a parameter of another."""
    if signature_type is argument_type or signature_type is Any:
        return True
    origin = typing.get_origin(signature_type)
    if origin is typing.Union:
        return any(type_matches(kind, argument_type) for kind in typing.get_args(signature_type))
    if origin is list:
        (inner,) = typing.get_args(signature_type)
        if inner is int and argument_type is int:  # one number stands for a list of it
            return True
        argument = create_type_hint(argument_type)
        if typing.get_origin(argument) in (list, tuple):
            kinds = [k for k in typing.get_args(argument) if k is not Ellipsis]
            return all(type_matches(inner, kind) for kind in kinds)
        return False
    if signature_type is numbers.Number or signature_type is float:
        return argument_type in (int, float, numbers.Number) or (
            signature_type is numbers.Number and argument_type in (bool, complex)
        )
    if signature_type is int and argument_type is taeda.dtype:  # which schemas have as numbers
        return True
    return isinstance(argument_type, type) and isinstance(signature_type, type) and issubclass(
        argument_type, signature_type
    )  # fmt: skip


def check_for_mutable_operation(target: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raises RuntimeError if this call of an op writes to an argument."""
    signatures, schemas = get_signature_for_torch_op(target, return_schemas=True)
    fitting = [schema for s, schema in zip(signatures or [], schemas or []) if _binds(s, args, kwargs)]
    if fitting and all(schema.is_mutable for schema in fitting):
        raise RuntimeError(
            f"taeda.fx: {getattr(target, '__name__', target)} writes to an argument, which this tracer was told to "
            "refuse (check_mutable_operations)"
        )


def _binds(signature: inspect.Signature, args: Any, kwargs: Any) -> bool:
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def normalize_function(
    target: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, arg_types: Any = None,
    kwarg_types: Any = None, normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:  # fmt: skip
    """The arguments of a call in the order of the function's signature, defaults filled in.

    Args:
        target: a function of the library, or an op.
        args, kwargs: the call's arguments.
        arg_types, kwarg_types: their types, which choose between overloads.
        normalize_to_only_use_kwargs: give all by name.

    Returns:
        The arguments; None where no signature is known, or several fit.
    """
    kwargs = kwargs or {}
    signatures = get_signature_for_torch_op(target)
    written_in_python = inspect.isfunction(target)
    if written_in_python or not signatures:
        try:
            signature = inspect.signature(inspect.unwrap(target))
        except (TypeError, ValueError):
            return None
        return _normalized(signature, args, kwargs, normalize_to_only_use_kwargs)
    fitting = [s for s in signatures if _binds(s, args, kwargs)]
    if arg_types is not None or kwarg_types is not None:
        fitting = [s for s in fitting if _types_fit(s, arg_types or (), kwarg_types or {})] or fitting
    results = [_normalized(s, args, kwargs, normalize_to_only_use_kwargs) for s in fitting]
    known = [result for result in results if result is not None]
    if not known or (arg_types is None and kwarg_types is None and any(one != known[0] for one in known)):
        return None
    return known[0]


def _types_fit(signature: inspect.Signature, arg_types: Any, kwarg_types: Any) -> bool:
    try:
        bound = signature.bind(*arg_types, **kwarg_types)
    except TypeError:
        return False
    return all(type_matches(signature.parameters[name].annotation, kind) for name, kind in bound.arguments.items())


def normalize_module(
    root: nn.Module, target: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:  # fmt: skip
    """The arguments of a call of a module of `nn` in the order of its ``forward``; None for other modules.

    Raises:
        RuntimeError: there is no module at ``target``.
    """
    try:
        module = root.get_submodule(target)
    except AttributeError:
        raise RuntimeError(f"taeda.fx.normalize_module: there is no module {target} in {type(root).__name__}") from None
    if getattr(nn, type(module).__name__, None) is not type(module):
        return None
    return _normalized(inspect.signature(module.forward), args, kwargs or {}, normalize_to_only_use_kwargs)


def _normalized(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any], by_name: bool
) -> ArgsKwargsPair | None:
    kinds = inspect.Parameter
    if any(p.kind in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD) for p in signature.parameters.values()) and by_name:
        return None
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return None
    bound.apply_defaults()
    if by_name:
        return ArgsKwargsPair((), dict(bound.arguments))
    positional = len(args)
    names = list(bound.arguments)
    values = list(bound.arguments.values())
    return ArgsKwargsPair(tuple(values[:positional]), dict(zip(names[positional:], values[positional:], strict=True)))
