"""Attention by functions of queries and keys; each program tells the same story on both sides."""

from __future__ import annotations

import functools
import importlib
import math
from types import SimpleNamespace
from typing import Any

import pytest

import taeda

torch = pytest.importorskip("torch")

from nn_twin import assert_same, outcome, to_taeda  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

B, H, Q, K, E = 2, 4, 5, 7, 8


def submodule(p: Any) -> Any:
    return importlib.import_module(f"{p.__name__}.nn.attention.flex_attention")


@pytest.fixture(autouse=True)
def uncompiled(monkeypatch: Any) -> None:
    monkeypatch.setattr(submodule(torch), "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True)


def drawn(p: Any, dtype: str, seed: int, **shapes: Any) -> dict[str, Any]:
    """The same numbers on both sides, to be differentiated by."""
    torch.manual_seed(seed)
    numbers = {name: torch.randn(shape) for name, shape in shapes.items()}
    own = numbers if p is torch else to_taeda(numbers)
    return {name: x.to(getattr(p, dtype)).requires_grad_() for name, x in own.items()}


def captured(p: Any, dtype: str) -> SimpleNamespace:
    """What the functions below bring along."""
    floats = drawn(
        p, dtype, 0, slopes=H, bias=(H, Q, K), scores=(B, 1, Q, K), heads=(B, H, 1, 1), table=(20, 5), shift=()
    )
    doc = p.tensor([[0, 0, 1, 1, 1, 2, 2, 2], [1, 1, 1, 0, 0, 0, 2, 2]])
    return SimpleNamespace(**floats, doc=doc, prefix=p.tensor([3, 5]), order=p.arange(16, dtype=p.int32))


def in_place(p: Any, c: Any) -> Any:
    def score_mod(s: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
        s += c.slopes[h] * (i - j)
        s *= 2
        return s

    return score_mod


def step_by_step(p: Any, c: Any) -> Any:
    def score_mod(s: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
        return (s + c.scores[b][0][i][j]) * c.heads[b][h][0][0]

    return score_mod


SCORES: dict[str, Any] = {
    "identity": lambda p, c: lambda s, b, h, i, j: s,
    "alibi": lambda p, c: lambda s, b, h, i, j: s + c.slopes[h] * (j - i),
    "alibi by formula": lambda p, c: lambda s, b, h, i, j: s + p.exp2(-((h + 1) * 8.0 / H)) * (j - i),
    "alibi by power": lambda p, c: lambda s, b, h, i, j: s - 2 ** (-8 * (h + 1) / H) * (i - j).abs(),
    "soft cap": lambda p, c: lambda s, b, h, i, j: 20 * p.tanh(s / 20),
    "relative": lambda p, c: lambda s, b, h, i, j: s + c.bias[h, i, j],
    "distance": lambda p, c: lambda s, b, h, i, j: s + c.table[i - j + 8, h],
    "step by step": step_by_step,
    "in place": in_place,
    "causal": lambda p, c: lambda s, b, h, i, j: p.where(i >= j, s, -float("inf")),
    "causal by tensor": lambda p, c: lambda s, b, h, i, j: p.where(i >= j, s, p.tensor(-float("inf")).to(s)),
    "fill": lambda p, c: lambda s, b, h, i, j: s.masked_fill(i < j, -1e4).masked_fill(i == j, c.slopes[h]),
    "fill with a tensor": lambda p, c: lambda s, b, h, i, j: s.masked_fill(i < j, p.tensor(-9, dtype=p.float64)),
    "constant": lambda p, c: lambda s, b, h, i, j: p.ones((), dtype=s.dtype),
    "bool": lambda p, c: lambda s, b, h, i, j: i >= j,
    "reflected": lambda p, c: lambda s, b, h, i, j: (
        1 - s + (c.shift - s) + 1.5 / (s.abs() + 1) + 7 // (i + 1) + 7 % (j + 1) + (1 << h) + 2.0 ** (s / 9)
    ),
    "dot": lambda p, c: lambda s, b, h, i, j: s + (c.table[i] * c.table[j]).sum(),
    "dot of the last": lambda p, c: lambda s, b, h, i, j: s + (c.table[i] * c.table[j]).sum(-1),
    "matmul": lambda p, c: lambda s, b, h, i, j: s + c.table[i] @ c.table[j],
    "reductions": lambda p, c: lambda s, b, h, i, j: s + c.table[i + h].mean(dim=0) + c.table[j].amax() + s.sum(),
    "vector": lambda p, c: lambda s, b, h, i, j: (c.table[1] * s).sum(),
    "vector of another dtype": lambda p, c: lambda s, b, h, i, j: s + (p.ones(3).int() * s.double()).sum().to(s),
    "stack": lambda p, c: lambda s, b, h, i, j: p.stack([s, s * 2]).max(),
    "named results": lambda p, c: lambda s, b, h, i, j: (
        p.stack([s, -s]).max(0).values + p.stack([s, 0 * s]).sort()[0][0]
    ),
    "pairs": lambda p, c: lambda s, b, h, i, j: p.max(s, -s) + p.minimum(i, j) + p.where(i > j, s, p.zeros_like(s)),
    "clamp": lambda p, c: lambda s, b, h, i, j: s.clamp(min=c.shift) + p.clamp(s, max=c.slopes[h]) + s.clamp(-1, 1),
    "clamp by both": lambda p, c: lambda s, b, h, i, j: s.clamp(-1, p.tensor(1.0)),
    "ellipsis": lambda p, c: lambda s, b, h, i, j: s + c.bias[..., j][h, i].detach() + c.bias[h, ..., j][i].detach(),
    "slices": lambda p, c: lambda s, b, h, i, j: s + c.bias[h, :, j][i] + c.bias[h, 2:, j].sum(),
    "new dimensions": lambda p, c: lambda s, b, h, i, j: s + c.bias[None, h, i, None, j].sum(),
    "ints": lambda p, c: lambda s, b, h, i, j: s + c.bias[0, i, j] + c.bias[-1][i, 0] + c.table[i - 10, -1],
    "vector of places": lambda p, c: lambda s, b, h, i, j: s + c.table[i, c.prefix - 3].sum(),
    "scalar tensors": lambda p, c: lambda s, b, h, i, j: s + c.table[c.prefix[0]][c.prefix[1] - 2] * c.prefix[b],
    "int32": lambda p, c: lambda s, b, h, i, j: s + c.table[i.int(), 1] + c.table[c.order[j]].sum(),
    "select": lambda p, c: lambda s, b, h, i, j: s + p.index_select(c.table, 0, i.view(1)).sum(),
    "squeeze": lambda p, c: lambda s, b, h, i, j: (s.unsqueeze(0) * c.table[i]).squeeze(0).sum(),
    "matrix": lambda p, c: lambda s, b, h, i, j: s + c.bias[h].T[j, i] + c.bias[h].mT[j][i],
    "activations": lambda p, c: lambda s, b, h, i, j: p.nn.functional.gelu(s) + p.nn.functional.softplus(s),
    "shape": lambda p, c: lambda s, b, h, i, j: s * (1 + s.dim() + len(s.shape) + s.numel() + s.is_floating_point()),
    "new": lambda p, c: lambda s, b, h, i, j: s + s.new_tensor(3.0) + s.new_zeros(()) + s.new_full((2,), 1.0).sum(),
    "casts": lambda p, c: lambda s, b, h, i, j: s + i.to(s.dtype) + j.float() + h.to(s) + b.type_as(s),
    "isin": lambda p, c: lambda s, b, h, i, j: p.where(p.isin(i, c.prefix), s, s - 1),
    "argmax": lambda p, c: lambda s, b, h, i, j: s + c.table[i].argmax(),
    "partial": lambda p, c: functools.partial(lambda n, s, b, h, i, j: s * n, 3),
}  # fmt: skip

MASKS: dict[str, Any] = {
    "causal": lambda p, c: lambda b, h, i, j: i >= j,
    "window": lambda p, c: lambda b, h, i, j: (i >= j) & (i - j <= 2),
    "documents": lambda p, c: lambda b, h, i, j: c.doc[b, i] == c.doc[b, j],
    "documents step by step": lambda p, c: lambda b, h, i, j: c.doc[b][i] == c.doc[b][j],
    "documents of all": lambda p, c: lambda b, h, i, j: c.doc[0][i] == c.doc[0][j],
    "prefix": lambda p, c: lambda b, h, i, j: (j < c.prefix[b]) | (i >= j),
    "by head": lambda p, c: lambda b, h, i, j: (i - j).abs() <= h,
    "dilated": lambda p, c: lambda b, h, i, j: (i - j) % 2 == 0,
    "chunks": lambda p, c: lambda b, h, i, j: i // 3 == j // 3,
    "nothing": lambda p, c: lambda b, h, i, j: i < 0,
    "no first rows": lambda p, c: lambda b, h, i, j: (i > 2) & (i >= j),
    "padding": lambda p, c: lambda b, h, i, j: (c.doc > 0)[b, j],
    "constant": lambda p, c: lambda b, h, i, j: p.tensor(True),
    "logical": lambda p, c: lambda b, h, i, j: ~p.logical_or(i < j, i - j > 3),
    "noop": lambda p, c: submodule(p).noop_mask,
    "and": lambda p, c: submodule(p).and_masks(
        lambda b, h, i, j: i >= j, lambda b, h, i, j: c.doc[b, i] == c.doc[b, j]
    ),
    "or": lambda p, c: submodule(p).or_masks(lambda b, h, i, j: i == j, lambda b, h, i, j: j < c.prefix[b]),
    "and of none": lambda p, c: submodule(p).and_masks(),
    "or of none": lambda p, c: submodule(p).or_masks(),
}


def dense(qkv: list[Any], score_mod: Any, mask_mod: Any) -> tuple[Any, Any]:
    """Attention as it is defined; torch's own has no gradients on the CPU."""
    q, k, v = qkv
    work = torch.promote_types(q.dtype, torch.float32)
    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    scores = q.to(work) @ k.to(work).mT / math.sqrt(q.shape[-1])
    if score_mod is not None:
        for dims in (
            (0, None, None, None, 0),
            (0, None, None, 0, None),
            (0, None, 0, None, None),
            (0, 0, None, None, None),
        ):
            score_mod = torch.vmap(score_mod, dims)
        scores = score_mod(scores, *map(torch.arange, scores.shape)).to(work)
    if mask_mod is not None:
        scores = scores.masked_fill(~submodule(torch).create_mask(mask_mod, *scores.shape), -math.inf)
    idle = (scores == -math.inf).all(-1, keepdim=True)
    safe = scores.masked_fill(idle, 0.0)
    out = safe.softmax(-1).masked_fill(idle, 0.0).to(v.dtype) @ v
    return out, safe.logsumexp(-1).masked_fill(idle.squeeze(-1), -math.inf)


def gradients(p: Any, out: Any, lse: Any, wanted: list[Any]) -> list[Any]:
    weights = p.linspace(-1, 1, out.numel()).reshape(out.shape)
    loss = (out.float() * weights).sum() + p.where(lse == -math.inf, 0.0, lse).square().sum()
    return [
        p.zeros_like(x) if g is None else g for x, g in zip(wanted, p.autograd.grad(loss, wanted, allow_unused=True))
    ]


def told(p: Any, dtype: str, score: Any, mask: Any, kv_heads: int) -> list[Any]:
    """The output, its logarithms of sums, and the gradients of all that goes in."""
    c = captured(p, dtype)
    qkv = drawn(p, dtype, 1, q=(B, H, Q, E), k=(B, kv_heads, K, E), v=(B, kv_heads, K, 3))
    score_mod, mask_mod = score and score(p, c), mask and mask(p, c)
    if p is torch:
        out, lse = dense(list(qkv.values()), score_mod, mask_mod)
    else:
        blocks = mask_mod and submodule(p).create_block_mask(mask_mod, B, H, Q, K, BLOCK_SIZE=4)
        out, lse = submodule(p).flex_attention(
            *qkv.values(), score_mod, blocks, enable_gqa=kv_heads != H, return_lse=True
        )
    weights = p.linspace(-1, 1, out.numel()).reshape(out.shape)
    loss = (out.float() * weights).sum() + p.where(lse == -math.inf, 0.0, lse).square().sum()
    wanted = [*qkv.values(), *(x for x in vars(c).values() if x.is_floating_point())]
    grads = p.autograd.grad(loss, wanted, allow_unused=True)
    return [out, lse, *(p.zeros_like(x) if g is None else g for x, g in zip(wanted, grads))]


def compare(dtype: str, score: Any, mask: Any, kv_heads: int = H) -> None:
    ours, theirs = (told(p, dtype, score, mask, kv_heads) for p in (taeda, torch))
    assert [str(x.dtype) for x in ours] == [str(x.dtype) for x in theirs]
    tolerance = {"float64": 1e-9, "float32": 3e-5, "bfloat16": 5e-2}[dtype]
    if dtype == "bfloat16":
        ours, theirs = ([x.float() for x in result] for result in (ours, theirs))
    assert_same(ours, theirs, rtol=tolerance, atol=tolerance)


DTYPES = ("float64", "float32", "bfloat16")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SCORES)
def test_scores_and_gradients(name: str, dtype: str) -> None:
    compare(dtype, SCORES[name], None)


@pytest.mark.parametrize("kv_heads", [H, 2, 1])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", MASKS)
def test_masks_and_gradients(name: str, dtype: str, kv_heads: int) -> None:
    compare(dtype, SCORES["relative"] if kv_heads == 2 else None, MASKS[name], kv_heads)


@pytest.mark.parametrize("dtype", [*DTYPES, "float16"])
@pytest.mark.parametrize("name", ["causal", "no first rows", "documents"])
def test_forward_is_torchs(name: str, dtype: str) -> None:
    def program(p: Any) -> list[Any]:
        c = captured(p, dtype)
        qkv = [x.detach() for x in drawn(p, dtype, 1, q=(B, H, Q, E), k=(B, H, K, E), v=(B, H, K, 3)).values()]
        blocks = submodule(p).create_block_mask(MASKS[name](p, c), B, H, Q, K)
        bias = c.bias.detach()
        out, aux = submodule(p).flex_attention(
            *qkv, lambda s, b, h, i, j: s + bias[h, i, j], blocks, 0.3, return_aux=submodule(p).AuxRequest(lse=True)
        )
        assert aux.max_scores is None
        return [out.float(), aux.lse]

    tolerance = 1e-2 if dtype.endswith("16") else 1e-5
    assert_same(program(taeda), program(torch), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", MASKS)
def test_masks_as_tensors(name: str) -> None:
    ours, theirs = (
        submodule(p).create_mask(MASKS[name](p, captured(p, "float32")), B, H, Q, K) for p in (taeda, torch)
    )
    assert_same(ours, theirs)


@pytest.mark.parametrize("name", ["causal", "fill", "constant", "identity"])
def test_masks_of_scores(name: str) -> None:
    ours, theirs = (
        submodule(p).create_mask(SCORES[name](p, captured(p, "float32")), None, H, Q, K) for p in (taeda, torch)
    )
    assert_same(ours, theirs)


# Blocks

TENSORS = (
    "kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices", "q_num_blocks", "q_indices",
    "full_q_num_blocks", "full_q_indices", "dq_write_order", "dq_write_order_full",
)  # fmt: skip


def described(mask: Any) -> list[Any]:
    tensors = [getattr(mask, name) for name in TENSORS]
    rest = [list(mask.shape), list(mask.seq_lengths), list(mask.BLOCK_SIZE), mask.dq_kv_order_spt, mask.numel()]
    return [*tensors, *rest, round(mask.sparsity(), 6), mask.to_dense()]


def blocks_agree(program: Any) -> None:
    ours, theirs = described(program(taeda)), described(program(torch))
    assert [x is None for x in ours] == [x is None for x in theirs]
    assert_same([x for x in ours if x is not None], [x for x in theirs if x is not None])


def block_mask(p: Any, name: str = "causal", **options: Any) -> Any:
    given = {"B": B, "H": H, "Q_LEN": 30, "KV_LEN": 45, "BLOCK_SIZE": 8, **options}
    functions = {
        "causal": lambda b, h, i, j: i >= j,
        "window": lambda b, h, i, j: (i >= j) & (i - j < 12),
        "by head": lambda b, h, i, j: (i - j).abs() <= 6 * h + b,
        "nothing": lambda b, h, i, j: i < 0,
        "everything": submodule(p).noop_mask,
    }
    return submodule(p).create_block_mask(functions[name], **given)


@pytest.mark.parametrize("name", ["causal", "window", "by head", "nothing", "everything"])
@pytest.mark.parametrize(
    "options",
    [
        {}, {"BLOCK_SIZE": (4, 16)}, {"BLOCK_SIZE": 128}, {"separate_full_blocks": False}, {"B": None, "H": None},
        {"Q_LEN": 32, "KV_LEN": 48}, {"compute_dq_write_order": True}, {"_compile": False, "device": "cpu"},
        {"compute_dq_write_order": True, "dq_kv_order": False, "separate_full_blocks": False}, {"Q_LEN": 1},
    ],
    ids=str,
)  # fmt: skip
def test_blocks(name: str, options: dict[str, Any]) -> None:
    blocks_agree(lambda p: block_mask(p, name, **options))


INDICES: dict[str, Any] = {
    "batch": lambda p: 0, "head": lambda p: (0, 1), "heads": lambda p: (slice(None), slice(1, 3)),
    "row": lambda p: (0, 0, 0), "rows": lambda p: (slice(None), slice(None), slice(1, 3)),
    "last": lambda p: (-1, -1, -1),
    "tensor": lambda p: p.tensor([1, 0]), "in a tuple": lambda p: (p.tensor([1]), 2), "list": lambda p: [1, 0],
    "ellipsis": lambda p: ...,
}  # fmt: skip


@pytest.mark.parametrize("orders", [False, True])
@pytest.mark.parametrize("name", INDICES)
def test_parts(name: str, orders: bool) -> None:
    blocks_agree(lambda p: block_mask(p, "by head", compute_dq_write_order=orders)[INDICES[name](p)])


def test_a_part_needs_a_mask() -> None:
    part = block_mask(taeda)[0]
    q = taeda.randn(1, H, 30, 4)
    k = taeda.randn(1, H, 45, 4)
    with pytest.raises(RuntimeError, match="mask_mod"):
        submodule(taeda).flex_attention(q, k, k, block_mask=part)
    part.mask_mod = submodule(taeda).noop_mask
    assert submodule(taeda).flex_attention(q, k, k, block_mask=part).shape == q.shape


@pytest.mark.parametrize("lengths", [(30, 45), (16, 16), (8, 45), (30, 8)])
def test_shorter(lengths: tuple[int, int]) -> None:
    """The blocks of the same mask made for fewer; torch's lists those of some masks wrongly."""
    ours = block_mask(taeda, "window")._adjust(*lengths)
    theirs = block_mask(torch, "window", Q_LEN=lengths[0], KV_LEN=lengths[1])
    assert_same(ours.to_dense(), theirs.to_dense())
    assert ours.shape == theirs.shape and ours.mask_mod is not None


def test_longer_is_unknown() -> None:
    with pytest.raises(ValueError, match="not known"):
        block_mask(taeda)._adjust(60, 45)


def lists(p: Any, dtype: str = "int32") -> tuple[Any, Any]:
    kind = getattr(p, dtype)
    return p.tensor([[[1, 2]]], dtype=kind), p.tensor([[[[1, 0, 2], [0, 2, 1]]]], dtype=kind)


FROM_KV: dict[str, Any] = {
    "plain": lambda p, f: f(*lists(p)),
    "long": lambda p, f: f(*lists(p, "int64"), BLOCK_SIZE=4),
    "full": lambda p, f: f(*lists(p), *lists(p), BLOCK_SIZE=(3, 4), seq_lengths=(5, 11)),
    "without queries": lambda p, f: f(*lists(p), *lists(p), compute_q_blocks=False),
    "fewer dimensions": lambda p, f: f(*(x[0, 0] for x in lists(p)), BLOCK_SIZE=4),
    "order": lambda p, f: f(*lists(p), dq_kv_order=True, dq_write_order=lists(p)[1].mT),
    "without queries, in part": lambda p, f: f(*lists(p), compute_q_blocks=False)[0],
}


@pytest.mark.parametrize("name", FROM_KV)
def test_from_kv_blocks(name: str) -> None:
    blocks_agree(lambda p: FROM_KV[name](p, submodule(p).BlockMask.from_kv_blocks))


def test_tuples_and_devices() -> None:
    for flatten in (True, False):
        ours, theirs = (block_mask(p, "by head", compute_dq_write_order=True).as_tuple(flatten) for p in (taeda, torch))
        assert [type(x).__name__ for x in ours] == [type(x).__name__ for x in theirs]
        assert_same([x for x in ours[:-1] if x is not None], [x for x in theirs[:-1] if x is not None])
    moved = block_mask(taeda).to("meta")
    assert moved.kv_indices.device.type == moved.full_q_num_blocks.device.type == "meta"
    assert moved.shape == block_mask(taeda).shape


@pytest.mark.parametrize(
    "options", [{}, {"grid_size": 3}, {"grid_size": (2, -1)}, {"limit": 1}, {"grid_size": (3, 2), "limit": 99}], ids=str
)
def test_drawings(options: dict[str, Any]) -> None:
    def pictures(p: Any) -> list[str]:
        text = block_mask(p, "by head", BLOCK_SIZE=3).to_string(**options)
        return [line for line in text.splitlines() if not line.strip() or line[0] in " (░█"]

    ours, theirs = pictures(taeda), pictures(torch)
    assert [line for line in ours if line] == [line for line in theirs if line]


def test_text() -> None:
    mask = block_mask(taeda, B=None, H=None)
    assert str(mask).startswith("BlockMask(shape=(1, 1, 30, 45), sparsity=") and "██" in str(mask)
    assert "kv_indices=torch.Size([1, 1, 4, 6]),\n" in repr(mask) and "mask_mod=<lambda>" in repr(mask)


# Wrong calls


def attention(p: Any, *shapes: tuple[int, ...], **options: Any) -> Any:
    return submodule(p).flex_attention(*(p.ones(shape) for shape in shapes), **options).shape


def scored(function: Any) -> Any:
    return lambda p: attention(p, *[(1, 2, 3, 4)] * 3, score_mod=function(p))


def masked(function: Any) -> Any:
    return lambda p: submodule(p).create_mask(function(p), 1, 1, 3, 3).shape


def causal(p: Any, *sizes: Any) -> Any:
    return submodule(p).create_block_mask(lambda b, h, i, j: i >= j, *sizes)


ONE = (2, 4, 6, 8)
WRONG: dict[str, Any] = {
    "3 dimensions": lambda p: attention(p, ONE[1:], ONE[1:], ONE[1:]),
    "not a tensor": lambda p: submodule(p).flex_attention(p.ones(ONE), p.ones(ONE), 1),
    "heads": lambda p: attention(p, ONE, (2, 2, 6, 8), (2, 2, 6, 8)),
    "heads no multiple": lambda p: attention(p, ONE, (2, 3, 6, 8), (2, 3, 6, 8), enable_gqa=True),
    "more key heads": lambda p: attention(p, (2, 2, 6, 8), ONE, ONE, enable_gqa=True),
    "value heads": lambda p: attention(p, ONE, (2, 2, 6, 8), (2, 1, 6, 8), enable_gqa=True),
    "batch": lambda p: attention(p, ONE, (1, *ONE[1:]), (1, *ONE[1:])),
    "batch of queries": lambda p: attention(p, (1, *ONE[1:]), ONE, ONE),
    "batch and mask": lambda p: attention(p, ONE, (1, *ONE[1:]), (1, *ONE[1:]), block_mask=causal(p, 1, 1, 6, 6)),
    "keys of another batch": lambda p: attention(
        p, (4, *ONE[1:]), ONE, ONE, block_mask=causal(p, 4, 1, 6, 6)
    ),
    "batch of the mask": lambda p: attention(p, ONE, (1, *ONE[1:]), (1, *ONE[1:]), block_mask=causal(p, 2, 1, 6, 6)),
    "sizes": lambda p: attention(p, ONE, (2, 4, 6, 4), ONE),
    "lengths": lambda p: attention(p, ONE, ONE, (2, 4, 5, 8)),
    "size 0": lambda p: attention(p, (2, 4, 6, 0), (2, 4, 6, 0), ONE),
    "devices": lambda p: submodule(p).flex_attention(p.ones(ONE, device="meta"), p.ones(ONE), p.ones(ONE)),
    "device of the mask": lambda p: attention(p, ONE, ONE, ONE, block_mask=causal(p, 1, 1, 6, 6).to("meta")),
    "mask too long": lambda p: attention(p, ONE, ONE, ONE, block_mask=causal(p, 1, 1, 7, 6)),
    "mask too short": lambda p: attention(p, ONE, ONE, ONE, block_mask=causal(p, 1, 1, 6, 5)),
    "mask of any length": lambda p: attention(
        p, ONE, ONE, ONE, block_mask=submodule(p)._create_empty_block_mask(p.ones(ONE), p.ones(ONE))
    ),
    "not a mask": lambda p: attention(p, ONE, ONE, ONE, block_mask=p.ones(6, 6, dtype=p.bool)),
    "both": lambda p: attention(p, ONE, ONE, ONE, return_lse=True, return_aux=submodule(p).AuxRequest(lse=True)),
    "no request": lambda p: attention(p, ONE, ONE, ONE, return_aux=True),
    "kernel options": lambda p: attention(p, ONE, ONE, ONE, kernel_options={"BLOCK_M": 16, "BACKEND": "TRITON"}),
    "no queries": lambda p: attention(p, (2, 4, 0, 8), ONE, ONE),
    "no batches": lambda p: attention(p, *[(0, 4, 6, 8)] * 3),
    "int mask": lambda p: attention(
        p, ONE, ONE, ONE, block_mask=submodule(p).BlockMask.from_kv_blocks(
            *lists(p), mask_mod=lambda b, h, i, j: i - j, seq_lengths=(6, 6)
        )
    ),
    "score a number": scored(lambda p: lambda s, b, h, i, j: 1.0),
    "score nothing": scored(lambda p: lambda s, b, h, i, j: None),
    "score a vector": scored(lambda p: lambda s, b, h, i, j: p.stack([s, s])),
    "score of 4": scored(lambda p: lambda s, b, h, i: s),
    "score no function": scored(lambda p: "causal"),
    "branch": scored(lambda p: lambda s, b, h, i, j: s if i > j else -s),
    "max": scored(lambda p: lambda s, b, h, i, j: s * max(i, j)),
    "list": scored(lambda p: lambda s, b, h, i, j: s + [1, 2, 3][i]),
    "float": scored(lambda p: lambda s, b, h, i, j: s + float(i)),
    "item": scored(lambda p: lambda s, b, h, i, j: s + i.item()),
    "random": scored(lambda p: lambda s, b, h, i, j: s + p.rand(())),
    "random like": scored(lambda p: lambda s, b, h, i, j: s + p.rand_like(s)),
    "dropout": scored(lambda p: lambda s, b, h, i, j: p.nn.functional.dropout(s)),
    "write to the index": scored(lambda p: lambda s, b, h, i, j: i.add_(j)),
    "write to the score": scored(lambda p: lambda s, b, h, i, j: s.add_(j)),
    "write to a tensor": scored(lambda p: lambda s, b, h, i, j: p.zeros(()).add_(s)),
    "write a float to ints": scored(lambda p: lambda s, b, h, i, j: i.clone().add_(1.5)),
    "out of range": scored(lambda p: lambda s, b, h, i, j: s + p.arange(2)[i]),
    "too many indices": scored(lambda p: lambda s, b, h, i, j: s + p.arange(3)[i, j]),
    "float index": scored(lambda p: lambda s, b, h, i, j: s + p.arange(9)[i.float()]),
    "mask a bool": masked(lambda p: lambda b, h, i, j: True),
    "mask of 3": masked(lambda p: lambda b, h, i: i),
    "mask of any": masked(lambda p: lambda *a: a[0]),
    "mask with a default": masked(lambda p: lambda b, h, i, j, n=3: i - j < n),
    "mask by keyword": masked(lambda p: lambda b, h, i, j, *, n=3: i - j < n),
    "mask no function": masked(lambda p: 3),
    "mask and": masked(lambda p: lambda b, h, i, j: i >= j and i < 2),
    "mask chain": masked(lambda p: lambda b, h, i, j: 0 <= i - j <= 2),
    "mask membership": masked(lambda p: lambda b, h, i, j: p.tensor(i in (1, 2))),
    "mask slice": masked(lambda p: lambda b, h, i, j: p.arange(3)[i:j]),
    "all": masked(lambda p: lambda b, h, i, j: p.all(i > j) | (i == j).any()),
    "negative": lambda p: causal(p, 1, 1, -2, 2),
    "blocks of ints": lambda p: submodule(p).create_block_mask(lambda b, h, i, j: i, 1, 1, 3, 3),
    "blocks of scores": lambda p: submodule(p).create_block_mask(lambda s, b, h, i, j: s, 1, 1, 3, 3),
    "block size 0": lambda p: block_mask(p, BLOCK_SIZE=0),
    "3 block sizes": lambda p: block_mask(p, BLOCK_SIZE=(3, 3, 3)),
    "and of numbers": lambda p: submodule(p).and_masks(3),
    "or of nothing": lambda p: submodule(p).or_masks(submodule(p).noop_mask, None),
    "half of a pair": lambda p: submodule(p).BlockMask.from_kv_blocks(*lists(p), full_kv_num_blocks=lists(p)[0]),
    "1 dimension": lambda p: submodule(p).BlockMask.from_kv_blocks(p.tensor([1]), p.tensor([1])),
    "order of full only": lambda p: submodule(p).BlockMask.from_kv_blocks(*lists(p), dq_write_order_full=lists(p)[1]),
    "part of an order": lambda p: submodule(p).BlockMask.from_kv_blocks(*lists(p), dq_kv_order=lists(p)[0])[0],
    "length": lambda p: len(block_mask(p)),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_outcomes(name: str) -> None:
    ours, theirs = outcome(lambda: WRONG[name](taeda)), outcome(lambda: WRONG[name](torch))
    if isinstance(theirs, type):
        assert issubclass(ours, theirs)
    else:
        assert not isinstance(ours, type)


# What torch does not do


def test_no_keys() -> None:
    q, k = taeda.ones(1, 2, 3, 4), taeda.ones(1, 2, 0, 4)
    out, lse = submodule(taeda).flex_attention(q, k, k, return_lse=True)
    assert taeda.equal(out, taeda.zeros_like(q)) and taeda.equal(lse, taeda.full((1, 2, 3), -math.inf))


def test_largest_scores() -> None:
    q, k, v = (taeda.randn(1, 2, 5, 4, requires_grad=True) for _ in range(3))
    blocks = submodule(taeda).create_block_mask(lambda b, h, i, j: i > j, 1, 1, 5, 5)
    aux = submodule(taeda).flex_attention(
        q, k, v, block_mask=blocks, return_aux=submodule(taeda).AuxRequest(max_scores=True)
    )[1]
    scores = (q @ k.mT / 2).masked_fill(~taeda.ones(5, 5, dtype=taeda.bool).tril(-1), -math.inf)
    taeda.testing.assert_close(aux.max_scores, scores.amax(-1).detach())
    assert aux.lse is None and not aux.max_scores.requires_grad


def test_second_derivatives() -> None:
    qkv = [taeda.randn(1, 1, 3, 2, dtype=taeda.float64, requires_grad=True) for _ in range(3)]
    bias = taeda.randn(3, dtype=taeda.float64, requires_grad=True)

    def attend(q: Any, k: Any, v: Any, bias: Any) -> Any:
        return submodule(taeda).flex_attention(q, k, v, lambda s, b, h, i, j: s * bias[j])

    assert taeda.autograd.gradcheck(attend, (*qkv, bias)) and taeda.autograd.gradgradcheck(attend, (*qkv, bias))


def test_layout_is_the_querys() -> None:
    q = taeda.randn(2, 6, 4, 8).transpose(1, 2)
    k = taeda.randn(2, 4, 6, 8)
    assert submodule(taeda).flex_attention(q, k, k).stride() == q.stride()
    assert submodule(taeda).flex_attention(k, q, q).stride() == k.stride()


def test_what_a_function_sees() -> None:
    seen: list[Any] = []

    def mask_mod(b: Any, h: Any, i: Any, j: Any) -> Any:
        seen.append([(x.shape, x.dtype, x.dim(), str(x.device), x.requires_grad) for x in (b, h, i, j)])
        assert isinstance(i, taeda.Tensor) and "BatchedTensor" in f"{i}"
        return i >= j

    submodule(taeda).create_mask(mask_mod, 2, 3, 4, 5)
    assert seen == [[(taeda.Size(()), taeda.int64, 0, "cpu", False)] * 4]


def test_an_ellipsis_counts_from_the_rows() -> None:
    mask = block_mask(taeda, "by head")
    assert taeda.equal(mask[..., 2].to_dense(), mask[:, :, 2].to_dense())


def test_a_part_out_of_range() -> None:
    for index in (5, (0, -9), (0, 0, 0, 0), None):
        with pytest.raises(IndexError):
            block_mask(taeda)[index]
