"""Images whose channels come last: which results and gradients keep that layout, beside PyTorch."""

import pytest
from twin import check


def image(T, rank, size=4, channels=3):
    sizes = (2, channels, *(size,) * rank)
    count = 2 * channels * size**rank
    values = T.sin(T.arange(float(count), dtype=T.float32) * 2.3 + 0.1).reshape(sizes)
    return values.contiguous(memory_format=T.channels_last if rank == 2 else T.channels_last_3d)


def nn(T):
    return T.nn.functional


OPS = {
    "pad": lambda T, x, n: nn(T).pad(x, [1, 2] * n),
    "pad that cuts": lambda T, x, n: nn(T).pad(x, [-1, 1] * n, value=2.0),
    "reflect": lambda T, x, n: nn(T).pad(x, [1, 2] * n, "reflect"),
    "replicate": lambda T, x, n: nn(T).pad(x, [2, 1] * n, "replicate"),
    "circular": lambda T, x, n: nn(T).pad(x, [2, 1] * n, "circular"),
    "nearest": lambda T, x, n: nn(T).interpolate(x, size=[7] * n),
    "nearest of the same size": lambda T, x, n: nn(T).interpolate(x, size=[4] * n),
    "nearest-exact": lambda T, x, n: nn(T).interpolate(x, scale_factor=1.5, mode="nearest-exact"),
    "linear": lambda T, x, n: nn(T).interpolate(x, size=[7] * n, mode="bilinear" if n == 2 else "trilinear"),
    "group_norm": lambda T, x, n: nn(T).group_norm(x, 3),
    "batch_norm": lambda T, x, n: nn(T).batch_norm(x, None, None, training=True),
    "instance_norm": lambda T, x, n: nn(T).instance_norm(x),
    "avg_pool": lambda T, x, n: getattr(nn(T), f"avg_pool{n}d")(x, 2),
    "max_pool": lambda T, x, n: getattr(nn(T), f"max_pool{n}d")(x, 2),
    "adaptive_avg_pool": lambda T, x, n: getattr(nn(T), f"adaptive_avg_pool{n}d")(x, 3),
    "mean": lambda T, x, n: getattr(nn(T), f"adaptive_avg_pool{n}d")(x, 1),
    "adaptive_max_pool": lambda T, x, n: getattr(nn(T), f"adaptive_max_pool{n}d")(x, 3),
}
PLANES = {
    "bicubic": lambda T, x: nn(T).interpolate(x, size=[7, 3], mode="bicubic"),
    "anti-aliased": lambda T, x: nn(T).interpolate(x, size=[3, 2], mode="bilinear", antialias=True),
    "unpool": lambda T, x: nn(T).max_unpool2d(*nn(T).max_pool2d(x, 2, return_indices=True), 2),
    "pixel_shuffle": lambda T, x: nn(T).pixel_shuffle(T.cat([x, x, x, x], 1), 2),
    "pixel_unshuffle": lambda T, x: nn(T).pixel_unshuffle(x, 2),
    "bfloat16": lambda T, x: nn(T).adaptive_avg_pool2d(x.to(T.bfloat16), 3),
}


@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize("name", OPS)
def test_results_and_gradients(name, rank):
    def case(T):
        x = image(T, rank).requires_grad_()
        y = OPS[name](T, x, rank)
        (grad,) = T.autograd.grad((y * y).sum(), x)
        free = "norm" in name or ("nearest" in name and rank == 3)  # PyTorch follows no rule there
        strides = None if free else tuple(grad.stride())
        return y, grad.contiguous(), strides

    check(case, rtol=2e-5)


@pytest.mark.parametrize("name", PLANES)
def test_planes(name):
    check(lambda T: PLANES[name](T, image(T, 2)), rtol=1e-2 if name == "bfloat16" else 2e-5)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("size", [[9, 5], [3, 12], [4, 4], [1, 2]])
@pytest.mark.parametrize(
    "mode, antialias",
    [("nearest", False), ("bilinear", False), ("bilinear", True), ("bicubic", False), ("bicubic", True)],
)
def test_bytes(mode, size, antialias, last):
    def case(T):
        x = (image(T, 2, 6) * 127 + 128).to(T.uint8)
        options = {"antialias": True} if antialias else {}
        return nn(T).interpolate(x if last else x.contiguous(), size=size, mode=mode, **options)

    check(case)


@pytest.mark.parametrize("heads_inside", [False, True])
@pytest.mark.parametrize("width", [4, 6])
def test_attention_is_laid_out_as_the_query(heads_inside, width):
    def case(T):
        def rows(length, width):
            values = T.sin(T.arange(2.0 * 3 * length * width))
            return (
                values.reshape(2, length, 3, width).transpose(1, 2)
                if heads_inside
                else values.reshape(2, 3, length, width)
            )

        return nn(T).scaled_dot_product_attention(rows(5, 4), rows(7, 4), rows(7, width))

    check(case, rtol=2e-5)
