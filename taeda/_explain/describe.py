"""``explain``: every hop from a Python name to its kernel, with file and line.

Paths below ``taeda/generated`` can be read in the installed package; ``taedagen/`` and ``csrc/`` are folders of the
repository.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

from taeda import _C
from taeda._library.ops import OpOverload, OpOverloadPacket, find_overload
from taeda.types import _dtype

Row = tuple[str, str, str]  # what the hop is, its name, its source location
_DETAILED = 6  # of a Python function that may call more ops the names are told alone

_ON_ANY_DEVICE = ("AnyDevice", "Sparse", "SparseCsr", "Quantized", "Nested")
_MADE_OF_OPS = ("Composite", "Sparse", "Quantized", "Nested")  # how their places in ops.json begin
_COMPUTES = ("Dense", *_ON_ANY_DEVICE)
_LAYERS = {
    "Autograd": "records for backward", "InplaceOrView": "counts writes, tracks views", "Autocast": "chooses the dtype",
    "Dense": "computes", **dict.fromkeys(_ON_ANY_DEVICE, "computes, on any device"), "Composite": "calls other ops",
    "Lazy": "conjugates, negates first", "registered": "registered at run time",
    "fallback": "fallback registered at run time",
}  # fmt: skip


class UnknownName(LookupError):
    """A name that belongs to no op; the message suggests others."""


def explain(function: Any, *args: Any, device: Any = "cpu", dtype: _dtype | None = None, layout: Any = None,
            overload: str | None = None, file: IO[str] | None = None, **kwargs: Any) -> Any:  # fmt: skip
    """Print every hop of a call, from the Python name to the kernel, with file and line.

    With arguments the function is called and each hop is printed as it happens, those of the ops inside it too.
    Without, the hops are those that such a call would take.

    Args:
        function: a public function or method of Taeda, an op of ``taeda.ops``, or a name: ``"prelu"``, ``"add_"``.
        args, kwargs: arguments to call it with.
        device: without arguments: where its tensors live.
        dtype: without arguments: of its tensors; float32 if the op takes that, else the first that it takes.
        layout: without arguments: of its tensors; strided if None.
        overload: without arguments: which one, ``"default"`` or e.g. ``"Tensor"``; the first if None.
        file: where to print; standard output if None.

    Returns:
        What the call returned, or None.

    Raises:
        UnknownName: no op has that name.
        NotImplementedError: it has no kernel for such tensors.
    """
    out = file or sys.stdout
    if args or kwargs:
        called = _python_function(function) if isinstance(function, str) else function
        print(_title(called), file=out)
        with explain_calls(file=out):
            return called(*args, **kwargs)
    for line in describe(function, device=device, dtype=dtype, layout=layout, overload=overload):
        print(line, file=out)
    return None


@contextmanager
def explain_calls(file: IO[str] | None = None) -> Iterator[None]:
    """Inside the ``with`` block, print each hop of every op that this thread calls, as it happens.

    Backward calls the ops of every derivative there, fused gradients included: only ops are printed.
    """
    out = file or sys.stdout

    def hear(op: OpOverload, key: str, kind: str, where: str | None) -> None:
        row = _hop(op, key, kind, where)
        if key.startswith("Autograd") or not _is_recorded_below(op, kind):
            print(f"{op.name().removeprefix('aten::')}", file=out)
        for line in _columns([row], first=27):
            print("  " + line, file=out)

    before = _C._set_call_recorder(hear)
    try:
        yield
    finally:
        _C._set_call_recorder(before)


def _is_recorded_below(op: OpOverload, kind: str) -> bool:
    """Whether the hop follows one of the same call through the autograd layer."""
    entry = _entry(op)
    return kind in (*_COMPUTES, "InplaceOrView") and entry is not None and "Autograd" in entry["kernels"]


def describe(function: Any, *, device: Any = "cpu", dtype: _dtype | None = None, layout: Any = None,
             overload: str | None = None) -> list[str]:  # fmt: skip
    """The lines that ``explain`` prints for a function without arguments."""
    from taeda._explain.collectives import rows_below
    from taeda._explain.python_functions import find, place, rows_of

    found = None if isinstance(function, OpOverload | OpOverloadPacket) else find(function)
    if found is None:
        return _describe_op(_find_op(function, overload), device, dtype, layout)
    name, called = found
    if op := _native_op(called):
        return _describe_op(_find_op(op, overload), device, dtype, layout, name)
    rows, natives = rows_of(name, called)
    rows += rows_below(called, place)
    ops = list(filter(None, dict.fromkeys(map(_native_op, natives))))
    lines = [name, "", *("  " + line for line in _columns(rows))]
    if len(ops) == 1:
        return [*lines, "", *_describe_op(_find_op(ops[0], overload), device, dtype, layout)]
    if ops:
        lines += ["  " + line for line in _columns([("may call", ", ".join(f"ops::{op[6:]}" for op in ops), "")])]
    for op in ops if len(ops) <= _DETAILED else ():
        lines += _compact(_find_op(op, None), device, dtype, layout)
    return lines


def _native_op(called: Any) -> str:
    """The op that a function, a method or an operator of ``_C`` is, ``aten::add``; "" for another callable."""
    from taeda._explain.sources import operators

    if inspect.isfunction(called) or isinstance(called, type):
        return ""
    name = operators().get(called.__name__, called.__name__)
    space = (getattr(called, "__module__", None) or "").rpartition(".")[2].lstrip("_")
    return next((full for full in (f"aten::{space}_{name}", f"aten::{name}") if _C._overloads_of(full)), "")


def _compact(op: OpOverload, device: Any, dtype: Any, layout: Any) -> list[str]:
    """The lines of an op that another function calls."""
    rows = [row for row in _python_rows(op) if row[0] in ("declaration", "dispatcher")]
    rows += _rows(op, device, _dtype_name(op, dtype, strict=False), layout)
    return ["", *("  " + line for line in _columns(rows))]


def _describe_op(op: OpOverload, device: Any, dtype: Any, layout: Any, name: str = "") -> list[str]:
    """The lines of an op that users know as ``name``."""
    dtype_name = _dtype_name(op, dtype)
    rows = [*_python_rows(op, name), *_rows(op, device, dtype_name, layout)]
    lines = [f"{_title(op)} on {device}" + (f", {dtype_name}" if dtype_name else ""), ""]
    lines += ["  " + line for line in _columns(rows)]
    for called in _called_kernels(op, device, layout):
        lines += _compact(called, device, dtype_name, layout)
    others = [name for name in op.overloadpacket.overloads() if getattr(op.overloadpacket, name) is not op]
    if others:
        lines += ["", f"  other overloads (--overload): {', '.join(others)}"]
    return lines


# --- names


def _bare_name(function: Any) -> str:
    if isinstance(function, str):
        name = function
        for prefix in ("torch.", "taeda.", "aten::", "ops.aten.", "nn.functional.", "F.", "Tensor."):
            name = name.removeprefix(prefix)
        return name
    return getattr(function, "__name__", "")


def _find_op(function: Any, overload: str | None) -> OpOverload:
    if isinstance(function, OpOverload):
        return function
    if isinstance(function, OpOverloadPacket):
        qualified = function._qualified_op_name
    else:
        qualified = _qualified(_bare_name(function))
    overloads = _C._overloads_of(qualified)
    chosen = overload
    if overload is None:
        chosen = _plainest(qualified, overloads)
    elif overload == "default":
        chosen = ""
    if chosen not in overloads:
        shown = ", ".join(o or "default" for o in overloads)
        raise UnknownName(f"{qualified.removeprefix('aten::')} has no overload '{overload}'; it has {shown}")
    return find_overload(qualified, str(chosen))


def _plainest(qualified: str, overloads: list[str]) -> str:
    """The overload that a call most likely means: the first that Python can call and that is not given ``out``."""
    from taeda._explain.sources import location, ops_table

    bare = qualified.removeprefix("aten::")
    names = {overload: f"{bare}.{overload}" if overload else bare for overload in overloads}
    known = [o for o in overloads if names[o] in ops_table() and ops_table()[names[o]]["variant"] != "out"]
    return next((o for o in known if location(names[o], "python")), overloads[0])


def _qualified(name: str) -> str:
    first, dot, _ = name.partition(".")
    candidates = (
        [name]
        if "::" in name
        else [f"aten::{name}", f"aten::{name.replace('.', '_')}", f"aten::{first}_{name[len(first) + 1 :]}"]
    )
    if dot:
        candidates.append(name.replace(".", "::", 1))
    for candidate in candidates:
        if _C._overloads_of(candidate):
            return candidate
    raise UnknownName(_suggest(name))


def _suggest(name: str) -> str:
    import difflib

    from taeda._main import left_out

    absent = left_out.hint(name)
    if absent:
        return absent
    known = {full.partition("::")[2].partition(".")[0] for full in _C._all_op_names()}
    close = difflib.get_close_matches(name, sorted(n for n in known if not n.startswith("_")), 4)
    return f"no op is called '{name}'" + (f"; did you mean {', '.join(close)}?" if close else "")


def _python_function(name: str) -> Callable[..., Any]:
    """The public function, method or op object of a name."""
    import taeda

    bare = _bare_name(name)
    for namespace in (taeda, taeda.nn.functional, taeda.Tensor, getattr(taeda, "linalg", None)):
        found = getattr(namespace, bare, None)
        if callable(found):
            return found
    namespace, _, plain = _qualified(bare).partition("::")
    return getattr(getattr(taeda.ops, namespace), plain)


def _title(called: Any) -> str:
    if isinstance(called, OpOverload):
        return called.name().removeprefix("aten::")
    return getattr(called, "__qualname__", "") or str(called)


def _dtype_name(op: OpOverload, dtype: Any, strict: bool = True) -> str:
    """The dtype asked for, by its name; another one if none is, or unless ``strict`` the op does not take it."""
    entry = _entry(op)
    supported = entry.get("dtypes", "").split() if entry else []
    name = str(dtype or "float32").removeprefix("torch.").removeprefix("taeda.")
    if supported and name not in supported:
        if dtype is None or not strict:
            return supported[0]
        raise NotImplementedError(f"taeda.explain: {_title(op)} takes no {name}; it takes {', '.join(supported)}")
    return name


# --- rows


def _entry(op: OpOverload) -> dict[str, Any] | None:
    from taeda._explain.sources import ops_table

    return ops_table().get(op.name().removeprefix("aten::"))


def _python_rows(op: OpOverload, known: str = "") -> list[Row]:
    """From the Python name to the dispatcher."""
    entry = _entry(op)
    if entry is None:
        return [("python", f"taeda.ops.{op.namespace}.{op._opname}", ""), ("declaration", op._schema_text, op._where)]
    from taeda._explain.python_functions import find
    from taeda._explain.sources import location

    module, name = entry["module"], op.name().removeprefix("aten::").partition(".")[0]
    public = {"nn": "nn.functional.", "": ""}.get(module, module + ".") + name.removeprefix(f"{module}_")
    binding = location(entry["name"], "python") if entry["variant"] != "out" else ""
    rows: list[Row] = []
    if op.namespace != "aten":
        rows = [("python", f"taeda.ops.{op.namespace}.{op._opname}", "")]
    elif binding:
        is_method = entry["variant"] == "inplace" and not module
        public = known or f"taeda.{'Tensor.' if is_method else ''}{public}"
        rows = [("python", public, "")] if find(public) else []  # else a Python function bears the public name
        rows.append(("binding", f"python::{name}", binding))
    rows.append(("declaration", entry["schema"], entry["declared"]))
    cpp_name = name + ("_out" if entry["variant"] == "out" else "")
    rows.append(("dispatcher", f"ops::{cpp_name}", location(entry["name"], "ops")))
    return rows


def _hops(op: OpOverload, device: Any, layout: Any) -> list[tuple[Any, str, str, str | None]]:
    """The kernels that the dispatcher would enter for such tensors."""
    import taeda

    return _C._foretell(op, taeda.device(device), getattr(taeda, str(layout or "strided").removeprefix("torch.")))


def _rows(op: OpOverload, device: Any, dtype: str, layout: Any) -> list[Row]:
    """From the dispatcher to the kernel and what it chooses by dtype."""
    hops = _hops(op, device, layout)
    rows = [_hop(*hop) for hop in hops]
    entry = _entry(op)
    if entry is not None and hops[-1][2] in (*_COMPUTES, "Composite"):
        rows += _inside(entry, hops[-1], dtype)
        rows += _gradients(entry, hops[-1], dtype)
    return rows


def _gradients(entry: dict[str, Any], hop: tuple[Any, str, str, str | None], dtype: str) -> list[Row]:
    """The kernels that backward may take instead of ops."""
    from taeda._explain.sources import gradient_locations

    _, key, kind, _ = hop
    if (key, kind) != ("CPU", "Dense"):
        return []
    if dtype not in ("float16", "bfloat16", "float32", "float64"):  # complex gradients are ops
        return []
    return [("backward", *found) for found in gradient_locations(entry["name"], dtype)]


def _slot(key: str, kind: str) -> str:
    """Under which name ``ops.json`` has a kernel."""
    return key if kind == "Dense" else kind


def _symbol(entry: dict[str, Any], key: str, kind: str) -> str:
    return entry["kernels"].get(_slot(key, kind), "")


def _location(entry: dict[str, Any], symbol: str) -> str:
    """Of a generated kernel."""
    from taeda._explain.sources import location

    return location(entry["name"], symbol.partition("::")[0])


def _hop(op: OpOverload, key: str, kind: str, where: str | None) -> Row:
    """One row for a kernel that the dispatcher enters."""
    if where is not None:
        return (_LAYERS[kind], f"{key} kernel of {op.name()}", where)
    entry = _entry(op)
    if entry is None:
        return (_LAYERS[kind], f"{key} kernel", "")
    symbol = _symbol(entry, key, kind)
    by_hand = entry.get("by_hand", {}).get(_slot(key, kind), {})
    return (_LAYERS[kind], symbol or f"{key} kernel", _location(entry, symbol) or by_hand.get("at", ""))


def _inside(entry: dict[str, Any], hop: tuple[Any, str, str, str | None], dtype: str) -> list[Row]:
    """What the kernel goes on to: a function written by hand, a choice by dtype, or other ops."""
    from taeda._explain.sources import loop_location

    _, key, kind, _ = hop
    generated = _location(entry, _symbol(entry, key, kind))
    by_hand = entry.get("by_hand", {}).get(_slot(key, kind))
    rows: list[Row] = []
    if by_hand and generated:
        rows.append(("written by hand", by_hand["symbol"], by_hand["at"]))
    if by_hand and "switch" in by_hand:
        rows.append(("chooses by dtype", dtype, by_hand["switch"]))
    if generated and key == "CPU" and (loop := loop_location(entry["name"], dtype)):
        rows.append(("chooses by dtype", *loop))
    calls = _calls(entry, key, kind)
    if calls:
        rows.append(("may call", ", ".join(f"ops::{name}" for name in calls), ""))
    return rows


def _calls(entry: dict[str, Any], key: str, kind: str) -> list[str]:
    """The ops that a composite, or a kernel for a layout, may call, by their C++ names."""
    from taeda._explain.sources import generated_calls

    slot = _slot(key, kind)
    if not slot.startswith(_MADE_OF_OPS):
        return []
    by_hand: dict[str, list[str]] | None = entry.get("by_hand", {}).get(slot)
    if by_hand is not None:
        return by_hand.get("calls", [])
    return generated_calls(entry["name"], _symbol(entry, key, kind).partition("::")[0])


def _called_kernels(op: OpOverload, device: Any, layout: Any) -> list[OpOverload]:
    """Those of the ops that a composite may call which compute themselves."""
    from taeda._explain.sources import ops_table

    entry = _entry(op)
    called = []
    for name in _calls(entry, *_hops(op, device, layout)[-1][1:3]) if entry else []:
        overloads = (
            full_name.partition(".")[2]
            for full_name, other in ops_table().items()
            if full_name.partition(".")[0] == name and other["kind"] in ("pointwise", "reduction", "kernel")
        )
        called += [find_overload(_qualified(name), overload) for overload in list(overloads)[:1]]
    return called


def _columns(rows: list[Row], first: int = 16) -> list[str]:
    """The rows in aligned columns; a name too long for its column takes a line of its own."""
    first = max([first, *(len(row[0]) for row in rows)])
    second = max([28, *(len(row[1]) for row in rows if len(row[1]) <= 52)])
    lines = []
    for what, name, location in rows:
        if len(name) > second and location:
            lines += [f"{what:<{first}}  {name}", f"{'':<{first}}  {'':<{second}}  {location}"]
        else:
            lines.append(f"{what:<{first}}  {name:<{second}}  {location}".rstrip())
    return lines
