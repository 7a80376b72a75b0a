"""Damaged and hostile files: checkpoints of both formats, safetensors, data sets, event files. What is right is a
result or an error of the promised type that says whose it is; code from the file must never run."""

from __future__ import annotations

import gzip
import importlib.util
import io
import os
import pickle
import random
import resource
import struct
import sys
import tarfile
import tempfile
from collections import Counter, OrderedDict
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import taeda
from taeda import datasets
from taeda.utils.tensorboard import SummaryWriter

SECONDS = 60
# What only code from a file would do while it is read.
FORBIDDEN = (
    "os.system",
    "subprocess.",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "socket.connect",
    "shutil.",
    "os.remove",
    "exec",
)
_ran: list[str] = []
_watched = False


def tripwire(*args: Any) -> Any:
    """What hostile pickles call; nobody else does."""
    _ran.append("code from the file was called")


def _hear(event: str, args: tuple[Any, ...]) -> None:
    if _watched and event.startswith(FORBIDDEN) and (event != "exec" or args[0].co_filename.startswith("<")):
        _ran.append(f"the file caused {event} {args!r}"[:300])


class Evil:
    def __reduce__(self) -> Any:
        return tripwire, ("x",)


def prepare() -> None:
    if "TAEDA_SANITIZED" not in os.environ:  # a sanitizer reserves the whole address space
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    taeda.cpu.set_memory_limit(1 << 30)
    checkpoints()
    sys.addaudithook(_hear)


# --- files that are right


@cache
def checkpoints() -> tuple[bytes, ...]:
    taeda.manual_seed(0)
    model = taeda.nn.Sequential(taeda.nn.Linear(3, 2), taeda.nn.BatchNorm1d(2))
    optimizer = taeda.optim.AdamW(model.parameters())
    model(taeda.ones(2, 3)).sum().backward()
    optimizer.step()
    base = taeda.arange(12.0)
    objects: list[Any] = [
        {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3},
        OrderedDict(a=base, b=base[2:8:2], c=base.reshape(3, 4).t(), n=Counter("aab"), s={1, 2}, f=frozenset("x")),
        [taeda.tensor([1 + 2j]).conj(), taeda.empty(2, 3, device="meta"), taeda.ones(2, dtype=taeda.bfloat16)],
        (
            taeda.nn.Parameter(base),
            taeda.Size([1]),
            taeda.float16,
            taeda.device("cpu"),
            b"bytes",
            bytearray(b"x"),
            2**70,
        ),
        {"evil": Evil(), "w": base},
    ]
    made = []
    for obj in objects:
        for new in (True, False):
            file = io.BytesIO()
            taeda.save(obj, file, _use_new_zipfile_serialization=new)
            made.append(file.getvalue())
    return tuple(made)


@cache
def idx_files() -> tuple[bytes, ...]:
    made = [
        b"\0\0\x08\x03" + struct.pack(">III", 2, 3, 4) + bytes(range(24)),
        b"\0\0\x08\x01" + struct.pack(">I", 2) + b"\1\2",
    ]
    return (*made, *(gzip.compress(content, mtime=0) for content in made), gzip.compress(bytes(1 << 22), mtime=0))


@cache
def cifar_files() -> dict[str, bytes]:
    """The archives of CIFAR-10 for Python and in binary, small."""
    pixels = np.arange(2 * 3072, dtype=np.uint8).reshape(2, 3072)
    batch = pickle.dumps({b"data": pixels, b"labels": [0, 1], b"evil": "ctests\nevil\n"}, 2)
    python = {f"cifar-10-batches-py/data_batch_{i}": batch for i in range(1, 6)}
    python["cifar-10-batches-py/batches.meta"] = pickle.dumps({b"label_names": ["a", "b"]}, 2)
    binary = {f"cifar-10-batches-bin/data_batch_{i}.bin": b"\0" + bytes(3072) for i in range(1, 6)}
    binary["cifar-10-batches-bin/batches.meta.txt"] = b"a\nb\n"
    return python | binary


def tar(files: dict[str, bytes], compress: bool) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz" if compress else "w") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


# --- damage

