"""Which submodules get a wrapper of their own."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar

from taeda import nn

__all__ = [
    "CustomPolicy", "ModuleWrapPolicy", "always_wrap_policy", "enable_wrap", "lambda_auto_wrap_policy",
    "size_based_auto_wrap_policy", "transformer_auto_wrap_policy", "wrap",
]  # fmt: skip


def always_wrap_policy(*args: Any, **kwargs: Any) -> bool:
    """Every submodule."""
    return True


def lambda_auto_wrap_policy(
    module: nn.Module, recurse: bool, nonwrapped_numel: int, lambda_fn: Callable[[nn.Module], bool]
) -> bool:
    """Those for which ``lambda_fn`` is true."""
    return recurse or lambda_fn(module)


def transformer_auto_wrap_policy(
    module: nn.Module, recurse: bool, nonwrapped_numel: int, transformer_layer_cls: set[type[nn.Module]]
) -> bool:
    """Those of certain classes."""
    return recurse or isinstance(module, tuple(transformer_layer_cls))


def _module_wrap_policy(
    module: nn.Module, recurse: bool, nonwrapped_numel: int, module_classes: set[type[nn.Module]]
) -> bool:
    return recurse or isinstance(module, tuple(module_classes))


def size_based_auto_wrap_policy(
    module: nn.Module,
    recurse: bool,
    nonwrapped_numel: int,
    min_num_params: int = 100_000_000,
    force_leaf_modules: set[type[nn.Module]] | None = None,
    exclude_wrap_modules: set[type[nn.Module]] | None = None,
) -> bool:
    """Those with as many parameters that no wrapper inside has taken.

    Args:
        min_num_params: how many.
        force_leaf_modules: classes into which one does not look; by default `MultiheadAttention`.
        exclude_wrap_modules: classes that get none; by default lists and dictionaries of modules.
    """
    policy: Any = size_based_auto_wrap_policy
    leaves = policy.FORCE_LEAF_MODULES if force_leaf_modules is None else force_leaf_modules
    excluded = policy.EXCLUDE_WRAP_MODULES if exclude_wrap_modules is None else exclude_wrap_modules
    if nonwrapped_numel < min_num_params:
        return False
    return not isinstance(module, tuple(leaves if recurse else excluded))


size_based_auto_wrap_policy.FORCE_LEAF_MODULES = {nn.MultiheadAttention}  # type: ignore[attr-defined]
size_based_auto_wrap_policy.EXCLUDE_WRAP_MODULES = {nn.ModuleList, nn.ModuleDict}  # type: ignore[attr-defined]


def _or_policy(
    module: nn.Module, recurse: bool, nonwrapped_numel: int, policies: Iterable[Callable[..., bool]]
) -> bool:
    return any(policy(module=module, recurse=recurse, nonwrapped_numel=nonwrapped_numel) for policy in policies)


class _Policy:
    """Says for each module which arguments its wrapper has; what is not in the answer gets none."""

    def _run_policy(
        self, root: nn.Module, ignored: set[nn.Module], given: dict[str, Any]
    ) -> dict[nn.Module, dict[str, Any]]:
        raise NotImplementedError


class ModuleWrapPolicy(_Policy):
    """Those of certain classes."""

    def __init__(self, module_classes: Iterable[type[nn.Module]]) -> None:
        self._module_classes = set(module_classes)

    def _run_policy(
        self, root: nn.Module, ignored: set[nn.Module], given: dict[str, Any]
    ) -> dict[nn.Module, dict[str, Any]]:
        kinds = tuple(self._module_classes)
        return {one: dict(given) for one in root.modules() if isinstance(one, kinds) and one not in ignored}

    def __call__(self, module: nn.Module, recurse: bool, *args: Any, **kwargs: Any) -> bool:
        return recurse or isinstance(module, tuple(self._module_classes))

    def __repr__(self) -> str:
        return f"ModuleWrapPolicy({self._module_classes})"


class CustomPolicy(_Policy):
    """Those for which a function says True, or a dictionary of arguments that replace the outermost wrapper's."""

    def __init__(self, lambda_fn: Callable[[nn.Module], bool | dict[str, Any]]) -> None:
        self._lambda_fn = lambda_fn

    def _run_policy(
        self, root: nn.Module, ignored: set[nn.Module], given: dict[str, Any]
    ) -> dict[nn.Module, dict[str, Any]]:
        chosen: dict[nn.Module, dict[str, Any]] = {}
        for one in root.modules():
            answer = False if one in ignored else self._lambda_fn(one)
            if not isinstance(answer, (bool, dict)):
                raise ValueError(f"CustomPolicy: the function is to give a bool or a dict; got {answer!r}")
            if isinstance(answer, dict) or answer:
                chosen[one] = {**given, **(answer if isinstance(answer, dict) else {})}
        return chosen


