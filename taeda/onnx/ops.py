"""Ops of ONNX by name, for models that are written to be exported: `export` writes the node that a call names."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import taeda
from taeda import SymInt, Tensor
from taeda.library import Library

__all__ = ["symbolic", "symbolic_multi_out"]

Attributes = dict[str, int | float | str | bool | Sequence[int] | Sequence[float] | Sequence[str] | Sequence[bool]]

_DTYPES = {
    1: taeda.float32, 2: taeda.uint8, 3: taeda.int8, 4: taeda.uint16, 5: taeda.int16, 6: taeda.int32, 7: taeda.int64,
    9: taeda.bool, 10: taeda.float16, 11: taeda.float64, 12: taeda.uint32, 13: taeda.uint64, 14: taeda.complex64,
    15: taeda.complex128, 16: taeda.bfloat16, 17: taeda.float8_e4m3fn, 18: taeda.float8_e4m3fnuz, 19: taeda.float8_e5m2,
    20: taeda.float8_e5m2fnuz,
}  # fmt: skip
_KINDS = ((bool, "i"), (int, "i"), (float, "f"), (str, "s"))
_REST = "str attributes, str metadata, int? version"
_library = Library("onnx_symbolic", "FRAGMENT")
_library.define(f"_symbolic(Tensor?[] inputs, str op, int onnx_dtype, SymInt[] shape, {_REST}) -> Tensor")
_MANY = "int[] onnx_dtypes, SymInt[] sizes, int[] ranks"
_library.define(f"_symbolic_multi_out(Tensor?[] inputs, str op, {_MANY}, {_REST}) -> Tensor[]")


def _blank(inputs: Sequence[Tensor | None], op: str, onnx_dtype: int, shape: Sequence[Any], *rest: Any) -> Tensor:
    device = next((given.device for given in inputs if given is not None), None)
    return taeda.zeros(shape, dtype=_DTYPES[onnx_dtype], device=device)


def _blanks(
    inputs: Sequence[Tensor | None], op: str, onnx_dtypes: Sequence[int], sizes: Sequence[Any], ranks: Sequence[int],
    *rest: Any,
) -> list[Tensor]:  # fmt: skip
    made, place = [], 0
    for dtype, rank in zip(onnx_dtypes, ranks, strict=True):
        made.append(_blank(inputs, op, dtype, list(sizes[place : place + rank])))
        place += rank
    return made


_library.impl("_symbolic", _blank, "CompositeExplicitAutograd")
_library.impl("_symbolic_multi_out", _blanks, "CompositeExplicitAutograd")


def _number_of(dtype: taeda.dtype | int) -> int:
    number = dtype if isinstance(dtype, int) else next((n for n, known in _DTYPES.items() if known == dtype), 0)
    if number not in _DTYPES:
        raise ValueError(f"taeda.onnx.ops.symbolic: ONNX has no dtype {dtype}")
    return number


def _text(attributes: Attributes | None) -> str:
    """The attributes as text, with the kind of each behind its name."""
    found = {}
    for name, value in (attributes or {}).items():
        items = list(value) if isinstance(value, (list, tuple)) else [value]
        if not items:
            raise ValueError(f"taeda.onnx.ops.symbolic: the attribute {name} is empty, which says not of what it is")
        kind = next((letter for cls, letter in _KINDS if all(isinstance(item, cls) for item in items)), None)
        if kind is None:
            raise ValueError(
                f"taeda.onnx.ops.symbolic: the attribute {name} must be numbers or texts of one kind; got {value!r:.60}"
            )
        if kind == "i":
            items = [int(item) for item in items]  # type: ignore[arg-type]
        found[f"{name}_{kind}s" if isinstance(value, (list, tuple)) else f"{name}_{kind}"] = (
            items if isinstance(value, (list, tuple)) else items[0]
        )
    return json.dumps(found)


def symbolic(
    domain_op: str, /, inputs: Sequence[Tensor | None], attrs: Attributes | None = None, *, dtype: taeda.dtype | int,
    shape: Sequence[int | SymInt], version: int | None = None, metadata_props: dict[str, str] | None = None,
) -> Tensor:  # fmt: skip
    """The result of an op of ONNX, or of a domain of one's own, in an export; zeros outside of one.

    Args:
        domain_op: ``"domain::Op"``; without a domain it is one of ONNX's.
        inputs: its inputs; None where one is left out.
        attrs: its attributes: numbers, texts, and lists of them.
        dtype: the result's dtype, or its number in ONNX.
        shape: the result's shape.
        version: that of the domain.
        metadata_props: what is noted at the node.

    Raises:
        ValueError: an attribute or dtype that ONNX does not have.
    """
    return taeda.ops.onnx_symbolic._symbolic(
        list(inputs), domain_op, _number_of(dtype), list(shape), _text(attrs), json.dumps(metadata_props or {}), version
    )


def symbolic_multi_out(
    domain_op: str, /, inputs: Sequence[Tensor | None], attrs: Attributes | None = None, *,
    dtypes: Sequence[taeda.dtype | int], shapes: Sequence[Sequence[int | SymInt]], version: int | None = None,
    metadata_props: dict[str, str] | None = None,
) -> Sequence[Tensor]:  # fmt: skip
    """As `symbolic`, for an op of several results.

    Raises:
        RuntimeError: there are more shapes than dtypes, or fewer.
        ValueError: an attribute or dtype that ONNX does not have.
    """
    if len(shapes) != len(dtypes):
        raise RuntimeError(
            f"taeda.onnx.ops.symbolic_multi_out: wants a shape for each dtype; got {len(shapes)} and {len(dtypes)}"
        )
    sizes: list[Any] = [size for shape in shapes for size in shape]
    return taeda.ops.onnx_symbolic._symbolic_multi_out(
        list(inputs), domain_op, list(map(_number_of, dtypes)), sizes, list(map(len, shapes)), _text(attrs),
        json.dumps(metadata_props or {}), version,
    )  # fmt: skip
