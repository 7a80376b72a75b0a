"""What an error says of the place: which operand, which entry, which matrix, which parameter was meant."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import taeda
from taeda.nn import functional as F

SINGULAR = taeda.stack([taeda.eye(2), taeda.tensor([[1.0, 0.0], [0.0, 0.0]])])


def twice() -> None:
    x = taeda.ones(2, requires_grad=True)
    y = (x * x).sum()
    y.backward()
    y.backward()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: taeda.einsum("ij,jk->ik", taeda.ones(2, 3), taeda.ones(4, 5)), RuntimeError,
         "taeda.einsum: 'j' has size 3 in operand 0 and 4 in operand 1"),
        (lambda: taeda.stack([taeda.ones(2), taeda.ones(2), taeda.ones(3)]), RuntimeError,
         r"entry 0 has \(2,\), entry 2 has \(3,\)"),
        (lambda: taeda.linalg.inv(SINGULAR), taeda.linalg.LinAlgError, "pivot 2 is 0, in matrix 1 of the batch"),
        (lambda: taeda.linalg.solve(SINGULAR[1], taeda.ones(2)), taeda.linalg.LinAlgError, "pivot 2 is 0$"),
        (lambda: taeda.linalg.cholesky(SINGULAR), taeda.linalg.LinAlgError,
         "the leading minor of order 2 is not positive, in matrix 1 of the batch"),
        (lambda: taeda.empty((3, 2.0)), TypeError, "must be a list of ints, got tuple whose item 1 is a float"),
        (lambda: taeda.stack([taeda.ones(2), {}]), TypeError, "a list of Tensors, got list whose item 1 is a dict"),
        (lambda: taeda.add(taeda.ones(2), np.ones(2)), TypeError, "'other' must be a Tensor, got numpy.ndarray"),
        (lambda: taeda.vmap(lambda x: x.item())(taeda.ones(5)), ValueError, r"item\(\), tolist\(\) and their kin"),
        (lambda: F.cross_entropy(taeda.ones(2), taeda.ones(3)), RuntimeError, "taeda.nn.functional.cross_entropy: "),
        (lambda: taeda.ones(2).item(), RuntimeError, "taeda.Tensor.item: needs a tensor of one element"),
        (lambda: taeda.softmax(taeda.ones(2), axes=1), TypeError, "no parameter 'axes'; did you mean 'dim'?"),
        (lambda: taeda.ones(2).add(taeda.ones(2), alph=3), TypeError, "no parameter 'alph'; did you mean 'alpha'?"),
        (twice, RuntimeError, r"the first backward\(\) released what MulBackward0 had saved; pass retain_graph=True"),
    ],
)  # fmt: skip
def test_names_the_place(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_a_copy_of_memory_that_may_not_be_written_is_silent() -> None:
    array = np.ones(3)
    array.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        taeda.tensor(array)
        with pytest.raises(UserWarning, match="read-only"):
            taeda.as_tensor(array)


def test_collect_env() -> None:
    from taeda.utils import collect_env

    assert collect_env.get_env_info().torch_version == taeda.__version__
    printed = subprocess.run([sys.executable, "-m", "taeda.utils.collect_env"], capture_output=True, text=True)
    assert f"numpy=={np.__version__}" in printed.stdout, printed.stderr
