"""Building an ONNX graph: nodes from ``g.op(...)``, constants once each, and what is known of values."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import taeda
from taeda import Tensor
from taeda.onnx.errors import OnnxExporterError
from taeda.onnx.reader.values import NUMBERS, from_numpy, onnx_package, to_numpy

FOLDED = frozenset(
    [
        "Cast",
        "Concat",
        "Gather",
        "Identity",
        "Neg",
        "Reshape",
        "Slice",
        "Squeeze",
        "Transpose",
        "Unsqueeze",
        "Mul",
        "Add",
        "Sub",
        "Div",
        "Expand",
        "Shape",
        "Range",
        "Sqrt",
        "Reciprocal",
    ]
)


class Convolution(NamedTuple):
    """A convolution, which can be written again with other parameters."""

    weight: Value
    bias: Value | None
    groups: int
    transposed: bool
    again: Callable[[Value, Value], Value]


class Value:
    """A value of the graph: its name, and dtype, sizes (None: varies) and elements as far as they are known."""

    def __init__(self, name: str, dtype: taeda.dtype | None = None, shape: Sequence[int | None] | None = None,
                 const: Any = None) -> None:  # fmt: skip
        self.name, self.dtype, self.const = name, dtype, const
        self.shape = None if shape is None else tuple(shape)
        self.is_parameter = False
        self.convolution: Convolution | None = None  # that made it

    @property
    def rank(self) -> int:
        """The number of dimensions.

        Raises:
            OnnxExporterError: nobody knows it.
        """
        if self.shape is None:
            raise OnnxExporterError(f"taeda.onnx.export: the number of dimensions of {self.name} is not known")
        return len(self.shape)

    def size(self, dim: int) -> int | None:
        """A size; None if it varies."""
        return None if self.shape is None else self.shape[dim]

    def __repr__(self) -> str:
        return f"%{self.name}"

    # What symbolic functions ask of values
    def type(self) -> Any:
        """Itself, which answers for its type."""
        return self

    def scalarType(self) -> str | None:
        """The dtype's name."""
        return None if self.dtype is None else str(self.dtype).removeprefix("torch.")

    def sizes(self) -> list[int] | None:
        """The sizes, if all are known."""
        return None if self.shape is None or None in self.shape else list(self.shape)  # type: ignore[arg-type]

    def dim(self) -> int | None:
        """The number of dimensions, if it is known."""
        return None if self.shape is None else len(self.shape)

    def setType(self, other: Any) -> Value:
        """Takes what is known of another value."""
        if isinstance(other, Value):
            self.dtype, self.shape = other.dtype, other.shape
        return self

    def debugName(self) -> str:
        """The name."""
        return self.name


