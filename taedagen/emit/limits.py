"""What the engines of every backend have room for: in one op, operands and results together, results, and numbers.

A declaration that wants more fails the build, here and where ``shape/ops/limits.h`` is compiled.
"""

from __future__ import annotations

OPERANDS = 12
RESULTS = 4
SCALARS = 6
REDUCTION_RESULTS = 2
REDUCTION_SCALARS = 4

_NAMES = {
    "kMaxOperands": OPERANDS, "kMaxResults": RESULTS, "kMaxScalars": SCALARS,
    "kMaxReductionResults": REDUCTION_RESULTS, "kMaxReductionScalars": REDUCTION_SCALARS,
}  # fmt: skip


def limits_header() -> str:
    """The same for C++."""
    lines = ["// Made by taedagen from taedagen/emit/limits.py.", "#pragma once", "", "namespace taeda::shape {"]
    lines += [f"constexpr int {name} = {value};" for name, value in _NAMES.items()]
    return "\n".join([*lines, "}  // namespace taeda::shape", ""])
