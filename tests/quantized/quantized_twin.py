"""The same quantised tensor in Taeda and in PyTorch, and how far results are apart."""

from __future__ import annotations

from typing import Any

import numpy as np

import taeda


def of_torch(value: Any) -> Any:
    """A tensor of PyTorch as one of Taeda's; anything else as it is."""
    import torch

    if isinstance(value, (list, tuple)):
        return type(value)(map(of_torch, value))
    if not isinstance(value, torch.Tensor):
        return getattr(taeda, str(value).removeprefix("torch.")) if isinstance(value, torch.dtype) else value
    if not value.is_quantized:
        return taeda.tensor(value.detach().numpy())
    integers = taeda.tensor(value.int_repr().numpy())
    if value.qscheme() == torch.per_tensor_affine:
        return taeda._make_per_tensor_quantized_tensor(integers, value.q_scale(), value.q_zero_point())
    scales, zeros = of_torch(value.q_per_channel_scales()), of_torch(value.q_per_channel_zero_points())
    return taeda._make_per_channel_quantized_tensor(integers, scales, zeros, value.q_per_channel_axis())


def sums_exactly() -> bool:
    """Whether PyTorch sums products of eight bits exactly on this machine: without VNNI those of pairs saturate."""
    import torch

    return bool(torch.cpu._is_vnni_supported())


def activations(*sizes: int) -> Any:
    """PyTorch's quantised random numbers, of seven bits where it could not add products of eight."""
    import torch

    numbers = torch.randn(sizes)
    return torch.quantize_per_tensor(numbers if sums_exactly() else numbers.clamp(max=0.3), 0.03, 117, torch.quint8)


def integers(tensor: Any) -> np.ndarray:
    return np.asarray((tensor.int_repr() if tensor.is_quantized else tensor).detach().numpy())


def quanta(got: Any, wanted: Any) -> int:
    """How many steps two results are apart at most; their scales, dtypes and shapes must agree."""
    assert str(got.dtype) == str(wanted.dtype) and tuple(got.shape) == tuple(wanted.shape)
    if not wanted.is_quantized:
        np.testing.assert_allclose(integers(got), integers(wanted), rtol=1e-5, atol=1e-5)
        return 0
    if "channel" in str(wanted.qscheme()):
        np.testing.assert_allclose(integers(got.q_per_channel_scales()), integers(wanted.q_per_channel_scales()))
        zeros = (integers(t.q_per_channel_zero_points()) for t in (got, wanted))
        np.testing.assert_array_equal(*zeros)
    else:
        assert abs(got.q_scale() / wanted.q_scale() - 1) < 1e-6 and got.q_zero_point() == wanted.q_zero_point()
    steps = integers(got).astype(np.int64) - integers(wanted).astype(np.int64)
    return int(np.abs(steps).max(initial=0))
