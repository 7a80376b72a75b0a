"""Graphs prepared for training beside PyTorch's: which parameters there are, and what was drawn for them."""

from __future__ import annotations

from typing import Any

import pytest

import taeda


def prepared(torch: Any) -> tuple[list[str], list[float]]:
    import importlib

    fx = importlib.import_module(f"{torch.__name__}.ao.quantization.quantize_fx")
    nn = torch.nn
    torch.manual_seed(0)
    net = nn.Sequential(nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()), nn.Conv2d(4, 4, 1)).train()
    mapping = torch.ao.quantization.get_default_qat_qconfig_mapping("fbgemm")
    model = fx.prepare_qat_fx(net, mapping, (torch.ones(1, 3, 5, 5),))
    return sorted(name for name in model.state_dict() if "post" not in name), torch.rand(3).tolist()


@pytest.mark.torch
def test_parameters_and_draws_are_those_of_pytorch() -> None:
    import torch

    assert prepared(taeda) == prepared(torch)


def test_norms_are_within_the_fused_modules_only() -> None:
    names, _ = prepared(taeda)
    assert "0.0.bn.weight" in names and not any(name.startswith("0.1") for name in names)
