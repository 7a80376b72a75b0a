"""Observers and qconfigs: what they find in data, beside PyTorch's."""

from __future__ import annotations

import importlib
import io
import warnings
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import taeda
from taeda.ao import quantization as q

CASES: list[tuple[str, dict[str, Any]]] = [
    ("MinMaxObserver", {}),
    ("MinMaxObserver", {"dtype": "qint8", "qscheme": "per_tensor_symmetric"}),
    ("MinMaxObserver", {"reduce_range": True}),
    ("MinMaxObserver", {"quant_min": 0, "quant_max": 127}),
    ("MovingAverageMinMaxObserver", {}),
    ("PerChannelMinMaxObserver", {"dtype": "qint8", "qscheme": "per_channel_symmetric"}),
    ("PerChannelMinMaxObserver", {"ch_axis": 1}),
    ("PerChannelMinMaxObserver", {"qscheme": "per_channel_affine_float_qparams"}),
    ("MovingAveragePerChannelMinMaxObserver", {"dtype": "qint8", "qscheme": "per_channel_symmetric"}),
    ("HistogramObserver", {}),
    ("HistogramObserver", {"reduce_range": True, "bins": 100}),
    ("HistogramObserver", {"dtype": "qint8", "qscheme": "per_tensor_symmetric"}),
]


def _found(lib: ModuleType, name: str, options: dict[str, Any]) -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    given = {k: getattr(lib, v) if isinstance(v, str) else v for k, v in options.items()}
    observer = getattr(lib.ao.quantization, name)(**given)
    for k in range(4):  # ranges that grow and shift
        observer(lib.tensor((rng.normal(size=(8, 16)) * (k + 1) + k).astype(np.float32)))
    scale, zero_point = observer.calculate_qparams()
    state = {key: (tuple(value.shape), value.tolist()) for key, value in observer.state_dict().items()}
    return scale.tolist(), zero_point.tolist(), str(zero_point.dtype), state, repr(observer)


