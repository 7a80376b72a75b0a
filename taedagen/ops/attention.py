"""Scaled dot-product attention."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, b, f


@composite(
    "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, "
    "bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
    module="nn",
    files="attention",
    autocast="lower",
    draws=True,
)
def scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa):
    """``softmax(query @ key.mT * scale + mask) @ value`` for query (N, ..., L, E), key (N, ..., S, E), value (N, ...,
    S, E_v).

    ``attn_mask`` is added, or where it is bool says what takes part; it broadcasts to (N, ..., L, S). ``is_causal``:
    query i sees keys 0 to i. ``scale`` defaults to ``1 / sqrt(E)``. With ``enable_gqa`` several query heads share a
    key head.
    """


scaled_dot_product_attention.samples([
    S(f(2, 3, 4), f(2, 5, 4), f(2, 5, 6)), S(f(2, 2, 3, 4), f(2, 2, 3, 4), f(2, 2, 3, 4), None, 0.0, True),
    S(f(2, 3, 4), f(2, 5, 4), f(2, 5, 4), b(3, 5)), S(f(2, 3, 4), f(2, 5, 4), f(2, 5, 4), f(3, 5), scale=0.3),
])  # fmt: skip


@kernel(
    "attention_rows(Tensor query, Tensor key, Tensor value, Tensor? bias, bool is_causal, float scale) -> (Tensor "
    "output, Tensor logsumexp)",
    shape="attention",
    files="attention",
    nondiff="logsumexp",
    unbound=True,
    batch="attention",
    flops="2 * prod(query[:-1]) * key[-2] * (query[-1] + value[-1])",
)
def attention_rows(query, key, value, bias, is_causal, scale):
    """Attention over (N, H, length, E) a block of query rows at a time, so that (L, S) is never stored."""


@attention_rows.backward
def _(grad, query, key, value, bias, output, logsumexp, is_causal, scale):
    g = op.attention_backward(grad, query, key, value, bias, output, logsumexp, is_causal, scale)
    return {"query": g[0], "key": g[1], "value": g[2]}


@composite(
    "attention_backward(Tensor grad, Tensor query, Tensor key, Tensor value, Tensor? bias, Tensor output, Tensor "
    "logsumexp, "
    "bool is_causal, float scale) -> (Tensor, Tensor, Tensor)",
    files="attention",
    unbound=True,
)
def attention_backward(grad, query, key, value, bias, output, logsumexp, is_causal, scale):
    """The gradients of ``attention_rows``, written with differentiable ops where they are differentiated again."""


@kernel(
    "attention_grads(Tensor grad, Tensor query, Tensor key, Tensor value, Tensor? bias, Tensor output, Tensor "
    "logsumexp, bool is_causal, "
    "float scale) -> (Tensor, Tensor, Tensor)",
    shape="attention_grads",
    files="attention",
    unbound=True,
    not_differentiable=True,
    batch="attention",
    flops="2 * prod(query[:-1]) * key[-2] * (3 * query[-1] + 2 * value[-1])",
)
def attention_grads(grad, query, key, value, bias, output, logsumexp, is_causal, scale):
    """The fused form of ``attention_backward``."""
