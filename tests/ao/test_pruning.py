"""Pruning: masks, levels and pruned models are PyTorch's."""

from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import taeda
from taeda.ao import pruning
from taeda.ao.pruning._experimental import pruner
from taeda.ao.pruning._experimental.activation_sparsifier.activation_sparsifier import ActivationSparsifier
from taeda.ao.pruning._experimental.data_sparsifier import DataNormSparsifier

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

SHAPES = [(4, 8), (12, 12), (1, 4), (6, 4)]
BLOCKS = [(1, 4), (1, 1), (2, 2), (2, 4)]


def masks(library: Any, weight: Any, level: float, block: tuple[int, int], zeros: int | None) -> tuple[Any, Any]:
    """Of a weight, and of the same numbers as a tensor with a name."""
    layer = library.nn.Linear(weight.shape[1], weight.shape[0])
    layer.weight = library.nn.Parameter(library.tensor(weight.tolist()))
    model = library.nn.Sequential(layer)
    sparsifier = library.ao.pruning.WeightNormSparsifier(level, block, zeros)
    sparsifier.prepare(model, None)
    sparsifier.step()
    by_name = (DataNormSparsifier if library is taeda else data_sparsifiers().DataNormSparsifier)(
        None, level, block, zeros
    )
    by_name.add_data("w", library.tensor(weight.tolist()))
    by_name.step()
    return model[0].parametrizations.weight[0].mask.float(), by_name.get_mask("w").float()


def data_sparsifiers() -> Any:
    from torch.ao.pruning._experimental import data_sparsifier

    return data_sparsifier


@pytest.mark.parametrize(("shape", "block"), itertools.product(SHAPES, BLOCKS))
def test_masks_by_norm(shape: tuple[int, int], block: tuple[int, int]) -> None:
    if shape[0] % block[0] or shape[1] % block[1]:
        pytest.skip("PyTorch's own masks fail where blocks do not fill the matrix")
    torch.manual_seed(1)
    weight = torch.randn(shape)
    values = block[0] * block[1]
    for level, zeros in itertools.product((0.0, 0.2, 0.5, 0.95, 1.0), {0, 1, values // 2, values}):
        ours, theirs = (masks(library, weight, level, block, zeros) for library in (taeda, torch))
        assert [m.tolist() for m in ours] == [m.tolist() for m in theirs], (level, zeros)


def test_blocks_beyond_the_edge() -> None:
    mask, _ = masks(taeda, torch.arange(1.0, 16).reshape(3, 5), 0.5, (2, 2), None)
    assert mask.tolist() == [[0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]]


def levels(library: Any, make: Callable[[Any, Any], Any]) -> list[Any]:
    model = library.nn.Sequential(library.nn.Linear(4, 4), library.nn.Linear(4, 4))
    sparsifier = library.ao.pruning.WeightNormSparsifier()
    sparsifier.prepare(model, [{"tensor_fqn": "0.weight", "sparsity_level": 0.8}, {"tensor_fqn": "1.weight"}])
    scheduler = make(library.ao.pruning, sparsifier)
    found = []
    for _ in range(12):
        sparsifier.step()
        found.append(list(scheduler.get_last_sl()))
        scheduler.step()
    return found


@pytest.mark.parametrize(
    "make",
    [
        lambda p, s: p.CubicSL(s, 0.1, 2, 2, 4, True),
        lambda p, s: p.CubicSL(s, [0.0, 0.2], 3, [1, 2], 3),
        lambda p, s: p.LambdaSL(s, lambda epoch: 0.9**epoch),
        lambda p, s: p.LambdaSL(s, [lambda epoch: 0.5, lambda epoch: epoch / 12]),
    ],
)
def test_schedules(make: Callable[[Any, Any], Any]) -> None:
    assert levels(taeda, make) == levels(torch, make)


def networks(library: Any, channels: bool) -> Any:
    nn = library.nn
    if not channels:
        return nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 6, bias=False), nn.Linear(6, 4))
    return nn.Sequential(
        nn.Conv2d(2, 6, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 8, 3), nn.AdaptiveAvgPool2d(3),
        nn.Flatten(), nn.Linear(8 * 9, 4),
    )  # fmt: skip


@pytest.mark.parametrize(("channels", "prune_bias"), itertools.product((False, True), (False, True)))
def test_channels_leave_the_model(channels: bool, prune_bias: bool) -> None:
    from torch.ao.pruning._experimental import pruner as theirs

    torch.manual_seed(0)
    reference = networks(torch, channels)
    x = torch.randn(3, 2, 16, 16) if channels else torch.randn(3, 5)
    seen = []
    for library, kinds in ((torch, theirs), (taeda, pruner)):
        model = networks(library, channels)
        model.load_state_dict({k: library.tensor(v.tolist()) for k, v in reference.state_dict().items()})
        model.eval()
        made = kinds.SaliencyPruner({"sparsity_level": 0.5, "prune_bias": prune_bias})
        names = ["0.weight", "3.weight"] if channels else ["0.weight", "2.weight"]
        made.prepare(model, [{"tensor_fqn": name} for name in names])
        made.step()
        given = library.tensor(x.tolist())
        masked = model(given)
        pruned = made.prune()
        assert library.allclose(pruned(given), masked, rtol=1e-4, atol=1e-5)
        seen.append(([tuple(p.shape) for p in pruned.parameters()], pruned(given).tolist()))
    assert seen[0][0] == seen[1][0]
    assert seen[1][1] == [pytest.approx(row, rel=1e-4, abs=1e-5) for row in seen[0][1]]


def test_what_no_pattern_knows_is_refused() -> None:
    model = taeda.nn.Sequential(taeda.nn.Linear(4, 4), taeda.nn.Softmax(1), taeda.nn.Linear(4, 2))
    made = pruner.SaliencyPruner({"sparsity_level": 0.5})
    made.prepare(model, [{"tensor_fqn": "0.weight"}])
    made.step()
    with pytest.raises(RuntimeError, match="how to prune"):
        made.prune()


def test_states_go_over() -> None:
    model = taeda.nn.Sequential(taeda.nn.Linear(8, 8))
    first = pruning.WeightNormSparsifier(0.5)
    first.prepare(model, None)
    first.step()
    second = pruning.WeightNormSparsifier(0.1)
    second.prepare(copy.deepcopy(taeda.nn.Sequential(taeda.nn.Linear(8, 8))), None)
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    assert second.groups[0]["sparsity_level"] == 0.5
    assert taeda.equal(second.groups[0]["module"].parametrizations.weight[0].mask, first.state["0.weight"]["mask"])

    tensors = DataNormSparsifier([("a", taeda.randn(4, 8))], 0.5)
    tensors.step()
    again = pickle.loads(pickle.dumps(tensors))
    assert taeda.equal(again.get_mask("a"), tensors.get_mask("a"))
    assert taeda.equal(again.get_data("a", return_original=False), tensors.get_data("a", return_original=False))


def test_masks_of_inputs() -> None:
    layer = taeda.nn.Identity()
    model = taeda.nn.Sequential(layer)
    made = ActivationSparsifier(
        model, lambda a, b: a + b, lambda x: x.mean(0), lambda x, least: (x.abs() > least).float(), least=1.0
    )
    made.register_layer(layer)
    x = taeda.tensor([[0.5, 2.0], [0.25, 4.0]])
    model(x)
    model(x)
    made.step()
    assert made.get_mask("0").tolist() == [0, 1]
    made.squash_mask()
    assert model(x).tolist() == [[0, 2], [0, 4]]
    with pytest.raises(ValueError, match="registered"):
        made.get_mask("1")
