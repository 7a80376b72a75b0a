"""Products of matrices whose rows share sets of the cache are those of the numbers, by the kernels of AVX2, too."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import taeda


def _operand(rows: int, columns: int, by_columns: bool) -> taeda.Tensor:
    return taeda.randn(columns, rows).t() if by_columns else taeda.randn(rows, columns)


# Steps of k past the ones that are copied together, and tiles whose rows would be aliased again.
@pytest.mark.parametrize("sizes", [(40, 512, 700), (512, 40, 1030), (256, 1024, 600), (3, 2048, 512), (1024, 7, 520)])
@pytest.mark.parametrize("order", ["nn", "tn", "nt", "tt"])
def test_products_of_rows_a_power_of_two_apart(sizes: tuple[int, int, int], order: str) -> None:
    taeda.manual_seed(0)
    m, n, k = sizes
    a, b, start = _operand(m, k, order[0] == "t"), _operand(k, n, order[1] == "t"), taeda.randn(m, n)
    wanted = 0.5 * start.double() - 2 * (a.double() @ b.double())
    assert (taeda.addmm(start, a, b, beta=0.5, alpha=-2) - wanted).abs().max() < 1e-3
    start.fill_(float("nan"))  # which beta = 0 does not look at
    assert (taeda.addmm(start, a, b, beta=0) - a.double() @ b.double()).abs().max() < 1e-3


def test_by_lower_instruction_sets() -> None:
    for capability in ("avx2", "default"):
        environment = os.environ | {"TAEDA_CPU_CAPABILITY": capability}
        options = ["-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-k", "apart"]
        run = subprocess.run(
            [sys.executable, "-m", "pytest", *options, __file__], env=environment, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stdout
