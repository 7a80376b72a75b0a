"""``taeda.ops.<namespace>.<name>.<overload>``: every op as an object, built in or registered while the program runs."""

from __future__ import annotations

from typing import Any

from taeda._library.ops import OpNamespace

loaded_libraries: set[str] = set()
# Namespaces whose ops are written in Python, and not needed by most.
_IN_PYTHON = {
    "onednn": "taeda.ao.quantization._onednn",
    "_quantized": "taeda.ao.quantization._wrapped",
}


def load_library(path: str) -> None:
    """Loads a shared library whose ``TORCH_LIBRARY`` blocks register ops and classes; they are then found here.

    Args:
        path: the file; relative paths are taken from the current folder.

    Raises:
        OSError: the file is missing or cannot be loaded.
        RuntimeError: what it registers clashes with what there is.
    """
    import os

    from taeda.utils._cpp import binaries

    full_path = os.path.realpath(path)
    binaries.load(full_path)
    loaded_libraries.add(full_path)


def import_module(module: str) -> None:
    """Imports a Python module whose import registers ops."""
    import importlib

    importlib.import_module(module)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module 'taeda.ops' has no attribute '{name}'")
    if name == "higher_order":
        from taeda._control_flow.operators import higher_order

        globals()[name] = higher_order
        return higher_order
    namespace = globals()[name] = OpNamespace(name)
    if name == "quantized":  # packed weights come to Python as objects
        import_module("taeda.jit._graph")
    if name in _IN_PYTHON:
        import_module(_IN_PYTHON[name])
    return namespace


def __dir__() -> list[str]:
    from taeda import _C

    return sorted({*globals(), *(name.partition("::")[0] for name in _C._all_op_names())})
