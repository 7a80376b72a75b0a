"""Sample arguments of the ops under ``nn``."""

from __future__ import annotations

from taeda.testing._samples import Fill, Name, S, Sample, b, f, i, v

_LOSSES = [S(f(2, 3), f(2, 3)), *(S(f(2, 3), f(2, 3), reduction=r) for r in (0, 2)), S(f(), f())]
_CLASS_LOSSES = [
    S(f(4, 3), i(4)),
    S(f(3), v(1)),
    S(f(4, 3), i(4), f(3, low=0.1)),
    S(f(4, 3), v([0, -100, 2, 1]), None, 0),
]
_TRIPLES = [S(f(2, 5), f(2, 5), f(2, 5)), S(f(5), f(5), f(5))]


def _pool(dims: int) -> list[Sample]:
    ones = lambda n: [n] * dims
    x = f(2, 3, *(7,) * dims)
    return [
        S(f(1, *(3,) * dims), ones(2)),
        S(x, ones(2)),
        S(x, ones(3), ones(2), ones(1)),
        S(f(3, *(6,) * dims), ones(2)),
        S(x, ones(2), ones(1)),
        S(x, ones(9)),
    ]


def _max_pool(dims: int) -> list[Sample]:
    ones = lambda n: [n] * dims
    return [*_pool(dims), S(f(2, 3, *(7,) * dims), ones(2), ones(2), ones(0), ones(2)),
            S(f(2, 3, *(7,) * dims), ones(2), ones(2), ones(0), ones(1), True)]  # fmt: skip


def _adaptive(dims: int) -> list[Sample]:
    large = [S(f(2, 3, *(7,) * dims), [n] * dims) for n in (1, 3, 7, 9)]
    return [S(f(1, *(3,) * dims), [2] * dims), *large, S(f(3, *(5,) * dims), [2] * dims)]


def _pad(dims: int) -> list[Sample]:
    return [
        S(f(2, 3, *(4,) * dims), [1, 2] * dims),
        S(f(3, *(4,) * dims), [0, 1] * dims),
        S(f(2, 3, *(4,) * dims), [-1, 2] * dims),
    ]


def _upsample(dims: int, aligned: bool) -> list[Sample]:
    flags = [(False,), (True,)] if aligned else [()]
    return [S(f(2, 3, *(4,) * dims), [n] * dims, *flag) for n in (8, 7, 2) for flag in flags]


def _upsample_vec(dims: int, aligned: bool) -> list[Sample]:
    flag = [(False,), (True,)] if aligned else [()]
    x = f(2, 3, *(4,) * dims)
    return [S(x, [n] * dims, *a, None) for n in (8, 7, 2) for a in flag] + [
        S(x, None, *a, [n] * dims) for n in (2.0, 1.6, 0.5) for a in flag
    ]


def _layers(gates: int) -> list[Fill]:
    return [f(3 * gates, 4), f(3 * gates, 3), f(3 * gates), f(3 * gates)]


def _rnn(gates: int, state: Fill | list[Fill], packed: Fill | list[Fill]) -> dict[str, list[Sample]]:
    return {
        "input": [S(f(5, 2, 4), state, _layers(gates), True, 1, 0.0, False, False, False)],
        "data": [S(f(7, 4), v([3, 2, 2]), packed, _layers(gates), True, 1, 0.0, False, False)],
    }


_RESIZERS = [
    *((f"{name}{n}d", n, False) for name in ("upsample_nearest", "_upsample_nearest_exact") for n in (1, 2, 3)),
    ("upsample_linear1d", 1, True), ("upsample_trilinear3d", 3, True),
    *((name, 2, True) for name in ("upsample_bilinear2d", "upsample_bicubic2d", "_upsample_bilinear2d_aa",
                                   "_upsample_bicubic2d_aa")),
]  # fmt: skip
_POOLS = (("avg", _pool), ("max", _max_pool), ("adaptive_avg", _adaptive), ("adaptive_max", _adaptive))
_GRID_OPTIONS = [(mode, pad, aligned) for mode in (0, 1, 2) for pad in (0, 1, 2) for aligned in (True, False)]
_STATE = f(1, 2, 3)
_PACKED = f(1, 3, 3)
_RNNS = {
    f"{name}.{kind}": rows
    for name, gates, state, packed in (
        ("lstm", 4, [_STATE, _STATE], [_PACKED, _PACKED]), ("gru", 3, _STATE, _PACKED),
        ("rnn_tanh", 1, _STATE, _PACKED), ("rnn_relu", 1, _STATE, _PACKED),
    )
    for kind, rows in _rnn(gates, state, packed).items()
}  # fmt: skip
_eighth = lambda *shape: f(*shape, dtype="float8_e4m3fn")

