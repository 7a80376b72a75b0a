"""Pruning: parameters with a mask of zeros and ones, applied by a forward pre-hook.

A pruned parameter ``name`` is stored as ``name_orig``, with the mask in the buffer ``name_mask``.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

import taeda
from taeda import Tensor

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]

_NAME = "taeda.nn.utils.prune"


def _hook_of(module: Any, name: str) -> tuple[int | None, Any]:
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            return key, hook
    return None, None


class BasePruningMethod(ABC):
    """How to choose what is pruned: a subclass computes a mask, and is then the hook that applies it.

    ``PRUNING_TYPE`` says what it chooses from where something is pruned already: the elements left ("unstructured"),
    the channels left ("structured") or all ("global").
    """

    PRUNING_TYPE: str
    _tensor_name: str

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask for ``t``, of whose shape ``default_mask`` already prunes something."""

    def apply_mask(self, module: Any) -> Tensor:
        """The module's original parameter times its mask."""
        mask, original = (getattr(module, self._tensor_name + suffix) for suffix in ("_mask", "_orig"))
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module: Any, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any) -> Any:
        """Prunes ``name`` of the module, on top of what is pruned already; returns the hook.

        Args:
            importance_scores: numbers of the parameter's shape to choose by, instead of its own.
        """
        key, present = _hook_of(module, name)
        method = cls(*args, **kwargs)
        method._tensor_name = name
        if present is not None:
            del module._forward_pre_hooks[key]
            if not isinstance(present, PruningContainer):
                present = PruningContainer(present)
            present.add_pruning_method(method)
            method = present
        original = getattr(module, name)
        scores = original if importance_scores is None else importance_scores
        if not isinstance(scores, Tensor):
            raise AssertionError(f"{_NAME}: importance_scores must be a tensor; got {type(scores).__name__}")
        if scores.shape != original.shape:
            raise AssertionError(
                f"{_NAME}: importance_scores must be of the parameter's shape {tuple(original.shape)}; got "
                f"{tuple(scores.shape)}"
            )
        if present is None:
            module.register_parameter(name + "_orig", module._parameters.pop(name))
            default = taeda.ones_like(original)
        else:
            default = getattr(module, name + "_mask").detach().clone(memory_format=taeda.contiguous_format)
        try:
            mask = method.compute_mask(scores, default_mask=default)
        except Exception:
            if present is None:
                module.register_parameter(name, module._parameters.pop(name + "_orig"))
            raise
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """``t`` times the mask that is computed for it (or from ``importance_scores``)."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError(
                f"{_NAME}: importance_scores must be of the tensor's shape {tuple(t.shape)}; got {tuple(scores.shape)}"
            )
        mask = taeda.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=mask)

    def remove(self, module: Any) -> None:
        """Makes the parameter plain again, with the pruned elements zero."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(name + "_orig")
        original.data = weight.data
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Several methods applied to one parameter, one after another."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        given = list(args)
        if len(given) == 1 and isinstance(given[0], Iterable) and not isinstance(given[0], BasePruningMethod):
            given = list(given[0])
        if given:
            self._tensor_name = given[0]._tensor_name
        for method in given:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Appends a method; it must be for the same parameter."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{_NAME}: expected a BasePruningMethod; got {type(method).__name__}")
        if self._tensor_name != method._tensor_name:
            raise ValueError(f"{_NAME}: the container prunes '{self._tensor_name}', the method '{method._tensor_name}'")
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """``default_mask`` with what the last method prunes of what is left."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        kind = method.PRUNING_TYPE
        if kind == "unstructured":
            left: Any = mask == 1
        elif kind == "structured":
            dim = method.dim % t.dim()  # type: ignore[attr-defined]
            others = [d for d in range(t.dim()) if d != dim]
            left = (slice(None),) * dim + (mask.sum(others) != 0,)
        elif kind == "global":
            left = (slice(None),) * t.dim()
        else:
            raise ValueError(f"{_NAME}: PRUNING_TYPE must be unstructured, structured or global; got {kind!r}")
        result = mask.clone()
        result[left] = method.compute_mask(t[left], default_mask=mask[left]).to(dtype=mask.dtype)
        return result


class Identity(BasePruningMethod):
    """Prunes nothing, but stores the parameter as a pruned one."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask

    @classmethod
    def apply(cls, module: Any, name: str) -> Any:  # type: ignore[override]
        return super().apply(module, name)


def _validate_pruning_amount_init(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"{_NAME}: amount must be a number; got {type(amount).__name__}")
    whole = isinstance(amount, numbers.Integral)
    if float(amount) < 0 or (not whole and float(amount) > 1):
        raise ValueError(f"{_NAME}: amount must be an int from 0 on or a float from 0 to 1; got {amount}")


def _validate_pruning_amount(amount: Any, tensor_size: int) -> None:
    if isinstance(amount, numbers.Integral) and int(amount) > tensor_size:
        raise ValueError(f"{_NAME}: cannot prune {amount} of {tensor_size}")


def _compute_nparams_toprune(amount: Any, tensor_size: int) -> int:
    """How many of ``tensor_size`` an amount stands for."""
    return int(amount) if isinstance(amount, numbers.Integral) else round(amount * tensor_size)


class _ByAmount(BasePruningMethod):
    """``amount``: how many to prune, or with a float from 0 to 1 which share of them."""

    def __init__(self, amount: int | float) -> None:
        _validate_pruning_amount_init(amount)
        self.amount: Any = amount

    def _count(self, size: int) -> int:
        _validate_pruning_amount(self.amount, size)
        return _compute_nparams_toprune(self.amount, size)


