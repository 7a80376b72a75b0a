"""The device of examples/cpp, loaded from Python: memory, kernels, the fallback, gradients, and what explain says."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from taeda.utils import cpp_extension

if shutil.which(cpp_extension.get_cxx_compiler()) is None:
    pytest.skip("there is no C++ compiler", allow_module_level=True)
SOURCE = Path(__file__).parents[2] / "examples" / "cpp" / "own_device.cpp"

# In a process of its own: a device's name holds for all of it.
PROGRAM = f"""
import taeda as torch
from taeda.utils import cpp_extension

cpp_extension.load("taeda_own_device", [{str(SOURCE)!r}], is_python_module=False)
calls = torch.ops.toy.calls
x = torch.arange(6.0).reshape(2, 3).to("toy")
assert str(x.device) == "toy:0" and torch.ops.toy.live_blocks() > 0
assert (x + x).cpu().tolist() == [[0, 2, 4], [6, 8, 10]] and calls("add") == 1
assert torch.allclose(x.exp().cpu(), x.cpu().exp()) and calls("fallback") > 0
w = torch.ones(3, 1).to("toy").requires_grad_()
(x @ w).sum().backward()
assert w.grad.device == x.device and w.grad.cpu().flatten().tolist() == [3, 5, 7] and calls("mm") >= 2
net = torch.nn.Linear(3, 2).to("toy")
optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
before = net(x).pow(2).sum().item()
for _ in range(5):
    optimizer.zero_grad()
    loss = net(x).pow(2).sum()
    loss.backward()
    optimizer.step()
assert loss.item() < before
assert "toy" in repr(x)
generator = torch.Generator(device="toy:1").manual_seed(7)
assert str(generator.device) == "toy:1" == str(generator.clone_state().device) and calls("init") == 1
r = torch.empty(1000, device="toy:1").uniform_(2, 4, generator=generator)
again = torch.empty(1000, device="toy:1").uniform_(2, 4, generator=generator.manual_seed(7))
assert torch.equal(r.cpu(), again.cpu()) and calls("uniform_") == 2
assert 2 <= r.cpu().min() < 2.1 and 3.9 < r.cpu().max() < 4
assert not torch.equal(torch.empty(8, device="toy").uniform_().cpu(), torch.empty(8, device="toy").uniform_().cpu())
host = torch.arange(6.0).reshape(2, 3).t()
held = host.pin_memory()
assert not host.is_pinned() and held.is_pinned() and held[1:].is_pinned("toy") and held.pin_memory() is held
assert torch.equal(host, held) and not held.is_pinned("cuda") and not x.is_pinned()
assert held.stride() == host.stride() and torch.empty(0, 3).pin_memory().shape == (0, 3)
expanded = torch.ones(1).half().expand(5).pin_memory()
assert expanded.is_pinned() and expanded.dtype == torch.half and expanded.tolist() == [1] * 5
assert torch.conj(torch.tensor([1j])).pin_memory().tolist() == [-1j]
host.requires_grad_().pin_memory("toy").sum().backward()
grown = torch.ones(2, device="toy")
view = grown[1:]
assert grown.resize_(5)[:2].cpu().tolist() == [1, 1] and calls("resize") == 1 and view.cpu().item() == 1
grown.untyped_storage().resize_(0)
assert calls("resize") == 2 and view.storage_offset() == 1
try:
    x + torch.ones(2, 3)
except RuntimeError as error:
    assert "toy" in str(error)
else:
    raise AssertionError("tensors of two devices were added")
"""


def test_a_device_of_a_cpp_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path))
    monkeypatch.setenv("CXXFLAGS", "-O0")
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
