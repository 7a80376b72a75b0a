"""Walking a module and its children: iterators, look-up by dotted name, printing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Self

import taeda
from taeda import Tensor
from taeda.nn.parameter import Parameter

if TYPE_CHECKING:
    from taeda.nn.modules.module import Module


def indent(text: str, spaces: int) -> str:
    """``text`` with every line but the first moved right."""
    return text.replace("\n", "\n" + " " * spaces)


class TreeMixin:
    """A module as the root of a tree of modules."""

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]

    def get_submodule(self, target: str) -> Module:
        """The module of dotted name ``target``; the empty name is this module.

        Raises:
            AttributeError: there is no such attribute on the way, or it is no module.
        """
        found: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(found, name):
                raise AttributeError(f"{type(found).__name__} has no attribute '{name}' (looking for '{target}')")
            found = getattr(found, name)
            if not isinstance(found, TreeMixin):
                raise AttributeError(f"'{name}' in '{target}' is a {type(found).__name__}, not a Module")
        return found

    def _owner_of(self, target: str) -> tuple[Any, str]:
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        if not hasattr(owner, name):
            raise AttributeError(f"{type(owner).__name__} has no attribute '{name}' (looking for '{target}')")
        return owner, name

    def get_parameter(self, target: str) -> Parameter:
        """The parameter of dotted name ``target``; AttributeError if there is none."""
        from taeda.nn.parameter import Parameter

        owner, name = self._owner_of(target)
        param = getattr(owner, name)
        if not isinstance(param, Parameter):
            raise AttributeError(f"'{target}' is a {type(param).__name__}, not a Parameter")
        return param

    def get_buffer(self, target: str) -> Tensor:
        """The buffer of dotted name ``target``; AttributeError if there is none."""
        owner, name = self._owner_of(target)
        if name not in owner._buffers:
            raise AttributeError(f"'{target}' is not a buffer")
        return owner._buffers[name]

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Puts ``module`` at dotted name ``target``; with ``strict`` only where a module stands already.

        Raises:
            ValueError: ``target`` is empty, or ``module`` is no module.
            AttributeError: the way to ``target`` does not exist, or (``strict``) no module stands there.
        """
        if not target:
            raise ValueError("Module.set_submodule: the target name is empty")
        if not isinstance(module, TreeMixin):
            raise ValueError(f"Module.set_submodule: expected a Module, got {type(module).__name__}")
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        if strict and not hasattr(owner, name):
            raise AttributeError(f"{type(owner).__name__} has no attribute '{name}' to replace (strict=True)")
        if hasattr(owner, name) and not isinstance(getattr(owner, name), TreeMixin):
            raise AttributeError(f"'{target}' exists and is no Module")
        setattr(owner, name, module)

    def _named_members(
        self,
        get_members_fn: Callable[[Any], Iterable[tuple[str, Any]]],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        """The members that ``get_members_fn`` lists for each module, with their full names."""
        seen = set()
        owners = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, owner in owners:
            for name, member in get_members_fn(owner):
                if member is None or member in seen:
                    continue
                if remove_duplicate:
                    seen.add(member)
                yield (f"{path}.{name}" if path else name), member

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters of this module and, if ``recurse``, of all below it; a shared one comes once."""
        for _, param in self.named_parameters(recurse=recurse):
            yield param

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """`parameters` with their dotted names, which start with ``prefix``."""
        return self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers of this module and, if ``recurse``, of all below it; a shared one comes once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """`buffers` with their dotted names, which start with ``prefix``."""
        return self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def children(self) -> Iterator[Module]:
        """The direct children, each once."""
        for _, module in self.named_children():
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The direct children with their names, each once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """This module and all below it, parents first."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """`modules` with their dotted names; this module's own is ``prefix``. Those in ``memo`` are left out."""
        if memo is None:
            memo = set()
        this: Any = self
        if this in memo:
            return
        if remove_duplicate:
            memo.add(this)
        yield prefix, this
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def apply(self, fn: Callable[[Module], None]) -> Self:
        """Calls ``fn`` with every module of the tree, children before their parents; returns this module."""
        for module in self.children():
            module.apply(fn)
        this: Any = self
        fn(this)
        return self

    def train(self, mode: bool = True) -> Self:
        """Sets training mode (``True``) or evaluation mode here and below; returns this module."""
        if not isinstance(mode, bool):
            raise ValueError(f"Module.train: mode must be a bool; got {type(mode).__name__}")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """The same as ``train(False)``."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Sets ``requires_grad`` of all parameters; returns this module."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops the gradients of all parameters, or fills them with zeros."""
        for param in self.parameters():
            grad = param.grad
            if grad is None:
                continue
            if set_to_none:
                param.grad = None
            else:
                with taeda.no_grad():
                    param.grad = grad.detach().zero_()

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What stands between the parentheses of the printed module beside its children."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {indent(repr(module), 2)}" for name, module in self._modules.items()]
        if not children and len(lines) <= 1:
            return f"{self._get_name()}({extra})"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines + children) + "\n)"
