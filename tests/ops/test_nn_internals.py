"""The parts of derivatives, called directly with arguments that do not go together: they raise."""

import pytest

import taeda
from taeda import float64, int64

aten = taeda.ops.aten


def f(*sizes, dtype=taeda.float32):
    return taeda.ones(sizes, dtype=dtype)


def rnn(gates=None, hx=None, cells=None, batch_sizes=(2, 1)):
    state = f(2, 4) if hx is None else hx
    gates = f(3, 16) if gates is None else gates
    cells = f(3, 4) if cells is None else cells
    return [
        *(f(3, 4), state, state, f(3, 5), state, state, f(16, 5), f(16, 4), None, None, list(batch_sizes), False),
        *("lstm", f(3, 4), cells, gates, [True] * 5 + [False] * 2),
    ]


BAD = {
    "convolution_weight_grad": [
        (f(2, 4, 3), f(2, 6, 5), [3], [1], [0], [1], 0),
        (f(2, 4, 3), f(2, 6, 5), [3], [1], [0], [1], 4),
        (f(2, 4), f(2, 6, 5), [3], [1], [0], [1], 1),
        (f(2, 4, 30), f(2, 6, 5), [3], [1], [0], [1], 1),
        (f(2, 4, 3), f(2, 6, 5), [9], [1], [0], [1], 1),
        (f(2, 4, 3), f(2, 6, 5), [3], [0], [0], [1], 1),
        (f(2, 4, 3), f(2, 6, 5, dtype=float64), [3], [1], [0], [1], 1),
        (f(2), f(2), [3], [1], [0], [1], 1),
    ],
    "convolution_weight_grad_backward": [
        (f(4, 6, 3), f(2, 4), f(2, 6, 5), [1], [0], [1], 1, [True, True]),
        (f(4, 6), f(2, 4, 3), f(2, 6, 5), [1], [0], [1], 1, [True, True]),
        (f(4, 6, 3), f(2, 4, 3), f(2, 6, 5), [1], [0], [1], 0, [True, True]),
    ],
    "convolution_backward": [
        (f(2, 4), f(2, 6, 5), f(4, 6, 3), None, [1], [0], [1], False, [0], 1, [True] * 3),
        (f(2, 4, 3), f(2, 6, 5), f(4, 6), None, [1], [0], [1], False, [0], 1, [True] * 3),
        (f(2, 4, 3), f(2, 6, 5), f(4, 6, 3), None, [1], [0], [1], False, [0], 0, [True] * 3),
    ],
    "im2col_backward": [(f(4, 1), [], [2, 2], [1, 1], [0, 0], [1, 1])],
    "layer_norm_grads": [
        (f(3, 4), f(2, 4), [4], f(2, 1), f(2, 1), None, [True] * 3),
        (f(2, 4), f(2, 4), [5], f(2, 1), f(2, 1), None, [True] * 3),
        (f(2, 4), f(2, 4), [4], f(1, 1), f(2, 1), None, [True] * 3),
        (f(2, 4), f(2, 4), [4], f(2, 1), f(2, 1, dtype=float64), None, [True] * 3),
        (f(2, 4), f(2, 4), [4], f(2, 1), f(2, 1), f(3), [True] * 3),
        (f(2, 4, dtype=int64), f(2, 4, dtype=int64), [4], f(2, 1), f(2, 1), None, [True] * 3),
    ],
    "group_norm_grads": [
        (f(2, 4), f(2, 4), f(2, 2), f(2, 2), None, 0, [True] * 3),
        (f(2, 4), f(2, 4), f(2, 2), f(2, 2), None, 3, [True] * 3),
        (f(2, 4), f(2, 4), f(2, 1), f(2, 2), None, 2, [True] * 3),
        (f(4), f(4), f(2, 2), f(2, 2), None, 2, [True] * 3),
        (f(2, 4), f(2, 4), f(2, 2), f(2, 2), f(3), 2, [True] * 3),
    ],
    "group_norm_backward": [
        (f(2, 4), None, None, f(2, 4), f(2, 2), f(2, 2), None, 0, 1e-5, [True] * 3),
        (f(2, 4), f(2, 2), None, f(2, 4), f(2, 2), f(2, 2), None, 0, 1e-5, [True] * 3),
    ],
    "batch_norm_grads": [
        (f(2, 4), f(2, 4), None, f(3), f(4), True, [True] * 3),
        (f(2, 3), f(2, 4), None, f(4), f(4), True, [True] * 3),
        (f(4), f(4), None, f(4), f(4), True, [True] * 3),
    ],
    "max_pool_backward": [
        (f(1, 1, 1, 1), f(1, 1, 1, 1, dtype=int64) * 9, [1, 1, 2, 2], 2),
        (f(1, 1, 1, 1), f(1, 1, 1, 1, dtype=int64), [1, 1, 2, 2], 5),
        (f(1, 1, 1, 1), f(1, 1, 1, 1, dtype=int64), [1, 2, 2, 2], 2),
        (f(1, 1, 1, 1), f(1, 1, 1, 1, dtype=int64), [2, 2], 2),
        (f(1), f(1, dtype=int64), [], 2),
    ],
    "avg_pool2d_gradient": [
        (f(1, 1, 1, 1), [1, 1, 9, 9], [2, 2], [], [0, 0], False, True, None),
        (f(1, 1), [1, 1, 9, 9], [2, 2], [], [0, 0], False, True, None),
        (f(1, 1, 1, 1), [], [2, 2], [], [0, 0], False, True, None),
    ],
    "adaptive_avg_pool_backward": [
        (f(1, 1, 1, 1), [1, 1], 2),
        (f(1, 1, 1, 1), [1, 2, 4, 4], 2),
        (f(1, 1, 1, 1), [1, 1, 4, 4], 7),
    ],
    "adaptive_avg_pool_again": [(f(1, 1, 4, 4), [1], 2), (f(1, 1, 4, 4), [1, 1], 9)],
    "pad_by_itself": [(f(1, 1, 4), [1, 1], 7, 0), (f(1, 1, 4), [1, 1], 0, 0), (f(1, 1, 4), [1, 1], 1, 9)],
    "pad_by_itself_backward": [
        (f(1, 1, 4), [1, 1, 9], [1, 1], 1, 0),
        (f(1, 1, 4), [], [1, 1], 1, 0),
        (f(1, 1, 4), [1, 1, 2], [1, 1], -1, 0),
    ],
    "resample": [
        (f(1, 1, 4), 7, 3, 0, False, None),
        (f(1, 1, 4), 2, -3, 0, False, None),
        (f(4), 0, 3, 99, False, None),
    ],
    "attention_grads": [
        (f(1, 1, 2, 3), f(1, 1, 2, 4), f(1, 1, 5, 4), f(1, 1, 5, 4), None, f(1, 1, 2, 4), f(1, 1, 2), False, 1.0),
        (f(1, 1, 2, 4), f(1, 1, 2, 4), f(1, 1, 5, 4), f(1, 1, 5, 4), None, f(1, 1, 2, 4), f(1), False, 1.0),
        (f(2, 4), f(2, 4), f(5, 4), f(5, 4), None, f(2, 4), f(2), False, 1.0),
    ],
    "nll_loss_backward": [
        (f(), f(2, 3), taeda.tensor([0, 1]), None, 0, -100, f()),
        (f(), f(2, 3), taeda.tensor([0]), None, 1, -100, f()),
        (f(), f(2, 3), taeda.tensor([0, 1]), None, 1, -100, f(0)),
        (f(), f(2, 3), taeda.tensor([0, 1]), f(9), 1, -100, f()),
    ],
    "cross_entropy_rows_backward": [
        (f(), f(2, 3), taeda.tensor([0, 1]), f(1), f(), 1, -100),
        (f(), f(2, 3), taeda.tensor([0, 1]), f(2), f(0), 1, -100),
        (f(2), f(2, 3), taeda.tensor([0, 1]), f(2), f(), 1, -100),
    ],
    "_rnn_layer_backward": [
        rnn(gates=f(3, 4)),
        rnn(gates=f(2, 16)),
        rnn(cells=f(0)),
        rnn(hx=f(4)),
        rnn(hx=f(2, 3)),
        rnn(batch_sizes=(1, 2)),
        rnn(batch_sizes=(2, 2)),
        rnn(gates=f(3, 16, dtype=float64)),
    ],
    "_embedding_bag_dense_backward": [
        (f(2, 3), taeda.tensor([1, 9]), taeda.tensor([0, 1]), f(2, dtype=int64), f(2, dtype=int64), 5, False, 0, None),
        (f(2, 3), taeda.tensor([1, 2]), taeda.tensor([0, 7]), f(2, dtype=int64), f(2, dtype=int64), 5, False, 0, None),
        (f(2, 3), taeda.tensor([1, 2]), taeda.tensor([0]), f(2, dtype=int64), f(2, dtype=int64), 5, False, 0, None),
        (f(3), taeda.tensor([1, 2]), taeda.tensor([0, 1]), f(2, dtype=int64), f(2, dtype=int64), 5, False, 0, None),
    ],
    "mm_backward_left": [(f(2), f(3, 4), [2, 3], [3, 1]), (f(2, 4), f(3), [2, 3], [3, 1]), (f(2, 4), f(3, 4), [], [])],
    "mm_backward_right": [(f(2), f(2, 3), [3, 4], [4, 1]), (f(2, 4), f(3), [3, 4], [4, 1]), (f(2, 4), f(2, 3), [], [])],
}


@pytest.mark.parametrize("name,index", [(name, i) for name, rows in BAD.items() for i in range(len(rows))])
def test_raises(name, index):
    with pytest.raises((RuntimeError, IndexError, ValueError)):
        getattr(aten, name)(*BAD[name][index])
