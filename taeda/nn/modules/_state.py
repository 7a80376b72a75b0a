"""A module's state as a dictionary of tensors, and back."""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import taeda
from taeda import Tensor
from taeda._main.module_conversion import get_swap_module_params_on_conversion
from taeda.nn.modules._hooks import add_hook
from taeda.nn.parameter import Parameter, is_lazy
from taeda.utils.hooks import RemovableHandle

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"


class _Keys(NamedTuple):
    missing_keys: list[str]
    unexpected_keys: list[str]


class _IncompatibleKeys(_Keys):
    """What `load_state_dict` found on one side only."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys!r}, unexpected_keys={self.unexpected_keys!r})"

    __str__ = __repr__


class PreHookWithModule:
    """A load pre-hook that takes the module first. The reference is weak: the module holds the hook."""

    def __init__(self, hook: Callable[..., Any], module: Any) -> None:
        self.hook = hook
        self.module = weakref.ref(module)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.hook(self.module(), *args, **kwargs)

    def __reduce__(self) -> Any:
        # The copy is bound to the copied module by Module.__setstate__.
        return _UnboundPreHook, (self.hook,)


class _UnboundPreHook:
    def __init__(self, hook: Callable[..., Any]) -> None:
        self.hook = hook


def rebind_pre_hooks(table: OrderedDict[int, Any], module: Any) -> OrderedDict[int, Any]:
    """The copied ``table`` with the hooks that take a module given this one."""
    return OrderedDict(
        (key, PreHookWithModule(hook.hook, module) if isinstance(hook, (_UnboundPreHook, PreHookWithModule)) else hook)
        for key, hook in table.items()
    )


class StateMixin:
    """`state_dict`, `load_state_dict` and their hooks."""

    _version = 1
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _hook_table: Callable[[str], Any]

    def get_extra_state(self) -> Any:
        """What `state_dict` stores beside the tensors; override together with `set_extra_state`."""
        raise RuntimeError(
            f"{type(self).__name__}.get_extra_state: override it (with set_extra_state) to store extra state"
        )

    def set_extra_state(self, state: Any) -> None:
        """Takes what `get_extra_state` gave; override together with it."""
        raise RuntimeError(
            f"{type(self).__name__}.set_extra_state: the state to load holds extra state; override set_extra_state to "
            "take it"
        )

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls ``hook(module, state_dict, prefix, local_metadata)`` after saving; it may return another dictionary."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "taeda.nn: this hook was registered by register_state_dict_post_hook, by which it may return nothing; "
                "register another function"
            )
        this: Any = self
        return add_hook(this._state_dict_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls ``hook(module, state_dict, prefix, local_metadata)`` after saving; it edits the dictionary in place."""
        hook._from_public_api = True  # type: ignore[attr-defined]
        this: Any = self
        return add_hook(this._state_dict_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls ``hook(module, prefix, keep_vars)`` before saving."""
        this: Any = self
        return add_hook(this._state_dict_pre_hooks, hook)

    def _register_load_state_dict_pre_hook(self, hook: Callable[..., Any], with_module: bool = False) -> Any:
        this: Any = self
        return add_hook(this._load_state_dict_pre_hooks, PreHookWithModule(hook, self) if with_module else hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls ``hook`` before this module's own tensors are loaded.

        Its arguments: module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs;
        it may edit all of them in place.
        """
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls ``hook(module, incompatible_keys)`` after loading; it may edit the lists in place."""
        this: Any = self
        return add_hook(this._load_state_dict_post_hooks, hook)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Puts this module's own tensors, not its children's, into ``destination``."""
        for name, tensor in self._own_state():
            if tensor is not None:
                destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if type(self).get_extra_state is not StateMixin.get_extra_state:
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    def _own_state(self) -> Iterator[tuple[str, Any]]:
        skipped = self._non_persistent_buffers_set
        persistent = ((name, buffer) for name, buffer in self._buffers.items() if name not in skipped)
        return itertools.chain(self._parameters.items(), persistent)

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """Every parameter and persistent buffer by its dotted name, in order; detached unless ``keep_vars``.

        The tensors share memory with the module. The dictionary's ``_metadata`` holds each module's version.
        """
        if args:
            destination, prefix, keep_vars = self._positional_state_dict_args(args, destination, prefix, keep_vars)
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in self._hook_table("_state_dict_pre_hooks").values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._hook_table("_state_dict_hooks").values():
            replaced = hook(self, destination, prefix, local_metadata)
            if replaced is None:
                continue
            if getattr(hook, "_from_public_api", False):
                raise RuntimeError("taeda.nn: a state_dict post-hook must edit the dictionary in place and return None")
            destination = replaced
        return destination

    @staticmethod
    def _positional_state_dict_args(args: Any, destination: Any, prefix: str, keep_vars: bool) -> Any:
        import warnings

        warnings.warn(
            "Module.state_dict: positional arguments are deprecated, pass destination, prefix and keep_vars by name",
            FutureWarning,
            stacklevel=3,
        )
        given = list(args) + [None, "", False][len(args) :]
        return (
            given[0] if destination is None else destination,
            given[1] if prefix == "" else prefix,
            given[2] if keep_vars is False else keep_vars,
        )

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Loads this module's own tensors, not its children's; what goes wrong is added to the three lists."""
        for hook in self._hook_table("_load_state_dict_pre_hooks").values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        assign = local_metadata.get("assign_to_params_buffers", False)
        own = {name: tensor for name, tensor in self._own_state() if tensor is not None}
        for name, tensor in own.items():
            key = prefix + name
            if key in state_dict:
                problem = self._load_tensor(name, tensor, state_dict[key], key, assign)
                if problem:
                    error_msgs.append(problem)
            elif strict:
                missing_keys.append(key)
        self._load_extra_state(state_dict, prefix + _EXTRA_STATE_KEY_SUFFIX, strict, missing_keys, unexpected_keys)
        if strict:
            unexpected_keys.extend(self._unknown_keys(state_dict, prefix, own))

    def _load_tensor(self, name: str, tensor: Any, value: Any, key: str, assign: bool) -> str | None:
        """Copies (or assigns) one tensor; returns what is wrong with it, if anything."""
        if not isinstance(value, Tensor) and not hasattr(type(value), "__torch_function__"):
            return f"{key}: expected a tensor, got {type(value).__name__}"
        if not is_lazy(tensor):
            if tensor.dim() == 0 and value.dim() == 1 and len(value) == 1:
                value = value[0]  # files from before there were tensors without dimensions
            if value.shape != tensor.shape:
                shapes = f"the module has shape {tuple(tensor.shape)}, the state has {tuple(value.shape)}"
                return f"size mismatch for {key}: {shapes}"
        if tensor.is_meta and not value.is_meta and not assign:
            import warnings

            warnings.warn(
                f"load_state_dict: copying {key} into a tensor on the meta device does nothing; pass assign=True, or "
                "call to_empty first",
                stacklevel=5,
            )
        try:
            with taeda.no_grad():
                if get_swap_module_params_on_conversion():
                    _swap_in(tensor, value, assign)
                elif assign:
                    setattr(self, name, _like(tensor, value))
                else:
                    tensor.copy_(value)
        except Exception as error:
            return f"{key}: copying {tuple(value.shape)} into {tuple(tensor.shape)} failed: {error}"
        return None

    def _load_extra_state(
        self, state_dict: Any, key: str, strict: bool, missing_keys: list[str], unexpected_keys: list[str]
    ) -> None:
        if type(self).set_extra_state is not StateMixin.set_extra_state:
            if key in state_dict:
                self.set_extra_state(state_dict[key])
            elif strict:
                missing_keys.append(key)
        elif strict and key in state_dict:
            unexpected_keys.append(key)

    def _unknown_keys(self, state_dict: Any, prefix: str, own: Any) -> Iterator[str]:
        for key in state_dict:
            if key.startswith(prefix) and key != prefix + _EXTRA_STATE_KEY_SUFFIX:
                first, dot, _ = key[len(prefix) :].partition(".")
                if first not in (self._modules if dot else own):
                    yield key

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Copies the tensors of ``state_dict`` into this module and its children.

        Args:
            strict: the names must agree exactly.
            assign: the module takes the given tensors themselves; only ``requires_grad`` stays as it was.

        Returns:
            a named tuple of the ``missing_keys`` and the ``unexpected_keys``.

        Raises:
            TypeError: ``state_dict`` is not a mapping.
            RuntimeError: a shape disagrees, or, when ``strict``, a name does; every problem is listed.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Module.load_state_dict: state_dict must be a mapping; got {type(state_dict).__name__}")
        loader = _Loader(getattr(state_dict, "_metadata", None), assign)
        loader.load(self, OrderedDict(state_dict), "")
        if strict:
            if loader.unexpected:
                loader.errors.insert(0, f"Unexpected key(s) in state_dict: {_quoted(loader.unexpected)}")
            if loader.missing:
                loader.errors.insert(0, f"Missing key(s) in state_dict: {_quoted(loader.missing)}")
        if loader.errors:
            raise RuntimeError(
                f"load_state_dict: the state does not fit {type(self).__name__}:\n\t" + "\n\t".join(loader.errors)
            )
        return _IncompatibleKeys(loader.missing, loader.unexpected)


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


class _Loader:
    """One walk of `load_state_dict` over the tree of modules."""

    def __init__(self, metadata: Any, assign: bool) -> None:
        self.metadata = {} if metadata is None else metadata
        self.assign = assign
        self.missing: list[str] = []
        self.unexpected: list[str] = []
        self.errors: list[str] = []

    def load(self, module: Any, state: Any, prefix: str) -> None:
        local_metadata = dict(self.metadata.get(prefix[:-1], {}))
        if self.assign:
            local_metadata["assign_to_params_buffers"] = True
        module._load_from_state_dict(state, prefix, local_metadata, True, self.missing, self.unexpected, self.errors)
        for name, child in module._modules.items():
            if child is not None:
                child_prefix = f"{prefix}{name}."
                below = OrderedDict((key, value) for key, value in state.items() if key.startswith(child_prefix))
                self.load(child, below, child_prefix)
        incompatible = _IncompatibleKeys(self.missing, self.unexpected)
        for hook in module._hook_table("_load_state_dict_post_hooks").values():
            if hook(module, incompatible) is not None:
                raise AssertionError(
                    "taeda.nn: a load_state_dict post-hook must edit the lists in place and return None"
                )


def _swap_in(tensor: Any, value: Any, assign: bool) -> None:
    """Exchanges ``tensor`` with what its class, or that of ``value``, makes of the two (``Tensor.module_load``)."""
    new = tensor.module_load(value, assign=assign)
    if new is tensor or new is value:
        raise RuntimeError("module_load returned one of its arguments; it must return a new tensor, as detach() does")
    if isinstance(tensor, Parameter):
        new = new if isinstance(new, Parameter) else Parameter(new, requires_grad=tensor.requires_grad)
        new.requires_grad_(tensor.requires_grad)
    taeda.utils.swap_tensors(tensor, new)


def _like(tensor: Any, value: Any) -> Any:
    """``value`` as what ``tensor`` is to its module."""
    if isinstance(tensor, Parameter):
        if not isinstance(value, Parameter):
            return Parameter(value, requires_grad=tensor.requires_grad)
        return value.requires_grad_(tensor.requires_grad)
    return value
