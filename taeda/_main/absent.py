"""Names of PyTorch's that Taeda lacks: why, for error messages and ``docs/coverage.md``; and what is near a name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from taeda._main import left_out

# A reason, and patterns of the names that it is the reason for.
REASONS = {
    "left over from older PyTorch, where it raises": (
        "solve symeig eig lstsq matrix_rank reinforce __div__ __idiv__ __rdiv__ __long__ __nonzero__"
    ),
    "a private name of sparse tensors": "_.*sparse.* _.*Sparse.*",
    "older functions of 8-bit layers, in whose place PyTorch put torch.ops.quantized": (
        "fbgemm_.* quantized_(gru|lstm|rnn_relu|rnn_tanh)_cell"
    ),
    "small dtypes without arithmetic come later": "float[48]_.* bits.* bit",
    "of another library or device": (
        ".*(cudnn|miopen|mkldnn|mps|xpu|ipu|mtia|hpu|xla|cuda|[sS]tream).* Event is_distributed .*Accelerator.*"
    ),
    "only for CUDA in PyTorch": (
        "batch_norm_stats batch_norm_elemt batch_norm_gather_stats.* batch_norm_backward_.* scaled_grouped_mm "
        ".*flash_attention_impls?"
    ),
    "inner parts of TorchScript in PyTorch": (
        ".*(ScriptModuleSerializer|ScriptClass|ScriptObject|LiteScript|TracingState|GraphExecutor|GraphExec).* "
        "IODescriptor Code"
    ),
    "TorchScript's quantisation, which PyTorch has deprecated": (
        "(quantize|prepare|convert|fuse|script).*_(jit|qconfig.*)"
    ),
    "the compiler comes later": ".*(compile|fusion).* optimize_for.* .*triton.* ExecutionTraceObserver",
    "for benchmarks of PyTorch's own": "AVG SUM AggregationType cpp",
    "files of PyTorch's mobile runtime": ".*flatbuffer.*",
    "a prototype in PyTorch": "index",
    "tensors in transforms have no wrapper here that could be taken off": "debug_unwrap",
    "kept in PyTorch for files and programs of its first years": "StorageType storage_to_tensor_type NestedIOFunction",
}
REASONS_BY_MODULE = {"distributed": "inner parts of PyTorch's process groups"}


def reason_of(name: str) -> str | None:
    """Why there is no such name; None if that is not known."""
    for why, patterns in REASONS.items():
        if any(re.fullmatch(pattern, name) for pattern in patterns.split()):
            return why
    return None


class MissingName(AttributeError):
    """An AttributeError that finds out what to say when it is shown: programs ask for names that may be missing."""

    def __init__(self, module: str, attribute: str, names: Callable[[], Iterable[str]]) -> None:
        super().__init__(module, attribute)
        self._names = names

    def __str__(self) -> str:
        module, name = self.args
        absent = left_out.hint(name) or left_out.hint(f"{module.rpartition('.')[2]}_{name}")
        if absent is not None:
            return absent
        text = f"module '{module}' has no attribute '{name}'"
        near = close_names(name, self._names())
        why = reason_of(name)
        if why is not None and name not in near:
            return f"{text}: {why} (docs/coverage.md)"
        return f"{text}. Did you mean {' or '.join(repr(n) for n in near)}?" if near else text

    def __reduce__(self) -> Any:
        return AttributeError, (str(self),)


MissingName.__name__ = MissingName.__qualname__ = "AttributeError"  # as tracebacks show it
MissingName.__module__ = "builtins"


def close_names(name: str, names: Iterable[str]) -> list[str]:
    """Those of the names that a misspelt one probably means: at most two."""
    import difflib

    shown = [n for n in names if not n.startswith("_") or name.startswith("_")]
    shown.sort(key=lambda n: n[0].isupper() == name[0].isupper())  # of DataLoader and dataloader the one like the name
    public = {n.lower(): n for n in shown}
    return [public[found] for found in difflib.get_close_matches(name.lower(), public, 2, 0.8)]


def missing(module: str, name: str) -> MissingName:
    """What a module's ``__getattr__`` raises."""
    import sys

    return MissingName(module, name, lambda: dir(sys.modules[module]))
