"""Modules that hold modules or parameters."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import Any, Self, overload

from taeda import Tensor
from taeda.nn.modules._tree import indent
from taeda.nn.modules.module import Module
from taeda.nn.parameter import Parameter

__all__ = ["Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


def _position(owner: Any, index: Any) -> int:
    """``index`` as a number from 0; IndexError outside."""
    number = operator.index(index)
    size = len(owner)
    if not -size <= number < size:
        raise IndexError(f"{type(owner).__name__}: index {number} is out of range for {size} items")
    return number % size


def _pairs(function: str, items: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    for i, item in enumerate(items):
        if not isinstance(item, Iterable):
            raise TypeError(f"{function}: item {i} is a {type(item).__name__}, not a pair")
        pair = tuple(item)
        if len(pair) != 2:
            raise ValueError(f"{function}: item {i} has {len(pair)} parts instead of 2")
        yield pair


class Container(Module):
    """Deprecated: a module with its children given by name."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__()
        import warnings

        warnings.warn("taeda.nn.Container is deprecated; derive from Module", stacklevel=2)
        for name, module in kwargs.items():
            self.add_module(name, module)


class _Numbered(Module):
    """Children under the names "0", "1", ... without gaps."""

    def _replace_all(self, modules: Iterable[Module]) -> None:
        self._modules = {str(i): module for i, module in enumerate(modules)}

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def pop(self, key: int | slice) -> Any:
        """Removes and returns the module at ``key``."""
        module = self[key]  # type: ignore[index]
        del self[key]  # type: ignore[operator]
        return module


class Sequential(_Numbered):
    """Calls its modules one after the other, each with the output of the one before.

    Takes modules, which get the names "0", "1", ..., or one ordered dictionary of named modules.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for i, module in enumerate(args):
                self.add_module(str(i), module)

    def _name_at(self, index: Any) -> str:
        return list(self._modules)[_position(self, index)]

    @overload
    def __getitem__(self, idx: int) -> Module: ...
    @overload
    def __getitem__(self, idx: slice) -> Sequential: ...
    def __getitem__(self, idx: slice | int) -> Module:
        if isinstance(idx, slice):
            return self.__class__(OrderedDict(list(self._modules.items())[idx]))
        return self._modules[self._name_at(idx)]

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, self._name_at(idx), module)

    def __delitem__(self, idx: slice | int) -> None:
        names = list(self._modules)[idx] if isinstance(idx, slice) else [self._name_at(idx)]
        for name in names:
            delattr(self, name)
        self._replace_all(list(self._modules.values()))

    def __add__(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(f"Sequential + other: other must be a Sequential; got {type(other).__name__}")
        return Sequential(*self, *other)

    def __iadd__(self, other: Any) -> Self:
        if not isinstance(other, Sequential):
            raise ValueError(f"Sequential += other: other must be a Sequential; got {type(other).__name__}")
        return self.extend(list(other))

    def _check_times(self, other: Any) -> None:
        if not isinstance(other, int):
            raise TypeError(f"Sequential * other: other must be an int; got {type(other).__name__}")
        if other <= 0:
            raise ValueError(f"Sequential * other: other must be greater than 0; got {other}")

    def __mul__(self, other: int) -> Sequential:
        self._check_times(other)
        return Sequential(*(list(self) * other))

    def __rmul__(self, other: int) -> Sequential:
        return self * other

    def __imul__(self, other: int) -> Self:
        self._check_times(other)
        return self.extend(list(self) * (other - 1))

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input

    def append(self, module: Module) -> Self:
        """Adds a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> Self:
        """Adds a module before ``index``; IndexError outside the list."""
        if not isinstance(module, Module):
            raise AssertionError(f"Sequential.insert: expected a Module; got {type(module).__name__}")
        size = len(self)
        if not -size <= index <= size:
            raise IndexError(f"Sequential.insert: index {index} is out of range for {size} modules")
        modules = list(self)
        modules.insert(index, module)
        self._replace_all(modules)
        return self

    def extend(self, sequential: Iterable[Module]) -> Self:
        """Adds modules at the end."""
        for module in sequential:
            self.append(module)
        return self


