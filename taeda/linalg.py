"""Linear algebra: the natives named ``linalg_*`` under their short names."""

from __future__ import annotations

from taeda import _C

LinAlgError = _C._LinAlgError

globals().update(
    {name.removeprefix("linalg_"): value for name, value in vars(_C._linalg).items() if not name.startswith("__")}
)
__all__ = sorted(name for name in globals() if not name.startswith("_") and name != "annotations")


def __getattr__(name: str) -> object:
    from taeda._main.absent import missing

    raise missing(__name__, name)
