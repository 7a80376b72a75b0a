"""Random, mostly wrong calls of every operator, function and method, under guard pages: exceptions are fine.

Call number n goes to target n modulo the number of targets, so that ``target_count()`` calls in a row reach every
operator, public function and method.
"""

from __future__ import annotations

import inspect
import os
import random
import resource
import signal
from collections.abc import Callable
from functools import cache
from typing import Any

import taeda
from fuzz.hostile_values import MORE_DTYPES, hostile
from fuzz.other_data import packed, quantised, sparse
from taeda.testing._samples import make as make_sample
from taeda.testing._samples import samples
from taedagen.opdef import REGISTRY, Op, load_ops
from taedagen.opdef.schema import Type

# They block, leave the process, touch files or change it for all calls that follow.
LEFT_OUT = {
    "save", "load", "compile", "set_num_threads", "set_num_interop_threads", "set_default_device", "set_default_dtype",
    "set_printoptions", "set_default_tensor_type", "use_deterministic_algorithms", "set_warn_always", "share_memory_",
    "explain", "explain_calls", "set_flush_denormal", "from_file", "set_grad_enabled", "seed",
    "set_deterministic_debug_mode", "autograd_inc_dispatch", "set_autocast_enabled",
    "set_autocast_dtype", "set_autocast_cpu_enabled", "set_autocast_cpu_dtype", "set_autocast_gpu_dtype",
    "set_autocast_cache_enabled", "autocast_increment_nesting", "autocast_decrement_nesting", "set_anomaly_enabled",
}  # fmt: skip
SECONDS = 60
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
    *MORE_DTYPES,
)
SMALL = (0, 1, 2, 3, -1, -2, 4, 7)
HUGE = (2**31, 2**62, -(2**62), 2**63 - 1, -(2**63), 2**64, -(2**70))
NUMBERS = (*SMALL, *HUGE, 0.5, -1.5, 1e300, float("nan"), float("inf"), True)
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
Call = tuple[str, Callable[..., Any], list[Any], dict[str, Any]]


# --- values


def tensor(rng: random.Random) -> Any:
    size, dtype = rng.choice(SIZES), rng.choice(DTYPES)
    made = taeda.ones(size, dtype=dtype) if rng.random() < 0.5 else taeda.zeros(size, dtype=dtype)
    if rng.random() < 0.35:
        made = spoiled_tensor(rng, made)
    if rng.random() < 0.2 and isinstance(made, taeda.Tensor) and can_require_grad(made):
        made.requires_grad_()
    return made


def can_require_grad(t: Any) -> bool:
    return (t.is_floating_point() or t.is_complex()) and t.is_leaf and not t.is_inference()


def overlapping(t: Any) -> Any:
    return t[..., :1].expand(t.shape) if t.dim() and t.numel() else t


def in_inference_mode(t: Any) -> Any:
    with taeda.inference_mode():
        return t.clone()


# What may be wrong with a tensor.
SPOILERS: tuple[Callable[[random.Random, Any], Any], ...] = (
    lambda rng, t: None,
    lambda rng, t: t.to("meta"),
    lambda rng, t: t.to(rng.choice(DTYPES)),
    lambda rng, t: t.unsqueeze(0),
    lambda rng, t: t.sum(),
    lambda rng, t: t.new_empty(()),
    lambda rng, t: t.new_empty((0, *t.shape[1:])),
    lambda rng, t: t.flatten(),
    lambda rng, t: t.transpose(0, -1),
    lambda rng, t: overlapping(t),
    lambda rng, t: t[..., ::2],
    lambda rng, t: taeda.full_like(t, rng.choice((-1, 100, float("nan"), float("inf"), 2**31, -(2**62)))),
    lambda rng, t: in_inference_mode(t),
    lambda rng, t: t.conj(),
    lambda rng, t: [t],
    lambda rng, t: quantised(rng, t),
    lambda rng, t: sparse(rng, t),
    lambda rng, t: tensor(rng),
)


def spoiled_tensor(rng: random.Random, t: Any) -> Any:
    try:
        return rng.choice(SPOILERS)(rng, t.detach())
    except (RuntimeError, IndexError, TypeError, ValueError):  # it has no such form
        return t


def spoiled(rng: random.Random, value: Any) -> Any:
    """Something in the place of a right argument that is probably wrong."""
    if rng.random() < 0.15:
        return hostile(rng)
    if isinstance(value, taeda.Tensor):
        return spoiled_tensor(rng, value)
    if isinstance(value, (list, tuple)) and value and rng.random() < 0.7:
        place = rng.randrange(len(value))
        changed = list(value)
        changed[place : place + 1] = rng.choice(([], [spoiled(rng, changed[place])], [changed[place]] * 2))
        return changed
    if isinstance(value, (bool, int, float)) and rng.random() < 0.8:
        return rng.choice(NUMBERS)
    return argument(rng)


