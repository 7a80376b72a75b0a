"""Softmax, norms, losses, pooling, attention, padding and resizing beside PyTorch's, and their gradients."""

import pytest
from twin import check

import taeda
from taeda.autograd import gradcheck, gradgradcheck


def numbers(T, *sizes, scale=1.0):
    """Distinct values without a pattern, the same in both libraries."""
    count = 1
    for size in sizes:
        count *= size
    return T.sin(T.arange(float(count), dtype=T.float64) * 2.3 + 0.1).reshape(sizes) * scale


def single(T, *sizes):
    return numbers(T, *sizes).to(T.float32)


def image(T, *sizes):
    return single(T, *sizes).to(memory_format=T.channels_last)


def nn(T):
    return T._C._nn


CASES = {
    "softmax": lambda T: T.softmax(numbers(T, 3, 70), 1),
    "softmax of columns": lambda T: T.softmax(single(T, 2, 5, 70), 1),
    "softmax of a transpose": lambda T: T.softmax(single(T, 4, 5).t(), -1),
    "softmax to float64": lambda T: T.softmax(T.arange(4), 0, dtype=T.float64),
    "softmax of -inf": lambda T: T.softmax(T.tensor([[-float("inf")] * 2, [0.0, -float("inf")]]), 1),
    "softmax of nothing": lambda T: T.softmax(T.ones(0, 3), 0),
    "softmax of integers": lambda T: T.softmax(T.arange(3), 0),
    "softmax, no such dimension": lambda T: T.softmax(T.ones(3), 1),
    "log_softmax": lambda T: T.log_softmax(single(T, 3, 33), 1),
    "log_softmax of a scalar": lambda T: T.log_softmax(T.tensor(2.0), 0),
    "layer_norm": lambda T: T.layer_norm(single(T, 4, 3, 5), [3, 5], single(T, 3, 5), single(T, 3, 5)),
    "layer_norm, other shape": lambda T: T.layer_norm(single(T, 4, 3), [4]),
    "rms_norm": lambda T: T.rms_norm(single(T, 4, 33), [33], single(T, 33)),
    "group_norm": lambda T: T.group_norm(single(T, 2, 6, 5), 3, single(T, 6), single(T, 6)),
    "group_norm, uneven": lambda T: T.group_norm(single(T, 2, 5, 5), 3),
    "instance_norm": lambda T: T.instance_norm(single(T, 2, 3, 5), None, None, None, None, True, 0.1, 1e-5, True),
    "batch_norm": lambda T: T.batch_norm(single(T, 4, 3, 5), single(T, 3), None, None, None, True, 0.1, 1e-5, True),
    "batch_norm, channels last": lambda T: T.batch_norm(
        image(T, 2, 3, 4, 5), None, None, T.zeros(3), T.ones(3), True, 0.1, 1e-5, True
    ),
    "batch_norm, eval": lambda T: T.batch_norm(
        single(T, 4, 3), None, None, T.zeros(3), T.ones(3), False, 0.1, 1e-5, True
    ),
    "batch_norm, half": lambda T: T.batch_norm(
        single(T, 4, 3).to(T.bfloat16), None, None, None, None, True, 0.1, 1e-5, True
    ),
    "renorm": lambda T: T.renorm(single(T, 3, 4), 2, 0, 1.0),
    "cosine_similarity": lambda T: T.cosine_similarity(single(T, 3, 4), single(T, 4), -1),
    "cross_entropy": lambda T: nn(T).cross_entropy_loss(single(T, 4, 7), T.tensor([1, 6, -100, 0]), None, 1),
    "cross_entropy, weighted": lambda T: nn(T).cross_entropy_loss(
        single(T, 3, 4, 2, 2), T.arange(12).reshape(3, 2, 2) % 4, single(T, 4).abs(), 1, -100, 0.1
    ),
    "cross_entropy, probabilities": lambda T: nn(T).cross_entropy_loss(single(T, 3, 4), single(T, 3, 4).abs(), None, 0),
    "cross_entropy, all ignored": lambda T: nn(T).cross_entropy_loss(single(T, 1, 4), T.tensor([-100]), None, 1),
    "cross_entropy, no such class": lambda T: nn(T).cross_entropy_loss(single(T, 1, 4), T.tensor([4]), None, 1),
    "cross_entropy, other batch": lambda T: nn(T).cross_entropy_loss(single(T, 1, 4), T.tensor([1, 2]), None, 1),
    "bce, not a probability": lambda T: nn(T).binary_cross_entropy(T.tensor([1.5]), T.tensor([1.0])),
    "multi_margin": lambda T: nn(T).multi_margin_loss(single(T, 3, 4), T.tensor([0, 3, 1]), 2, 1.0, None, 1),
    "multilabel_margin": lambda T: nn(T).multilabel_margin_loss(single(T, 2, 3), T.tensor([[2, -1, 0], [0, 1, -1]]), 1),
    "max_pool2d": lambda T: nn(T).max_pool2d_with_indices(single(T, 2, 3, 9, 8), [3, 2], [2, 2], [1, 1], [1, 2], True),
    "max_pool2d, channels last": lambda T: nn(T).max_pool2d_with_indices(image(T, 2, 3, 9, 8), [3, 3], [2, 2], [1, 1]),
    "max_pool2d of integers": lambda T: T.max_pool2d(T.arange(16).reshape(1, 4, 4), 2),
    "max_pool2d of NaN": lambda T: nn(T).max_pool2d_with_indices(single(T, 1, 4, 4).sqrt(), [2, 2]),
    "max_pool2d, too much padding": lambda T: T.max_pool2d(single(T, 1, 4, 4), 2, 2, 2),
    "max_pool2d, too large": lambda T: T.max_pool2d(single(T, 1, 4, 4), 5),
    "max_pool1d": lambda T: T.max_pool1d(single(T, 3, 9), 2),
    "max_pool1d, steps of 3": lambda T: T.max_pool1d(single(T, 3, 130), 3),
    "max_pool1d, steps of 5": lambda T: T.max_pool1d_with_indices(single(T, 3, 99), 4, 5),
    "max_pool2d, steps of 3": lambda T: nn(T).max_pool2d_with_indices(single(T, 2, 9, 70).round(), [3, 3], [3, 3]),
    "max_pool2d, steps of 3 and NaN": lambda T: nn(T).max_pool2d_with_indices(single(T, 9, 9, 70).sqrt(), [2, 3]),
    "max_pool2d, nothing inside": lambda T: nn(T).max_pool2d_with_indices(
        single(T, 1, 1, 5), [2, 1], 1, [1, 0], [2, 1]
    ),
    "max_pool3d": lambda T: nn(T).max_pool3d_with_indices(single(T, 2, 4, 5, 6), [2, 2, 2]),
    "avg_pool2d": lambda T: nn(T).avg_pool2d(single(T, 2, 3, 9, 8), [3, 2], [2, 2], [1, 1], True, False),
    "avg_pool2d, channels last": lambda T: nn(T).avg_pool2d(image(T, 2, 3, 9, 8), [3, 2], [2, 2], [1, 1], True),
    "avg_pool3d": lambda T: nn(T).avg_pool3d(single(T, 2, 4, 5, 6), [2, 2, 2], [1, 2, 2], [1, 0, 1], False, True, 3),
    "adaptive_avg_pool2d": lambda T: nn(T).adaptive_avg_pool2d(single(T, 2, 3, 9, 8), [4, 3]),
    "adaptive_max_pool2d": lambda T: nn(T).adaptive_max_pool2d(image(T, 2, 3, 9, 8), [4, 3]),
    "adaptive_avg_pool2d, long windows": lambda T: nn(T).adaptive_avg_pool2d(
        single(T, 2, 5, 70).transpose(1, 2), [3, 2]
    ),
    "adaptive_avg_pool2d, one column": lambda T: nn(T).adaptive_avg_pool2d(single(T, 1, 2, 50, 1), [4, 1]),
    "adaptive_avg_pool2d, more than there are": lambda T: nn(T).adaptive_avg_pool2d(single(T, 2, 3, 4), [5, 7]),
    "adaptive_avg_pool2d, no channels": lambda T: nn(T).adaptive_avg_pool2d(single(T, 2, 0, 4, 4), [2, 2]),
    "adaptive_avg_pool3d": lambda T: nn(T).adaptive_avg_pool3d(single(T, 2, 5, 6, 20), [2, 4, 1]),
    "adaptive_max_pool2d of ties": lambda T: nn(T).adaptive_max_pool2d(single(T, 2, 9, 20).round(), [4, 3]),
    "adaptive_max_pool2d of NaN": lambda T: nn(T).adaptive_max_pool2d(single(T, 2, 9, 8).sqrt(), [4, 3]),
    "adaptive_max_pool2d of -inf": lambda T: nn(T).adaptive_max_pool2d(T.full((1, 5, 4), -float("inf")), [2, 3]),
    "adaptive_max_pool2d of halves": lambda T: nn(T).adaptive_max_pool2d(single(T, 2, 9, 8).to(T.bfloat16), [2, 5]),
    "adaptive_max_pool3d": lambda T: nn(T).adaptive_max_pool3d(single(T, 2, 4, 5, 6), [3, 2, 4]),
    "max_unpool2d": lambda T: nn(T).max_unpool2d(single(T, 1, 1, 2), T.tensor([[[0, 5]]]), [2, 3]),
    "attention": lambda T: (
        nn(T)
        .scaled_dot_product_attention(single(T, 2, 3, 5, 4), single(T, 2, 3, 7, 4), single(T, 2, 3, 7, 6))
        .contiguous()
    ),
    "attention, causal": lambda T: (
        nn(T)
        .scaled_dot_product_attention(single(T, 3, 150, 4), single(T, 3, 140, 4), single(T, 3, 140, 4), is_causal=True)
        .contiguous()
    ),
    "attention, rows that see nothing": lambda T: (
        nn(T)
        .scaled_dot_product_attention(
            single(T, 1, 2, 4), single(T, 1, 3, 4), single(T, 1, 3, 4), T.tensor([[False] * 3, [True, False, True]])
        )
        .contiguous()
    ),
    "attention, mask and causal": lambda T: nn(T).scaled_dot_product_attention(
        single(T, 2, 4), single(T, 2, 4), single(T, 2, 4), T.ones(2, 2), is_causal=True
    ),
    "pad": lambda T: nn(T).pad(single(T, 2, 3, 4), [1, -1, 2, 0], "constant", 2.5),
    "pad, reflected": lambda T: nn(T).pad(single(T, 2, 3, 4), [2, 1], "reflect"),
    "pad, reflected too far": lambda T: nn(T).pad(single(T, 2, 3, 4), [4, 1], "reflect"),
    "pad, circular": lambda T: nn(T).pad(single(T, 2, 3, 4, 5), [2, 1, 0, 3], "circular"),
    "pixel_shuffle": lambda T: T.pixel_shuffle(single(T, 2, 8, 3, 2), 2),
    "nearest": lambda T: nn(T).upsample_nearest2d(single(T, 1, 2, 5, 4), None, [1.7, 0.6]),
    "bilinear": lambda T: nn(T).upsample_bilinear2d(single(T, 1, 2, 5, 4), [3, 9], False, None),
    "bicubic": lambda T: nn(T).upsample_bicubic2d(single(T, 1, 2, 5, 4), [8, 9], True, None),
    "anti-aliased": lambda T: nn(T)._upsample_bilinear2d_aa(single(T, 1, 2, 9, 8), [3, 5], False, None),
}


