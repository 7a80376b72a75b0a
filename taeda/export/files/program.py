"""Saving and loading exported programs."""

from __future__ import annotations

import ast
import io
import json
import os
import sys
from collections import namedtuple
from typing import IO, Any

import taeda
from taeda import Tensor, nn
from taeda._serialization.archive import ArchiveReader, ArchiveWriter, Damaged
from taeda.export.dynamic_shapes import UNLIMITED
from taeda.export.exported_program import ExportedProgram, ModuleCallEntry
from taeda.export.files import codes, expressions, tensors
from taeda.export.files.graphs import GraphWriter
from taeda.export.files.nodes import GraphReader, Symbols
from taeda.export.files.signature import read_calls, read_signature, write_calls, write_signature
from taeda.export.files.sizes import Sizes
from taeda.export.graph_signature import InputKind, OutputKind
from taeda.export.guards import Expression, InputGuard, SizeName
from taeda.utils import _pytree as pytree
from taeda.utils._pytree_texts import name_of_namedtuple

_WEIGHTS, _CONSTANTS = "data/weights", "data/constants"
_WEIGHT_TABLE, _CONSTANT_TABLE = "model_weights_config.json", "model_constants_config.json"
_MODEL, _EXAMPLE = "models/model.json", "data/sample_inputs/model.pt"
_OURS = "taeda"  # what the format has no place for, in what it keeps for programs


def save(
    ep: ExportedProgram, f: str | os.PathLike[str] | IO[bytes], *, extra_files: dict[str, Any] | None = None,
    opset_version: dict[str, int] | None = None, pickle_protocol: int = 2,
) -> None:  # fmt: skip
    """Writes an exported program.

    Args:
        ep: the program.
        f: the file, by convention with the ending ``.pt2``.
        extra_files: more texts by name, which `load` gives back.
        opset_version: accepted; ops are named with their schemas.
        pickle_protocol: accepted; only the example is pickled.

    Raises:
        TypeError: ``ep`` is no `ExportedProgram`.
        RuntimeError: it holds what files have no form for.
    """
    if not isinstance(ep, ExportedProgram):
        raise TypeError(f"taeda.export.save: takes an ExportedProgram; got {type(ep).__name__}")
    if isinstance(f, (str, os.PathLike)):
        stem = os.path.basename(os.fspath(f)).rpartition(".")[0] or "archive"
        buffer = io.BytesIO()
        _write(ep, buffer, stem, extra_files or {})
        with open(f, "wb") as file:  # nothing is left of a program that cannot be written
            file.write(buffer.getbuffer())
    else:
        _write(ep, f, "archive", extra_files or {})


def _write(ep: ExportedProgram, file: IO[bytes], folder: str, extra_files: dict[str, Any]) -> None:
    archive = ArchiveWriter(file, folder, True)
    tensors.write(archive, _WEIGHTS, "weight_", _WEIGHT_TABLE, ep.state_dict)
    tensors.write(archive, _CONSTANTS, "tensor_", _CONSTANT_TABLE, ep.constants)
    archive.write(_MODEL, json.dumps(_described(ep), allow_nan=False).encode())
    archive.write(_EXAMPLE, _example(ep.example_inputs))
    for name, text in extra_files.items():
        archive.write(f"extra/{name}", text.encode() if isinstance(text, str) else bytes(text))
    for name, text in (("archive_format", "pt2"), ("archive_version", "0"), ("byteorder", sys.byteorder)):
        archive.write(name, text.encode())
    archive.finish()


def _example(inputs: Any) -> bytes:
    """The example, but for what pickles cannot hold without code."""
    plain = pytree.tree_map(
        lambda v: v.detach().requires_grad_(v.requires_grad) if isinstance(v, Tensor) else v, inputs
    )
    stream = io.BytesIO()
    try:
        taeda.save(plain, stream)
    except (TypeError, AttributeError, RuntimeError, ValueError):
        stream = io.BytesIO()
        taeda.save(None, stream)
    return stream.getvalue()


def _described(ep: ExportedProgram) -> dict[str, Any]:
    sizes = Sizes(ep)
    graph = GraphWriter(ep.graph, ep.graph_module, sizes).write()
    places = {name: path for path, name in _places(ep.module_call_graph[0], ep.graph_signature).items()}
    custom = {**ep.graph_module.meta.get("custom", {}), _OURS: {"labels": sizes.labels, "training": ep.training}}
    return {
        "graph_module": {
            "graph": graph, "signature": write_signature(ep.graph_signature),
            "module_call_graph": write_calls(ep.module_call_graph), "metadata": {"custom": json.dumps(custom)},
            "treespec_namedtuple_fields": _fields(ep.module_call_graph),
        },
        "opset_version": codes.OPSET, "range_constraints": sizes.ranges(),
        "schema_version": {"major": codes.MAJOR, "minor": codes.MINOR}, "verifiers": [ep.dialect],
        "torch_version": taeda.__version__,
        "guards_code": [expressions.spelled(g.expression, lambda leaf: _spelled(leaf, places)) for g in ep.guards],
    }  # fmt: skip


