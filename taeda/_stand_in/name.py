"""``python -m taeda torch-name``: an environment in which ``import torch`` is Taeda, for all its programs.

It takes a distribution named torch with one module of three lines; pip knows it, so that packages that require torch
bring no other, and removes it like any other. It is put beside no PyTorch, and nothing but this command puts it.
"""

from __future__ import annotations

import base64
import hashlib
import shutil
import sysconfig
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from taeda._version import TORCH_VERSION, __version__

_VERSION = f"{TORCH_VERSION}+taeda"
_INFO = f"torch-{_VERSION}.dist-info"
_MODULE = '''"""Taeda by the name of torch: from `python -m taeda torch-name`; `pip uninstall torch` removes it."""

import sys

del sys.modules["torch"]
import taeda  # noqa: E402

taeda.install_as_torch()
sys.modules["torch"] = taeda
'''
_METADATA = f"""Metadata-Version: 2.1
Name: torch
Version: {_VERSION}
Summary: Taeda {__version__} by the name of torch
Requires-Dist: taeda
"""


def _other() -> metadata.Distribution | None:
    """A distribution named torch that is not ours."""
    for found in metadata.distributions(name="torch"):
        if "+taeda" not in found.version and str(found.locate_file("")) != _children():
            return found
    return None


def _children() -> str:
    return str(Path(__file__).parent / "children")


def _files() -> Mapping[str, str]:
    texts = {
        "torch/__init__.py": _MODULE, f"{_INFO}/METADATA": _METADATA, f"{_INFO}/INSTALLER": "taeda\n",
        f"{_INFO}/WHEEL": "Wheel-Version: 1.0\nGenerator: taeda\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{_INFO}/top_level.txt": "torch\n",
    }  # fmt: skip
    lines = [f"{name},sha256={_digest(text)},{len(text.encode())}" for name, text in texts.items()]
    return texts | {f"{_INFO}/RECORD": "\n".join([*lines, f"{_INFO}/RECORD,,", ""])}


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")


def install(folder: str | None = None) -> str:
    """Puts the distribution into ``folder``, by default the environment's own, and gives the module's folder.

    Raises:
        RuntimeError: PyTorch is installed there, or something else lies in a folder named torch.
    """
    place = Path(folder or sysconfig.get_paths()["purelib"])
    other = _other() if folder is None else None
    module = place / "torch"
    if other is not None or (module.exists() and not (place / _INFO).exists()):
        version = f"PyTorch {other.version}" if other is not None else f"something named torch, in {module},"
        raise RuntimeError(f"{version} is installed here; take an environment without it, or uninstall it first")
    for name, text in _files().items():
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return str(module)


def remove(folder: str | None = None) -> bool:
    """Takes the distribution away again; whether there was one."""
    place = Path(folder or sysconfig.get_paths()["purelib"])
    if not (place / _INFO).exists():
        return False
    shutil.rmtree(place / "torch")
    shutil.rmtree(place / _INFO)
    return True
