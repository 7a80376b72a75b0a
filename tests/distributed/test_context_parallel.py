"""Attention over sequences of which each process has a part is that over the wholes."""

from __future__ import annotations

from typing import Any

import pytest
from ranks import needs_mpi, run

import taeda
import taeda.nn.functional as F
from taeda import nn
from taeda.distributed.device_mesh import init_device_mesh
from taeda.distributed.tensor.experimental import context_parallel
from taeda.distributed.tensor.experimental._attention import (
    _context_parallel_shard,
    _cp_options,
    _HeadTailLoadBalancer,
    context_parallel_unshard,
    set_rotate_method,
)

pytestmark = needs_mpi


def _apart(ours: Any, theirs: Any) -> float:
    return max(float((one - other).abs().max()) for one, other in zip(ours, theirs, strict=True))


def _attention(rank: int, size: int) -> dict[Any, float]:
    mesh, found = init_device_mesh("cpu", (size,)), {}
    for method in ("allgather", "alltoall"):
        for causal in (True, False):
            for balanced in (True, False):
                set_rotate_method(method)
                _cp_options.enable_load_balance = balanced
                taeda.manual_seed(0)
                given, grad = [taeda.randn(2, 4 if at == 0 else 2, 12, 8) for at in range(3)], taeda.randn(2, 4, 12, 8)
                whole = [one.clone().requires_grad_() for one in given]
                expected = F.scaled_dot_product_attention(*whole, is_causal=causal, enable_gqa=True)
                expected.backward(grad)
                kept = [one.clone() for one in [*given, grad]]
                with context_parallel(mesh, buffers=kept, buffer_seq_dims=[2] * 4):
                    assert kept[0].shape[2] == 12 // size
                    parts = [one.detach().requires_grad_() for one in kept[:3]]
                    out = F.scaled_dot_product_attention(*parts, is_causal=causal, enable_gqa=True)
                    out.backward(kept[3])
                    made = context_parallel_unshard(mesh, [out, *(one.grad for one in parts)], [2] * 4)
                assert _apart(kept, [*given, grad]) == 0
                found[method, causal, balanced] = _apart(made, [expected, *(one.grad for one in whole)])
    return found


def _masks() -> dict[str, Any]:
    """Some rows see nothing at all, or nothing of a part."""
    taeda.manual_seed(1)
    seen = taeda.rand(2, 1, 12, 12) > 0.5
    seen[0, 0, 3], seen[1, 0, 5, :6], seen[1, 0, 7, 2:] = False, False, False
    return {"bool": seen, "added": taeda.randn(12, 12), "heads": taeda.randn(4, 12, 12), "columns": seen[0, 0, 4:5]}


def _masked(rank: int, size: int) -> dict[Any, float]:
    mesh, found = init_device_mesh("cpu", (size,)), {}
    for name, mask in _masks().items():
        for balanced in (True, False):
            set_rotate_method("alltoall" if balanced else "allgather")
            _cp_options.enable_load_balance = balanced
            taeda.manual_seed(0)
            given, grad = [taeda.randn(2, 4, 12, 8) for _ in range(3)], taeda.randn(2, 4, 12, 8)
            whole = [one.clone().requires_grad_() for one in given]
            expected = F.scaled_dot_product_attention(*whole, attn_mask=mask)
            expected.backward(grad)
            kept, dims = [*given, grad], [2] * 4
            if mask.shape[-2] > 1:
                kept, dims = [*kept, mask.clone()], [*dims, mask.dim() - 2]
            with context_parallel(mesh, buffers=kept, buffer_seq_dims=dims):
                parts = [one.detach().requires_grad_() for one in kept[:3]]
                out = F.scaled_dot_product_attention(*parts, attn_mask=kept[4] if len(kept) == 5 else mask)
                out.backward(kept[3])
                made = context_parallel_unshard(mesh, [out, *(one.grad for one in parts)], [2] * 4)
            found[name, balanced] = _apart(made, [expected, *(one.grad for one in whole)])
    return found


@pytest.mark.parametrize("size", [2, 3])
def test_masks_over_all_parts(size: int) -> None:
    for found in run(size, _masked, size):
        assert len(found) == 8 and max(found.values()) < 1e-5, found