def argument(rng: random.Random) -> Any:
    kind = rng.random()
    if rng.random() < 0.1:
        return hostile(rng)
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
    if (kind.optional and rng.random() < 0.3) or rng.random() < 0.02:
        return None
    if kind.is_list:
        count = kind.list_size if kind.list_size and rng.random() < 0.8 else rng.randrange(4)
        return [typed(rng, Type(kind.base)) for _ in range(count)]
    if kind.base == "Tensor":
        return tensor(rng)
    if kind.base.startswith("__torch__"):
        return packed(rng, kind.base, argument)
    if kind.base in ("int", "SymInt"):
        return rng.choice(SMALL) if rng.random() < 0.85 else rng.choice(HUGE)
    makers: dict[str, Callable[[], Any]] = {
        "Scalar": lambda: rng.choice(NUMBERS),
        "float": lambda: rng.choice((0.0, 0.5, 1.0, -1.0, 2.5, float("nan"), 1e300)),
        "bool": lambda: rng.random() < 0.5, "str": lambda: rng.choice(("mean", "sum", "none", "same", "ij,jk->ik", "")),
        "ScalarType": lambda: rng.choice(DTYPES), "Device": lambda: rng.choice(("cpu", "meta")),
        "MemoryFormat": lambda: rng.choice((taeda.contiguous_format, taeda.channels_last, taeda.preserve_format)),
    }  # fmt: skip
    return makers.get(kind.base, lambda: None)()


# --- calls


def typed_call(rng: random.Random, op: Op) -> tuple[list[Any], dict[str, Any]]:
    """Arguments of the right types."""
    given = [a for a in op.schema.arguments if a.default is None or rng.random() < (0.3 if a.keyword_only else 0.5)]
    positional = [a for a in op.schema.arguments if not a.keyword_only]
    count = sum(1 for a in positional if a in given)
    kwargs = {a.name: typed(rng, a.type) for a in given if a.keyword_only}
    return [typed(rng, a.type) for a in positional[:count]], kwargs


def spoiled_call(rng: random.Random, op: Op) -> tuple[list[Any], dict[str, Any]] | None:
    """The arguments of a right call, one or two of them spoiled; None where no right call is known."""
    known = samples_of(op)
    if not known:
        return None
    args, kwargs = make_sample(rng.choice(known), taeda, rng.randrange(100))
    for value in args:
        if isinstance(value, taeda.Tensor) and can_require_grad(value) and rng.random() < 0.5:
            value.requires_grad_()
    kwargs |= {a.name: out_tensor(rng, args) for a in op.outs} if op.variant == "out" else {}
    places: list[Any] = [*range(len(args)), *kwargs]
    for place in rng.sample(places, min(len(places), rng.choice((0, 1, 1, 2)))):
        if isinstance(place, int):
            args[place] = spoiled(rng, args[place])
        else:
            kwargs[place] = spoiled(rng, kwargs[place])
    return args, kwargs


def out_tensor(rng: random.Random, args: list[Any]) -> Any:
    """Some tensor, or one that shares its memory with an argument."""
    given = [a.detach() for a in args if isinstance(a, taeda.Tensor)]
    if not given or rng.random() < 0.5:
        return tensor(rng)
    shared = rng.choice(given)
    return rng.choice((shared, shared[1:], shared.t(), overlapping(shared)) if shared.dim() in (1, 2) else (shared,))


@cache
def samples_of(op: Op) -> tuple[Any, ...]:
    if op.variant == "functional" or op.schema is op.declaration.schema:
        return tuple(samples(op))
    return () if op.numbers else tuple(samples(op.declaration.ops()[0]))


def call_of_op(rng: random.Random, op: Op) -> Call:
    function = entry(op)
    assert function is not None
    args, kwargs = (spoiled_call(rng, op) if rng.random() < 0.5 else None) or typed_call(rng, op)
    if "::" in op.schema.name:
        args = [quantised_or_not(rng, value) for value in args]
    return op.schema.full_name, function, args, kwargs


def quantised_or_not(rng: random.Random, value: Any) -> Any:
    """Ops of other namespaces want quantised tensors, most of them."""
    if rng.random() < 0.3 or not isinstance(value, taeda.Tensor) or value.layout != taeda.strided or value.is_meta:
        return value
    try:
        return quantised(rng, value.detach())
    except (RuntimeError, IndexError, TypeError, NotImplementedError):  # of that kind there are none
        return value


