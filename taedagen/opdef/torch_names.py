"""Overloads and out parameters that PyTorch names otherwise than the rules of declaration.py would."""

from __future__ import annotations

_BY_TENSOR = (
    "eq", "ne", "lt", "le", "gt", "ge", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift",
    "bitwise_right_shift", "remainder", "fmod",
)  # fmt: skip
_WITH_GRAD = (
    "threshold_backward", "gelu_backward", "silu_backward", "sigmoid_backward", "tanh_backward", "logit_backward",
    "nll_loss_backward", "nll_loss2d_backward",
)  # fmt: skip

# The full name by the rules to the overload.
OVERLOADS: dict[str, str] = {
    **{f"{name}.out": "Tensor_out" for name in _BY_TENSOR},
    **{f"{name}.out": "grad_input" for name in _WITH_GRAD},
    **{f"{name}.out": "output" for name in ("nll_loss_forward", "nll_loss2d_forward", "fractional_max_pool2d",
                                            "fractional_max_pool3d")},
    **{f"{name}.Tensor_out": "out" for name in ("multiply", "divide", "true_divide", "subtract", "ldexp")},
    **{f"{name}.out": "all_out" for name in ("any", "all")},
    **{f"{name}.dim_out": "out" for name in ("any", "all", "mean", "var", "std", "frobenius_norm")},
    **{f"{name}.dim_out": "dim_values" for name in ("median", "nanmedian")},
    **{f"{name}.out": "values" for name in ("sort", "topk", "kthvalue")},
    **{f"{name}.Tensor_mode_out": "out_mode" for name in ("div", "divide")},
    **{f"{name}.other_out": "out" for name in ("max", "min")},
    "sort.stable_out": "values_stable", "max.dim_out": "dim_max", "min.dim_out": "dim_min",
    "sum.dim_IntList_out": "IntList_out", "prod.dim_int_out": "int_out", "linalg_svd.out": "U",
    "arange.start_step_out": "start_out", "range.step_out": "out", "empty.memory_format_out": "out",
    "where.out": "self_out", "xlogy.out": "OutTensor", "xlogy.Scalar_Other_out": "OutScalar_Other",
    "xlogy.Scalar_Self_out": "OutScalar_Self", "floor_divide_": "Tensor", "ldexp_.Tensor": "",
}  # fmt: skip

# The functional full name to the out parameters.
OUT_NAMES: dict[str, list[str]] = {
    **{name: ["grad_input"] for name in _WITH_GRAD},
    **{name: ["output", "total_weight"] for name in ("nll_loss_forward", "nll_loss2d_forward")},
    **{f"{kind}_pool{d}d": ["out", "indices"] for kind in ("adaptive_max",) for d in (2, 3)},
    **{f"max_pool{d}d_with_indices": ["out", "indices"] for d in (2, 3)},
    **{name: ["out", "save_mean", "save_invstd"] for name in ("native_batch_norm", "_native_batch_norm_legit",
                                                              "_native_batch_norm_legit.no_stats")},
    **{name: ["out0", "out1"] for name in ("native_dropout", "_ctc_loss", "_ctc_loss.Tensor")},
    "_batch_norm_with_update": ["out", "save_mean", "save_invstd", "reserve"],
    "triangular_solve": ["X", "M"], "linalg_eigh": ["eigvals", "eigvecs"],
    "max.dim": ["max", "max_values"], "min.dim": ["min", "min_indices"],
}  # fmt: skip
