"""Where the functions are that a call runs through: ``ops.json`` and two tables beside it, by the generator."""

from __future__ import annotations

import functools
import json
from typing import Any

from taeda._main.tables import generated_text

_ISA_FOLDERS = {"AVX512": "avx512", "AVX2": "avx2"}


@functools.cache
def ops_table() -> dict[str, dict[str, Any]]:
    """Facts of each op by ``name.overload``."""
    from taedagen.emit.table import read_table

    return read_table(generated_text("ops.json"))


@functools.cache
def _locations() -> dict[str, dict[str, Any]]:
    return json.loads(generated_text("locations.json"))  # type: ignore[no-any-return]


def location(full_name: str, layer: str) -> str:
    """Of the generated function that serves an op in a layer, a C++ namespace; "" if there is none."""
    at = _locations()["ops"][full_name]["at"].get(layer)
    return f"taeda/generated/{at}" if at else ""


def operators() -> dict[str, str]:
    """Which op each of Python's operators is: ``{"__add__": "add", ...}``."""
    return _locations()["operators"]  # type: ignore[no-any-return]


def native_location(name: str) -> str:
    """Of a function of ``_C`` that people wrote, or a method of tensors: ``Tensor.item``; "" if there is none."""
    return _natives().get(name, "")


@functools.cache
def _natives() -> dict[str, str]:
    return json.loads(generated_text("natives.json"))  # type: ignore[no-any-return]


def generated_calls(full_name: str, layer: str) -> list[str]:
    """The ops that such a function calls."""
    return _locations()["ops"][full_name].get("calls", {}).get(layer, [])  # type: ignore[no-any-return]


def loop_location(full_name: str, dtype: str) -> tuple[str, str] | None:
    """What a generated CPU kernel runs for a dtype: the formula's loop in the instruction set of this machine."""
    kernel = _locations()["ops"][full_name].get("loops")
    return _loop_location(kernel, dtype) if kernel else None


def gradient_locations(full_name: str, dtype: str) -> list[tuple[str, str]]:
    """The loops that make gradients in one pass."""
    locations = (_loop_location(kernel, dtype) for kernel in _locations()["ops"][full_name].get("gradients", ()))
    return [found for found in locations if found]


def _loop_location(kernel: str, dtype: str) -> tuple[str, str] | None:
    from taeda import _C
    from taedagen.emit.variants import COMPUTES

    compute = next(name for name, (dtypes, _) in COMPUTES.items() if dtype in dtypes)
    loop, at = _locations()["loops"].get(kernel, {}).get(compute, (None, None))
    if loop is None:
        return None
    isa = _ISA_FOLDERS.get(_C._get_cpu_capability(), "baseline")
    widened = f", {dtype} widened in blocks" if dtype in ("float16", "bfloat16") else ""
    return f"cpu::{isa}::{loop}{widened}", f"taeda/generated/{at}"