def _fields(entries: list[ModuleCallEntry]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    waiting = [s for e in entries if e.signature for s in (e.signature.in_spec, e.signature.out_spec)]
    while waiting:
        spec = waiting.pop()
        waiting += spec.children_specs
        cls = spec.context if spec.type is namedtuple else spec.type
        if isinstance(cls, type) and pytree.is_namedtuple_class(cls):
            found[name_of_namedtuple(cls)] = {"field_names": list(cls._fields)}  # type: ignore[attr-defined]
    return found


# --- conditions on sizes: L['x'].size()[0] > 3
def _places(whole: ModuleCallEntry, signature: Any) -> dict[str, str]:
    """By the text that says where an input stands among the arguments, its name."""
    said: Any = whole.signature
    names = [spec.arg.name for spec in signature.input_specs if spec.kind is InputKind.USER_INPUT]
    leaves = pytree.tree_unflatten(range(said.in_spec.num_leaves), said.in_spec)
    found = {}
    for path, index in pytree.tree_leaves_with_path(leaves):
        first, rest = path[1], path[2:]
        arguments = said.forward_arg_names or []
        at = getattr(first, "idx", None)
        label = first.key if at is None else arguments[at] if at < len(arguments) else f"arg{at}"
        if index < len(names):
            found[f"L[{label!r}]{pytree.keystr(rest)}"] = names[index]
    return found


def _spelled(leaf: Any, places: dict[str, str]) -> str:
    place = places.get(leaf[1], f"L[{leaf[1]!r}]")
    return place if leaf[2] is None else f"{place}.size()[{leaf[2]}]"


def _guards(texts: list[str], places: dict[str, str], sizes: set[tuple[str, int | None]]) -> list[InputGuard]:
    """The conditions that can be read; they narrow what the program takes and are no part of what it does."""

    def size(node: ast.expr) -> Expression:
        dim = None
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call):
            dim, node = ast.literal_eval(node.slice), node.value.func.value  # type: ignore[attr-defined]
        name = places.get(ast.unparse(node))
        if name is None or (name, dim) not in sizes:
            raise expressions.Unreadable(ast.unparse(node))
        return "size", name, dim

    found = []
    for i, text in enumerate(texts):
        try:
            found.append(InputGuard(text, expressions.read(text, size), "the program's file", i))
        except (expressions.Unreadable, AttributeError):
            continue
    return found


# --- reading
def load(
    f: str | os.PathLike[str] | IO[bytes], *, extra_files: dict[str, Any] | None = None,
    expected_opset_version: dict[str, int] | None = None,
) -> ExportedProgram:  # fmt: skip
    """Reads what `save`, or PyTorch's, wrote. Nothing of the file is run.

    Args:
        f: the file.
        extra_files: names to look up; the values are filled in.
        expected_opset_version: accepted.

    Raises:
        RuntimeError: the file holds no exported program, or one of a later version, or names an op that is not there.
    """
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return _load(file, extra_files)
    return _load(f, extra_files)


def _load(file: IO[bytes], extra_files: dict[str, Any] | None) -> ExportedProgram:
    try:
        archive = ArchiveReader(file, wants_checkpoint=False)
        archive.read_byteorder(sys.byteorder)
        described = json.loads(archive.read(_MODEL))
        version = described["schema_version"]
        if version["major"] != codes.MAJOR:
            raise RuntimeError(
                f"taeda.export.load: the file is of version {version['major']}.{version['minor']} of the format; this "
                f"is for {codes.MAJOR}"
            )
        for name in extra_files or {}:
            extra_files[name] = archive.read(f"extra/{name}").decode()  # type: ignore[index]
        state = tensors.read(archive, _WEIGHTS, _WEIGHT_TABLE)
        constants = tensors.read(archive, _CONSTANTS, _CONSTANT_TABLE)
        return _restored(described, state, constants, _read_example(archive))
    except (
        Damaged,
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        IndexError,
        ArithmeticError,
        RecursionError,
    ) as error:
        raise RuntimeError(f"taeda.export.load: this file holds no exported program: {error!r}") from error


def _read_example(archive: ArchiveReader) -> Any:
    if not archive.has(_EXAMPLE):
        return None
    try:
        return taeda.load(io.BytesIO(archive.read(_EXAMPLE)), weights_only=True)
    except Exception:  # it holds objects of classes that only their program knows
        return None