HOSTILE_PICKLES = (
    b"cfuzz.files\ntripwire\n(tR.", b"\x80\x02cfuzz.files\ntripwire\n)R.", b"c__builtin__\neval\n(S'1'\ntR.",
    b"\x80\x04\x8c\x0bfuzz.files\x8c\x08tripwire\x93)R.", b"\x80\x02cbuiltins\nexec\nX\x01\x00\x00\x001\x85R.",
    b"\x8e" + b"\xff" * 7 + b"\x3f", b"\x96" + b"\xff" * 8, b"\x80\x02X\xff\xff\xff\x7f", b"(" * 3000, b"]" * 3000,
    b"}" + b"2\x86" * 100, b"\x80\x02cos\nsystem\nX\x01\x00\x00\x00:\x85R.", b"\x8b\xff\xff\xff\xff", b"N}b.",
)  # fmt: skip
NUMBERS = tuple(
    value.to_bytes(size, order, signed=value < 0)
    for size in (2, 4, 8) for order in ("little", "big")
    for value in (0, 1, 2 ** (8 * size - 1) - 1, -1, 2 ** (8 * size - 2), 65)
)  # fmt: skip


def damage(rng: random.Random, data: bytes) -> bytes:
    """``data`` with one to four things wrong."""
    made = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at, kind = rng.randrange(len(made) + 1), rng.random()
        length = rng.choice((1, 2, 4, 8, 30, 200))
        if kind < 0.3 and made:
            made[at % len(made)] = rng.randrange(256)
        elif kind < 0.4:
            del made[at:]
        elif kind < 0.5:
            del made[at : at + length]
        elif kind < 0.65:
            number = rng.choice(NUMBERS)
            made[at : at + len(number)] = number
        elif kind < 0.75:
            other = rng.randrange(len(made) + 1)
            made[at:at] = made[other : other + length]
        elif kind < 0.85:
            made[at : at + rng.choice((0, length))] = rng.choice(HOSTILE_PICKLES)
        elif kind < 0.93:
            other = rng.randrange(len(made) + 1)
            made[at : at + length], made[other : other + length] = made[other : other + length], made[at : at + length]
        else:
            made[at:at] = bytes([rng.randrange(256)]) * rng.choice((1, 100, 5000))
    return bytes(made)


def renamed(rng: random.Random, data: bytes) -> bytes:
    """With a global of the pickle made another one, as hostile files do."""
    names = [b"torch._utils\n_rebuild_tensor_v2", b"collections\nOrderedDict", b"torch\nFloatStorage",
             b"collections\nCounter", b"torch\ndevice", b"torch._utils\n_rebuild_parameter"]  # fmt: skip
    evil = [b"fuzz.files\ntripwire", b"os\nsystem", b"builtins\neval", b"torch\nload", b"builtins\ngetattr",
            b"io\nopen", b"torch.hub\nload", b"torch.utils.data\nDataLoader", b"numpy\nload"]  # fmt: skip
    return data.replace(b"c%s\n" % rng.choice(names), b"c%s\n" % rng.choice(evil + names))


# --- readers


def load_checkpoint(rng: random.Random, data: bytes, path: Path) -> None:
    by_path = rng.random() < 0.5
    if by_path:
        path.write_bytes(data)
    options: dict[str, Any] = {"mmap": True} if by_path and rng.random() < 0.3 else {}
    if rng.random() < 0.2:
        options["map_location"] = rng.choice(("cpu", "meta"))
    if rng.random() < 0.1:
        taeda.serialization.get_unsafe_globals_in_checkpoint(path if by_path else io.BytesIO(data))
        return
    taeda.load(path if by_path else io.BytesIO(data), **options)


def load_dataset(rng: random.Random, folder: Path) -> None:
    if rng.random() < 0.6:
        (folder / "x").write_bytes(damage(rng, rng.choice(idx_files())))
        datasets.mnist.read_idx(folder / "x")
        return
    files = dict(cifar_files())
    for name in rng.sample(sorted(files), 2):
        files[name] = damage(rng, files[name])
    binary = rng.random() < 0.5
    archive = tar({n: c for n, c in files.items() if ("-bin/" in n) == binary}, rng.random() < 0.8)
    archive = damage(rng, archive) if rng.random() < 0.5 else archive
    (folder / f"cifar-10-{'binary' if binary else 'python'}.tar.gz").write_bytes(archive)
    datasets.CIFAR10(folder)


