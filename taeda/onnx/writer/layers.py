"""Convolutions, normalisations, pooling, interpolation, recurrent networks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import taeda
from taeda.onnx.reader.values import from_numpy
from taeda.onnx.writer.builder import Builder, Convolution, Value
from taeda.onnx.writer.table import translates


def _list(value: Any, count: int) -> list[int]:
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    return values * count if len(values) == 1 else values


def _convolution(g: Builder, x: Value, weight: Value, bias: Value | None, stride: Any, padding: Any, dilation: Any,
                 transposed: bool, output_padding: Any, groups: int) -> Value:  # fmt: skip
    count = weight.rank - 2
    if x.rank == count + 1:  # without a batch
        alone = _convolution(
            g, g.unsqueeze(x, [0]), weight, bias, stride, padding, dilation, transposed, output_padding, groups
        )
        return g.squeeze(alone, [0])
    common: dict[str, Any] = {
        "strides_is": _list(stride, count),
        "dilations_is": _list(dilation, count),
        "group_i": groups,
        "kernel_shape_is": [int(s or 0) for s in weight.shape[2:]] if weight.shape else None,
    }
    if isinstance(padding, str):
        if padding == "same":
            total = [d * (k - 1) for d, k in zip(common["dilations_is"], common["kernel_shape_is"])]
            common["pads_is"] = [t // 2 for t in total] + [t - t // 2 for t in total]
        else:
            common["pads_is"] = [0] * (2 * count)
    else:
        common["pads_is"] = _list(padding, count) * 2
    if transposed:
        common["output_padding_is"] = _list(output_padding, count)
    write = lambda weight, bias: g.op("ConvTranspose" if transposed else "Conv", x, weight, bias, **common)
    made: Value = write(weight, bias)
    made.convolution = Convolution(weight, bias, groups, transposed, write)
    return made


def _joined(g: Builder, x: Value, parameters: list[Value], eps: float) -> Value | None:
    """Batch normalisation of a convolution that nothing else uses, as another convolution; None if it is none."""
    made = x.convolution
    if made is None or not g.sole_use or any(v.const is None for v in (made.weight, *parameters)):
        return None
    if made.weight.dtype not in (taeda.float32, taeda.float64) or (made.bias is not None and made.bias.const is None):
        return None
    weight = made.weight.const.astype(np.float64)
    scale, shift, mean, var = (v.const.astype(np.float64) for v in parameters)
    factor = scale / np.sqrt(var + eps)
    inner = [1] * (weight.ndim - 2)
    if made.transposed:
        of_groups = weight.reshape(made.groups, -1, *weight.shape[1:])
        weight = (of_groups * factor.reshape(made.groups, 1, -1, *inner)).reshape(weight.shape)
    else:
        weight = weight * factor.reshape(-1, 1, *inner)
    bias = shift - mean * factor if made.bias is None else shift + (made.bias.const - mean) * factor
    return made.again(*(g.constant(from_numpy(v.astype(made.weight.const.dtype))) for v in (weight, bias)))


@translates("conv1d", "conv2d", "conv3d")
def convolution_nd(
    g: Builder,
    input: Value,
    weight: Value,
    bias: Value | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Value:
    return _convolution(g, input, weight, bias, stride, padding, dilation, False, 0, groups)


@translates("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def transposed_nd(g: Builder, input: Value, weight: Value, bias: Value | None = None, stride: Any = 1, padding: Any = 0,
                  output_padding: Any = 0, groups: int = 1, dilation: Any = 1) -> Value:  # fmt: skip
    return _convolution(g, input, weight, bias, stride, padding, dilation, True, output_padding, groups)


@translates("convolution", "_convolution")
def convolution(g: Builder, input: Value, weight: Value, bias: Value | None, stride: Any, padding: Any, dilation: Any,
                transposed: bool, output_padding: Any, groups: int, *_: Any) -> Value:  # fmt: skip
    return _convolution(g, input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)


@translates("batch_norm")
def batch_norm(g: Builder, input: Value, weight: Value | None, bias: Value | None, running_mean: Value | None,
               running_var: Value | None, training: bool, momentum: float, eps: float, *_: Any) -> Value:  # fmt: skip
    channels = input.size(1)
    if channels is None:
        raise NotImplementedError("the number of channels varies")
    of = lambda v, value: v if v is not None else g.constant(taeda.full((channels,), value, dtype=input.dtype))
    weight, bias = of(weight, 1.0), of(bias, 0.0)
    if not training:
        statistics = of(running_mean, 0.0), of(running_var, 1.0)
        joined = _joined(g, input, [weight, bias, *statistics], eps)
        return joined or g.op("BatchNormalization", input, weight, bias, *statistics, epsilon_f=eps)
    dims = [d for d in range(input.rank) if d != 1]
    mean = g.reduce("ReduceMean", input, dims, True)
    away = g.op("Sub", input, mean)
    spread = g.op(
        "Sqrt", g.op("Add", g.reduce("ReduceMean", g.op("Mul", away, away), dims, True), g.number(eps, input.dtype))
    )
    shape = [-1, *[1] * (input.rank - 2)]
    return g.op("Add", g.op("Mul", g.op("Div", away, spread), g.reshape(weight, shape)), g.reshape(bias, shape))


@translates(
    "_native_batch_norm_legit_functional",
    "_native_batch_norm_legit_no_training",
    "native_batch_norm",
    "_native_batch_norm",
)
def native_batch_norm(
    g: Builder, input: Value, weight: Any, bias: Any, running_mean: Any, running_var: Any, *rest: Any
) -> Any:
    training, momentum, eps = (False, *rest) if len(rest) == 2 else rest[:3]
    result = batch_norm(g, input, weight, bias, running_mean, running_var, training, momentum, eps)
    return (result, None, None, running_mean, running_var)


def _layer(g: Builder, x: Value, dims: list[int], weight: Value | None, bias: Value | None, eps: float) -> Value:
    mean = g.reduce("ReduceMean", x, dims, True)
    away = g.op("Sub", x, mean)
    power = g.reduce("ReduceMean", g.op("Mul", away, away), dims, True)
    result = g.op("Div", away, g.op("Sqrt", g.op("Add", power, g.number(eps, x.dtype))))
    result = result if weight is None else g.op("Mul", result, weight)
    return result if bias is None else g.op("Add", result, bias)


@translates("layer_norm")
def layer_norm(
    g: Builder,
    input: Value,
    normalized_shape: Sequence[int],
    weight: Value | None = None,
    bias: Value | None = None,
    eps: float = 1e-5,
    *_: Any,
) -> Value:
    count = len(normalized_shape)
    if g.opset >= 17:
        scale = weight if weight is not None else g.constant(taeda.ones(list(normalized_shape), dtype=input.dtype))
        return g.op("LayerNormalization", input, scale, bias, axis_i=-count, epsilon_f=eps)
    return _layer(g, input, list(range(input.rank - count, input.rank)), weight, bias, eps)


@translates("native_layer_norm", "_native_layer_norm")
def native_layer_norm(
    g: Builder, input: Value, normalized_shape: Sequence[int], weight: Any, bias: Any, eps: float, *_: Any
) -> Any:
    return layer_norm(g, input, normalized_shape, weight, bias, eps), None, None


@translates("rms_norm")
def rms_norm(
    g: Builder, input: Value, normalized_shape: Sequence[int], weight: Value | None = None, eps: float | None = None
) -> Value:
    dims = list(range(-len(normalized_shape), 0))
    eps = taeda.finfo(input.dtype).eps if eps is None else eps
    power = g.reduce("ReduceMean", g.op("Mul", input, input), dims, True)
    result = g.op("Div", input, g.op("Sqrt", g.op("Add", power, g.number(eps, input.dtype))))
    return result if weight is None else g.op("Mul", result, weight)


@translates("group_norm")
def group_norm(g: Builder, input: Value, num_groups: int, weight: Value | None = None, bias: Value | None = None,
               eps: float = 1e-5, *_: Any) -> Value:  # fmt: skip
    x = g.op(
        "InstanceNormalization",
        g.reshape(input, [g.size_of(input, 0), num_groups, -1]),
        g.constant(taeda.ones(num_groups, dtype=input.dtype)),
        g.constant(taeda.zeros(num_groups, dtype=input.dtype)),
        epsilon_f=eps,
    )
    x.dtype = input.dtype
    result = g.reshape(x, g.sizes_of(input))
    shape = [-1, *[1] * (input.rank - 2)]
    result = result if weight is None else g.op("Mul", result, g.reshape(weight, shape))
    return result if bias is None else g.op("Add", result, g.reshape(bias, shape))


@translates("native_group_norm")
def native_group_norm(
    g: Builder, input: Value, weight: Any, bias: Any, n: Any, c: Any, hxw: Any, group: int, eps: float
) -> Any:
    return group_norm(g, input, group, weight, bias, eps), None, None


@translates("instance_norm")
def instance_norm(
    g: Builder,
    input: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value | None,
    running_var: Value | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    *_: Any,
) -> Value:
    if not use_input_stats:
        return batch_norm(g, input, weight, bias, running_mean, running_var, False, momentum, eps)
    channels = input.size(1)
    if channels is None:
        raise NotImplementedError("the number of channels varies")
    of = lambda v, value: v if v is not None else g.constant(taeda.full((channels,), value, dtype=input.dtype))
    return g.op("InstanceNormalization", input, of(weight, 1.0), of(bias, 0.0), epsilon_f=eps)


# --- pooling


@translates(
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_pool1d_with_indices",
    "max_pool2d_with_indices",
    "max_pool3d_with_indices",
)
def max_pool(g: Builder, self: Value, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
             ceil_mode: bool = False) -> Any:  # fmt: skip
    count = int(g.current.split("pool")[1][0])
    if self.rank == count + 1:
        made = max_pool(g, g.unsqueeze(self, [0]), kernel_size, stride, padding, dilation, ceil_mode)
        return tuple(g.squeeze(v, [0]) for v in made) if isinstance(made, tuple) else g.squeeze(made, [0])
    kernel = _list(kernel_size, count)
    common: dict[str, Any] = {"kernel_shape_is": kernel, "strides_is": _list(stride or kernel, count),
                              "pads_is": _list(padding, count) * 2, "dilations_is": _list(dilation, count),
                              "ceil_mode_i": int(ceil_mode)}  # fmt: skip
    if "indices" not in g.current:
        return g.op("MaxPool", self, **common)
    values, places = g.op("MaxPool", self, outputs=2, **common)
    places.dtype = taeda.int64
    numel = 1
    for size in (self.shape or ())[2:]:
        numel = numel * size if size is not None else 0
    if not numel:
        return values, None
    return values, g.op("Mod", places, g.constant(numel, taeda.int64))


@translates("avg_pool1d", "avg_pool2d", "avg_pool3d")
def avg_pool(g: Builder, self: Value, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
             count_include_pad: bool = True, divisor_override: Any = None) -> Value:  # fmt: skip
    count = int(g.current.split("pool")[1][0])
    if self.rank == count + 1:
        made = avg_pool(
            g, g.unsqueeze(self, [0]), kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        )
        return g.squeeze(made, [0])
    if divisor_override is not None:
        raise NotImplementedError("divisor_override")
    kernel = _list(kernel_size, count)
    return g.op(
        "AveragePool",
        self,
        kernel_shape_is=kernel,
        strides_is=_list(stride or kernel, count),
        pads_is=_list(padding, count) * 2,
        ceil_mode_i=int(ceil_mode),
        count_include_pad_i=int(count_include_pad),
    )


@translates(
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "_adaptive_avg_pool2d",
    "_adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
)
def adaptive_pool(g: Builder, self: Value, output_size: Any) -> Any:
    largest = "max" in g.current
    count = int(g.current.split("pool")[1][0])
    wanted = _list(output_size, count)
    if self.rank == count + 1:
        made = adaptive_pool(g, g.unsqueeze(self, [0]), output_size)
        return (g.squeeze(made[0], [0]), None) if isinstance(made, tuple) else g.squeeze(made, [0])
    if all(w == 1 for w in wanted):
        result = g.op("GlobalMaxPool" if largest else "GlobalAveragePool", self)
    else:
        sizes = [self.size(2 + i) for i in range(count)]
        if any(s is None or s % w for s, w in zip(sizes, wanted)):
            raise NotImplementedError(
                f"adaptive pooling of {sizes} to {wanted}: only whole factors can be said in ONNX"
            )
        kernel = [s // w for s, w in zip(sizes, wanted)]  # type: ignore[operator]
        result = g.op("MaxPool" if largest else "AveragePool", self, kernel_shape_is=kernel, strides_is=kernel)
    return (result, None) if largest and g.out_shape is not None and isinstance(g.out_shape, list) else result


# --- interpolation


@translates(
    "upsample_nearest1d",
    "upsample_nearest2d",
    "upsample_nearest3d",
    "upsample_linear1d",
    "upsample_bilinear2d",
    "upsample_trilinear3d",
    "upsample_bicubic2d",
    "_upsample_nearest_exact1d",
    "_upsample_nearest_exact2d",
    "_upsample_bilinear2d_aa",
    "_upsample_bicubic2d_aa",
)
def upsample(g: Builder, self: Value, output_size: Any, *given: Any, **named: Any) -> Value:
    current = g.current
    nearest = "nearest" in current
    align = False
    rest = list(given)
    if not nearest:
        align = bool(named.get("align_corners", rest.pop(0) if rest else False))
    factors = named.get("scale_factors")
    if factors is None:
        factors = next((v for v in rest if isinstance(v, (list, tuple))), None)
        numbers = [v for v in rest if isinstance(v, (int, float)) and not isinstance(v, bool)]
        numbers = numbers or [v for k, v in named.items() if k.startswith("scales") and v is not None]
        factors = factors or numbers or None
    mode = "nearest" if nearest else "cubic" if "cubic" in current else "linear"
    if nearest:
        transform = "half_pixel" if "exact" in current else "asymmetric"
    else:
        transform = "align_corners" if align else "half_pixel" if "aa" in current else "pytorch_half_pixel"
    common: dict[str, Any] = {"mode_s": mode, "coordinate_transformation_mode_s": transform, "nearest_mode_s":
                              "round_prefer_ceil" if "exact" in current else "floor", "cubic_coeff_a_f":
                              (-0.5 if "aa" in current else -0.75) if mode == "cubic" else None}  # fmt: skip
    if "_aa" in current:
        if g.opset < 18 or align:
            raise NotImplementedError("antialiased interpolation needs opset 18, and corners that are not aligned")
        common["antialias_i"] = common["exclude_outside_i"] = 1
    empty = g.constant(taeda.zeros(0)) if g.opset < 13 else None
    if factors and (output_size is None or not align):
        scales = g.constant([1.0, 1.0, *map(float, factors)], taeda.float32)
        return g.op("Resize", self, empty, scales, **common)
    none = g.constant(taeda.zeros(0)) if g.opset < 13 else None
    return g.op("Resize", self, empty, none, g.ints([*g.sizes_of(self)[:2], *output_size]), **common)


@translates("grid_sampler", "grid_sampler_2d", "grid_sampler_3d")
def grid_sampler(
    g: Builder, input: Value, grid: Value, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Value:
    if g.opset < 16:
        raise NotImplementedError("grid_sample needs opset 16")
    names = ("linear", "nearest", "cubic") if g.opset >= 20 else ("bilinear", "nearest", "bicubic")
    return g.op("GridSample", input, grid, mode_s=names[interpolation_mode], align_corners_i=int(align_corners),
                padding_mode_s=("zeros", "border", "reflection")[padding_mode])  # fmt: skip


# --- recurrent networks


def _reordered(g: Builder, x: Value, gates: Sequence[int]) -> Value:
    """The rows of a weight with its gates in ONNX's order."""
    hidden = int(x.shape[0]) // len(gates)  # type: ignore[index,arg-type]
    parts = [g.slice(x, 0, i * hidden, (i + 1) * hidden) for i in gates]
    return parts[0] if len(parts) == 1 else g.op("Concat", *parts, axis_i=0)


