"""Every file of tests here: ``python -m benchmark_all_test``."""

import importlib
from pathlib import Path

import operator_benchmark as op_bench

for file in sorted(Path(__file__).with_name("pt").glob("*_test.py")):
    importlib.import_module(f"pt.{file.stem}")

if __name__ == "__main__":
    op_bench.benchmark_runner.main()
