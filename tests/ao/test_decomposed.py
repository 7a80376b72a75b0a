"""Quantisation as arithmetic on plain tensors, what backends are told, and limits of observers."""

from __future__ import annotations

from typing import Any

import pytest

import taeda
from taeda import Tensor
from taeda.ao.nn.quantized.modules.utils import _quantize_weight
from taeda.ao.quantization import MovingAverageMinMaxObserver, MovingAveragePerChannelMinMaxObserver
from taeda.ao.quantization.backend_config import BackendConfig, BackendPatternConfig, DTypeConfig, ObservationType
from taeda.ao.quantization.fx import _decomposed

ops: Any = taeda.ops.quantized_decomposed
KINDS = [(taeda.quint8, taeda.uint8), (taeda.qint8, taeda.int8), (taeda.qint32, taeda.int32)]


def numbers(*shape: int) -> Tensor:
    taeda.manual_seed(0)
    return taeda.randn(shape) * 3


@pytest.mark.parametrize("quantised, plain", KINDS)
def test_integers_are_those_of_quantised_tensors(quantised: taeda.dtype, plain: taeda.dtype) -> None:
    x, info = numbers(4, 6), taeda.iinfo(quantised)
    limits = (info.min, info.max, plain)
    q = taeda.quantize_per_tensor(x, 0.1, 3, quantised)
    made = ops.quantize_per_tensor(x, 0.1, 3, *limits)
    assert made.dtype == plain and taeda.equal(made, q.int_repr())
    taeda.testing.assert_close(ops.dequantize_per_tensor(made, 0.1, 3, *limits), q.dequantize())
    as_tensors = taeda.tensor(0.1, dtype=taeda.float64), taeda.tensor(3)
    assert taeda.equal(ops.quantize_per_tensor.tensor(x, *as_tensors, *limits), made)
    scales, zeros = taeda.tensor([0.1, 0.2, 0.05, 0.5]), taeda.tensor([0, 1, 2, 3])
    c = taeda.quantize_per_channel(x, scales, zeros, 0, quantised)
    made = ops.quantize_per_channel(x, scales, zeros, 0, *limits)
    assert taeda.equal(made, c.int_repr())
    taeda.testing.assert_close(ops.dequantize_per_channel(made, scales, zeros, 0, *limits), c.dequantize())


def test_limits_beyond_the_dtype_are_refused() -> None:
    with pytest.raises(AssertionError, match="within 0 and 255"):
        ops.quantize_per_tensor(numbers(2), 0.1, 0, -1, 255, taeda.uint8)


def test_tokens_and_groups_are_channels_of_their_own() -> None:
    x, limits = numbers(6, 8), (-8, 7, taeda.int8)
    s, z = numbers(6, 1).abs() + 0.1, taeda.arange(6).reshape(6, 1).int()
    q = ops.quantize_per_token(x, s, z, *limits)
    wanted = taeda.fake_quantize_per_channel_affine(x, s.flatten(), z.flatten(), 0, -8, 7)
    taeda.testing.assert_close(ops.dequantize_per_token(q, s, z, *limits, taeda.float32), wanted)
    s, z = numbers(6, 2).abs() + 0.1, taeda.arange(12).reshape(6, 2).int() % 7
    q = ops.quantize_per_channel_group(x, s, z, *limits, 4)
    wanted = taeda.fake_quantize_per_channel_affine(x.reshape(-1, 4), s.flatten(), z.flatten(), 0, -8, 7)
    made = ops.dequantize_per_channel_group(q, s, z, *limits, 4, taeda.float32)
    taeda.testing.assert_close(made, wanted.reshape(6, 8))
    with pytest.raises(AssertionError, match="groups of 3"):
        ops.quantize_per_channel_group(x, s, z, *limits, 3)


