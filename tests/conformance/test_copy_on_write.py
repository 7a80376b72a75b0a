"""Lazy clones of an op's arguments: what it only reads still shares its bytes, what it writes has bytes of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from declared import PUBLIC, Op, cases, find, report, samples_of, seed_for

import taeda
from taeda.testing._samples import make
from taedagen.opdef.samples import Sample

OPS = [
    op for d in PUBLIC for op in d.ops()
    if op.variant in ("functional", "inplace") and not d.options.get("geometry_only")
]  # fmt: skip
# PyTorch's schemas do not say that they write these.
UNDECLARED = {"running_mean", "running_var", "state_steps"}


def tensors_in(value: Any) -> list[Any]:
    values = value if isinstance(value, list) else [value]
    return [v for v in values if isinstance(v, taeda.Tensor) and v.layout == taeda.strided]


def lazily(value: Any) -> Any:
    if isinstance(value, list):
        return [lazily(v) for v in value]
    return value._lazy_clone() if tensors_in(value) else value


def arguments(op: Op, args: list[Any], kwargs: dict[str, Any]) -> Iterator[tuple[bool, Any]]:
    """Whether it is declared as written, and the tensor."""
    declared = {a.name: a.type.is_mutable for a in op.schema.arguments}
    given = dict(zip(declared, args)) | kwargs
    for name, value in given.items():
        yield from ((declared.get(name, False) or name in UNDECLARED, t) for t in tensors_in(value))


def mistakes_of(op: Op, sample: Sample) -> Iterator[str]:
    args, kwargs = make(sample, taeda, seed_for(op))
    lazy_args, lazy_kwargs = [lazily(a) for a in args], {k: lazily(v) for k, v in kwargs.items()}
    before = [t.tolist() for _, t in arguments(op, args, kwargs)]
    try:
        find(taeda, op.schema.name, op.schema.overload)(*lazy_args, **lazy_kwargs)
    except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError):
        return
    pairs = zip(arguments(op, args, kwargs), arguments(op, lazy_args, lazy_kwargs), before)
    for (_, original), (is_written, clone), values in pairs:
        if repr(original.tolist()) != repr(values):
            yield f"{sample}: an original changed"
        if original.numel() and not is_written and not taeda._C._is_cow_tensor(clone):
            yield f"{sample}: what it only reads was copied"
        if (
            is_written
            and clone.tolist() != values
            and taeda._C._data_address(clone) == taeda._C._data_address(original)
        ):
            yield f"{sample}: what it wrote is in bytes that are shared"


@pytest.mark.parametrize("op", cases("copy_on_write", OPS))
def test_ops_leave_shared_bytes_alone(op: Op) -> None:
    report(op, [m for s in samples_of(op)[:4] for m in mistakes_of(op, s)])
