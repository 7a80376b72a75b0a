"""Convolutions beside PyTorch's: values, layouts, gradients, and the same bits with any number of threads."""

import pytest
from twin import check

import taeda
from taeda.autograd import gradcheck, gradgradcheck

RTOL = {"float32": 2e-5, "complex64": 2e-5, "bfloat16": 3e-2, "float16": 5e-3}


def a(T, *sizes, dtype="float64"):
    count = 1
    for size in sizes:
        count *= size
    x = T.arange(count, dtype=T.float64)
    wave = T.sin(x * x + 1)
    return (wave + 1j * T.cos(x) if dtype.startswith("complex") else wave).reshape(sizes).to(getattr(T, dtype))


# input, weight, then keywords
CASES = [
    ("conv1d", (2, 3, 9), (4, 3, 3), {"padding": 1, "stride": 2}),
    ("conv1d", (3, 9), (4, 3, 2), {"padding": "same"}),
    ("conv1d", (2, 4, 9), (6, 2, 3), {"groups": 2, "dilation": 2}),
    ("conv2d", (2, 3, 8, 7), (4, 3, 3, 2), {}),
    ("conv2d", (3, 8, 7), (4, 3, 3, 3), {"padding": (1, 2), "stride": (2, 1)}),
    ("conv2d", (2, 4, 6, 6), (4, 1, 3, 3), {"padding": 1, "groups": 4}),
    ("conv2d", (2, 3, 8, 7), (4, 3, 2, 3), {"padding": "same", "dilation": 2}),
    ("conv2d", (2, 3, 8, 7), (4, 3, 2, 2), {"padding": "same"}),
    ("conv2d", (2, 3, 8, 7), (4, 3, 2, 2), {"padding": "valid"}),
    ("conv2d", (0, 3, 8, 7), (4, 3, 2, 2), {}),
    ("conv3d", (1, 2, 5, 6, 4), (3, 2, 2, 3, 1), {"padding": 1, "stride": 2}),
    ("conv_transpose1d", (2, 3, 5), (3, 4, 3), {"stride": 2, "output_padding": 1}),
    ("conv_transpose1d", (2, 3, 5), (3, 4, 2), {"dilation": 3, "output_padding": 2}),
    ("conv_transpose2d", (2, 4, 5, 4), (4, 3, 3, 2), {"stride": (2, 1), "padding": 1, "groups": 2}),
    ("conv_transpose2d", (4, 5, 4), (4, 3, 3, 2), {}),
    ("conv_transpose3d", (1, 2, 3, 3, 2), (2, 3, 2, 2, 2), {"stride": 2}),
]
IDS = [f"{name}-{'-'.join(map(str, keywords))}" for name, *_, keywords in CASES]


def channels(weight, name, keywords):
    return weight[1] * keywords.get("groups", 1) if "transpose" in name else weight[0]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "bfloat16", "float16"])
@pytest.mark.parametrize("name, x, w, keywords", CASES, ids=IDS)
def test_values(name, x, w, keywords, dtype):
    def case(T):
        bias = a(T, channels(w, name, keywords), dtype=dtype)
        return getattr(T.nn.functional, name)(a(T, *x, dtype=dtype), a(T, *w, dtype=dtype), bias, **keywords)

    check(case, rtol=RTOL.get(dtype, 1e-10), strides=0 not in x)


@pytest.mark.parametrize("name, x, w, keywords", CASES, ids=IDS)
def test_gradients_beside_torch(name, x, w, keywords):
    def case(T):
        leaves = [a(T, *s, dtype="float32").requires_grad_() for s in (x, w, (channels(w, name, keywords),))]
        y = getattr(T.nn.functional, name)(*leaves, **keywords)
        (y * a(T, *y.shape, dtype="float32")).sum().backward()
        return [leaf.grad for leaf in leaves]

    check(case, rtol=1e-4, strides=False)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize(
    "name, x, w, keywords", [c for c in CASES if 0 not in c[1]], ids=[i for i, c in zip(IDS, CASES) if 0 not in c[1]]
)
def test_second_gradients(name, x, w, keywords, dtype):
    leaves = tuple(a(taeda, *s, dtype=dtype).requires_grad_() for s in (x, w))
    f = lambda *t: getattr(taeda.nn.functional, name)(*t, **keywords)
    assert gradcheck(f, leaves, fast_mode=True) and gradgradcheck(f, leaves, fast_mode=True)


@pytest.mark.parametrize("input_last", [False, True])
@pytest.mark.parametrize("weight_last", [False, True])
def test_channels_last_results(input_last, weight_last):
    def case(T):
        x, w = a(T, 2, 3, 6, 5, dtype="float32"), a(T, 4, 3, 3, 3, dtype="float32")
        x = x.contiguous(memory_format=T.channels_last) if input_last else x
        w = w.contiguous(memory_format=T.channels_last) if weight_last else w
        return T.nn.functional.conv2d(x, w)

    check(case, rtol=1e-5)


# Work enough for pieces: even and odd batches, channels or groups cut as well, a channel count of its own padding.
PIECES = [
    ((4, 32, 20, 20), (64, 32, 3, 3), {}),
    ((7, 64, 9, 9), (32, 64, 3, 3), {"padding": 1}),
    ((5, 6, 24, 24), (10, 6, 5, 5), {"stride": 2}),
    ((3, 160, 6, 6), (192, 160, 3, 3), {"padding": 1}),
    ((3, 256, 10, 10), (256, 4, 3, 3), {"groups": 64}),
]


