"""Faults in data loading: workers that are killed, exit, raise or hang, samples that do not pickle or do not fit
together. What is right is all samples, or an exception of the right type, soon, and no process or descriptor left."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from fuzz.programs import run_program

SECONDS = 300
LIMIT = 120

# What happens at one sample in the worker, and the exceptions that are right then; None: all samples come.
FAULTS: dict[str, tuple[str, str | None]] = {
    "os.kill(os.getpid(), signal.SIGKILL)": ("DIES", None),
    "os.kill(os.getpid(), signal.SIGSEGV)": ("DIES", None),
    "os._exit(3)": ("DIES", None),
    "sys.exit(2)": ("SystemExit RuntimeError", None),
    "raise KeyError('sample')": ("KeyError", None),
    "raise KeyboardInterrupt": ("KeyboardInterrupt RuntimeError", None),
    "raise Unpicklable()": ("Unpicklable RuntimeError", None),
    "raise TwoArguments(1, 2)": ("TwoArguments RuntimeError", None),
    "return lambda: 1": ("TypeError RuntimeError AttributeError PicklingError", None),
    "return torch.ones(index % 3 + 1)": ("RuntimeError", None),
    "return {'a': [1] * index}": ("RuntimeError TypeError", None),
    "return None": ("TypeError", None),
    "time.sleep(1000)": ("RuntimeError", "timeout"),
    "threading.Thread(target=time.sleep, args=(1000,)).start()": ("", None),
    "warnings.warn('hm')": ("", None),
    "return torch.ones(1000, 1000)": ("", None),
    "return torch.ones(3, requires_grad=True)": ("RuntimeError", None),
    "os.close(1)": ("OSError", None),  # where it is closed already
    "raise MemoryError": ("MemoryError", None),
    "signal.alarm(1); time.sleep(1000)": ("DIES", None),
}
PLACES = ("__getitem__", "collate", "worker_init")

PROGRAM = """
import os, pickle, signal, sys, threading, time, warnings
import taeda as torch
from taeda.utils.data import DataLoader, Dataset, IterableDataset
warnings.simplefilter("ignore")
class Unpicklable(Exception):
    def __init__(self): self.f = lambda: 1
class TwoArguments(Exception):
    def __init__(self, a, b): super().__init__("both")
def fault(index):
    {fault}
    return torch.full((2,), float(index))
class Map(Dataset):
    def __len__(self): return 12
    def __getitem__(self, index):
        if index == {at} and "{place}" == "__getitem__": return fault(index)
        return torch.full((2,), float(index))
class Flow(IterableDataset):
    def __iter__(self): return (Map()[i] for i in range(12))
def collate(samples):
    from taeda.utils.data import default_collate
    return fault(1) if "{place}" == "collate" else default_collate(samples)
def begin(worker):
    if "{place}" == "worker_init": fault(worker)
def main():
    before = len(os.listdir("/proc/self/fd"))
    loader = DataLoader({dataset}(), batch_size={batch}, num_workers={workers}, collate_fn=collate,
                        worker_init_fn=begin, timeout={timeout}, persistent_workers={persistent},
                        prefetch_factor={prefetch})
    for epoch in range({epochs}):
        try:
            seen = sum(1 for _ in loader)
            print("seen", seen)
        except BaseException as error:
            names = [c.__name__ for c in type(error).__mro__]
            print("raised", *names, "|", str(error)[:300].replace(chr(10), " "))
            del error
    del loader
    import gc; gc.collect()
    time.sleep(0.1)
    extra = len(os.listdir("/proc/self/fd")) - before
    print("descriptors", extra)
if __name__ == "__main__":
    main()
"""


def prepare() -> None:
    pass


def make(number: int) -> tuple[str, Callable[[], str | None]]:
    rng = random.Random(number)
    fault = rng.choice(sorted(FAULTS))
    place = rng.choice(("__getitem__", "__getitem__", "collate", "worker_init"))
    settings: dict[str, Any] = {
        "fault": fault, "place": place, "at": rng.randrange(12), "dataset": rng.choice(("Map", "Map", "Flow")),
        "batch": rng.choice((1, 3, 5)), "workers": rng.choice((1, 2, 3)), "persistent": rng.random() < 0.3,
        "prefetch": rng.choice((1, 2, 4)), "epochs": rng.choice((1, 2)),
        "timeout": 5 if FAULTS[fault][1] == "timeout" else rng.choice((0, 60)),
    }  # fmt: skip
    if place == "worker_init" and FAULTS[fault][1] == "timeout":
        settings["place"] = "__getitem__"
    text = ", ".join(f"{key}={value!r}" for key, value in settings.items())
    return f"DataLoader({text})", lambda: check(PROGRAM.format(**settings), FAULTS[fault][0].split())


def check(program: str, right: list[str]) -> str | None:
    status, said = run_program(program, LIMIT)
    if status is None:
        return f"does not end: {said}"
    if status != 0:
        return f"ends with {status}: {said}"
    wanted = ["RuntimeError"] if right == ["DIES"] else right
    for line in said.splitlines():
        if line.startswith("raised"):
            names = line.partition("|")[0].split()[1:]
            if not set(names) & {*wanted, "RuntimeError"}:
                return f"an unexpected exception: {line}"
        if line.startswith("descriptors") and int(line.split()[1]) > 2:
            return f"{line} left open: {said}"
    return None if "descriptors" in said else f"said nothing of its end: {said}"
