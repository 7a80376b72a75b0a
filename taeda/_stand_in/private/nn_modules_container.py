"""Of containers: texts."""

from .nn_modules_module import _addindent

__all__ = ["_addindent"]