@pytest.mark.parametrize("name", CASES)
def test_as_pytorch(name):
    check(CASES[name], rtol=1e-2 if "half" in name else 2e-5)


_classes = taeda.tensor([1, 2, -100])
GRADIENTS = {
    "softmax": (lambda x: taeda.softmax(x, 1), (3, 4)),
    "log_softmax of columns": (lambda x: taeda.log_softmax(x, 0), (3, 4)),
    "layer_norm": (lambda x, w, b: taeda.layer_norm(x, [4], w, b), (3, 4), (4,), (4,)),
    "rms_norm": (lambda x, w: taeda.rms_norm(x, [4], w), (3, 4), (4,)),
    "group_norm": (lambda x, w, b: taeda.group_norm(x, 2, w, b), (2, 4, 3), (4,), (4,)),
    "batch_norm": (lambda x, w, b: taeda.batch_norm(x, w, b, None, None, True, 0.1, 1e-5, True), (3, 2, 2), (2,), (2,)),
    "cross_entropy": (lambda x: taeda._C._nn.cross_entropy_loss(x, _classes, None, 1), (3, 4)),
    "mse": (lambda x, y: taeda._C._nn.mse_loss(x, y), (3, 2), (3, 2)),
    "bce with logits": (lambda x, y: taeda.binary_cross_entropy_with_logits(x, y), (3, 2), (3, 2)),
    "max_pool2d": (lambda x: taeda.max_pool2d(x, 2, 1), (1, 4, 4)),
    "avg_pool2d": (lambda x: taeda._C._nn.avg_pool2d(x, [2, 2], [1, 1], [1, 1]), (1, 3, 4)),
    "adaptive_avg_pool2d": (lambda x: taeda._C._nn.adaptive_avg_pool2d(x, [2, 3]), (1, 3, 5)),
    "adaptive_avg_pool3d": (lambda x: taeda._C._nn.adaptive_avg_pool3d(x, [3, 2, 1]), (1, 2, 3, 4)),
    "attention": (
        lambda q, k, v: taeda._C._nn.scaled_dot_product_attention(q, k, v, is_causal=True),
        (2, 3, 2),
        (2, 4, 2),
        (2, 4, 2),
    ),
    "reflection": (lambda x: taeda._C._nn.pad(x, [2, 1], "reflect"), (2, 3)),
    "bilinear": (lambda x: taeda._C._nn.upsample_bilinear2d(x, [4, 2], False, None), (1, 1, 3, 3)),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name):
    function, *shapes = GRADIENTS[name]
    inputs = [numbers(taeda, *shape).requires_grad_() for shape in shapes]
    assert gradcheck(function, inputs)
    assert gradgradcheck(function, inputs)