VALUES: tuple[Callable[[], Any], ...] = (
    lambda: None, lambda: "x", lambda: "\ud800", lambda: taeda.ones(3), lambda: taeda.ones(2, 0), lambda: float("nan"),
    lambda: [[1], [2, 3]], lambda: {}, lambda: taeda.full((4, 4), float("inf")), lambda: 10**400, lambda: b"x",
    lambda: taeda.ones(1, 3, 4, 4), lambda: np.zeros((2, 2), dtype=object), lambda: {"a": 1}, lambda: taeda.tensor(1j),
    lambda: taeda.ones(2, device="meta"), lambda: -1, lambda: 0.5, lambda: taeda.zeros(5, dtype=taeda.int64),
)  # fmt: skip


def log_events(rng: random.Random, folder: Path) -> None:
    with SummaryWriter(folder) as writer:
        name = rng.choice([n for n in dir(writer) if n.startswith("add_") and n not in ("add_graph", "add_figure")])
        args = [rng.choice(VALUES)() for _ in range(rng.choice((1, 2, 2, 3)))]
        if rng.random() < 0.7:
            args[0] = "tag"
        getattr(writer, name)(*args)


@cache
def safetensors() -> Any:
    if importlib.util.find_spec("safetensors") is None:
        return None
    taeda.install_as_torch()
    import safetensors.torch

    return safetensors.torch


def load_safetensors(rng: random.Random, path: Path) -> None:
    library = safetensors()
    path.write_bytes(damage(rng, library.save({"a": taeda.arange(6.0), "b": taeda.ones(2, 3, dtype=taeda.int8)})))
    library.load_file(path)


# Of each kind: the errors that are right, and what their texts must hold.
_LOADING: tuple[tuple[type[BaseException], ...], str] = ((RuntimeError, pickle.UnpicklingError, EOFError), "taeda.load")
_DATA: tuple[tuple[type[BaseException], ...], str] = ((RuntimeError,), "damaged")
_ANY: tuple[tuple[type[BaseException], ...], str] = ((Exception,), "")
_LOGGING: tuple[tuple[type[BaseException], ...], str] = (
    (TypeError, ValueError, NotImplementedError, AssertionError, RuntimeError, OverflowError), "",
)  # fmt: skip


def make(number: int) -> tuple[str, Callable[[], str | None]]:
    rng = random.Random(number)
    kind = rng.choice(("checkpoint",) * 6 + ("data set",) * 2 + ("events", "safetensors"))
    if kind == "safetensors" and safetensors() is None:
        kind = "checkpoint"
    if kind == "checkpoint":
        data = rng.choice(checkpoints())
        data = renamed(rng, data) if rng.random() < 0.2 else damage(rng, data)
        return "checkpoint", lambda: outcome(_LOADING, lambda folder: load_checkpoint(rng, data, folder / "x"))
    if kind == "data set":
        return "data set", lambda: outcome(_DATA, lambda folder: load_dataset(rng, folder))
    if kind == "events":
        return "events", lambda: outcome(_LOGGING, lambda folder: log_events(rng, folder))
    return "safetensors", lambda: outcome(_ANY, lambda folder: load_safetensors(rng, folder / "x"))


def outcome(right: tuple[tuple[type[BaseException], ...], str], run: Callable[[Path], None]) -> str | None:
    """What is wrong with how it ends: None after a result or a right error."""
    global _watched
    types, wanted = right
    _ran.clear()
    with tempfile.TemporaryDirectory(dir=os.environ.get("FUZZ_FOLDER")) as folder:
        _watched = True
        try:
            run(Path(folder))
        except types as error:
            if wanted not in str(error):
                return f"an unclear {type(error).__name__}: {str(error)[:200]!r}"
        except BaseException as error:
            return f"an unexpected {type(error).__name__}: {str(error)[:200]!r}"
        finally:
            _watched = False
    return _ran[0] if _ran else None
