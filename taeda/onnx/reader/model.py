"""An ONNX model as a module: initializers are parameters and buffers, a call runs the nodes in order."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import IO, Any

import taeda
from taeda import Tensor, nn
from taeda.onnx.reader import table
from taeda.onnx.reader.values import NUMBERS, UnsupportedOp, from_numpy, onnx_package

_FEW_BYTES = 1024


def load(f: str | os.PathLike[str] | IO[bytes] | bytes | Any, *, device: Any = None) -> OnnxModule:
    """Reads an ONNX model as a module.

    The module takes the graph's inputs, in order or by name, and gives its output, or a tuple of several. Initializers
    of real numbers are its parameters, so that it can be trained.

    Args:
        f: a path, an open file, the bytes of a model, or an ``onnx.ModelProto``. Data beside the file is found there.
        device: where the parameters go.

    Raises:
        UnsupportedOp: the model has an op that is neither known nor defined by ONNX as a function of others.
        ImportError: the package ``onnx`` is not installed.
    """
    onnx = onnx_package()
    if isinstance(f, (str, os.PathLike)):
        model = onnx.load(os.fspath(f))
    elif isinstance(f, bytes):
        model = onnx.load_model_from_string(f)
    elif hasattr(f, "read"):
        model = onnx.load_model_from_string(f.read())
    else:
        model = f
    module = OnnxModule(model)
    return module if device is None else module.to(device)


class OnnxModule(nn.Module):
    """What `load` gives."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.program = Program(model)
        self.names: dict[str, str] = {}
        for name, value in self.program.main.initializers.items():
            self._keep(name, value)
        self.input_names = [n for n in self.program.main.inputs if n not in self.program.main.initializers]
        self.output_names = list(self.program.main.outputs)

    def _keep(self, name: str, value: Any) -> None:
        plain = "".join(c if c.isalnum() or c == "_" else "_" for c in name) or "_"
        plain = f"p_{plain}" if hasattr(self, plain) or plain[0].isdigit() else plain
        while hasattr(self, plain):
            plain += "_"
        self.names[name] = plain
        if not isinstance(value, Tensor):
            setattr(self, plain, value)
        elif value.is_floating_point() and value.dtype.itemsize > 1:
            self.register_parameter(plain, nn.Parameter(value))
        else:
            self.register_buffer(plain, value)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the graph."""
        if len(args) > len(self.program.main.inputs):
            raise TypeError(f"the model takes {len(self.input_names)} inputs, {self.input_names}; got {len(args)}")
        names = self.input_names if len(args) <= len(self.input_names) else self.program.main.inputs
        values = {name: getattr(self, plain) for name, plain in self.names.items()}
        given = dict(zip(names, args)) | kwargs
        missing = [n for n in self.input_names if n not in given and n not in self.program.main.optional]
        if missing or set(given) - set(self.program.main.inputs):
            raise TypeError(f"the model takes {self.input_names}; got {sorted(given)}")
        results = self.program.main.run(values | given)
        return results[0] if len(results) == 1 else tuple(results)

    def __reduce__(self) -> Any:
        return _restore, (self.program.model.SerializeToString(), self.state_dict(), self.training)


def _restore(model: bytes, state: dict[str, Any], training: bool) -> OnnxModule:
    module = load(model)
    module.load_state_dict(state)
    return module.train(training)


class Program:
    """A model's graphs and functions, ready to run."""

    def __init__(self, model: Any) -> None:
        from taeda.onnx.reader import everything as everything

        self.model = model
        self.opsets = {o.domain if o.domain != "ai.onnx" else "": o.version for o in model.opset_import} or {"": 1}
        self.functions = {(f.domain, f.name): f for f in model.functions}
        self.main = Graph(model.graph, self, self.opsets)


