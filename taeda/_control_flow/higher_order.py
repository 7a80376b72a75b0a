"""`HigherOrderOperator`: ops that take functions."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import taeda
from taeda.utils import _python_dispatch

known: dict[str, HigherOrderOperator] = {}
_BELOW = ("CompositeExplicitAutograd", "CompositeImplicitAutograd")
_Rule = Callable[..., Any]


class HigherOrderOperator:
    """An op that takes functions, which are graphs, or another op; programs derive theirs from it.

    Args:
        name: its name in ``torch.ops.higher_order``.
        function: what it does. Without one, `py_impl` says it for each key.
        cacheable: without meaning.
    """

    namespace = "higher_order"

    def __init__(self, name: str, function: _Rule | None = None, *, cacheable: bool = False) -> None:
        self.__name__ = self.__qualname__ = self._name = name
        self.__module__ = "torch.ops.higher_order"
        self._function = function
        self._rules: dict[Any, _Rule] = {}
        self._within = threading.local()
        known[name] = self
        if function is not None:
            self.__doc__ = function.__doc__

    def name(self) -> str:
        """The op's name."""
        return self._name

    def py_impl(self, k: Any) -> Callable[[_Rule], _Rule]:
        """Declares what the op does for a dispatch key, under a mode (its class; the mode is the first argument) or for
        a subclass of `Tensor`.

        The rules of transforms (``TransformType``) are not asked: they go through what the op does for its arguments.

        Raises:
            RuntimeError: it has been declared before.
        """
        key = _key_name(k)
        if key in self._rules:
            raise RuntimeError(f"torch.ops.higher_order.{self._name}: py_impl has been given for {key} before")

        def declare(function: _Rule) -> _Rule:
            self._rules[key] = function
            return function

        return declare

    def py_autograd_impl(self, function: _Rule) -> _Rule:
        """`py_impl` for the key ``Autograd``."""
        return self.py_impl("Autograd")(function)

    def py_functionalize_impl(self, function: _Rule) -> _Rule:
        """`py_impl` for the key ``Functionalize``, which is not asked: functionalising goes through the op, too."""
        return self.py_impl("Functionalize")(function)

    def fallthrough(self, dispatch_key: Any) -> None:
        """Has a key passed over."""
        self._rules.pop(_key_name(dispatch_key), None)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if self._function is not None:
            return self._function(*args, **kwargs)
        mode = _python_dispatch._get_current_dispatch_mode()
        if type(mode) in self._rules:
            with _python_dispatch._pop_mode_temporarily():
                return self._rules[type(mode)](mode, *args, **kwargs)
        tensors = [x for x in taeda.utils._pytree.tree_leaves((args, kwargs)) if isinstance(x, taeda.Tensor)]
        for cls in {type(x) for x in tensors} & self._rules.keys():
            return self._rules[cls](*args, **kwargs)
        return self._by_key(tensors)(*args, **kwargs)

    def _by_key(self, tensors: list[Any]) -> _Rule:
        device = next((x.device.type for x in tensors), "cpu")
        backend = {"cpu": "CPU", "cuda": "CUDA", "meta": "Meta"}.get(device, "PrivateUse1")
        below = getattr(self._within, "autograd", False)
        above = () if below else (f"Autograd{backend}", "Autograd")
        for key in (*above, backend, *_BELOW):
            if (rule := self._rules.get(key)) is not None:
                return self._in_autograd(rule) if key in above else rule
        raise NotImplementedError(
            f"torch.ops.higher_order.{self._name}: has no implementation for {backend}; py_impl has been given for "
            f"{', '.join(map(str, self._rules)) or 'nothing'}"
        )

    def _in_autograd(self, rule: _Rule) -> _Rule:
        """``rule``, in which the op itself means what stands below autograd."""

        def run(*args: Any, **kwargs: Any) -> Any:
            self._within.autograd = True
            try:
                return rule(*args, **kwargs)
            finally:
                self._within.autograd = False

        return run

    def __repr__(self) -> str:
        return self._name

    def __deepcopy__(self, memo: Any) -> HigherOrderOperator:
        return self

    def __reduce__(self) -> Any:
        return _named, (self._name, self._function)  # with the function comes the module that makes the op


def _named(name: str, function: _Rule | None) -> HigherOrderOperator:
    return known[name]


def _key_name(key: Any) -> Any:
    """A dispatch key by its name; any other key is itself."""
    return key.name if isinstance(key, taeda._C.DispatchKey) else key
