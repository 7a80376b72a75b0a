"""At least a row for each family of ops, at sizes that fit in a cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from benchmarks.timing import Budget, Case, Row, compare

GROUP = "families of ops"
BUDGETS = {GROUP: Budget(0.8, 1.5)}

# Calls by the file in taedagen/ops that declares what they run, and transforms of functions.
_CALLS: dict[str, tuple[str, ...]] = {
    "activation": ("F.elu(x)", "F.hardtanh(x)", "F.mish(x)", "F.softplus(x)", "F.leaky_relu(x)"),
    "attention": ("F.multi_head_attention_forward(*attended)[0]",),
    "binary": ("x / y", "x ** 3", "T.atan2(x, y)", "n // 7", "x % 0.7", "T.lerp(x, y, 0.3)", "n + 1",
               "x.double() + 1"),
    "compare": ("n & 5", "x.clamp(-1, 1)", "T.maximum(x, y)", "x.isnan()", "T.logical_or(x > 0, y > 0)", "n == 3"),
    "complex_numbers": ("z * z", "z.abs()", "z.exp()", "T.polar(u, x)", "z.conj().real"),
    "conv": ("F.conv1d(lines, kernel)", "F.conv_transpose2d(images, filters)", "F.conv2d(images, deep, groups=16)",
             "F.conv3d(volumes, blocks)", "F.unfold(images, 3)"),
    "copy": ("x.clone()", "x.to(T.float64)", "n.to(T.float32)", "m.t().clone()", "x.fill_(1.5)",
             "images.contiguous(memory_format=T.channels_last)"),
    "create": ("T.zeros(65536)", "T.full((65536,), 2.5)", "T.empty(65536)", "T.ones_like(x)"),
    "ctc": ("F.ctc_loss(logs, targets, lengths, widths)",),
    "decompositions": ("T.linalg.cholesky(spd)", "T.linalg.qr(s)", "T.linalg.svd(s)", "T.linalg.eigh(spd)",
                       "T.linalg.eig(s)", "T.linalg.solve(s, s)", "T.linalg.inv(s)", "T.linalg.det(s)",
                       "T.linalg.lstsq(s, s)[0]", "T.linalg.pinv(s)", "T.linalg.matrix_exp(s)",
                       "T.linalg.svdvals(batch)", "T.linalg.inv(batch)"),
    "distance": ("T.cdist(m, m)", "F.pdist(s)"),
    "dropout": ("F.dropout(x, 0.5)",),
    "embedding": ("F.embedding(k % 256, m)", "F.embedding_bag(bags, m)"),
    "factors": ("T.geqrf(s)", "T.linalg.householder_product(s, s[0])"),
    "fft": ("T.stft(x, 400, return_complex=True, window=hann)",),
    "foreach": ("T._foreach_add(many, 1.0)", "T._foreach_norm(many)"),
    "grid_sampler": ("F.grid_sample(images, grid, align_corners=False)",
                     "F.affine_grid(theta, (8, 16, 32, 32), align_corners=False)"),
    "index": ("m[k % 256]", "x[n]", "x[x > 0]", "m.index_select(1, k % 256)", "m.index_add(0, k % 256, m[k % 256])",
              "x.index_put((n,), y)", "x.take(n)"),
    "join": ("T.cat([m, m])", "T.cat([m, m], 1)", "T.stack([m, m], 2)", "m.split(64)", "T.hstack([m, m])"),
    "linalg": ("T.bmm(batch, batch)", "T.einsum('bij,bkj->bik', batch, batch)", "T.dot(x, y)", "m @ m[0]",
               "T.addmm(m, m, m)", "T.linalg.norm(m)", "T.linalg.cross(triples, triples)", "T.outer(m[0], m[1])",
               "T.kron(s, s[:4, :4])", "T.linalg.multi_dot([m, m, m])"),
    "loss": ("F.mse_loss(x, y)", "F.smooth_l1_loss(x, y)", "F.binary_cross_entropy_with_logits(x, u)",
             "F.kl_div(x, u)", "F.nll_loss(m, k[:256] % 256)", "F.triplet_margin_loss(m, m + 1, m - 1)"),
    "mask": ("x.masked_fill(x > 0, 0.0)", "x.masked_select(x > 0)", "(x > 0).nonzero()"),
    "norm": ("F.group_norm(images, 4)", "F.instance_norm(images)", "F.rms_norm(m, (256,))", "F.normalize(m)",
             "F.local_response_norm(images, 3)", "F.cosine_similarity(m, m)"),
    "optim": ("T.optim.Adam(many, 1e-9).step()", "T.optim.SGD(many, 1e-9).step()"),
    "pad": ("F.pad(images, (1, 1, 1, 1), 'reflect')", "F.pad(images, (1, 1, 1, 1))", "F.pixel_shuffle(images, 2)"),
    "pool": ("F.adaptive_avg_pool2d(images, 7)", "F.max_pool1d(lines, 3)", "F.avg_pool3d(volumes, 2)",
             "F.adaptive_max_pool2d(images, 7)", "F.lp_pool2d(images, 2.0, 2)",
             "F.fractional_max_pool2d(images, 2, 16)"),
    "predicate": ("T.equal(x, x)", "T.allclose(x, x)"),
    "random": ("T.rand(65536)", "T.randn(65536)", "T.randint(100, (65536,))", "T.randperm(4096)", "T.bernoulli(u)",
               "T.multinomial(u[:4096], 100)", "T.empty(65536).exponential_()", "T.poisson(u[:4096] * 5)"),
    "ranges": ("T.arange(65536)", "T.linspace(0, 1, 65536)", "m.tril()", "T.eye(256)"),
    "rearrange": ("m.flip(0)", "m.flip(1)", "m.roll(3, 1)", "m.rot90()", "m.repeat(2, 2)", "k.repeat_interleave(3)"),
    "reduce": ("m.sum(1)", "m.mean(0)", "m.prod(1)", "m.amax(0)", "m.max(1)", "m.std(1)", "m.var(0)", "(m > 9).any()",
               "m.norm(dim=1)", "m.logsumexp(1)", "n.sum()", "(x > 0).sum()", "m.argmin(1)", "m.nansum(0)"),
    "reshape": ("m.t().reshape(-1)", "images.flatten(1)", "images.permute(0, 2, 3, 1).reshape(-1, 16)"),
    "rnn": ("gru(steps)[0]", "rnn(steps)[0]", "cell(steps[0])"),
    "scan": ("m.cumprod(1)", "m.cummax(1)", "m.cumsum(0)", "m.logcumsumexp(1)", "m.diff()"),
    "scatter": ("m.scatter(1, places, m)", "m.scatter_add(0, places, m)", "m.scatter_reduce(0, places, m, 'amax')"),
    "search": ("T.searchsorted(sorted, x)", "T.bucketize(x, sorted)", "T.bincount(k)", "T.histc(x, 100)",
               "T.isin(n, k)"),
    "segment": ("T.segment_reduce(x, 'sum', lengths=parts)",),
    "softmax": ("m.log_softmax(1)", "m.softmax(0)", "F.gumbel_softmax(m)"),
    "sort": ("x.sort()", "m.argsort(1)", "m.median(1)", "m.kthvalue(5, 1)", "x.quantile(0.3)", "k.unique()",
             "k.unique_consecutive()", "m.topk(3)", "m.mode(1)"),
    "special": ("T.special.bessel_j0(x)", "T.special.zeta(u + 2, u + 1)", "T.special.gammainc(u, u)",
                "T.special.i1e(x)"),
    "transforms": ("T.func.vmap(T.func.grad(wave))(triples[:1000])", "T.func.vmap(layer)(batch, batch[0])",
                   "T.func.jacrev(wave_of_s)(s[0])", "T.func.hessian(wave)(s[0])",
                   "T.func.vmap(T.func.grad(loss), (None, 0))(filters, images)"),
    "unary": ("x.sin()", "u.log()", "x.erf()", "x.round()", "x.abs()", "x.sigmoid()", "u.lgamma()", "u.digamma()",
              "x.erfinv()", "u.rsqrt()", "x.expm1()", "x.tan()", "u.log1p()", "n.abs()", "x.sign()", "x.frac()",
              "u.acos()"),
    "upsample": ("F.interpolate(images, scale_factor=2)", "F.interpolate(images, scale_factor=2, mode='bilinear')",
                 "F.interpolate(images, scale_factor=2, mode='bicubic')",
                 "F.interpolate(images, size=16, mode='area')"),
    "view": ("m.expand(8, 256, 256).sum((1, 2))", "m.unfold(1, 4, 2).sum(2)", "m.diagonal().sum()"),
    "weight_norm": ("T._weight_norm(m, m[:, :1])",),
    "windows": ("T.hann_window(4096)", "T.kaiser_window(4096)"),
}  # fmt: skip

# Why a row takes more than 1.5 of PyTorch's time.
_WHY = {
    "T.special.bessel_j0(x)": "libm's, right to nearly the last bit, one number at a time",
    "T.kron(s, s[:4, :4])": "broadcasts along rows of four elements",
    "T.special.gammainc(u, u)": "series in double, whatever the dtype, one number at a time",
}


def _operands(T: Any) -> dict[str, Any]:
    T.manual_seed(0)
    s, counts = T.randn(64, 64), T.randint(0, 9, (4096,))
    steps = T.randn(16, 8, 64)
    found = {
        "T": T, "F": T.nn.functional, "x": T.randn(65536), "y": T.randn(65536), "u": T.rand(65536),
        "n": T.randint(0, 65536, (65536,)), "k": T.randint(0, 1000, (1024,)), "m": T.randn(256, 256), "s": s,
        "spd": s @ s.T + 64 * T.eye(64), "batch": T.randn(32, 32, 32), "z": T.randn(32768, dtype=T.complex64),
        "lines": T.randn(8, 16, 512), "kernel": T.randn(16, 16, 5), "images": T.randn(8, 16, 32, 32),
        "filters": T.randn(16, 16, 3, 3), "deep": T.randn(16, 1, 3, 3), "volumes": T.randn(2, 4, 16, 16, 16),
        "blocks": T.randn(4, 4, 3, 3, 3), "logs": T.randn(50, 8, 20).log_softmax(2),
        "targets": T.randint(1, 20, (8, 12)), "lengths": T.full((8,), 50), "widths": T.full((8,), 12),
        "bags": T.randint(0, 256, (256, 8)), "hann": T.hann_window(400), "grid": T.rand(8, 32, 32, 2) * 2 - 1,
        "theta": T.randn(8, 2, 3), "triples": T.randn(8192, 3), "steps": steps, "sorted": T.randn(1000).sort()[0],
        "places": T.randint(0, 256, (256, 256)), "parts": T.cat([counts, 65536 - counts.sum().view(1)]),
        "many": [T.randn(500, requires_grad=True) for _ in range(50)], "gru": T.nn.GRU(64, 64),
        "rnn": T.nn.RNN(64, 64), "cell": T.nn.LSTMCell(64, 64),
    }  # fmt: skip
    for p in found["many"]:
        p.grad = T.ones_like(p)
    found["wave"] = lambda v: (v.sin() ** 2).sum()
    found["wave_of_s"] = lambda v: (s @ v).tanh()
    found["layer"] = lambda weight, v: (weight @ v).tanh()
    found["loss"] = lambda weight, image: T.nn.functional.conv2d(image[None], weight).relu().sum()
    q = T.randn(32, 4, 64)
    found["attended"] = (q, q, q, 64, 4, T.randn(192, 64), T.randn(192), None, None, False, 0.0, T.randn(64, 64), None)
    return found


def _case(call: str) -> Case:
    def make(T: Any) -> Callable[[], Any]:
        run = eval(f"lambda: {call}", _operands(T))

        def without_gradient() -> Any:
            with T.no_grad():
                return run()

        return without_gradient

    return make


def rows(quick: bool) -> list[Row]:
    """A row for each call, named after its family."""
    cases = [(f"{family}: {call}", _case(call)) for family, calls in _CALLS.items() for call in calls]
    found = compare(GROUP, cases, 1.5, rounds=3 if quick else 12)
    return [replace(row, why=_WHY.get(row.name.partition(": ")[2], "")) for row in found]
