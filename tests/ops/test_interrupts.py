"""Signals that arrive while a library's kernel runs: their handlers' frames overwrite nothing."""

import subprocess
import sys

import pytest

PROGRAM = """
import signal, sys, time
import taeda as torch
F = torch.nn.functional
torch.manual_seed(0)
torch.set_num_threads(int(sys.argv[1]))
m, x, q = torch.randn(700, 700), torch.randn(4, 16, 32, 32), torch.randn(2, 4, 200, 64)
w, image = torch.randn(32, 16, 3, 3), torch.randn(2, 8, 8, 16, 16)
lstm, steps = torch.nn.LSTM(128, 128), torch.randn(20, 8, 128)
square, real = torch.randn(150, 150), torch.randn(64, 4096)
positive = square @ square.T + 150 * torch.eye(150)
ints = torch.randint(-9, 9, (200, 200), dtype=torch.int8)

def gradients(f, *inputs):
    inputs = [t.detach().clone().requires_grad_() for t in inputs]
    return torch.autograd.grad(f(*inputs).square().sum(), inputs)

KERNELS = {
    "sgemm": lambda: m @ m, "sgemm of a transpose": lambda: m @ m.T, "sgemm of rows": lambda: m[:100] @ m,
    "bmm": lambda: q @ q.mT, "sgemv": lambda: m @ m[0], "dgemm": lambda: m.double() @ m.double(),
    "cgemm": lambda: m[:300].cfloat() @ m.cfloat(), "bfloat16": lambda: m.bfloat16() @ m.bfloat16(),
    "float16": lambda: m.half() @ m.half(), "int8": lambda: ints @ ints,
    "conv": lambda: F.conv2d(x, w, padding=1), "conv of half": lambda: F.conv2d(x.bfloat16(), w.bfloat16()),
    "grouped conv": lambda: F.conv2d(x, w[:16, :1], groups=16),
    "conv backward": lambda: gradients(lambda a, b: F.conv2d(a, b, stride=2), x, w),
    "dilated conv backward": lambda: gradients(lambda a, b: F.conv2d(a, b, dilation=2), x, w),
    "transposed conv backward": lambda: gradients(lambda a, b: F.conv_transpose2d(a, b, stride=2), x, w.mT[:16]),
    "conv3d backward": lambda: gradients(F.conv3d, image, torch.ones(8, 8, 3, 3, 3)),
    "lstm": lambda: gradients(lambda a: lstm(a)[0], steps),
    "attention": lambda: gradients(lambda a: F.scaled_dot_product_attention(a, a, a), q),
    "lu": lambda: torch.linalg.lu_factor(square), "solve": lambda: torch.linalg.solve(square, square),
    "cholesky": lambda: torch.linalg.cholesky(positive), "eigh": lambda: torch.linalg.eigvalsh(positive),
    "qr": lambda: torch.linalg.qr(square), "svd": lambda: torch.linalg.svdvals(square),
    "eig": lambda: torch.linalg.eigvals(square).abs().sort()[0], "lstsq": lambda: torch.linalg.lstsq(square, square)[0],
    "fft": lambda: torch.fft.fft(real), "sort": lambda: torch.sort(m), "exp": lambda: torch.exp(m),
}

handled = 0
def handle(*_):
    global handled
    handled += 1
    sum(range(50))

def same(a, b):
    return torch.equal(a, b) if isinstance(a, torch.Tensor) else all(map(same, a, b))

signal.signal(signal.SIGALRM, handle)
for name, kernel in KERNELS.items():
    calm, before = kernel(), handled
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    end = time.monotonic() + 0.08
    while time.monotonic() < end or handled < before + 5:
        if not same(calm, kernel()):
            sys.exit(f"{name}: another result under signals")
    signal.setitimer(signal.ITIMER_REAL, 0)
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_kernels_under_a_fast_timer(threads):
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(threads)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
