"""The distribution named torch, as `importlib.metadata` asks for it when Taeda stands in for PyTorch."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from taeda._version import TORCH_VERSION, __version__

_FILES = {
    "METADATA": f"Metadata-Version: 2.1\nName: torch\nVersion: {TORCH_VERSION}\nRequires-Python: >=3.11\n"
    f"Summary: Taeda {__version__}, standing in for PyTorch\n",
    "top_level.txt": "torch\n",
}


class StandIn(importlib.metadata.Distribution):
    """torch, in the version that Taeda implements, without files or requirements of its own."""

    def read_text(self, filename: Any) -> str | None:
        return _FILES.get(str(filename))

    def locate_file(self, path: Any) -> Any:
        return Path(__file__).parents[2] / path


def distributions(context: Any = None) -> Iterable[importlib.metadata.Distribution]:
    """The stand-in, if ``context`` asks for torch or for all there are."""
    name = getattr(context, "name", None)
    if name is None or re.sub(r"[-_.]+", "-", name).lower() == "torch":
        yield StandIn()
