"""Convolutions of 8-bit integers over packed weights; also transposed ones, with and without relu."""

from taedagen.opdef import *

_CLASSES = "__torch__.torch.classes.quantized."
_OF_RANK = {"1d": "Conv2d", "2d": "Conv2d", "3d": "Conv3d"}  # in one dimension they are those in two, of height 1


@kernel(
    "quantized::_pack_filter(Tensor weight, SymInt[] stride, SymInt[] dilation, SymInt groups) -> Tensor",
    shape="dynamic",
    files="quantized/conv",
    not_differentiable=True,
    batch="refused",
    samples=[],
)
def _pack_filter(weight, stride, dilation, groups):
    """The bytes of an int8 filter (out, in / groups, ...) as this machine convolves with it; empty where it takes it as
    it is."""


@kernel(
    "quantized::_convolve(Tensor x, Tensor weight, Tensor packed, int x_zero_point, SymInt[] stride, SymInt[] before, "
    "SymInt[] after, SymInt[] dilation, SymInt[] spread, SymInt groups, Tensor sums, Tensor? zero_points, "
    "Tensor factors, Tensor? bias, ScalarType? dtype, int zero_point, bool relu) -> Tensor",
    shape="dynamic",
    files="quantized/conv",
    not_differentiable=True,
    batch="refused",
    samples=[],
)
def _convolve(x, weight, packed, x_zero_point, stride, before, after, dilation, spread, groups, sums, zero_points,
              factors, bias, dtype, zero_point, relu):  # fmt: skip
    """The sums of x (N, in, ...), 8-bit integers, under the filter, made results of as by ``_matmul``. x is spread by
    so many places from element to element, with ``before`` and ``after`` places around it, all of them its zero point;
    negative ones take elements away."""


def _declare(schema, doc):
    take = composite(f"quantized::{schema}", files="quantized/conv", samples=[])
    take(defined(f'def _(*_):\n    """{doc}"""'))


for _rank, _class in _OF_RANK.items():
    _params = f"{_CLASSES}{_class}PackedParamsBase"
    _sizes = "int[] stride, int[] padding, "
    _declare(
        f"conv{_rank}_prepack(Tensor weight, Tensor? bias, {_sizes}int[] dilation, int groups) -> {_params}",
        "A qint8 weight (out, in / groups, ...), per tensor or by its first dimension, ready for convolutions.",
    )
    _declare(
        f"conv_transpose{_rank}_prepack(Tensor weight, Tensor? bias, {_sizes}int[] output_padding, "
        f"int[] dilation, int groups) -> {_params}",
        "A qint8 weight (in, out / groups, ...), ready for transposed convolutions.",
    )
    for _kind in ("conv", "conv_transpose"):
        _name = f"{_kind}{_rank}"
        _new = "" if _kind == "conv_transpose" or _rank == "1d" else ".new"
        _static = f"(Tensor qx, {_params} packed_weight, float output_scale, int output_zero_point) -> Tensor"
        _what = "transposed convolution" if _kind == "conv_transpose" else "convolution"
        _declare(
            f"{_name}{_new}{_static}",
            f"The {_what} of a quantised tensor, quantised with the given scale and zero point.",
        )
        if _kind == "conv":
            _declare(f"{_name}_relu{_new}{_static}", f"``{_name}`` whose negative results are 0.")
        _declare(
            f"{_name}_dynamic(Tensor qx, {_params} packed_weight, bool reduce_range=False) -> Tensor",
            f"The {_what} of a float32 tensor that is quantised on the way; the result is float32.",
        )
        _declare(
            f"{_name}_unpack({_params} packed_weights) -> (Tensor unpacked_weights, Tensor? B_origin)",
            "The weight and the bias that were packed.",
        )
        if _rank != "1d":
            for _fact in ("stride", "padding", "output_padding", "dilation"):
                _declare(f"{_name}_{_fact}({_params} packed_weights) -> int[]", f"The ``{_fact}`` that was packed.")
            _declare(f"{_name}_groups({_params} packed_weights) -> int", "The number of groups.")
            _declare(f"{_name}_transpose({_params} packed_weights) -> int", "1 for a transposed convolution, else 0.")
    if _rank == "1d":
        continue
    _with_sizes = (
        f"(Tensor qx, {_params} weight, int[] stride, int[] padding, int[] dilation, int groups, "
        "float output_scale, int output_zero_point) -> Tensor"
    )
    for _name in (f"conv{_rank}", f"conv{_rank}_relu"):
        _declare(f"{_name}{_with_sizes}", f"``{_name}.new``, which knows from the weight what else is said here.")

_CONV2D = f"{_CLASSES}Conv2dPackedParamsBase"
for _name, _doc in (
    ("conv2d_add", "``conv2d`` plus a quantised tensor."),
    ("conv2d_add_relu", "``conv2d`` plus a quantised tensor, with negative results 0."),
):
    _declare(
        f"{_name}(Tensor qx, Tensor qaccum, {_CONV2D} packed_weight, float output_scale, int output_zero_point) "
        "-> Tensor",
        _doc,
    )
_declare(
    f"conv_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups) -> {_CONV2D}",
    "An older name of ``conv2d_prepack``.",
)
_declare(
    f"conv_unpack({_CONV2D} packed_weights) -> (Tensor unpacked_weights, Tensor? B_origin)",
    "An older name of ``conv2d_unpack``.",
)
