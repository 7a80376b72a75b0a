"""Runs the ops of ``ops/demo.py``, from the library that is named, on a device whose memory is the host's."""

from __future__ import annotations

import ctypes
import sys

import numpy as np

import taeda


class HostMemory:
    def allocate(self, nbytes: int, index: int) -> tuple[int, object]:
        block = np.zeros(max(nbytes, 1), np.uint8)
        return block.ctypes.data, block

    def copy(self, to: int, source: int, nbytes: int) -> None:
        ctypes.memmove(to, source, nbytes)


taeda.utils.rename_privateuse1_backend("toy")
taeda._C._register_device("toy", HostMemory())
taeda.ops.load_library(sys.argv[1])
demo = taeda.ops.demo

x, width = taeda.linspace(-1, 1, 5), taeda.full((5,), 2.0)
bell = 3 * taeda.exp(-x * x * width)
mine, mine_width = (t.to("toy").requires_grad_() for t in (x, width))
made = demo.bell(mine, mine_width, height=3)
taeda.testing.assert_close(made.detach().cpu(), bell)
assert made.grad_fn.name() == "BellBackward0", made.grad_fn.name()

# In one pass: the device has no kernel for the ops of the derivative.
taeda.autograd.backward(made, taeda.ones(5).to("toy"))
taeda.testing.assert_close(mine.grad.cpu(), -2 * bell * x * width)
taeda.testing.assert_close(mine_width.grad.cpu(), -bell * x * x)

with taeda.no_grad():
    out = taeda.empty(5, device="toy")
    demo.bell.out(mine, mine_width, height=3, out=out)
    taeda.testing.assert_close(out.cpu(), bell)
    assert demo.bell_(out, mine_width) is out
    taeda.testing.assert_close(demo.tall(mine).cpu(), 3 * taeda.exp(-x * x * x))

try:
    demo.bell(x, width)
except NotImplementedError as error:
    assert "demo::bell has no kernel for cpu tensors; it has one for: " in str(error) and "toy" in str(error), error
else:
    raise AssertionError("the CPU has no kernel")

# Data of another layout finds its own kernel, here one for every device.
hops = taeda._C._foretell(demo.bell.default, taeda.device("toy"), taeda.sparse_coo)
assert hops[-1][1:3] == ("SparsePrivateUse1", "Sparse"), hops
sparse = taeda._C.DispatchKeySet("SparsePrivateUse1")
same = demo.bell.default.redispatch(sparse, mine.detach(), mine_width.detach())
taeda.testing.assert_close(same.cpu(), 3 * taeda.exp(-x * x * x))
