"""The ops that graphs read sizes with: ``aten.sym_size.int`` and its kin, and the assertions on numbers."""

from __future__ import annotations

from typing import Any

import taeda
from taeda.fx.node import has_side_effect

_LIBRARY = taeda.library.Library("aten", "FRAGMENT")


def _define(schema: str, function: Any, tags: Any = ()) -> Any:
    name = schema.partition("(")[0]
    _LIBRARY.define(schema, tags=tags)
    _LIBRARY.impl(name, function, "CompositeImplicitAutograd")
    base, _, overload = name.partition(".")
    return getattr(getattr(taeda.ops.aten, base), overload or "default")


def _assert(value: Any, message: str) -> None:
    if not value:
        raise RuntimeError(f"an assertion of the program failed: {message}")


sym_size = _define("sym_size.int(Tensor self, int dim) -> SymInt", lambda self, dim: self.size(dim))
sym_stride = _define("sym_stride.int(Tensor self, int dim) -> SymInt", lambda self, dim: self.stride(dim))
sym_numel = _define("sym_numel(Tensor self) -> SymInt", lambda self: self.numel())
sym_storage_offset = _define("sym_storage_offset(Tensor self) -> SymInt", lambda self: self.storage_offset())


def _item(self: Any) -> Any:
    packet: Any = taeda.ops.aten
    return packet._local_scalar_dense(self)


item = _define("item(Tensor self) -> Scalar", _item)
assert_scalar = _define("_assert_scalar(Scalar self, str assert_msg) -> ()", _assert)


def _assert_metadata(a: Any, size: Any = None, stride: Any = None, dtype: Any = None, *, device: Any = None,
                     layout: Any = None) -> None:  # fmt: skip
    found: dict[str, Any] = {"size": list(a.shape), "stride": list(a.stride())}
    found |= {"dtype": a.dtype, "device": a.device, "layout": a.layout}
    for what, wanted in zip(found, (size, stride, dtype, device, layout)):
        if wanted is not None and found[what] != wanted:
            raise RuntimeError(f"an assertion of the program failed: {what} is {found[what]}; it must be {wanted}")


assert_metadata = _define(
    "_assert_tensor_metadata(Tensor a, SymInt[]? size=None, SymInt[]? stride=None, ScalarType? dtype=None, *, "
    "Device? device=None, Layout? layout=None) -> ()",
    _assert_metadata,
)


def _batch_norm(
    x: Any, weight: Any, bias: Any, mean: Any, var: Any, training: bool, momentum: float, eps: float
) -> Any:
    mean, var = mean.clone(), var.clone()
    packet: Any = taeda.ops.aten
    result = packet.native_batch_norm(x, weight, bias, mean, var, training, momentum, eps)
    return (*result, mean, var)


functional_batch_norm = _define(
    "_native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor "
    "running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
    _batch_norm,
)


def _settled_batch_norm(x: Any, weight: Any, bias: Any, mean: Any, var: Any, momentum: float, eps: float) -> Any:
    packet: Any = taeda.ops.aten
    return packet.native_batch_norm(x, weight, bias, mean, var, False, momentum, eps)


_define(
    "_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor "
    "running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
    _settled_batch_norm,
)


def _give_draw(name: str, parameters: str, inplace: str = "") -> None:
    """A random filling that gives a new tensor."""

    def draw(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.clone(), inplace or f"{name}_")(*args, **kwargs)

    schema = f"{name}(Tensor self, {parameters}*, Generator? generator=None) -> Tensor"
    _define(schema, draw, taeda.Tag.nondeterministic_seeded)


_give_draw("uniform", "float from=0, float to=1, ")
_give_draw("exponential", "float lambd=1, ")
_give_draw("geometric", "float p, ")
_give_draw("cauchy", "float median=0, float sigma=1, ")
_give_draw("log_normal", "float mean=1, float std=2, ")
_give_draw("random", "")
_give_draw("random.from", "int from, int? to, ")
_give_draw("random.to", "int to, ")
_give_draw("normal_functional", "float mean=0, float std=1, ", "normal_")
has_side_effect(assert_scalar)
has_side_effect(assert_metadata)

SIZE_OPS = {"size": sym_size, "stride": sym_stride, "numel": sym_numel, "storage_offset": sym_storage_offset}