def test_running_statistics_move_and_are_counted_as_written():
    mean, var = taeda.zeros(2), taeda.ones(2)
    before = mean._version, var._version
    taeda.batch_norm(taeda.tensor([[1.0, 2.0], [3.0, 6.0]]), None, None, mean, var, True, 0.5, 1e-5, True)
    assert mean.tolist() == [1.0, 2.0] and var.tolist() == [1.5, 4.5]
    assert (mean._version, var._version) == (before[0] + 1, before[1] + 1)


def test_results_do_not_depend_on_threads():
    def run():
        x = single(taeda, 64, 32, 20, 20).requires_grad_()
        w = taeda.ones(32, requires_grad=True)
        taeda.batch_norm(x, w, None, None, None, True, 0.1, 1e-5, True).square().sum().backward()
        return x.grad, w.grad

    threads = taeda.get_num_threads()
    try:
        taeda.set_num_threads(1)
        one = run()
        taeda.set_num_threads(2)
        assert all(taeda.equal(a, b) for a, b in zip(one, run(), strict=True))
    finally:
        taeda.set_num_threads(threads)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("include_last", [False, True])
@pytest.mark.parametrize("padding_idx", [None, 1])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("recorded", [False, True])
def test_embedding_bag(dtype, mode, include_last, padding_idx, weighted, recorded):
    """Bags of 2, 0, 3 and 1 rows: what each op of the family gives, and the gradients."""

    def case(T):
        weight = numbers(T, 6, 5).to(getattr(T, dtype)).requires_grad_(recorded)
        indices = T.tensor([1, 4, 0, 1, 5, 2])
        offsets = T.tensor([0, 2, 2, 5] + [6] * include_last, dtype=T.int32)
        samples = numbers(T, 6).to(weight.dtype).requires_grad_(recorded) if weighted else None
        results = T.embedding_bag(weight, indices, offsets, False, mode, False, samples, include_last, padding_idx)
        if not recorded:
            return results
        inputs = [weight, samples] if weighted else [weight]
        return results, T.autograd.grad((results[0] * results[0]).sum(), inputs)

    check(case, rtol=2e-2 if dtype == "bfloat16" else 2e-5)


