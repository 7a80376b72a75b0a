"""``python -m taeda.utils.operator_benchmark OP``: times a declared op, with no file of tests."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from types import ModuleType

import taeda
from taeda.testing._samples import samples
from taeda.utils.operator_benchmark.declared import Declared, declared_cases, ops_named
from taeda.utils.operator_benchmark.machine import Threads, flusher
from taeda.utils.operator_benchmark.report import Row, write
from taeda.utils.operator_benchmark.timing import measure


def _shapes(text: str) -> list[tuple[int, ...]]:
    """``64x128,128x256``: the shapes of a call's tensors; ``()`` is that of a number."""
    try:
        return [() if one == "()" else tuple(int(size) for size in one.split("x")) for one in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"shapes are written 64x128,128x256; got {text!r}") from None


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m taeda.utils.operator_benchmark", description=__doc__)
    parser.add_argument("op", help="its name, e.g. softmax, add.Tensor, quantized::linear")
    parser.add_argument("--shapes", type=_shapes, nargs="+", help="of the tensors of each case: 64x128,128x256 8x8,8x8")
    parser.add_argument("--dtype", default="float32", help="of the tensors that may have any")
    parser.add_argument("--omp_num_threads", type=int, help="threads to use")
    parser.add_argument("--mkl_num_threads", type=int, help="the same: one pool serves products too")
    direction = parser.add_mutually_exclusive_group()
    direction.add_argument("--forward_only", action="store_true", help="leave backward passes out")
    direction.add_argument("--backward", action="store_true", help="time backward passes only")
    parser.add_argument("--tag", choices=("short", "long", "all"), default="short", help="how many cases")
    parser.add_argument("--warmup", type=int, nargs="?", const=1000, default=100, help="calls before the timing starts")
    parser.add_argument("--flush_cache", action="store_true", help="empty the processor's caches before each call")
    parser.add_argument("--against", choices=("torch",), help="time PyTorch in turn, and print the ratio")
    parser.add_argument("--json", metavar="FILE", help="write the results there")
    parser.add_argument("--plot", metavar="FILE", help="draw the results there")
    return parser.parse_args(argv)


def _other(options: argparse.Namespace, threads: Threads) -> ModuleType | None:
    if options.against is None:
        return None
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        raise LookupError("--against torch needs PyTorch: pip install torch==2.13.0") from None
    torch.set_num_threads(threads.asked or taeda.get_num_threads())
    return torch


def _time(
    case: Declared, backward: bool, options: argparse.Namespace, other: ModuleType | None, threads: Threads
) -> Row:
    calls = [case.call(taeda, backward)]
    note = ""
    if other is not None:
        try:
            calls.append(case.call(other, backward))
            calls[1]()
        except Exception as error:  # PyTorch lacks the op, the dtype or a gradient
            del calls[1:]
            note = f"; torch: {(str(error).splitlines() or [''])[0][:80]}"
    before = flusher() if options.flush_cache else None
    with threads.counted():
        timings = measure(calls, warmup=options.warmup, before=before)
    flushed = "; caches emptied before each call" if before else ""
    return Row(case.name, f"{case.name}{case.sample}", f"{case.sample}{flushed}{note}",
               "Backward" if backward else "Forward", timings[0], str(threads), *timings[1:])  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    options = _options(argv)
    threads = Threads(options.omp_num_threads or options.mkl_num_threads)
    rows: list[Row] = []
    try:
        other = _other(options, threads)
        for op in ops_named(options.op):
            for case in declared_cases(op, options.tag, options.dtype, options.shapes):
                for backward in (False, True):
                    if options.backward and not backward or options.forward_only and backward:
                        continue
                    try:
                        case.call(taeda, backward)()
                    except (LookupError, RuntimeError):
                        continue  # no gradient here
                    rows.append(_time(case, backward, options, other, threads))
                    print(rows[-1].text(), flush=True)
    except LookupError as error:
        print(f"operator_benchmark: {error}", file=sys.stderr)
        return 2
    write(rows, options.json, options.plot)
    if not rows:
        known = next((str(s) for op in ops_named(options.op) for s in samples(op)), "none")
        print(f"operator_benchmark: no sample of {options.op} runs with these shapes and this dtype;"
              f" the first of its samples: {known}", file=sys.stderr)  # fmt: skip
    return 0 if rows else 1


def _let_threads_rest() -> None:
    """Starts the command anew where idle threads do not wait actively: one library's would take the other's time."""
    if "--against" in " ".join(sys.argv) and "GOMP_SPINCOUNT" not in os.environ:
        os.environ["GOMP_SPINCOUNT"] = "1000"
        os.execv(sys.executable, [sys.executable, "-m", "taeda.utils.operator_benchmark", *sys.argv[1:]])


if __name__ == "__main__":
    _let_threads_rest()
    sys.exit(main())
