"""The meta device knows the shape, dtype and strides of every result without computing it."""

from __future__ import annotations

import pytest
from comparison import describe, significant_strides
from declared import Op, base_ops, call, cases, find, report, samples_of, seed_for

import taeda

# The shape of the result depends on values, which a meta tensor lacks.
NEEDS_VALUES = {
    "nonzero_numpy", "argwhere", "repeat_interleave.self_Tensor", "narrow.Tensor",
    "tensor_split.tensor_indices_or_sections",
    "_unique", "unique_dim_consecutive", "where", "linalg_lstsq", "bincount", "histogram.bin_ct",
    "to.prim_Device",  # asks for the CPU
    "pin_memory",  # of the CPU alone
    "fused_moving_avg_obs_fake_quant", "choose_qparams_optimized", "_choose_qparams_per_tensor",
    "equal", "allclose", "is_nonzero", "_local_scalar_dense", "_test_check_tensor",  # the answers are Python's
    "ctc_loss.Tensor", "_ctc_loss.Tensor",
    "_pack_padded_sequence", "_pad_packed_sequence", "lstm.data", "gru.data", "rnn_tanh.data", "rnn_relu.data",
    *(f"{name}.{kind}" for name in ("linspace", "logspace")
      for kind in ("Tensor_Tensor", "Tensor_Scalar", "Scalar_Tensor")),
    "randint_like.Tensor", "randint_like.Tensor_generator",
    *(f"_foreach_{name}.Tensor" for name in ("addcmul", "addcmul_", "addcdiv", "addcdiv_")),
    *(f"_fused_{name}_.tensor_lr" for name in ("sgd", "adam", "adamw", "adagrad")),
}  # fmt: skip
# Of some calls only.
MAY_NEED_VALUES = {"one_hot"}


def needs_values(op: Op) -> bool:
    return op.declaration.options.get("shape") == "dynamic" or op.schema.full_name in NEEDS_VALUES


# The private ops of sparse tensors have the rules of tests/sparse/test_meta_device.py, once those are loaded.
OPS = [
    op for op in base_ops() if any(s.fills for s in samples_of(op)) and op.declaration.options.get("files") != "sparse"
]


@pytest.mark.parametrize("op", cases("meta", OPS))
def test_meta_agrees_with_cpu(op: Op) -> None:
    function, mistakes = find(taeda, op.schema.name, op.schema.overload), []
    for sample in samples_of(op):
        real = call(taeda, function, sample, seed_for(op))
        if real.error is not None:
            continue
        meta = call(taeda, function, sample, seed_for(op), device="meta")
        if needs_values(op):
            if meta.error is None:
                mistakes.append(f"{sample}: meta gives {meta} although the shape depends on values")
            continue
        if meta.error is not None:
            if op.schema.full_name in MAY_NEED_VALUES:
                continue
            mistakes.append(f"{sample}: {meta}, wanted {real}")
            continue
        for m, r in zip(meta.results, real.results):
            if hasattr(r, "stride") and (
                m.dtype != r.dtype or m.shape != r.shape or significant_strides(m) != significant_strides(r)
            ):
                mistakes.append(f"{sample}: {describe([m])}, wanted {describe([r])}")
    report(op, mistakes)
