"""``taeda.onnx.export``."""

from __future__ import annotations

import contextlib
import os
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.export import Dim, ExportedProgram
from taeda.export import export as export_program
from taeda.export._decompose import _Expansion
from taeda.export._functional import functionalize
from taeda.export._quantized import as_rounded_numbers
from taeda.export._script import Walked, is_scripted
from taeda.export.dynamic_shapes import named_arguments
from taeda.export.errors import UserError
from taeda.export.exported_program import SizeName
from taeda.onnx.errors import OnnxExporterError
from taeda.onnx.reader.values import onnx_package
from taeda.onnx.symbolics import SYMBOLICS
from taeda.onnx.writer.builder import Value, tensor_proto, value_info
from taeda.onnx.writer.program import ONNXProgram
from taeda.onnx.writer.table import find
from taeda.onnx.writer.translate import Translation, body_of, expansions
from taeda.utils import _pytree as pytree

DEFAULT_OPSET = 18
OPSETS = range(11, 24)


def export(
    model: Any,
    args: Any = (),
    f: Any = None,
    *,
    kwargs: dict[str, Any] | None = None,
    verbose: bool | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    opset_version: int | None = None,
    dynamo: bool = True,
    external_data: bool = True,
    dynamic_shapes: Any = None,
    custom_translation_table: Mapping[Any, Callable[..., Any]] | None = None,
    report: bool = False,
    optimize: bool = True,
    verify: bool | None = None,
    profile: bool = False,
    dump_exported_program: bool = False,
    artifacts_dir: str | os.PathLike[str] = ".",
    export_params: bool = True,
    keep_initializers_as_inputs: bool = False,
    dynamic_axes: Any = None,
    training: Any = 0,
    operator_export_type: Any = 0,
    do_constant_folding: bool = True,
    custom_opsets: Mapping[str, int] | None = None,
    export_modules_as_functions: Any = False,
    autograd_inlining: bool = True,
    **others: Any,
) -> ONNXProgram | None:
    """Writes a model as ONNX.

    Args:
        model: a module, or an `ExportedProgram`.
        args: an example of its arguments: a tuple, or one tensor. A dict at the end of a tuple is ``kwargs`` where
            ``dynamo`` is False.
        f: the file to write, if any: a path, or an open file.
        kwargs: keyword arguments of the example.
        verbose: print what is written.
        input_names, output_names: names in order; more input names are those of parameters.
        opset_version: ONNX's version, 11 to 23; 18 by default.
        dynamo: give an `ONNXProgram`; else None, as the older exporter does, which also puts the model into the mode
            that ``training`` says.
        external_data: data beyond two gigabytes goes to a file beside ``f``.
        dynamic_shapes: which sizes vary, as `taeda.export.export` takes it.
        custom_translation_table: for ops, functions ``(g, *args)`` that add nodes with ``g.op(...)``.
        report: write ``onnx_export_report.md`` to ``artifacts_dir``.
        optimize: accepted; constants are folded, and nothing is left to do.
        verify: compare with the model in ONNX Runtime and fail where they differ, with the model's line. None: compare
            if it is installed and the model is small, and warn.
        export_params: write parameters; else they are inputs.
        keep_initializers_as_inputs: parameters are inputs, too, with the model's values by default.
        dynamic_axes: for names of inputs, ``{0: "batch"}`` or ``[0]``: sizes that vary.
        training: the mode to export in, a `TrainingMode`, where ``dynamo`` is False.
        do_constant_folding: compute at once what follows from parameters alone; batch normalisation goes into the
            convolution before it, unless parameters are inputs.
        custom_opsets: versions of domains.
        operator_export_type: with an `OperatorExportTypes` other than ``ONNX``, what ONNX cannot say becomes a node of
            the domain ``org.pytorch.aten``: ``ATen`` with the op's name as an attribute, which `taeda.onnx.load` runs,
            or with ``ONNX_FALLTHROUGH`` a node of the op's name.
        profile, dump_exported_program, export_modules_as_functions, autograd_inlining, others: accepted.

    Raises:
        OnnxExporterError: ops cannot be said in ONNX, or sizes cannot vary as asked; with the model's lines.
        ValueError: an opset that is not written.
    """
    opset = DEFAULT_OPSET if opset_version is None else opset_version
    if opset not in OPSETS:
        raise ValueError(
            f"taeda.onnx.export: opset_version must be from {OPSETS.start} to {OPSETS.stop - 1}; got {opset}"
        )
    example, keywords = _example(args, kwargs, dynamo)
    mode = _mode(model, training, dynamo)
    custom = _custom(custom_translation_table, opset)
    names = list(input_names or ())
    with mode, exporting(), as_rounded_numbers():
        program = _program(model, example, keywords, dynamic_shapes, dynamic_axes, names)
        joins = do_constant_folding and export_params and not keep_initializers_as_inputs
        translation = _translate(program, opset, custom, names, list(output_names or ()), do_constant_folding,
                                 int(operator_export_type), joins)  # fmt: skip
    _name_axes(translation, program, dynamic_axes)
    made = _model(translation, opset, custom_opsets, export_params, keep_initializers_as_inputs)
    result = ONNXProgram(made, program, translation)
    result.check()
    _compare(result, verify, model)
    if verbose:
        print(onnx_package().printer.to_text(result.model_proto_without_data()))
    if report:
        with open(os.path.join(artifacts_dir, "onnx_export_report.md"), "w") as file:
            file.write(result.report())
    if f is not None:
        result.save(f, keep_initializers_as_inputs=keep_initializers_as_inputs)
    return result if dynamo else None


