"""Gradients of each sample of a batch, as privacy engines ask for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.autograd._transforms import leaf_of
from taeda.nn.utils.rnn import PackedSequence, pack_padded_sequence, pack_sequence, pad_packed_sequence
from taeda.utils._pytree import tree_flatten, tree_unflatten


def call_for_per_sample_grads(
    module: nn.Module, *, batch_size: int | None = None, loss_reduction: str = "sum", batch_first: bool = True
) -> Callable[..., Any]:
    """A function that calls ``module``; after ``backward`` each parameter that requires grad has ``grad_sample``, of
    shape (batch, *parameter): the gradient of each sample. ``grad`` stays as it was.

    Args:
        batch_size: that of the tensors that are passed; by default the size that they all have.
        loss_reduction: how the loss is made of the samples' losses, ``"sum"`` or ``"mean"``.
        batch_first: whether dimension 0 counts the samples; else dimension 1, of the result as well.

    Raises:
        RuntimeError: ``module`` is no module, ``loss_reduction`` is another word, the tensors' sizes differ, or
            gradients of an earlier call are there.
    """
    if not isinstance(module, nn.Module):
        raise RuntimeError(f"taeda.nn.utils.call_for_per_sample_grads: wants a module, got {type(module).__name__}")
    if loss_reduction not in ("sum", "mean"):
        raise RuntimeError(
            f"taeda.nn.utils.call_for_per_sample_grads: loss_reduction must be 'sum' or 'mean', got {loss_reduction!r}"
        )
    if batch_size is not None and (not isinstance(batch_size, int) or batch_size < 1):
        raise RuntimeError(
            f"taeda.nn.utils.call_for_per_sample_grads: batch_size must be None or at least 1, got {batch_size!r}"
        )
    dim = 0 if batch_first else 1

    def call(*args: Any, **kwargs: Any) -> Any:
        size = _batch_size(module, (args, kwargs), dim) if batch_size is None else batch_size
        scale = size if loss_reduction == "mean" else 1
        copies = {n: _copies(p, size, scale) for n, p in module.named_parameters() if p.requires_grad}
        if any(isinstance(arg, PackedSequence) for arg in args):
            return _of_sequences(module, copies, size, args, kwargs)
        given, structure = tree_flatten((args, kwargs))
        places = _places(module, given, dim)

        def of_sample(parameters: dict[str, Tensor], *leaves: Any) -> Any:
            alone = [x if place is None else x.unsqueeze(place) for x, place in zip(leaves, places, strict=True)]
            args, kwargs = tree_unflatten(alone, structure)
            return taeda.func.functional_call(module, parameters, args, kwargs)

        over_samples = taeda.func.vmap(of_sample, in_dims=(0, *places), randomness="different")
        made, structure_of_result = tree_flatten(over_samples(copies, *given))
        ends = _places(module, made, dim)
        joined = [
            x if at is None or x.dim() == 1 else x.squeeze(at + 1).movedim(0, at)
            for x, at in zip(made, ends, strict=True)
        ]
        return tree_unflatten(joined, structure_of_result)

    return call


def _places(module: nn.Module, leaves: list[Any], dim: int) -> list[int | None]:
    """Which dimension of each tensor counts the samples: ``dim``, but 1 of the states of recurrent networks, which come
    after the sequences."""
    has_states = any(isinstance(part, nn.RNNBase) for part in module.modules())
    first = next((i for i, x in enumerate(leaves) if isinstance(x, Tensor) or _is_packed(x)), 0)
    return [
        None if not isinstance(x, Tensor) else 1 if has_states and i > first and x.dim() > 1 else dim
        for i, x in enumerate(leaves)
    ]


def _is_packed(x: Any) -> bool:
    return isinstance(x, PackedSequence)


def _of_sequences(module: nn.Module, copies: dict[str, Tensor], size: int, args: Any, kwargs: Any) -> Any:
    """The result for packed sequences, one after another, since each has its own length; of other tensors, states,
    dimension 1 counts the samples."""
    given, structure = tree_flatten((args, kwargs), is_leaf=_is_packed)
    padded = {i: pad_packed_sequence(x) for i, x in enumerate(given) if _is_packed(x)}
    in_order = all(x.sorted_indices is None for x in given if _is_packed(x))

    def of_sample(at: int) -> Any:
        alone = [x.narrow(1, at, 1) if isinstance(x, Tensor) else x for x in given]
        for i, (rows, lengths) in padded.items():
            alone[i] = pack_padded_sequence(rows[:, at : at + 1], lengths[at : at + 1])
        args, kwargs = tree_unflatten(alone, structure)
        return taeda.func.functional_call(module, {name: copy[at] for name, copy in copies.items()}, args, kwargs)

    columns, structures = zip(*(tree_flatten(of_sample(at), is_leaf=_is_packed) for at in range(size)), strict=True)
    joined = [
        pack_sequence([x.data for x in row], enforce_sorted=in_order) if _is_packed(row[0]) else taeda.cat(row, 1)
        for row in zip(*columns, strict=True)
    ]
    return tree_unflatten(joined, structures[0])


def _batch_size(module: nn.Module, arguments: Any, dim: int) -> int:
    leaves = tree_flatten(arguments, is_leaf=_is_packed)[0]
    sizes = {int(x.batch_sizes[0]) for x in leaves if _is_packed(x)}
    sizes |= {x.shape[at] for x, at in zip(leaves, _places(module, leaves, dim), strict=True) if at is not None}
    if len(sizes) != 1:
        raise RuntimeError(
            "taeda.nn.utils.call_for_per_sample_grads: the tensors that the module gets must have one batch size; got "
            f"{sorted(sizes) or 'no tensors'} in dimension {dim}; pass batch_size="
        )
    return int(sizes.pop())


def _copies(parameter: Tensor, count: int, scale: int) -> Tensor:
    """The parameter for each sample: a leaf, whose gradient becomes the parameter's ``grad_sample``."""
    if getattr(parameter, "grad_sample", None) is not None:
        raise RuntimeError(
            "taeda.nn.utils.call_for_per_sample_grads: a parameter has the gradients of an earlier call; set its "
            "grad_sample to None first"
        )
    leaf = leaf_of(parameter.detach().expand(count, *parameter.shape))

    def keep(leaf: Tensor) -> None:
        assert leaf.grad is not None
        parameter.grad_sample = leaf.grad * scale if scale != 1 else leaf.grad  # type: ignore[attr-defined]
        leaf.grad = None

    leaf.register_post_accumulate_grad_hook(keep)
    return leaf
