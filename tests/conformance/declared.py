"""The declared ops under test, and how a call's outcome is taken and compared."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from known import KNOWN

from taeda.testing._samples import Sample, samples, seed_of
from taedagen.opdef import REGISTRY, Declaration, Op, load_ops

load_ops()

# Ops without a public name are parts of others (a backward kernel, a step of a composite) and are met through those.
PUBLIC: list[Declaration] = [d for d in REGISTRY.declarations if not d.options.get("unbound")]

# Relative tolerance by dtype: some ULP of two correct implementations that sum in different orders.
RTOL = {"float64": 1e-7, "float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2, "complex128": 1e-7, "complex64": 2e-5}

# Results are memory as it was found.
UNDEFINED = {"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided", "resize_",
             "resize_as_"}  # fmt: skip
# Results are determined up to sign (singular and eigenvectors, Householder factors).
UP_TO_SIGN = {"linalg_qr", "qr", "linalg_svd", "svd", "linalg_eigh", "linalg_eig", "_linalg_svd", "_linalg_eigh"}


@cache
def base_ops() -> list[Op]:
    """One op per schema that computes: functional ones, and in-place ones that stand for themselves."""
    return [op for d in PUBLIC for op in d.ops() if op.variant == "functional" or op.schema is d.schema]


@cache
def samples_of(op: Op) -> tuple[Sample, ...]:
    return tuple(samples(op))


def cases(aspect: str, ops: list[Op]) -> list[Any]:
    """Parameters of a test over ``ops``; a known failure must fail."""
    return [
        pytest.param(op, id=name, marks=[pytest.mark.xfail(reason=KNOWN[key], strict=True)] if key in KNOWN else [])
        for op in ops
        for name in [op.schema.full_name]
        for key in [f"{aspect} {name}"]
    ]


def find(library: ModuleType, name: str, overload: str) -> Any:
    """``library.ops.aten.name.overload``, None where it does not exist."""
    packet = getattr(library.ops.aten, name, None)
    return None if packet is None else getattr(packet, overload or "default", None)


@dataclass
class Outcome:
    """What a call gave: its results and arguments afterwards, or its error."""

    results: list[Any]
    args: list[Any]
    error: Exception | None = None

    def __str__(self) -> str:
        if self.error is None:
            return describe(self.results)
        return f"{type(self.error).__name__}: {(str(self.error).splitlines() or [''])[0][:110]}"


def describe(results: list[Any]) -> str:
    """Dtype, shape and strides of each."""
    return "; ".join(
        f"{r.dtype}{list(r.shape)} strides {tuple(r.stride())}" if hasattr(r, "stride") else repr(r) for r in results
    )


def flat(value: Any) -> list[Any]:
    """Tensors and numbers of a result in order, lists and named tuples opened."""
    if isinstance(value, (list, tuple)):
        return [x for part in value for x in flat(part)]
    return [] if value is None else [value]


def call(library: ModuleType, function: Callable[..., Any], sample: Sample, seed: int, device: str = "cpu",
         prepare: Callable[[list[Any]], Any] | None = None) -> Outcome:  # fmt: skip
    """Calls ``function`` with the sample's arguments after seeding the generator; an Exception becomes the outcome."""
    args, kwargs = sample.make(library, seed, device)
    if prepare is not None:
        prepare(args)
    library.manual_seed(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return Outcome(flat(function(*args, **kwargs)), args)
        except Exception as error:
            return Outcome([], args, error)


def numpy_of(tensor: Any) -> np.ndarray:
    tensor = tensor.detach()
    if str(tensor.dtype) == "torch.bfloat16":
        tensor = tensor.float()
    return tensor.resolve_conj().numpy().copy() if tensor.is_complex() else tensor.numpy().copy()


def differ(got: Any, wanted: Any, *, strides: bool = True, values: bool = True, up_to_sign: bool = False,
           rtol: float | None = None) -> str:  # fmt: skip
    """How two results differ, in words; empty where they agree."""
    if not hasattr(wanted, "stride"):
        return "" if got == wanted else f"{got!r}, wanted {wanted!r}"
    if str(got.dtype) != str(wanted.dtype) or tuple(got.shape) != tuple(wanted.shape):
        return f"{describe([got])}, wanted {describe([wanted])}"
    if strides and wanted.numel() and significant_strides(got) != significant_strides(wanted):
        return f"{describe([got])}, wanted {describe([wanted])}"
    if not values:
        return ""
    return array_differs(numpy_of(got), numpy_of(wanted), rtol or RTOL.get(str(wanted.dtype)[6:], 0), up_to_sign)


def significant_strides(tensor: Any) -> list[int]:
    """Strides of the dimensions that have more than one index."""
    return [stride for stride, size in zip(tensor.stride(), tensor.shape) if size > 1]


def array_differs(got: np.ndarray, wanted: np.ndarray, rtol: float, up_to_sign: bool = False) -> str:
    if up_to_sign:
        got, wanted = np.abs(got), np.abs(wanted)
    if wanted.dtype.kind in "biu":
        same = np.array_equal(got, wanted)
    else:
        finite = np.abs(wanted[np.isfinite(wanted)])
        scale = max(1.0, float(finite.max())) if finite.size else 1.0
        same = np.allclose(got, wanted, rtol=rtol, atol=rtol * scale, equal_nan=True)
    if same:
        return ""
    first = [np.array2string(a.ravel()[:4], precision=6) for a in (got, wanted)]
    return f"values {first[0]}, wanted {first[1]}"


def error_agrees(got: Exception, wanted: Exception) -> bool:
    """The type that PyTorch raises, or one that is caught wherever that is."""
    names = {t.__name__ for t in type(got).__mro__}
    kind = type(wanted).__name__
    return kind in names or (kind == "NotImplementedError" and "RuntimeError" in names)


def report(op: Op, mistakes: list[str]) -> None:
    """Fails with the first mistakes of an op."""
    if mistakes:
        shown = "\n  ".join(mistakes[:6])
        pytest.fail(f"{op.schema.full_name}: {len(mistakes)} mistakes\n  {shown}", pytrace=False)


def seed_for(op: Op) -> int:
    return seed_of(op.schema.full_name)
