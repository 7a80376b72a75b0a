"""Tests that find common mistakes in registered ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import taeda

DEFAULT_TESTS = ("test_schema", "test_autograd_registration", "test_faketensor")


def opcheck(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, *,
            test_utils: str | Sequence[str] = DEFAULT_TESTS, raise_exception: bool = True, atol: float | None = None,
            rtol: float | None = None) -> dict[str, str]:  # fmt: skip
    """Runs the op on example arguments and looks whether what was registered fits together.

    ``test_schema``: it writes to the arguments that its schema says, and to no others. ``test_autograd_registration``:
    its derivative, if any, is registered where autograd finds it. ``test_faketensor``: the meta kernel gives the shapes
    and dtypes of the real one.

    Returns:
        Each test's name with ``"SUCCESS"`` or what went wrong.

    Raises:
        ValueError: an unknown test.
        RuntimeError: a test failed and ``raise_exception`` is True.
    """
    from taeda._library.custom_ops import CustomOpDef
    from taeda._library.ops import OpOverloadPacket

    if isinstance(op, CustomOpDef):
        op = op._opoverload
    if isinstance(op, OpOverloadPacket):
        op = op.default
    chosen = [test_utils] if isinstance(test_utils, str) else list(test_utils)
    unknown = sorted(set(chosen) - set(_TESTS))
    if unknown:
        raise ValueError(f"taeda.library.opcheck: the tests are {sorted(_TESTS)}; got {unknown}")
    report = {}
    for name in chosen:
        problem = _TESTS[name](op, args, kwargs or {})
        report[name] = problem or "SUCCESS"
        if problem and raise_exception:
            raise RuntimeError(f"taeda.library.opcheck: {op} fails {name}: {problem}")
    return report


def _map(value: Any, function: Callable[[Any], Any]) -> Any:
    if isinstance(value, taeda.Tensor):
        return function(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_map(item, function) for item in value)
    if isinstance(value, dict):
        return {key: _map(item, function) for key, item in value.items()}
    return value


def _leaves(value: Any) -> list[Any]:
    found: list[Any] = []
    _map(value, found.append)
    return found


def _copy(tensor: Any) -> Any:
    return tensor.detach().clone().requires_grad_(tensor.requires_grad)


def _check_schema(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    args, kwargs = _map(args, lambda t: t.detach().clone()), _map(kwargs, lambda t: t.detach().clone())
    before = {name: _map(value, lambda t: t.clone()) for name, value in _by_name(op, args, kwargs).items()}
    op(*args, **kwargs)
    for argument in op._schema.arguments:
        old, new = before.get(argument.name), _by_name(op, args, kwargs).get(argument.name)
        changed = any(not taeda.equal(a, b) for a, b in zip(_leaves(old), _leaves(new)))
        if changed and not argument.is_write:
            return f"it writes to '{argument.name}', but the schema does not say so"
    return ""


def _by_name(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    names = [argument.name for argument in op._schema.arguments]
    return {**dict(zip(names, args)), **kwargs}


def _check_autograd(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    if not any(t.requires_grad for t in _leaves([args, kwargs])) or op._schema.is_mutable:
        return ""
    results = _leaves(op(*_map(args, _copy), **_map(kwargs, _copy)))
    if not any(r.requires_grad for r in results if r.is_floating_point()):
        return "arguments require gradients, but no result does; register a derivative at the key Autograd"
    return ""


def _check_fake(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    def to_meta(tensor: Any) -> Any:
        return tensor.detach().to("meta")

    real = _leaves(op(*_map(args, _copy), **_map(kwargs, _copy)))
    try:
        fake = _leaves(op(*_map(args, to_meta), **_map(kwargs, to_meta)))
    except NotImplementedError as missing:
        return str(missing)
    for i, (r, f) in enumerate(zip(real, fake)):
        if (r.shape, r.dtype) != (f.shape, f.dtype):
            return (
                f"result {i} has shape {tuple(r.shape)} and dtype {r.dtype}, "
                f"but the meta kernel gives {tuple(f.shape)} and {f.dtype}"
            )
    return "" if len(real) == len(fake) else f"it gives {len(real)} tensors, but the meta kernel {len(fake)}"


_TESTS: dict[str, Callable[[Any, tuple[Any, ...], dict[str, Any]], str]] = {
    "test_schema": _check_schema,
    "test_autograd_registration": _check_autograd,
    "test_faketensor": _check_fake,
}
