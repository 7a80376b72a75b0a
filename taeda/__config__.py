"""What this build is made of."""

from __future__ import annotations

import taeda

__all__ = ["parallel_info", "show"]


def show() -> str:
    """The parts of this build, one a line."""
    from taeda.backends.cpu import get_cpu_capability

    parts = [
        f"Taeda {taeda.__version__} built with:",
        "  - C++20",
        "  - OpenBLAS (BLAS and LAPACK)",
        "  - oneDNN",
        "  - OpenMP",
        f"  - CPU capability usage: {get_cpu_capability()}",
        "  - CUDA: none",
    ]
    return "\n".join(parts) + "\n"


def _cxx_flags() -> str:
    """How the compiler was called, as far as it changes results."""
    return "-std=c++20 -fwrapv -ffp-contract=off"


def parallel_info() -> str:
    """How many threads a call may use, and what the system has."""
    import os

    return "\n".join(
        [
            f"taeda.get_num_threads(): {taeda.get_num_threads()}",
            f"taeda.get_num_interop_threads(): {taeda.get_num_interop_threads()}",
            f"os.cpu_count(): {os.cpu_count()}",
            "threads: OpenMP (libgomp)",
            "",
        ]
    )