_GATES = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2), "RNN": (0,)}


def _recurrent(
    g: Builder,
    name: str,
    x: Value,
    states: list[Value],
    params: Sequence[Value],
    has_biases: bool,
    layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
    **attributes: Any,
) -> Any:
    x = g.transpose(x, [1, 0, 2]) if batch_first else x
    directions = 2 if bidirectional else 1
    per = 4 if has_biases else 2
    gates = _GATES[name]
    last: list[list[Value]] = [[] for _ in states]
    for layer in range(layers):
        w, r, b = [], [], []
        for d in range(directions):
            own = params[(layer * directions + d) * per : (layer * directions + d + 1) * per]
            w.append(g.unsqueeze(_reordered(g, own[0], gates), [0]))
            r.append(g.unsqueeze(_reordered(g, own[1], gates), [0]))
            if has_biases:
                both = g.op("Concat", _reordered(g, own[2], gates), _reordered(g, own[3], gates), axis_i=0)
                b.append(g.unsqueeze(both, [0]))
        join = lambda parts: parts[0] if len(parts) == 1 else g.op("Concat", *parts, axis_i=0)
        first = [g.slice(s, 0, layer * directions, (layer + 1) * directions) if layers > 1 else s for s in states]
        hidden = int(params[1].shape[1])  # type: ignore[index,arg-type]
        made = g.op(
            name,
            x,
            join(w),
            join(r),
            join(b) if b else None,
            None,
            *first,
            outputs=1 + len(states),
            hidden_size_i=hidden,
            direction_s="bidirectional" if bidirectional else "forward",
            **attributes,
        )
        y = made[0]
        y.dtype = x.dtype
        y.shape = None if x.shape is None else (x.shape[0], directions, x.shape[1], hidden)
        if bidirectional:
            y = g.reshape(g.transpose(y, [0, 2, 1, 3]), [*g.sizes_of(x)[:2], directions * hidden])
        else:
            y = g.squeeze(y, [1])
        if dropout and train and layer < layers - 1:
            y = g.op("Dropout", y, g.number(dropout, taeda.float32), g.constant(True))
        y.shape = None if x.shape is None else (x.shape[0], x.shape[1], directions * hidden)
        y.dtype = x.dtype
        x = y
        for rows, state in zip(last, made[1:]):
            rows.append(state)
    finals = [rows[0] if len(rows) == 1 else g.op("Concat", *rows, axis_i=0) for rows in last]
    return (g.transpose(x, [1, 0, 2]) if batch_first else x, *finals)


