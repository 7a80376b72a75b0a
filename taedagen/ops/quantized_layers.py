"""Activations, normalisations and pools of quantised tensors, made by way of the numbers that their integers stand
for."""

from taedagen.opdef import *

_OUT = "float output_scale, int output_zero_point"


def _mapped(qx, values, scale, zero_point):
    """The results ``values`` of all integers."""
    return op.quantized._look_up(qx, values, scale, zero_point)


def _declare(name, schema, doc, body):
    take = composite(f"quantized::{name}{schema} -> Tensor", samples=[])
    names = [part.split("=")[0].split()[-1] for part in schema[1:-1].split(", ")]
    lines = "\n".join(f"    {line}" for line in body)
    take(defined(f'def _({", ".join(names)}):\n    """{doc}"""\n{lines}'))


# --- of one element
for _name, _schema, _call in (
    ("sigmoid", f"(Tensor qx, {_OUT})", "op.sigmoid({})"),
    ("hardswish", f"(Tensor input, {_OUT})", "op.hardswish({})"),
    ("elu", f"(Tensor self, {_OUT}, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1)",
     "op.elu({}, alpha, scale, input_scale)"),
    ("celu", f"(Tensor self, {_OUT}, Scalar alpha=1)", "op.celu({}, alpha)"),
    ("leaky_relu", f"(Tensor qx, Scalar negative_slope, bool inplace, {_OUT})", "op.leaky_relu({}, negative_slope)"),
):  # fmt: skip
    _x = _schema[1:].split(",")[0].split()[-1]
    _declare(
        _name,
        _schema,
        f"``{_name}``, quantised with the given scale and zero point.",
        [
            f"values = {_call.format(f'op.quantized._levels({_x})')}",
            f"return _mapped({_x}, values, output_scale, output_zero_point)",
        ],
    )

_declare("relu6", "(Tensor qx, bool inplace=False)", "``qx`` from 0 to 6; with ``inplace`` written into it.", [
    "result = _mapped(qx, op.clamp(op.quantized._levels(qx), 0, 6), op.q_scale(qx), op.q_zero_point(qx))",
    "if not inplace:", "    return result", "qx.copy_(result)", "return qx"])  # fmt: skip
_declare("threshold", "(Tensor qx, Scalar threshold, Scalar value)", "``value`` where it is not above a threshold.", [
    "values = op.threshold(op.quantized._levels(qx), threshold, value)",
    "return _mapped(qx, values, op.q_scale(qx), op.q_zero_point(qx))"])  # fmt: skip
_declare(
    "clamp",
    "(Tensor qx, Scalar? min=None, Scalar? max=None)",
    "``qx`` within bounds.",
    ["return _mapped(qx, op.clamp(op.quantized._levels(qx), min, max), op.q_scale(qx), op.q_zero_point(qx))"],
)

# --- of several
_TO = "output_scale, output_zero_point, {}.dtype)"
_declare(
    "softmax",
    f"(Tensor qx, int dim, {_OUT})",
    "``softmax`` along ``dim``, quantised anew.",
    [f"return op.quantize_per_tensor(op.softmax(op.quantized._values(qx), dim), {_TO.format('qx')}"],
)
_declare(
    "prelu",
    f"(Tensor qx, Tensor weight, {_OUT})",
    "``prelu``, quantised anew.",
    [
        "slope = op.dequantize(weight)",
        f"return op.quantize_per_tensor(op.prelu(op.quantized._values(qx), slope), {_TO.format('qx')}",
    ],
)
_declare(
    "dropout",
    f"(Tensor self, {_OUT}, Scalar p=0.5, bool training=False)",
    "``self``, as a quantised model is not trained.",
    ["return op.clone(self)"],
)
_declare(
    "layer_norm",
    f"(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps, {_OUT})",
    "``layer_norm``, quantised anew.",
    [
        "y = op.layer_norm(op.quantized._values(input), normalized_shape, weight, bias, eps)",
        f"return op.quantize_per_tensor(y, {_TO.format('input')}",
    ],
)
_declare(
    "group_norm",
    f"(Tensor input, int num_groups, Tensor? weight, Tensor? bias, float eps, {_OUT})",
    "``group_norm``, quantised anew.",
    [
        "y = op.group_norm(op.quantized._values(input), num_groups, weight, bias, eps)",
        f"return op.quantize_per_tensor(y, {_TO.format('input')}",
    ],
)
_declare(
    "instance_norm",
    f"(Tensor input, Tensor? weight, Tensor? bias, float eps, {_OUT})",
    "``instance_norm``, quantised anew.",
    [
        "y = op.instance_norm(op.quantized._values(input), weight, bias, None, None, True, 0.0, eps, False)",
        f"return op.quantize_per_tensor(y, {_TO.format('input')}",
    ],
)

for _rank in ("", "1d", "2d", "3d"):
    for _r, _also in (("", ""), ("_relu", ", with negative numbers 0")):
        _declare(
            f"batch_norm{_rank}{_r}",
            f"(Tensor qx, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, {_OUT})",
            f"Batch normalisation by given means and variances, quantised anew{_also}.",
            [
                "y = op.batch_norm(op.quantized._values(qx), weight, bias, mean, var, False, 0.0, eps, False)",
                f"return op.quantize_per_tensor({'op.relu(y)' if _r else 'y'}, {_TO.format('qx')}",
            ],
        )

for _rank in ("1", "2"):
    _declare(
        f"max_pool{_rank}d",
        "(Tensor qx, int[] kernel_size, int[] stride, int[] padding, int[] dilation, bool ceil_mode)",
        "``max_pool`` of the integers.",
        [f"return op.max_pool{_rank}d(qx, kernel_size, stride, padding, dilation, ceil_mode)"],
    )
for _rank in ("1", "2", "3"):
    composite(
        f"quantized_max_pool{_rank}d(Tensor self, int[{_rank}] kernel_size, int[{_rank}] stride=[], "
        f"int[{_rank}] padding=0, int[{_rank}] dilation=1, bool ceil_mode=False) -> Tensor", samples=[],
    )(defined(f'def _(self, kernel_size, stride, padding, dilation, ceil_mode):\n    """``max_pool{_rank}d``."""\n'
              f"    return op.max_pool{_rank}d(self, kernel_size, stride, padding, dilation, ceil_mode)"))  # fmt: skip


@composite("quantized_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float eps, "
           f"{_OUT}) -> Tensor", samples=[])  # fmt: skip
def quantized_batch_norm(input, weight, bias, mean, var, eps, output_scale, output_zero_point):
    """``quantized::batch_norm``."""
    return op.quantized.batch_norm(input, weight, bias, mean, var, eps, output_scale, output_zero_point)
