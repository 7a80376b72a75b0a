"""Modules and examples that ONNX can say, for the tests of export."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import nn
from taeda._higher_order_ops import map as map_
from taeda._higher_order_ops import scan, while_loop
from taeda.export import Dim
from taeda.nn import functional as F

r = taeda.randn


class Call(nn.Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def written(x):
    y = x * 2
    y.add_(1)
    y[:, 0] = 5.0
    return y


def pointwise(x, y):
    z = (x.sin() + y.cos() * 2 - 1) / (x.abs() + 1) ** 2 + taeda.where(x > y, x, y).clamp(-1, 1)
    z = z + taeda.logaddexp(x, y) + taeda.addcmul(x, y, y) + taeda.lerp(x, y, 0.3) + F.hardswish(x) + F.silu(y)
    return z + taeda.sinc(x) + taeda.erfc(x) + taeda.expm1(x) + taeda.log1p(y.abs()) + F.softsign(x) + F.elu(y)


PROGRAMS: dict[str, Any] = {
    "cnn": (
        nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(8, 5),
        ),
        (r(2, 3, 16, 16),),
    ),
    "lstm": (nn.LSTM(4, 5, 2, batch_first=True, bidirectional=True), (r(2, 3, 4),)),
    "gru": (nn.GRU(4, 5, 2), (r(3, 2, 4),)),
    "rnn": (nn.RNN(4, 5), (r(3, 2, 4),)),
    "transformer": (nn.Transformer(16, 2, 2, 2, 32, batch_first=True), (r(2, 5, 16), r(2, 6, 16))),
    "norms": (
        nn.Sequential(nn.LayerNorm(6), nn.GELU(), nn.GroupNorm(2, 4), nn.InstanceNorm1d(4, affine=True)),
        (r(2, 4, 6),),
    ),
    "embedding": (nn.Embedding(10, 4), (taeda.tensor([[1, 2], [3, 4]]),)),
    "pointwise": (Call(pointwise), (r(3, 4), r(3, 4))),
    "index": (
        Call(
            lambda x: (
                x[:, 1:],
                x[0],
                x[..., ::2],
                x[:, [0, 2]],
                x[x > 0].sum(),
                x[[0, 2], [1, 1]],
                x.gather(1, taeda.tensor([[0, 1], [1, 0], [2, 2]])),
            )
        ),
        (r(3, 4),),
    ),
    "shape": (
        Call(
            lambda x: (
                x.view(x.shape[0], -1),
                x.transpose(1, 2).reshape(-1, x.shape[1]),
                x.permute(2, 0, 1).flatten(1),
                x.unsqueeze(1).expand(-1, 2, -1, -1),
                taeda.stack([x, x], 1),
                taeda.cat([x, x * 2], -1),
                x.repeat(2, 1, 1),
            )
        ),
        (r(2, 3, 4),),
    ),
    "split": (
        Call(
            lambda x: (
                x.split(2, 1),
                x.chunk(3, 1),
                x.unbind(0),
                x.split([1, 5], 1),
                x.narrow(1, 1, 3),
                x.roll(1, 1),
                x.flip(1),
                x.tril(),
                x.triu(1),
            )
        ),
        (r(3, 6),),
    ),
    "reduce": (
        Call(
            lambda x: (
                x.sum(1),
                x.mean(-1, keepdim=True),
                x.max(1),
                x.min(),
                x.amax((0, 1)),
                x.argmax(1),
                x.var(1),
                x.std(),
                x.norm(),
                x.prod(1),
                x.logsumexp(1),
                x.any(),
                (x > 0).all(1),
                x.cumsum(1),
                x.softmax(0),
                x.topk(2, 1),
                x.sort(1),
            )
        ),
        (r(3, 6),),
    ),
    "interpolate": (
        Call(
            lambda x: (
                F.interpolate(x, scale_factor=2),
                F.interpolate(x, size=(7, 9), mode="bilinear"),
                F.interpolate(x, size=(7, 9), mode="bilinear", align_corners=True),
                F.interpolate(x, scale_factor=2, mode="bicubic"),
            )
        ),
        (r(1, 2, 5, 6),),
    ),
    "pad": (
        Call(
            lambda x: (
                F.pad(x, (1, 2)),
                F.pad(x, (1, 1, 2, 0), value=3.0),
                F.pad(x, (1, 1, 1, 1), mode="reflect"),
                F.pad(x, (1, 1, 1, 1), mode="replicate"),
                F.pad(x, (1, 1, 1, 1), mode="circular"),
            )
        ),
        (r(1, 2, 5, 6),),
    ),
    "pool": (
        Call(
            lambda x: (
                F.avg_pool2d(x, 2),
                F.avg_pool2d(x, 3, 1, 1, count_include_pad=False),
                F.max_pool2d(x, 3, 2, 1, return_indices=True),
                F.adaptive_avg_pool2d(x, (3, 3)),
            )
        ),
        (r(1, 2, 6, 6),),
    ),
    "convolutions": (
        nn.Sequential(
            nn.ConvTranspose2d(3, 4, 3, 2, 1, 1),
            nn.Conv2d(4, 4, 3, padding="same", groups=2),
            nn.PReLU(4),
            nn.PixelShuffle(2),
        ),
        (r(1, 3, 5, 5),),
    ),
    "create": (
        Call(
            lambda x: (
                taeda.zeros(x.shape[0], 3) + 1,
                taeda.arange(x.shape[0]),
                taeda.ones_like(x),
                x.new_zeros(2, x.shape[0]),
                taeda.eye(3),
            )
        ),
        (r(2, 3),),
    ),
    "written": (Call(written), (r(2, 3),)),
    "half": (nn.Sequential(nn.Linear(4, 4), nn.ReLU()).half(), (r(2, 4).half(),)),
    "cond": (Call(lambda x: taeda.cond(x.sum() > 0, lambda a: a.sin() + 1, lambda a: a.cos() * 2, (x,))), (r(3),)),
    "while": (
        Call(lambda x: while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, a * 2), (taeda.tensor(0), x))),
        (r(3),),
    ),
    "scan": (
        Call(lambda x, y: (map_(lambda a, b: a + b, x, y), scan(lambda c, a: (c + a, c * a), x[0], x))),
        (r(3, 2), r(2)),
    ),
    "attention": (
        Call(
            lambda q, k, v: (
                F.scaled_dot_product_attention(q, k, v, is_causal=True),
                F.scaled_dot_product_attention(q, k, v, taeda.ones(5, 5).tril().bool()),
            )
        ),
        (r(2, 2, 5, 4), r(2, 2, 5, 4), r(2, 2, 5, 4)),
    ),
}
NEWER: dict[str, Any] = {
    "scatter": (
        Call(
            lambda x: (
                x.scatter(1, taeda.tensor([[0], [1]]), 2.0),
                x.masked_fill(x > 0, 0.0),
                x.scatter_add(1, taeda.tensor([[0, 1], [1, 1]]), taeda.ones(2, 2)),
                x.index_put((taeda.tensor([0]), taeda.tensor([1])), taeda.tensor([9.0])),
                F.one_hot(taeda.tensor([1, 2]), 4),
            )
        ),
        (r(2, 3),),
    ),
    "einsum": (
        Call(
            lambda x, y: (
                taeda.einsum("bij,bkj->bik", x, y),
                taeda.bmm(x, y.mT),
                taeda.baddbmm(x @ y.mT, x, y.mT, beta=0.5),
            )
        ),
        (r(2, 3, 4), r(2, 5, 4)),
    ),
    "whole": (
        Call(lambda x: (x // 2, x % 3, x * 2.5, x / 2, x.float(), x >> 1, x & 1, ~x, -x, x**2, x == 1)),
        (taeda.tensor([5, -3, 8]),),
    ),
    "losses": (
        Call(
            lambda x, t: (
                F.cross_entropy(x, t),
                F.mse_loss(x, x * 2),
                F.smooth_l1_loss(x, x * 2),
                F.binary_cross_entropy_with_logits(x, x.sigmoid()),
                F.nll_loss(x, t, reduction="none"),
            )
        ),
        (r(3, 4), taeda.tensor([0, 1, 2])),
    ),
    "others": (
        Call(
            lambda x: (
                F.glu(x),
                F.normalize(x),
                taeda.cdist(x, x),
                F.cosine_similarity(x, x * 2),
                x.repeat_interleave(2, 1),
                taeda.meshgrid(x[0], x[1], indexing="ij"),
                x.diagonal(),
                x.trace(),
                F.unfold(x.view(1, 1, 4, 4), 2),
                taeda.outer(x[0], x[1]),
                taeda.cross(x[:, :3], x[:, 1:], 1),
            )
        ),
        (r(4, 4),),
    ),
}
b, t = Dim("b"), Dim("t")
# How sizes vary, and a second example.
VARYING: dict[str, Any] = {
    "cnn": (({0: b},), (r(5, 3, 16, 16),)),
    "lstm": (({0: b, 1: t},), (r(3, 7, 4),)),
    "transformer": (({0: b, 1: t}, {0: b, 1: Dim("u")}), (r(3, 4, 16), r(3, 9, 16))),
    "shape": (({0: b},), (r(5, 3, 4),)),
    "create": (({0: b},), (r(4, 3),)),
    "cond": (({0: b},), (-taeda.ones(5),)),
    "scan": (({0: b}, None), (r(5, 2), r(2))),
}