def call_of_function(rng: random.Random, name: str, function: Callable[..., Any]) -> Call:
    declared = declared_as(name.rpartition(".")[2])
    if declared and rng.random() < 0.6:
        op = rng.choice(declared)
        args, kwargs = spoiled_call(rng, op) or typed_call(rng, op)
        return name, function, args, kwargs
    named = by_signature(rng, function) if rng.random() < 0.7 else None
    if named is not None:
        return name, function, *named
    args = [argument(rng) for _ in range(rng.randrange(5))]
    return name, function, [tensor(rng), *args] if name.startswith("Tensor.") else args, {}


def by_signature(rng: random.Random, function: Callable[..., Any]) -> tuple[list[Any], dict[str, Any]] | None:
    """Arguments of the kinds that a Python signature says; None where there is none."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):
        return None
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for p in parameters:
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) or (p.default is not p.empty and rng.random() < 0.6):
            continue
        value = annotated(rng, p)
        if p.kind is p.POSITIONAL_ONLY or (p.default is p.empty and len(kwargs) == 0):
            args.append(value)
        else:
            kwargs[p.name] = value
    return args, kwargs


def annotated(rng: random.Random, parameter: inspect.Parameter) -> Any:
    kind = str(parameter.annotation)
    if parameter.name == "niter":  # repeats as often as it is told, hours long
        return rng.choice(SMALL)
    if rng.random() < 0.15:
        return argument(rng)
    if "Tensor" in kind or parameter.name in ("self", "input", "other", "target", "tensor"):
        return tensor(rng)
    if "bool" in kind:
        return rng.random() < 0.5
    if "int" in kind:
        return rng.choice(SMALL) if rng.random() < 0.8 else rng.choice(HUGE)
    return argument(rng) if parameter.default is parameter.empty else spoiled(rng, parameter.default)


# --- targets


@cache
def ops() -> tuple[Op, ...]:
    """All that are declared and that this build holds."""
    load_ops()
    declared = [op for d in REGISTRY.declarations if d.name not in LEFT_OUT for op in d.ops()]
    return tuple(op for op in declared if entry(op) is not None)


def entry(op: Op) -> Callable[..., Any] | None:
    namespace, _, name = op.schema.name.rpartition("::")
    packet = getattr(getattr(taeda.ops, namespace or "aten"), name, None)
    return getattr(packet, op.schema.overload or "default", None)


@cache
def declared_as(name: str) -> tuple[Op, ...]:
    return tuple(op for op in ops() if op.schema.name == name)


@cache
def callables() -> tuple[tuple[str, Callable[..., Any]], ...]:
    """All public functions, those of a few rooms, and the methods of tensors as functions."""
    found: list[tuple[str, Callable[..., Any]]] = []
    rooms: list[tuple[str, Any]] = [("", taeda), ("nn.functional.", taeda.nn.functional), ("_C._nn.", taeda._C._nn)]
    rooms += [(f"{name}.", getattr(taeda, name)) for name in ("linalg", "special", "fft") if hasattr(taeda, name)]
    for prefix, room in [*rooms, ("Tensor.", taeda.Tensor)]:
        for name in sorted(dir(room)):
            if (name.startswith("_") and room is not taeda.Tensor) or name in LEFT_OUT or name in OBJECT:
                continue
            try:
                value = getattr(room, name)
            except AttributeError:
                continue
            if callable(value) and not isinstance(value, type):
                found.append((prefix + name, value))
    return tuple(found)


# What every Python object has is Python's to test.
OBJECT = {*dir(object), "__class_getitem__", "__weakref__", "__dict__"}


def target_count() -> int:
    return len(ops()) + len(callables())


def make_call(number: int) -> Call:
    rng, target = random.Random(number), number % target_count()
    if target < len(ops()):
        return call_of_op(rng, ops()[target])
    return call_of_function(rng, *callables()[target - len(ops())])


# --- what a case is, and running it


def prepare() -> None:
    if "TAEDA_SANITIZED" in os.environ:  # a sanitizer reserves the whole address space, and sees more than guards do
        taeda.cpu.set_memory_limit(1 << 28)
        return
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    taeda.cpu.set_memory_limit(1 << 28)
    taeda._C._cpu_guard_pages()


def make(number: int, simpler: frozenset[int] = frozenset()) -> tuple[str, Callable[[], None]]:
    """``simpler``: the places of arguments that become as plain as they can, keywords that are left out after them."""
    name, function, args, kwargs = make_call(number)
    names = list(kwargs)
    args = [plainer(value) if place in simpler else value for place, value in enumerate(args)]
    for place in simpler:
        if place >= len(args):
            for key in names[place - len(args) : place - len(args) + 1]:
                kwargs.pop(key)
    backward = number // target_count() % 2 == 0
    shown = ", ".join([*map(code, args), *(f"{key}={code(value)}" for key, value in kwargs.items())])
    path = f"aten.{name}" if "::" not in name else name.replace("::", ".")
    text = f"{name if function in dict(callables()).values() else f'ops.{path}'}({shown})"
    held = [item for a in (*args, *kwargs.values()) for item in (a if isinstance(a, list) else [a])]
    if any(isinstance(item, taeda.Tensor) and is_endless(item) for item in held):
        return text, lambda: call_aside(function, args, kwargs)
    return text + " and backward" * backward, lambda: call(function, args, kwargs, random.Random(number), backward)


def plainer(value: Any) -> Any:
    """As plain as it can be while its sizes stay as they are."""
    with taeda._C.DisableTorchFunction():
        if isinstance(value, taeda.Tensor) and (value.layout != taeda.strided or value.is_quantized):
            return value
        if isinstance(value, taeda.Tensor) and value.numel() < 2**20:
            return taeda.zeros(value.shape, dtype=value.dtype)
    return {bool: False, int: 0, float: 0.0}.get(type(value), value)


def code(value: Any, depth: int = 3) -> str:
    """The Python text that makes such a value, as far as there is a short one."""
    try:
        with taeda._C.DisableTorchFunction():
            if isinstance(value, taeda.Tensor) and value.layout == taeda.strided and not value.is_quantized:
                return tensor_code(value)
            if isinstance(value, list) and depth:
                return f"[{', '.join(code(v, depth - 1) for v in value[:20])}]"
            return repr(value)[:200]
    except Exception:  # it does not even want to be shown
        return object.__repr__(value)


def tensor_code(t: taeda.Tensor) -> str:
    options = f"dtype={t.dtype}" + ", device='meta'" * t.is_meta + ", requires_grad=True" * t.requires_grad
    size, plain = tuple(t.shape), t.detach().resolve_conj().resolve_neg()
    if t.is_meta or t.numel() > 24:
        return f"torch.empty_strided({size}, {t.stride()}, {options})"
    if t.is_contiguous():
        same = t.numel() > 1 and bool((plain == plain.flatten()[0]).all())
        reshaped = f".reshape({size})" if t.numel() == 0 and t.dim() != 1 else ""
        return (
            f"torch.full({size}, {plain.flatten()[0].item()}, {options})"
            if same
            else f"torch.tensor({plain.tolist()}, {options}){reshaped}"
        )
    whole = taeda.empty(0, dtype=t.dtype).set_(t.untyped_storage())
    place = f"as_strided({size}, {t.stride()}, {t.storage_offset()})"
    held = (
        f"torch.tensor({whole.tolist()}, {options})"
        if whole.numel() <= 64
        else f"torch.empty({whole.numel()}, {options})"
    )
    return f"{held}.{place}"


def call(
    function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any], rng: random.Random, backward: bool = False
) -> None:
    try:
        result = function(*args, **kwargs)
        if backward:
            go_back(rng, result)
    except Exception:  # any exception is an answer; what is tested is that there is one
        pass


def go_back(rng: random.Random, result: Any) -> None:
    """Backward through what can go back, from gradients that are ones, or stand on one element, or lie otherwise."""
    found = [
        t for t in (result if isinstance(result, (tuple, list)) else [result])
        if isinstance(t, taeda.Tensor) and t.requires_grad and t.grad_fn is not None and t.numel() < 2**20
    ]  # fmt: skip
    kinds: list[Callable[[Any], Any]] = [
        taeda.ones_like, lambda t: taeda.ones((), dtype=t.dtype).expand(t.shape),
        lambda t: taeda.ones_like(t.transpose(0, -1).contiguous()).transpose(0, -1), lambda t: None,
    ]  # fmt: skip
    if found:
        make_grad = rng.choice(kinds)
        taeda.autograd.backward(found, [make_grad(t.detach()) for t in found])


def is_endless(tensor: taeda.Tensor) -> bool:
    """Whether going through all its elements takes minutes, as it may when one stands for many."""
    with taeda._C.DisableTorchFunction():
        return tensor.numel() > 2**32


def call_aside(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> None:
    """Calls in a process of its own, which may take too long but not crash."""
    child = os.fork()
    if child == 0:
        signal.alarm(2)
        call(function, args, kwargs, random.Random(0))
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) != signal.SIGALRM:
        os.kill(os.getpid(), os.WTERMSIG(status))
