"""Convolutions over int8."""

from __future__ import annotations

from typing import Any, ClassVar

import taeda
from taeda import Tensor, nn
from taeda.ao.nn.quantized.modules.utils import (
    WeightedQuantizedModule,
    _ntuple_from_first,
    _quantize_weight,
    check_dtype,
    float_of,
    int_of,
    observed_weight,
    output_qparams,
)
from taeda.nn import functional as F
from taeda.nn.utils.fusion import fuse_conv_bn_weights

ops: Any = taeda.ops.quantized


class _ConvNd(WeightedQuantizedModule):
    """A convolution of ``dims`` dimensions, with its weight packed."""

    dims: ClassVar[int]
    transposes: ClassVar[bool] = False
    _op: ClassVar[str]
    _FLOAT_MODULE: Any = None

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros", device: Any = None,
        dtype: Any = None, output_padding: Any = 0,
    ) -> None:  # fmt: skip
        super().__init__()
        if in_channels % groups or out_channels % groups:
            raise ValueError(
                f"{type(self).__name__}: groups must divide both channels, {in_channels} and {out_channels}; "
                f"got {groups}"
            )
        same = lambda value: value if isinstance(value, str) else _all(value, self.dims)
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.padding = _all(kernel_size, self.dims), same(stride), same(padding)
        self.dilation, self.output_padding = same(dilation), same(output_padding)
        self.transposed, self.padding_mode = self.transposes, padding_mode
        first, second = (in_channels, out_channels) if self.transposes else (out_channels, in_channels)
        weight = taeda._empty_affine_quantized(
            [first, second // groups, *self.kernel_size], scale=1, zero_point=0, dtype=taeda.qint8
        )
        self.set_weight_bias(weight.zero_(), taeda.zeros(out_channels) if bias else None)
        self.scale: Any = 1.0
        self.zero_point: Any = 0

    def _get_name(self) -> str:
        return f"QuantizedConv{'Transpose' if self.transposes else ''}{self.dims}d"

    def set_weight_bias(self, w: Tensor, b: Tensor | None) -> None:
        """Packs a quantised weight and a float bias."""
        stride, padding, dilation = list(self.stride), list(self.padding), list(self.dilation)
        if self.padding_mode != "zeros":  # it is filled in before
            padding = [0] * self.dims
        if self.transposes:
            pack = getattr(ops, f"conv_transpose{self.dims}d_prepack")
            self._packed_params = pack(w, b, stride, padding, list(self.output_padding), dilation, self.groups)
        else:
            pack = getattr(ops, f"conv{self.dims}d_prepack")
            self._packed_params = pack(w, b, stride, padding, dilation, self.groups)

    def _weight_bias(self) -> tuple[Tensor, Tensor | None]:
        name = f"conv{'_transpose' if self.transposes else ''}{self.dims}d_unpack"
        found: tuple[Tensor, Tensor | None] = getattr(ops, name)(self._packed_params)
        return found

    def weight(self) -> Tensor:
        """The quantised weight."""
        return self._weight_bias()[0]

    def bias(self) -> Tensor | None:
        """The bias, (out_channels), float32."""
        return self._weight_bias()[1]

    def _padded(self, x: Tensor) -> Tensor:
        if self.padding_mode == "zeros":
            return x
        around = [n for size in reversed(self.padding) for n in (size, size)]
        return F.pad(x, around, mode=self.padding_mode)

    def forward(self, input: Tensor) -> Tensor:
        """The quantised result."""
        if input.dim() != self.dims + 2:
            raise ValueError(
                f"{type(self).__name__}: the input must have {self.dims + 2} dimensions; got {input.shape}"
            )
        result: Tensor = getattr(ops, self._op)(
            self._padded(input), self._packed_params, self.scale, self.zero_point
        )  # fmt: skip
        return result

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        text += f", scale={self.scale}, zero_point={self.zero_point}"
        if self.padding != (0,) * self.dims:
            text += f", padding={self.padding}"
        if self.dilation != (1,) * self.dims:
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * self.dims:
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        return text if self.bias() is not None else text + ", bias=False"

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "weight"], destination[prefix + "bias"] = self._weight_bias()
        destination[prefix + "scale"] = taeda.tensor(self.scale)
        destination[prefix + "zero_point"] = taeda.tensor(self.zero_point)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any, **kwargs: Any) -> None:
        self.set_weight_bias(state_dict.pop(prefix + "weight"), state_dict.pop(prefix + "bias"))
        self.scale = float_of(state_dict.pop(prefix + "scale"))
        self.zero_point = int_of(state_dict.pop(prefix + "zero_point"))
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)

    def __getstate__(self) -> Any:
        return (
            self.in_channels, self.out_channels, self.kernel_size, self.stride, self.padding, self.dilation,
            self.transposed, self.output_padding, self.groups, self.padding_mode, *self._weight_bias(), self.scale,
            self.zero_point, self.training,
        )  # fmt: skip

    def __setstate__(self, state: Any) -> None:
        nn.Module.__init__(self)
        (
            self.in_channels, self.out_channels, self.kernel_size, self.stride, self.padding, self.dilation,
            self.transposed, self.output_padding, self.groups, self.padding_mode,
        ) = state[:10]  # fmt: skip
        self.set_weight_bias(state[10], state[11])
        self.scale, self.zero_point, self.training = state[12:]

    def __copy__(self) -> Any:
        return self.__deepcopy__({})

    def __deepcopy__(self, memo: Any) -> Any:
        copied = type(self).__new__(type(self))
        copied.__setstate__(self.__getstate__())
        return copied

    @classmethod
    def get_qconv(cls, mod: Any, activation_post_process: Any, weight_post_process: Any = None) -> Any:
        """A quantised convolution like the float ``mod``."""
        watching, weight = weight_post_process, mod.weight
        if watching is None:
            watching = mod.qconfig.weight()
        watching(weight)
        check_dtype(watching.dtype, taeda.qint8)
        made = cls._like(mod)
        made.set_weight_bias(
            _quantize_weight(weight.float().detach(), watching), None if mod.bias is None else mod.bias.detach()
        )
        if activation_post_process is not None and activation_post_process.dtype != taeda.float:
            scale, zero_point = activation_post_process.calculate_qparams()
            made.scale, made.zero_point = float(scale), int(zero_point)
        return made

    @classmethod
    def _like(cls, mod: Any) -> Any:
        given: dict[str, Any] = dict(bias=mod.bias is not None, padding_mode=mod.padding_mode)
        if cls.transposes:
            given["output_padding"] = mod.output_padding
        return cls(
            mod.in_channels, mod.out_channels, mod.kernel_size, stride=mod.stride, padding=mod.padding,
            dilation=mod.dilation, groups=mod.groups, **given,
        )  # fmt: skip

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Of a float module that was observed, or trained with rounding, alone or fused with what follows it."""
        conv = mod[0] if isinstance(mod, nn.Sequential) else mod
        if getattr(mod, "bn", None) is not None:  # trained with a norm after it, which is folded now
            conv.weight, conv.bias = fuse_conv_bn_weights(
                conv.weight, conv.bias, mod.bn.running_mean, mod.bn.running_var, mod.bn.eps, mod.bn.weight, mod.bn.bias,
            )  # fmt: skip
        if not hasattr(conv, "qconfig") and hasattr(mod, "qconfig"):
            conv.qconfig = mod.qconfig
        watching = observed_weight(conv)[0]
        if not hasattr(mod, "activation_post_process"):
            output_qparams(mod)  # which says what is missing
        return cls.get_qconv(conv, mod.activation_post_process, watching)

    @classmethod
    def from_reference(cls, ref_qconv: Any, output_scale: float, output_zero_point: int) -> Any:
        """Of a reference module."""
        made = cls._like(ref_qconv)
        bias = ref_qconv.bias
        made.set_weight_bias(ref_qconv.get_quantized_weight(), None if bias is None else bias.detach())
        made.scale, made.zero_point = float(output_scale), int(output_zero_point)
        return made


def _all(value: Any, dims: int) -> tuple[int, ...]:
    return _ntuple_from_first(dims)(value) if isinstance(value, int) or len(value) == 1 else tuple(value)


class Conv1d(_ConvNd):
    """``nn.Conv1d`` of quantised tensors, (N, C, L)."""

    dims, _op, _FLOAT_MODULE = 1, "conv1d", nn.Conv1d


class Conv2d(_ConvNd):
    """``nn.Conv2d`` of quantised tensors, (N, C, H, W)."""

    dims, _op, _FLOAT_MODULE = 2, "conv2d", nn.Conv2d


class Conv3d(_ConvNd):
    """``nn.Conv3d`` of quantised tensors, (N, C, D, H, W)."""

    dims, _op, _FLOAT_MODULE = 3, "conv3d", nn.Conv3d


class _ConvTransposeNd(_ConvNd):
    transposes = True

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, groups: int = 1, bias: bool = True, dilation: Any = 1, padding_mode: str = "zeros",
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if padding_mode != "zeros":
            raise ValueError(f"{type(self).__name__}: padding_mode must be 'zeros'; got {padding_mode!r}")
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device,
            dtype, output_padding,
        )  # fmt: skip


class ConvTranspose1d(_ConvTransposeNd):
    """``nn.ConvTranspose1d`` of quantised tensors, (N, C, L)."""

    dims, _op, _FLOAT_MODULE = 1, "conv_transpose1d", nn.ConvTranspose1d


class ConvTranspose2d(_ConvTransposeNd):
    """``nn.ConvTranspose2d`` of quantised tensors, (N, C, H, W)."""

    dims, _op, _FLOAT_MODULE = 2, "conv_transpose2d", nn.ConvTranspose2d


class ConvTranspose3d(_ConvTransposeNd):
    """``nn.ConvTranspose3d`` of quantised tensors, (N, C, D, H, W)."""

    dims, _op, _FLOAT_MODULE = 3, "conv_transpose3d", nn.ConvTranspose3d