@pytest.mark.parametrize("low, high", [(-3.0, 5.0), (1.0, 5.0), (-2.0, -1.0), (0.0, 0.0)])
def test_scales_cover_the_range_and_keep_zero(low: float, high: float) -> None:
    x = taeda.tensor([[low, high]])
    for scale, zero in (
        ops.choose_qparams.tensor(x, 0, 255, 1e-5, taeda.uint8),
        (lambda s, z: (s, z + 128))(*ops.choose_qparams_per_token_asymmetric(x, taeda.int8)),
    ):
        assert scale.numel() == zero.numel() == 1 and scale.dtype == taeda.float64
        scale, zero = float(scale), int(zero)
        assert scale > 0 and 0 <= zero <= 255
        assert -zero * scale <= min(low, 0) + scale and (255 - zero) * scale >= max(high, 0) - scale
    scale, zero = ops.choose_qparams_symmetric.tensor(x, -128, 127, 1e-5, taeda.int8)
    assert scale.shape == zero.shape == ops.choose_qparams.tensor(x, 0, 255, 1e-5, taeda.uint8)[1].shape == (1,)
    assert float(scale) == pytest.approx(max(abs(low), abs(high), 1e-5 * 127.5) / 127.5) and int(zero) == 0


@pytest.mark.torch
def test_scales_are_pytorchs() -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch.ao.quantization.fx._decomposed")
    x = numbers(3, 5)
    y, theirs = torch.tensor(x.tolist()), torch.ops.quantized_decomposed
    for name, args in [("choose_qparams", (0, 255, 1e-5)), ("choose_qparams_symmetric", (-128, 127, 1e-5))]:
        dtype = "uint8" if args[0] == 0 else "int8"
        ours = getattr(ops, name).tensor(x, *args, getattr(taeda, dtype))
        wanted = getattr(theirs, name).tensor(y, *args, getattr(torch, dtype))
        assert [float(a) for a in ours] == pytest.approx([float(b) for b in wanted])
    for name in ("choose_qparams_per_token", "choose_qparams_per_token_asymmetric"):
        for a, b in zip(getattr(ops, name)(x, taeda.int8), getattr(theirs, name)(y, torch.int8), strict=True):
            assert str(a.dtype) == str(b.dtype) and a.flatten().tolist() == pytest.approx(b.flatten().tolist())


def test_a_range_passes_gradients() -> None:
    x = numbers(2, 3).requires_grad_()
    scale, zero = _decomposed._choose_qparams_per_token_asymmetric_impl(x, taeda.int8)
    x.div(scale).add(zero).sum().backward()
    assert x.grad is not None and x.grad.isfinite().all()


@pytest.mark.parametrize("observer", [MovingAverageMinMaxObserver, MovingAveragePerChannelMinMaxObserver])
def test_weights_stay_within_the_limits_of_their_observer(observer: Any) -> None:
    scheme = taeda.per_tensor_symmetric if observer is MovingAverageMinMaxObserver else taeda.per_channel_symmetric
    watch = observer(averaging_constant=1.0, dtype=taeda.qint8, quant_min=-10, quant_max=10, qscheme=scheme)
    x = taeda.tensor([[-1000.0, 1000.0]])
    watch(x)
    for weight in (x, x * 1.2):
        assert _quantize_weight(weight, watch).int_repr().tolist() == [[-10, 10]]


def test_patterns_go_to_a_dict_and_back() -> None:
    kinds = {0: ObservationType.OUTPUT_SHARE_OBSERVER_WITH_INPUT}
    config = (
        BackendPatternConfig(taeda.addmm)
        .add_dtype_config(DTypeConfig(taeda.quint8, taeda.quint8, is_dynamic=True))
        .set_reference_quantized_module(taeda.nn.Linear)
        ._set_root_node_getter(len)
        ._set_extra_inputs_getter(repr)
        ._set_num_tensor_args_to_observation_type(kinds)
        ._set_input_type_to_index({"bias": 0, "input": 1})
    )
    told = config.to_dict()
    assert told["reference_quantized_module_for_root"] is taeda.nn.Linear and told["root_node_getter"] is len
    assert told["input_type_to_index"] == {"bias": 0, "input": 1} and "fuser_method" not in told
    assert BackendPatternConfig.from_dict(told) == config
    whole = BackendConfig("mine").set_backend_pattern_config(config)
    three = BackendPatternConfig((taeda.nn.Conv2d, taeda.nn.BatchNorm2d, taeda.nn.ReLU))
    nested = BackendConfig().set_backend_pattern_config(three)._pattern_complex_format_to_config
    assert nested == {(taeda.nn.ReLU, (taeda.nn.BatchNorm2d, taeda.nn.Conv2d)): three}
    assert BackendConfig.from_dict(whole.to_dict()).configs == [config]
