"""The test case, and one test for each argument, that published packages' tests import."""

import math
import random
import unittest

import numpy as np
import pytest

import taeda
from taeda.testing._internal import common_utils
from taeda.testing._internal.common_utils import TestCase, instantiate_parametrized_tests, parametrize, subtest

ONE = taeda.tensor([1.0, 2.0])
SAME = [
    (ONE, ONE + 1e-6, {}),
    (ONE, [1.0, 2.0], {}),
    ((1, 2), [1, 2], {}),
    (ONE, np.array([1, 2]), {}),
    (taeda.tensor([[3]]), 3, {}),
    (ONE, ONE.double(), {"exact_dtype": False}),
    (ONE, ONE + 0.1, {"atol": 0.2, "rtol": 0}),
    (taeda.tensor(math.nan), taeda.tensor(math.nan), {}),
    (math.nan, math.nan, {}),
    (1, 1.0, {}),
    (0.1 + 0.2, 0.3, {}),
    ({"a": [ONE], "b": "x"}, {"b": "x", "a": (ONE,)}, {}),
    (ONE.to_sparse(), ONE, {}),
    (taeda.float32, taeda.float32, {}),
]
DIFFERENT = [
    (ONE, ONE + 1e-3, {}),
    (ONE, ONE.double(), {}),
    (ONE, ONE[None], {}),
    (ONE, 1.0, {}),
    (taeda.tensor(math.nan), taeda.tensor(math.nan), {"equal_nan": False}),
    (1, 2, {}),
    (True, False, {}),
    ({"a": 1}, {"b": 1}, {}),
    ([1, 2], [1, 2, 3], {}),
    ("x", "y", {}),
    (ONE.to_sparse(), ONE, {"exact_layout": True}),
    (
        taeda.ones(2, 2).t(),
        taeda.ones(2, 2)[:, [0, 1]].clone(memory_format=taeda.contiguous_format),
        {"exact_stride": True},
    ),
]


class Compares(TestCase):
    def compare(self) -> None:
        for x, y, options in SAME:
            self.assertEqual(x, y, **options)
        for x, y, options in DIFFERENT:
            self.assertNotEqual(x, y, **options)
            with pytest.raises(AssertionError):
                self.assertEqual(x, y, **options)
        with pytest.raises(AssertionError):
            self.assertNotEqual(ONE, ONE)
        with pytest.raises(AssertionError, match="as said"):
            self.assertEqual([ONE], [ONE + 1], "as said")


def test_what_is_equal() -> None:
    Compares("compare").debug()


def test_tolerances_of_a_class_and_seeds_of_each_test() -> None:
    class Patient(TestCase):
        precision = 0.1
        drawn: list[tuple[float, ...]] = []

        def one(self) -> None:
            self.assertEqual(ONE, ONE + 0.05)
            self.drawn.append((taeda.rand(()).item(), random.random(), np.random.rand()))

    for _ in range(2):
        Patient("one").debug()
    assert Patient.drawn[0] == Patient.drawn[1]


def test_parameters() -> None:
    seen = []

    @instantiate_parametrized_tests
    class Cases(TestCase):
        @parametrize("dtype", [taeda.int32, taeda.float64])
        @parametrize("size, bias", [(1, True), subtest((2, False), name="large")])
        def test_all(self, dtype, size, bias):
            """As told."""
            seen.append((dtype, size, bias))

        @parametrize("x", [subtest(None, decorators=[unittest.skip("not today")])])
        def test_skipped(self, x):
            seen.append(x)

        def test_alone(self):
            seen.append("alone")

    names = unittest.defaultTestLoader.getTestCaseNames(Cases)
    assert names == [
        "test_all_float64_large", "test_all_float64_size_1_bias_True", "test_all_int32_large",
        "test_all_int32_size_1_bias_True", "test_alone", "test_skipped_x0",
    ]  # fmt: skip
    assert Cases.test_all_int32_large.__doc__ == "As told."
    result = unittest.defaultTestLoader.loadTestsFromTestCase(Cases).run(unittest.TestResult())
    assert result.testsRun == 6 and len(result.skipped) == 1 and result.wasSuccessful()
    assert len(seen) == 5 and (taeda.int32, 2, False) in seen and "alone" in seen


def test_what_lasts_for_a_while(tmp_path) -> None:
    with common_utils.freeze_rng_state():
        first = taeda.rand(2)
    assert taeda.equal(first, taeda.rand(2))
    with common_utils.set_default_dtype(taeda.float64):
        assert taeda.ones(()).dtype == taeda.float64
    assert taeda.ones(()).dtype == taeda.float32
    with common_utils.TemporaryFileName(suffix=".pt") as file, common_utils.TemporaryDirectoryName() as folder:
        taeda.save(ONE, file)
        taeda.save(ONE, f"{folder}/x")
        assert taeda.equal(taeda.load(file), ONE)
    for gone in (file, f"{folder}/x"):
        with pytest.raises(FileNotFoundError):
            taeda.load(gone)
