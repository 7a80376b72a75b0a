"""Writes ``docs/coverage.md``: the public names of PyTorch that Taeda lacks, by namespace, with the reason, and how
PyTorch's own table of ops fares (the record that ``make compat`` leaves).

Run it where both are installed: ``python tools/coverage.py``. ``--check`` only tells whether the page is up to date.
"""

from __future__ import annotations

import gzip
import importlib
import inspect
import json
import re
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

from taeda._main.absent import REASONS_BY_MODULE, reason_of

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "coverage.md"
TABLE = ROOT / "tests" / "compat" / "result.json"
RECORD = ROOT / "tests" / "pytorch" / "record.json.gz"
# Of the names of tests: device, dtypes and numbers.
SUFFIXES = (
    r"(_cpu(_\w+)?|_(float|complex|b?float|u?int)\d+.*|_has_bias_.*|_\d.*|(?<!^test)_(with|weights|contiguous)_.*)$"
)
NAMESPACES = (
    "", "Tensor", "accelerator", "amp", "ao.nn.quantized", "ao.quantization", "autograd", "backends.cuda", "cpu",
    "cuda", "cuda.memory", "distributed", "distributed.fsdp", "distributed.rpc", "distributed.tensor",
    "distributions", "export", "fft", "func", "futures", "fx", "hub", "jit", "library", "linalg", "masked", "mps",
    "mtia", "multiprocessing", "nested", "nn", "nn.attention", "nn.functional", "nn.init", "nn.parallel", "nn.utils",
    "onnx", "optim", "optim.lr_scheduler", "overrides", "package", "package.analyze", "profiler", "random",
    "serialization", "signal.windows", "sparse", "special", "testing", "utils.benchmark", "utils.checkpoint",
    "utils.data", "utils.weak", "xpu",
)  # fmt: skip


def resolve(library: ModuleType, namespace: str) -> object | None:
    """The module or class of that name below a library; None without one."""
    found: object = library
    for part in filter(None, namespace.split(".")):
        try:
            found = getattr(found, part, None) or importlib.import_module(f"{found.__name__}.{part}")  # type: ignore[attr-defined]
        except ImportError:
            return None
    return found


def public_names(namespace: object) -> list[str]:
    """What ``__all__`` names; else what is defined there and has no leading underscore."""
    listed = getattr(namespace, "__all__", None)
    if listed:
        return [n for n in listed if not n.startswith("_")]
    names = [n for n in dir(namespace) if not n.startswith("_")]
    if inspect.isclass(namespace):
        return names
    home = getattr(namespace, "__name__", "")
    values = {n: getattr(namespace, n) for n in names}
    return [
        n
        for n, v in values.items()
        if callable(v) and str(getattr(v, "__module__", home)).startswith(("torch", "None"))
    ]


def reason(name: str, value: object) -> str:
    if why := reason_of(name):
        return why
    import torch

    if inspect.isclass(value) and getattr(torch._C, name, None) is value:
        return "inner classes of PyTorch's C++"
    return "not done yet"


def page() -> str:
    import torch

    import taeda

    lines = [
        "# Coverage", "",
        f"Names of PyTorch {torch.__version__.partition('+')[0]} that Taeda lacks, found by comparing the two; made by "
        "`python tools/coverage.py`.", "",
        "| namespace | names | missing |", "| --- | ---: | ---: |",
    ]  # fmt: skip
    details = []
    for namespace in NAMESPACES:
        theirs, ours = resolve(torch, namespace), resolve(taeda, namespace)
        names = sorted(set(public_names(theirs)))
        missing = [n for n in names if not hasattr(ours, n)]
        shown = f"torch.{namespace}" if namespace else "torch"
        lines.append(f"| `{shown}` | {len(names)} | {len(missing)} |")
        by_reason: dict[str, list[str]] = {}
        for name in missing:
            by_reason.setdefault(
                REASONS_BY_MODULE.get(namespace) or reason(name, getattr(theirs, name, None)), []
            ).append(f"`{name}`")
        if missing:
            details += ["", f"## `{shown}`", ""]
            details += [f"- {why}: {', '.join(found)}" for why, found in sorted(by_reason.items())]
    return "\n".join([*lines, *details, "", *table_of_ops(), "", *own_tests(), ""])