class _State(threading.local):
    exporting = False


_state = _State()


@contextlib.contextmanager
def exporting() -> Iterator[None]:
    """``taeda.onnx.is_in_onnx_export()`` within."""
    before, _state.exporting = _state.exporting, True
    try:
        yield
    finally:
        _state.exporting = before


def is_in_onnx_export() -> bool:
    """Whether a model is being exported."""
    return _state.exporting


def _example(args: Any, kwargs: dict[str, Any] | None, dynamo: bool) -> tuple[tuple[Any, ...], dict[str, Any]]:
    example = tuple(args) if isinstance(args, (tuple, list)) else (args,)
    keywords = dict(kwargs or {})
    if not dynamo and example and isinstance(example[-1], dict) and not kwargs:
        keywords, example = example[-1], example[:-1]
    return example, keywords


@contextlib.contextmanager
def _mode(model: Any, training: Any, dynamo: bool) -> Iterator[None]:
    """The mode that the export wants; the model gets its own back."""
    wanted = None if dynamo or int(training) == 1 else int(training) == 2
    if not isinstance(model, nn.Module) or wanted is None or model.training == wanted:
        if isinstance(model, nn.Module) and model.training and not int(training):
            warnings.warn(
                "taeda.onnx.export: the model is in training mode, and is exported so: dropout drops, batch norm takes "
                "the batch's statistics. Call model.eval() for inference",
                stacklevel=4,
            )
        yield
        return
    before = {module: module.training for module in model.modules()}
    model.train(wanted)
    try:
        yield
    finally:
        for module, was in before.items():
            module.training = was


def _custom(table: Mapping[Any, Callable[..., Any]] | None, opset: int) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for (name, version), function in sorted(SYMBOLICS.items(), key=lambda item: item[0][1]):
        if version <= opset:
            found[name] = function
    return found | dict(table or {})


def _program(
    model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], shapes: Any, axes: Any, names: list[str]
) -> ExportedProgram:
    if isinstance(model, ExportedProgram):
        return model
    scripted = is_scripted(model)
    if scripted:
        model = Walked(model)
    if not isinstance(model, nn.Module):
        model = _Wrapped(model)
    asked = _named(shapes) if shapes is not None else _from_axes(model, args, kwargs, axes, names, scripted)
    try:
        return export_program(model, args, kwargs, dynamic_shapes=asked)
    except UserError as error:
        if shapes is not None or not axes:
            raise OnnxExporterError(str(error)) from error
        warnings.warn(f"taeda.onnx.export: sizes in dynamic_axes stay as in the example: {error}", stacklevel=4)
        automatic = pytree.tree_map(lambda leaf: None if leaf is None else Dim.AUTO, asked)
        try:
            return export_program(model, args, kwargs, dynamic_shapes=automatic)
        except UserError as second:
            raise OnnxExporterError(str(second)) from second


def _named(shapes: Any) -> Any:
    """``dynamic_shapes`` in which names may stand for dimensions."""
    dims: dict[str, Dim] = {}
    return pytree.tree_map(lambda d: dims.setdefault(d, Dim(d)) if isinstance(d, str) else d, shapes)


class _Wrapped(nn.Module):
    """A function as a module."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Calls it."""
        return self.function(*args, **kwargs)


def _from_axes(model: nn.Module, args: Any, kwargs: Any, axes: Any, names: list[str], numbers: bool) -> Any:
    """``dynamic_axes`` as ``dynamic_shapes``. ``numbers``: whole numbers are inputs, as those of scripted modules."""
    axes = axes or {}
    if not axes and not numbers:
        return None
    from taeda.export._trace import leaf_names

    plain = leaf_names(model, args, kwargs)
    named = named_arguments(model, args, kwargs)
    leaves, spec = pytree.tree_flatten(named)
    tensors = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
    called = dict(zip(tensors, names))
    dims: dict[str, Any] = {}
    hints: dict[str, int] = {}
    wanted: list[Any] = [Dim.DYNAMIC if numbers and type(leaf) is int else None for leaf in leaves]
    if not axes and not any(wanted):
        return None
    for i in tensors:
        given = axes.get(called.get(i, plain[i])) or axes.get(plain[i])
        if not given:
            continue
        pairs = given.items() if isinstance(given, Mapping) else [(d, None) for d in given]
        wanted[i] = {}
        for d, label in pairs:
            size = int(leaves[i].shape[d])
            label = str(label) if label is not None and str(label).isidentifier() else None
            if label is not None and hints.setdefault(label, size) != size:
                label = None
            wanted[i][d % leaves[i].dim()] = Dim.DYNAMIC if label is None else dims.setdefault(label, Dim(label))
    return _Tree.of(wanted, spec)


