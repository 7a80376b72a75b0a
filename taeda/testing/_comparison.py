"""``assert_close``: pairs up what two values hold, compares each pair, and reports all that differ."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import taeda
from taeda import Tensor

_TOLERANCES: dict[str, tuple[float, float]] = {  # dtype: (rtol, atol)
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}
_SHOWN = 3  # the greatest differences listed per tensor
Message = str | Callable[[str], str] | None


class _Mismatch(Exception):
    """One pair that differs: what to say, and where in the containers it lies."""

    def __init__(self, text: str, path: tuple[Any, ...]) -> None:
        super().__init__(text)
        self.text = text
        self.path = path

    def describe(self) -> str:
        if not self.path:
            return self.text
        return f"At [{']['.join(map(repr, self.path))}]: {self.text}"


class _Options:
    """The switches of one ``assert_close`` call."""

    def __init__(self, **given: Any) -> None:
        self.allow_subclasses: bool = given["allow_subclasses"]
        self.rtol: float | None = given["rtol"]
        self.atol: float | None = given["atol"]
        self.equal_nan: bool = given["equal_nan"]
        self.check_device: bool = given["check_device"]
        self.check_dtype: bool = given["check_dtype"]
        self.check_layout: bool = given["check_layout"]
        self.check_stride: bool = given["check_stride"]
        if (self.rtol is None) != (self.atol is None):
            raise ValueError(
                f"taeda.testing.assert_close: give rtol and atol or neither; got rtol={self.rtol}, atol={self.atol}"
            )


def tolerances(rtol: float | None, atol: float | None, *dtypes: taeda.dtype) -> tuple[float, float]:
    """What was asked for, else the loosest default among ``dtypes``."""
    if rtol is not None and atol is not None:
        return rtol, atol
    defaults = [_TOLERANCES.get(str(dtype).rpartition(".")[2], (0.0, 0.0)) for dtype in dtypes]
    return max(rtol for rtol, _ in defaults), max(atol for _, atol in defaults)


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: Message = None,
) -> None:
    """Assert ``|actual - expected| <= atol + rtol * |expected|``, element by element.

    Tensors, NumPy arrays, Python numbers and None are compared; sequences and mappings are walked through, mappings
    by key. Integers and booleans must be equal unless tolerances are given. Infinities equal only themselves.

    Args:
        actual: the value under test.
        expected: what it should be.
        allow_subclasses: whether a subclass of the other's type may stand for it.
        rtol: relative tolerance; given together with ``atol``, or both default by dtype (float32: 1.3e-6).
        atol: absolute tolerance (float32: 1e-5); with two dtypes the looser default counts.
        equal_nan: whether NaN equals NaN.
        check_device: whether tensors must be on one device; otherwise they are compared on the CPU.
        check_dtype: whether dtypes must be equal; otherwise they are compared after promotion.
        check_layout: whether layouts must be equal; otherwise both are compared as strided.
        check_stride: whether strides must be equal.
        msg: replaces the message; a function receives the message and returns its replacement.

    Raises:
        AssertionError: something differs; every differing pair is reported.
        ValueError: only one tolerance is given, or a value cannot become a tensor.
        TypeError: the two values are of types that do not compare.
    """
    __tracebackhide__ = True
    options = _Options(
        allow_subclasses=allow_subclasses,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_device=check_device,
        check_dtype=check_dtype,
        check_layout=check_layout,
        check_stride=check_stride,
    )
    with taeda.no_grad():
        failures = list(_compare(actual, expected, (), options))
    if not failures:
        return
    text = "\n\n".join(failure.describe() for failure in failures)
    if callable(msg):
        text = msg(text)
    elif msg is not None:
        text = msg
    raise AssertionError(text)


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """The older ``assert_close``: NaNs are equal, and devices, dtypes and strides are not checked."""
    actual = actual if isinstance(actual, Tensor) else taeda.tensor(actual)
    expected = expected if isinstance(expected, Tensor) else taeda.tensor(expected, dtype=actual.dtype)
    assert_close(
        actual,
        expected,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_device=True,
        check_dtype=False,
        check_stride=False,
        msg=msg or None,
    )


def _compare(actual: Any, expected: Any, path: tuple[Any, ...], options: _Options) -> Iterator[_Mismatch]:
    """The mismatches between two values, containers walked through."""
    pairs = _children(actual, expected, path)
    if isinstance(pairs, _Mismatch):
        yield pairs
    elif pairs is not None:
        for key, left, right in pairs:
            yield from _compare(left, right, (*path, key), options)
    else:
        try:
            _compare_leaf(actual, expected, path, options)
        except _Mismatch as mismatch:
            yield mismatch


def _children(actual: Any, expected: Any, path: tuple[Any, ...]) -> Any:
    """``(key, actual, expected)`` for each entry of two containers, a mismatch, or None if they are none."""
    if all(isinstance(value, Sequence) and not isinstance(value, str) for value in (actual, expected)):
        if len(actual) != len(expected):
            return _Mismatch(f"the sequences have {len(actual)} and {len(expected)} entries", path)
        return [(index, left, right) for index, (left, right) in enumerate(zip(actual, expected, strict=True))]
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        missing = [key for key in expected if key not in actual]
        extra = [key for key in actual if key not in expected]
        if missing or extra:
            return _Mismatch(f"the mappings have different keys: missing {missing}, unexpected {extra}", path)
        return [(key, actual[key], expected[key]) for key in sorted(actual, key=lambda key: (str(type(key)), str(key)))]
    return None


def _compare_leaf(actual: Any, expected: Any, path: tuple[Any, ...], options: _Options) -> None:
    if actual is None and expected is None:
        return
    if (actual is None) != (expected is None):
        raise _Mismatch(f"one of the two is None: got {actual!r}, expected {expected!r}", path)
    if _is_bool(actual) and _is_bool(expected):
        if bool(actual) is not bool(expected):
            raise _Mismatch(f"the booleans differ: got {actual}, expected {expected}", path)
    elif _is_number(actual) and _is_number(expected):
        _compare_numbers(_to_python(actual), _to_python(expected), path, options)
    else:
        _compare_tensors(*_as_tensors(actual, expected, path, options), path, options)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or type(value).__module__ == "numpy" and type(value).__name__ in ("bool_", "bool")


def _is_number(value: Any) -> bool:
    if isinstance(value, (int, float, complex)):
        return True
    import numbers

    return isinstance(value, numbers.Number) and not isinstance(value, Tensor)


def _to_python(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def _compare_numbers(actual: Any, expected: Any, path: tuple[Any, ...], options: _Options) -> None:
    if options.check_dtype and type(actual) is not type(expected):
        names = f"{type(actual).__name__} and {type(expected).__name__}"
        raise _Mismatch(f"the numbers are of different types: {names}; check_dtype=False compares values alone", path)
    rtol, atol = tolerances(options.rtol, options.atol, *(_dtype_of_number(value) for value in (actual, expected)))
    if actual == expected or (options.equal_nan and cmath.isnan(actual) and cmath.isnan(expected)):
        return
    difference = abs(actual - expected)
    if math.isfinite(difference) and difference <= atol + rtol * abs(expected):
        return
    relative = difference / abs(expected) if expected else math.inf
    raise _Mismatch(
        f"the numbers differ: got {actual!r}, expected {expected!r}: absolute difference {difference} "
        f"(atol {atol}), relative {relative} (rtol {rtol})",
        path,
    )


def _dtype_of_number(value: Any) -> taeda.dtype:
    if isinstance(value, complex):
        return taeda.complex128
    return taeda.float64 if isinstance(value, float) else taeda.int64


def _as_tensors(actual: Any, expected: Any, path: tuple[Any, ...], options: _Options) -> tuple[Tensor, Tensor]:
    related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
    if not related or (type(actual) is not type(expected) and not options.allow_subclasses):
        where = f" at {list(path)}" if path else ""
        raise TypeError(
            f"taeda.testing.assert_close: cannot compare {type(actual).__name__} with {type(expected).__name__}{where}"
            "; convert one to the other's type first"
        )
    return _to_tensor(actual), _to_tensor(expected)


def _to_tensor(value: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (str, bytes)):
        raise TypeError(f"taeda.testing.assert_close: cannot compare {type(value).__name__}; use assert ==")
    try:
        return taeda.as_tensor(value)
    except Exception as error:
        raise TypeError(
            f"taeda.testing.assert_close: a {type(value).__name__} is neither a tensor nor can it become one ({error})"
        ) from error


def _compare_tensors(actual: Tensor, expected: Tensor, path: tuple[Any, ...], options: _Options) -> None:
    _compare_attributes(actual, expected, path, options)
    if actual.is_meta or expected.is_meta:
        if actual.is_meta and expected.is_meta:
            return  # neither has values
        raise _Mismatch("a meta tensor has no values to compare with the other's", path)
    rtol, atol = tolerances(options.rtol, options.atol, actual.dtype, expected.dtype)
    left, right = _comparable(actual, expected)
    close = taeda.isclose(left, right, rtol=rtol, atol=atol, equal_nan=options.equal_nan)
    if not bool(close.all()):
        raise _Mismatch(_report(left, right, close, rtol, atol), path)


def _compare_attributes(actual: Tensor, expected: Tensor, path: tuple[Any, ...], options: _Options) -> None:
    checks: list[tuple[str, Any, Any, bool]] = [
        ("shapes", tuple(actual.shape), tuple(expected.shape), True),
        ("layouts", actual.layout, expected.layout, options.check_layout),
        ("devices", actual.device, expected.device, options.check_device),
        ("dtypes", actual.dtype, expected.dtype, options.check_dtype),
    ]
    if options.check_stride and actual.layout == expected.layout == taeda.strided:
        checks.append(("strides", tuple(actual.stride()), tuple(expected.stride()), True))
    for name, left, right, checked in checks:
        if checked and left != right:
            raise _Mismatch(f"the tensors have different {name}: got {left}, expected {right}", path)


def _comparable(actual: Tensor, expected: Tensor) -> tuple[Tensor, Tensor]:
    """Both on one device, strided, and of one dtype that ``isclose`` computes in."""
    if actual.device != expected.device:
        actual, expected = actual.cpu(), expected.cpu()
    if actual.layout != expected.layout or actual.layout != taeda.strided:
        actual, expected = (x if x.layout == taeda.strided else x.to_dense() for x in (actual, expected))
    left, right = _computing_dtype(actual.dtype), _computing_dtype(expected.dtype)
    dtype = left if left == right else taeda.promote_types(left, right)
    return actual.to(dtype), expected.to(dtype)


def _computing_dtype(dtype: taeda.dtype) -> taeda.dtype:
    """A dtype with arithmetic in place of one that only stores."""
    if dtype.is_floating_point and dtype.itemsize < 2:
        return taeda.float32
    return taeda.int64 if dtype in (taeda.uint16, taeda.uint32, taeda.uint64) else dtype


def _report(actual: Tensor, expected: Tensor, close: Tensor, rtol: float, atol: float) -> str:
    """How many elements differ, and the greatest absolute and relative differences with their indices."""
    wrong, total = int((~close).sum()), close.numel()
    lines = [f"{wrong} of {total} elements differ ({100 * wrong / total:.1f} %), tolerances: rtol {rtol}, atol {atol}"]
    wide = taeda.complex128 if actual.is_complex() else taeda.float64
    left, right = actual.to(wide), expected.to(wide)
    absolute = (left - right).abs()
    relative = absolute / right.abs()
    for name, difference in (("absolute", absolute), ("relative", relative)):
        ranked = difference.masked_fill(close, -1).nan_to_num(nan=math.inf, posinf=math.inf).flatten()
        worst = taeda.topk(ranked, min(_SHOWN, wrong)).indices.tolist()
        lines.append(f"Greatest {name} differences:")
        lines += [_line(actual, expected, difference, index) for index in worst]
    return "\n".join(lines)


def _line(actual: Tensor, expected: Tensor, difference: Tensor, flat: int) -> str:
    index = []
    for size in reversed(actual.shape):
        flat, rest = divmod(flat, size)
        index.append(rest)
    at = tuple(reversed(index))
    value = difference[at].item()
    return f"  {value:.6g} at {at}: got {actual[at].item()}, expected {expected[at].item()}"