def _restored(described: dict[str, Any], state: Any, constants: Any, example: Any) -> ExportedProgram:
    from taeda._library.fake_tensor import FakeTensorMode

    with FakeTensorMode() as mode:
        pass
    module = described["graph_module"]
    signature = read_signature(module["signature"])
    fields = module.get("treespec_namedtuple_fields") or {}
    calls = read_calls(module["module_call_graph"], signature, fields)
    symbols = Symbols(described["range_constraints"])
    reader = GraphReader(module["graph"], symbols, mode)
    graph = reader.read([spec.arg.name for spec in signature.input_specs])
    custom = json.loads(module.get("metadata", {}).get("custom", "{}"))
    ours = custom.pop(_OURS, {})
    sizes, more = _sizes(module["graph"], signature, symbols, ours.get("labels", {}))
    known = {(size.node, size.dim) for size in sizes}
    known |= {
        (name, dim) for name, meta in module["graph"]["tensor_values"].items() for dim in range(len(meta["sizes"]))
    }
    guards = more + _guards(described.get("guards_code", []), _places(calls[0], signature), known)
    program = ExportedProgram(
        dict(reader.modules), graph, signature, state, {}, calls, example, constants,
        guards=guards, sizes=sizes, training=bool(ours.get("training")),
    )  # fmt: skip
    if custom:
        program.graph_module.meta["custom"] = custom
    _check(program)
    return program


def _check(program: ExportedProgram) -> None:
    """Checks that graph, signature, nesting and tensors, which a file says apart, fit."""
    program.validate()
    signature, nesting = program.graph_signature, program.call_spec
    takes = [spec for spec in signature.input_specs if spec.kind is InputKind.USER_INPUT]
    gives = [s for s in signature.output_specs if s.kind in (OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT)]
    outputs: Any = program.graph.output_node().args[0]
    counts = (
        ("arguments", len(takes), nesting.in_spec.num_leaves),  # type: ignore[union-attr]
        ("results", len(gives), nesting.out_spec.num_leaves),  # type: ignore[union-attr]
        ("outputs of the graph", len(signature.output_specs), len(outputs)),
    )
    for what, said, found in counts:
        if said != found:
            raise RuntimeError(f"taeda.export.load: the signature speaks of {said} {what}, but there are {found}")
    paths = {spec.target for spec in signature.input_specs} - {None}
    written = {spec.target for spec in signature.output_specs} - {None}
    lost = paths - program.state_dict.keys() - program.constants.keys()
    lost |= written - paths - {spec.arg.name for spec in takes}
    lost |= {path for path in paths if any(not part or hasattr(nn.Module, part) for part in str(path).split("."))}
    if lost:
        raise RuntimeError(f"taeda.export.load: there is no tensor {sorted(map(str, lost))[0][:100]!r}")


def _sizes(
    graph: dict[str, Any], signature: Any, symbols: Symbols, labels: dict[str, str]
) -> tuple[list[SizeName], list[InputGuard]]:
    """The sizes of inputs that vary, and conditions on those that follow from several others."""
    found: list[SizeName] = []
    places: dict[str, Expression] = {}
    left: list[tuple[str, int | None, Expression]] = []
    for spec in signature.input_specs:
        if spec.kind is not InputKind.USER_INPUT:
            continue
        name = spec.arg.name
        numbers = {None: graph["sym_int_values"][name]} if name in graph["sym_int_values"] else {}
        if name in graph["tensor_values"]:
            numbers = dict(enumerate(graph["tensor_values"][name]["sizes"]))  # type: ignore[arg-type]
        for dim, number in numbers.items():
            expression = symbols.read(number)
            if type(expression) is int:
                continue
            line = expressions.affine(expression)
            if line is None:
                left.append((name, dim, expression))
                found.append(SizeName(name, dim, None, None, None, 0, UNLIMITED))
                continue
            found.append(_size(name, dim, line, symbols, labels))
            if line[1:] == (1, 0):
                places.setdefault(line[0], ("size", name, dim))
    guards = []
    for name, dim, expression in left:
        if all(symbol in places for symbol in expressions.symbols_in(expression)):
            condition = ("eq", ("size", name, dim), _replaced(expression, places))
            text = expressions.spelled(condition, lambda leaf: f"{leaf[1]}.size({leaf[2]})")
            guards.append(InputGuard(text, condition, "the program's file", 0))
    return found, guards


def _size(name: str, dim: int | None, line: tuple[str, int, int], symbols: Symbols, labels: dict[str, str]) -> SizeName:
    symbol, factor, offset = line
    low, high = symbols.range_of(symbol)
    low, high = factor * low + offset, high if high >= UNLIMITED else factor * high + offset
    root = labels.get(symbol, symbol)
    if (factor, offset) == (1, 0):
        return SizeName(name, dim, root or None, root or None, None, low, high)
    text = root if factor == 1 else f"{factor}*{root}"
    label = f"{text} {'+' if offset >= 0 else '-'} {abs(offset)}" if offset else text
    return SizeName(name, dim, label, root, (factor, offset), low, high)


def _replaced(expression: Expression, places: dict[str, Expression]) -> Expression:
    if not isinstance(expression, (tuple, list)):
        return expression
    if expression[0] == "symbol":
        return places[expression[1]]
    return (expression[0], *(_replaced(operand, places) for operand in expression[1:]))
