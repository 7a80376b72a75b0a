"""What nodes of graphs are to quantisation."""

from __future__ import annotations

import operator
from typing import Any

import taeda
from taeda import fx, nn
from taeda.ao.nn import intrinsic, qat
from taeda.ao.nn.intrinsic import qat as fused_qat
from taeda.nn import functional as F
from taeda.nn.utils.parametrize import type_before_parametrizations as class_of

_DIMS = (1, 2, 3)
CONVS = tuple(getattr(nn, f"{kind}{d}d") for kind in ("Conv", "ConvTranspose") for d in _DIMS)
FUSED = (
    *(getattr(intrinsic, f"ConvReLU{d}d") for d in _DIMS), intrinsic.LinearReLU, intrinsic.LinearLeakyReLU,
    intrinsic.LinearTanh, intrinsic.LinearBn1d,
    *(getattr(intrinsic, f"{kind}{d}d") for kind in ("ConvBn", "ConvBnReLU") for d in _DIMS),
)  # fmt: skip
QAT = (
    qat.Linear, qat.Conv1d, qat.Conv2d, qat.Conv3d, fused_qat.LinearReLU, fused_qat.LinearBn1d,
    *(getattr(fused_qat, f"{kind}{d}d") for kind in ("ConvBn", "ConvBnReLU", "ConvReLU") for d in _DIMS),
)  # fmt: skip
TABLES = (nn.Embedding, nn.EmbeddingBag, qat.Embedding, qat.EmbeddingBag)
RECURRENT = (nn.LSTM, nn.GRU, nn.LSTMCell, nn.GRUCell, nn.RNNCell)
WEIGHTED = (nn.Linear, *CONVS, *FUSED, *QAT)
# Modules with a quantised class whose result has a scale of its own.
OWN_MODULES = (
    nn.BatchNorm2d, nn.BatchNorm3d, intrinsic.BNReLU2d, intrinsic.BNReLU3d, nn.LayerNorm,
    nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d, nn.Hardswish, nn.ELU, nn.LeakyReLU, nn.PReLU, nn.Dropout,
)  # fmt: skip
FIXED_MODULES = (nn.Sigmoid, nn.Tanh, nn.Hardsigmoid, nn.Softmax)
SHARING_MODULES = (
    *(getattr(nn, f"{kind}Pool{d}d") for kind in ("AdaptiveAvg", "Avg", "Max") for d in _DIMS), nn.Hardtanh,
    nn.Identity, nn.PixelShuffle, nn.PixelUnshuffle, nn.ReLU, nn.ReLU6,
)  # fmt: skip

ADDS = (operator.add, taeda.add)
MULS = (operator.mul, taeda.mul)
MATMULS = (taeda.matmul,)
RELUS = (F.relu, taeda.relu)  # the method is no part of what comes before it, as in PyTorch
LINEARS = (F.linear,)
CONV_FUNCTIONS: dict[Any, str] = {
    getattr(home, f"{kind}{d}d"): f"{kind}{d}d"
    for kind in ("conv", "conv_transpose")
    for d in _DIMS
    for home in (F, taeda)
}
OWN_FUNCTIONS: dict[Any, str] = {
    F.hardswish: "hardswish", F.elu: "elu", F.leaky_relu: "leaky_relu", F.layer_norm: "layer_norm",
    F.instance_norm: "instance_norm", F.group_norm: "group_norm", F.dropout: "dropout",
}  # fmt: skip
FIXED_FUNCTIONS = (
    taeda.sigmoid, F.sigmoid, "sigmoid", "sigmoid_", taeda.tanh, F.tanh, "tanh", "tanh_", F.hardsigmoid, "hardsigmoid",
    "hardsigmoid_",
)  # fmt: skip
SHARING_FUNCTIONS = (
    *(getattr(F, f"{kind}_pool{d}d") for kind in ("adaptive_avg", "avg", "max") for d in _DIMS),
    F.relu, "relu", "relu_", F.relu6, F.hardtanh, F.hardtanh_, F.interpolate, F.pixel_shuffle, F.pixel_unshuffle,
    taeda.clamp, taeda.flatten, taeda.mean, taeda.narrow, taeda.repeat_interleave, taeda.squeeze, taeda.stack,
    taeda.transpose, taeda.unsqueeze, "clamp", "contiguous", "detach", "detach_", "mean", "permute", "repeat",
    "repeat_interleave", "reshape", "resize_", "squeeze", "squeeze_", "transpose", "unsqueeze", "unsqueeze_", "view",
)  # fmt: skip
CATS = (taeda.cat,)
# Methods and attributes that tell of a tensor what does not depend on its values.
_FACTS = ("size", "shape", "dim", "ndim", "numel", "dtype", "device", "stride", "is_quantized")
# Where the weight and the bias of a function stand.
WEIGHT_AT = {**dict.fromkeys((*LINEARS, *CONV_FUNCTIONS), 1)}
DATA_AT = {F.linear: (0, 1), **dict.fromkeys(CONV_FUNCTIONS, (0, 1))}