class Graph:
    """Nodes with their attributes read; ``run`` computes them."""

    def __init__(self, graph: Any, program: Program, opsets: dict[str, int]) -> None:
        self.program, self.opsets = program, opsets
        self.inputs = [i.name for i in graph.input]
        self.optional = {i.name for i in graph.input if i.type.HasField("optional_type")}
        self.outputs = [o.name for o in graph.output]
        self.initializers = {t.name: read_tensor(t) for t in graph.initializer}
        for sparse in graph.sparse_initializer:
            self.initializers[sparse.values.name] = read_sparse(sparse)
        self.steps = [Step(node, self) for node in graph.node]

    def run(self, values: dict[str, Any]) -> list[Any]:
        """The outputs, given inputs (and values of an outer graph) by name."""
        values = self.initializers | values
        for step in self.steps:
            step.run(values)
        return [values.get(name) for name in self.outputs]


class Step:
    """One node: what it runs, on which names."""

    def __init__(self, node: Any, graph: Graph) -> None:
        domain = "" if node.domain == "ai.onnx" else node.domain
        self.node, self.inputs, self.outputs = node, list(node.input), list(node.output)
        self.attributes = {a.name: read_attribute(a, graph) for a in node.attribute}
        self.opset = graph.opsets.get(domain, graph.opsets.get("", 1))
        self.call = self._find(domain, node, graph)

    def _find(self, domain: str, node: Any, graph: Graph) -> Callable[[list[Any], dict[str, Any]], Any]:
        local = graph.program.functions.get((domain, node.op_type))
        if local is not None:
            return _function(local, self.attributes, graph.program)
        entry = table.OPS.get((domain, node.op_type))
        if entry is None:
            return self._from_definition(domain, node, graph)
        special: dict[str, Any] = {"opset": self.opset, "outputs": self.outputs}
        wanted = {name: special[name] for name in entry.wants if name != "run"}

        def call(inputs: list[Any], values: dict[str, Any]) -> Any:
            keywords = wanted | ({"run": values} if "run" in entry.wants else {})
            return entry.function(*inputs, **self.attributes, **keywords)

        return call

    def _from_definition(self, domain: str, node: Any, graph: Graph) -> Any:
        """What ONNX itself defines as a function of other ops; which one may depend on the inputs' types."""
        onnx = onnx_package()
        try:
            schema = onnx.defs.get_schema(node.op_type, self.opset, domain)
        except onnx.defs.SchemaError:
            schema = None
        if schema is None or not (schema.has_function or schema.has_context_dependent_function):
            where = f" of the domain {domain}" if domain else ""
            raise UnsupportedOp(f"taeda.onnx.load: nothing says what the op {node.op_type}{where} does")
        defaults = {
            k: read_attribute(a.default_value, None) for k, a in schema.attributes.items() if a.default_value.name
        }
        self.attributes = defaults | self.attributes
        if schema.has_function:
            text = schema.get_function_with_opset_version(self.opset) or schema.function_body
            body = onnx.FunctionProto()
            body.CopyFrom(text) if not isinstance(text, bytes) else body.ParseFromString(text)
            return _function(body, self.attributes, graph.program)
        made: dict[Any, Any] = {}

        def call(inputs: list[Any], values: dict[str, Any]) -> Any:
            types = [_type_proto(value) for value in inputs]
            key = tuple(t.SerializeToString() for t in types)
            if key not in made:
                bytes_ = schema.get_context_dependent_function_with_opset_version(
                    self.opset, node.SerializeToString(), list(key)
                )
                body = onnx.FunctionProto()
                body.ParseFromString(bytes_)
                made[key] = _function(body, self.attributes, graph.program)
            return made[key](inputs, values)

        return call

    def run(self, values: dict[str, Any]) -> None:
        """Computes the node; ``values`` gets its results."""
        given = [values[name] if name else None for name in self.inputs]
        try:
            result = self.call(given, values)
        except Exception as error:
            where = self.node.name or ", ".join(self.outputs)
            error.add_note(f"in the ONNX node {self.node.op_type} ({where})")
            raise
        if len(self.outputs) == 1 and not (isinstance(result, tuple) and len(result) == 1):
            result = (result,) if not isinstance(result, tuple) else result
        for name, value in zip(self.outputs, result):
            if name:
                values[name] = value


