"""PyTorch's results are those of its FBGEMM kernels: those of oneDNN keep a primitive with the weights, with or without
relu, whichever ran first."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def fbgemm(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("torch"):
        import torch

        torch.backends.quantized.engine = "fbgemm"
