"""Nested tensors beside their components: what a function gives for one is what it gives for each of them."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import taeda
from taeda import Tensor, nested, nn
from taeda.fx.experimental.symbolic_shapes import is_nested_int
from taeda.nested._internal.nested_tensor import NestedTensor, nested_from_padded
from taeda.nn import functional as F

LAYOUTS = [taeda.strided, taeda.jagged]
W = taeda.linspace(-1, 1, 12).view(3, 4)


def parts(seed: int = 0, dtype: taeda.dtype = taeda.float64) -> list[Tensor]:
    generator = taeda.Generator().manual_seed(seed)
    return [taeda.rand(n, 4, dtype=dtype, generator=generator) + 0.1 for n in (2, 5, 1)]


def nest(tensors: list[Tensor], layout: taeda.layout, **options: Any) -> Tensor:
    return nested.nested_tensor(tensors, layout=layout, **options)


# Of a component x, (n, 4); of the nested tensor the same with dimensions counted one further.
SAME: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "exp": (lambda x: x.exp(), lambda x: x.exp()),
    "numbers": (lambda x: 2 - x * 3 / 4, lambda x: 2 - x * 3 / 4),
    "reversed": (lambda x: 1 / (2**x), lambda x: 1 / (2**x)),
    "two": (lambda x: x * x + x, lambda x: x * x + x),
    "row": (lambda x: x + W[0], lambda x: x + W[0]),
    "comparison": (lambda x: x > 0.5, lambda x: x > 0.5),
    "where": (lambda x: taeda.where(x > 0.5, x, 0.0), lambda x: taeda.where(x > 0.5, x, 0.0)),
    "clamp": (lambda x: x.clamp(0.2, 0.7), lambda x: x.clamp(0.2, 0.7)),
    "gelu": (F.gelu, F.gelu),
    "to": (lambda x: x.to(taeda.float32), lambda x: x.to(taeda.float32)),
    "masked_fill": (lambda x: x.masked_fill(x > 0.5, 7), lambda x: x.masked_fill(x > 0.5, 7)),
    "linear": (lambda x: F.linear(x, W.double()), lambda x: F.linear(x, W.double())),
    "matmul": (lambda x: x @ W.double().T, lambda x: x @ W.double().T),
    "layer_norm": (lambda x: F.layer_norm(x, (4,)), lambda x: F.layer_norm(x, (4,))),
    "softmax": (lambda x: x.softmax(-1), lambda x: x.softmax(-1)),
    "softmax along": (lambda x: x.softmax(0), lambda x: x.softmax(1)),
    "cumsum": (lambda x: x.cumsum(0), lambda x: x.cumsum(1)),
    "sum": (lambda x: x.sum(-1), lambda x: x.sum(-1)),
    "sum, kept": (lambda x: x.sum(-1, keepdim=True), lambda x: x.sum(-1, keepdim=True)),
    "max": (lambda x: x.max(-1).values, lambda x: x.max(-1).values),
    "mean along": (lambda x: x.mean(0), lambda x: x.mean(1)),
    "amax of both": (lambda x: x.amax((0, 1)), lambda x: x.amax((1, 2))),
    "transpose": (lambda x: x.transpose(0, 1), lambda x: x.transpose(1, 2)),
    "permute": (lambda x: x.permute(1, 0), lambda x: x.permute(0, 2, 1)),
    "transposed, times": (lambda x: x.mT * 2 + x.mT, lambda x: x.transpose(1, 2) * 2 + x.transpose(1, 2)),
    "mT": (lambda x: x.mT + 1, lambda x: x.mT + 1),
    "movedim": (lambda x: x.movedim(0, 1), lambda x: x.movedim(1, 2)),
    "view_as": (lambda x: x.view_as(x * 2), lambda x: x.view_as(x * 2)),
    "expand_as": (lambda x: x.expand_as(x * 2), lambda x: x.expand_as(x * 2)),
    "norm": (lambda x: x.norm(dim=-1), lambda x: x.norm(dim=-1)),
    "norm along": (lambda x: x.norm(1, 0), lambda x: x.norm(1, 1)),
    "vector_norm": (lambda x: taeda.linalg.vector_norm(x, dim=-1), lambda x: taeda.linalg.vector_norm(x, dim=-1)),
    "normalize": (lambda x: F.normalize(x, dim=-1), lambda x: F.normalize(x, dim=-1)),
    "topk": (lambda x: x.topk(2, -1).values, lambda x: x.topk(2, -1).values),
    "roll": (lambda x: x.roll(1, 0), lambda x: x.roll(1, 1)),
    "repeat_interleave": (lambda x: x.repeat_interleave(2, -1), lambda x: x.repeat_interleave(2, -1)),
    "index_select": (lambda x: x.index_select(1, taeda.tensor([0, 2])),
                     lambda x: x.index_select(2, taeda.tensor([0, 2]))),
    "gather": (lambda x: x.gather(1, (x * 3).long()), lambda x: x.gather(2, (x * 3).long())),
    "diff": (lambda x: x.diff(), lambda x: x.diff()),
    "diff of rows": (lambda x: x.diff(dim=0), lambda x: x.diff(dim=1)),
    "pad": (lambda x: F.pad(x, (1, 2), value=3.0), lambda x: F.pad(x, (1, 2), value=3.0)),
    "tril": (lambda x: x.tril(), lambda x: x.tril()),
    "prelu": (lambda x: F.prelu(x - 0.5, W[0, :1].double()), lambda x: F.prelu(x - 0.5, W[0, :1].double())),
    "cosine": (lambda x: F.cosine_similarity(x, x + 1, dim=-1), lambda x: F.cosine_similarity(x, x + 1, dim=-1)),
    "losses": (lambda x: F.mse_loss(x, x * 2, reduction="none"), lambda x: F.mse_loss(x, x * 2, reduction="none")),
    "dsplit": (lambda x: x.hsplit(2)[1], lambda x: x.dsplit(2)[1]),
    "product with itself": (lambda x: x.mT @ x, lambda x: x.mT @ x),
    "norm of a component": (lambda x: F.layer_norm(x, x.shape), lambda x: _normalised(x)),
    "unflatten": (lambda x: x.unflatten(-1, [2, 2]), lambda x: x.unflatten(-1, [2, 2])),
    "heads": (lambda x: x.view(-1, 2, 2).transpose(0, 1), lambda x: x.view(3, -1, 2, 2).transpose(1, 2)),
    "heads, back": (lambda x: x.view(-1, 2, 2).transpose(0, 1).transpose(0, 1).reshape(-1, 4),
                    lambda x: x.view(3, -1, 2, 2).transpose(1, 2).transpose(1, 2).reshape(3, -1, 4)),
    "unsqueeze": (lambda x: x.unsqueeze(0), lambda x: x.unsqueeze(1)),
    "squeeze": (lambda x: x.unsqueeze(-1).squeeze(-1), lambda x: x.unsqueeze(-1).squeeze(-1)),
    "select": (lambda x: x.select(-1, 2), lambda x: x.select(-1, 2)),
    "first row": (lambda x: x[0], lambda x: x[:, 0]),
    "column": (lambda x: x[:, 1], lambda x: x[:, :, 1]),
    "rows": (lambda x: x[1:], lambda x: x[:, 1:]),
    "chunk": (lambda x: x.chunk(2, -1)[1], lambda x: x.chunk(2, -1)[1]),
    "cat": (lambda x: taeda.cat([x, x], -1), lambda x: taeda.cat([x, x], -1)),
    "cat along": (lambda x: taeda.cat([x, 2 * x], 0), lambda x: taeda.cat([x, 2 * x], 1)),
    "stack": (lambda x: taeda.stack([x, x], 1), lambda x: taeda.stack([x, x], 2)),
    "zeros_like": (taeda.zeros_like, taeda.zeros_like),
    "attention": (lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None]),
                  lambda x: F.scaled_dot_product_attention(x.unsqueeze(1), x.unsqueeze(1), x.unsqueeze(1))),
    "causal": (lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=True),
               lambda x: F.scaled_dot_product_attention(*[x.unsqueeze(1)] * 3, is_causal=True)),
}  # fmt: skip


def _normalised(x: Any) -> Any:
    """Of a strided one, which has no ragged size, by components."""
    if x.layout == taeda.jagged:
        return F.layer_norm(x, x.shape[1:])
    return nested.as_nested_tensor([F.layer_norm(part, part.shape) for part in x.unbind()])


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("name", SAME)
def test_is_that_of_the_components(name: str, layout: taeda.layout) -> None:
    alone, together = SAME[name]
    found = together(nest(parts(), layout)).unbind()
    for a, x in zip(found, parts(), strict=True):
        taeda.testing.assert_close(a, alone(x))


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("name", [n for n in SAME if n not in ("comparison", "zeros_like", "to")])
def test_gradients_are_those_of_the_components(name: str, layout: taeda.layout) -> None:
    alone, together = SAME[name]
    x = nest(parts(), layout, requires_grad=True)
    sum(part.square().sum() for part in together(x).unbind()).backward()
    for grad, part in zip(x.grad.unbind(), parts(), strict=True):
        leaf = part.requires_grad_()
        alone(leaf).square().sum().backward()
        taeda.testing.assert_close(grad, leaf.grad)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_facts(layout: taeda.layout) -> None:
    x = nest(parts(), layout)
    assert x.is_nested and x.layout == layout and x.dim() == 3 and len(x) == x.size(0) == 3 and x.size(-1) == 4
    assert x.numel() == 32 and x.dtype == taeda.float64 and x.is_contiguous() and not x.requires_grad and x.is_leaf
    assert taeda.equal(x, nest(parts(), layout)) and not taeda.equal(x, nest(parts(1), layout))
    for pair in ((x, parts()[0]), (parts()[0], x)):
        with pytest.raises(RuntimeError, match="nested"):
            taeda.is_same_size(*pair)
    assert x.is_same_size(x + 1) and [part.shape[0] for part in x] == [2, 5, 1]
    taeda.testing.assert_close(x.sum(), sum(part.sum() for part in parts()))
    with pytest.raises(RuntimeError, match="to_padded_tensor"):
        x.numpy()


def test_sizes_of_jagged_tensors() -> None:
    x = nest(parts(), taeda.jagged)
    length = x.size(1)
    assert str(x.shape) == f"torch.Size([3, {length}, 4])" and str(length).startswith("j")
    assert length == (x + 1).shape[1] and length != nest(parts(), taeda.jagged).shape[1] and length != 5
    assert str(2 * length) == f"2*{length}" and length >= 2 and not length < 1
    assert x.view(*x.shape[:2], 2, 2).shape == (3, length, 2, 2)
    assert (x._min_seqlen, x._max_seqlen) == (1, 5) and x.offsets().tolist() == [0, 2, 7, 8]
    with pytest.raises(RuntimeError, match="no single number"):
        range(length)
    with pytest.raises(RuntimeError, match="no number to calculate with"):
        x * length
    assert is_nested_int(length) and not is_nested_int(3)


def test_sizes_of_strided_tensors() -> None:
    x = nested.nested_tensor([taeda.ones(2, 3), taeda.ones(1, 4)])
    assert x._nested_tensor_size().tolist() == [[2, 3], [1, 4]]
    with pytest.raises(RuntimeError, match=r"dimension 1 is irregular: its sizes are \[1, 2\]"):
        x.size(1)
    with pytest.raises(RuntimeError, match="has no sizes"):
        x.shape  # noqa: B018


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_padding(layout: taeda.layout) -> None:
    x = nest(parts(), layout, requires_grad=True)
    padded = nested.to_padded_tensor(x, -1.0)
    assert padded.shape == (3, 5, 4) and bool((padded[2, 1:] == -1).all())
    assert x.to_padded_tensor(0.0, (4, 6, 5)).shape == (4, 6, 5)
    padded.sum().backward()
    assert all(bool((grad == 1).all()) for grad in x.grad.unbind())
    if layout == taeda.jagged:
        assert taeda.equal(x.to_padded_tensor(0.0, (3, 4, 4)), x.to_padded_tensor(0.0)[:, :4])
        assert taeda.equal(nested_from_padded(padded, x.offsets()), x)
    else:
        with pytest.raises(RuntimeError, match="smaller than the components"):
            x.to_padded_tensor(0.0, (3, 4, 4))
    with pytest.raises(RuntimeError, match="is for nested tensors"):
        taeda.ones(2).to_padded_tensor(0.0)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_rows_of_a_batch_broadcast(layout: taeda.layout) -> None:
    x, factors = nest(parts(), layout), taeda.arange(12.0, dtype=taeda.float64).view(3, 1, 4)
    for a, part, factor in zip((x * factors).unbind(), parts(), factors, strict=True):
        taeda.testing.assert_close(a, part * factor)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_in_place(layout: taeda.layout) -> None:
    x = nest(parts(), layout)
    y = x.clone()
    y += 1
    assert y.mul_(2) is y and x.detach().is_nested
    taeda.testing.assert_close(y[1], (parts()[1] + 1) * 2)
    taeda.testing.assert_close(x[1], parts()[1])
    y.copy_(x)
    assert taeda.equal(x, y)
    y[0, 1, 2], y[1:] = 7.0, -1.0
    assert y[0][1, 2] == 7 and bool((y[2] == -1).all()) and y.apply_(lambda v: v + 1)[2][0, 0] == 0
    assert bool((y.uniform_(2, 3)[1] >= 2).all()) and y.data_ptr() == y.detach().data_ptr()
    with pytest.raises(IndexError, match="of 3 components"):
        y[3] = 0.0


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_gradients_by_nested_tensors(layout: taeda.layout) -> None:
    x, w = nest(parts(), layout, requires_grad=True), taeda.ones(4, dtype=taeda.float64, requires_grad=True)
    gx, gw = taeda.autograd.grad((x * w).sum(), (x, w), create_graph=True)
    assert gx.is_nested and gx[1].shape == (5, 4)
    taeda.testing.assert_close(gw, sum(part.sum(0) for part in parts()))
    (again,) = taeda.autograd.grad(gx.sum(), w)
    taeda.testing.assert_close(again, taeda.full((4,), 8.0, dtype=taeda.float64))


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_an_op_may_have_another_gradient(layout: taeda.layout) -> None:
    for which, wanted in (((), 4.0), ((True,), 6.0)):
        x = nest(parts(), layout, requires_grad=True)
        (g,) = taeda.autograd.grad((taeda._test_autograd_multiple_dispatch(x, *which) * 2).sum(), x)
        assert bool((g[0] == wanted).all())
        plain = parts()[0].requires_grad_()
        taeda._test_autograd_multiple_dispatch(plain, *which).sum().backward()
        assert plain.grad is not None and bool((plain.grad == (1 if which else 2)).all())


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_itself_or_a_copy(layout: taeda.layout) -> None:
    x = nest(parts(), layout)
    assert x.to(x) is x and x.to(taeda.float64) is x and x.contiguous() is x and x.to("cpu") is x
    assert x.to(x.dtype, copy=True) is not x and x.float() is not x and x.mT.contiguous().is_contiguous()
    assert not x.is_shared() and x.share_memory_() is x and x.new_tensor([1]).dtype == taeda.float64
    chosen = x[[2, 0]]
    assert [part.shape[0] for part in chosen] == [1, 2]
    assert len(x[taeda.tensor([True, False, False])]) == 1


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_losses_are_those_of_all_elements(layout: taeda.layout) -> None:
    x, flat = nest(parts(), layout), taeda.cat(parts())
    for loss in (F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.binary_cross_entropy_with_logits):
        taeda.testing.assert_close(loss(x, x * 0.5), loss(flat, flat * 0.5))
    with pytest.raises(RuntimeError, match="must be nested"):
        F.mse_loss(x, flat)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_no_rule_is_said_as_pytorch_does(layout: taeda.layout) -> None:
    with pytest.raises(NotImplementedError, match="apply it to the components"):
        nest(parts(), layout).renorm(2, 1, 1.0)
    with pytest.raises(ValueError if layout == taeda.jagged else RuntimeError, match="dimension 0"):
        nest(parts(), layout).transpose(0, 1)


def test_no_components() -> None:
    x = nested.nested_tensor([], dtype=taeda.float64)
    assert repr(x) == "nested_tensor([\n\n])" and x.unbind() == () and (x + 1).dtype == taeda.float64
    assert nested.to_padded_tensor(x, 1.0).shape == (0,) and x.contiguous() is x


def test_components_keep_their_history() -> None:
    for layout in LAYOUTS:
        leaves = [part.requires_grad_() for part in parts()]
        (nested.as_nested_tensor(leaves, layout=layout) * 3).sum().backward()
        assert all(bool((leaf.grad == 3).all()) for leaf in leaves)
    x = nested.as_nested_tensor(taeda.ones(2, 3, 4), layout=taeda.jagged)
    assert x.values().shape == (6, 4) and nested.as_nested_tensor(x, layout=taeda.strided).layout == taeda.strided


def test_over_values_and_offsets() -> None:
    values, offsets = taeda.arange(12.0).view(6, 2), taeda.tensor([0, 2, 6])
    x = nested.nested_tensor_from_jagged(values, offsets)
    assert isinstance(x, NestedTensor) and x.values() is values and x.offsets() is offsets
    gaps = nested.nested_tensor_from_jagged(values, offsets, lengths=taeda.tensor([1, 3]))
    assert [part.shape[0] for part in gaps] == [1, 3] and gaps.sum() == values[:1].sum() + values[2:5].sum()
    more = gaps + 1
    assert more.values().shape == (6, 2) and more.lengths() is gaps.lengths() and more.shape == gaps.shape
    assert gaps.contiguous().values().shape == (4, 2) and gaps.clone().lengths() is gaps.lengths()
    assert nested.nested_tensor_from_jagged(values, lengths=taeda.tensor([1, 5])).offsets().tolist() == [0, 1, 6]
    second = nested.nested_tensor_from_jagged(values.view(2, 6), taeda.tensor([0, 2, 6]), jagged_dim=2)
    assert [part.shape for part in second] == [(2, 2), (2, 4)]
    assert taeda.equal(NestedTensor(second.values(), second.offsets(), _ragged_idx=2), second)
    for bad in ([0, 9], [3, 1, 6], [-1, 6]):
        with pytest.raises(RuntimeError, match="reach outside|fall"):
            nested.nested_tensor_from_jagged(values, taeda.tensor(bad))


def test_narrow_and_masked_select() -> None:
    x = taeda.arange(20.0).view(2, 10)
    for layout in LAYOUTS:
        found = nested.narrow(x, 1, taeda.tensor([0, 3]), taeda.tensor([2, 4]), layout=layout)
        assert [part.tolist() for part in found] == [[0, 1], [13, 14, 15, 16]]
    found = nested.masked_select(x, x % 3 == 0)
    assert [part.tolist() for part in found] == [[0, 3, 6, 9], [12, 15, 18]]
    found = nested.masked_select(x.view(2, 5, 2), (x % 4 == 0).view(2, 5, 2)[..., :1])
    assert len(found) == 10 and found.offsets().tolist() == [0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10]
    whole = nested.narrow(x, 1, taeda.tensor([4, 0]), taeda.tensor([6, 7]), layout=taeda.jagged)
    assert whole.is_contiguous() and whole.offsets().tolist() == [0, 6, 13] and whole.values().shape == (13,)
    with pytest.raises(RuntimeError, match="outside of 10"):
        nested.narrow(x, 1, 8, 3, layout=taeda.jagged)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_copies_and_files(layout: taeda.layout) -> None:
    x = nest(parts(), layout, requires_grad=True)
    file = io.BytesIO()
    taeda.save(x, file)
    file.seek(0)
    for made in (copy.deepcopy(x), pickle.loads(pickle.dumps(x)), taeda.load(file, weights_only=False)):
        assert taeda.equal(made.detach(), x.detach()) and made.requires_grad and made.layout == layout


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_encoder(layout: taeda.layout) -> None:
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, dtype=taeda.float64)
    model = nn.TransformerEncoder(layer, 2).eval()
    x = nest(parts(), layout, requires_grad=True)
    for a, part in zip(model(x).unbind(), parts(), strict=True):
        taeda.testing.assert_close(a, model(part[None])[0])
    model.train()(x).sum().backward()
    assert all(p.grad is not None for p in model.parameters()) and x.grad.is_nested
    assert model.layers[0].self_attn(x, x, x)[0].layout == layout


def test_from_mask() -> None:
    mask = taeda.tensor([[True, False], [True, True]])
    assert [part.shape[0] for part in taeda._nested_tensor_from_mask(taeda.ones(2, 2, 3), mask)] == [1, 2]
    with pytest.raises(RuntimeError, match="on the left"):
        taeda._nested_tensor_from_mask(taeda.ones(2, 2, 3), mask.flip(1))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: nested.nested_tensor(3), TypeError, "takes a list of tensors"),
        (lambda x: nested.nested_tensor([taeda.ones(2), taeda.ones(2, 2)]), RuntimeError, "one number of dimensions"),
        (lambda x: nested.nested_tensor([taeda.ones(2, 3), taeda.ones(1, 2)], layout=taeda.jagged), RuntimeError,
         "differ in one dimension"),
        (lambda x: x + nest(parts()[:2], taeda.jagged), RuntimeError, "other lengths"),
        (lambda x: x + nest(parts(), taeda.strided), RuntimeError, "layouts"),
        (lambda x: x + taeda.ones(8, 4), RuntimeError, "does not broadcast"),
        (lambda x: x.transpose(0, 1), ValueError, "which counts its components"),
        (lambda x: x.flatten(1, 2), RuntimeError, "hold the ragged one"),
        (lambda x: x.split(1, 1), RuntimeError, "the ragged one"),
        (lambda x: x.view(3, 8, -1, 4), RuntimeError, "shape|size|elements"),
        (lambda x: x.sum(0), RuntimeError, "only together with the ragged dimension"),
        (lambda x: x[3], IndexError, "component 3 of 3"),
        (lambda x: x.sum(5), IndexError, r"outside of \[-3, 2\]"),
        (lambda x: taeda.linalg.inv(x), RuntimeError, "takes no nested tensor"),
        (lambda x: F.linear(x.transpose(1, 2), W), RuntimeError, "ragged dimension"),
        (lambda x: x.tolist(), RuntimeError, "unbind"),
        (lambda x: F.linear(taeda.ones(2, 4), x), RuntimeError, "only the input may be nested"),
    ],
)  # fmt: skip
def test_mistakes(call: Callable[[Tensor], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(nest(parts(), taeda.jagged))


@pytest.mark.torch
def test_prints_as_pytorch_does() -> None:
    torch = pytest.importorskip("torch")
    mine, theirs = (m.nested.nested_tensor([m.ones(2), m.zeros(1)]) for m in (taeda, torch))
    assert repr(mine) == repr(theirs)
    mine, theirs = (m.nested.nested_tensor([m.ones(2), m.zeros(1)], layout=m.jagged) for m in (taeda, torch))
    assert str(theirs).partition("offsets")[2] == str(mine).partition("offsets")[2]


@pytest.mark.parametrize("keepdim", [False, True])
def test_ops_by_their_overloads(keepdim: bool) -> None:
    x = nest(parts(), taeda.jagged)
    aten = taeda.ops.aten
    assert taeda.equal(aten.sum.dim_IntList(x, [2], keepdim).values(), x.sum(2, keepdim).values())
    assert taeda.equal(aten.mean.dim(x, [1], keepdim), x.mean(1, keepdim))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("x", [taeda.tensor(3.0), taeda.ones(3)])
def test_rows_without_dimensions_are_no_components(x: Tensor, layout: taeda.layout) -> None:
    with pytest.raises(RuntimeError, match="must have a dimension"):
        nested.as_nested_tensor(x, layout=layout)


def test_views_of_values() -> None:
    whole, offsets = taeda.arange(12.0).view(6, 2).clone(), taeda.tensor([0, 2, 5])
    for values in (whole[:5], whole[1:]):
        x = nested.nested_tensor_from_jagged(values, offsets, max_seqlen=3)
        assert x._is_view() and x._base is whole and x._metadata_cache == {"max_seqlen": 3}
        again = x._view_func(whole + 100)
        assert taeda.equal(again.values(), values + 100) and again._metadata_cache == x._metadata_cache
    made = nest(parts(), taeda.jagged)
    assert not made._is_view() and made._base is None
    assert made._metadata_cache == {"min_seqlen": 1, "max_seqlen": 5}


def test_components_of_sizes_that_an_example_has() -> None:
    padded = taeda.arange(12.0).reshape(2, 3, 2)
    made = taeda._nested_from_padded(padded, taeda.tensor([[2, 2], [3, 1]]))
    assert [part.tolist() for part in made.unbind()] == [[[0, 1], [2, 3]], [[6], [8], [10]]]
    again = taeda._nested_from_padded_and_nested_example(padded, made)
    assert all(map(taeda.equal, again.unbind(), made.unbind()))
    heads = taeda.arange(8.0).reshape(1, 2, 2, 2)
    joined = taeda._nested_from_padded(heads, taeda.tensor([[2, 4]]), True)
    assert joined.unbind()[0].tolist() == [[0, 1, 4, 5], [2, 3, 6, 7]]
    for wrong in ([[2, 2]], [[2, 2], [4, 1]], [[2], [3]]):
        with pytest.raises(RuntimeError, match="_nested_from_padded"):
            taeda._nested_from_padded(padded, taeda.tensor(wrong))
    with pytest.raises(RuntimeError, match="strided layout"):
        taeda._nested_from_padded_and_nested_example(padded, padded)
