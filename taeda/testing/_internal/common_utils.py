"""A test case that compares tensors, one test for each argument, and settings that last for a while.

Tests of published packages import them from here.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import os
import random
import re
import sys
import tempfile
import unittest
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Number
from pathlib import Path
from typing import Any, TypeVar

import taeda
from taeda import Tensor
from taeda.autograd import gradcheck as gradcheck
from taeda.autograd import gradgradcheck as gradgradcheck
from taeda.testing._comparison import assert_close, get_tolerances
from taeda.testing._make_tensor import make_tensor as make_tensor

T = TypeVar("T")
SEED = 1234
IS_LINUX, IS_MACOS, IS_WINDOWS = (sys.platform.startswith(name) for name in ("linux", "darwin", "win32"))
IS_CI = bool(os.environ.get("CI"))
IS_FBCODE = IS_JETSON = IS_SANDCASTLE = TEST_WITH_ROCM = TEST_WITH_TORCHDYNAMO = TEST_MPS = TEST_XPU = False
TEST_CUDA, TEST_MULTIGPU = taeda.cuda.is_available(), taeda.cuda.device_count() > 1
TEST_NUMPY, TEST_SCIPY = (importlib.util.find_spec(name) is not None for name in ("numpy", "scipy"))


def set_rng_seed(seed: int = SEED) -> None:
    """Seeds the generators of Taeda, Python and NumPy."""
    import numpy as np

    taeda.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)  # the one that programs draw from without saying so


class TestCase(unittest.TestCase):
    """A test that begins with the same seed every time, and whose ``assertEqual`` takes tensors.

    ``precision`` and ``rel_tol`` are the least absolute and relative tolerances of all its comparisons.
    """

    __test__ = False  # this class itself has none
    precision: float = 0
    rel_tol: float = 0

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__test__ = True

    def setUp(self) -> None:
        """Seeds the generators."""
        set_rng_seed()

    def assertEqual(  # type: ignore[override]  # what tests give by keyword
        self,
        x: Any,
        y: Any,
        msg: str | Callable[[str], str] | None = None,
        *,
        atol: float | None = None,
        rtol: float | None = None,
        equal_nan: bool = True,
        exact_dtype: bool = True,
        exact_device: bool = False,
        exact_layout: bool = False,
        exact_stride: bool = False,
    ) -> None:
        """Fails unless ``x`` is as ``y``: tensors and numbers by `taeda.testing.assert_close`, where NaN equals NaN.

        Sequences and mappings are walked through, where lists may stand for tuples. A number, an array or a sequence
        beside a tensor is compared with it as a tensor of its dtype. All else is compared by ``==``.
        """
        if isinstance(x, Tensor) or isinstance(y, Tensor):
            given = isinstance(x, Tensor) and isinstance(y, Tensor)
            x, y = (_like(value, other) for value, other in ((x, y), (y, x)))
            least = get_tolerances(x, y, rtol=rtol, atol=atol)
            assert_close(
                x, y, msg=msg, rtol=max(least[0], self.rel_tol), atol=max(least[1], self.precision),
                equal_nan=equal_nan, check_dtype=exact_dtype and given, check_device=exact_device,
                check_layout=exact_layout, check_stride=exact_stride,
            )  # fmt: skip
            return
        same: dict[str, Any] = {
            "msg": msg, "atol": atol, "rtol": rtol, "equal_nan": equal_nan, "exact_dtype": exact_dtype,
            "exact_device": exact_device, "exact_layout": exact_layout, "exact_stride": exact_stride,
        }  # fmt: skip
        if isinstance(x, Mapping) and isinstance(y, Mapping):
            super().assertEqual(x.keys(), y.keys(), msg)
            for key in x:
                self.assertEqual(x[key], y[key], **same)
        elif all(isinstance(value, Sequence) and not isinstance(value, (str, bytes)) for value in (x, y)):
            super().assertEqual(len(x), len(y), msg)
            for left, right in zip(x, y, strict=True):
                self.assertEqual(left, right, **same)
        elif all(isinstance(value, Number) and not isinstance(value, bool) for value in (x, y)):
            dtype = taeda.result_type(x, y)
            self.assertEqual(taeda.tensor(x, dtype=dtype), taeda.tensor(y, dtype=dtype), **same)
        else:
            super().assertEqual(x, y, msg)

    def assertNotEqual(self, x: Any, y: Any, msg: Any = None, **options: Any) -> None:  # type: ignore[override]
        """Fails if `assertEqual` would not."""
        with self.assertRaises(AssertionError, msg=msg):
            self.assertEqual(x, y, **options)


def _like(value: Any, other: Any) -> Tensor:
    """``value`` as a tensor; of the dtype, and for a number of the shape, of ``other`` if it is none."""
    if isinstance(value, Tensor):
        return value
    made = taeda.as_tensor(value, dtype=other.dtype, device=other.device)
    return made.expand(other.shape) if made.dim() == 0 and other.numel() == 1 else made


class subtest:
    """One value of `parametrize` with a name, or decorators, of its own."""

    def __init__(self, arg_values: Any, name: str | None = None, decorators: Iterable[Any] = ()) -> None:
        self.arg_values, self.name, self.decorators = arg_values, name, tuple(decorators)


class parametrize:
    """Makes a method one test for each of ``arg_values``, once `instantiate_parametrized_tests` decorates its class.

    Args:
        arg_str: names of arguments, with commas between.
        arg_values: for one name its values, for several a tuple of values each; or a `subtest` of these.
        name_fn: from the values to the end of the test's name.
    """

    def __init__(self, arg_str: str, arg_values: Iterable[Any], name_fn: Callable[..., str] | None = None) -> None:
        self.names = [name.strip() for name in arg_str.split(",")]
        self.values, self.name_fn = list(arg_values), name_fn

    def __call__(self, test: T) -> T:
        test.parameters = [self, *getattr(test, "parameters", ())]  # type: ignore[attr-defined]
        return test

    def cases(self) -> Iterator[tuple[str, dict[str, Any], tuple[Any, ...]]]:
        """Name, arguments and decorators of each."""
        for index, value in enumerate(self.values):
            given = value if isinstance(value, subtest) else subtest(value)
            values = given.arg_values if len(self.names) > 1 else (given.arg_values,)
            arguments = dict(zip(self.names, values, strict=True))
            words = (_word(name, value, index) for name, value in arguments.items())
            name = given.name or (self.name_fn(*values) if self.name_fn else "_".join(words))
            yield name, arguments, given.decorators


def _word(name: str, value: Any, index: int) -> str:
    if isinstance(value, taeda.dtype):
        return str(value).rpartition(".")[2]
    return f"{name}_{value}" if isinstance(value, (int, float, str)) else f"{name}{index}"


def instantiate_parametrized_tests(cls: type[T]) -> type[T]:
    """Puts in place of each method that `parametrize` decorates its tests."""
    for name, test in list(vars(cls).items()):
        if parameters := getattr(test, "parameters", None):
            delattr(cls, name)
            for case in itertools.product(*(each.cases() for each in parameters)):
                _add_test(cls, name, test, case)
    return cls


def _add_test(cls: type, name: str, test: Callable[..., Any], case: Sequence[Any]) -> None:
    names, arguments, decorators = zip(*case, strict=True)
    given = {key: value for each in arguments for key, value in each.items()}

    def one(self: Any) -> Any:
        return test(self, **given)

    one.__dict__.update({key: value for key, value in vars(test).items() if key != "parameters"})
    one.__name__ = re.sub(r"\W", "_", "_".join((name, *names)))
    one.__doc__ = test.__doc__
    for decorator in itertools.chain.from_iterable(decorators):
        one = decorator(one)
    setattr(cls, one.__name__, one)


@contextlib.contextmanager
def freeze_rng_state() -> Iterator[None]:
    """Puts the generator's state back at the end."""
    state = taeda.get_rng_state()
    try:
        yield
    finally:
        taeda.set_rng_state(state)


@contextlib.contextmanager
def set_default_dtype(dtype: taeda.dtype) -> Iterator[None]:
    """``dtype`` as the default within."""
    before = taeda.get_default_dtype()
    taeda.set_default_dtype(dtype)
    try:
        yield
    finally:
        taeda.set_default_dtype(before)


@contextlib.contextmanager
def TemporaryFileName(suffix: str = "") -> Iterator[str]:
    """The name of an empty file, which is gone at the end."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"file{suffix}")
        path.touch()
        yield str(path)


@contextlib.contextmanager
def TemporaryDirectoryName(suffix: str | None = None) -> Iterator[str]:
    """The name of a folder that is gone at the end."""
    with tempfile.TemporaryDirectory(suffix=suffix) as folder:
        yield folder


def skipIfRocm(test: T) -> T:
    """``test``: there is no ROCm."""
    return test


def skipIfTorchDynamo(msg: str = "") -> Callable[[T], T]:
    """What leaves tests as they are: there is no Dynamo."""
    return lambda test: test


def run_tests(argv: Sequence[str] | None = None) -> None:
    """Runs the tests of the main module."""
    unittest.main(argv=list(argv or sys.argv))
