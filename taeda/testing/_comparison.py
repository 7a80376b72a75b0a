"""``assert_close``: pairs up what two values hold, compares each pair, and reports all that differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda.testing._pairs import (
    BooleanPair,
    ErrorMeta,
    Message,
    NonePair,
    NumberPair,
    ObjectPair,
    Pair,
    Path,
    UnsupportedInputs,
    default_tolerances,
    get_tolerances,
    make_scalar_mismatch_msg,
)  # fmt: skip
from taeda.testing._tensor_pair import TensorLikePair, make_tensor_mismatch_msg

__all__ = [
    "BooleanPair", "ErrorMeta", "NonePair", "NumberPair", "ObjectPair", "Pair", "TensorLikePair", "UnsupportedInputs",
    "assert_allclose", "assert_close", "default_tolerances", "get_tolerances", "make_scalar_mismatch_msg",
    "make_tensor_mismatch_msg", "not_close_error_metas", "originate_pairs",
]  # fmt: skip
PairTypes = Sequence[type[Pair]]
Types = tuple[type, ...]


def originate_pairs(
    actual: Any, expected: Any, *, pair_types: PairTypes, sequence_types: Types = (Sequence,),
    mapping_types: Types = (Mapping,), id: Path = (), **options: Any,
) -> list[Pair]:  # fmt: skip
    """The pairs in two values, containers walked through; each is of the first class that takes its two values.

    Raises:
        ErrorMeta: of AssertionError, containers hold other places; of TypeError, no class takes two values.
    """
    how: dict[str, Any] = {
        "pair_types": pair_types, "sequence_types": sequence_types, "mapping_types": mapping_types, **options,
    }  # fmt: skip
    children = _children(actual, expected, id, sequence_types, mapping_types)
    if children is not None:
        return [pair for key, *both in children for pair in originate_pairs(*both, id=(*id, key), **how)]
    for pair_type in pair_types:
        try:
            return [pair_type(actual, expected, id=id, **options)]
        except UnsupportedInputs:
            continue
        except ErrorMeta:
            raise
        except Exception as error:
            raise RuntimeError(
                f"taeda.testing: {pair_type.__name__} of {actual!r} and {expected!r} fails to be made"
            ) from error
    raise ErrorMeta(
        TypeError,
        f"taeda.testing: cannot compare {type(actual).__name__} with {type(expected).__name__}; tensors, numbers and "
        "what becomes tensors are compared with their like: convert one to the other's type, or use assert ==",
        id=id,
    )


def _children(actual: Any, expected: Any, path: Path, sequences: Types, mappings: Types) -> list[Any] | None:
    """``(key, actual, expected)`` for each place of two containers; None if they are none."""
    if all(isinstance(value, sequences) and not isinstance(value, str) for value in (actual, expected)):
        if len(actual) != len(expected):
            raise ErrorMeta(AssertionError, f"the sequences have {len(actual)} and {len(expected)} entries", id=path)
        return [(index, left, right) for index, (left, right) in enumerate(zip(actual, expected, strict=True))]
    if all(isinstance(value, mappings) for value in (actual, expected)):
        missing = [key for key in expected if key not in actual]
        extra = [key for key in actual if key not in expected]
        if missing or extra:
            text = f"the mappings have different keys: missing {missing}, unexpected {extra}"
            raise ErrorMeta(AssertionError, text, id=path)
        return [(key, actual[key], expected[key]) for key in sorted(actual, key=lambda key: (str(type(key)), str(key)))]
    return None


def not_close_error_metas(
    actual: Any, expected: Any, *, pair_types: PairTypes = (ObjectPair,), sequence_types: Types = (Sequence,),
    mapping_types: Types = (Mapping,), **options: Any,
) -> list[ErrorMeta]:  # fmt: skip
    """What is wrong with each pair in two values that is not as it should be.

    Raises:
        AssertionError: containers hold other places.
        TypeError: no class of pairs takes two values.
    """
    __tracebackhide__ = True
    with taeda.no_grad():
        try:
            pairs = originate_pairs(
                actual, expected, pair_types=pair_types, sequence_types=sequence_types, mapping_types=mapping_types,
                **options,
            )  # fmt: skip
        except ErrorMeta as error:
            raise error.to_error() from None
        return [wrong for pair in pairs if (wrong := _compared(pair)) is not None]


def _compared(pair: Pair) -> ErrorMeta | None:
    try:
        pair.compare()
    except ErrorMeta as error:
        return error
    except Exception as error:
        raise RuntimeError(f"taeda.testing: the comparison of this pair fails: {pair!r}") from error
    return None


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
    errors = not_close_error_metas(
        actual, expected, pair_types=(NonePair, BooleanPair, NumberPair, TensorLikePair),
        allow_subclasses=allow_subclasses, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=check_device,
        check_dtype=check_dtype, check_layout=check_layout, check_stride=check_stride,
    )  # fmt: skip
    if errors:
        raise ErrorMeta(errors[0].type, "\n\n".join(error.text() for error in errors)).to_error(msg)


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