def table_of_ops() -> list[str]:
    """The ops of PyTorch's table that do not pass wholly, as of the last full ``make compat``."""
    made = json.loads(TABLE.read_text())
    failing, left_out = made["failing"], made["left out"]
    concerned = made["passed"] + len(failing)
    reasons = ", ".join(f"{count} ({why})" for why, count in left_out.items())
    return [
        "## PyTorch's table of ops", "",
        f"PyTorch's tests hold a table of {made['entries']} ops with sample inputs. `make compat` runs those that "
        "concern strided tensors on the CPU through both: results, methods, in-place, `out=`, views, errors, first and "
        f"second gradients, scripted and traced. **{made['passed']} of {concerned} pass wholly** "
        f"({made['passed'] / concerned:.1%}). Left out: {reasons}.", "",
        "| op | differs in | why |", "| --- | --- | --- |",
        *(f"| `{name}` | {', '.join(f['checks'])} | {escaped(f['reason'])} |" for name, f in failing.items()),
        *kinds_of_operands(made["kinds"]),
    ]  # fmt: skip


def kinds_of_operands(kinds: dict[str, Any]) -> list[str]:
    """The same ops on sparse and on quantised operands."""
    by_op: dict[str, list[str]] = {}
    for kind, found in kinds.items():
        for name in found["failing"]:
            by_op.setdefault(name, []).append(kind)
    same = {kind: found["ops"] - len(found["failing"]) for kind, found in kinds.items()}
    return [
        "", "### Sparse and quantised operands", "",
        "The same ops on other operands: PyTorch's own sparse samples where its table has them, else its dense ones, "
        "converted; the first operand alone, then all. How many ops PyTorch computes on them; how many give the same "
        "here (layout, pattern, integers, scale, gradients), in place too; and how many take calls it refuses.", "",
        "| operands | ops | the same | take more |", "| --- | ---: | ---: | ---: |",
        *(f"| {kind} | {found['ops']} | {same[kind]} | {found['beyond']} |" for kind, found in kinds.items()), "",
        "| differs | with |", "| --- | --- |",
        *(f"| `{name}` | {', '.join(names)} |" for name, names in by_op.items()),
    ]  # fmt: skip


def own_tests() -> list[str]:
    """What PyTorch's own test files find, as of the last ``make pytorch-tests`` that was recorded."""
    known: dict[str, Any] = json.loads(gzip.decompress(RECORD.read_bytes()))
    wanted, passed = (sum(len(entry[key]) for entry in known.values()) for key in ("torch", "taeda"))
    by_reason: dict[str, Counter[str]] = {}
    for entry in known.values():
        for name, why in entry["why"].items():
            by_reason.setdefault(why, Counter())[re.sub(SUFFIXES, "", name.partition(".")[2])] += 1
    lines = []
    for why, tests in sorted(by_reason.items(), key=lambda item: -item[1].total()):
        shown = ", ".join(f"`{name}`" + (f" ({count})" if count > 1 else "") for name, count in sorted(tests.items()))
        lines.append(f"| {why} | {tests.total()} | {shown} |")
    return [
        "## PyTorch's own tests", "",
        f"`make pytorch-tests` runs {len(known)} files of PyTorch 2.6's tests over both. Of the {wanted} tests that "
        f"PyTorch 2.13 passes, Taeda passes **{passed} ({passed / wanted:.1%})**; the words of errors and warnings are "
        "not compared. The others, without their devices, dtypes and numbers:", "",
        "| why | tests | which |", "| --- | ---: | --- |", *lines,
    ]  # fmt: skip


def escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def main() -> int:
    text = page()
    if "--check" in sys.argv[1:]:
        return int(not PAGE.exists() or PAGE.read_text() != text)
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
