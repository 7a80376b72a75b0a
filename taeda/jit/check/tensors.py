"""Functions of tensors that are more Python than programs hold, as programs have them."""

from __future__ import annotations

from typing import Any

import taeda
from taeda.functional import _einsum_equation
from taeda.jit.check.builtins import special
from taeda.jit.check.emitter import Emitter
from taeda.jit.check.types import INT, TENSOR, list_of, optional
from taeda.jit.check.values import Known, TupleOf
from taeda.jit.ir import Value
from taeda.jit.parse.errors import fail
from taeda.jit.source import SourceRange


def _is_tensor(what: Any) -> bool:
    return isinstance(what, Value) and what.static_type is TENSOR


# --- einsum(x, [0, 1], y, [1, 2], [0, 2])
def _indices(what: Any, range: SourceRange | None) -> list[Any]:
    """The subscripts that a list gives, which stand in the program."""
    items = what.obj if isinstance(what, Known) else what.items if isinstance(what, TupleOf) else None
    if isinstance(what, Value) and what.node().kind() == "prim::ListConstruct":
        items = list(what.node().inputs())
    found = [i.obj if isinstance(i, Known) else i.toIValue() if isinstance(i, Value) else i for i in items or ()]
    if items is None or not all(isinstance(i, int) or i is Ellipsis for i in found):
        fail(range, "einsum: lists of subscripts must be known while the program is compiled")
    return found


@special(taeda.einsum)
def _einsum(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
    equation, *operands = args
    if _is_tensor(equation):
        lists = [_indices(what, range) for what in args[1::2]]
        result = _indices(args[-1], range) if len(args) % 2 else None
        equation = Known(_einsum_equation(lists, result))
        operands = args[: len(args) // 2 * 2 : 2]
    if len(operands) == 1 and not _is_tensor(operands[0]):  # einsum(equation, (x, y))
        (listed,) = operands
        operands = list(listed.items) if isinstance(listed, TupleOf) else [listed]
    if operands and all(map(_is_tensor, operands)):
        operands = [emitter.list_value(operands, range)]
    return emitter.op("aten::einsum", [equation, *operands], kwargs, range)


# --- Gradients
_LISTS = {"tensors": list_of(TENSOR), "outputs": list_of(TENSOR), "inputs": list_of(TENSOR),
          "grad_tensors": list_of(optional(TENSOR)), "grad_outputs": list_of(optional(TENSOR))}  # fmt: skip


def _listed(emitter: Emitter, what: Any, type: Any, range: SourceRange | None) -> Any:
    """One tensor, a tuple of them or a list that is written out, as a list of the type; a list of the program's as it
    is."""
    items = what.items if isinstance(what, TupleOf) else [what] if _is_tensor(what) else None
    if isinstance(what, Value) and what.node().kind() == "prim::ListConstruct" and not what.hasUses():
        items = list(what.node().inputs())
    return what if items is None else emitter.list_value([emitter.value(i, range) for i in items], range, type)


def _gradient_op(kind: str, *names: str) -> Any:
    """What calls an op that takes lists of tensors, for which one tensor or a tuple may be given."""

    def handler(emitter: Emitter, args: list[Any], kwargs: dict[str, Any], range: SourceRange | None) -> Any:
        given = {**dict(zip(names, args)), **kwargs}
        given.pop("only_inputs", None)
        for name in given.keys() & _LISTS.keys():
            given[name] = _listed(emitter, given[name], _LISTS[name], range)
        return emitter.op(kind, [], given, range)

    return handler


special(taeda.autograd.backward)(
    _gradient_op("aten::backward", "tensors", "grad_tensors", "retain_graph", "create_graph")
)
special(taeda.autograd.grad)(
    _gradient_op("aten::grad", "outputs", "inputs", "grad_outputs", "retain_graph", "create_graph", "only_inputs",
                 "allow_unused")
)  # fmt: skip


# --- LongTensor(2, 3), LongTensor([2, 3])
def legacy_tensor(emitter: Emitter, cls: Any, args: list[Any], kwargs: dict[str, Any],
                  range: SourceRange | None) -> Any:  # fmt: skip
    """What a class of tensors of one dtype makes: an empty tensor of sizes, or the tensor of a list."""
    if kwargs:
        fail(range, f"{cls.__name__}: a program gives it sizes or a list, and no '{next(iter(kwargs))}'")
    values = [emitter.value(what, range) for what in args]
    dtype = {"dtype": Known(cls.dtype)}
    if all(value.static_type is INT for value in values):
        sizes = values or [emitter.constant(0)]
        return emitter.op("aten::empty", [emitter.list_value(sizes, range, list_of(INT))], dtype, range)
    if len(values) == 1 and values[0].static_type.kind() in ("ListType", "TupleType"):
        return emitter.op("aten::tensor", values, dtype, range)
    fail(range, f"{cls.__name__} takes sizes or one list; got ({', '.join(str(v.static_type) for v in values)})")
