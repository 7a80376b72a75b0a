"""Extension modules that were built for PyTorch, as Python imports them: what they ask for by its names is ours."""

from __future__ import annotations

from importlib.machinery import ExtensionFileLoader, ModuleSpec
from types import ModuleType


def watch() -> None:
    """Where an extension module cannot be loaded as a library of PyTorch's is missing, opens ours and tries again."""
    load = ExtensionFileLoader.create_module

    def create_module(self: ExtensionFileLoader, spec: ModuleSpec) -> ModuleType:
        try:
            return load(self, spec)
        except ImportError as error:
            from taeda.utils._cpp import binaries

            if not binaries.is_missing(error):
                text = binaries.explained(str(error), str(self.path))
                if text == str(error):
                    raise
                raise ImportError(text, name=spec.name, path=str(self.path)) from None
            binaries.open_stand_ins()
            return load(self, spec)

    ExtensionFileLoader.create_module = create_module  # type: ignore[method-assign]
