"""Statements in C++ that are timed: compiled as an extension whose one function runs them over and over."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

_SOURCE = """
#include <chrono>
{global_setup}

double seconds(int64_t number) {{
{setup}
  auto start = std::chrono::steady_clock::now();
  for (int64_t run = 0; run < number; ++run) {{
{stmt}
  }}
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}}
"""


def compiled(stmt: str, setup: str, global_setup: str) -> Callable[[int], float]:
    """The seconds that so many runs of ``stmt`` take, as a function of their number.

    Raises:
        RuntimeError: it does not compile.
    """
    from taeda.utils.cpp_extension import load_inline

    source = _SOURCE.format(stmt=stmt, setup=setup, global_setup=global_setup)
    name = f"taeda_timed_{hashlib.sha256(source.encode()).hexdigest()[:16]}"
    return load_inline(name, source, functions="seconds").seconds  # type: ignore[no-any-return]
