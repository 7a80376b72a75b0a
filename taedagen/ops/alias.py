"""Second names of ops. Each line is an op of its own that calls the first."""

from typing import Any

from taedagen.opdef import *
from taedagen.opdef.schema import parse_schema

_EVERY = "function method inplace out"
_UNARY = "(Tensor self) -> Tensor"
_BINARY = ".Tensor(Tensor self, Tensor other) -> Tensor"
_PLAIN_BINARY = "(Tensor self, Tensor other) -> Tensor"
_WITH_ALPHA = ".Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
_OVER_DIMS = "(Tensor self, int[1] dim, bool keepdim=False) -> Tensor"


def _alias(name: str, signature: str, target: str, variants: str = _EVERY, **options: Any) -> None:
    """Declares ``name + signature`` as a composite that hands its arguments to ``target``."""

    arguments = parse_schema(name + signature).arguments
    given = ", ".join(f"{a.name}={a.name}" if a.keyword_only else a.name for a in arguments)
    function = defined(f"def {name}({', '.join(a.name for a in arguments)}): return op.{target}({given})")
    function.__doc__ = f"Another name of ``{target}``."
    composite(name + signature, variants=variants, domain=target, **options)(function)


for _name, _target in (
    ("absolute", "abs"), ("negative", "neg"), ("arccos", "acos"), ("arcsin", "asin"), ("arctan", "atan"),
    ("arccosh", "acosh"), ("arcsinh", "asinh"), ("arctanh", "atanh"), ("fix", "trunc"),
):  # fmt: skip
    _alias(_name, _UNARY, _target)
for _name, _target in (("multiply", "mul"), ("divide", "div"), ("true_divide", "div")):
    _alias(_name, _BINARY, _target, scalar="other", number="self")
for _name, _target in (
    ("greater", "gt"), ("greater_equal", "ge"), ("less", "lt"), ("less_equal", "le"), ("not_equal", "ne"),
):  # fmt: skip
    _alias(_name, _BINARY, _target, scalar="other")
_alias("subtract", _WITH_ALPHA, "sub", scalar="other", number="self")
_alias(
    "divide",
    ".Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
    "div",
    scalar={"Scalar_mode": "other"},
    samples="div.Tensor_mode",
)
_alias("arctan2", _PLAIN_BINARY, "atan2")
_alias("clip", "(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", "clamp", samples="clamp")
_alias("clip", ".Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor", "clamp",
       out_overload="Tensor_out", samples="clamp.Tensor")  # fmt: skip

for _name, _target in (
    ("exp2", "exp2"), ("expm1", "expm1"), ("erf", "erf"), ("erfc", "erfc"), ("erfinv", "erfinv"), ("expit", "sigmoid"),
    ("gammaln", "lgamma"), ("psi", "digamma"), ("digamma", "digamma"), ("log1p", "log1p"), ("i0", "i0"), ("sinc",
    "sinc"),
):  # fmt: skip
    _alias(f"special_{_name}", _UNARY, _target, "function out", module="special")


@composite("special_round(Tensor self, *, int decimals=0) -> Tensor", variants="function out", module="special")
def special_round(self, decimals):
    """Another name of ``round``."""
    return op.round(self) if decimals == 0 else op.round(self, decimals=decimals)


for _name, _target in (("gammainc", "igamma"), ("gammaincc", "igammac")):
    _alias(f"special_{_name}", _PLAIN_BINARY, _target, "function out", module="special")
_alias("special_xlogy", "(Tensor self, Tensor other) -> Tensor", "xlogy", "function out", module="special",
       scalar={"other_scalar": "other", "self_scalar": "self"})  # fmt: skip
_alias("special_logit", "(Tensor self, float? eps=None) -> Tensor", "logit", "function out", module="special")
_alias("special_polygamma", "(int n, Tensor self) -> Tensor", "polygamma", "function out", module="special",
       samples="polygamma")  # fmt: skip
_alias("special_logsumexp", _OVER_DIMS, "logsumexp", "function out", module="special", samples="logsumexp")