Policy = Callable[..., bool] | _Policy


def wrap_children(
    module: nn.Module, policy: Policy, make: Callable[..., nn.Module], given: dict[str, Any], ignored: set[nn.Module],
    ignored_params: set[nn.Parameter],
) -> None:  # fmt: skip
    """Wraps the submodules that a policy chooses, inner ones first."""
    if isinstance(policy, _Policy):
        chosen = policy._run_policy(module, ignored, given)
        chosen.pop(module, None)
        _wrap_chosen(module, chosen, make)
    else:
        _recursive_wrap(module, policy, make, ignored, ignored_params, only_wrap_children=True, **given)


def _wrap_chosen(module: nn.Module, chosen: dict[nn.Module, dict[str, Any]], make: Callable[..., nn.Module]) -> None:
    made: dict[nn.Module, nn.Module] = {}
    for parent in list(module.modules())[::-1]:
        for name, child in list(parent.named_children()):
            if child in chosen:
                if child not in made:
                    made[child] = make(child, **chosen[child])
                setattr(parent, name, made[child])


def _recursive_wrap(
    module: nn.Module, auto_wrap_policy: Callable[..., bool], wrapper_cls: Callable[..., nn.Module],
    ignored_modules: set[nn.Module], ignored_params: set[nn.Parameter], only_wrap_children: bool = False, **kwargs: Any,
) -> tuple[nn.Module, int]:  # fmt: skip
    """The module, wrapped where the policy wants it inside and, unless ``only_wrap_children``, itself; and how many
    elements of parameters are now in wrappers."""
    numel = sum(one.numel() for one in module.parameters() if one not in ignored_params)
    if not auto_wrap_policy(module=module, recurse=True, nonwrapped_numel=numel):
        return module, 0
    wrapped = 0
    for name, child in module.named_children():
        if child in ignored_modules:
            continue
        new, count = _recursive_wrap(child, auto_wrap_policy, wrapper_cls, ignored_modules, ignored_params, **kwargs)
        if new is not child:
            setattr(module, name, new)
        wrapped += count
    if not only_wrap_children and auto_wrap_policy(module=module, recurse=False, nonwrapped_numel=numel - wrapped):
        return wrapper_cls(module, **kwargs), numel
    return module, wrapped


def _wrap_module_cls_individually(
    module: nn.Module, module_classes: Sequence[type], recurse: bool, *args: Any, **kwargs: Any
) -> bool:
    return recurse or isinstance(module, tuple(module_classes))


class _ConfigAutoWrap:
    in_autowrap_context: ClassVar[bool] = False
    wrapper_cls: ClassVar[Any] = None
    kwargs: ClassVar[dict[str, Any]] = {}


@contextlib.contextmanager
def enable_wrap(*, wrapper_cls: Any, **wrapper_kwargs: Any) -> Iterator[None]:
    """Within, `wrap` wraps by ``wrapper_cls(module, **wrapper_kwargs)``."""
    if _ConfigAutoWrap.in_autowrap_context:
        raise NotImplementedError("enable_wrap: does not nest")
    _ConfigAutoWrap.in_autowrap_context = True
    _ConfigAutoWrap.wrapper_cls, _ConfigAutoWrap.kwargs = wrapper_cls, wrapper_kwargs
    try:
        yield
    finally:
        _ConfigAutoWrap.in_autowrap_context = False
        _ConfigAutoWrap.wrapper_cls, _ConfigAutoWrap.kwargs = None, {}


def wrap(module: nn.Module, **wrap_overrides: Any) -> nn.Module:
    """The module, wrapped if this is within `enable_wrap`."""
    if not _ConfigAutoWrap.in_autowrap_context:
        return module
    wrapped: nn.Module = _ConfigAutoWrap.wrapper_cls(module, **{**_ConfigAutoWrap.kwargs, **wrap_overrides})
    return wrapped


def or_policies(*policies: Callable[..., bool]) -> Callable[..., bool]:
    """What one of them chooses."""
    return functools.partial(_or_policy, policies=policies)
