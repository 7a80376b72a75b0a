"""Where the MPI library is, which moves the bytes of the engine."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from taeda._C import _distributed
from taeda.distributed._errors import DistBackendError


def find_mpi() -> str | None:
    """The path of the MPI library: TAEDA_MPI, that of the starter of MPI programs, or the one of the wheel."""
    if given := os.environ.get("TAEDA_MPI"):
        return given
    if _distributed.started_by_mpi()[0] >= 0 and (name := _system_mpi()):
        return name
    for folder in (Path(sys.prefix), *map(Path, sys.path)):
        for place in (folder / "lib", folder.parent.parent):
            if (place / "libmpi.so.12").exists():
                return str(place / "libmpi.so.12")
    return _system_mpi()


def _system_mpi() -> str | None:
    """What the loader finds, in whatever place the cluster keeps it."""
    import ctypes

    names = (
        ("libmpi.so.40", "libmpi.so.12") if "OMPI_COMM_WORLD_RANK" in os.environ else ("libmpi.so.12", "libmpi.so.40")
    )
    for name in names:
        try:
            ctypes.CDLL(name)
        except OSError:
            continue
        return name
    return None


def needed_mpi(size: int) -> str:
    """`find_mpi` for a group of that many processes.

    Raises:
        DistBackendError: it is not there.
    """
    if size == 1:
        return ""
    if (path := find_mpi()) is None:
        raise DistBackendError(
            f"taeda.distributed: a group of {size} processes needs MPI, which is not installed; "
            "pip install taeda[distributed] brings it"
        )
    return path
