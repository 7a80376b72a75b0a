"""Exported programs in files: a zip archive of JSON texts and tensors, in which nothing is code."""

from __future__ import annotations

import io
import json
import os
import zipfile
from typing import IO, Any

import taeda
from taeda import Tensor
from taeda.export import _tree_json, graph_signature
from taeda.export._graph_json import read_graph, write_graph
from taeda.export.exported_program import ExportedProgram, ModuleCallEntry, ModuleCallSignature
from taeda.export.graph_signature import ExportGraphSignature, InputKind, InputSpec, OutputKind, OutputSpec
from taeda.export.guards import InputGuard, SizeName, ValueRanges
from taeda.utils import _pytree as pytree

FORMAT, VERSION = "taeda.export", 1


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
        pickle_protocol: accepted; only tensors are pickled.

    Raises:
        TypeError: ``ep`` is no `ExportedProgram`.
    """
    if not isinstance(ep, ExportedProgram):
        raise TypeError(f"taeda.export.save: takes an ExportedProgram; got {type(ep).__name__}")
    with zipfile.ZipFile(f, "w") as archive:
        archive.writestr("program.json", json.dumps(_describe(ep)))
        same = _same(ep.state_dict)
        archive.writestr("state.pt", _tensors({k: v for k, v in ep.state_dict.items() if k not in same}))
        archive.writestr("constants.pt", _tensors({k: v for k, v in ep.constants.items() if isinstance(v, Tensor)}))
        leaves, _ = pytree.tree_flatten(ep.example_inputs)
        archive.writestr("example.pt", _tensors([v if isinstance(v, Tensor) or _is_plain(v) else None for v in leaves]))
        for name, text in (extra_files or {}).items():
            archive.writestr(f"extra_files/{name}", text)


def load(
    f: str | os.PathLike[str] | IO[bytes], *, extra_files: dict[str, Any] | None = None,
    expected_opset_version: dict[str, int] | None = None,
) -> ExportedProgram:  # fmt: skip
    """Reads what `save` wrote.

    Args:
        f: the file.
        extra_files: names to look up; the values are filled in.
        expected_opset_version: accepted.

    Raises:
        RuntimeError: the file holds no exported program, or one of a later version, or names an op that is not there.
    """
    try:
        with zipfile.ZipFile(f) as archive:
            described = json.loads(archive.read("program.json"))
            state, constants, example = (
                taeda.load(io.BytesIO(archive.read(name)), weights_only=True)
                for name in ("state.pt", "constants.pt", "example.pt")
            )
            for name in extra_files or {}:
                extra_files[name] = archive.read(f"extra_files/{name}").decode()  # type: ignore[index]
    except (zipfile.BadZipFile, KeyError, json.JSONDecodeError) as error:
        raise RuntimeError(f"taeda.export.load: {f} is no exported program: {error}") from None
    if described.get("format") != FORMAT or described.get("version", 0) > VERSION:
        raise RuntimeError(
            f"taeda.export.load: {f} has format {described.get('format')} {described.get('version')}; this is for "
            f"{FORMAT} up to {VERSION}"
        )
    return _restore(described, state, constants, example)


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (int, float, bool, str))


def _tensors(values: Any) -> bytes:
    stream = io.BytesIO()
    taeda.save(values, stream)
    return stream.getvalue()


def _argument(arg: Any) -> dict[str, Any]:
    return {"kind": type(arg).__name__, **vars(arg)}


def _describe(ep: ExportedProgram) -> dict[str, Any]:
    whole = ep.module_call_graph[0].signature
    assert whole is not None
    signature = ep.graph_signature
    return {
        "format": FORMAT,
        "version": VERSION,
        "graph": write_graph(ep.graph),
        "subgraphs": {k: write_graph(m.graph) for k, m in _subgraphs(ep.graph_module)},
        "inputs": [
            {"kind": s.kind.name, "arg": _argument(s.arg), "target": s.target, "persistent": s.persistent}
            for s in signature.input_specs
        ],
        "outputs": [{"kind": s.kind.name, "arg": _argument(s.arg), "target": s.target} for s in signature.output_specs],
        "in_spec": _tree_json.write(whole.in_spec),
        "out_spec": _tree_json.write(whole.out_spec),
        "argument_names": whole.forward_arg_names,
        "guards": [list(guard) for guard in ep.guards],
        "sizes": [list(size) for size in ep.sizes],
        "ranges": {k: list(v) for k, v in ep.range_constraints.items()},
        "training": ep.training,
        "parameters": list(signature.parameters),
        "same": _same(ep.state_dict),
    }


def _same(state: dict[str, Any]) -> dict[str, str]:
    """By the paths of tensors that stand at another path, too: that path."""
    first: dict[int, str] = {}
    return {path: known for path, value in state.items() if (known := first.setdefault(id(value), path)) != path}


def _subgraphs(module: Any) -> list[tuple[str, Any]]:
    return [(k, m) for k, m in module.named_modules() if k and hasattr(m, "graph")]


def _restore(described: dict[str, Any], state: Any, constants: Any, example: Any) -> ExportedProgram:
    from taeda.fx.graph_module import GraphModule

    subgraphs: dict[str, Any] = {}
    for path in sorted(described["subgraphs"], key=lambda p: -p.count(".")):
        inner = {k.removeprefix(f"{path}."): m for k, m in subgraphs.items() if k.startswith(f"{path}.")}
        subgraphs[path] = GraphModule(inner, read_graph(described["subgraphs"][path]))
    top = {k: m for k, m in subgraphs.items() if "." not in k}
    for path in described["parameters"]:
        if path not in state:
            continue
        if not isinstance(state[path], taeda.nn.Parameter):
            state[path] = taeda.nn.Parameter(state[path], state[path].requires_grad)
    for path, known in described.get("same", {}).items():
        state[path] = state[known]
    inputs = [
        InputSpec(InputKind[s["kind"]], _read_argument(s["arg"]), s["target"], s["persistent"])
        for s in described["inputs"]
    ]
    outputs = [OutputSpec(OutputKind[s["kind"]], _read_argument(s["arg"]), s["target"]) for s in described["outputs"]]
    in_spec, out_spec = _tree_json.read(described["in_spec"]), _tree_json.read(described["out_spec"])
    arguments = [s.arg for s in inputs if s.kind is InputKind.USER_INPUT]
    whole = ModuleCallSignature(arguments, [s.arg for s in outputs], in_spec, out_spec, described["argument_names"])
    return ExportedProgram(
        top, read_graph(described["graph"]), ExportGraphSignature(inputs, outputs), state,
        {k: ValueRanges(*v) for k, v in described["ranges"].items()}, [ModuleCallEntry("", whole)],
        pytree.tree_unflatten(example, in_spec), constants,
        guards=[InputGuard(*guard) for guard in described["guards"]],
        sizes=[SizeName(*size) for size in described["sizes"]], training=described["training"],
    )  # fmt: skip


def _read_argument(described: dict[str, Any]) -> Any:
    fields = dict(described)
    kind = fields.pop("kind")
    if kind not in graph_signature.__all__ or not kind.endswith("Argument"):
        raise RuntimeError(f"taeda.export.load: there is no kind of argument '{kind}'")
    return getattr(graph_signature, kind)(**fields)
