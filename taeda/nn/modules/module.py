"""`Module`, the base class of everything with parameters."""

from __future__ import annotations

import sys
from collections import OrderedDict
from types import ModuleType
from typing import TYPE_CHECKING, Any

from taeda import Tensor
from taeda.nn.modules import _hooks
from taeda.nn.modules._convert import ConvertMixin
from taeda.nn.modules._hooks import (
    CALL_TABLES,
    HOOK_TABLES,
    HookMixin,
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
    run_registration_hooks,
)
from taeda.nn.modules._notes import add_place
from taeda.nn.modules._state import _EXTRA_STATE_KEY_SUFFIX, StateMixin, _IncompatibleKeys, rebind_pre_hooks
from taeda.nn.modules._tables import TABLES, Table, adopt, without_mirror
from taeda.nn.modules._tree import TreeMixin
from taeda.nn.parameter import Buffer, Parameter

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ParamSpec, Protocol, TypeAlias, TypeVar

    T_destination: TypeAlias = dict[str, Any]
    _P = ParamSpec("_P")
    _R = TypeVar("_R", covariant=True)

    class _HasForward(Protocol[_P, _R]):
        @property
        def forward(self) -> Callable[_P, _R]: ...


__all__ = [
    "Module",
    "_EXTRA_STATE_KEY_SUFFIX",
    "_IncompatibleKeys",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

_STRUCTURE = frozenset(TABLES)
_SPECIAL = _STRUCTURE | CALL_TABLES


class Module(HookMixin, StateMixin, TreeMixin, ConvertMixin):
    """The base class of neural network modules: `forward` plus parameters, buffers and submodules.

    A `Parameter` or a `Module` set as an attribute becomes part of the tree that `parameters`, `state_dict` and `to`
    walk. A subclass calls ``super().__init__()`` first and defines `forward`; users call the module itself.
    """

    dump_patches = False
    call_super_init = False
    training: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if self.call_super_init:
            super().__init__(*args, **kwargs)
        elif args or kwargs:
            given = ", ".join([repr(arg) for arg in args] + list(kwargs))
            raise TypeError(f"{type(self).__name__}.__init__: Module takes no arguments; got {given}")
        attributes = self.__dict__
        attributes["training"] = True
        for table in TABLES:
            attributes[table] = Table((), self)
        attributes["_non_persistent_buffers_set"] = set()

    if TYPE_CHECKING:
        # A subclass's forward may take anything; a call takes and gives what that does.
        forward: Callable[..., Any]

        def __call__(self: _HasForward[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R: ...

        def __getattr__(self, name: str) -> Tensor | Module: ...

    else:

        def forward(self, *input: Any) -> Any:
            """What the module computes; every subclass defines it."""
            raise NotImplementedError(f"{type(self).__name__} defines no forward")

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            try:
                if self._instrumented:
                    return self._wrapped_call_impl(*args, **kwargs)
                return self.forward(*args, **kwargs)
            except Exception as error:
                add_place(error, self)
                raise

        def __getattr__(self, name: str) -> Any:
            attributes = self.__dict__
            # The dictionary lacks it in a class with a __getattr__ of its own, or after a program's own __setstate__.
            for table in TABLES:
                items = attributes.get(table)
                if items is not None and name in items:
                    return items[name]
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    _find_in_tables = __getattr__

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Calls of this module go through ``taeda.compile`` from now on; the arguments are that function's."""
        import taeda

        self._instrumented = True
        self._compiled_call_impl = taeda.compile(self._call_impl, *args, **kwargs)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Adds a parameter; ``None`` keeps the name for one that is absent.

        Raises:
            TypeError: ``name`` is no string, or ``param`` is no `Parameter`.
            KeyError: ``name`` is empty, holds a dot, or is an attribute already.
            ValueError: ``param`` has a history (``grad_fn``).
        """
        self._check_name("register_parameter", name, "_parameters")
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(
                    f"Module.register_parameter: '{name}' must be a Parameter or None; got {type(param).__name__}"
                )
            if param.grad_fn is not None:
                raise ValueError(
                    f"Module.register_parameter: '{name}' is the result of an operation; a parameter must be a leaf. "
                    "Compute it in forward from a parameter instead"
                )
            param = run_registration_hooks(_hooks._global_parameter_registration_hooks, self, name, param)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Adds a tensor that is state but no parameter; a ``persistent`` one is part of the ``state_dict``.

        Raises:
            TypeError: ``name`` is no string, or ``tensor`` is no tensor.
            KeyError: ``name`` is empty, holds a dot, or is an attribute already.
        """
        self._check_name("register_buffer", name, "_buffers")
        if tensor is not None and not (isinstance(tensor, Tensor) or hasattr(tensor, "__torch_function__")):
            raise TypeError(f"Module.register_buffer: '{name}' must be a Tensor or None; got {type(tensor).__name__}")
        tensor = run_registration_hooks(_hooks._global_buffer_registration_hooks, self, name, tensor)
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_module(self, name: str, module: Module | None) -> None:
        """The same as `add_module`."""
        self.add_module(name, module)

    def add_module(self, name: str, module: Module | None) -> None:
        """Adds a child; ``None`` keeps the name for one that is absent.

        Raises:
            TypeError: ``name`` is no string, or ``module`` is no `Module`.
            KeyError: ``name`` is empty, holds a dot, or is an attribute already.
        """
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"Module.add_module: '{name}' must be a Module or None; got {type(module).__name__}")
        self._check_name("add_module", name, "_modules")
        self._modules[name] = run_registration_hooks(_hooks._global_module_registration_hooks, self, name, module)

    def _check_name(self, function: str, name: str, table: str) -> None:
        if table not in self.__dict__:
            raise AttributeError(
                f"{type(self).__name__}: call super().__init__() before adding parameters, buffers or modules"
            )
        if not isinstance(name, str):
            raise TypeError(f"Module.{function}: the name must be a str; got {type(name).__name__}")
        if not name or "." in name:
            raise KeyError(f"Module.{function}: the name must be non-empty and without dots; got '{name}'")
        if name not in self.__dict__[table] and (name in self.__dict__ or hasattr(self, name)):
            raise KeyError(f"Module.{function}: {type(self).__name__} has an attribute '{name}' already")

    def __setattr__(self, name: str, value: Any) -> None:
        attributes = self.__dict__
        modules = attributes.get("_modules")
        if isinstance(value, Tensor):
            if isinstance(value, Parameter):
                self._displace(name, "_parameters")
                self.register_parameter(name, value)
                return
            if isinstance(value, Buffer) or (modules is not None and name in attributes["_buffers"]):
                self._set_buffer(name, value)
                return
        elif isinstance(value, Module):
            self._check_initialised(modules)
            if name not in attributes["_parameters"]:
                self._displace(name, "_modules")
                hooks = _hooks._global_module_registration_hooks
                self._modules[name] = run_registration_hooks(hooks, self, name, value)
                return
        elif name in _SPECIAL:
            if name in _STRUCTURE:
                adopt(self, name, value)
                return
            attributes["_instrumented"] = True
        if modules is not None and self._set_declared(name, value, attributes):
            return
        object.__setattr__(self, name, value)

    def _check_initialised(self, modules: Any) -> None:
        if modules is None:
            raise AttributeError(f"{type(self).__name__}: call super().__init__() before assigning modules")

    def _displace(self, name: str, table: str) -> None:
        """Frees ``name`` for a value that goes into ``table``."""
        attributes = self.__dict__
        for other in TABLES:
            if other != table and name in attributes.get(other, ()):
                del attributes[other][name]
        if name not in attributes.get(table, ()):
            attributes.pop(name, None)
        attributes.get("_non_persistent_buffers_set", set()).discard(name)

    def _set_buffer(self, name: str, value: Any) -> None:
        attributes = self.__dict__
        persistent = name not in attributes.get("_non_persistent_buffers_set", ())
        if isinstance(value, Buffer):
            persistent = getattr(value, "persistent", True)
            declared = any(name in attributes.get(table, ()) for table in TABLES)
            if attributes.get(name) is not None and not declared:
                raise KeyError(f"Module: {type(self).__name__} has an attribute '{name}' already, which is no buffer")
            self._displace(name, "_buffers")
        # A class of before persistence may have overridden it.
        self.register_buffer(name, value, *() if persistent else (False,))

    def _set_declared(self, name: str, value: Any, attributes: dict[str, Any]) -> bool:
        """Handles a plain value for a name that stands in a table: there only ``None`` may take its place."""
        if name in attributes["_parameters"]:
            table, wanted, fits = "_parameters", "Parameter", value is None
        elif name in attributes["_modules"]:
            table, wanted, fits = "_modules", "Module", value is None
        elif name in attributes["_buffers"]:
            table, wanted, fits = "_buffers", "Tensor", value is None or hasattr(value, "__torch_function__")
        else:
            return False
        if not fits:
            raise TypeError(
                f"{type(self).__name__}.{name} must be a {wanted} or None; got {type(value).__name__} "
                f"(delete the attribute first to change its kind)"
            )
        attributes[table][name] = value
        return True

    def __delattr__(self, name: str) -> None:
        attributes = self.__dict__
        for table in TABLES:
            if name in attributes.get(table, ()):
                del attributes[table][name]
                attributes["_non_persistent_buffers_set"].discard(name)
                return
        if name in HOOK_TABLES and name not in attributes:
            return  # made when a hook is
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = {*dir(type(self)), *self.__dict__, *self._parameters, *self._buffers, *self._modules}
        return sorted(name for name in names if not name[:1].isdigit())

    def __getstate__(self) -> dict[str, Any]:
        state = without_mirror(self.__dict__)
        state.pop("_compiled_call_impl", None)
        # PyTorch's modules look at these when they are called, also one that it loads from a file written here.
        for name in sorted(HOOK_TABLES):
            state.setdefault(name, OrderedDict())
        state.setdefault("_is_full_backward_hook", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        attributes = self.__dict__
        attributes.update(state)
        attributes.setdefault("_non_persistent_buffers_set", set())
        if attributes.get("_is_full_backward_hook", True) is None:
            del attributes["_is_full_backward_hook"]
        for table in TABLES:
            items = attributes.pop(table, {})
            attributes[table] = Table(items, self)
        for name in HOOK_TABLES:
            table_now = attributes.get(name)
            if table_now is not None and not table_now:
                del attributes[name]
            elif table_now and name in CALL_TABLES:
                attributes["_instrumented"] = True
        if "_load_state_dict_pre_hooks" in attributes:
            attributes["_load_state_dict_pre_hooks"] = rebind_pre_hooks(attributes["_load_state_dict_pre_hooks"], self)

    def _replicate_for_data_parallel(self) -> Any:
        """A shallow twin that shares the tensors; its parameters are plain attributes until the caller sets them."""
        replica = self.__new__(type(self))
        state = without_mirror(self.__dict__)
        state["_parameters"] = {}
        state["_is_replica"] = True
        Module.__setstate__(replica, state)
        return replica


class _ModuleOfModule(ModuleType):
    """PyTorch keeps the hooks for all modules here; programs that read or replace its tables reach `_hooks`'s."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_global_") and hasattr(_hooks, name):
            return getattr(_hooks, name)
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_global_") and hasattr(_hooks, name):
            _hooks.set_global_hooks(name, value)
        else:
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _ModuleOfModule
