"""The language's own functions mean what Python's do."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import pytest

import taeda as torch
from taeda import _C
from taeda._schema.function_schema import FunctionSchema

call = _C._jit.call_primitive
SCHEMAS = [FunctionSchema(text) for text in _C._jit.primitive_schemas()]
INTS = [-(2**62), -7, -1, 0, 1, 2, 3, 40]
FLOATS = [-7.5, -1.0, -0.0, 0.0, 0.5, 3.0, 1e300, math.inf, math.nan]
TEXTS = ["", "a", " Ab cd  ab", "näïve\tx", "Title Case", "12", "x_1", "{}", "a,b,,c"]


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    """What comes of a call: the result, or the kind of error."""
    try:
        result = function(*args)
    except (ArithmeticError, ValueError, LookupError, TypeError) as error:
        return type(error)
    return repr(result)


def test_no_function_is_declared_twice() -> None:
    names = [(s.name, s.overload_name) for s in SCHEMAS]
    assert len(set(names)) == len(names)
    exported = {"aten::item"}  # an op too, once taeda.export is there
    assert not {f"{n}.{o}" if o else n for n, o in names} & set(_C._all_op_names()) - exported


@pytest.mark.torch
def test_schemas_are_torch_s() -> None:
    real = pytest.importorskip("torch")
    theirs = {str(s).split("(")[0]: str(s) for s in real._C._jit_get_all_schemas()}
    ours = {text.split("(")[0]: text for text in _C._jit.primitive_schemas()}
    # Division of numbers that may be complex gives a number; splitting from the right knows None, as from the left.
    free = {"aten::div", "aten::rsplit"}
    for name in (ours.keys() & theirs.keys()) - free:
        assert str(FunctionSchema(ours[name])) == str(FunctionSchema(theirs[name]))


OPERATORS = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "floordiv": operator.floordiv,
    "remainder": operator.mod, "lt": operator.lt, "ge": operator.ge, "eq": operator.eq, "ne": operator.ne,
}  # fmt: skip


def wrapped(value: Any) -> Any:
    """As 64 bits hold it."""
    return (value + 2**63) % 2**64 - 2**63 if type(value) is int else value


@pytest.mark.parametrize("name", OPERATORS)
def test_arithmetic(name: str) -> None:
    for a in INTS:
        for b in INTS:
            expected = outcome(lambda a=a, b=b: wrapped(OPERATORS[name](a, b)))
            assert outcome(call, f"aten::{name}.int", a, b) == expected, (a, b)
    for a in FLOATS:
        for b in FLOATS:
            assert outcome(call, f"aten::{name}.float", a, b) == outcome(OPERATORS[name], a, b), (a, b)


@pytest.mark.parametrize("name", ["__and__", "__or__", "__xor__", "__lshift__", "__rshift__"])
def test_bits(name: str) -> None:
    for a in (-5, 0, 1, 77):
        for b in (0, 1, 9, -1):
            assert outcome(call, f"aten::{name}.int", a, b) == outcome(getattr(operator, name), a, b), (a, b)


MATH = ["exp", "log", "log2", "log10", "log1p", "sqrt", "sin", "acos", "cosh", "asinh", "acosh", "atanh", "erf",
        "lgamma", "degrees", "radians", "fabs", "expm1"]  # fmt: skip


@pytest.mark.parametrize("name", MATH)
def test_math(name: str) -> None:
    for a in FLOATS:
        ours, theirs = outcome(call, f"aten::{name}.float", a), outcome(getattr(math, name), a)
        if isinstance(ours, str) and isinstance(theirs, str):
            assert float(ours) == pytest.approx(float(theirs), rel=1e-15, nan_ok=True), a
        else:
            assert ours == theirs, a


@pytest.mark.parametrize("name", ["floor", "ceil"])
def test_rounding(name: str) -> None:
    for a in (-2.5, -0.5, 0.0, 0.5, 1.5, 2.5, math.nan, math.inf):
        assert outcome(call, f"aten::{name}.float", a) == outcome(getattr(math, name), a)
        if math.isfinite(a):
            assert call("aten::round.float", a) == round(a)


METHODS: dict[str, list[tuple[Any, ...]]] = {
    "upper": [()], "lower": [()], "swapcase": [()], "capitalize": [()], "title": [()], "isdigit": [()],
    "isspace": [()], "istitle": [()], "isidentifier": [()], "islower": [()], "isupper": [()],
    "strip": [(" \n\t\f\v",), ("a",)], "lstrip": [("a ",)], "rstrip": [("b",)], "splitlines": [(False,), (True,)],
    "partition": [(" ",), ("",)], "rpartition": [("b",)], "replace": [("a", "XY", -1), ("", "-", 2)],
    "center": [(9, "*"), (1, "*")], "ljust": [(9, "é")], "rjust": [(12, " ")], "zfill": [(5,)], "expandtabs": [(4,)],
    "rsplit": [(None, -1), (None, 1), (",", 1)], "rfind": [("a", 0, 99)], "rindex": [("b", 0, 99)],
    "find": [("a", 1, 99), ("", 0, 99)], "count": [("a", 0, 99), ("", 0, 99)], "startswith": [(" A", 0, 99)],
    "endswith": [("b", 0, 99)],
}  # fmt: skip


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_str(name: str) -> None:
    for text in TEXTS:
        if name in ("upper", "swapcase", "title") and not text.isascii():
            continue  # letters outside ASCII have no case
        for arguments in METHODS[name]:
            assert outcome(call, f"aten::{name}", text, *arguments) == outcome(getattr(text, name), *arguments)


@pytest.mark.parametrize("arguments", [(None, -1), (None, 1), (",", -1), (",", 2), ("", -1)])
def test_split(arguments: tuple[Any, ...]) -> None:
    for text in TEXTS:
        assert outcome(call, "aten::split.str", text, *arguments) == outcome(text.split, *arguments)


def test_positions_in_text() -> None:
    for text in TEXTS:
        for i in (-20, -2, -1, 0, 1, 3, 20):
            assert outcome(call, "aten::__getitem__.str", text, i) == outcome(operator.getitem, text, i)
            for j, step in ((None, 1), (4, 1), (-1, 2), (None, -1), (0, -2)):
                assert call("aten::slice.str", text, i, j, step) == text[i:j:step]
                assert call("aten::slice.t", list(range(9)), i, j, step) == list(range(9))[i:j:step]


SPECS = ["", "5", "<8", ">8", "^9", "*^9", "+", " ", "08.3f", ".2e", ".3g", "%", ",", "g", ".1f", "+.2f"]


@pytest.mark.parametrize("spec", SPECS)
def test_format_of_floats(spec: str) -> None:
    for value in (0.0, -1.5, 3.14159, 1e20, 1e-7, 123456.789, math.inf):
        assert outcome(call, "aten::format", "<{:" + spec + "}>", value) == outcome(f"<{{:{spec}}}>".format, value)


@pytest.mark.parametrize("spec", ["", "5", "05d", "x", "#x", "b", "o", "X", ",", "+d", "e", ".2f", "^7"])
def test_format_of_ints(spec: str) -> None:
    for value in (0, -1, 42, 1234567):
        assert outcome(call, "aten::format", "{0:" + spec + "}{0}", value) == outcome(
            f"{{0:{spec}}}{{0}}".format, value
        )


def test_text_of_values() -> None:
    for value in (1, -2.5, 1e16, 1e-5, True, None, "it's", [1.0, 2.5], {"a": [1]}, (1,), ("x", None), 1 - 2j, 3j, 0.1):
        assert call("aten::str", value) == str(value)
        assert call("aten::format", "{!r}{{}}", value) == f"{value!r}{{}}"
    assert call("aten::str", torch.ones(2)) == str(torch.ones(2))
    assert call("aten::percentFormat", "%d %5.1f|%-4s|%s%%", 3, 2.25, "ab", [1]) == "3   2.2|ab  |[1]%"


def test_conversions() -> None:
    for text in ("12", " -3 ", "1_000", "x", "", "1.5", "9" * 30):
        expected = OverflowError if len(text) == 30 else outcome(int, text)
        assert outcome(call, "aten::Int.str", text) == expected
        assert outcome(call, "aten::Float.str", text) == outcome(float, text)
    for code in (65, 955, 128512):
        assert call("aten::chr", code) == chr(code) and call("aten::ord", chr(code)) == code
    for number in (-10, 0, 255):
        assert [call(f"aten::{f.__name__}", number) for f in (bin, oct, hex)] == [bin(number), oct(number), hex(number)]


def test_lists() -> None:
    assert call("aten::sorted.int", [3, 1, 2]) == [1, 2, 3]
    assert call("aten::sorted.any", [(2, "b"), (1, "z"), (2, "a")]) == [(1, "z"), (2, "a"), (2, "b")]
    assert call("prim::max.self_float", [1.0, 3.0, 2.0]) == 3.0
    assert outcome(call, "prim::min.self_int", []) is ValueError
    assert call("aten::sum.int", [1, 2, 3]) == 6 and call("aten::mul.left_t", [1, 2], 2) == [1, 2, 1, 2]
    assert outcome(call, "aten::index.list_int", [1], 2) is ValueError
    assert outcome(call, "aten::__getitem__.t", [1], 1) is IndexError
    assert outcome(call, "aten::pop.t", [], -1) is IndexError
    assert call("aten::add.t", [1.0], [2.0]) == [1.0, 2.0]


def test_dicts() -> None:
    assert call("aten::items.str", {"b": 1, "a": 2}) == [("b", 1), ("a", 2)]
    assert outcome(call, "aten::__getitem__.Dict_str", {"a": 1}, "b") is KeyError
    assert call("aten::get.default_int", {1: "x"}, 2, "y") == "y"
    assert call("aten::dict.str", [("a", 1), ("b", 2)]) == {"a": 1, "b": 2}
    assert call("aten::popitem.str", {"a": 1, "b": 2}) == ("b", 2)


def test_tensors() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    assert call("aten::size", x) == [2, 3] and call("aten::size.int", x, -1) == 3 and call("aten::len.Tensor", x) == 2
    assert call("prim::dtype", x) == 6 and call("prim::device", x) == torch.device("cpu")
    assert call("aten::tensor", [[1, 2], [3, 4]], None, None, False).tolist() == [[1, 2], [3, 4]]
    assert call("aten::tensor.float", 2.5, 7, None, True).dtype is torch.float64
    assert outcome(call, "aten::tensor", [[1], [2, 3]], None, None, False) is ValueError
    assert call("prim::tolist", x, 2, 1) == x.tolist()
    assert call("aten::result_type.Scalar", torch.ones(2, dtype=torch.int32), 2.5) == 6
    assert call("aten::__and__.Tensor", torch.tensor([3]), torch.tensor([6])).item() == 2
    assert call("aten::to.prim_dtype", x, 4, False, False).dtype is torch.int64
    for value, wanted in ((torch.tensor(3), 3), (torch.tensor(2.5), 2)):
        assert call("aten::Int.Tensor", value) == wanted
    with pytest.raises(RuntimeError, match="requires grad"):
        call("aten::FloatImplicit", torch.tensor(1.0, requires_grad=True))