@translates("lstm.input")
def lstm(g: Builder, input: Value, hx: Sequence[Value], params: Sequence[Value], has_biases: bool, num_layers: int,
         dropout: float, train: bool, bidirectional: bool, batch_first: bool) -> Any:  # fmt: skip
    return _recurrent(
        g, "LSTM", input, list(hx), params, has_biases, num_layers, dropout, train, bidirectional, batch_first
    )


@translates("gru.input")
def gru(g: Builder, input: Value, hx: Value, params: Sequence[Value], has_biases: bool, num_layers: int, dropout: float,
        train: bool, bidirectional: bool, batch_first: bool) -> Any:  # fmt: skip
    return _recurrent(g, "GRU", input, [hx], params, has_biases, num_layers, dropout, train, bidirectional, batch_first,
                      linear_before_reset_i=1)  # fmt: skip


@translates("rnn_tanh.input", "rnn_relu.input")
def rnn(g: Builder, input: Value, hx: Value, params: Sequence[Value], has_biases: bool, num_layers: int, dropout: float,
        train: bool, bidirectional: bool, batch_first: bool) -> Any:  # fmt: skip
    kind = ["Relu" if "relu" in g.current else "Tanh"] * (2 if bidirectional else 1)
    return _recurrent(g, "RNN", input, [hx], params, has_biases, num_layers, dropout, train, bidirectional, batch_first,
                      activations_ss=kind)  # fmt: skip
