"""A device of one's own, written outside of Taeda: memory, kernels, a fallback, and a network that trains on it.

    python examples/own_device.py

The device is called "toy". Its memory are NumPy arrays that only its own functions touch; a dozen ops have kernels in
NumPy, and all others run on the CPU between two copies. The parts stand in the order in which one would write them.
"""

from __future__ import annotations

import collections

import numpy as np

import taeda as torch
from taeda.library import Library
from taeda.utils.backend_registration import generate_methods_for_privateuse1_backend, rename_privateuse1_backend


# 1. Memory. Addresses are what the core knows of it; `write` and `read` are the only way in and out, as with a GPU.
class ToyMemory:
    """What ``_register_device`` asks of a device."""

    def __init__(self):
        self.blocks = {}  # address: the array that owns it

    def allocate(self, nbytes, index):
        block = np.zeros(max(nbytes, 1), np.uint8)
        address = block.ctypes.data
        self.blocks[address] = block
        return address, Owner(self.blocks, address)

    def copy(self, to, source, nbytes):
        self.bytes_at(to, nbytes)[:] = self.bytes_at(source, nbytes)

    def read(self, address, into):
        into[:] = self.bytes_at(address, len(into)).data

    def write(self, address, data):
        self.bytes_at(address, len(data))[:] = np.frombuffer(data, np.uint8)

    def bytes_at(self, address, nbytes):
        """A view of a block, or of a part of one: tensors may begin in the middle."""
        for start, block in self.blocks.items():
            if start <= address and address + nbytes <= start + block.size:
                return block[address - start :][:nbytes]
        raise RuntimeError(f"toy: {address:#x} is no memory of this device")


class Owner:
    """Lives as long as the core uses a block."""

    def __init__(self, blocks, address):
        self.blocks, self.address = blocks, address

    def __del__(self):
        self.blocks.pop(self.address, None)


memory = ToyMemory()
rename_privateuse1_backend("toy")
torch._C._register_device("toy", memory)
generate_methods_for_privateuse1_backend(for_packed_sequence=False)

# 2. Kernels. They get tensors, and look at their memory as arrays.
_DTYPES = {
    torch.float32: np.float32, torch.float64: np.float64, torch.int64: np.int64, torch.int32: np.int32,
    torch.bool: np.bool_,
}  # fmt: skip
library = Library("aten", "IMPL", "PrivateUse1")
calls = collections.Counter()


def array(tensor):
    """The memory of a tensor on the device, as NumPy sees it."""
    dtype = np.dtype(_DTYPES[tensor.dtype])
    span = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    raw = memory.bytes_at(tensor.data_ptr(), span * dtype.itemsize if tensor.numel() else 0)
    strides = [stride * dtype.itemsize for stride in tensor.stride()]
    return np.ndarray(tuple(tensor.shape), dtype, raw.data, 0, strides)


def value(x):
    return array(x) if isinstance(x, torch.Tensor) else x


def give(result, dtype):
    """An array as a new tensor on the device."""
    out = torch.empty(result.shape, dtype=dtype, device="toy")
    array(out)[...] = result
    return out


def dtype_of(a, b):
    """Of a result; a Python number leaves a tensor's dtype as it is."""
    return torch.promote_types(a.dtype, b.dtype) if isinstance(b, torch.Tensor) else a.dtype


def kernel(*names):
    """Registers a function as the device's kernel of some ops, and counts its calls."""

    def register(function):
        for name in names:

            def counted(*args, _name=name, **kwargs):
                calls[_name] += 1
                return function(*args, **kwargs)

            library.impl(name, counted)
        return function

    return register


@kernel("add.Tensor")
def add(a, b, *, alpha=1):
    return give(value(a) + alpha * value(b), dtype_of(a, b))


@kernel("sub.Tensor")
def sub(a, b, *, alpha=1):
    return give(value(a) - alpha * value(b), dtype_of(a, b))


@kernel("mul.Tensor", "mul.Scalar")
def mul(a, b):
    return give(value(a) * value(b), dtype_of(a, b))


@kernel("add_.Tensor")
def add_(a, b, *, alpha=1):
    array(a)[...] += alpha * value(b)
    return a


@kernel("neg")
def neg(a):
    return give(-array(a), a.dtype)


@kernel("mm")
def mm(a, b):
    return give(array(a) @ array(b), a.dtype)


@kernel("addmm")
def addmm(bias, a, b, *, beta=1, alpha=1):
    return give(beta * array(bias) + alpha * (array(a) @ array(b)), a.dtype)


@kernel("linear")
def linear(x, weight, bias=None):
    product = array(x) @ array(weight).T
    return give(product if bias is None else product + array(bias), x.dtype)


@kernel("relu")
def relu(a):
    return give(np.maximum(array(a), 0), a.dtype)


@kernel("threshold_backward")
def threshold_backward(grad, a, threshold):
    return give(np.where(array(a) > threshold, array(grad), 0), grad.dtype)


@kernel("sum", "sum.dim_IntList")
def sum_of(a, dim=None, keepdim=False, *, dtype=None):
    result = np.sum(array(a), axis=tuple(dim) if dim else None, keepdims=keepdim)
    return give(np.asarray(result), dtype or (a.dtype if a.is_floating_point() else torch.int64))


@kernel("fill_.Scalar")
def fill_(a, number):
    array(a)[...] = number
    return a


@kernel("zero_")
def zero_(a):
    array(a)[...] = 0
    return a


# 3. Everything else: on the CPU, between two copies.
everything = Library("_", "IMPL")
fallen_back = collections.Counter()


def move(x, device):
    if isinstance(x, torch.Tensor):
        return x.to(device) if x.device.type in ("toy", "cpu") else x
    if isinstance(x, torch.device) and x.type == "toy":
        return torch.device(device)
    return type(x)(move(item, device) for item in x) if isinstance(x, (list, tuple)) else x


def on_cpu(op, *args, **kwargs):
    fallen_back[op.name()] += 1
    there = move(args, "cpu"), {name: move(x, "cpu") for name, x in kwargs.items()}
    result = op(*there[0], **there[1])
    for argument, given, used in zip(op._schema.arguments, args, there[0]):
        if argument.is_write:
            given.copy_(used)
    for argument in op._schema.arguments:
        if argument.is_write and argument.name in kwargs:
            kwargs[argument.name].copy_(there[1][argument.name])
    return move(result, "toy")


everything.fallback(on_cpu, "PrivateUse1")


# 4. A network that learns to tell whether points lie inside a circle.
def main():
    torch.manual_seed(0)
    points = torch.rand(256, 2) * 2 - 1
    inside = ((points * points).sum(1, keepdim=True) < 0.5).to(torch.float32)
    points, inside = points.to("toy"), inside.to("toy")
    model = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1)).to("toy")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5, foreach=False)
    for step in range(201):
        error = model(points) - inside
        loss = (error * error).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            print(f"step {step:3}  loss {loss.item():.4f}")
    right = ((model(points) > 0.5) == (inside > 0.5)).to(torch.float32).mean().item()
    print(f"{100 * right:.0f}% of the points are told right, on {next(model.parameters()).device}")
    print("kernels of the device:", ", ".join(f"{name} {count}" for name, count in calls.most_common()))
    print("run by the CPU for it:", ", ".join(f"{name} {count}" for name, count in fallen_back.most_common()))


if __name__ == "__main__":
    main()
