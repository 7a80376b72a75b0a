"""Two values that should be close: a class for each kind of value, which libraries derive their own from."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import taeda
from taeda import Tensor

Message = str | Callable[[str], str] | None
Path = tuple[Any, ...]

_TOLERANCES: dict[taeda.dtype, tuple[float, float]] = {  # (rtol, atol)
    taeda.float16: (1e-3, 1e-5), taeda.complex32: (1e-3, 1e-5),
    taeda.bfloat16: (1.6e-2, 1e-5),
    taeda.float32: (1.3e-6, 1e-5), taeda.complex64: (1.3e-6, 1e-5),
    taeda.float64: (1e-7, 1e-7), taeda.complex128: (1e-7, 1e-7),
}  # fmt: skip
for _name in ("quint8", "quint2x4", "quint4x2", "qint8", "qint32"):
    _TOLERANCES[getattr(taeda, _name)] = _TOLERANCES[taeda.float32]


class ErrorMeta(Exception):
    """What is wrong with two values, and where in the containers they lie; `to_error` makes what users see of it."""

    def __init__(self, type: type[Exception], msg: str, *, id: Path = ()) -> None:
        super().__init__(type, msg, id)
        self.type, self.msg, self.id = type, msg, id

    def text(self) -> str:
        """The message with the place."""
        return f"At [{']['.join(map(repr, self.id))}]: {self.msg}" if self.id else self.msg

    def to_error(self, msg: Message = None) -> Exception:
        """The error to raise; ``msg`` replaces the message, or makes another from it."""
        text = msg if isinstance(msg, str) else self.text()
        return self.type(msg(text) if callable(msg) else text)


class UnsupportedInputs(Exception):
    """A class of pairs does not take these values; another may."""


def default_tolerances(
    *inputs: Tensor | taeda.dtype, dtype_precisions: dict[taeda.dtype, tuple[float, float]] | None = None
) -> tuple[float, float]:
    """The loosest relative and absolute tolerance of the dtypes; zeros for those that are exact."""
    dtypes = [x.dtype if isinstance(x, Tensor) else x for x in inputs]
    for dtype in dtypes:
        if not isinstance(dtype, taeda.dtype):
            raise TypeError(f"taeda.testing: tolerances are of tensors and dtypes; got {type(dtype).__name__}")
    known = [(dtype_precisions or _TOLERANCES).get(dtype, (0.0, 0.0)) for dtype in dtypes]
    return max(rtol for rtol, _ in known), max(atol for _, atol in known)


def get_tolerances(
    *inputs: Tensor | taeda.dtype, rtol: float | None, atol: float | None, id: Path = ()
) -> tuple[float, float]:
    """What was asked for, else the defaults.

    Raises:
        ErrorMeta: of ValueError, one is given without the other.
    """
    if (rtol is None) != (atol is None):
        raise ErrorMeta(ValueError, f"taeda.testing: give rtol and atol or neither; got {rtol=}, {atol=}", id=id)
    return default_tolerances(*inputs) if rtol is None or atol is None else (rtol, atol)


class Pair:
    """Two values; ``unknown_parameters`` are what other classes of pairs are to know."""

    def __init__(self, actual: Any, expected: Any, *, id: Path = (), **unknown_parameters: Any) -> None:
        self.actual, self.expected, self.id = actual, expected, id
        self._unknown_parameters = unknown_parameters

    @staticmethod
    def _inputs_not_supported() -> NoReturn:
        """Says, in the constructor, that another class should take the values."""
        raise UnsupportedInputs

    @staticmethod
    def _check_inputs_isinstance(*inputs: Any, cls: type | tuple[type, ...]) -> None:
        """Leaves values of other classes to other pairs."""
        if not all(isinstance(value, cls) for value in inputs):
            Pair._inputs_not_supported()

    def _fail(self, type: type[Exception], msg: str, *, id: Path = ()) -> NoReturn:
        """Ends the comparison with what users are told."""
        raise ErrorMeta(type, msg, id=id or getattr(self, "id", ()))

    def compare(self) -> None:
        """Calls `_fail` unless the values are as they should be."""
        raise NotImplementedError(f"{type(self).__name__} must have a method compare")

    def extra_repr(self) -> Sequence[str | tuple[str, Any]]:
        """What is shown besides, as names of attributes, or names and values."""
        return []

    def __repr__(self) -> str:
        shown = [x if isinstance(x, tuple) else (x, getattr(self, x)) for x in
                 ("id", "actual", "expected", *self.extra_repr())]  # fmt: skip
        return "\n".join([f"{type(self).__name__}(", *(f"    {name}={value}," for name, value in shown), ")"])


class ObjectPair(Pair):
    """Two values that must be equal by ``==``."""

    def compare(self) -> None:
        try:
            equal = self.actual == self.expected
        except Exception as error:
            self._fail(ValueError, f"{self.actual} == {self.expected} raises {type(error).__name__}: {error}")
        if not equal:
            self._fail(AssertionError, f"got {self.actual!r}, expected {self.expected!r}")


class NonePair(Pair):
    """None, which both must be."""

    def __init__(self, actual: Any, expected: Any, **other_parameters: Any) -> None:
        if actual is not None and expected is not None:
            self._inputs_not_supported()
        super().__init__(actual, expected, **other_parameters)

    def compare(self) -> None:
        if self.actual is not self.expected:
            text = f"one of the two is None: got {self.actual!r}, expected {self.expected!r}"
            self._fail(AssertionError, text)


class BooleanPair(Pair):
    """Two booleans, of Python or NumPy."""

    def __init__(self, actual: Any, expected: Any, *, id: Path, **other_parameters: Any) -> None:
        actual, expected = self._process_inputs(actual, expected, id=id)
        super().__init__(actual, expected, id=id, **other_parameters)

    def _process_inputs(self, actual: Any, expected: Any, *, id: Path) -> tuple[bool, bool]:
        if not (_is_bool(actual) and _is_bool(expected)):
            self._inputs_not_supported()
        return bool(actual), bool(expected)

    def compare(self) -> None:
        if self.actual is not self.expected:
            self._fail(AssertionError, f"the booleans differ: got {self.actual}, expected {self.expected}")


class NumberPair(Pair):
    """Two numbers, of Python or NumPy."""

    def __init__(
        self, actual: Any, expected: Any, *, id: Path = (), rtol: float | None = None, atol: float | None = None,
        equal_nan: bool = False, check_dtype: bool = False, **other_parameters: Any,
    ) -> None:  # fmt: skip
        actual, expected = self._process_inputs(actual, expected, id=id)
        super().__init__(actual, expected, id=id, **other_parameters)
        dtypes = [_dtype_of_number(value) for value in (actual, expected)]
        self.rtol, self.atol = get_tolerances(*dtypes, rtol=rtol, atol=atol, id=id)
        self.equal_nan, self.check_dtype = equal_nan, check_dtype

    def _process_inputs(self, actual: Any, expected: Any, *, id: Path) -> tuple[Any, Any]:
        if not (_is_number(actual) and _is_number(expected)):
            self._inputs_not_supported()
        return self._to_number(actual, id=id), self._to_number(expected, id=id)

    def _to_number(self, number_like: Any, *, id: Path) -> Any:
        return number_like.item() if hasattr(number_like, "item") else number_like

    def compare(self) -> None:
        actual, expected = self.actual, self.expected
        if self.check_dtype and type(actual) is not type(expected):
            names = f"{type(actual).__name__} and {type(expected).__name__}"
            self._fail(
                AssertionError, f"the numbers are of different types: {names}; check_dtype=False compares values alone"
            )
        if actual == expected or (self.equal_nan and cmath.isnan(actual) and cmath.isnan(expected)):
            return
        difference = abs(actual - expected)
        if not (math.isfinite(difference) and difference <= self.atol + self.rtol * abs(expected)):
            self._fail(AssertionError, make_scalar_mismatch_msg(actual, expected, rtol=self.rtol, atol=self.atol))

    def extra_repr(self) -> Sequence[str]:
        return "rtol", "atol", "equal_nan", "check_dtype"


def make_scalar_mismatch_msg(
    actual: Any, expected: Any, *, rtol: float, atol: float, identifier: Message = None
) -> str:
    """What is said of two numbers that are not close; ``identifier`` says what they are, given "the numbers"."""
    difference = abs(actual - expected)
    relative = difference / abs(expected) if expected else math.inf
    return (
        f"{named('the numbers', identifier)} differ: got {actual!r}, expected {expected!r}: absolute difference "
        f"{difference} (atol {atol}), relative {relative} (rtol {rtol})"
    )


def named(default: str, identifier: Message) -> str:
    """What a message calls the values."""
    return identifier(default) if callable(identifier) else identifier or default


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or type(value).__module__ == "numpy" and type(value).__name__ in ("bool_", "bool")


def _is_number(value: Any) -> bool:
    if isinstance(value, (int, float, complex)):
        return True
    import numbers

    return isinstance(value, numbers.Number) and not isinstance(value, Tensor)


def _dtype_of_number(value: Any) -> taeda.dtype:
    if isinstance(value, complex):
        return taeda.complex128
    return taeda.float64 if isinstance(value, float) else taeda.int64
