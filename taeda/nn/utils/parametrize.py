"""Parameters and buffers that are functions of other tensors: a property computes them whenever they are read."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.nn.modules.container import ModuleDict, ModuleList
from taeda.nn.modules.module import Module
from taeda.nn.parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

_NAME = "taeda.nn.utils.parametrize"
_cache: dict[tuple[int, str], Tensor] = {}
_cache_users = 0


@contextlib.contextmanager
def cached() -> Iterator[None]:
    """While it is active, each parametrized tensor is computed at most once."""
    global _cache_users
    _cache_users += 1
    try:
        yield
    finally:
        _cache_users -= 1
        if not _cache_users:
            _cache.clear()


def _register(module: Module, name: str, tensor: Any) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _check_alike(got: Any, wanted: Tensor, what: str) -> None:
    """ValueError unless ``got`` is a tensor of the dtype and shape of ``wanted``."""
    if not isinstance(got, Tensor):
        raise ValueError(f"{_NAME}: {what} must give a tensor; got {type(got).__name__}")
    for attribute in ("dtype", "shape"):
        if getattr(got, attribute) != getattr(wanted, attribute):
            raise ValueError(
                f"{_NAME}: {what} must keep the {attribute} {getattr(wanted, attribute)}; got "
                f"{getattr(got, attribute)} (pass unsafe=True to allow it)"
            )


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, in the order in which they are applied, and what they are applied to.

    That is ``original``, or ``original0``, ``original1``, ... where the first parametrization takes several tensors.

    Args:
        modules: the parametrizations.
        original: the tensor; if they have a ``right_inverse``, what stands in its place is that of it.
        unsafe: whether dtype and shape may change, and nothing is checked.
    """

    original: Tensor
    unsafe: bool

    def __init__(self, modules: Sequence[Module], original: Any, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError(f"{_NAME}: at least one parametrization is needed")
        super().__init__(modules)
        self.unsafe = unsafe
        inverse = self._inverse_of(original)
        self.is_tensor = isinstance(inverse, Tensor)
        self.ntensors = 1 if self.is_tensor else len(inverse)
        if self.is_tensor:
            if original.dtype != inverse.dtype:
                raise ValueError(f"{_NAME}: right_inverse must keep the dtype {original.dtype}; got {inverse.dtype}")
            with taeda.no_grad():
                original.data = inverse.detach()
            _register(self, "original", original)
        else:
            self._register_several(original, inverse)
        if not unsafe:
            _check_alike(self(), original if not self.is_tensor else inverse, "a parametrization")

    def _inverse_of(self, original: Any) -> Any:
        value = original
        with taeda.no_grad():
            module: Any
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    with contextlib.suppress(NotImplementedError):
                        value = module.right_inverse(value)
        if not isinstance(value, (Tensor, Sequence)):
            raise ValueError(
                f"{_NAME}: right_inverse must give a tensor or a sequence of tensors; got {type(value).__name__}"
            )
        return value

    def _register_several(self, original: Any, tensors: Any) -> None:
        for i, tensor in enumerate(tensors):
            if not isinstance(tensor, Tensor):
                raise ValueError(f"{_NAME}: right_inverse must give tensors; got {type(tensor).__name__}")
            if isinstance(original, Parameter):
                tensor = Parameter(tensor, original.requires_grad)
            _register(self, f"original{i}", tensor.requires_grad_(original.requires_grad))

    def _originals(self) -> list[Tensor]:
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Changes the originals so that the parametrized tensor becomes ``value``.

        Raises:
            RuntimeError: a parametrization has no ``right_inverse``.
            ValueError: what it gives does not fit the originals.
        """
        inverse: Any = value
        with taeda.no_grad():
            module: Any
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"{_NAME}: {type(module).__name__} has no right_inverse: it cannot be assigned")
                inverse = module.right_inverse(inverse)
            originals = self._originals()
            given = [inverse] if self.is_tensor else inverse
            if not isinstance(given, Sequence) or len(given) != len(originals):
                raise ValueError(
                    f"{_NAME}: right_inverse must give {len(originals)} tensors; got {type(given).__name__}"
                )
            for original, tensor in zip(originals, given, strict=True):
                if not isinstance(tensor, Tensor) or tensor.dtype != original.dtype:
                    got = tensor.dtype if isinstance(tensor, Tensor) else type(tensor).__name__
                    raise ValueError(f"{_NAME}: right_inverse must give a tensor of {original.dtype}; got {got}")
                original.data = tensor.detach()

    def forward(self) -> Tensor:
        first, *rest = self
        result = first(*self._originals())
        for module in rest:
            result = module(result)
        return result


def _inject_class(module: Module) -> None:
    """Makes the module an instance of a class of its own, which properties can be put into."""
    plain = type(module)

    def getstate(self: Any) -> Any:
        raise RuntimeError(
            f"{_NAME}: a parametrized module cannot be pickled; save its state_dict, or remove the parametrizations"
        )

    def deepcopy(self: Any, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = twin = self.__new__(type(self))
            twin.__dict__ = copy.deepcopy(self.__dict__, memo)
        return memo[id(self)]

    body: dict[str, Any] = {"__getstate__": getstate}
    if not hasattr(plain, "__deepcopy__"):
        body["__deepcopy__"] = deepcopy
    module.__class__ = type(f"Parametrized{plain.__name__}", (plain,), body)


def _inject_property(module: Module, name: str) -> None:
    def read(self: Any) -> Tensor:
        if _cache_users and taeda._C._get_tracing_state() is not None:
            raise RuntimeError(f"{_NAME}: a trace would keep what the cache holds; trace outside of cached()")
        if not _cache_users:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def write(self: Any, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(read, write))


def _append(module: Any, name: str, parametrization: Any, unsafe: bool) -> None:
    present = module.parametrizations[name]
    if not unsafe:
        before = getattr(module, name)
        after = parametrization(before)
        _check_alike(after, before, "a parametrization")
        if hasattr(parametrization, "right_inverse"):
            with contextlib.suppress(NotImplementedError):
                _check_alike(parametrization.right_inverse(after), after, "right_inverse")
    present.append(parametrization)
    present.unsafe = present.unsafe or unsafe


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Makes ``tensor_name``, a parameter or buffer, a function of what it was; returns the module.

    A second one is applied to the result of the first. ``right_inverse`` of a parametrization, if it has one, says
    which value stands for a given tensor: for the first value, and for assignments.

    Args:
        unsafe: whether the dtype or shape may change, and nothing is checked.

    Raises:
        ValueError: the module has no such tensor, or the parametrization changes its dtype or shape.
    """
    parametrization.train(module.training)
    owner: Any = module
    if is_parametrized(module, tensor_name):
        _append(owner, tensor_name, parametrization, unsafe)
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        found = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_class(module)
            owner.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        owner.parametrizations[tensor_name] = found
    else:
        raise ValueError(
            f"{_NAME}.register_parametrization: {type(module).__name__} has no parameter or buffer '{tensor_name}'"
        )
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether the module has parametrizations, or one of ``tensor_name``."""
    found = getattr(module, "parametrizations", None)
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Makes ``tensor_name`` a plain parameter or buffer again; returns the module.

    Args:
        leave_parametrized: whether it keeps its present value; otherwise it becomes the original again.

    Raises:
        ValueError: it is not parametrized, or depends on several originals and ``leave_parametrized`` is false.
    """
    name = f"{_NAME}.remove_parametrizations"
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"{name}: '{tensor_name}' of this {type(module).__name__} is not parametrized")
    owner: Any = module
    found = owner.parametrizations[tensor_name]
    if found.is_tensor:
        tensor = found.original
        if leave_parametrized:
            with taeda.no_grad():
                tensor.data = getattr(module, tensor_name).detach()
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        tensor = Parameter(value) if value.requires_grad else value
    else:
        raise ValueError(f"{name}: '{tensor_name}' depends on {found.ntensors} tensors; it can only keep its value")
    delattr(type(module), tensor_name)
    del owner.parametrizations[tensor_name]
    _register(module, tensor_name, tensor)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The module's class without parametrizations."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Gives ``to_module`` the parametrizations too, and the tensors that they are applied to; returns it.

    Args:
        tensor_name: the only parametrized tensor to do that for.
    """
    if not is_parametrized(from_module):
        raise AssertionError(f"{_NAME}.transfer_parametrizations_and_params: from_module has no parametrizations")
    source: Any = from_module
    target: Any = to_module
    for name in [tensor_name] if tensor_name is not None else list(source.parametrizations):
        found = source.parametrizations[name]
        if not hasattr(target, name):
            setattr(target, name, Parameter(getattr(source, name)))
        for parametrization in found:
            register_parametrization(target, name, parametrization, unsafe=found.unsafe)
        for key in ["original"] if found.is_tensor else [f"original{i}" for i in range(found.ntensors)]:
            setattr(target.parametrizations[name], key, getattr(found, key))
    return to_module
