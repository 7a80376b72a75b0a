"""Reductions, sorting, products of matrices, attention."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import taeda
from taeda.onnx.writer.builder import Builder, Value
from taeda.onnx.writer.pointwise import translate_mul, truth
from taeda.onnx.writer.table import translates


def _dims(dim: Any) -> list[int] | None:
    if dim is None or dim == []:
        return None
    return [dim] if isinstance(dim, int) else list(dim)


def _plain(name: str, *aten: str) -> None:
    @translates(*aten)
    def translate(g: Builder, self: Value, dim: Any = None, keepdim: bool = False, **_: Any) -> Value:
        x = g.cast(self, g.out_dtype)
        if x.dtype == taeda.bool:
            return g.cast(_reduced(g, name, g.cast(x, taeda.int32), _dims(dim), keepdim), taeda.bool)
        return _reduced(g, name, x, _dims(dim), keepdim)


def _reduced(g: Builder, name: str, x: Value, dims: list[int] | None, keep: bool) -> Value:
    return x if x.shape == () else g.reduce(name, x, dims, keep)


_plain("ReduceSum", "sum")
_plain("ReduceMean", "mean")
_plain("ReduceMax", "amax", "max.default", "max")
_plain("ReduceMin", "amin", "min.default", "min")
_plain("ReduceProd", "prod")
_plain("ReduceLogSumExp", "logsumexp")


@translates("max.dim", "min.dim")
def extreme(g: Builder, self: Value, dim: int, keepdim: bool = False) -> tuple[Value, Value]:
    largest = "max" in g.current
    if self.rank == 0:
        return g.op("Identity", self), g.constant(0, taeda.int64)
    value = g.reduce("ReduceMax" if largest else "ReduceMin", self, [dim], keepdim)
    place = g.op("ArgMax" if largest else "ArgMin", self, axis_i=dim, keepdims_i=int(keepdim))
    return value, place


@translates("argmax", "argmin")
def arg(g: Builder, self: Value, dim: int | None = None, keepdim: bool = False) -> Value:
    name = "ArgMax" if "argmax" in g.current else "ArgMin"
    if dim is None:
        return g.op(name, g.reshape(self, [-1]), axis_i=0, keepdims_i=0)
    return g.op(name, self, axis_i=dim, keepdims_i=int(keepdim))


@translates("any", "all")
def any_all(g: Builder, self: Value, dim: Any = None, keepdim: bool = False) -> Value:
    name = "ReduceMax" if "any" in g.current else "ReduceMin"
    return g.cast(_reduced(g, name, g.cast(truth(g, self), taeda.int32), _dims(dim), keepdim), taeda.bool)


@translates("var", "std", "var_mean", "std_mean")
def variance(
    g: Builder, self: Value, dim: Any = None, *given: Any, keepdim: bool = False, correction: Any = None, **named: Any
) -> Any:
    if isinstance(dim, bool):
        correction, dim = int(dim), None
    elif given:
        correction = int(given[0])
        keepdim = given[1] if len(given) > 1 else keepdim
    if "unbiased" in named:
        correction = int(named["unbiased"])
    correction = 1 if correction is None else correction
    dims = _dims(dim) or list(range(self.rank))
    mean = g.reduce("ReduceMean", self, dims, True)
    away = g.op("Sub", self, mean)
    result = g.reduce("ReduceMean", g.op("Mul", away, away), dims, keepdim)
    if correction:
        count: Any = 1
        for d in dims:
            count = (
                translate_mul(g, count, g.size_of(self, d))
                if isinstance(count, Value) or isinstance(g.size_of(self, d), Value)
                else count * g.size_of(self, d)
            )
        total = g.number(count, self.dtype)
        rest = g.op("Sub", total, g.number(correction, self.dtype))
        result = g.op("Div", g.op("Mul", result, total), rest)
    if "std" in g.current:
        result = g.op("Sqrt", result)
    return (result, mean if keepdim else g.squeeze(mean, dims)) if "mean" in g.current else result


@translates("linalg_vector_norm", "norm.ScalarOpt_dim", "norm", "linalg_norm")
def norm(g: Builder, self: Value, ord: Any = 2, dim: Any = None, keepdim: bool = False, **_: Any) -> Value:
    order = 2 if ord is None else _.get("p", ord)
    dims = _dims(dim)
    if g.current.startswith("aten::linalg_norm") and ord is not None:
        of_matrix = self.rank == 2 if dims is None else len(dims) == 2
        if isinstance(ord, str) and ord != "fro" or of_matrix and ord != "fro":
            raise NotImplementedError(f"the norm {ord} of matrices")
        order = 2 if ord == "fro" else order
    if order == 2:
        return g.reduce("ReduceL2", self, dims, keepdim)
    if order == 1:
        return g.reduce("ReduceL1", self, dims, keepdim)
    size = g.op("Abs", self)
    if order in (math.inf, -math.inf):
        return g.reduce("ReduceMax" if order > 0 else "ReduceMin", size, dims, keepdim)
    total = g.reduce("ReduceSum", g.op("Pow", size, g.number(order, self.dtype)), dims, keepdim)
    return g.op("Pow", total, g.number(1 / order, self.dtype))


@translates("cumsum")
def cumsum(g: Builder, self: Value, dim: int, **_: Any) -> Value:
    return g.op("CumSum", g.cast(self, g.out_dtype), g.constant(dim, taeda.int64))


@translates("softmax", "_softmax", "log_softmax", "_log_softmax", "special_softmax", "special_log_softmax")
def softmax(g: Builder, self: Value, dim: int, *_: Any, **__: Any) -> Value:
    name = "LogSoftmax" if "log" in g.current else "Softmax"
    x = g.cast(self, g.out_dtype)
    if x.rank == 0:
        return g.squeeze(g.op(name, g.unsqueeze(x, [0]), axis_i=0), [0])
    dim = dim % x.rank
    if g.opset >= 13 or dim == x.rank - 1:
        return g.op(name, x, axis_i=dim)
    order = list(range(x.rank))
    order[dim], order[-1] = order[-1], order[dim]
    return g.transpose(g.op(name, g.transpose(x, order), axis_i=x.rank - 1), order)


@translates("topk")
def topk(g: Builder, self: Value, k: Any, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    return g.op("TopK", self, g.ints([k]), outputs=2, axis_i=dim, largest_i=int(largest), sorted_i=int(sorted))


@translates("sort", "argsort")
def sort(g: Builder, self: Value, *given: Any, dim: int = -1, descending: bool = False, stable: Any = None) -> Any:
    rest = [v for v in given if v is not None and not (v is given[0] and "stable" in g.current)]
    dim, descending = (rest[0] if rest else dim), (rest[1] if len(rest) > 1 else descending)
    values, places = g.op(
        "TopK", self, g.ints([g.size_of(self, dim)]), outputs=2, axis_i=dim, largest_i=int(descending), sorted_i=1
    )
    return places if "argsort" in g.current else (values, places)


# --- products of matrices


@translates("matmul", "mm", "bmm", "mv", "dot", "linalg_matmul")
def matmul(g: Builder, self: Value, other: Value) -> Value:
    return g.op("MatMul", self, other)


@translates("linalg_det")
def determinant(g: Builder, A: Value) -> Value:
    return g.op("Det", A)


@translates("linear")
def linear(g: Builder, input: Value, weight: Value, bias: Value | None = None) -> Value:
    if input.rank == 2 and weight.rank == 2:
        return g.op("Gemm", input, weight, bias, transB_i=1, alpha_f=1.0, beta_f=1.0)
    result = g.op("MatMul", input, g.transpose(weight, [1, 0]) if weight.rank == 2 else weight)
    return result if bias is None else g.op("Add", result, bias)


@translates("addmm")
def addmm(g: Builder, self: Value, mat1: Value, mat2: Value, beta: Any = 1, alpha: Any = 1, **_: Any) -> Value:
    if self.rank <= 2 and self.dtype is not None and self.dtype.is_floating_point:
        return g.op("Gemm", mat1, mat2, self, beta_f=beta, alpha_f=alpha)
    return baddbmm(g, self, mat1, mat2, beta, alpha)


@translates("addbmm")
def addbmm(g: Builder, self: Value, batch1: Value, batch2: Value, beta: Any = 1, alpha: Any = 1, **_: Any) -> Value:
    product = g.op("MatMul", batch1, batch2)
    product.dtype = batch1.dtype
    product = g.reduce("ReduceSum", product, [0], False)
    product.dtype = batch1.dtype
    product = product if alpha == 1 else translate_mul(g, product, alpha)
    return product if beta == 0 else g.op("Add", product, self if beta == 1 else translate_mul(g, self, beta))


@translates("baddbmm")
def baddbmm(g: Builder, self: Value, batch1: Value, batch2: Value, beta: Any = 1, alpha: Any = 1, **_: Any) -> Value:
    product = g.op("MatMul", batch1, batch2)
    product.dtype = batch1.dtype
    product = product if alpha == 1 else translate_mul(g, product, alpha)
    if beta == 0:
        return product
    return g.op("Add", product, self if beta == 1 else translate_mul(g, self, beta))


@translates("einsum")
def einsum(g: Builder, equation: str, tensors: Sequence[Value], **_: Any) -> Value:
    if g.opset < 12:
        raise NotImplementedError("einsum needs opset 12")
    return g.op("Einsum", *tensors, equation_s=equation)


@translates("scaled_dot_product_attention")
def attention(
    g: Builder,
    query: Value,
    key: Value,
    value: Value,
    attn_mask: Value | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Value:
    if enable_gqa:
        key, value = (_repeated(g, x, query) for x in (key, value))
    width = query.size(-1)
    if scale is None and width is None:
        factor = g.op("Reciprocal", g.op("Sqrt", g.number(g.size_of(query, -1), query.dtype)))
    else:
        factor = g.number(1 / math.sqrt(width) if scale is None else scale, query.dtype)  # type: ignore[arg-type]
    order = [*range(key.rank - 2), key.rank - 1, key.rank - 2]
    scores = g.op("MatMul", g.op("Mul", query, factor), g.transpose(key, order))
    scores.dtype = query.dtype
    if is_causal:
        from taeda.onnx.writer.shapes import _triangle_mask

        rows, columns = g.size_of(query, -2), g.size_of(key, -2)
        mask = _triangle_mask(g, rows, columns, 0, False)
        scores = g.op("Where", mask, scores, g.number(-math.inf, query.dtype))
    if attn_mask is not None:
        if attn_mask.dtype == taeda.bool:
            scores = g.op("Where", attn_mask, scores, g.number(-math.inf, query.dtype))
        else:
            scores = g.op("Add", scores, g.cast(attn_mask, query.dtype))
    weights = g.op("Softmax", scores, axis_i=query.rank - 1 if g.opset < 13 else -1)
    if attn_mask is not None and attn_mask.dtype == taeda.bool:  # a row without any place gives nothing
        weights = g.op("Where", g.op("IsNaN", weights), g.number(0, query.dtype), weights)
    if dropout_p:
        weights = g.op("Dropout", weights, g.number(dropout_p, taeda.float32), g.constant(True))
    return g.op("MatMul", weights, value)


def _repeated(g: Builder, x: Value, query: Value) -> Value:
    heads, wanted = x.size(-3), query.size(-3)
    if heads is None or wanted is None:
        raise NotImplementedError("the number of heads varies")
    if heads == wanted:
        return x
    sizes = g.sizes_of(x)
    wide = g.op("Expand", g.unsqueeze(x, [x.rank - 2]), g.ints([*sizes[:-2], wanted // heads, *sizes[-2:]]))
    wide.dtype = x.dtype
    return g.reshape(wide, [*sizes[:-3], wanted, *sizes[-2:]])


@translates("cdist")
def cdist(g: Builder, x1: Value, x2: Value, p: float = 2, compute_mode: Any = None) -> Value:
    away = g.op("Sub", g.unsqueeze(x1, [x1.rank - 1]), g.unsqueeze(x2, [x2.rank - 2]))
    away.dtype, away.shape = x1.dtype, (None,) * (x1.rank + 1)
    return norm(g, away, p, [x1.rank])


@translates("aminmax")
def aminmax(g: Builder, self: Value, *, dim: Any = None, keepdim: bool = False) -> tuple[Value, Value]:
    low, high = (g.reduce(name, self, _dims(dim), keepdim) for name in ("ReduceMin", "ReduceMax"))
    return low, high


@translates("count_nonzero")
def count_nonzero(g: Builder, self: Value, dim: Any = None) -> Value:
    return g.reduce("ReduceSum", g.cast(truth(g, self), taeda.int64), _dims(dim), False)


@translates("nansum")
def nansum(g: Builder, self: Value, dim: Any = None, keepdim: bool = False, **_: Any) -> Value:
    x = g.op("Where", g.op("IsNaN", self), g.number(0, self.dtype), self)
    x.shape = self.shape
    return g.reduce("ReduceSum", x, _dims(dim), keepdim)


# --- losses


@translates("nll_loss_nd", "nll_loss", "nll_loss2d", "cross_entropy_loss", "nll_loss_forward", "nll_loss2d_forward")
def class_loss(g: Builder, self: Value, target: Value, weight: Value | None = None, reduction: int = 1,
               ignore_index: int = -100, label_smoothing: float = 0.0) -> Any:  # fmt: skip
    if label_smoothing or target.dtype != taeda.int64:
        raise NotImplementedError("probabilities as targets")
    if self.rank == 1:
        raise NotImplementedError("a loss without a batch")
    name = "SoftmaxCrossEntropyLoss" if "cross_entropy" in g.current else "NegativeLogLikelihoodLoss"
    if g.opset < 12:
        raise NotImplementedError(f"{name} needs opset 12")
    result = g.op(
        name, self, target, weight, reduction_s=("none", "mean", "sum")[reduction], ignore_index_i=ignore_index
    )
    return (result, None) if "forward" in g.current else result