def gradients(x, w, keywords):
    x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
    y = taeda.nn.functional.conv2d(x, w, a(taeda, len(w), dtype="float64").to(x.dtype), **keywords)
    (y * y).sum().backward()
    return [y.detach(), x.grad, w.grad]


@pytest.mark.parametrize("sizes, weight_sizes, keywords", PIECES)
@pytest.mark.parametrize("layout", ["plain", "channels last", "gaps"])
def test_pieces_make_the_whole(sizes, weight_sizes, keywords, layout):
    x, w = a(taeda, *sizes), a(taeda, *weight_sizes)
    whole = gradients(x, w, keywords)  # in double, which is not cut
    x, w = x.float(), w.float()
    if layout == "channels last":
        x, w = (t.contiguous(memory_format=taeda.channels_last) for t in (x, w))
    if layout == "gaps":
        x, w = (taeda.stack([t, t], -1)[..., 0] for t in (x, w))
    for got, wanted in zip(gradients(x, w, keywords), whole):
        taeda.testing.assert_close(got, wanted.float(), rtol=0, atol=1e-5 * wanted.abs().max().item())


@pytest.mark.parametrize("sizes, weight_sizes, keywords", PIECES)
def test_the_bits_do_not_depend_on_threads(sizes, weight_sizes, keywords):
    x, w, m = (a(taeda, *s, dtype="float32") for s in (sizes, weight_sizes, (300, 200)))
    threads, results = taeda.get_num_threads(), []
    try:
        for count in (1, 2, 3):
            taeda.set_num_threads(count)
            results.append([*gradients(x, w, keywords), m @ m.t()])
    finally:
        taeda.set_num_threads(threads)
    for other in results[1:]:
        assert all(taeda.equal(p, q) for p, q in zip(results[0], other))


FOLDS = [((2, 3, 6, 7), {"kernel_size": (2, 3)}), ((3, 6, 7), {"kernel_size": 3, "padding": 1, "stride": 2}),
         ((2, 3, 6, 7), {"kernel_size": 2, "dilation": (2, 3), "stride": (1, 2)})]  # fmt: skip


@pytest.mark.parametrize("shape, keywords", FOLDS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "bfloat16"])
def test_unfold_and_fold(shape, keywords, dtype):
    check(lambda T: T.nn.functional.unfold(a(T, *shape, dtype=dtype), **keywords))
    check(
        lambda T: T.nn.functional.fold(
            T.nn.functional.unfold(a(T, *shape, dtype=dtype), **keywords), shape[-2:], **keywords
        ),
        rtol=RTOL.get(dtype, 1e-10),
    )


@pytest.mark.parametrize("shape, keywords", FOLDS)
def test_gradients_of_unfold_and_fold(shape, keywords):
    f = taeda.nn.functional
    x = a(taeda, *shape).requires_grad_()
    assert gradcheck(lambda t: f.unfold(t, **keywords), (x,)) and gradcheck(
        lambda t: f.fold(f.unfold(t, **keywords), shape[-2:], **keywords), (x,)
    )


ERRORS = [
    lambda f, T: f.conv2d(T.ones(2, 3, 8, 8), T.ones(4, 2, 3, 3)),
    lambda f, T: f.conv2d(T.ones(2, 3, 8), T.ones(4, 3, 3)),
    lambda f, T: f.conv2d(T.ones(2, 3, 2, 2), T.ones(4, 3, 3, 3)),
    lambda f, T: f.conv2d(T.ones(2, 3, 8, 8), T.ones(4, 3, 3, 3), T.ones(3)),
    lambda f, T: f.conv2d(T.ones(2, 3, 8, 8), T.ones(4, 3, 3, 3).double()),
    lambda f, T: f.conv2d(T.ones(2, 3, 8, 8), T.ones(4, 3, 3, 3), stride=0),
    lambda f, T: f.conv2d(T.ones(2, 3, 8, 8), T.ones(4, 3, 3, 3), padding=-1),
    lambda f, T: f.conv2d(T.ones(2, 4, 8, 8), T.ones(3, 2, 3, 3), groups=2),
    lambda f, T: f.conv2d(T.ones(2, 3, 8, 8), T.ones(4, 3, 3, 3), padding="same", stride=2),
    lambda f, T: f.conv2d(T.ones(2, 3, 8, 8).long(), T.ones(4, 3, 3, 3).long()),
    lambda f, T: f.conv_transpose2d(T.ones(2, 3, 8, 8), T.ones(3, 4, 3, 3), output_padding=1),
]


@pytest.mark.parametrize("case", ERRORS)
def test_errors(case):
    check(lambda T: case(T.nn.functional, T))


FAR = [{"stride": 2**33}, {"dilation": 2**33}, {"stride": 2**33, "dilation": 2**33, "padding": 1}]


@pytest.mark.parametrize("far", FAR, ids=range(len(FAR)))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_steps_that_are_never_taken_may_be_of_any_size(far, dtype):
    def case(library):
        kind = {"dtype": getattr(library, dtype), "requires_grad": True}
        x, w = library.ones(1, 2, 3, 3, **kind), library.ones(2, 2, 1, 1, **kind)
        one = library.nn.functional.conv2d(x, w, stride=5, **{k: v for k, v in far.items() if k == "dilation"})
        y = library.nn.functional.conv2d(x, w, **({"stride": 2**33} | far))
        (y.sum() + one.sum()).backward()
        return [y, x.grad, w.grad]

    check(case, strides=False)
