"""Where the MPI library is, which moves the bytes of the engine."""

from __future__ import annotations

import sys
from pathlib import Path

from taeda._C import _distributed
from taeda.distributed._errors import DistBackendError


def find_mpi() -> str | None:
    """The path of the MPI library, of which the one of the wheel lies in a folder of the environment."""
    folders = [place for folder in (Path(sys.prefix), *map(Path, sys.path))
               for place in (folder / "lib", folder.parent.parent)]  # fmt: skip
    return _distributed.find_mpi([str(folder) for folder in folders]) or None


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
