"""``vmap`` at once against one example after the other, for each op: its results, and its gradients inside ``vmap``."""

from __future__ import annotations

from typing import Any

import pytest
from comparison import differ, flat
from declared import Op, base_ops, call, cases, find, samples_of, seed_for
from test_gradients import CONSTANT, NO_DERIVATIVE, PHASE

import taeda
from taeda import Tensor
from taeda.func._batch import Draws, _Call
from taeda.testing._samples import make
from taeda.utils._pytree import tree_flatten
from taedagen.opdef.samples import Sample

COUNT = 4
SAMPLES = 4
RANDOM = {"random", "dropout"}
UNDEFINED = {"empty_like", "new_empty", "new_empty_strided", "empty_strided"}
# They read values, or (index_reduce, masked_scatter and running statistics) write what has no batched form: where that
# differs by example vmap runs one by one.
ONE_BY_ONE = {
    "linalg_matrix_exp", "matrix_exp", "istft", "_foreach_addcmul", "_foreach_addcdiv", "_grouped_mm", "index_reduce",
    "narrow", "tensor_split", "ctc_loss", "_ctc_loss", "lstm", "gru", "rnn_tanh", "rnn_relu", "_pack_padded_sequence",
    "_pad_packed_sequence", "histogram", "one_hot", "nll_loss", "nll_loss_nd", "cross_entropy_loss", "quantile",
    "nanquantile", "masked_select", "masked_scatter", "nonzero_numpy", "argwhere", "where", "batch_norm",
    "native_batch_norm", "_native_batch_norm_legit", "linspace", "logspace", "as_strided_scatter",
    "fake_quantize_per_channel_affine", "fused_moving_avg_obs_fake_quant", "choose_qparams_optimized",
    "_test_check_tensor", "_compute_linear_combination",
}  # fmt: skip
LEFT_OUT = {"slice_inverse"}  # of the memory beneath views, which a batch lays out in its own way


def small(sample: Sample) -> bool:
    return bool(sample.fills) and all(size <= 64 for x in sample.fills for size in x.shape)


def is_tested(op: Op) -> bool:
    is_left_out = op.declaration.family in RANDOM or op.schema.name in LEFT_OUT
    return op.variant == "functional" and not is_left_out and any(map(small, samples_of(op)))


OPS = list(filter(is_tested, base_ops()))


def batch_of(x: Tensor, names: bool) -> Tensor:
    """Examples like ``x``: the same for indices and the like, else multiples of it."""
    if not (x.is_floating_point() or x.is_complex()) or x.itemsize == 1 or names:
        return taeda.stack([x] * COUNT)
    return taeda.stack([x * factor for factor in (1.0, 0.5, 0.75, 0.25)])


def outcome(function: Any, values: list[Any], dims: list[Any]) -> tuple[Any, Any]:
    """What calls one by one give, and the call at once."""
    rows = [
        [r for r in flat(function(*(x if d is None else x[i] for x, d in zip(values, dims)))) if isinstance(r, Tensor)]
        for i in range(COUNT)
    ]
    wanted = [taeda.stack(column) for column in zip(*rows)]
    leaves, spec = tree_flatten(tuple(values))
    whole = _Call(lambda *xs: [r for r in flat(function(*xs)) if isinstance(r, Tensor)], leaves, dims, spec, {}, COUNT)
    return wanted, lambda: whole.at_once(Draws("different", "vmap"), 0, COUNT)


def patterns(count: int) -> list[list[int | None]]:
    """Which of the tensors differ by example: all, and each alone."""
    alone = [[0 if i == j else None for i in range(count)] for j in range(count)]
    return [[0] * count, *(alone if count > 1 else [])]