class _Tree:
    """Nested containers with what is asked of each leaf."""

    @staticmethod
    def of(wanted: list[Any], spec: Any) -> Any:
        return pytree.tree_unflatten(wanted, spec)


def _translate(
    program: ExportedProgram, opset: int, custom: dict[Any, Any], names: list[str], outputs: list[str], fold: bool,
    foreign: int, joins: bool,
) -> Translation:  # fmt: skip
    try:
        plain = functionalize(program)
    except NotImplementedError as error:
        raise OnnxExporterError(f"taeda.onnx.export: {error}") from error
    forced: set[Any] = set()
    while True:
        try:
            small = functionalize(_Expansion(plain, expansions(plain, custom, forced)).run())
        except NotImplementedError as error:
            raise OnnxExporterError(f"taeda.onnx.export: {error}") from error
        translation = Translation(small, opset, custom, fold, joins=joins)
        try:
            translation.run(names, outputs)
            return translation
        except OnnxExporterError:
            again = {r.op for r in translation.refusals if r.op not in forced and _has_both(r.op)}
            if not again:
                break
            forced |= again
    if not foreign:
        translation.refuse()
    translation = Translation(small, opset, custom, fold, foreign, joins)
    translation.run(names, outputs)
    return translation


def _has_both(op: Any) -> bool:
    """Whether an op has a translation and, where that refuses, a body."""
    return hasattr(op, "_schema") and find(op) is not None and body_of(op) is not None


def _name_axes(translation: Translation, program: ExportedProgram, axes: Any) -> None:
    """Names for the sizes that vary: those of `Dim` and ``dynamic_axes``."""
    users = {n.name: v for n, v in translation.values.items() if n.op == "placeholder" and isinstance(v, Value)}
    for size in program.sizes:
        if size.dim is None or size.node not in users:
            continue
        _label(users[size.node], size.dim, _axis_name(size))
    for value in (*translation.inputs, *translation.outputs):
        given = (axes or {}).get(value.name) or {}
        if isinstance(given, Mapping):
            for d, label in given.items():
                if value.shape is not None and value.shape[d] is None:
                    _label(value, d % len(value.shape), str(label))
    for value in (*translation.inputs, *translation.outputs):
        for d, known in enumerate(value.shape or ()):
            if known is None and d not in getattr(value, "axes", {}):
                _label(value, d, f"{value.name}_dim_{d}")


def _axis_name(size: SizeName) -> str:
    return (size.label or f"{size.node}_dim_{size.dim}").replace(" ", "")


def _label(value: Value, dim: int, label: str) -> None:
    labels = getattr(value, "axes", {})
    labels[dim] = label
    value.axes = labels  # type: ignore[attr-defined]


def _model(t: Translation, opset: int, custom_opsets: Any, export_params: bool, as_inputs: bool) -> Any:
    onnx = onnx_package()
    nodes, used = _wanted(t.g.nodes, {v.name for v in t.outputs})
    parameters = [v for v in t.parameters.values() if v.name in used]
    constants = {k: a for k, a in t.g.initializers.items() if k in used}
    weights = [tensor_proto(a, k) for k, a in constants.items()]
    if export_params:
        weights = [tensor_proto(v.const, v.name) for v in parameters] + weights
    inputs = [value_info(v) for v in t.inputs]
    if as_inputs or not export_params:
        inputs += [value_info(v) for v in parameters]
    graph = onnx.helper.make_graph(nodes, "main_graph", inputs, [value_info(v) for v in t.outputs], weights)
    domains = dict(t.g.domains) | dict(custom_opsets or {})
    opsets = [onnx.helper.make_opsetid("", opset), *(onnx.helper.make_opsetid(d, v) for d, v in domains.items())]
    version = {11: 6, 12: 7, 13: 7, 14: 7, 15: 8, 16: 8, 17: 8, 18: 8, 19: 9, 20: 9, 21: 10, 22: 10, 23: 11}[opset]
    return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=version, producer_name="taeda",
                                  producer_version=str(taeda.__version__))  # fmt: skip


def _wanted(nodes: list[Any], used: set[str]) -> tuple[list[Any], set[str]]:
    """The nodes whose results somebody uses, and the names of what they use."""
    kept = []
    for node in reversed(nodes):
        if any(name in used for name in node.output):
            kept.append(node)
            used.update(_names_in(node))
    return kept[::-1], used


def _names_in(node: Any) -> Iterator[str]:
    yield from node.input
    for attribute in node.attribute:
        if attribute.HasField("g"):
            for inner in attribute.g.node:
                yield from _names_in(inner)
            yield from (o.name for o in attribute.g.output)


SMALL = 2**26


def _compare(result: ONNXProgram, verify: bool | None, model: Any) -> None:
    if verify is False or result.exported_program.example_inputs is None or result.has_foreign_ops:
        return
    import importlib.util

    if verify is None and (result.bytes() > SMALL or importlib.util.find_spec("onnxruntime") is None):
        return
    difference = result.difference()
    if difference is not None:
        if verify:
            raise OnnxExporterError(difference)
        warnings.warn(difference, stacklevel=3)