def _type_proto(value: Any) -> Any:
    onnx = onnx_package()
    if value is None:
        return onnx.TypeProto()
    if isinstance(value, list):
        inner = _type_proto(value[0]) if value else onnx.helper.make_tensor_type_proto(1, None)
        return onnx.helper.make_sequence_type_proto(inner)
    number = NUMBERS[value.dtype] if isinstance(value, Tensor) else onnx.helper.np_dtype_to_tensor_dtype(value.dtype)
    return onnx.helper.make_tensor_type_proto(number, list(map(int, value.shape)))


def _function(body: Any, attributes: dict[str, Any], program: Program) -> Callable[[list[Any], dict[str, Any]], Any]:
    """A call of a function with its own scope of names."""
    onnx = onnx_package()
    opsets = {o.domain if o.domain != "ai.onnx" else "": o.version for o in body.opset_import}
    defaults = {a.name: a for a in body.attribute_proto}
    graph = onnx.GraphProto()
    graph.node.extend(body.node)
    for name in body.output:
        graph.output.add().name = name
    for name in body.input:
        graph.input.add().name = name
    scope = _FunctionScope(program, opsets, {k: read_attribute(a, None) for k, a in defaults.items()} | attributes)
    made = Graph(graph, scope, opsets)  # type: ignore[arg-type]
    names = list(body.input)

    def call(inputs: list[Any], values: dict[str, Any]) -> Any:
        padded = [*inputs, *[None] * (len(names) - len(inputs))]
        return tuple(made.run(dict(zip(names, padded))))

    return call


class _FunctionScope:
    """What nodes of a function's body look up: functions of the model, and attributes of the call."""

    def __init__(self, program: Program, opsets: dict[str, int], attributes: dict[str, Any]) -> None:
        self.functions, self.opsets, self.attributes = program.functions, opsets, attributes


class _Absent:
    """An attribute of a call that was left out."""


def read_attribute(attribute: Any, graph: Any) -> Any:
    """An attribute's value: numbers, texts, tensors, graphs, and lists of them."""
    if attribute.ref_attr_name:
        return graph.program.attributes.get(attribute.ref_attr_name)
    kind = attribute.type
    if kind == 1:
        return attribute.f
    if kind == 2:
        return attribute.i
    if kind == 3:
        return attribute.s.decode("utf-8", "surrogateescape")
    if kind == 4:
        return read_tensor(attribute.t)
    if kind == 5:
        return Graph(attribute.g, graph.program, graph.opsets)
    if kind == 6:
        return list(attribute.floats)
    if kind == 7:
        return list(attribute.ints)
    if kind == 8:
        return [s.decode("utf-8", "surrogateescape") for s in attribute.strings]
    if kind == 9:
        return [read_tensor(t) for t in attribute.tensors]
    if kind == 11:
        return read_sparse(attribute.sparse_tensor)
    if kind == 13:
        return attribute.tp
    if kind == 0:
        return None
    raise UnsupportedOp(f"taeda.onnx.load: the attribute {attribute.name} is of kind {kind}, which no op here takes")


def read_tensor(proto: Any) -> Any:
    """A tensor of the model."""
    return from_numpy(onnx_package().numpy_helper.to_array(proto))


def read_sparse(proto: Any) -> Tensor:
    """A sparse tensor of the model, with its zeros."""
    values, indices, dims = read_tensor(proto.values), read_tensor(proto.indices), list(proto.dims)
    flat = taeda.zeros(int(taeda.tensor(dims).prod()), dtype=values.dtype)
    if indices.dim() == 2:
        strides = [int(taeda.tensor(dims[d + 1 :]).prod()) if d + 1 < len(dims) else 1 for d in range(len(dims))]
        indices = (indices * taeda.tensor(strides)).sum(1)
    return flat.index_put((indices,), values).reshape(dims)
