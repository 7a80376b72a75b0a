"""What a report of a fault should say about the machine and the build: ``python -m taeda info``."""

from __future__ import annotations

import os
import platform
import sys


def lines() -> list[str]:
    """Facts, one in a line, each after its name."""
    import numpy

    import taeda

    stats = taeda.cpu.memory_stats()
    facts = {
        "Taeda": f"{taeda.__version__}, in {os.path.dirname(taeda.__file__)}",
        "Python": f"{platform.python_version()}, {sys.executable}",
        "NumPy": numpy.__version__,
        "System": f"{platform.platform()}, {' '.join(platform.libc_ver())}",
        "Processor": f"{_processor()}, {os.cpu_count()} cores, of which {len(os.sched_getaffinity(0))} may be used",
        "Kernels": f"{taeda.backends.cpu.get_cpu_capability()}, {taeda.get_num_threads()} threads",
        "Memory": f"{stats['limit'] or 'no'} limit; {_memory()}",
        "CUDA": "available" if taeda.cuda.is_available() else "not in this build",
        "PyTorch": _found("torch"),
    }
    wanted = ("TAEDA_", "TORCH_", "OMP_", "MKL_", "OPENBLAS_", "ONEDNN_", "CUDA_")
    facts |= {name: value for name, value in sorted(os.environ.items()) if name.startswith(wanted)}
    width = max(map(len, facts))
    return [f"{name:<{width}}  {value}" for name, value in facts.items()]


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.partition(":")[2].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def _memory() -> str:
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') >> 20} MB in the machine"


def _found(package: str) -> str:
    from importlib import metadata

    try:
        return f"{metadata.version(package)} beside it, untouched"
    except metadata.PackageNotFoundError:
        return "not installed"
