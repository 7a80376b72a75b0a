"""What kernels in Triton were tuned to, of which there are none here; programs keep their own entries."""

from __future__ import annotations

from typing import Any, NoReturn

_tuned: dict[tuple[Any, ...], dict[Any, Any]] = {}


def update(op: str, device_name: str, version: Any, key: Any, value: Any) -> None:
    """Keeps the parameters ``value`` for an op of the shape ``key`` on a device."""
    _tuned.setdefault((op, device_name, version), {})[key] = value


def get_meta(
    op: str, key: Any, device_name: str | None = None, version: Any = (0, None, 0.5), exact: bool = False
) -> Any:
    """The parameters that `update` got, or None."""
    return _tuned.get((op, device_name, version), {}).get(key)


def minimize(*args: Any, **kwargs: Any) -> NoReturn:
    """Refuses.

    Raises:
        RuntimeError: there is no kernel to tune.
    """
    raise RuntimeError("torch.sparse._triton_ops_meta.minimize: there are no kernels in Triton here to be tuned")
