"""Cutting a model into stages along its recorded graph."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from enum import Enum
from typing import Any

import taeda
from taeda import Tensor, fx, nn
from taeda._control_flow.capture import current_capture
from taeda.distributed.pipelining._utils import PipeInfo
from taeda.distributed.pipelining._values import Values
from taeda.distributed.pipelining.stage import _PipelineStage, build_stage
from taeda.export import ExportedProgram, export
from taeda.export.graph_signature import InputKind
from taeda.fx.node import Node, map_arg
from taeda.utils import _pytree as pytree

_local = threading.local()


def pipe_split() -> None:
    """Marks, in a model's ``forward``, where one stage ends and the next begins. Does nothing but under `pipeline`."""
    capture, marks = current_capture(), getattr(_local, "marks", None)
    if capture is not None and marks is not None:
        marks.append({node.name for node in capture.scope.root().graph.nodes})


class SplitPoint(Enum):
    """Where a submodule is cut off: before it runs, or behind."""

    BEGINNING = 1
    END = 2


def annotate_split_points(mod: nn.Module, spec: dict[str, SplitPoint]) -> list[Any]:
    """From now on `pipeline` splits ``mod`` at the submodules named; returns handles that take this back."""
    handles: list[Any] = []
    for name, point in spec.items():
        one = mod.get_submodule(name)
        if point is SplitPoint.BEGINNING:
            handles.append(one.register_forward_pre_hook(lambda *_: pipe_split()))
        else:
            handles.append(one.register_forward_hook(lambda *_: pipe_split()))
    return handles


