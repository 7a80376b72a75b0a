"""Which sequences of modules can be made one, and how."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda import nn
from taeda.ao.nn import intrinsic
from taeda.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

Method = Callable[..., Any]


def _check_modes(is_qat: bool, *modules: nn.Module) -> None:
    if len({module.training for module in modules}) > 1:
        raise AssertionError("taeda.ao.quantization.fuse_modules: all modules must be in the same mode, train or eval")


def fuse_conv_bn(is_qat: bool, conv: Any, bn: Any) -> nn.Module:
    """A convolution and the norm after it: one module in which the norm stays, for training; else folded.

    Raises:
        AssertionError: the modules are in different modes, or have other channels.
    """
    _check_modes(is_qat, conv, bn)
    kinds: dict[type[Any], Any] = {
        nn.Conv1d: intrinsic.ConvBn1d, nn.Conv2d: intrinsic.ConvBn2d, nn.Conv3d: intrinsic.ConvBn3d
    }  # fmt: skip
    if is_qat:
        _check_channels(conv, bn)
        fused: nn.Module = kinds[type(conv)](conv, bn)
        return fused
    _check_eval(conv)
    return fuse_conv_bn_eval(conv, bn)


def _check_channels(conv: Any, bn: Any) -> None:
    if bn.num_features != conv.out_channels:
        raise AssertionError(
            f"taeda.ao.quantization.fuse_modules: the norm must have as many features as the convolution has outputs, "
            f"{conv.out_channels}; got {bn.num_features}"
        )
    if not (bn.affine and bn.track_running_stats):
        raise AssertionError("taeda.ao.quantization.fuse_modules: the norm must be affine and track its statistics")


def _check_eval(module: nn.Module) -> None:
    if module.training:
        raise AssertionError(
            "taeda.ao.quantization.fuse_modules: a norm is folded in evaluation mode only; call eval() first"
        )


def fuse_conv_bn_relu(is_qat: bool, conv: Any, bn: Any, relu: nn.Module) -> nn.Module:
    """A convolution, a norm and a ReLU.

    Raises:
        AssertionError: the modules are in different modes.
    """
    _check_modes(is_qat, conv, bn, relu)
    dims = {nn.Conv1d: 1, nn.Conv2d: 2, nn.Conv3d: 3}[type(conv)]
    if is_qat:
        _check_channels(conv, bn)
        fused: nn.Module = getattr(intrinsic, f"ConvBnReLU{dims}d")(conv, bn, relu)
        return fused
    _check_eval(conv)
    made: nn.Module = getattr(intrinsic, f"ConvReLU{dims}d")(fuse_conv_bn_eval(conv, bn), relu)
    return made


def fuse_linear_bn(is_qat: bool, linear: Any, bn: Any) -> nn.Module:
    """A linear layer and the norm after it.

    Raises:
        AssertionError: the modules are in different modes.
    """
    _check_modes(is_qat, linear, bn)
    if is_qat:
        return intrinsic.LinearBn1d(linear, bn)
    _check_eval(linear)
    return fuse_linear_bn_eval(linear, bn)


def fuse_convtranspose_bn(is_qat: bool, convt: Any, bn: Any) -> nn.Module:
    """A transposed convolution and the norm after it, which is folded.

    Raises:
        AssertionError: the modules are in different modes, or in training.
    """
    _check_modes(is_qat, convt, bn)
    if is_qat:
        raise Exception("taeda.ao.quantization.fuse_modules_qat: a transposed convolution has no form with a norm")
    _check_eval(convt)
    return fuse_conv_bn_eval(convt, bn, transpose=True)


def _sequential_wrapper2(sequential: type[Any]) -> Method:
    """Fuses two modules into ``sequential``."""

    def fuser_method(is_qat: bool, m1: nn.Module, m2: nn.Module) -> Any:
        return sequential(m1, m2)

    return fuser_method


_DEFAULT_OP_LIST_TO_FUSER_METHOD: dict[tuple[Any, ...], Any] = {
    **{(getattr(nn, f"Conv{d}d"), getattr(nn, f"BatchNorm{d}d")): fuse_conv_bn for d in (1, 2, 3)},
    **{(getattr(nn, f"Conv{d}d"), getattr(nn, f"BatchNorm{d}d"), nn.ReLU): fuse_conv_bn_relu for d in (1, 2, 3)},
    **{
        (getattr(nn, f"Conv{d}d"), nn.ReLU): _sequential_wrapper2(getattr(intrinsic, f"ConvReLU{d}d"))
        for d in (1, 2, 3)
    },
    (nn.Linear, nn.BatchNorm1d): fuse_linear_bn,
    (nn.Linear, nn.ReLU): _sequential_wrapper2(intrinsic.LinearReLU),
    (nn.BatchNorm2d, nn.ReLU): _sequential_wrapper2(intrinsic.BNReLU2d),
    (nn.BatchNorm3d, nn.ReLU): _sequential_wrapper2(intrinsic.BNReLU3d),
    **{
        (getattr(nn, f"ConvTranspose{d}d"), getattr(nn, f"BatchNorm{d}d")): fuse_convtranspose_bn for d in (1, 2, 3)
    },
}  # fmt: skip


def fuse_linear_bn_leaky_relu(is_qat: bool, linear: Any, bn: Any, leaky_relu: Any) -> nn.Module:
    """A linear layer, the norm after it, which is folded, and a leaky ReLU.

    Raises:
        AssertionError: the modules are in different modes, or in training.
    """
    _check_modes(is_qat, linear, bn)
    if is_qat:
        raise NotImplementedError(
            "taeda.ao.quantization: a linear layer with a norm and a leaky ReLU has no training form"
        )
    _check_eval(linear)
    return intrinsic.LinearLeakyReLU(fuse_linear_bn_eval(linear, bn), leaky_relu)


# Further sequences, of the engine onednn.
ONEDNN_FUSER_METHODS: dict[tuple[Any, ...], Any] = {
    (nn.Linear, nn.BatchNorm1d, nn.LeakyReLU): fuse_linear_bn_leaky_relu,
    (nn.Linear, nn.LeakyReLU): _sequential_wrapper2(intrinsic.LinearLeakyReLU),
    (nn.Linear, nn.Tanh): _sequential_wrapper2(intrinsic.LinearTanh),
}


def get_fuser_method(op_list: Any, additional_fuser_method_mapping: dict[Any, Any] | None = None) -> Method:
    """The function ``f(is_qat, *modules)`` that makes modules of these types one.

    Raises:
        AssertionError: there is none.
    """
    found = {**_DEFAULT_OP_LIST_TO_FUSER_METHOD, **(additional_fuser_method_mapping or {})}.get(tuple(op_list))
    if found is None:
        names = ", ".join(getattr(kind, "__name__", str(kind)) for kind in op_list)
        raise AssertionError(f"taeda.ao.quantization.fuse_modules: cannot fuse {names}")
    method: Method = found
    return method


def get_fuser_method_new(op_pattern: Any, fuser_method_mapping: dict[Any, Method]) -> Method:
    """The same for a pattern of graphs.

    Raises:
        AssertionError: there is none.
    """
    if op_pattern not in fuser_method_mapping:
        raise AssertionError(f"no way is known to fuse {op_pattern}")
    return fuser_method_mapping[op_pattern]
