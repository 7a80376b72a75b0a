"""The base class of all optimisers: parameter groups, state, hooks, saving and loading."""

from __future__ import annotations

import functools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any, TypeAlias, TypeVar

import taeda
from taeda import Tensor
from taeda.utils import _foreach_utils
from taeda.utils.hooks import RemovableHandle

from ._saving import cast_state, index_params, match_params

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]

ParamsT: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]
Group: TypeAlias = dict[str, Any]
_F = TypeVar("_F", bound=Callable[..., Any])


class _RequiredParameter:
    """Marks a default that every parameter group has to give itself."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()

_global_optimizer_pre_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
_global_optimizer_post_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls ``hook(optimizer, args, kwargs)`` before every step of every optimiser; it may return new arguments."""
    return _register(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls ``hook(optimizer, args, kwargs)`` after every step of every optimiser."""
    return _register(_global_optimizer_post_hooks, hook)


def _register(hooks: OrderedDict[int, Callable[..., Any]], hook: Callable[..., Any], first: bool = False) -> Any:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if first:
        hooks.move_to_end(handle.id, last=False)
    return handle


def _use_grad_for_differentiable(step: _F) -> _F:
    """Decorates a ``step`` so that gradients are recorded in it only if the optimiser is ``differentiable``."""

    @functools.wraps(step)
    def wrapper(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        with taeda.set_grad_enabled(bool(self.defaults.get("differentiable", False))):
            return step(self, *args, **kwargs)

    return wrapper  # type: ignore[return-value]


def _default_to_fused_or_foreach(
    params: list[Tensor], differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """Which of (fused, foreach) PyTorch would choose by itself; both are off on the CPU."""
    if differentiable or not params:
        return False, False
    native = all(p is None or (type(p) in (Tensor, taeda.nn.Parameter) and p.device.type != "cpu") for p in params)
    fused = use_fused and native and all(p is None or taeda.is_floating_point(p) for p in params)
    return fused, native and not fused


def _with_hooks(step: _F) -> _F:
    """Runs the step hooks around ``step``, once, whichever class of a hierarchy defines it."""

    @functools.wraps(step)
    def hooked(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        if type(self).step is not hooked:  # reached by super().step(): the outermost step runs the hooks
            return step(self, *args, **kwargs)
        self._opt_called = True
        if "_optimizer_step_pre_hooks" not in vars(self):  # a wrapper of another optimiser that never ran __init__
            return step(self, *args, **kwargs)
        pre, post = self._optimizer_step_pre_hooks, self._optimizer_step_post_hooks
        if not (pre or post or _global_optimizer_pre_hooks or _global_optimizer_post_hooks):
            return step(self, *args, **kwargs)
        call = (self, *args)
        for hook in chain(_global_optimizer_pre_hooks.values(), pre.values()):
            changed = hook(self, call, kwargs)
            if changed is None:
                continue
            if not (isinstance(changed, tuple) and len(changed) == 2):
                raise RuntimeError(
                    f"{type(self).__name__}.step: a pre hook must return None or (args, kwargs); got {changed!r}"
                )
            call, kwargs = changed
        result = step(*call, **kwargs)
        for hook in chain(post.values(), _global_optimizer_post_hooks.values()):
            hook(self, call, kwargs)
        return result

    return hooked  # type: ignore[return-value]


class Optimizer:
    """Updates parameters from their gradients; the base of all optimisers.

    ``params`` is an iterable of tensors, of ``(name, tensor)`` pairs, or of dicts that hold ``"params"`` and options
    of that group. ``defaults`` gives the options that a group does not name. A subclass defines ``step``.

    Raises:
        TypeError: ``params`` is a single tensor or holds something else than tensors.
        ValueError: ``params`` is empty, not leaves, or repeats a parameter across groups.
    """

    OptimizerPreHook: TypeAlias = Callable[..., Any]
    OptimizerPostHook: TypeAlias = Callable[..., Any]

    state: defaultdict[Any, dict[str, Any]]
    param_groups: list[Group]
    _opt_called: bool

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = _with_hooks(cls.__dict__["step"])  # type: ignore[method-assign]

    def __init__(self, params: ParamsT, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                f"{type(self).__name__}: params must be an iterable of tensors or dicts; got one tensor (list it)"
            )
        self.defaults = defaults
        self._make_hook_tables()
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ValueError(f"{type(self).__name__}: the parameter list is empty")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)  # type: ignore[arg-type]

    profile_hook_step = staticmethod(_with_hooks)

    def _patch_step_function(self) -> None:
        """For wrappers that do not call ``__init__``: a class's ``step`` runs the hooks from its definition on."""

    def _make_hook_tables(self) -> None:
        self._optimizer_step_pre_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
        self._optimizer_step_post_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
        self._optimizer_state_dict_pre_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
        self._optimizer_state_dict_post_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
        self._optimizer_load_state_dict_pre_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
        self._optimizer_load_state_dict_post_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()

    @staticmethod
    def _group_tensors_by_device_and_dtype(tensorlistlist: Any, with_indices: bool = False) -> Any:
        """For optimisers that take for-each functions; see `taeda.utils._foreach_utils`."""
        return _foreach_utils._group_tensors_by_device_and_dtype(tensorlistlist, with_indices)

    def _cuda_graph_capture_health_check(self) -> None:
        """For optimisers that ask before each step: no graph of a device is being captured."""

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Does one update; ``closure``, if given, computes the loss again and returns it."""
        raise NotImplementedError(f"{type(self).__name__}.step: an optimiser must define step")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops the gradient of every parameter, or with ``set_to_none=False`` fills it with zeros."""
        if not taeda._C._profiler_enabled():
            return self._drop_gradients(set_to_none)
        from taeda.autograd.profiler import record_function

        with record_function(f"Optimizer.zero_grad#{type(self).__name__}.zero_grad"):
            self._drop_gradients(set_to_none)

    def _drop_gradients(self, set_to_none: bool) -> None:
        held = []
        for group in self.param_groups:
            for p in group["params"]:
                if set_to_none:
                    p.grad = None
                elif p.grad is not None:
                    if p.grad.grad_fn is not None:
                        p.grad.detach_()
                    else:
                        p.grad.requires_grad_(False)
                    held.append(p.grad)
        for grad in held:
            grad.zero_()

    def add_param_group(self, param_group: Group) -> None:
        """Adds a dict with ``"params"`` and options; what it does not name comes from ``defaults``."""
        if not isinstance(param_group, dict):
            raise TypeError(f"add_param_group: param_group must be a dict; got {type(param_group).__name__}")
        params = param_group["params"]
        if isinstance(params, Tensor):
            params = [params]
        elif isinstance(params, set):
            raise TypeError(
                "add_param_group: params must be ordered, and the order of a set changes between runs; give a list"
            )
        param_group["params"] = params = list(params)
        if any(isinstance(p, tuple) for p in params):
            _split_names(param_group)
            params = param_group["params"]
        for p in params:
            self._check_param(p)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"add_param_group: the group must give a value for {name!r}, which has no default")
            param_group.setdefault(name, default)
        self._check_group(param_group)
        self.param_groups.append(param_group)

    def _check_param(self, p: Any) -> None:
        if not isinstance(p, Tensor):
            raise TypeError(f"{type(self).__name__}: can optimise tensors only; one of params is {type(p).__name__}")
        if not (self.defaults.get("differentiable") or p.is_leaf or p.retains_grad):
            raise ValueError(
                f"{type(self).__name__}: cannot optimise a tensor that is not a leaf, shape {tuple(p.shape)}"
            )

    def _check_group(self, group: Group) -> None:
        ids = {id(p) for p in group["params"]}
        if len(ids) != len(group["params"]):
            warnings.warn("optimizer: a parameter group holds the same parameter twice", UserWarning, stacklevel=4)
        for other in self.param_groups:
            if ("param_names" in other) != ("param_names" in group):
                raise ValueError("add_param_group: either all groups name their parameters or none does")
            if not ids.isdisjoint(id(p) for p in other["params"]):
                raise ValueError("add_param_group: a parameter appears in more than one group")

    def state_dict(self) -> dict[str, Any]:
        """``{"state": {index: {...}}, "param_groups": [...]}`` with parameters replaced by their running index."""
        for pre in self._optimizer_state_dict_pre_hooks.values():
            pre(self)
        packed = index_params(self.param_groups, self.state)
        for post in self._optimizer_state_dict_post_hooks.values():
            changed = post(self, packed)
            if changed is not None:
                packed = changed
        return packed

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what :meth:`state_dict` returned; tensors move to the parameters' device, floats to their dtype.

        Raises:
            ValueError: the groups differ in number or in their numbers of parameters.
        """
        state_dict = state_dict.copy()
        for pre in self._optimizer_load_state_dict_pre_hooks.values():
            changed = pre(self, state_dict)
            if changed is not None:
                state_dict = changed
        saved = deepcopy(state_dict["param_groups"])
        by_index = match_params(self.param_groups, saved)
        state: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
        for index, value in state_dict["state"].items():
            if index in by_index:
                p, group = by_index[index]
                state[p] = cast_state(p, value, group)
            else:
                state[index] = value
        groups = []
        for ours, theirs in zip(self.param_groups, saved, strict=True):
            theirs["params"] = ours["params"]
            if "param_names" in ours:
                theirs.setdefault("param_names", ours["param_names"])
            groups.append(theirs)
        self.__setstate__({"state": state, "param_groups": groups})
        for post in self._optimizer_load_state_dict_post_hooks.values():
            post(self)

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_optimizer_step_pre_hooks" not in self.__dict__:
            self._make_hook_tables()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines += [""] * (i > 0) + [f"Parameter Group {i}"]
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls ``hook(optimizer, args, kwargs)`` before each step; it may return new ``(args, kwargs)``."""
        return _register(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls ``hook(optimizer, args, kwargs)`` after each step."""
        return _register(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Calls ``hook(optimizer)`` before the state is collected."""
        return _register(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Calls ``hook(optimizer, state_dict)`` on the collected state; it may return another dict."""
        return _register(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Calls ``hook(optimizer, state_dict)`` on a copy of what is to be loaded; it may return another dict."""
        return _register(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Calls ``hook(optimizer)`` after a state was loaded."""
        return _register(self._optimizer_load_state_dict_post_hooks, hook, prepend)


def _split_names(group: Group) -> None:
    pairs = group["params"]
    if not all(isinstance(pair, tuple) for pair in pairs):
        raise ValueError("add_param_group: either all parameters of a group have names or none has")
    group["params"] = [p for _, p in pairs]
    group["param_names"] = [name for name, _ in pairs]
