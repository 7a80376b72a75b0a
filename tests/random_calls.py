"""Makes random calls: ``python random_calls.py SEED COUNT LOG``. The last line of LOG is the last call begun."""

from __future__ import annotations

import os
import random
import sys
import warnings
from collections.abc import Callable
from typing import Any

import taeda

# They block, leave the process, touch files or change it for all calls that follow.
LEFT_OUT = {
    "save", "load", "compile", "set_num_threads", "set_num_interop_threads", "set_default_device", "set_default_dtype",
    "set_printoptions", "set_default_tensor_type", "use_deterministic_algorithms", "set_warn_always", "share_memory_",
    "explain", "explain_calls", "set_flush_denormal", "from_file", "set_grad_enabled", "seed",
    "set_deterministic_debug_mode", "autograd_inc_dispatch", "set_autocast_enabled",
}  # fmt: skip
SIZES = ((), (1,), (3,), (2, 3), (0,), (2, 0, 3), (1, 1, 4), (2, 3, 4), (2, 3, 4, 5))
DTYPES = (
    taeda.float32,
    taeda.float64,
    taeda.int64,
    taeda.bool,
    taeda.uint8,
    taeda.bfloat16,
    taeda.complex64,
    taeda.int32,
)
NUMBERS = (
    0,
    1,
    2,
    3,
    -1,
    -2,
    7,
    2**31,
    2**62,
    -(2**62),
    2**63 - 1,
    -(2**63),
    0.5,
    -1.5,
    1e300,
    float("nan"),
    float("inf"),
    True,
)
OTHERS = (
    None,
    "",
    "mean",
    "sum",
    "reflect",
    "ij,jk->ik",
    b"x",
    object(),
    {},
    taeda.float32,
    taeda.strided,
    1j,
    [],
    (),
    slice(1, 3),
)


def tensor(rng: random.Random) -> Any:
    size, dtype = rng.choice(SIZES), rng.choice(DTYPES)
    made = taeda.ones(size, dtype=dtype) if rng.random() < 0.5 else taeda.zeros(size, dtype=dtype)
    form = rng.random()
    if form < 0.15 and made.dim():
        made = made.transpose(0, -1)
    elif form < 0.25 and made.dim():
        made = made[..., :1].expand(made.shape) if made.numel() else made
    elif form < 0.3:
        made = made.to("meta")
    if rng.random() < 0.2 and made.is_floating_point() and made.is_leaf:
        made.requires_grad_()
    return made


def argument(rng: random.Random) -> Any:
    kind = rng.random()
    if kind < 0.45:
        return tensor(rng)
    if kind < 0.7:
        return rng.choice(NUMBERS)
    if kind < 0.8:
        return [rng.choice((0, 1, 2, 3, -1, 5, 2**40)) for _ in range(rng.randrange(5))]
    if kind < 0.85:
        return [tensor(rng) for _ in range(rng.randrange(4))]
    return rng.choice(OTHERS)


def callables() -> list[tuple[str, Callable[..., Any]]]:
    """All public functions, those of a few rooms, and the methods of tensors as functions."""
    found: list[tuple[str, Callable[..., Any]]] = []
    rooms = [("", taeda), ("nn.functional.", taeda.nn.functional), ("_C._nn.", taeda._C._nn)]
    for name in ("linalg", "special", "fft"):
        try:
            rooms.append((f"{name}.", getattr(taeda, name)))
        except AttributeError:
            continue
    for prefix, room in [*rooms, ("Tensor.", taeda.Tensor)]:
        for name in sorted(dir(room)):
            if name.startswith("_") or name in LEFT_OUT:
                continue
            try:
                value = getattr(room, name)
            except AttributeError:
                continue
            if callable(value) and not isinstance(value, type):
                found.append((prefix + name, value))
    return found


def text(value: Any) -> str:
    if isinstance(value, taeda.Tensor):
        return f"{str(value.dtype)[6:]}{list(value.shape)} strides {value.stride()}{' meta' * value.is_meta}"
    return f"[{', '.join(map(text, value))}]" if isinstance(value, list) else repr(value)


def main(seed: int, count: int, path: str) -> None:
    warnings.simplefilter("ignore")
    taeda.cpu.set_memory_limit(1 << 30)
    rng, everything = random.Random(seed), callables()
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for _ in range(count):
        name, function = rng.choice(everything)
        args = [argument(rng) for _ in range(rng.randrange(5))]
        if name.startswith("Tensor."):
            args = [tensor(rng), *args]
        os.pwrite(log, f"{name}({', '.join(map(text, args))})".ljust(2000)[:2000].encode() + b"\n", 0)
        try:
            result = function(*args)
            if isinstance(result, taeda.Tensor) and result.requires_grad and result.numel() == 1:
                result.backward()
        except Exception:  # any exception is an answer; what is tested is that there is one
            continue


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
