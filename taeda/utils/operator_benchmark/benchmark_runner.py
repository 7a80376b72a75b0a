"""Runs the tests that files have registered."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

import taeda
from taeda.utils.operator_benchmark import cases
from taeda.utils.operator_benchmark.machine import Threads, flusher
from taeda.utils.operator_benchmark.report import Row, write
from taeda.utils.operator_benchmark.timing import measure


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Times the ops of a file of tests.")
    # PyTorch's tool has had its options in both spellings.
    add = lambda name, **kinds: parser.add_argument(f"--{name}", f"--{name.replace('_', '-')}", **kinds)
    add("tag_filter", default="short", help="the tag of the configs to run, or all")
    add("operators", help="the names of the ops to run, by commas")
    add("operator_range", help="the first letters of the ops to run, e.g. a-c")
    add("test_name", help="the one test to run, whatever its tag")
    add("list_ops", action="store_true", help="print the names of the ops only")
    add("list_tests", action="store_true", help="print the names of the tests only")
    add("iterations", type=int, help="calls in a slice; by default as many as take 5 ms")
    add("num_runs", type=int, default=1, help="report each test so many times")
    add("min_time_per_test", type=float, default=0, help="seconds that a test is to take at least")
    add("warmup_iterations", type=int, default=100, help="calls before the timing starts")
    add("omp_num_threads", type=int, help="threads of the ops")
    add("mkl_num_threads", type=int, help="threads of the products; the same pool serves them here")
    add("forward_only", action="store_true", help="leave backward tests out")
    add("use_jit", action="store_true", help="script the tests")
    add("device", default="None", help="tests of this device only")
    add("framework", default="PyTorch", help=argparse.SUPPRESS)
    parser.add_argument("--flush_cache", "--wipe_cache", "--flush-cache", action="store_true",
                        help="empty the processor's caches before each call")  # fmt: skip
    parser.add_argument("--json", metavar="FILE", help="write the results there")
    parser.add_argument("--plot", metavar="FILE", help="draw the results there")
    return parser


def _letters(text: str | None) -> str | None:
    if text is None:
        return None
    parts = [part.strip().split("-") for part in text.lower().split(",")]
    return "".join(chr(code) for part in parts for code in range(ord(part[0]), ord(part[-1]) + 1))


def _keeps(options: argparse.Namespace, case: cases.Case) -> bool:
    name, letters = case.op.module_name(), _letters(options.operator_range)
    return (
        (options.test_name is None or case.name == options.test_name)
        and (options.operators is None or name in [one.strip() for one in options.operators.split(",")])
        and (letters is None or name[:1].lower() in letters)
        and not (options.forward_only and case.backward)
        and (options.device == "None" or "device" not in case.input or f"device: {options.device}" in case.input)
    )


def _time(options: argparse.Namespace, case: cases.Case, threads: Threads) -> Row:
    function = case.call()
    if options.use_jit and not case.backward:
        scripted = taeda.jit.script(case.op)
        function = lambda: scripted(*case.op.inputs_tuple)
    before = flusher() if options.flush_cache else None
    slices = max(15, int(options.min_time_per_test / 0.01))
    with threads.counted():
        timing = measure([function], warmup=max(options.warmup_iterations, 0), before=before,
                         iterations=None if options.iterations in (None, -1) else options.iterations,
                         slices=slices)[0]  # fmt: skip
    return Row(
        case.op.module_name(), case.name, case.input, "Backward" if case.backward else "Forward", timing, str(threads)
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Runs what has been registered, as the command line says."""
    options, _ = _parser().parse_known_args(argv)
    asked = options.omp_num_threads or options.mkl_num_threads
    if asked:
        os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = str(asked)  # for what processes it starts
    threads = Threads(asked)
    print(f"# Operator benchmark: taeda {taeda.__version__}\n# Tag : {options.tag_filter}\n")
    every = options.tag_filter == "all" or options.test_name is not None
    rows: list[Row] = []
    listed: set[str] = set()
    for case in cases.cases(lambda tag: every or tag == options.tag_filter):
        if not _keeps(options, case):
            continue
        if options.list_ops or options.list_tests:
            name = case.op.module_name() if options.list_ops else case.name
            if name not in listed:
                print(f"# {name}")
            listed.add(name)
            continue
        for run in range(options.num_runs):
            row = _time(options, case, threads)
            print(row.text(run if options.num_runs > 1 else None, "JIT" if options.use_jit else "Eager"), flush=True)
            rows.append(row)
    write(rows, options.json, options.plot)
    if not rows and not listed:
        print(f"# no test has the tag {options.tag_filter!r} and passes the other filters", file=sys.stderr)


if __name__ == "__main__":
    main()