@pytest.mark.torch
@pytest.mark.parametrize("name, options", CASES)
def test_as_pytorch(name: str, options: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch.ao.quantization")
    ours, theirs = _found(taeda, name, options), _found(torch, name, options)
    assert ours[:3] == theirs[:3]
    assert {key: shape for key, (shape, _) in ours[3].items()} == {key: shape for key, (shape, _) in theirs[3].items()}


def test_ranges() -> None:
    observer = q.MinMaxObserver()
    observer(taeda.tensor([-1.0, 3.0]))
    observer(taeda.tensor([]))
    scale, zero_point = observer.calculate_qparams()
    assert scale.item() == pytest.approx(4 / 255) and zero_point.item() == 64
    observer.reset_min_max_vals()
    with pytest.warns(UserWarning, match="nothing was observed"):
        assert observer.calculate_qparams()[0].item() == 1


def test_errors() -> None:
    with pytest.raises(NotImplementedError, match="per tensor"):
        q.MinMaxObserver(qscheme=taeda.per_channel_affine)
    with pytest.raises(NotImplementedError, match="per channel"):
        q.PerChannelMinMaxObserver(qscheme=taeda.per_tensor_affine)
    with pytest.raises(AssertionError, match="include 0"):
        q.MinMaxObserver(quant_min=3, quant_max=9)
    with pytest.raises(AssertionError, match="float16"):
        q.MinMaxObserver(dtype=taeda.float16)
    with pytest.raises(ValueError, match="makers"):
        q.QConfig(q.MinMaxObserver(), q.MinMaxObserver)
    with pytest.raises(AssertionError, match="backend must be one of"):
        q.get_default_qconfig("abacus")


def test_states_go_to_other_observers() -> None:
    one, other = q.PerChannelMinMaxObserver(), q.PerChannelMinMaxObserver()
    one(taeda.randn(3, 4))
    other.load_state_dict(one.state_dict())
    assert taeda.equal(one.min_val, other.min_val) and other.min_val.shape == (3,)
    rounding = q.default_per_channel_weight_fake_quant()
    rounding(taeda.randn(3, 4))
    again = q.default_per_channel_weight_fake_quant()
    again.load_state_dict(rounding.state_dict())
    assert taeda.equal(again.scale, rounding.scale)


def test_qconfigs_compare_by_what_they_make() -> None:
    assert q.qconfig_equals(q.get_default_qconfig("x86"), q.get_default_qconfig("fbgemm"))
    assert not q.qconfig_equals(q.get_default_qconfig("x86"), q.get_default_qconfig("qnnpack"))
    assert q.qconfig_equals(None, None) and not q.qconfig_equals(None, q.default_qconfig)


def test_mappings_go_from_the_general_to_the_particular() -> None:
    names = ("all", "type", "regex", "name", "order")
    configs = {name: q.QConfig(q.MinMaxObserver.with_args(eps=k + 1.0), None) for k, name in enumerate(names)}
    mapping = (
        q.QConfigMapping().set_global(configs["all"]).set_object_type(taeda.nn.Linear, configs["type"])
        .set_module_name_regex("head.*", configs["regex"]).set_module_name("head.fc", configs["name"])
        .set_module_name_object_type_order("head", taeda.add, 1, configs["order"])
    )  # fmt: skip
    assert mapping.qconfig_of("body", taeda.nn.Conv2d) is configs["all"]
    assert mapping.qconfig_of("body.fc", taeda.nn.Linear) is configs["type"]
    assert mapping.qconfig_of("header", taeda.nn.Linear) is configs["regex"]
    assert mapping.qconfig_of("head.fc.inner", taeda.nn.Linear) is configs["name"]
    assert mapping.qconfig_of("head", taeda.add, 1) is configs["order"]
    again = q.QConfigMapping.from_dict(mapping.to_dict())
    assert again.to_dict() == mapping.to_dict()


@pytest.mark.torch
@pytest.mark.parametrize("engine", ["x86", "fbgemm", "qnnpack", "onednn"])
def test_default_qconfigs_as_pytorch(engine: str) -> None:
    torch = pytest.importorskip("torch")
    other = pytest.importorskip("torch.ao.quantization")
    text = lambda value: str(value).replace("taeda.", "torch.")
    for name in ("get_default_qconfig", "get_default_qat_qconfig"):
        assert text(getattr(q, name)(engine)) == text(getattr(other, name)(engine))
    if engine == "onednn":  # for which PyTorch's mapping asks for channels that its transposed convolutions refuse
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = (lib.get_default_qconfig_mapping(engine).object_type_qconfigs for lib in (q, other))
    plain = lambda table: {getattr(key, "__name__", key): text(value) for key, value in table.items()}
    assert plain(ours) == plain(theirs) and torch is not None


def test_a_histogram_leaves_infinite_elements_out() -> None:
    x, plain, other = taeda.randn(4, 4), q.HistogramObserver(), q.HistogramObserver()
    plain(x)
    with pytest.warns(UserWarning, match="infinite"):
        other(x * float("inf"))
    other(x)
    assert taeda.equal(other.histogram, plain.histogram) and taeda.equal(other.max_val, plain.max_val)


_LEARNED = {
    "one scale": dict(observer="MovingAverageMinMaxObserver", dtype="quint8", qscheme="per_tensor_affine"),
    "symmetric": dict(observer="MovingAverageMinMaxObserver", dtype="qint8", qscheme="per_tensor_symmetric"),
    "channels": dict(observer="MovingAveragePerChannelMinMaxObserver", dtype="qint8", qscheme="per_channel_affine",
                     ch_axis=1, channel_len=3, use_grad_scaling=True),
}  # fmt: skip


def _learn(lib: Any, case: dict[str, Any], x: list[list[float]]) -> list[Any]:
    """Watches, then learns two steps."""
    module = importlib.import_module(f"{lib.__name__}.ao.quantization._learnable_fake_quantize")
    quantization = importlib.import_module(f"{lib.__name__}.ao.quantization")
    least, most = (0, 255) if case["dtype"] == "quint8" else (-128, 127)
    given = {k: getattr(lib, v) if k in ("dtype", "qscheme") else v for k, v in case.items() if k != "observer"}
    layer = module._LearnableFakeQuantize(getattr(quantization, case["observer"]), least, most, **given)
    data = lib.tensor(x)
    found = [layer(data).tolist(), list(layer.state_dict())]
    layer.enable_param_learning()
    optimizer = lib.optim.SGD(layer.parameters(), lr=1e-3)
    for _ in range(2):
        optimizer.zero_grad()
        layer(data * 1.5).pow(2).sum().backward()
        found.append([layer.scale.grad.tolist(), layer.zero_point.grad.tolist()])
        optimizer.step()
        found.append(layer.scale.tolist())
    layer.enable_static_observation()
    return [*found, lib.equal(layer(data), data), [part.tolist() for part in layer.calculate_qparams()]]


@pytest.mark.torch
@pytest.mark.parametrize("name", _LEARNED)
def test_learned_scales_as_pytorch(name: str) -> None:
    torch = pytest.importorskip("torch")
    x = [[-1.3, 0.2, 2.7], [0.6, -0.1, 1.1]]
    ours, theirs = (_learn(lib, _LEARNED[name], x) for lib in (taeda, torch))
    assert str(ours[1]) == str(theirs[1]) and ours[-2] == theirs[-2]
    for mine, other in zip(ours, theirs, strict=True):
        if not isinstance(mine, bool) and not isinstance(mine[0], str):
            assert taeda.allclose(*(taeda.tensor(part, dtype=taeda.float64).flatten() for part in (mine, other)), 1e-4)


def test_learned_scales_refuse_no_range() -> None:
    from taeda.ao.quantization._learnable_fake_quantize import _LearnableFakeQuantize

    for arguments in ({"quant_min": 5, "quant_max": 5}, {"quant_max": 300}, {"channel_len": 0}):
        with pytest.raises(AssertionError, match="FakeQuantize"):
            _LearnableFakeQuantize(q.MovingAverageMinMaxObserver, **arguments)


@pytest.mark.parametrize(
    "observer",
    [
        q.MinMaxObserver, q.MovingAverageMinMaxObserver, q.PerChannelMinMaxObserver, q.default_weight_observer,
        q.MovingAveragePerChannelMinMaxObserver,
    ],
)  # fmt: skip
def test_scripts_say_scale_and_zero_point(observer: Any) -> None:
    plain, scripted = observer(), taeda.jit.script(observer())
    for seed in range(2):
        taeda.manual_seed(seed)
        x = taeda.randn(3, 4)
        plain(x), scripted(x)
    file = io.BytesIO()
    taeda.jit.save(scripted, file)
    for one in (scripted, taeda.jit.load(io.BytesIO(file.getvalue()))):
        for ours, theirs in zip(one.calculate_qparams(), plain.calculate_qparams(), strict=True):
            assert taeda.equal(ours, theirs)