def module_of(node: Any, modules: dict[str, nn.Module]) -> nn.Module | None:
    """The module that a node calls; None for others."""
    if isinstance(node, fx.Node) and node.op == "call_module":
        return modules.get(str(node.target))
    return None


def is_fact(node: fx.Node) -> bool:
    """Whether a node asks a tensor for its size or the like."""
    by_name = node.op == "call_function" and node.target is getattr and node.args[1] in _FACTS
    return by_name or node.op == "call_method" and node.target in _FACTS


def _is_number(node: fx.Node) -> bool:
    """Whether a node's value is no tensor: it is made of sizes alone."""
    made_of = node.all_input_nodes
    own = node.op == "call_function" and getattr(node.target, "__module__", "") == "_operator"
    return is_fact(node) or own and bool(made_of) and all(map(_is_number, made_of))


def is_call(node: Any, targets: Any) -> bool:
    """Whether a node calls one of these functions, or methods by their names."""
    if not isinstance(node, fx.Node) or node.op not in ("call_function", "call_method"):
        return False
    return any(node.target is t if callable(t) else node.op == "call_method" and node.target == t for t in targets)


def items_of(node: fx.Node) -> list[fx.Node]:
    """What is taken out of a node's tuple, and out of the tuples in it."""
    own = [user for user in node.users if is_call(user, (operator.getitem,))]
    return [item for one in own for item in (one, *items_of(one))]


def is_relu(node: Any, modules: dict[str, nn.Module]) -> bool:
    """Whether a node is a ReLU, of whatever form."""
    return is_call(node, RELUS) or class_of(module_of(node, modules)) is nn.ReLU


def is_fused_relu(node: Any, modules: dict[str, nn.Module]) -> bool:
    """Whether a node is a ReLU that layers are fused with: ``torch.relu`` goes with sums and products only."""
    return is_relu(node, modules) and not is_call(node, (taeda.relu,))


def relu_after(node: fx.Node, modules: dict[str, nn.Module]) -> fx.Node | None:
    """The ReLU that is all that uses a node's result; None if something else does."""
    users, fits = list(node.users), is_relu if is_call(node, (*ADDS, *MULS)) else is_fused_relu
    return users[0] if len(users) == 1 and fits(users[0], modules) else None


def takes_relu(node: fx.Node) -> bool:
    """Whether the quantised form of a function comes with a ReLU, too."""
    plain = (function for function, name in CONV_FUNCTIONS.items() if "transpose" not in name)
    return is_call(node, (*ADDS, *MULS, *LINEARS, *plain))


def kind_of(node: fx.Node, modules: dict[str, nn.Module]) -> str | None:
    """What a node is: ``weighted``, ``table``, ``recurrent``, ``own`` (a result with a scale of its own), ``fixed``,
    ``share`` (that of its argument), ``binary``, ``cat``, ``function`` (with a weight as an argument); None for what is
    not quantised."""
    module = module_of(node, modules)
    if module is not None:
        kind = class_of(module)
        for name, classes in (
            ("weighted", WEIGHTED), ("table", TABLES), ("recurrent", RECURRENT), ("own", OWN_MODULES),
            ("fixed", FIXED_MODULES), ("share", SHARING_MODULES),
        ):  # fmt: skip
            if kind in classes:
                return name
        return None
    for name, targets in (
        ("function", (*LINEARS, *CONV_FUNCTIONS)), ("binary", (*ADDS, *MULS, *MATMULS)), ("cat", CATS),
        ("own", tuple(OWN_FUNCTIONS)), ("fixed", FIXED_FUNCTIONS), ("share", SHARING_FUNCTIONS),
    ):  # fmt: skip
        if is_call(node, targets):
            return name
    return None


def data_of(node: fx.Node) -> list[fx.Node]:
    """The arguments of a call that are tensors to be quantised."""
    if is_call(node, CATS) or is_call(node, (taeda.stack,)):
        first = node.args[0] if node.args else node.kwargs.get("tensors")
        return [arg for arg in first if isinstance(arg, fx.Node)] if isinstance(first, (list, tuple)) else []
    if is_call(node, (*ADDS, *MULS, *MATMULS)):
        return [arg for arg in node.args[:2] if isinstance(arg, fx.Node) and not _is_number(arg)]
    if is_call(node, WEIGHT_AT):
        return [arg for arg in node.args[:2] if isinstance(arg, fx.Node)]
    first = node.args[0] if node.args else node.kwargs.get("input")
    return [first] if isinstance(first, fx.Node) and not _is_number(first) else []
