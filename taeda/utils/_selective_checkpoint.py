"""Selective checkpointing: within a checkpointed function, the results of some ops are kept after all."""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda.overrides import enable_reentrant_dispatch
from taeda.utils._python_dispatch import TorchDispatchMode
from taeda.utils._pytree import tree_map_only

__all__ = ["CheckpointPolicy", "SelectiveCheckpointContext", "create_selective_checkpoint_contexts"]


SAC_IGNORED_OPS = {taeda.ops.aten.detach.default}  # which no policy is asked about


class CheckpointPolicy(enum.Enum):
    """What becomes of an op's results: kept, or computed again. ``PREFER`` leaves the choice to compilers."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3


_SAVING = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)


class SelectiveCheckpointContext:
    """What a policy is told about the call.

    Args:
        is_recompute: whether it is the second run.
        op_output: the op's result.
    """

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


class _Kept:
    """A tensor and the version in which it was kept."""

    def __init__(self, tensor: Tensor) -> None:
        with enable_reentrant_dispatch(), taeda.no_grad():  # through all layers, so that the alias counts writes, too
            self.val = tensor.detach()
        self.version = self.val._version


class _Store:
    """The results of the first run, in order, by op; None where one is to be computed again."""

    def __init__(self, allow_mutation: bool) -> None:
        self.results: defaultdict[Any, list[Any]] = defaultdict(list)
        self.allow_mutation = allow_mutation
        self.used = False

    def put_back(self, kept: _Kept) -> Tensor:
        if kept.val._version != kept.version and not self.allow_mutation:
            raise RuntimeError(
                "taeda.utils.checkpoint: a tensor that selective checkpointing kept was written to; "
                "allow_cache_entry_mutation=True uses it all the same"
            )
        return kept.val


class _CachingTorchDispatchMode(TorchDispatchMode):
    def __init__(self, policy: Callable[..., CheckpointPolicy], store: _Store) -> None:
        super().__init__()
        self._policy, self._store = policy, store
        self.storage = store.results

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        if not _is_bookkeeping(func):
            context = SelectiveCheckpointContext(is_recompute=False, op_output=result)
            saves = self._policy(context, func, *args, **kwargs) in _SAVING
            self._store.results[func].append(tree_map_only(Tensor, _Kept, result) if saves else None)
        return result


class _CachedTorchDispatchMode(TorchDispatchMode):
    def __init__(self, store: _Store) -> None:
        super().__init__()
        self._store = store
        self.storage = store.results

    def __enter__(self) -> TorchDispatchMode:
        if self._store.used:
            raise RuntimeError(
                "taeda.utils.checkpoint: what selective checkpointing kept is gone; only one backward pass is possible"
            )
        self._store.used = True
        return super().__enter__()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None) -> Any:
        results = [] if _is_bookkeeping(func) else self._store.results[func]
        kept = results.pop(0) if results else None
        return func(*args, **(kwargs or {})) if kept is None else tree_map_only(_Kept, self._store.put_back, kept)


def _is_bookkeeping(func: Any) -> bool:
    """Aliases that autograd makes for itself, not the same number in both runs."""
    return func in SAC_IGNORED_OPS


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Callable[..., CheckpointPolicy] | list[Any], allow_cache_entry_mutation: bool = False
) -> tuple[TorchDispatchMode, TorchDispatchMode]:
    """The contexts of both runs, for ``checkpoint(..., use_reentrant=False, context_fn=...)``.

    Args:
        policy_fn_or_list: ``policy(context, op, *args, **kwargs)``, or the ops (``taeda.ops.aten.mm.default``) whose
            results are kept.
        allow_cache_entry_mutation: whether a kept result may be written to in the meantime.

    Raises:
        TypeError: it is neither a function nor a list.
        ValueError: the list holds something else than ops.
    """
    if isinstance(policy_fn_or_list, list):
        for op in policy_fn_or_list:
            if not hasattr(op, "overloadpacket"):
                raise ValueError(f"taeda.utils.checkpoint: expected an overload such as aten.mm.default; got {op!r}")
        kept = set(policy_fn_or_list)

        def policy(context: SelectiveCheckpointContext, op: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
            return CheckpointPolicy.MUST_SAVE if op in kept else CheckpointPolicy.PREFER_RECOMPUTE

    elif callable(policy_fn_or_list):
        policy = policy_fn_or_list
    else:
        raise TypeError(
            "taeda.utils.checkpoint: policy_fn_or_list must be a function or a list of ops; "
            f"got {type(policy_fn_or_list).__name__}"
        )
    store = _Store(allow_cache_entry_mutation)
    return _CachingTorchDispatchMode(policy, store), _CachedTorchDispatchMode(store)