@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.parametrize("dtype", [taeda.float32, taeda.float64])
def test_indices_after_the_last_bag_have_no_gradient(mode, dtype):
    weight = taeda.ones(4, 2, dtype=dtype, requires_grad=True)
    bags = taeda.embedding_bag(
        weight, taeda.tensor([0, 1, 3, 3]), taeda.tensor([0, 1, 2]), mode=mode, include_last_offset=True
    )
    bags[0].sum().backward()
    assert weight.grad.tolist() == [[1.0, 1.0], [1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("training", [False, True])
def test_statistics_that_norms_return(dtype, training):
    def case(T):
        x, w, wide = (numbers(T, *s).to(getattr(T, dtype)) for s in ((2, 4, 3), (4,), (4,)))
        if dtype == "float16":
            wide = wide.float()
        aten = T.ops.aten
        return [
            aten.native_batch_norm(x, w, w, w.clone(), w.clone().abs(), training, 0.1, 1e-5),
            aten.native_batch_norm(x, wide, wide, wide.clone(), wide.clone().abs(), training, 0.1, 1e-5),
            aten.native_group_norm(x, w, w, 2, 4, 3, 2, 1e-5),
            aten.native_group_norm(x, wide, wide, 2, 4, 3, 2, 1e-5),
            aten.native_layer_norm(x, [4, 3], None, None, 1e-5),
        ]

    check(case, rtol=2e-2 if dtype == "float16" else 2e-5)


STATISTICS = {
    "group_norm": lambda x: taeda.ops.aten.native_group_norm(x, None, None, 2, 4, 3, 2, 1e-5),
    "its statistics alone": lambda x: taeda.ops.aten.native_group_norm(x, None, None, 2, 4, 3, 2, 1e-5)[1:],
    "rms_norm": lambda x: taeda.ops.aten._fused_rms_norm(x, [4, 3], None, 1e-5),
    "its root alone": lambda x: taeda.ops.aten._fused_rms_norm(x, [3], None, 1e-5)[1],
}


# Group norm is for real numbers.
@pytest.mark.parametrize(
    "name, dtype",
    [*((name, taeda.float64) for name in STATISTICS), *((name, taeda.complex128) for name in list(STATISTICS)[2:])],
)
def test_gradients_of_statistics(name, dtype):
    x = numbers(taeda, 2, 4, 3).to(dtype)
    x = (x + 0.5j * x.flip(0) if dtype.is_complex else x).requires_grad_()
    assert gradcheck(STATISTICS[name], [x])
    assert gradgradcheck(STATISTICS[name], [x])


@pytest.mark.parametrize("pool", ["avg", "max"])
@pytest.mark.parametrize("rank", [2, 3])
def test_adaptive_pools_of_no_channels(pool, rank):
    function = getattr(taeda.nn.functional, f"adaptive_{pool}_pool{rank}d")
    x = taeda.ones((0, *[4] * rank), requires_grad=True)
    y = function(x, 3)
    y.sum().backward()
    assert y.shape == (0, *[3] * rank) and x.grad.shape == x.shape
    with pytest.raises(RuntimeError, match="may be empty"):
        function(taeda.ones((2, 4, 0, *[4] * (rank - 1))), 3)
