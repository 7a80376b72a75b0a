"""Initial values: the same numbers, and the same generator afterwards, as torch's."""

from __future__ import annotations

from typing import Any

import pytest

import taeda
import taeda.nn.init as init

torch = pytest.importorskip("torch")

from nn_twin import assert_same, outcome, to_torch  # noqa: E402

pytestmark = pytest.mark.torch

DRAW_NOTHING = {"constant_", "ones_", "zeros_", "eye_", "dirac_"}
CASES: list[tuple[str, tuple[int, ...], dict[str, Any]]] = [
    ("uniform_", (3, 20), {}),
    ("uniform_", (7,), {"a": -2.0, "b": 3.0}),
    ("normal_", (3, 20), {"mean": 1.0, "std": 0.1}),
    ("normal_", (5,), {}),
    ("constant_", (3,), {"val": 0.3}),
    ("ones_", (3,), {}),
    ("zeros_", (3,), {}),
    ("eye_", (3, 5), {}),
    ("dirac_", (4, 3, 3), {}),
    ("dirac_", (4, 2, 3, 2), {"groups": 2}),
    ("dirac_", (2, 4, 1, 2, 3), {}),
    ("xavier_uniform_", (3, 4), {}),
    ("xavier_uniform_", (3, 4, 2, 2), {"gain": 2.0}),
    ("xavier_normal_", (30, 4), {"gain": 0.5}),
    ("kaiming_uniform_", (3, 4, 2), {}),
    ("kaiming_uniform_", (3, 4), {"a": 0.2, "mode": "fan_out"}),
    ("kaiming_normal_", (30, 4), {"nonlinearity": "relu"}),
    ("kaiming_normal_", (3, 4), {"nonlinearity": "tanh", "mode": "fan_out"}),
    ("kaiming_normal_", (0, 4), {}),
    ("orthogonal_", (4, 6), {}),
    ("orthogonal_", (6, 4), {"gain": 2.0}),
    ("orthogonal_", (3, 2, 4), {}),
    ("orthogonal_", (0, 4), {}),
    ("sparse_", (5, 4), {"sparsity": 0.5}),
    ("sparse_", (5, 4), {"sparsity": 0.1, "std": 1.0}),
    ("trunc_normal_", (40,), {}),
    ("trunc_normal_", (40,), {"std": 0.02}),
    ("trunc_normal_", (6, 7), {"mean": 1.0, "std": 2.0, "a": -2.0, "b": 2.5}),
    ("trunc_normal_", (40,), {"a": -0.5, "b": 0.5}),
    ("trunc_normal_", (40,), {"a": -0.1, "b": 0.1}),
    ("trunc_normal_", (40,), {"mean": 1.0, "std": 3.0, "a": 2.0, "b": 3.0}),
    ("trunc_normal_", (40,), {"a": 2.0, "b": 3.0}),
    ("trunc_normal_", (40,), {"mean": 5.0}),
    ("trunc_normal_", (40,), {"mean": float("nan")}),
    ("trunc_normal_", (40,), {"std": float("inf")}),
    ("trunc_normal_", (40,), {"mean": -0.5, "std": 2.0, "a": -3.5, "b": -2.5}),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name, shape, kwargs, own_generator",
    [(*case, own) for case in CASES for own in (False, True) if not own or case[0] not in DRAW_NOTHING],
)
def test_values(name: str, shape: tuple[int, ...], kwargs: dict[str, Any], own_generator: bool) -> None:
    results = []
    for package, root in ((init, taeda), (torch.nn.init, torch)):
        root.manual_seed(0)
        options = dict(kwargs)
        if own_generator:
            options["generator"] = root.Generator().manual_seed(9)
        tensor = root.full(shape, 7.0).requires_grad_()
        assert getattr(package, name)(tensor, **options) is tensor
        assert tensor.is_leaf
        results.append([tensor, root.get_rng_state()])
    # Rounding in a QR decomposition goes with the length of a column, not with the size of an element.
    atol = 5e-7 * kwargs.get("gain", 1) if name == "orthogonal_" else 1e-7
    assert_same(results[0], results[1], rtol=1e-6, atol=atol)


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", ["normal_", "uniform_", "trunc_normal_"])
def test_other_dtypes(name: str, dtype: str) -> None:
    results = []
    for package, root in ((init, taeda), (torch.nn.init, torch)):
        root.manual_seed(0)
        results.append(getattr(package, name)(root.empty(40, dtype=getattr(root, dtype))).float())
    assert_same(*results)


@pytest.mark.parametrize(
    "nonlinearity",
    ["linear", "conv1d", "conv_transpose3d", "sigmoid", "tanh", "relu", "leaky_relu", "selu"],
)
def test_gain(nonlinearity: str) -> None:
    for param in (None, 0.3, 1):
        expected = torch.nn.init.calculate_gain(nonlinearity, param)
        assert init.calculate_gain(nonlinearity, param) == pytest.approx(expected)


BAD: list[Any] = [
    lambda p, t: p.calculate_gain("foo"),
    lambda p, t: p.calculate_gain("leaky_relu", "a"),
    lambda p, t: p.calculate_gain("leaky_relu", True),
    lambda p, t: p._calculate_fan_in_and_fan_out(t.ones(3)),
    lambda p, t: p._calculate_correct_fan(t.ones(3, 2), "fan"),
    lambda p, t: p.xavier_normal_(t.ones(3)),
    lambda p, t: p.kaiming_normal_(t.ones(3, 3), mode="fan"),
    lambda p, t: p.eye_(t.ones(3)),
    lambda p, t: p.dirac_(t.ones(3, 3)),
    lambda p, t: p.dirac_(t.ones(3, 3, 3), groups=2),
    lambda p, t: p.orthogonal_(t.ones(3)),
    lambda p, t: p.sparse_(t.ones(3), 0.1),
    lambda p, t: p.trunc_normal_(t.ones(3), std=0.0),
    lambda p, t: p.uniform_(t.ones(3), 2.0, 1.0),
]


@pytest.mark.parametrize("call", BAD, ids=range(len(BAD)))
def test_errors(call: Any) -> None:
    expected = outcome(lambda: call(torch.nn.init, torch))
    assert isinstance(expected, type)
    assert outcome(lambda: call(init, taeda)) is expected


def test_fans() -> None:
    for shape in ((2, 3), (2, 3, 4), (2, 3, 4, 5)):
        expected = torch.nn.init._calculate_fan_in_and_fan_out(torch.ones(shape))
        assert init._calculate_fan_in_and_fan_out(taeda.ones(shape)) == expected
        assert init._calculate_correct_fan(taeda.ones(shape), "FAN_OUT") == expected[1]


def test_old_names() -> None:
    for name in torch.nn.init.__all__:
        assert hasattr(init, name)
    with pytest.warns(FutureWarning):
        assert to_torch(init.constant(taeda.ones(2), 3.0)).tolist() == [3.0, 3.0]


@pytest.mark.parametrize("name, shape, kwargs", CASES)
def test_without_memory(name, shape, kwargs):
    weight = taeda.empty(shape, device="meta")
    assert getattr(init, name)(weight, **kwargs) is weight
