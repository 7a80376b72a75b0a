"""Which functions work on each element alone, by their names in Python."""

from __future__ import annotations

from functools import lru_cache

import taeda

# Beside the ops that are marked so.
_ELEMENTWISE = frozenset([
    "_to_copy", "absolute", "alpha_dropout", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh",
    "bernoulli", "bernoulli_", "bfloat16", "bool", "byte", "chalf", "char", "clip", "clone", "conj", "conj_physical",
    "contiguous",
    "copy_", "cpu", "cuda", "detach", "detach_", "divide", "double", "dropout", "dropout_", "empty_like",
    "feature_alpha_dropout", "fill_", "fix", "float", "float_power", "frexp", "full_like", "greater",
    "greater_equal", "half", "int", "isclose", "ldexp", "less", "less_equal", "long", "masked_fill", "masked_fill_",
    "multiply", "mvlgamma", "nan_to_num", "negative", "nextafter", "normal_", "not_equal", "ones_like", "polygamma",
    "positive", "rand_like", "randint_like", "randn_like", "rrelu", "short", "square", "subtract", "to",
    "true_divide", "type", "type_as", "uniform_", "zero_", "zeros_like",
])  # fmt: skip
_OPERATORS = {"truediv": "div", "floordiv": "floor_divide", "mod": "remainder", "and": "bitwise_and",
              "or": "bitwise_or", "xor": "bitwise_xor", "invert": "bitwise_not", "lshift": "bitwise_left_shift",
              "rshift": "bitwise_right_shift"}  # fmt: skip


@lru_cache(None)
def is_elementwise(name: str) -> bool:
    """Whether the function or method of this name gives, for each element, something of that element alone."""
    plain = name.strip("_")
    if name.startswith("__"):
        known = {"add", "sub", "mul", "pow", "neg", "abs", "eq", "ne", "lt", "le", "gt", "ge", "pos", *_OPERATORS}
        plain = plain if plain in known or plain[1:] not in known else plain[1:]  # radd, iadd
        plain = _OPERATORS.get(plain, plain)
    if name in _ELEMENTWISE or plain in _ELEMENTWISE:
        return True
    packet = getattr(taeda.ops.aten, plain, None)
    return packet is not None and any(
        taeda.Tag.pointwise in getattr(packet, overload).tags for overload in packet.overloads()
    )


def is_inplace(name: str) -> bool:
    """Whether it writes to its first argument and gives that."""
    return (name.endswith("_") and not name.endswith("__")) or name.startswith("__i") and name != "__invert__"
