"""What is known of each test: whether PyTorch passes it, whether Taeda does, and if not, why."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("record.json.gz")
# For a test that fails: a reason, and what its name or its message looks like.
REASONS = {
    "PyTorch refuses what is computed here": (
        r"test_sparse_(add|sub)_|complex_scalar_pow_tensor|test_pow_cpu_float16|inplace_with_neg|nonzero_astuple_out"
        r"|floordiv_(script_)?vs_python|prod_gradgrad_error|test_get_cpu_capability|support_saved_tensor_hooks"
        r"|no_setup_context|fails_with_autograd_function|test_item_throws|control_flow_throws|unsupported_(op|random)"
        r"|jacrev_chunksize_one|jacfwd_inside_transform|VmapOperators.test_is_contiguous"
    ),
    "mistakes of PyTorch's that its tests hold fast": (
        r"inplace_views_cross_dtype|conv_empty_channel|test_unique_dim|test_module_to_empty_cpu"
    ),
    "nodes of the graph are made, named and numbered in another way": (
        r"test_once_differentiable|inplace_on_view_backward|test_next_functions|grad_fn_attr_bindings|graph_save_on_cpu"
        r"|hook_relative_ordering|_sequence_nr|grad_to_node_set|profiler_seq_nr|task_execution_order"
    ),
    "damage of files is noticed": r"filewriter_metadata_writing",
    "batches go to shared memory when they are sent": r"default_collate_shared_tensor",
    "sparse tensors": r"sparse|Sparse|to_dense|weightC[OS][OCR]|gradients of tables are dense",
    "quantised tensors": r"quanti|QInt|QUInt|quint|qint|qengine|FBGEMM|fbgemm|_qparams",
    "nested tensors": r"nested_tensor|torch\.nested|'nested'",
    "the compiler and its graphs come later": r"TorchScript|torch\.jit|\bjit\b|torchscript|_dynamo|\.fx\.",
    "for another library or device": r"mkldnn|cuda|CUDA|\bitt\b|_itt|ITT|NNPACK|nnpack|kineto",
    "small floats are rounded once here, where PyTorch rounds twice": (
        r"(fmod_remainder|div_rounding|hardshrink|upsampling)\S*_?b?float16"
    ),
    "a message of PyTorch's own words": (
        r"does not match|not found in|Regex didn't match|no warning caught|in str\(w|!= '|message\.args"
        r"|str\(cm\.exception"
    ),
    "functions of PyTorch's own test suite": r"_test_|there is no torch\.testing|DelayedError|_debug_has",
    "an error or a warning of PyTorch's that is not raised here": r"not raised|not triggered",
    "a private name": (
        r"has no attribute '_|has no attribute '__|there is no op taeda.ops.aten._|cannot import name|there is no torch"
    ),
}  # fmt: skip
OTHER = "behaves in another way"


def reason(name: str, message: str) -> str:
    """Why a test fails, as far as its name and message tell."""
    return next((why for why, sign in REASONS.items() if re.search(sign, f"{name} {message}")), OTHER)


def read() -> dict[str, dict[str, Any]]:
    """By file: the names that PyTorch passes (``torch``), those of them that Taeda passes (``taeda``), and by name the
    reasons of the rest (``why``)."""
    return json.loads(gzip.decompress(FILE.read_bytes())) if FILE.exists() else {}


def write(record: dict[str, dict[str, Any]]) -> None:
    """Keeps the record; equal records give equal files."""
    text = json.dumps(record, sort_keys=True, indent=0)
    FILE.write_bytes(gzip.compress(text.encode(), mtime=0))


def update(file: str, tests: dict[str, Any], record: dict[str, dict[str, Any]]) -> None:
    """Takes over how Taeda did in a file."""
    entry = record.setdefault(file, {"torch": sorted(name for name, test in tests.items() if passed(test))})
    entry["taeda"] = [name for name in entry["torch"] if passed(tests.get(name))]
    entry["why"] = {
        name: reason(name, (tests.get(name) or {"message": ""})["message"])
        for name in entry["torch"]
        if not passed(tests.get(name))
    }


def passed(test: Any) -> bool:
    """Whether a test's outcome is that it passed."""
    return test is not None and test["status"] == "passed"