class Names:
    """Names of values, each once in a model."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def fresh(self, wanted: str) -> str:
        """``wanted``, with a number behind it if it is taken."""
        if wanted not in self._taken:
            self._taken[wanted] = 0
            return wanted
        while True:
            self._taken[wanted] += 1
            name = f"{wanted}_{self._taken[wanted]}"
            if name not in self._taken:
                self._taken[name] = 0
                return name


class Builder:
    """A graph of ONNX nodes that grows. Graphs of branches and loops have builders of their own."""

    def __init__(self, opset: int, outer: Builder | None = None, fold: bool = True) -> None:
        self.opset, self.outer, self.fold = opset, outer, fold
        self.names: Names = outer.names if outer is not None else Names()
        self.domains: dict[str, int] = outer.domains if outer is not None else {}
        self.nodes: list[Any] = []
        self.initializers: dict[str, Any] = {}
        self.origins: dict[str, Any] = outer.origins if outer is not None else {}  # by output, where it comes from
        self.place: Any = None
        self.out_dtype: Any = None
        self.out_shape: Any = None
        self.scope = ""
        self.current = ""  # the op that is being translated
        self.sole_use = False  # whether nothing but this op uses its first argument
        self._constants: dict[Any, Value] = {}

    # --- constants

    def constant(self, value: Any, dtype: taeda.dtype | None = None) -> Value:
        """A constant of the graph; equal ones are the same."""
        if isinstance(value, Tensor):
            array = to_numpy(value if dtype is None else value.to(dtype))
        else:
            kind = dtype or (taeda.bool if isinstance(value, bool) else taeda.int64 if isinstance(value, int) else None)
            if kind is None and isinstance(value, (list, tuple)):
                kind = taeda.int64 if all(isinstance(v, int) for v in value) else taeda.float32
            array = to_numpy(taeda.tensor(value, dtype=kind or taeda.float32))
        array = np.asarray(array)
        key = array.dtype, array.shape, array.tobytes() if array.size <= 64 else object()
        if key not in self._constants:
            made = Value(self.names.fresh("constant"), _dtype(array), array.shape, array)
            self._constants[key] = made
            self.initializers[made.name] = array
        return self._constants[key]

    def ints(self, values: Sequence[int | Value]) -> Value:
        """Whole numbers, some of them perhaps values of the graph, as a tensor of one dimension."""
        if all(not isinstance(v, Value) or v.const is not None for v in values):
            return self.constant([int(v) if not isinstance(v, Value) else int(v.const) for v in values], taeda.int64) \
                if values else self.constant(taeda.zeros(0, dtype=taeda.int64))  # fmt: skip
        parts = [self.unsqueeze(v, [0]) if isinstance(v, Value) else self.constant([v], taeda.int64) for v in values]
        made = parts[0] if len(parts) == 1 else self.op("Concat", *parts, axis_i=0)
        made.dtype, made.shape = taeda.int64, (len(values),)
        return made

    def number(self, value: Any, dtype: taeda.dtype | None) -> Value:
        """A number as a tensor without dimensions, of a dtype."""
        if isinstance(value, Value):
            return self.cast(value, dtype)
        return self.constant(value if dtype is None or not dtype.is_floating_point else float(value), dtype)

    # --- nodes

    def op(self, name: str, *inputs: Any, outputs: int = 1, **attributes: Any) -> Any:
        """Adds a node; ``axis_i=1``: an attribute's name ends with its kind (i, f, s, t, g, and is, fs, ss).

        Args:
            name: the op, with ``domain::`` before it outside of ONNX's own.
            inputs: values; None where one is left out; numbers and tensors become constants.
            outputs: how many results it has.
            attributes: its attributes; None leaves one out.
        """
        domain, _, plain = name.rpartition("::")
        domain = "" if domain == "onnx" else domain
        given = [v if isinstance(v, Value) or v is None else self.constant(v) for v in inputs]
        while given and given[-1] is None:
            given.pop()
        kept = {key: value for key, value in attributes.items() if value is not None}
        if self.fold and not domain and plain in FOLDED and outputs == 1:
            folded = self._folded(plain, given, kept)
            if folded is not None:
                return folded
        made = [Value(self.names.fresh(f"{self.scope}{plain.lower()}")) for _ in range(outputs)]
        node = onnx_package().helper.make_node(
            plain, ["" if v is None else v.name for v in given], [v.name for v in made], domain=domain or None
        )
        node.name = made[0].name
        for key, value in kept.items():
            stem, _, kind = key.rpartition("_")
            node.attribute.append(_attribute(stem, kind, value))
        if self.place is not None:
            node.doc_string = str(self.place).strip()
        if domain:
            self.domains.setdefault(domain, 1)
        self.nodes.append(node)
        for v in made:
            self.origins[v.name] = self.place
        if outputs == 1:
            self._guess(plain, given, made[0], kept)
            return made[0]
        return tuple(made)

    def _folded(self, name: str, inputs: list[Any], attributes: dict[str, Any]) -> Value | None:
        if any(v is None or v.const is None for v in inputs) or not inputs:
            return None
        if any(v.const.size > 2**22 for v in inputs) or (name == "Expand"):
            return None
        from taeda.onnx.reader import everything as everything
        from taeda.onnx.reader.table import OPS

        entry = OPS["", name]
        if entry.wants & {"run", "outputs"}:
            return None
        keywords = {key.rsplit("_", 1)[0]: value for key, value in attributes.items()}
        special = {"opset": self.opset} if "opset" in entry.wants else {}
        try:
            result = entry.function(*(from_numpy(v.const) for v in inputs), **keywords, **special)
        except (RuntimeError, TypeError, ValueError, NotImplementedError):
            return None
        return self.constant(result) if isinstance(result, Tensor) else None

    def _guess(self, name: str, inputs: list[Any], result: Value, attributes: dict[str, Any]) -> None:
        """What is plain of a result's dtype and sizes."""
        if name == "Cast":
            result.dtype = next(dtype for dtype, number in NUMBERS.items() if number == attributes["to_i"])
            result.shape = inputs[0].shape
        elif name in _COMPARISONS:
            result.dtype = taeda.bool
        elif name in ("Shape", "Size", "ArgMax", "ArgMin", "NonZero"):
            result.dtype = taeda.int64
        elif name == "Where" and inputs[1] is not None:
            result.dtype = inputs[1].dtype
        elif inputs and inputs[0] is not None:
            result.dtype = inputs[0].dtype
        if name in _SAME_SHAPE and inputs and inputs[0] is not None:
            result.shape = inputs[0].shape
        if name in _BROADCAST and all(v is not None and v.shape is not None for v in inputs):
            result.shape = _broadcast([v.shape for v in inputs])

    # --- what many translations need

    def cast(self, x: Value, dtype: taeda.dtype | None) -> Value:
        """``x`` in another dtype, if it is not in that already."""
        if dtype is None or x.dtype == dtype:
            return x
        if dtype not in NUMBERS:
            raise OnnxExporterError(f"taeda.onnx.export: ONNX has no type for {dtype}")
        return self.op("Cast", x, to_i=NUMBERS[dtype])

    def reshape(self, x: Value, sizes: Sequence[int | Value] | Value) -> Value:
        """``x`` in other sizes; at most one is -1, and 0 is none."""
        if not isinstance(sizes, Value):
            varying = [i for i, s in enumerate(sizes) if isinstance(s, Value) and s.const is None]
            if len(varying) == 1 and all(s not in (0, -1) for s in sizes if not isinstance(s, Value)):
                sizes = [-1 if i == varying[0] else s for i, s in enumerate(sizes)]
        wanted = sizes if isinstance(sizes, Value) else self.ints(sizes)
        zero = not isinstance(sizes, Value) and any(not isinstance(s, Value) and s == 0 for s in sizes)
        result = self.op("Reshape", x, wanted, allowzero_i=1 if zero and self.opset >= 14 else None)
        if not isinstance(sizes, Value):
            result.shape = tuple(None if isinstance(s, Value) or s == -1 else s for s in sizes)
        result.dtype = x.dtype
        return result

    def unsqueeze(self, x: Value, dims: list[int]) -> Value:
        """``x`` with dimensions of size 1 at ``dims``, counted in the result."""
        if self.opset < 13:
            result = self.op("Unsqueeze", x, axes_is=dims)
        else:
            result = self.op("Unsqueeze", x, self.constant(dims, taeda.int64))
        if x.shape is not None and result.const is None:
            shape: list[int | None] = list(x.shape)
            for dim in sorted(d % (len(shape) + len(dims)) for d in dims):
                shape.insert(dim, 1)
            result.shape = tuple(shape)
        return result

    def squeeze(self, x: Value, dims: list[int]) -> Value:
        """``x`` without its dimensions ``dims``."""
        if self.opset < 13:
            result = self.op("Squeeze", x, axes_is=dims)
        else:
            result = self.op("Squeeze", x, self.constant(dims, taeda.int64))
        if x.shape is not None and result.const is None:
            gone = {d % len(x.shape) for d in dims}
            result.shape = tuple(s for d, s in enumerate(x.shape) if d not in gone)
        return result

    def transpose(self, x: Value, order: list[int]) -> Value:
        """``x`` with its dimensions in another order."""
        if order == list(range(len(order))):
            return x
        result = self.op("Transpose", x, perm_is=order)
        if x.shape is not None:
            result.shape = tuple(x.shape[d] for d in order)
        return result

    def reduce(self, name: str, x: Value, dims: Sequence[int] | None, keep: bool) -> Value:
        """``ReduceSum`` and its kin over ``dims``, all if None."""
        by_input = self.opset >= (13 if name == "ReduceSum" else 18)
        every = dims is None or not list(dims) or x.shape == ()
        if by_input:
            axes = None if every else self.constant(list(dims or ()), taeda.int64)
            result = self.op(name, x, axes, keepdims_i=int(keep))
        else:
            result = self.op(name, x, axes_is=None if every else list(dims or ()), keepdims_i=int(keep))
        if x.shape is not None:
            gone = set(range(len(x.shape))) if every else {d % len(x.shape) for d in dims or ()}
            result.shape = tuple(1 if d in gone else s for d, s in enumerate(x.shape) if keep or d not in gone)
        return result

    def slice(self, x: Value, dim: int, start: int | Value, end: int | Value, step: int = 1) -> Value:
        """``x[..., start:end:step, ...]`` along ``dim``."""
        result = self.op("Slice", x, self.ints([start]), self.ints([end]), self.ints([dim]), self.ints([step]))
        if x.shape is not None and result.const is None:
            shape = list(x.shape)
            size = shape[dim]
            known = size is not None and not isinstance(start, Value) and not isinstance(end, Value)
            shape[dim] = len(range(*slice(start, end, step).indices(size))) if known else None  # type: ignore[arg-type]
            result.shape = tuple(shape)
        return result

    def size_of(self, x: Value, dim: int) -> int | Value:
        """A size: the number, or where it varies a value without dimensions."""
        known = x.size(dim)
        if known is not None:
            return known
        dim = dim % x.rank
        if self.opset >= 15:
            shape = self.op("Shape", x, start_i=dim, end_i=dim + 1)
            return self._typed(self.squeeze(self._typed(shape, (1,)), [0]), ())
        shape = self._typed(self.op("Shape", x), (x.rank,))
        return self._typed(self.op("Gather", shape, self.constant(dim, taeda.int64), axis_i=0), ())

    def sizes_of(self, x: Value) -> list[int | Value]:
        """All sizes."""
        return [self.size_of(x, d) for d in range(x.rank)]

    def _typed(self, value: Value, shape: tuple[int, ...]) -> Value:
        if value.const is None:
            value.dtype, value.shape = taeda.int64, shape
        return value

    def subgraph(self) -> Builder:
        """A builder for the graph of a branch or a loop's body, which sees the values of this one."""
        inner = Builder(self.opset, self, self.fold)
        inner.scope, inner.place = self.scope, self.place
        return inner

    def proto(self, name: str, inputs: list[Value], outputs: list[Value]) -> Any:
        """The graph as ONNX has it."""
        onnx = onnx_package()
        weights = [tensor_proto(array, key) for key, array in self.initializers.items()]
        return onnx.helper.make_graph(
            self.nodes, name, [value_info(v) for v in inputs], [value_info(v) for v in outputs], weights
        )

    @contextlib.contextmanager
    def at(self, place: Any, dtype: Any, shape: Any) -> Iterator[None]:
        """What is added within comes from ``place`` and gives a result of that dtype and those sizes."""
        before = self.place, self.out_dtype, self.out_shape
        self.place, self.out_dtype, self.out_shape = place, dtype, shape
        try:
            yield
        finally:
            self.place, self.out_dtype, self.out_shape = before