class Pipe(nn.Module):
    """A model as a chain of stages, which runs here as the model does."""

    def __init__(self, stages: list[fx.GraphModule], values: Values, results: Any, graph: Any) -> None:
        super().__init__()
        self.num_stages, self.has_loss_and_backward = len(stages), False
        self.values, self.results, self.graph = values, results, graph
        for index, stage in enumerate(stages):
            setattr(self, f"submod_{index}", stage)

    def forward(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The model's results, in a tuple."""
        known: dict[Node, Any] = {}
        output: Any = None
        for index in range(self.num_stages):
            given = args if index == 0 else tuple(known[node] for node in self.values.inputs[index])
            output = self.get_stage_module(index)(*given, **(kwargs if index == 0 else {}))
            made = output if isinstance(output, tuple) else (output,)
            known.update(zip(self.values.outputs[index], made))
        return output if isinstance(output, tuple) else (output,)

    def get_stage_module(self, stage_idx: int) -> nn.Module:
        """The module of a stage."""
        if not 0 <= stage_idx < self.num_stages:
            raise ValueError(f"taeda.distributed.pipelining.Pipe: there is no stage {stage_idx} of {self.num_stages}")
        return getattr(self, f"submod_{stage_idx}")

    def info(self) -> PipeInfo:
        """What `build_stage` wants to know."""
        return PipeInfo(self.graph, self.num_stages, self.has_loss_and_backward, self.values)

    def build_stage(self, stage_index: int, device: taeda.device | str, group: Any = None) -> _PipelineStage:
        """A stage, to give to a schedule."""
        return build_stage(self.get_stage_module(stage_index), stage_index, self.info(), device, group)

    def print_readable(self) -> None:
        """Prints the code of every stage."""
        for index in range(self.num_stages):
            print(f"# stage {index}\n{self.get_stage_module(index).code}")


def pipeline(
    module: nn.Module,
    mb_args: tuple[Any, ...],
    mb_kwargs: dict[str, Any] | None = None,
    split_spec: dict[str, SplitPoint] | None = None,
    split_policy: Callable[[fx.GraphModule], fx.GraphModule] | None = None,
) -> Pipe:
    """Splits a model into stages: at the calls of `pipe_split`, or at the submodules that ``split_spec`` names.

    The arguments are those of one microbatch; the model is recorded on them as `taeda.export.export` does. Weights
    that several stages use are in each of them.

    Args:
        split_policy: puts calls of `pipe_split` into the recorded graph, a `GraphModule`, and returns it.

    Raises:
        ValueError: both ways to split, or a policy that changes what is computed.
    """
    if split_spec is not None and split_policy is not None:
        raise ValueError("taeda.distributed.pipelining.pipeline: give split_spec or split_policy, not both")
    marks: list[set[str]] = []
    handles = annotate_split_points(module, split_spec or {})
    _local.marks = marks
    try:
        program = export(module, tuple(mb_args), dict(mb_kwargs or {}))
    finally:
        _local.marks = None
        for handle in handles:
            handle.remove()
    return _cut(module, program, marks if split_policy is None else _chosen(program, split_policy))


def _chosen(program: ExportedProgram, policy: Callable[[fx.GraphModule], fx.GraphModule]) -> list[set[str]]:
    """Where a policy splits: for each `pipe_split` that it put into the graph, the nodes before."""
    known = {node.name for node in program.graph.nodes}
    marks: list[set[str]] = []
    before: set[str] = set()
    for node in policy(program.module(check_guards=False)).graph.nodes:
        if node.target is pipe_split:
            marks += [set(before)] if before and before not in marks else []
        elif node.op.startswith("call_"):
            if node.name not in known:
                raise ValueError(
                    f"taeda.distributed.pipelining.pipeline: split_policy put {node.name} into the graph, where only "
                    "calls of pipe_split are wanted"
                )
            before.add(node.name)
    return marks


def _cut(module: nn.Module, program: ExportedProgram, marks: list[set[str]]) -> Pipe:
    nodes = [node for node in program.graph.nodes if node.op not in ("placeholder", "output")]
    stage_of = {node: sum(node.name not in before for before in marks) for node in nodes}
    given = [node for node in program.graph.nodes if node.op == "placeholder"]
    targets = _state_of(program, given)
    user = [node for node in given if node not in targets]
    output = next(node for node in program.graph.nodes if node.op == "output")
    results = [one for one in pytree.tree_flatten(output.args[0])[0]]
    count = len(marks) + 1
    made = {node: 0 for node in user} | stage_of
    used = [_used_by(program.graph, stage_of, index) for index in range(count)]
    used[-1] += [one for one in results if isinstance(one, Node) and one not in used[-1]]
    inputs = [user] + [[node for node in used[index] if node in made and made[node] < index]
                       for index in range(1, count)]  # fmt: skip
    outputs = [[node for node in made if made[node] == index and any(node in one for one in inputs[index + 1 :])]
               for index in range(count - 1)]  # fmt: skip
    tensors = {name: _attribute(module, program, name) for name in targets.values()}
    stages = [
        _stage_module(index, program, stage_of, inputs[index], targets, tensors,
                      results if index == count - 1 else outputs[index], type(module).__name__)
        for index in range(count)
    ]  # fmt: skip
    outputs.append([one for one in results if isinstance(one, Node)])
    return Pipe(stages, Values(inputs, outputs, made), results, program.graph)


def _state_of(program: ExportedProgram, given: list[Node]) -> dict[Node, str]:
    """The parameters, buffers and constants among the graph's inputs, and their names."""
    names = {spec.arg.name: spec.target for spec in program.graph_signature.input_specs
             if spec.kind is not InputKind.USER_INPUT}  # fmt: skip
    return {node: str(names[node.name]) for node in given if node.name in names}


def _used_by(graph: fx.Graph, stage_of: dict[Node, int], index: int) -> list[Node]:
    """What the nodes of a stage use, once each."""
    used: dict[Node, None] = {}
    for node in graph.nodes:
        if stage_of.get(node) == index:
            used.update(dict.fromkeys(node.all_input_nodes))
    return list(used)


def _attribute(module: nn.Module, program: ExportedProgram, name: str) -> Any:
    """The model's own tensor, so that training the stage trains the model."""
    owner, _, leaf = name.rpartition(".")
    with contextlib.suppress(AttributeError):
        return getattr(module.get_submodule(owner), leaf)
    return program.constants[name]


def _stage_module(
    index: int, program: ExportedProgram, stage_of: dict[Node, int], inputs: list[Node], targets: dict[Node, str],
    tensors: dict[str, Any], results: list[Any], name: str,
) -> fx.GraphModule:  # fmt: skip
    graph, root = fx.Graph(), nn.Module()
    copies: dict[Node, Node] = {node: graph.placeholder(node.name) for node in inputs}

    def here(node: Node) -> Node:
        if node not in copies:
            _place(root, targets[node], tensors[targets[node]])
            copies[node] = graph.get_attr(targets[node])
        return copies[node]

    for node in program.graph.nodes:
        if stage_of.get(node) == index:
            for used in node.all_input_nodes:
                here(used)
            copies[node] = graph.node_copy(node, here)
    told = [map_arg(one, here) if isinstance(one, Node) else one for one in results]
    graph.output(told[0] if len(told) == 1 else tuple(told))
    return fx.GraphModule(root, graph, f"{name}_{index}")


def _place(root: nn.Module, path: str, value: Any) -> None:
    """Puts a tensor at a path of nested modules."""
    *owners, leaf = path.split(".")
    for owner in owners:
        if not hasattr(root, owner):
            root.add_module(owner, nn.Module())
        root = getattr(root, owner)
    if isinstance(value, nn.Parameter):
        root.register_parameter(leaf, value)
    elif isinstance(value, Tensor):
        root.register_buffer(leaf, value)
    else:
        setattr(root, leaf, value)