def mistakes_of(op: Op, derive: bool) -> tuple[list[str], int]:
    function = find(taeda, op.schema.name, op.schema.overload)
    constants = CONSTANT.get(op.schema.name, set())
    found: list[str] = []
    checked = 0
    for sample in [s for s in samples_of(op) if small(s)][:SAMPLES]:
        if call(taeda, function, sample, seed_for(op)).error is not None:
            continue
        args, kwargs = make(sample, taeda, seed_for(op))
        tensors = [t for t in flat(args) if isinstance(t, Tensor)]
        constant = {id(t) for name, a in zip(op.schema.names, args) if name in constants for t in flat(a)}
        batches = [batch_of(t, id(t) in constant) for t in tensors]
        for x in [*tensors, *batches] if derive else []:
            x.requires_grad_(x.is_floating_point() and x.itemsize > 1)
        for dims in patterns(len(tensors)):
            values = [t if d is None else b for t, b, d in zip(tensors, batches, dims)]
            try:
                wanted, at_once = outcome(run(op, function, args, kwargs, tensors, derive, constant), values, dims)
            except Exception:
                continue  # multiples are no examples of what the op takes
            if not wanted:
                continue
            try:
                got = at_once()
            except Exception as error:
                if op.schema.name in ONE_BY_ONE and not isinstance(error, NotImplementedError):
                    continue
                found.append(f"{sample} {dims}: {error!r}")
                continue
            checked += 1
            if derive:
                got, wanted = [*got, *outer_gradients(got, values)], [*wanted, *outer_gradients(wanted, values)]
            for mine, theirs in zip(got, wanted, strict=True):
                if difference := differ(mine, theirs, strides=False, values=op.schema.name not in UNDEFINED):
                    found.append(f"{sample} {dims}: {difference}")
    return found, checked


def run(op: Op, function: Any, args: Any, kwargs: Any, tensors: list[Tensor], derive: bool, constant: set[int]) -> Any:
    """The call as a function of its tensors, or the function that gives its gradients."""

    def results(*given: Tensor) -> list[Tensor]:
        table = {id(old): new for old, new in zip(tensors, given)}
        made = function(*swapped(args, table), **kwargs)
        kept = [r for r in flat(made) if isinstance(r, Tensor)]
        return [r.abs() for r in kept] if op.schema.name in PHASE else kept

    if not derive:
        return results

    varied = [i for i, t in enumerate(tensors) if t.is_floating_point() and id(t) not in constant]

    def gradients(*given: Tensor) -> list[Tensor]:
        def total(*chosen: Tensor) -> Tensor:
            table = dict(zip(varied, chosen))
            outputs = results(*(table.get(i, t) for i, t in enumerate(given)))
            return sum((r * r.detach().cos()).sum() for r in outputs if r.is_floating_point() and r.requires_grad)

        return list(taeda.func.grad(total, tuple(range(len(varied))))(*(given[i] for i in varied)))

    return gradients


def outer_gradients(results: list[Tensor], inputs: list[Tensor]) -> list[Tensor]:
    """The gradients of results of ``vmap`` for what is outside of it, zeros where an op has none."""
    tracked, leaves = [r for r in results if r.requires_grad and r.itemsize > 1], [x for x in inputs if x.requires_grad]
    if not tracked or not leaves:  # zeros may be recorded by one and not by the other
        return [taeda.zeros_like(x) for x in leaves]
    weights = [(r.detach() * 0.5).cos() for r in tracked]
    try:
        return list(taeda.autograd.grad(tracked, leaves, weights, materialize_grads=True))
    except RuntimeError:  # the op has no second derivative
        return []


def swapped(value: Any, table: dict[int, Any]) -> Any:
    return [swapped(x, table) for x in value] if isinstance(value, list) else table.get(id(value), value)


@pytest.mark.parametrize("op", cases("batched", OPS))
def test_all_examples_at_once(op: Op) -> None:
    mistakes, _ = mistakes_of(op, False)
    assert not mistakes, "\n".join(mistakes[:6])


DIFFERENTIABLE = [op for op in OPS if not {op.schema.name, op.schema.full_name} & NO_DERIVATIVE]


@pytest.mark.parametrize("op", cases("batched gradient", DIFFERENTIABLE))
def test_gradients_of_all_examples_at_once(op: Op) -> None:
    mistakes, _ = mistakes_of(op, True)
    assert not mistakes, "\n".join(mistakes[:6])