class _Unstructured(_ByAmount):
    """Prunes elements one by one."""

    PRUNING_TYPE = "unstructured"

    @abstractmethod
    def _chosen(self, t: Tensor, count: int) -> Tensor:
        """The flat positions of ``count`` elements to prune."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        mask = default_mask.clone(memory_format=taeda.contiguous_format)
        count = self._count(t.nelement())
        if count:
            mask.view(-1)[self._chosen(t, count)] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """Prunes elements at random."""

    def _chosen(self, t: Tensor, count: int) -> Tensor:
        return taeda.topk(taeda.rand_like(t).view(-1), k=count).indices


class L1Unstructured(_Unstructured):
    """Prunes the elements of least magnitude."""

    def _chosen(self, t: Tensor, count: int) -> Tensor:
        return taeda.topk(taeda.abs(t).view(-1), k=count, largest=False).indices

    @classmethod
    def apply(cls, module: Any, name: str, amount: Any, importance_scores: Any = None) -> Any:  # type: ignore[override]
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class _Structured(_ByAmount):
    """Prunes channels: all elements of one index of the dimension ``dim``."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: int | float, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    @abstractmethod
    def _scores(self, t: Tensor) -> Tensor:
        """One number per channel: the least are pruned."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if t.dim() <= 1:
            raise ValueError(f"{_NAME}: channels need at least 2 dimensions; got {t.dim()}")
        if not -t.dim() <= self.dim < t.dim():
            raise IndexError(f"{_NAME}: dimension {self.dim} is out of range for {t.dim()} dimensions")
        size = t.shape[self.dim]
        count = self._count(size)
        if not count:
            return default_mask
        kept = taeda.topk(self._scores(t), k=size - count, largest=True).indices
        mask = taeda.zeros_like(t)
        mask.index_fill_(self.dim, kept, 1)
        return mask * default_mask.to(dtype=mask.dtype)


class RandomStructured(_Structured):
    """Prunes channels at random."""

    def _scores(self, t: Tensor) -> Tensor:
        return taeda.rand(t.shape[self.dim])


class LnStructured(_Structured):
    """Prunes the channels of the least ``n``-norm."""

    def __init__(self, amount: int | float, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _scores(self, t: Tensor) -> Tensor:
        others = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        return taeda.norm(t, p=self.n, dim=others)

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None
    ) -> Any:
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """Prunes by a given mask."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"{_NAME}: the mask must be of the shape {tuple(default_mask.shape)}; got {tuple(self.mask.shape)}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Any, name: str, mask: Tensor) -> Any:  # type: ignore[override]
        return super().apply(module, name, mask=mask)


def identity(module: Any, name: str) -> Any:
    """Stores ``name`` as a pruned parameter without pruning anything; returns the module."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: int | float) -> Any:
    """Prunes ``amount`` (a count, or a float for a share) elements of ``name`` at random; returns the module."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Any, name: str, amount: int | float, importance_scores: Tensor | None = None) -> Any:
    """Prunes the ``amount`` (a count, or a float for a share) elements of least magnitude; returns the module."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: int | float, dim: int) -> Any:
    """Prunes ``amount`` (a count, or a float for a share) channels along ``dim`` at random; returns the module."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Any, name: str, amount: int | float, n: Any, dim: int, importance_scores: Tensor | None = None
) -> Any:
    """Prunes the ``amount`` (a count, or a float for a share) channels of least ``n``-norm; returns the module."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(parameters: Any, pruning_method: Any, importance_scores: Any = None, **kwargs: Any) -> None:
    """Prunes elements chosen from all ``parameters`` (pairs of module and name) together.

    Args:
        pruning_method: a class with the ``PRUNING_TYPE`` "unstructured"; ``kwargs`` are its arguments.
        importance_scores: a tensor for each pair, to choose by.
    """
    if not isinstance(parameters, Iterable):
        raise TypeError(f"{_NAME}.global_unstructured: parameters must be a list of (module, name)")
    pairs = list(parameters)
    given = {} if importance_scores is None else importance_scores
    if not isinstance(given, dict):
        raise TypeError(f"{_NAME}.global_unstructured: importance_scores must be a dict by (module, name)")
    scores = [given.get((module, name), getattr(module, name)) for module, name in pairs]
    masks = [getattr(module, name + "_mask", taeda.ones_like(getattr(module, name))) for module, name in pairs]
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            f"{_NAME}.global_unstructured: {pruning_method.__name__} prunes {method.PRUNING_TYPE}, not unstructured"
        )
    container.add_pruning_method(method)

    def joined(tensors: list[Tensor]) -> Tensor:
        return taeda.cat([t.reshape(-1) for t in tensors])

    final = container.compute_mask(joined(scores), joined(masks))
    sizes = [getattr(module, name).numel() for module, name in pairs]
    for (module, name), part in zip(pairs, final.split_with_sizes(sizes), strict=True):
        custom_from_mask(module, name, mask=part.view_as(getattr(module, name)))


def custom_from_mask(module: Any, name: str, mask: Tensor) -> Any:
    """Prunes ``name`` where ``mask`` is zero; returns the module."""
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module: Any, name: str) -> Any:
    """Makes a pruned parameter plain again, with zeros where it was pruned; returns the module.

    Raises:
        ValueError: it is not pruned.
    """
    key, hook = _hook_of(module, name)
    if hook is None:
        raise ValueError(f"{_NAME}.remove: '{name}' of this {type(module).__name__} is not pruned")
    hook.remove(module)
    del module._forward_pre_hooks[key]
    return module


def is_pruned(module: Any) -> bool:
    """Whether a parameter of the module or of one in it is pruned."""
    return any(
        isinstance(hook, BasePruningMethod) for part in module.modules() for hook in part._forward_pre_hooks.values()
    )
