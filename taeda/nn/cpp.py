"""Modules of C++ as modules of Python: what ``torch::python::bind_module`` makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .modules.module import Module


class OrderedDictWrapper:
    """A dictionary of a module of C++, as it is when it is asked.

    Args:
        cpp_module: The bound module.
        attr: Which dictionary: ``"_parameters"``, ``"_buffers"`` or ``"_modules"``.
    """

    def __init__(self, cpp_module: Any, attr: str) -> None:
        self.cpp_module = cpp_module
        self.attr = attr

    @property
    def cpp_dict(self) -> Any:
        """What C++ has now."""
        return getattr(self.cpp_module, self.attr)

    def items(self) -> Any:
        """The names with what they name."""
        return self.cpp_dict.items()

    def keys(self) -> Any:
        """The names."""
        return self.cpp_dict.keys()

    def values(self) -> Any:
        """What is named."""
        return self.cpp_dict.values()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.cpp_dict)

    def __len__(self) -> int:
        return len(self.cpp_dict)

    def __contains__(self, key: str) -> bool:
        return key in self.cpp_dict

    def __getitem__(self, key: str) -> Any:
        return self.cpp_dict[key]


class ModuleWrapper(Module):
    """A module whose parameters, buffers, children and methods are those of a module of C++.

    Args:
        cpp_module: The bound module.
    """

    cpp_module: Any

    def __init__(self, cpp_module: Any) -> None:
        self.__dict__["cpp_module"] = cpp_module  # before the base asks for `training`
        super().__init__()
        for kind in ("_parameters", "_buffers", "_modules"):
            self.__dict__[kind] = OrderedDictWrapper(cpp_module, kind)
        names = (name for name in dir(cpp_module) if not name.startswith("_") and name != "training")
        self.__dict__.update({name: getattr(cpp_module, name) for name in names})

    def _apply(self, fn: Callable[[Any], Any], recurse: bool = True) -> ModuleWrapper:
        for parameter in self.parameters():
            parameter.data = fn(parameter.data)
            if parameter.grad is not None:
                parameter.grad.data = fn(parameter.grad.data)
        for buffer in self.buffers():
            buffer.data = fn(buffer.data)
        return self

    @property  # type: ignore[override]
    def training(self) -> bool:
        """Whether the module of C++ trains."""
        return bool(self.cpp_module.training)

    @training.setter
    def training(self, mode: bool) -> None:
        self.cpp_module.train(mode)

    def __repr__(self) -> str:
        return repr(self.cpp_module)
