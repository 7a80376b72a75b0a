"""The end of the interpreter while other threads compute, and capsules that claim what they have not."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

import taeda

THREADS = {
    "backward": "x = torch.ones(100, requires_grad=True); (x * 2).sum().backward()",
    "kernel": "torch.ones(300, 300) @ torch.ones(300, 300)",
    "function": "x = torch.ones(100, requires_grad=True); Twice.apply(x).sum().backward()",
    "hook": "x = torch.ones(100, requires_grad=True); y = x * 2; y.register_hook(slow); y.sum().backward()",
    "saved tensors": """
        with torch.autograd.graph.saved_tensors_hooks(slow, slow):
            (torch.ones(100, requires_grad=True) ** 2).sum().backward()
    """,
    "dispatch mode": """
        with Mode():
            torch.ones(100) * 2
    """,
}
DEFINITIONS = """
import sys, threading, time
import taeda as torch
from taeda.utils._python_dispatch import TorchDispatchMode

def slow(x):
    for _ in range(1000):
        pass
    return x

class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return slow(x * 2)
    @staticmethod
    def backward(ctx, grad):
        return slow(grad * 2)

class Mode(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return slow(func(*args, **(kwargs or {})))
"""
PROGRAM = f"""{DEFINITIONS}
def body():
    while True:
        if True:
            BODY

sys.setswitchinterval(1e-5)
for _ in range(3):
    threading.Thread(target=body, daemon=True).start()
time.sleep(0.1)
"""


@pytest.mark.parametrize("what", THREADS)
def test_daemon_threads_do_not_disturb_the_exit(what: str) -> None:
    program = PROGRAM.replace("BODY", THREADS[what].strip().replace("\n", "\n    "))
    running = [subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True) for _ in range(3)]
    for process in running:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors


LATE = f"""
import ctypes
library = ctypes.CDLL(None)
library.on_exit(library.sleep, None)  # as many seconds as the status says, behind the end of the interpreter
{DEFINITIONS}
x = torch.ones(10_000_000, requires_grad=True)
y = BEGIN
for _ in range(40):
    y = y * 2
threading.Thread(target=y.sum().backward, daemon=True).start()
time.sleep(0.02)
sys.exit(1)
"""
LATE_CALLS = {
    "function": "Twice.apply(x)",
    "hook": "x * 2; y.register_hook(lambda grad: None)",
    "saved tensors": "x; torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x).__enter__(); y = x**2",
}


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "on_exit"), reason="this C library has no on_exit")
@pytest.mark.parametrize("what", LATE_CALLS)
def test_calls_of_python_behind_its_end_wait_for_that_of_the_process(what: str) -> None:
    """A thread between two nodes of a graph when the interpreter ends: the next one's Python is gone."""
    program = LATE.replace("BEGIN", LATE_CALLS[what])
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 1, ended.stderr


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Managed(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device", Device), ("ndim", ctypes.c_int), ("dtype", DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
    ]  # fmt: skip


KEPT = []  # a capsule does not own what it points to


def capsule(managed: Managed) -> object:
    KEPT.append(managed)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.addressof(managed), b"dltensor", None)


def test_capsules_without_memory_or_shape_are_refused() -> None:
    shape, floats = (ctypes.c_int64 * 1)(4), DataType(2, 32, 1)
    with pytest.raises(RuntimeError, match="no memory"):
        taeda.from_dlpack(capsule(Managed(None, Device(1, 0), 1, floats, shape)))
    with pytest.raises(RuntimeError, match="no shape"):
        taeda.from_dlpack(capsule(Managed(1, Device(1, 0), 1, floats, None)))
    shape[0] = 0
    assert taeda.from_dlpack(capsule(Managed(None, Device(1, 0), 1, floats, shape))).shape == (0,)
