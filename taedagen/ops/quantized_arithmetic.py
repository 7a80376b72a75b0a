"""Sums, products and joins of quantised tensors, made by way of the numbers that their integers stand for."""

from taedagen.opdef import *

_TO = "float scale, int zero_point"
_FILES = "quantized/arithmetic"


@composite("quantized::_values(Tensor qx) -> Tensor", files=_FILES, samples=[])
def _values(*_):
    """The numbers of a tensor that must be quantised; NotImplementedError, which says what is missing, for another."""


@composite("quantized::_product(Tensor qa, Tensor qb, float scale, int zero_point, bool relu) -> Tensor", files=_FILES,
           samples=[])  # fmt: skip
def _product(*_):
    """The products of the integers less their zero points, which are exact, rounded once."""


def _sum(qa, qb, relu):
    """Of the numbers."""
    total = op.quantized._values(qa) + op.quantized._values(qb)
    return op.relu(total) if relu else total


def _declare(name, schema, doc, body):
    take = composite(f"quantized::{name}{schema}", samples=[])
    names = [part.split("=")[0].split()[-1] for part in schema[1 : schema.index(") ->")].split(", ")]
    lines = "\n".join(f"    {line}" for line in body)
    take(defined(f'def _({", ".join(names)}):\n    """{doc}"""\n{lines}'))


for _relu in (False, True):
    _r, _also = ("_relu", ", with negative ones 0") if _relu else ("", "")
    _outs = ["(Tensor qa, Tensor qb, Tensor(a!) out) -> Tensor(a!) out", "quantised as ``out`` is"]
    _declare(
        f"add{_r}",
        f"(Tensor qa, Tensor qb, {_TO}) -> Tensor qc",
        f"Sums, quantised anew{_also}.",
        [f"return op.quantize_per_tensor(_sum(qa, qb, {_relu}), scale, zero_point, qa.dtype)"],
    )
    _declare(
        f"mul{_r}",
        f"(Tensor qa, Tensor qb, {_TO}) -> Tensor qc",
        f"Products, quantised anew{_also}.",
        [f"return op.quantized._product(qa, qb, scale, zero_point, {_relu})"],
    )
    for _name in (f"add{_r}.out", f"add{_r}_out"):
        _declare(_name, _outs[0], f"Sums, {_outs[1]}{_also}.", [f"out.copy_(_sum(qa, qb, {_relu}))", "return out"])
    for _name in (f"mul{_r}.out", f"mul{_r}_out"):
        _declare(
            _name,
            _outs[0],
            f"Products, {_outs[1]}{_also}.",
            [f"out.copy_(op.quantized._product(qa, qb, op.q_scale(out), op.q_zero_point(out), {_relu}))", "return out"],
        )
    for _op in ("add", "mul"):
        _doc = (
            f"``qa`` {'plus' if _op == 'add' else 'times'} a number{_also}: the scale and the zero point change, "
            "and the integers where they must."
        )
        _call = f"op.quantized._{_op}_number(qa, {{}}, {_relu})"
        for _name, _schema in ((f"{_op}{_r}.Scalar", "(Tensor qa, Scalar b)"), (f"{_op}{_r}.Scalar2",
                               "(Scalar b, Tensor qa)"), (f"{_op}_scalar{_r}", "(Tensor qa, Scalar b)")):  # fmt: skip
            _declare(_name, f"{_schema} -> Tensor qc", _doc, [f"return {_call.format('b')}"])
        _declare(
            f"{_op}_scalar{_r}.Tensor",
            "(Tensor qa, Tensor b) -> Tensor qc",
            _doc,
            [f"return {_call.format('op._local_scalar_dense(b)')}"],
        )
        for _name, _type, _b in (
            (f"{_op}{_r}.Scalar_out", "Scalar", "b"),
            (f"{_op}_scalar{_r}_out", "Scalar", "b"),
            (f"{_op}_scalar{_r}_out.Tensor", "Tensor", "op._local_scalar_dense(b)"),
        ):
            _declare(
                _name,
                f"(Tensor qa, {_type} b, Tensor(a!) out) -> Tensor(a!) out",
                _doc,
                [f"out.copy_({_call.format(_b)})", "return out"],
            )


for _op in ("add", "mul"):
    composite(f"quantized::_{_op}_number(Tensor qa, Scalar b, bool relu) -> Tensor", files=_FILES, samples=[])(
        defined(f'def _(*_):\n    """What ``{_op}.Scalar`` gives."""')
    )


@composite("quantized::matmul(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc", samples=[])
def matmul(qa, qb, scale, zero_point):
    """The matrix product, quantised anew."""
    product = op.matmul(op.quantized._values(qa), op.quantized._values(qb))
    return op.quantize_per_tensor(product, scale, zero_point, qa.dtype)


def _joined(qx, dim, relu):
    """The numbers of all."""
    check(len(qx) > 0, "takes at least one tensor")
    whole = op.cat([op.quantized._values(t) for t in qx], dim)
    return op.relu(whole) if relu else whole


for _relu in (False, True):
    _r, _also = ("_relu", ", with negative numbers 0") if _relu else ("", "")
    _declare(
        f"cat{_r}",
        "(Tensor[] qx, int dim, float? scale, int? zero_point) -> Tensor",
        f"Joined along ``dim``, quantised anew, as the first one is where no numbers are given{_also}.",
        [
            f"whole = _joined(qx, dim, {_relu})",
            "step = scale if scale is not None else op.q_scale(qx[0])",
            "zero = zero_point if zero_point is not None else op.q_zero_point(qx[0])",
            "return op.quantize_per_tensor(whole, step, zero, qx[0].dtype)",
        ],
    )
    _declare(
        f"cat{_r}_out",
        "(Tensor[] qx, int dim, Tensor(a!) out) -> Tensor(a!)",
        f"Joined along ``dim``, quantised as ``out`` is{_also}.",
        [f"out.copy_(_joined(qx, dim, {_relu}))", "return out"],
    )
