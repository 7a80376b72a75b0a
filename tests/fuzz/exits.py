"""Interpreters that exit in odd places, and saves that do not get to their end. What is right is the exit status that
Python's own rules give, within reason soon, and files that are whole."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from fuzz.programs import run_program

SECONDS = 300
LIMIT = 90  # seconds that one program may take, on a busy machine

HEAD = """
import atexit, os, signal, sys, threading, time, weakref
import taeda as torch
from taeda.utils.data import DataLoader
x = torch.ones(64, 64, requires_grad=True)
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2
    @staticmethod
    def backward(ctx, g): return g * 2
def lines():
    with torch.no_grad():
        yield torch.ones(3)
        yield torch.ones(4)
class Dies:
    def __init__(self): self.t = torch.ones(10)
    def __del__(self): (self.t + 1).sum()
def hooked(*a): time.sleep(0.001)
"""
# What a thread does for ever, and where the main thread may stop.
LOOPS = (
    "(x @ x).sum()", "torch.sort(torch.rand(20000))", "(torch.ones(64, requires_grad=True) * 2).sum().backward()",
    "Double.apply(torch.ones(3, requires_grad=True)).sum().backward()", "torch.randn(100000)",
    "torch.zeros(2000000).fill_(1)",
    "torch.nn.Linear(64, 64)(x).relu().sum().backward()", "list(lines())", "torch.func.vmap(torch.sin)(x)",
    "torch.linalg.svd(x.detach())", "torch.nn.functional.conv2d(torch.ones(1, 3, 32, 32), torch.ones(4, 3, 3, 3))",
    "y = x * 2; y.register_hook(hooked); y.sum().backward()", "torch.tensor([[1.0, 2.0]] * 100)", "x.tolist()",
    "torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=False).sum().backward()", "x.detach().numpy().sum()",
    "torch.save(x, os.devnull)", "torch.cdist(x, x)", "torch.autograd.forward_ad.make_dual if 0 else x.exp()",
)  # fmt: skip
# How the program ends, and with which status.
ENDS = (
    ("", 0), ("sys.exit(7)", 7), ("raise SystemExit", 0), ("raise KeyError('end')", 1), ("os._exit(5)", 5),
    ("atexit.register(lambda: (x @ x).sum())", 0), ("atexit.register(lambda: (x * 2).sum().backward())", 0),
    ("keep = Dies(); sys.modules['keep'] = keep", 0), ("signal.raise_signal(signal.SIGINT)", -signal.SIGINT),
    ("g = lines(); next(g)", 0), ("weakref.finalize(x, lambda: torch.ones(3) + 1)", 0),
    ("cycle = [x]; cycle.append(cycle); x.cycle = cycle", 0),
    ("torch.overrides.TorchFunctionMode().__enter__()", 0), ("torch.no_grad().__enter__()", 0),
    ("h = x.register_hook(lambda g: sys.exit(3)); (x * 2).sum().backward()", 3),
    ("torch.set_num_threads(1); torch.set_num_threads(3)", 0),
    ("it = iter(DataLoader(list(range(20)), num_workers=1)); next(it)", 0),
    ("torch.nn.Linear(3, 3).register_forward_hook(lambda *a: sys.exit(4)); m = torch.nn.Identity(); "
     "m.register_forward_hook(lambda *a: sys.exit(4)); m(x)", 4),
)  # fmt: skip

SAVES = """
import os, sys, resource, signal, taeda as torch
torch.manual_seed(0)
state = {str(i): torch.randn(300, 300) for i in range(8)}
for round in range(1000):
    state["round"] = round
    torch.save(state, sys.argv[1], _use_new_zipfile_serialization=round % 2 == 0)
    if round == 0:
        os.write(1, b"ready")
"""
FULL = """
import os, resource, signal, sys, taeda as torch
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path, limit, new = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "1"
torch.save("old", path)
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    torch.save({"w": torch.ones(100_000)}, path, _use_new_zipfile_serialization=new)
except OSError as error:
    assert error.filename in (None, path), error.filename
else:
    assert limit > 400_000, "no error at the limit"
found = torch.load(path)
assert found == "old" or limit > 400_000
assert os.listdir(os.path.dirname(path)) == [os.path.basename(path)], os.listdir(os.path.dirname(path))
"""


def prepare() -> None:
    pass


def make(number: int) -> tuple[str, Callable[[], str | None]]:
    rng = random.Random(number)
    kind = rng.random()
    if kind < 0.15:
        return "a save that is killed", lambda: killed_save(rng)
    if kind < 0.25:
        limit, new = rng.choice((0, 100, 5000, 70_000, 399_999, 500_000)), rng.choice("01")
        return f"a full disk({limit}, new={new})", lambda: full_disk(limit, new)
    loops = rng.sample(LOOPS, rng.choice((0, 1, 1, 2)))
    end, status = rng.choice(ENDS)
    threads = "".join(
        f"def loop{i}():\n    while True:\n        {loop}\nthreading.Thread(target=loop{i}, daemon=True).start()\n"
        for i, loop in enumerate(loops)
    )
    # Once before any thread does: what threads import would make CPython 3.11 itself end by a signal at times, which
    # plain threads that take and release the lock of imports show. It frees that lock while one is about to wake from
    # it; and a thread that makes a named tuple takes the mark of an unhandled KeyboardInterrupt off.
    first = "".join(f"{loop}\n" for loop in loops)
    program = f"{HEAD}{first}{threads}time.sleep({rng.choice((0, 0.05, 0.3))})\n{end}\n"
    return f"exit({loops}, then {end or 'the end'!r})", lambda: ends_with(program, status)


def ends_with(program: str, wanted: int) -> str | None:
    status, said = run_program(program, LIMIT)
    if status is None:
        return f"does not end: {said}"
    return None if status == wanted else f"ends with {status}, not {wanted}: {said}"


def full_disk(limit: int, new: str) -> str | None:
    with tempfile.TemporaryDirectory(dir=os.environ.get("FUZZ_FOLDER")) as folder:
        status, said = run_program(FULL, LIMIT, (f"{folder}/x", str(limit), new))
    return None if status == 0 else f"ends with {status}: {said}"


def killed_save(rng: random.Random) -> str | None:
    import taeda

    with tempfile.TemporaryDirectory(dir=os.environ.get("FUZZ_FOLDER")) as folder:
        path = Path(folder, "x")
        child = subprocess.Popen([sys.executable, "-c", SAVES, str(path)], stdout=subprocess.PIPE)
        assert child.stdout is not None
        if child.stdout.read(5) != b"ready":
            return f"could not save at all: {child.wait()}"
        time.sleep(rng.random() * 0.2)
        child.kill()
        child.wait()
        child.stdout.close()
        state = taeda.load(path)
        if len(state) != 9 or not all(state[str(i)].shape == (300, 300) for i in range(8)):
            return "the file is not whole"
        for name in os.listdir(folder):  # in the moment before a file takes the older one's name it has its own
            os.utime(Path(folder, name), (0, 0))
        taeda.save(state, path)
        left = sorted(set(os.listdir(folder)) - {"x"})
        return f"left behind: {left}" if left else None