@pytest.mark.parametrize("size", [2, 3])
def test_attention_over_all_parts(size: int) -> None:
    for found in run(size, _attention, size):
        assert len(found) == 8 and max(found.values()) < 1e-5, found


class _Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        taeda.manual_seed(0)
        self.words, self.places = nn.Embedding(11, 8), nn.Parameter(taeda.randn(8, 8) / 4)
        self.qkv, self.out = nn.Linear(8, 24), nn.Linear(8, 11)

    def forward(self, x: Any, at: Any) -> Any:
        h = self.words(x) + self.places[at]
        q, k, v = (one.unflatten(-1, (2, 4)).transpose(1, 2) for one in self.qkv(h).chunk(3, -1))
        return self.out(h + F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))


def _training(rank: int) -> float:
    mesh, net, whole = init_device_mesh("cpu", (2,)), _Net(), _Net()
    ours, theirs = (taeda.optim.SGD(one.parameters(), 0.5) for one in (net, whole))
    wrapped = nn.parallel.DistributedDataParallel(net)
    for step in range(3):
        taeda.manual_seed(step)
        x, y, at = taeda.randint(11, (2, 8)), taeda.randint(11, (2, 8)), taeda.arange(8)
        F.cross_entropy(whole(x, at).flatten(0, 1), y.flatten()).backward()
        with context_parallel(mesh, buffers=[x, y, at], buffer_seq_dims=[1, 1, 0], no_restore_buffers={x, y}):
            F.cross_entropy(wrapped(x, at).flatten(0, 1), y.flatten()).backward()
        assert x.shape == (2, 4) and at.tolist() == list(range(8))
        for optimizer in (ours, theirs):
            optimizer.step()
            optimizer.zero_grad()
    return _apart(net.parameters(), whole.parameters())


def test_training_on_parts_is_training_on_the_wholes() -> None:
    assert max(run(2, _training)) < 1e-5


def _mistakes(rank: int) -> None:
    mesh, x = init_device_mesh("cpu", (1,)), taeda.ones(1, 2, 4, 8)
    with pytest.raises(ValueError, match="a dimension is wanted for each"), context_parallel(mesh, buffers=[x]):
        pass
    with (
        pytest.raises(ValueError, match="from among buffers"),
        context_parallel(mesh, buffers=[x], buffer_seq_dims=[2], no_restore_buffers={taeda.ones(1)}),
    ):
        pass
    with context_parallel(mesh):
        with pytest.raises(NotImplementedError, match="dropout_p is not taken"):
            F.scaled_dot_product_attention(x, x, x, dropout_p=0.1)
        with pytest.raises(NotImplementedError, match="requires no gradient"):
            F.scaled_dot_product_attention(x, x, x, taeda.ones(4, 4, requires_grad=True))
        with pytest.raises(ValueError, match="columns for all keys"):
            F.scaled_dot_product_attention(x, x, x, taeda.ones(4, 3))
        with pytest.raises(RuntimeError, match="exclude each other"):
            F.scaled_dot_product_attention(x, x, x, taeda.ones(4, 4), is_causal=True)
        with pytest.raises(ValueError, match="batch, heads, length, width"):
            F.scaled_dot_product_attention(x[0], x[0], x[0])
        with pytest.raises(ValueError, match="one sequence"):
            F.scaled_dot_product_attention(x[:, :, :2], x, x)
    with pytest.raises(NotImplementedError, match="'allgather' or 'alltoall'"):
        set_rotate_method("ring")
    with pytest.raises(ValueError, match="not cut into 4 pieces"):
        _HeadTailLoadBalancer(6, 2, "cpu")


def test_mistakes_are_told() -> None:
    run(1, _mistakes)


def _pieces(rank: int) -> Any:
    mesh, balancer = init_device_mesh("cpu", (2,)), _HeadTailLoadBalancer(8, 2, "cpu")
    given = {"x": taeda.arange(16).view(2, 8), "at": taeda.arange(8)}
    parts = _context_parallel_shard(mesh, given, {"x": 1, "at": 0}, balancer)
    whole = context_parallel_unshard(mesh, list(parts.values()), [1, 0], balancer)
    assert all(one.equal(other) for one, other in zip(whole, given.values(), strict=True))
    return parts["at"].tolist()


def test_a_part_is_from_the_front_and_from_the_back() -> None:
    assert run(2, _pieces) == [[0, 1, 6, 7], [2, 3, 4, 5]]