TABLE: dict[str, list[Sample]] = {
    # losses
    **dict.fromkeys(("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss"), _LOSSES),
    "kl_div": [S(f(2, 3), f(2, 3, low=0.1)), S(f(2, 3), f(2, 3), 0, log_target=True)],
    "poisson_nll_loss": [S(f(2, 3), f(2, 3, low=0.1), True, False, 1e-8, r) for r in (0, 1)],
    "binary_cross_entropy": [S(f(2, 3, low=0.1, high=0.9), f(2, 3, low=0, high=1)),
        S(f(2, low=0.1, high=0.9), f(2, low=0, high=1), f(2), 0)],
    "binary_cross_entropy_with_logits": [S(f(2, 3), f(2, 3, low=0, high=1)),
        S(f(2, 3), f(2, 3, low=0, high=1), f(3), f(3), 0)],
    **dict.fromkeys(("nll_loss", "nll_loss_nd", "cross_entropy_loss", "multi_margin_loss"), _CLASS_LOSSES[:3]),
    "nll_loss_forward": [S(f(4, 3), i(4), None, 1, -100), S(f(4, 3), v([0, -100, 2, 1]), f(3, low=0.1), 0, -100)],
    "cross_entropy_loss": [*_CLASS_LOSSES, S(f(4, 3), i(4), None, 1, -100, 0.1),
        S(f(4, 3), f(4, 3, of="distribution")), S(f(2, 3, 5), i(2, 5))],
    **dict.fromkeys(("nll_loss2d",), [S(f(2, 3, 4, 4), i(2, 4, 4))]),
    "nll_loss2d_forward": [S(f(2, 3, 4, 4), i(2, 4, 4), None, 1, -100)],
    "multi_margin_loss": [S(f(4, 3), i(4)), S(f(4, 3), i(4), 2, 0.5, f(3, low=0.1), 0)],
    "multilabel_margin_loss": [S(f(2, 4), v([[1, 3, -1, 0], [0, -1, 2, 1]]))],
    "multilabel_margin_loss_forward": [S(f(2, 4), v([[1, 3, -1, 0], [0, -1, 2, 1]]), 1)],
    "hinge_embedding_loss": [S(f(2, 3), v([[1.0, -1, 1], [-1, 1, 1]], "float64"))],
    "margin_ranking_loss": [S(f(3), f(3), v([1.0, -1, 1], "float64"))],
    "cosine_embedding_loss": [S(f(3, 4), f(3, 4), v([1.0, -1, 1], "float64"))],
    "triplet_margin_loss": _TRIPLES,
    "ctc_loss.IntList": [S(f(5, 2, 4), i(2, 3, low=1, high=4), [5, 4], [3, 2]),
        S(f(5, 2, 4), i(2, 3, low=1, high=4), [5, 4], [3, 2], 0, 0)],
    "ctc_loss.Tensor": [S(f(5, 2, 4), i(2, 3, low=1, high=4), v([5, 4]), v([3, 2]))],
    # PyTorch leaves what lies beyond an input's or target's end undefined.
    "_ctc_loss": [S(f(5, 2, 4), i(2, 3, low=1, high=4), [5, 5], [3, 3]),
        S(f(5, 2, 4), v([[0, 1, 2], [2, 0, 1]], "int32"), [5, 5], [3, 3], 3)],
    "_ctc_loss.Tensor": [S(f(5, 2, 4), i(2, 3, low=1, high=4), v([5, 5]), v([3, 3]))],
    **dict.fromkeys(("cosine_similarity",), [S(f(2, 3), f(2, 3)), S(f(2, 3), f(3), 1)]),
    "pairwise_distance": [S(f(2, 3), f(2, 3)), S(f(2, 3), f(3), 1)],
    "pdist": [S(f(4, 3), p) for p in (2.0, 1, 0, 3.5, float("inf"))] + [S(f(1, 3)), S(f(3, 20))],
    "cdist": [S(f(4, 3), f(5, 3)), S(f(4, 3), f(5, 3), 1), S(f(2, 4, 3), f(5, 3), float("inf")),
        S(f(4, 3), f(2, 1, 5, 3), 2.5), S(f(3, 2), f(4, 2), 2.0, 1), S(f(3, 20), f(4, 20), 0), S(f(2, 0), f(3, 0)),
        S(f(27, 3), f(2, 3)), S(f(2, 3), f(2, 4))],
    "_euclidean_dist": [S(f(4, 3), f(5, 3)), S(f(2, 4, 3), f(5, 3))],
    # pooling
    **{f"{kind}_pool{n}d": rows(n) for kind, rows in _POOLS for n in (1, 2, 3)},
    **{f"max_pool{n}d_with_indices": _max_pool(n) for n in (1, 2, 3)},
    **{f"_adaptive_avg_pool{n}d": _adaptive(n) for n in (2, 3)},
    "lp_pool1d": [S(f(2, 3, 8, low=0.1), 2.0, 2)], "lp_pool2d": [S(f(2, 3, 8, 8, low=0.1), 2.0, [2, 2])],
    "fractional_max_pool2d": [S(f(2, 3, 8, 8), [2, 2], [4, 4], f(2, 3, 2, low=0, high=1)),
        S(f(1, 5, 6), [3, 2], [2, 4], f(1, 1, 2, low=0, high=1)), S(f(1, 5, 6), [3, 2], [5, 4], f(1, 1, 2))],
    "fractional_max_pool3d": [S(f(2, 3, 8, 8, 8), [2] * 3, [4] * 3, f(2, 3, 3, low=0, high=1)),
        S(f(1, 2, 4, 4, 3), [2] * 3, [2, 2, 1], f(1, 2, 3, low=0, high=1)),
        S(f(1, 2, 3, 3, 3), [2] * 3, [2] * 3, f(1, 2, 3))],
    "max_unpool2d": [S(f(1, 1, 2, 2), v([[[[0, 3], [8, 15]]]]), [4, 4])],
    "max_unpool3d": [S(f(1, 1, 1, 2, 2), v([[[[[0, 3], [8, 15]]]]]), [1, 4, 4], [1, 2, 2], [0, 0, 0])],
    # norms
    "batch_norm": [S(f(4, 3, 5), f(3), f(3), f(3), f(3, low=0.5), t, 0.1, 1e-5, False) for t in (True, False)]
                  + [S(f(4, 3), None, None, None, None, True, 0.1, 1e-5, False)],
    "native_batch_norm": [S(f(4, 3, 5), f(3), f(3), f(3), f(3, low=0.5), t, 0.1, 1e-5) for t in (True, False)],
    "_native_batch_norm_legit": [S(f(4, 3, 5), f(3), f(3), f(3), f(3, low=0.5), t, 0.1, 1e-5) for t in (True, False)],
    "_native_batch_norm_legit.no_stats": [S(f(4, 3, 5), f(3), f(3), True, 0.1, 1e-5)],
    "instance_norm": [S(f(4, 3, 5), f(3), f(3), None, None, True, 0.1, 1e-5, False)],
    "layer_norm": [S(f(2, 5), [5]), S(f(2, 3, 5), [3, 5], f(3, 5), f(3, 5)), S(f(2, 5), [5], f(5)), S(f(2, 5), [4])],
    "native_layer_norm": [S(f(2, 5), [5], f(5), f(5), 1e-5)],
    "rms_norm": [S(f(2, 5), [5]), S(f(2, 5), [5], f(5), 1e-5)],
    "group_norm": [S(f(2, 6, 4), 3), S(f(2, 6, 4), 2, f(6), f(6)), S(f(2, 6), 4)],
    "native_group_norm": [S(f(2, 6, 4), f(6), f(6), 2, 6, 4, 3, 1e-5)],
    "local_response_norm": [S(f(2, 5, 4), 3)],

    "_weight_norm": [S(f(3, 4), f(3, 1)), S(f(3, 2, 2), f(1, 2, 1), 1), S(f(3, 4), f(), -1)],
    "_weight_norm_interface": [S(f(3, 4), f(3, 1)), S(f(3, 4), f(1, 4), 1)],
    "_scaled_mm": [S(_eighth(16, 32), _eighth(32, 16), f(*sizes[0], dtype="float32"), f(*sizes[1], dtype="float32"),
                     f(16, dtype="bfloat16") if bias else None, None, kind)
                   for sizes, bias, kind in ((((), ()), False, Name("bfloat16")), (((1,), (1, 1)), False, None),
                                             (((16, 1), (1, 16)), False, Name("float32")),
                                             (((), ()), True, Name("bfloat16")))],
    "_grouped_mm": [S(f(*left, dtype="float32"), f(*right, dtype="float32"), *offs)
                    for left, right, offs in (((8, 4), (2, 4, 8), [v([3, 8], "int32")]), ((2, 8, 4), (2, 4, 8), []),
                                              ((2, 8, 4), (4, 8), [v([4, 8], "int32")]), ((2, 8, 4), (4, 8), []),
                                              ((8, 8), (8, 4), [v([4, 8], "int32")]), ((8, 3), (2, 3, 8), []))],
    "norm_except_dim": [S(f(3, 2, 4)), S(f(3, 2, 4), 2, 1), S(f(3, 2, 4), 3, -2), S(f(3, 2), 2, -1), S(f(3), 2, 0)],
    # geometry
    **{f"{kind}_pad{n}d": _pad(n) for n in (1, 2, 3) for kind in ("reflection", "replication")},
    "constant_pad_nd": [S(f(2, 3), [1, 2]), S(f(2, 3), [1, -1, 0, 2], 1.5), S(f(3), [-4, 0])],
    "pad": [S(f(2, 3, 4), [1, 2]), S(f(2, 3, 4), [1, 2], "reflect"), S(f(2, 3, 4), [1, 2], "replicate"),
        S(f(2, 3, 4), [1, 2], "circular"), S(f(2), [1, 1], "no")],
    "_pad_circular": [S(f(2, 3, 4), [1, 2])],
    **{name: _upsample(n, aligned) for name, n, aligned in _RESIZERS},
    **{f"{name}.vec": _upsample_vec(n, aligned) for name, n, aligned in _RESIZERS},
    "pixel_shuffle": [S(f(1, 8, 2, 3), 2), S(f(1, 6, 2, 3), 2)],
    "pixel_unshuffle": [S(f(1, 2, 4, 6), 2), S(f(1, 2, 3, 6), 2)],
    "channel_shuffle": [S(f(1, 6, 2, 2), 3)], "native_channel_shuffle": [S(f(1, 6, 2, 2), 3)],
    **{name: [S(f(2, 3, 5, 4), f(2, 4, 3, 2, low=-1.2, high=1.2), *options) for options in _GRID_OPTIONS]
       for name in ("grid_sampler", "grid_sampler_2d")},
    "grid_sampler_3d": [S(f(1, 2, 3, 2, 3), f(1, 2, 2, 2, 3, low=-1.4, high=1.4), mode, pad, flag)
                        for mode, pad, flag in (
                            (0, 0, True), (0, 1, False), (0, 2, False), (1, 0, True), (1, 2, False))],
    "_grid_sampler_2d_cpu_fallback": [
        S(f(1, 2, 3, 3, dtype="float32"), f(1, 2, 2, 2, low=-1.2, high=1.2, dtype="float32"), 0, 0, True)],
    "affine_grid_generator": [S(f(2, 2, 3), [2, 1, 4, 5], flag) for flag in (True, False)]
                             + [S(f(1, 3, 4), [1, 1, 2, 1, 3], True), S(f(1, 2, 3), [2, 1, 4, 5], True)],
    # activations and attention
    "glu": [S(f(2, 4)), S(f(4, 2), 0), S(f(2, 3))],
    "prelu": [S(f(2, 3), f(3)), S(f(2, 3, 4), f(1)), S(f(2, 3), f(2))],
    "_prelu_kernel": [S(f(2, 3), f(1, 3))],
    "scaled_dot_product_attention": [S(f(2, 3, 4), f(2, 5, 4), f(2, 5, 6)),
        S(f(2, 2, 3, 4), f(2, 2, 3, 4), f(2, 2, 3, 4), None, 0.0, True),
                                     S(f(2, 3, 4), f(2, 5, 4), f(2, 5, 4), b(3, 5)),
                                     S(f(2, 3, 4), f(2, 5, 4), f(2, 5, 4), f(3, 5), scale=0.3)],
    "softmax.int": [S(f(2, 3), 0), S(f(2, 3, 4), -1), S(f(), 0), S(f(2, 3), 2)],
    "_fused_rms_norm": [S(f(2, 5), [5], None, None), S(f(2, 5), [5], f(5), 1e-5)],
    # recurrent
    "lstm_cell": [S(f(2, 4), [f(2, 3), f(2, 3)], *_layers(4))], "gru_cell": [S(f(2, 4), f(2, 3), *_layers(3))],
    **dict.fromkeys(("rnn_tanh_cell", "rnn_relu_cell"), [S(f(2, 4), f(2, 3), *_layers(1))]), **_RNNS,
    "_pack_padded_sequence": [S(f(3, 2, 4), v([3, 2]), False), S(f(2, 3, 4), v([3, 1]), True),
        S(f(3, 2, 4), v([2, 3]), False)],
    "_pad_packed_sequence": [S(f(5, 4), v([2, 2, 1]), False, 0.0, 3), S(f(5, 4), v([2, 2, 1]), True, -1.0, 4)],
}  # fmt: skip
