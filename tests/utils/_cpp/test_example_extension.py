"""The extension of ``examples/extension``: a fused kernel with a gradient, and a class."""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from typing import Any

import pytest

import taeda as torch
from taeda.utils import cpp_extension

pytest.importorskip("pybind11", reason="extensions need pybind11")
if shutil.which(cpp_extension.get_cxx_compiler()) is None:
    pytest.skip("there is no C++ compiler", allow_module_level=True)
FOLDER = Path(__file__).parents[3] / "examples" / "extension"


@pytest.fixture(scope="module", autouse=True)
def built(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CXXFLAGS", "-O0")
        sources = [str(FOLDER / f"{name}.cpp") for name in ("bias_silu", "running_mean")]
        return cpp_extension.load("example_extension", sources, build_directory=str(tmp_path_factory.mktemp("example")))


@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 0, 5), (200, 3, 5)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_fused_kernel(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    x = torch.randn(shape, dtype=dtype).transpose(0, -1).contiguous().transpose(0, -1).requires_grad_()
    bias = torch.randn(5, dtype=dtype, requires_grad=True)
    y = torch.ops.example.bias_silu(x, bias)
    expected = torch.nn.functional.silu(x + bias)
    torch.testing.assert_close(y, expected)
    weights = torch.randn(shape, dtype=dtype)
    found = torch.autograd.grad((y * weights).sum(), (x, bias))
    torch.testing.assert_close(found, torch.autograd.grad((expected * weights).sum(), (x, bias)))


def test_gradient_and_shapes() -> None:
    x, bias = (torch.randn(4, 3, dtype=torch.float64), torch.randn(3, dtype=torch.float64))
    assert torch.autograd.gradcheck(torch.ops.example.bias_silu, (x.requires_grad_(), bias.requires_grad_()))
    assert torch.ops.example.bias_silu(x.detach().to("meta"), bias.detach().to("meta")).shape == (4, 3)
    with pytest.raises(ValueError, match="one element for each of the last dimension of x"):
        torch.ops.example.bias_silu(x, torch.ones(4, dtype=torch.float64))


@pytest.mark.parametrize("threads", [1, 2])
def test_the_same_bits_with_any_number_of_threads(threads: int) -> None:
    x, bias, before = torch.arange(4000.0).reshape(400, 10).sin(), torch.ones(10), torch.get_num_threads()
    once = torch.ops.example.bias_silu(x, bias)
    torch.set_num_threads(threads)
    try:
        assert torch.equal(torch.ops.example.bias_silu(x, bias), once)
    finally:
        torch.set_num_threads(before)


def test_class() -> None:
    values = torch.randn(50)
    running = torch.classes.example.RunningMean()
    assert running.update(values[:20]).update(values[20:]).count() == 50
    assert running.mean() == pytest.approx(values.mean().item()) and running.variance() == pytest.approx(
        values.var().item()
    )
    assert str(running) == f"RunningMean of 50 numbers: {running.mean():g}"
    file = io.BytesIO()
    torch.save(running, file)
    file.seek(0)
    loaded = torch.load(file, weights_only=False)
    assert (loaded.count(), loaded.mean(), loaded.variance()) == (50, running.mean(), running.variance())
