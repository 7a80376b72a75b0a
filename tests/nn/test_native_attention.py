"""The encoder's layers and attention as one call, against the modules whose parameters they take."""

from __future__ import annotations

import pytest

import taeda as torch
from taeda import nn
from taeda.nn.attention import SDPBackend, sdpa_kernel

N, L, E, H = 3, 4, 8, 2


def close(a, b):
    torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-4)


@pytest.fixture
def attention():
    torch.manual_seed(0)
    module = nn.MultiheadAttention(E, H, batch_first=True).eval()
    nn.init.normal_(module.in_proj_bias)
    nn.init.normal_(module.out_proj.bias)
    return module


def native(module, q, k, v, **kwargs):
    out = module.out_proj
    return torch._native_multi_head_attention(
        q, k, v, E, H, module.in_proj_weight, module.in_proj_bias, out.weight, out.bias, **kwargs
    )


@pytest.mark.parametrize("averaged", [False, True])
@pytest.mark.parametrize("kind", ["self", "encdec", "generic"])
def test_it_is_multihead_attention(attention, kind, averaged):
    q, k, v = torch.randn(3, N, L, E)
    k, v = {"self": (q, q), "encdec": (k, k), "generic": (k, v)}[kind]
    for a, b in zip(native(attention, q, k, v, average_attn_weights=averaged),
                    attention(q, k, v, average_attn_weights=averaged), strict=True):  # fmt: skip
        close(a, b)
    result, weights = native(attention, q, k, v, need_weights=False)
    close(result, attention(q, k, v)[0])
    assert weights is None


@pytest.mark.parametrize("kind", [0, 1, 2])
def test_masks(attention, kind):
    x = torch.randn(N, L, E)
    mask = torch.rand((L, L) if kind == 0 else (N, L) if kind == 1 else (N, H, L, L)) > 0.6
    mask[..., 0] = False
    how = {"key_padding_mask": mask} if kind == 1 else {"attn_mask": mask if kind == 0 else mask.flatten(0, 1)}
    wanted, weights = attention(x, x, x, **how)
    for needed in (False, True):
        got = native(attention, x, x, x, mask=mask, mask_type=kind, need_weights=needed)
        close(got[0], wanted)
    close(got[1], weights)


def test_nested_sequences_have_lengths_of_their_own(attention):
    parts = [torch.randn(length, E) for length in (2, 4, 1)]
    nested = torch.nested.nested_tensor(parts)
    result, weights = native(attention, nested, nested, nested)
    assert result.is_nested and weights.shape == (3, 4, 4)
    for part, row, weight in zip(parts, result.unbind(), weights, strict=True):
        one, its = attention(part[None], part[None], part[None])
        close(row, one[0])
        close(weight[: len(part), : len(part)], its[0])
        assert weight[len(part) :].eq(0).all() and weight[:, len(part) :].eq(0).all()


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_an_encoder_layer(activation, norm_first, nested):
    torch.manual_seed(1)
    layer = nn.TransformerEncoderLayer(E, H, 16, activation=activation, norm_first=norm_first, batch_first=True).eval()
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=0.5)
    x = torch.randn(N, L, E)
    given = torch.nested.nested_tensor([x[0], x[1, :2], x[2, :3]]) if nested else x
    attention, norms = layer.self_attn, (layer.norm1, layer.norm2)
    got = torch._transformer_encoder_layer_fwd(
        given, E, H, attention.in_proj_weight, attention.in_proj_bias, attention.out_proj.weight,
        attention.out_proj.bias, activation == "gelu", norm_first, layer.norm1.eps,
        *(p for norm in norms for p in (norm.weight, norm.bias)),
        *(p for linear in (layer.linear1, layer.linear2) for p in (linear.weight, linear.bias)),
    )  # fmt: skip
    for row, part in zip(got.unbind(), given.unbind(), strict=True):
        close(row, layer(part[None])[0])


def test_heads_of_packed_projections():
    qkv, bias = torch.randn(N, L, 3 * E), torch.randn(3 * E)
    q, k, v = torch._transform_bias_rescale_qkv(qkv, bias, H)
    plain = (qkv + bias).view(N, L, 3, H, E // H).permute(2, 0, 3, 1, 4)
    close(q, plain[0] / (E // H) ** 0.5)
    assert torch.equal(k, plain[1]) and torch.equal(v, plain[2]) and k.is_contiguous()


def test_what_does_not_fit_is_refused(attention):
    x, mask = torch.randn(N, L, E), torch.zeros(N, L, dtype=torch.bool)
    for q, kwargs in ((x[0], {}), (x[..., :4], {}), (x, {"mask": mask}), (x, {"mask": mask, "mask_type": 0}),
                      (x, {"mask": mask, "mask_type": 3})):  # fmt: skip
        with pytest.raises(RuntimeError, match="_native_multi_head_attention"):
            native(attention, q, q, q, **kwargs)
    with pytest.raises(RuntimeError, match="query, key and value"):
        native(attention, x, x[:, :2], x[:, :2])
    for qkv, bias, heads in ((x, torch.ones(E), 3), (x, torch.ones(E), 0), (x[..., :6], torch.ones(3), 1)):
        with pytest.raises(RuntimeError, match="_transform_bias_rescale_qkv"):
            torch._transform_bias_rescale_qkv(qkv, bias, heads)


def test_the_way_that_attention_takes():
    x = torch.randn(2, 3, 4, 8)
    plain = torch.zeros(4, 4)
    cases = [
        ((x, x, x), {}, 1), ((x[0], x[0], x[0]), {}, 0), ((x, x, x[..., :4]), {}, 0), ((x, x, x, plain), {}, 1),
        ((x, x, x, plain[None]), {}, 0), ((x, x, x, torch.zeros(4, 4, requires_grad=True)), {}, 0),
        ((x, x, x, None, 0.5), {}, 0), ((x, x[:, :1], x[:, :1]), {}, 0), ((x.mT, x.mT, x.mT), {}, 0),
        ((x, x[:, :1], x[:, :1]), {"enable_gqa": True}, 1), ((x, x.double(), x), {}, 0), ((x[:, :, :0], x, x), {}, 0),
    ]  # fmt: skip
    for args, kwargs, way in cases:
        assert torch._fused_sdp_choice(*args, **kwargs) == way
    with sdpa_kernel(SDPBackend.MATH):
        assert torch._fused_sdp_choice(x, x, x) == SDPBackend.MATH
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION), pytest.raises(RuntimeError, match="_fused_sdp_choice"):
        torch._fused_sdp_choice(x, x, x, dropout_p=0.5)
