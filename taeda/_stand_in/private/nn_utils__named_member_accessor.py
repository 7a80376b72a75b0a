"""Tensors and modules of a module by their paths: what stands there is read, set, exchanged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from taeda import Tensor
from taeda.nn import Module

__all__ = ["_MISSING", "NamedMemberAccessor", "set_tensor", "swap_submodule", "swap_tensor"]

_MISSING: Any = object()  # the tensor at a name that has none


def _check_name(module: Any, name: str) -> None:
    if not isinstance(module, Module):
        raise TypeError(f"taeda.nn: tensors are exchanged in a Module; got {type(module).__name__}")
    if "." in name:
        raise KeyError(f"taeda.nn: {name!r} is a path; a NamedMemberAccessor takes it, here a name without dots is due")
    if not name:
        raise KeyError("taeda.nn: a tensor's name must not be empty")


def _check_tensor(name: str, value: Any) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"taeda.nn: a tensor is expected as {name!r}; got {type(value).__name__}")


def _home(module: Module, name: str) -> dict[str, Any]:
    """Where a name of a module stands."""
    homes: list[dict[str, Any]] = [module._parameters, module._buffers]
    return next((home for home in homes if name in home), module.__dict__)


def set_tensor(module: Module, name: str, tensor: Tensor) -> None:
    """Puts a tensor at a name, also where a parameter is, which need not be a parameter then.

    Raises:
        TypeError: it is no tensor, or ``module`` no module.
        KeyError: the name has dots or is empty.
    """
    _check_name(module, name)
    _check_tensor(name, tensor)
    home = _home(module, name)
    if home is module.__dict__:
        setattr(module, name, tensor)
    else:
        home[name] = tensor


def swap_tensor(module: Module, name: str, tensor: Tensor, allow_missing: bool = False) -> Tensor:
    """Puts a tensor at a name, as `set_tensor` does, and gives the one that was there.

    With ``allow_missing`` there may have been none, which is what `_MISSING` stands for, given and taken.

    Raises:
        AttributeError: there is none.
        TypeError: either is no tensor.
    """
    _check_name(module, name)
    before = getattr(module, name, _MISSING)
    if before is _MISSING and not allow_missing:
        raise AttributeError(f"taeda.nn: {type(module).__name__} has no tensor {name!r}")
    if before is not _MISSING and before is not None:
        _check_tensor(name, before)
    if not (allow_missing and tensor is _MISSING):
        set_tensor(module, name, tensor)
    elif before is not _MISSING:
        del _home(module, name)[name]
    return before  # type: ignore[no-any-return]


def swap_submodule(module: Module, name: str, submodule: Module) -> Module:
    """Puts another module in the place of a child, which it gives.

    Raises:
        KeyError: there is no such child.
        TypeError: either is no module.
    """
    _check_name(module, name)
    if not isinstance(submodule, Module):
        raise TypeError(f"taeda.nn: a Module is expected as {name!r}; got {type(submodule).__name__}")
    if name not in module._modules:
        raise KeyError(f"taeda.nn: {type(module).__name__} has no child {name!r}")
    before = module._modules[name]
    module._modules[name] = submodule
    return before  # type: ignore[return-value]


class NamedMemberAccessor:
    """The members of a module and its children by path, such as ``layers.0.weight``."""

    def __init__(self, module: Module) -> None:
        self.module = module

    def _parent(self, path: str) -> tuple[Module, str]:
        prefix, _, name = path.rpartition(".")
        return self.get_submodule(prefix), name

    def get_submodule(self, name: str) -> Module:
        """The module at a path; the whole one at an empty path."""
        found: Any = self.module
        for step in name.split(".") if name else ():
            found = getattr(found, step)
            if not isinstance(found, Module):
                raise TypeError(f"taeda.nn: at {name!r} is no Module but a {type(found).__name__}")
        return found  # type: ignore[no-any-return]

    def swap_submodule(self, path: str, value: Module) -> Module:
        """As the function `swap_submodule`, by path."""
        return swap_submodule(*self._parent(path), value)

    def get_tensor(self, name: str) -> Tensor:
        """The tensor, or None, at a path."""
        module, last = self._parent(name)
        found = getattr(module, last)
        if found is not None:
            _check_tensor(name, found)
        return found  # type: ignore[no-any-return]

    def set_tensor(self, name: str, value: Tensor) -> None:
        """As the function `set_tensor`, by path."""
        set_tensor(*self._parent(name), value)

    def del_tensor(self, name: str) -> None:
        """Deletes what is at a path."""
        module, last = self._parent(name)
        delattr(module, last)

    def swap_tensor(self, name: str, value: Tensor, allow_missing: bool = False) -> Tensor:
        """As the function `swap_tensor`, by path."""
        return swap_tensor(*self._parent(name), value, allow_missing)

    def get_tensors(self, names: Iterable[str]) -> list[Tensor]:
        """The tensors at some paths."""
        return [self.get_tensor(name) for name in names]

    def set_tensors(self, names: Iterable[str], values: Iterable[Tensor]) -> None:
        """Puts tensors at as many paths."""
        self.set_tensors_dict(_paired(names, values))

    def set_tensors_dict(self, named_tensors: dict[str, Tensor]) -> None:
        """Puts tensors at their paths."""
        for name, value in named_tensors.items():
            self.set_tensor(name, value)

    def del_tensors(self, names: Iterable[str]) -> None:
        """Deletes what is at some paths."""
        for name in names:
            self.del_tensor(name)

    def swap_tensors(self, names: Iterable[str], values: Iterable[Tensor], allow_missing: bool = False) -> list[Tensor]:
        """Puts tensors at as many paths, and gives those that were there."""
        return [self.swap_tensor(name, x, allow_missing) for name, x in _paired(names, values).items()]

    def swap_tensors_dict(
        self, named_tensors: dict[str, Tensor], allow_missing: bool = False
    ) -> tuple[dict[str, Tensor], list[str]]:
        """Puts tensors at their paths; gives those that were there, and the paths where none was.

        Raises:
            RuntimeError: none was at a path, without ``allow_missing``; all are put back.
        """
        before: dict[str, Tensor] = {}
        missing = []
        try:
            for name, value in named_tensors.items():
                before[name] = self.swap_tensor(name, value, True)
                missing += [name] * (before[name] is _MISSING)
            if missing and not allow_missing:
                raise RuntimeError(f"taeda.nn: the module has no tensors {missing}")
        except Exception:
            for name, value in before.items():
                self.swap_tensor(name, value, True)
            raise
        return before, missing

    def check_keys(self, keys: Iterable[str]) -> tuple[list[str], list[str]]:
        """The paths of the module's tensors that ``keys`` lacks, and those in it that the module lacks."""
        given, own = set(keys), {name for name, _ in self.named_tensors(remove_duplicate=False)}
        return sorted(own - given), sorted(given - own)

    def named_parameters(self, remove_duplicate: bool = True) -> Iterable[tuple[str, Tensor]]:
        """The parameters by path."""
        yield from self.module.named_parameters(remove_duplicate=remove_duplicate)

    def named_buffers(self, remove_duplicate: bool = True) -> Iterable[tuple[str, Tensor]]:
        """The buffers by path."""
        yield from self.module.named_buffers(remove_duplicate=remove_duplicate)

    def named_tensors(self, remove_duplicate: bool = True) -> Iterable[tuple[str, Tensor]]:
        """The parameters and then the buffers, by path."""
        yield from self.named_parameters(remove_duplicate)
        yield from self.named_buffers(remove_duplicate)

    def named_modules(self, remove_duplicate: bool = True) -> Iterable[tuple[str, Module]]:
        """The modules by path, the whole one first."""
        yield from self.module.named_modules(remove_duplicate=remove_duplicate)


def _paired(names: Iterable[str], values: Iterable[Tensor]) -> dict[str, Tensor]:
    names, values = list(names), list(values)
    assert len(names) == len(values), f"taeda.nn: as many tensors as names; got {len(values)} and {len(names)}"
    return dict(zip(names, values, strict=True))
