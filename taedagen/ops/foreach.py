"""Ops over lists of tensors, as optimisers call them. Each is the plain op of the same name, tensor by tensor."""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f
from taedagen.opdef.schema import Type, parse_schema

# Arguments after the list, by overload.
_ARITHMETIC = {
    "Scalar": "Scalar scalar",
    "List": "Tensor[] other",
    "ScalarList": "Scalar[] scalars",
}
_SCALED = _ARITHMETIC | {"List": "Tensor[] other, *, Scalar alpha=1"}
_WITH_TENSOR = _ARITHMETIC | {"Tensor": "Tensor other"}
_EXPONENT = {
    "List": "Tensor[] exponent",
    "Scalar": "Scalar exponent",
    "ScalarList": "Scalar[] exponent",
}
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


def _check_lengths(self, other):
    """Wants a tensor of ``other`` for each of ``self``."""
    check(len(self) > 0, "the list must hold at least one tensor")
    check(
        len(other) == len(self),
        f"all lists must have as many tensors as the first, {len(self)}; got {len(other)}",
    )


def _check_numbers(self, numbers):
    """Wants a number for each tensor of ``self``."""
    check(len(self) > 0, "the list must hold at least one tensor")
    check(
        len(numbers) == len(self),
        f"there must be one number for each of the {len(self)} tensors; got {len(numbers)}",
    )


def _check_list(self):
    """Wants a tensor."""
    check(len(self) > 0, "the list must hold at least one tensor")


def _check_single(other):
    """Wants a tensor that stands for a number."""
    check(
        other.dim() == 0 and other.numel() == 1,
        f"the operand of all tensors must have no dimensions; got shape {other.shape}",
    )


def _called(name, overload, is_inplace):
    """The op that is called tensor by tensor. maximum and minimum, where ties share the gradient, have no forms in
    place and none with numbers."""
    is_limit = name in ("maximum", "minimum") and (is_inplace or overload != "List")
    plain = ("clamp_min" if name == "maximum" else "clamp_max") if is_limit else name
    return f"op.{plain}{'_' if is_inplace else ''}"


def _body(name, overload, arguments, is_inplace):
    """The text of a function that calls the op of that name for each tensor of the list."""
    lists = [a for a in arguments if a.type.is_list]
    checks = [f"_check_{'lengths' if a.type.is_tensor else 'numbers'}(self, {a.name})" for a in lists[1:]]
    checks += [f"_check_single({a.name})" for a in arguments if a.type == Type("Tensor")]
    items = {a.name: f"{a.name}_item" if i else "x" for i, a in enumerate(lists)}
    # What the plain op takes by its name alone.
    keywords = {"alpha": "alpha", "value": "value"} | ({"scalars": "value"} if name.startswith("addc") else {})
    given = ", ".join(
        (f"{keywords[a.name]}=" if a.name in keywords else "") + items.get(a.name, a.name) for a in arguments
    )
    call = f"{_called(name, overload, is_inplace)}({given})"
    listed = f"zip({', '.join(items)})" if len(items) > 1 else "self"
    over = f"{', '.join(items.values())} in {listed}"
    lines = [*(checks or ["_check_list(self)"]),
             *([f"for {over}:", f"    {call}"] if is_inplace else [f"return [{call} for {over}]"])]  # fmt: skip
    return "".join(f"\n    {line}" for line in lines)


def _both(name, overload, arguments):
    """The functional form, which gives a new list, and the one in place, which gives nothing."""
    full, rest = (
        f".{overload}" if overload else "",
        f", {arguments}" if arguments else "",
    )
    # Numbers in a tensor: see csrc/composite/foreach.cpp.
    options = {"files": "foreach"} if name in ("addcmul", "addcdiv") and overload == "Tensor" else {}
    for mark, alias, result, how in (
        ("", "", "Tensor[]", ""),
        ("_", "(a!)", "()", ", in place"),
    ):
        text = f"_foreach_{name}{mark}{full}(Tensor{alias}[] self{rest}) -> {result}"
        declared = parse_schema(text).arguments
        names = ", ".join(a.name for a in declared)
        function = defined(f"def _foreach_{name}{mark}({names}):{_body(name, overload, declared, bool(mark))}")
        function.__doc__ = f"``{name}`` of each tensor of the list{how}."
        composite(text, domain=name, **options)(function)


for _name in UNARY:
    _both(_name, "", "")
for _name, _overloads in OPERANDS.items():
    for _overload, _arguments in _overloads.items():
        _both(_name, _overload, _arguments)
for _name in ("addcmul", "addcdiv"):
    REGISTRY.find(f"_foreach_{_name}.Tensor").samples([S(*([f(2, 3), f(2)] for _ in range(3)), f(2))])


@composite(
    "_foreach_pow.ScalarAndTensor(Scalar self, Tensor[] exponent) -> Tensor[]",
    samples=[S(2.0, [f(2, 3), f(3)])],
)
def _foreach_pow(self, exponent):
    """The number ``self`` to the power of each tensor."""
    _check_list(exponent)
    return [op.pow(self, x) for x in exponent]


@composite(
    "_foreach_norm.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[]",
    samples=[S([f(2, 3), f(4)]), S([f(2)], 1)],
)
def _foreach_norm(self, ord, dtype):
    """The vector norm of each tensor, all dimensions together."""
    _check_list(self)
    return [op.linalg_vector_norm(x, ord, dtype=dtype) for x in self]


@composite(
    "_foreach_powsum.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[]",
    samples=[S([f(2, 3), f(4)], 2)],
)
def _foreach_powsum(self, ord, dtype):
    """The sum of the absolute values of each tensor to the power ``ord``."""
    _check_list(self)
    return [(op._to_copy(x, dtype=dtype) if dtype is not None else x).abs().pow(ord).sum() for x in self]


@composite("_foreach_max(Tensor[] self) -> Tensor[]")
def _foreach_max(self):
    """The largest element of each tensor."""
    _check_list(self)
    return [x.max() for x in self]


@composite(
    "_foreach_mm(Tensor[] self, Tensor[] mat2) -> Tensor[]",
    samples=[S([f(2, 3)], [f(3, 2)])],
)
def _foreach_mm(self, mat2):
    """The matrix products of pairs."""
    _check_lengths(self, mat2)
    return [x.mm(y) for x, y in zip(self, mat2)]


@composite("_foreach_clone(Tensor[] self, *, MemoryFormat? memory_format=None) -> Tensor[]")
def _foreach_clone(self, memory_format):
    """A copy of each tensor."""
    _check_list(self)
    return [x.clone(memory_format=memory_format) for x in self]


@composite("_foreach_copy_(Tensor(a!)[] self, Tensor[] src, bool non_blocking=False) -> ()")
def _foreach_copy_(self, src, non_blocking):
    """Copies each tensor of ``src`` into that of ``self``."""
    _check_lengths(self, src)
    for x, source in zip(self, src):
        x.copy_(source, non_blocking)


@composite("_foreach_zero_(Tensor(a!)[] self) -> ()")
def _foreach_zero_(self):
    """Fills each tensor with zeros."""
    _check_list(self)
    for x in self:
        x.zero_()
