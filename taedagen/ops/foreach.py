"""Ops over lists of tensors, as optimisers call them. Each is the plain op of the same name, tensor by tensor.

The functions are in ``csrc/composite/foreach.cpp``, made there by one loop for each pattern of arguments.
"""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f

# Arguments after the list, by overload.
_ARITHMETIC = {"Scalar": "Scalar scalar", "List": "Tensor[] other", "ScalarList": "Scalar[] scalars"}
_SCALED = _ARITHMETIC | {"List": "Tensor[] other, *, Scalar alpha=1"}
_WITH_TENSOR = _ARITHMETIC | {"Tensor": "Tensor other"}
_EXPONENT = {"List": "Tensor[] exponent", "Scalar": "Scalar exponent", "ScalarList": "Scalar[] exponent"}
_WEIGHT = {
    "List": "Tensor[] tensors1, Tensor[] weights",
    "Scalar": "Tensor[] tensors1, Scalar weight",
    "ScalarList": "Tensor[] tensors1, Scalar[] weight",
}
_TRIPLE = {
    "Scalar": "Tensor[] tensor1, Tensor[] tensor2, Scalar value=1",
    "ScalarList": "Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars",
    "Tensor": "Tensor[] tensor1, Tensor[] tensor2, Tensor scalars",
}

UNARY = [
    "abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "erf", "erfc", "exp", "expm1", "floor", "frac",
    "lgamma", "log", "log10", "log1p", "log2", "neg", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin",
    "sinh", "sqrt", "tan", "tanh", "trunc",
]  # fmt: skip
OPERANDS = {
    "add": _SCALED | {"Tensor": "Tensor other, *, Scalar alpha=1"},
    "sub": _SCALED,
    "mul": _WITH_TENSOR,
    "div": _WITH_TENSOR,
    "maximum": _ARITHMETIC,
    "minimum": _ARITHMETIC,
    "clamp_max": _ARITHMETIC,
    "clamp_min": _ARITHMETIC,
    "pow": _EXPONENT,
    "lerp": _WEIGHT,
    "addcmul": _TRIPLE,
    "addcdiv": _TRIPLE,
}


def _declare(schema, name, doc):
    def function(*_): ...

    function.__doc__ = doc
    composite(schema, files="foreach", domain=name)(function)


def _both(name, overload, arguments):
    """The functional form, which gives a new list, and the one in place, which gives nothing."""
    full, rest = f".{overload}" if overload else "", f", {arguments}" if arguments else ""
    _declare(f"_foreach_{name}{full}(Tensor[] self{rest}) -> Tensor[]", name, f"``{name}`` of each tensor of the list.")
    _declare(
        f"_foreach_{name}_{full}(Tensor(a!)[] self{rest}) -> ()",
        name,
        f"``{name}`` of each tensor of the list, in place.",
    )


for _name in UNARY:
    _both(_name, "", "")
for _name, _overloads in OPERANDS.items():
    for _overload, _arguments in _overloads.items():
        _both(_name, _overload, _arguments)
for _name in ("addcmul", "addcdiv"):
    REGISTRY.find(f"_foreach_{_name}.Tensor").samples([S(*([f(2, 3), f(2)] for _ in range(3)), f(2))])


@composite(
    "_foreach_pow.ScalarAndTensor(Scalar self, Tensor[] exponent) -> Tensor[]",
    files="foreach",
    samples=[S(2.0, [f(2, 3), f(3)])],
)
def _foreach_pow(self, exponent):
    """The number ``self`` to the power of each tensor."""


@composite(
    "_foreach_norm.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[]",
    files="foreach",
    samples=[S([f(2, 3), f(4)]), S([f(2)], 1)],
)
def _foreach_norm(self, ord, dtype):
    """The vector norm of each tensor, all dimensions together."""


@composite(
    "_foreach_powsum.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[]",
    files="foreach",
    samples=[S([f(2, 3), f(4)], 2)],
)
def _foreach_powsum(self, ord, dtype):
    """The sum of the absolute values of each tensor to the power ``ord``."""


@composite("_foreach_max(Tensor[] self) -> Tensor[]", files="foreach")
def _foreach_max(self):
    """The largest element of each tensor."""


@composite("_foreach_mm(Tensor[] self, Tensor[] mat2) -> Tensor[]", files="foreach", samples=[S([f(2, 3)], [f(3, 2)])])
def _foreach_mm(self, mat2):
    """The matrix products of pairs."""


@composite("_foreach_clone(Tensor[] self, *, MemoryFormat? memory_format=None) -> Tensor[]", files="foreach")
def _foreach_clone(self, memory_format):
    """A copy of each tensor."""


@composite("_foreach_copy_(Tensor(a!)[] self, Tensor[] src, bool non_blocking=False) -> ()", files="foreach")
def _foreach_copy_(self, src, non_blocking):
    """Copies each tensor of ``src`` into that of ``self``."""


@composite("_foreach_zero_(Tensor(a!)[] self) -> ()", files="foreach")
def _foreach_zero_(self):
    """Fills each tensor with zeros."""
