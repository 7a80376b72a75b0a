"""Makes random calls: ``python random_calls.py SEED COUNT LOG``. The last line of LOG is the last call begun."""

from __future__ import annotations

import os
import random
import sys
import warnings
from collections.abc import Callable
from typing import Any

import taeda
from taedagen.opdef import REGISTRY, Op, load_ops
from taedagen.opdef.schema import Type

# They block, leave the process, touch files or change it for all calls that follow.
LEFT_OUT = {
    "save", "load", "compile", "set_num_threads", "set_num_interop_threads", "set_default_device", "set_default_dtype",
    "set_printoptions", "set_default_tensor_type", "use_deterministic_algorithms", "set_warn_always", "share_memory_",
    "explain", "explain_calls", "set_flush_denormal", "from_file", "set_grad_enabled", "seed",
    "set_deterministic_debug_mode", "autograd_inc_dispatch", "set_autocast_enabled",
    # They make as many views as they are told to.
    "tensor_split", "hsplit", "vsplit", "dsplit", "chunk", "unsafe_chunk",
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
SMALL = (0, 1, 2, 3, -1, -2, 4, 7)
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


def typed(rng: random.Random, kind: Type) -> Any:
    """A value of the schema's type, so that the call gets past the parser; its size and value may be nonsense."""
    if kind.optional and rng.random() < 0.3:
        return None
    if kind.is_list:
        count = kind.list_size if kind.list_size and rng.random() < 0.8 else rng.randrange(4)
        return [typed(rng, Type(kind.base)) for _ in range(count)]
    if kind.base == "Tensor":
        return tensor(rng)
    if kind.base in ("int", "SymInt"):
        return rng.choice(SMALL) if rng.random() < 0.85 else rng.choice([n for n in NUMBERS if isinstance(n, int)])
    makers: dict[str, Callable[[], Any]] = {
        "Scalar": lambda: rng.choice(NUMBERS),
        "float": lambda: rng.choice((0.0, 0.5, 1.0, -1.0, 2.5, float("nan"), 1e300)),
        "bool": lambda: rng.random() < 0.5, "str": lambda: rng.choice(("mean", "sum", "none", "same", "ij,jk->ik", "")),
        "ScalarType": lambda: rng.choice(DTYPES), "Device": lambda: rng.choice(("cpu", "meta")),
    }  # fmt: skip
    return makers.get(kind.base, lambda: None)()


def typed_call(rng: random.Random, ops: list[Op]) -> tuple[str, Callable[..., Any], list[Any], dict[str, Any]]:
    """A call of a declared op with a public name, whose arguments have the right types."""
    while True:
        op = rng.choice(ops)
        packet = getattr(taeda.ops.aten, op.schema.name, None)
        function = getattr(packet, op.schema.overload or "default", None)
        if function is not None:
            break
    chosen = lambda a: a.default is None or rng.random() < (0.3 if a.keyword_only else 0.5)
    given = [a for a in op.schema.arguments if chosen(a)]
    positional = [a for a in op.schema.arguments if not a.keyword_only]
    count = sum(1 for a in positional if a in given)
    kwargs = {a.name: typed(rng, a.type) for a in given if a.keyword_only}
    return op.schema.full_name, function, [typed(rng, a.type) for a in positional[:count]], kwargs


def callables() -> list[tuple[str, Callable[..., Any]]]:
    """All public functions, those of a few rooms, and the methods of tensors as functions."""
    found: list[tuple[str, Callable[..., Any]]] = []
    rooms: list[tuple[str, Any]] = [("", taeda), ("nn.functional.", taeda.nn.functional), ("_C._nn.", taeda._C._nn)]
    rooms += [(f"{name}.", getattr(taeda, name)) for name in ("linalg", "special", "fft") if hasattr(taeda, name)]
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
    load_ops()
    ops = [
        op for d in REGISTRY.declarations if d.name not in LEFT_OUT and not d.options.get("unbound") for op in d.ops()
    ]
    rng, everything = random.Random(seed), callables()
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for _ in range(count):
        kwargs: dict[str, Any] = {}
        if rng.random() < 0.6:
            name, function, args, kwargs = typed_call(rng, ops)
        else:
            name, function = rng.choice(everything)
            args = [argument(rng) for _ in range(rng.randrange(5))]
            args = [tensor(rng), *args] if name.startswith("Tensor.") else args
        shown = [text(a) for a in args] + [f"{k}={text(v)}" for k, v in kwargs.items()]
        os.pwrite(log, f"{name}({', '.join(shown)})".ljust(2000)[:2000].encode() + b"\n", 0)
        try:
            result = function(*args, **kwargs)
            if isinstance(result, taeda.Tensor) and result.requires_grad and result.numel() == 1:
                result.backward()
        except Exception:  # any exception is an answer; what is tested is that there is one
            continue


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