class ModuleList(_Numbered):
    """A list of modules."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self += modules

    @overload
    def __getitem__(self, idx: int) -> Module: ...
    @overload
    def __getitem__(self, idx: slice) -> ModuleList: ...
    def __getitem__(self, idx: int | slice) -> Module:
        if isinstance(idx, slice):
            return self.__class__(list(self._modules.values())[idx])
        return self._modules[str(_position(self, idx))]

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, str(_position(self, idx)), module)

    def __delitem__(self, idx: int | slice) -> None:
        modules = list(self)
        del modules[idx if isinstance(idx, slice) else _position(self, idx)]
        self._replace_all(modules)

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def insert(self, index: int, module: Module) -> None:
        """Adds a module before ``index``."""
        modules = list(self)
        modules.insert(index, module)
        self._replace_all(modules)

    def append(self, module: Module) -> Self:
        """Adds a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Adds modules at the end; TypeError if ``modules`` is not iterable."""
        if not isinstance(modules, Iterable):
            raise TypeError(f"ModuleList.extend: expected an iterable of modules; got {type(modules).__name__}")
        for module in list(modules):
            self.append(module)
        return self

    def __repr__(self) -> str:
        """Equal neighbours are printed once, with their range and number."""
        runs: list[tuple[int, int, str]] = []
        for i, module in enumerate(self):
            text = repr(module)
            if runs and runs[-1][2] == text:
                runs[-1] = (runs[-1][0], i, text)
            else:
                runs.append((i, i, text))
        if not runs:
            return f"{self._get_name()}()"
        lines = [
            indent(f"({first}): {text}" if first == last else f"({first}-{last}): {last - first + 1} x {text}", 2)
            for first, last, text in runs
        ]
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


class ModuleDict(Module):
    """A dictionary of modules, in order of insertion."""

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Removes all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Removes and returns the module of that name; KeyError if there is none."""
        return self._modules.pop(key)

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._modules.keys()

    def items(self) -> ItemsView[str, Module]:
        """Names and modules."""
        return self._modules.items()

    def values(self) -> ValuesView[Module]:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Adds the modules of a mapping or of (name, module) pairs.

        Raises:
            TypeError: ``modules`` is not iterable, or an item is no pair.
            ValueError: an item has not two parts.
        """
        if not isinstance(modules, Iterable):
            raise TypeError(f"ModuleDict.update: expected a mapping or pairs; got {type(modules).__name__}")
        if isinstance(modules, (ModuleDict, Mapping)):
            for name, module in modules.items():
                self[name] = module
            return
        for name, module in _pairs("ModuleDict.update", modules):
            self[name] = module


def _as_parameter(value: Any) -> Any:
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _describe(name: Any, value: Any, kind: str) -> str:
    """One line of a printed parameter container; ``kind`` says what the values are."""
    if not isinstance(value, Tensor):
        return f"  ({name}): Object of type: {type(value).__name__}"
    size = "x".join(str(extent) for extent in value.size())
    device = f" (GPU {value.get_device()})" if value.is_cuda else ""
    return f"  ({name}): Parameter containing: [{kind} of size {size}{device}]"


class ParameterList(Module):
    """A list of parameters; a plain tensor becomes one, anything else is kept as it is."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return self.__class__([self[i] for i in range(*idx.indices(len(self)))])
        return getattr(self, str(_position(self, idx)))

    def __setitem__(self, idx: int, param: Any) -> None:
        setattr(self, str(_position(self, idx)), _as_parameter(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __iadd__(self, parameters: Iterable[Any]) -> Self:
        return self.extend(parameters)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value: Any) -> Self:
        """Adds a value at the end."""
        self._size += 1
        self[-1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Adds values at the end; TypeError unless ``values`` is an iterable other than a tensor."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(f"ParameterList.extend: expected an iterable of values; got {type(values).__name__}")
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return "\n".join(_describe(i, value, str(getattr(value, "dtype", ""))) for i, value in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("taeda.nn.ParameterList holds parameters and cannot be called")


class ParameterDict(Module):
    """A dictionary of parameters, in order of insertion; a plain tensor becomes one, anything else stays."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _attribute(self, key: Any) -> str:
        if not isinstance(key, str):
            raise TypeError(f"taeda.nn.ParameterDict: keys must be str; got {type(key).__name__}")
        return key

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys:
            raise AttributeError(f"taeda.nn.ParameterDict: there is no {key!r}; the keys are {list(self._keys)}")
        return getattr(self, self._attribute(key))

    def __setitem__(self, key: str, value: Any) -> None:
        setattr(self, self._attribute(key), _as_parameter(value))
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, self._attribute(key))

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def copy(self) -> ParameterDict:
        """A new dictionary of the same parameters."""
        return ParameterDict([(key, self[key]) for key in self._keys])

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value of ``key``, which is set to ``default`` if there is none."""
        if key not in self._keys:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Removes everything."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Removes and returns a value; AttributeError if there is none."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Removes and returns the last key and value."""
        key, _ = self._keys.popitem()
        value = getattr(self, self._attribute(key))
        delattr(self, self._attribute(key))
        return key, value

    def get(self, key: str, default: Any = None) -> Any:
        """The value of ``key``, or ``default``."""
        return self[key] if key in self._keys else default

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A new dictionary with ``default`` for every key."""
        return ParameterDict((key, default) for key in keys)

    def keys(self) -> Any:
        """The keys."""
        return self._keys.keys()

    def items(self) -> Any:
        """Keys and values."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Any:
        """The values."""
        return (self[key] for key in self._keys)

    def update(self, parameters: Any) -> None:
        """Adds the values of a mapping, sorted by key unless it is ordered, or of (key, value) pairs.

        Raises:
            TypeError: ``parameters`` is not iterable, or an item is no pair.
            ValueError: an item has not two parts.
        """
        if not isinstance(parameters, Iterable):
            raise TypeError(f"ParameterDict.update: expected a mapping or pairs; got {type(parameters).__name__}")
        if isinstance(parameters, (Mapping, ParameterDict)):
            for key, value in _ordered_items(parameters):
                self[key] = value
            return
        for key, value in _pairs("ParameterDict.update", parameters):
            self[key] = value

    def extra_repr(self) -> str:
        return "\n".join(
            _describe(key, value, value.type() if isinstance(value, Tensor) else "") for key, value in self.items()
        )

    def __call__(self, input: Any) -> Any:
        raise RuntimeError("taeda.nn.ParameterDict holds parameters and cannot be called")

    def __or__(self, other: ParameterDict) -> ParameterDict:
        joined = self.copy()
        joined.update(other)
        return joined

    def __ror__(self, other: ParameterDict) -> ParameterDict:
        joined = other.copy()
        joined.update(self)
        return joined

    def __ior__(self, other: ParameterDict) -> Self:
        self.update(other)
        return self


def _ordered_items(parameters: Any) -> Any:
    items = parameters.items()
    return items if isinstance(parameters, (OrderedDict, ParameterDict)) else sorted(items)
