"""What a node does beside giving its outputs: whether it may be left out, moved or computed once for two."""

from __future__ import annotations

import re

from taeda.jit.ir import Node

# Steps of the language whose outputs depend on their inputs only. What they make is new: no two of them are one.
MAKERS = frozenset([
    "prim::ListConstruct", "prim::DictConstruct", "prim::CreateObject", "prim::Uninitialized",
])  # fmt: skip
PURE = frozenset([
    "prim::Constant", "prim::TupleConstruct", "prim::TupleIndex", "prim::TupleUnpack", "prim::TupleSlice",
    "prim::ListUnpack", "prim::isinstance", "prim::unchecked_cast", "prim::GetAttr", "prim::unchecked_unwrap_optional",
]) | MAKERS  # fmt: skip
# What ends or changes the way in which later nodes run.
_MODES = frozenset([
    "prim::Enter", "prim::Exit", "aten::set_grad_enabled", "aten::_set_deterministic_algorithms", "aten::manual_seed",
    "aten::set_default_dtype", "aten::autocast_increment_nesting", "aten::autocast_decrement_nesting",
    "prim::enter_autocast", "prim::leave_autocast",
    "profiler::_record_function_enter", "profiler::_record_function_enter_new", "profiler::_record_function_exit",
])  # fmt: skip
_CALLS = frozenset(
    ["prim::CallMethod", "prim::CallFunction", "prim::fork", "prim::awaitable", "aten::wait", "prim::awaitable_wait"]
)
_ACTS = frozenset([
    "prim::Print", "prim::RaiseException", "prim::SetAttr", "prim::ReturnStmt", "aten::warn", "aten::backward",
    "prim::Closure", "prim::AddStatValue", "prim::TimePoint", "aten::save",
])  # fmt: skip
# Steps on numbers, texts and containers that raise for some of their inputs.
_MAY_RAISE = frozenset([
    f"aten::{name}" for name in (
        "div", "floordiv", "remainder", "fmod", "pow", "__getitem__", "pop", "index", "Int", "Float", "Complex", "int",
        "float", "sqrt", "log", "log10", "log1p", "log2", "exp", "expm1", "factorial", "acos", "asin", "acosh", "atanh",
        "gamma", "lgamma", "cosh", "sinh", "ord", "chr", "mod", "ldexp", "item", "IntImplicit", "FloatImplicit",
        "ScalarImplicit", "Bool", "__lshift__", "__rshift__", "__range_length", "format", "min", "max",
    )
] + ["prim::min", "prim::max", "prim::ListUnpack", "prim::unchecked_unwrap_optional"])  # fmt: skip

# Classes of contexts within which ops choose the dtype they compute in.
_AGAIN = r"(___torch_mangle_\d+\.)?"  # where a class of that name is there already
_CASTING = re.compile(rf"__torch__\.{_AGAIN}torch\.(cpu\.|cuda\.)?amp\.autocast_mode\.{_AGAIN}autocast")


def enters_autocast(node: Node) -> bool:
    """Whether it enters or leaves such a context."""
    if node.kind() not in ("prim::Enter", "prim::Exit"):
        return False
    return _CASTING.fullmatch(getattr(node.inputsAt(0).static_type, "_name", "")) is not None


def _calls_python(kind: str) -> bool:
    """Whether it is a function that was left to Python (`ignore`), which may do anything."""
    return kind.startswith("python::")


def is_barrier(node: Node) -> bool:
    """Whether what follows may give other results than before: nothing is moved over it or shared across it."""
    kind = node.kind()
    if kind in _MODES or kind in _CALLS or _calls_python(kind):
        return True
    return any(is_barrier(inner) for b in node.blocks() for inner in b.nodes())


def writes(node: Node) -> bool:
    """Whether it writes to memory that it was given, or may."""
    if node.kind() in PURE or node.kind() in ("prim::If", "prim::Loop"):
        return False
    schema = node.op_schema()
    return schema is None or schema.is_mutable or _calls_python(node.kind())


def is_random(node: Node) -> bool:
    """Whether it draws random numbers, which others then do not get."""
    return node.kind() in _RANDOM or (node.kind().startswith("aten::") and node.isNondeterministic())


_RANDOM = frozenset([f"aten::{name}" for name in (
    "dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout", "native_dropout", "rand_like", "rand",
    "randn", "randn_like", "randint", "randint_like", "randperm", "bernoulli", "multinomial", "normal", "poisson",
    "rrelu", "rrelu_with_noise", "lstm", "gru", "rnn_tanh", "rnn_relu", "scaled_dot_product_attention",
    "fractional_max_pool2d", "fractional_max_pool3d", "binomial", "_standard_gamma", "_sample_dirichlet",
)])  # fmt: skip


def has_effects(node: Node) -> bool:
    """Whether leaving it out changes more than its outputs: it acts, writes, draws random numbers or may raise."""
    kind = node.kind()
    if kind in PURE:
        return kind in _MAY_RAISE
    if kind in ("prim::If", "prim::Loop"):
        endless = kind == "prim::Loop" and _may_be_endless(node)
        return endless or any(has_effects(inner) for b in node.blocks() for inner in b.nodes())
    if kind in _ACTS or kind in _MODES or kind in _CALLS or not node.outputsSize():
        return True
    if kind in _MAY_RAISE and not _on_tensors(node):
        return True
    return writes(node) or is_random(node)


def _on_tensors(node: Node) -> bool:
    return node.inputsSize() > 0 and node.inputsAt(0).static_type.kind() == "TensorType" and node.kind() != "aten::item"


def _may_be_endless(loop: Node) -> bool:
    """Whether it ends by a condition, and so maybe never."""
    body = next(loop.blocks())
    return body.returnNode().inputsAt(0).toIValue() is not True


def may_reshape(node: Node) -> bool:
    """Whether a node that writes to a tensor may give it another shape, dtype or device."""
    named = f"{node.kind()}.{node.overload or ''}"
    return not named.startswith("aten::") or any(word in named for word in _RESHAPERS)


_RESHAPERS = ("resize", "set_", "squeeze_", "t_", "transpose_", "swap", "data", "as_strided_", "out")