_COMPARISONS = frozenset(
    ["Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "And", "Or", "Xor", "Not", "IsNaN", "IsInf"]
)
_SAME_SHAPE = frozenset(
    [
        "Abs",
        "Neg",
        "Exp",
        "Log",
        "Sqrt",
        "Relu",
        "Sigmoid",
        "Tanh",
        "Erf",
        "Not",
        "IsNaN",
        "IsInf",
        "Floor",
        "Ceil",
        "Round",
        "Softmax",
        "LogSoftmax",
        "Identity",
        "Clip",
        "CumSum",
        "Reciprocal",
        "Sign",
        "Sin",
        "Cos",
        "LeakyRelu",
        "Elu",
    ]
)
_BROADCAST = frozenset(
    [
        "Add",
        "Sub",
        "Mul",
        "Div",
        "Pow",
        "Max",
        "Min",
        "Where",
        "And",
        "Or",
        "Equal",
        "Greater",
        "Less",
        "GreaterOrEqual",
        "LessOrEqual",
        "Mod",
    ]
)


def _broadcast(shapes: list[Any]) -> tuple[int | None, ...]:
    rank = max(map(len, shapes))
    result: list[int | None] = []
    for d in range(rank):
        sizes = [s[d - rank + len(s)] for s in shapes if d - rank + len(s) >= 0]
        wide = [s for s in sizes if s != 1]
        known = [s for s in wide if s is not None]
        result.append(1 if not wide else known[0] if known else None)
    return tuple(result)


def _dtype(array: Any) -> Any:
    made = from_numpy(array[(0,) * array.ndim] if array.size else array)
    return made.dtype if isinstance(made, Tensor) else None


def _attribute(name: str, kind: str, value: Any) -> Any:
    helper = onnx_package().helper
    if kind == "t":
        return helper.make_attribute(name, tensor_proto(np.asarray(to_numpy(value)), name))
    if kind in ("i", "f"):
        return helper.make_attribute(name, int(value) if kind == "i" else float(value))
    if kind in ("is", "fs"):
        values = [int(v) if kind == "is" else float(v) for v in value]
        types = onnx_package().AttributeProto
        return helper.make_attribute(name, values, attr_type=types.INTS if kind == "is" else types.FLOATS)
    return helper.make_attribute(name, value)


def tensor_proto(array: Any, name: str) -> Any:
    """An array as ONNX has it."""
    return onnx_package().numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)


def value_info(value: Value) -> Any:
    """The name, type and sizes of an input or output; a size that varies has a name if somebody gave it one."""
    onnx = onnx_package()
    number = NUMBERS[value.dtype] if value.dtype is not None else 0
    shape = None if value.shape is None else [getattr(value, "axes", {}).get(d, s) for d, s in enumerate(value.shape)]
    return onnx.helper.make_tensor_value_info(value.name, number, shape)
