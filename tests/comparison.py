"""How two results, Taeda's and a wanted one, are compared: dtype, shape, strides, values, the type of an error."""

from __future__ import annotations

from typing import Any

import numpy as np

# Relative tolerance by dtype: some ULP of two correct implementations that sum in different orders.
RTOL = {"float64": 1e-7, "float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2, "complex128": 1e-7, "complex64": 2e-5}

# Results are memory as it was found.
UNDEFINED = {"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided", "resize_",
             "resize_as_"}  # fmt: skip
# Results are determined up to sign (singular and eigenvectors, Householder factors).
UP_TO_SIGN = {"linalg_qr", "qr", "linalg_svd", "svd", "linalg_eigh", "linalg_eig", "_linalg_svd", "_linalg_eigh"}


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


def numpy_of(tensor: Any) -> np.ndarray:
    tensor = tensor.detach()
    if str(tensor.dtype) == "torch.bfloat16" or "float8" in str(tensor.dtype):
        tensor = tensor.float()
    tensor = tensor.resolve_conj().resolve_neg()
    if str(tensor.dtype) == "torch.complex32":
        tensor = tensor.cfloat()
    return tensor.numpy().copy()


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
