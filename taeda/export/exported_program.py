"""`ExportedProgram`: a graph of ops that stands by itself, with its parameters and what is known of its inputs."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.export._shown_sizes import show_sizes
from taeda.export._verifier import TrainingIRVerifier, Verifier
from taeda.export.dynamic_shapes import UNLIMITED
from taeda.export.graph_signature import ConstantArgument, ExportGraphSignature, InputKind, OutputKind
from taeda.export.graph_signature import InputSpec as InputSpec
from taeda.export.graph_signature import OutputSpec as OutputSpec
from taeda.export.graph_signature import TensorArgument as TensorArgument
from taeda.export.guards import CheckInputs, InputGuard, SizeName, ValueRanges, bounds_of
from taeda.fx._lazy_graph_module import _LazyGraphModule
from taeda.fx._python_code import CodeGen, _PyTreeCodeGen, _PyTreeInfo
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node
from taeda.fx.passes.infra.pass_base import PassResult
from taeda.fx.passes.infra.pass_manager import PassManager
from taeda.utils import _pytree as pytree

__all__ = ["ExportedProgram", "ModuleCallEntry", "ModuleCallSignature"]


@dataclasses.dataclass
class ModuleCallSignature:
    """How a module is called: its arguments and results, and how they are nested."""

    inputs: list[Any]
    outputs: list[Any]
    in_spec: pytree.TreeSpec
    out_spec: pytree.TreeSpec
    forward_arg_names: list[str] | None = None

    def replace_all_uses_with(self, original_node: Node, new_node: Node) -> None:
        """Takes ``new_node`` wherever ``original_node`` is named."""
        for arg in (*self.inputs, *self.outputs):
            if arg.name == original_node.name:
                arg.name = new_node.name


@dataclasses.dataclass
class ModuleCallEntry:
    """A module by its path, and how it is called."""

    fqn: str
    signature: ModuleCallSignature | None = None


@dataclasses.dataclass
class CallSpec:
    """How the arguments ``(args, kwargs)`` and the result are nested."""

    in_spec: pytree.TreeSpec | None
    out_spec: pytree.TreeSpec | None


class NestedModule(GraphModule):
    """A module whose arguments must be nested as they were in the example."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        spec = self.__dict__.get("_in_spec")
        if spec is not None and len(args) > spec.child(0).num_children and spec.child(0).type is tuple:
            raise ValueError(
                f"taeda.export: the program takes arguments nested as {spec}; got {len(args)} without a keyword"
            )
        return super().__call__(*args, **kwargs)


class _ProgramModule(NestedModule):
    """An exported program as a module."""

    def train(self, mode: bool = True) -> Any:
        """Refused: what training changes stands in the graph."""
        raise NotImplementedError("taeda.export: an exported program cannot change its mode; export the module in it")

    def eval(self) -> Any:
        """Refused: what training changes stands in the graph."""
        raise NotImplementedError("taeda.export: an exported program cannot change its mode; export the module in it")


class ExportedProgram:
    """What `export` gives.

    Attributes:
        graph_module, graph: calls of ops; inputs are parameters, buffers, constants, then what the user gives.
        graph_signature: what each input and output is.
        state_dict: parameters and persistent buffers by path, shared with the module.
        constants: other tensors by path.
        range_constraints: by the names of sizes that vary, their ranges.
        example_inputs: ``(args, kwargs)``.
        guards: conditions on sizes of inputs, which `module` checks at each call.
    """

    def __init__(
        self, root: nn.Module | dict[str, Any], graph: Graph, graph_signature: ExportGraphSignature,
        state_dict: dict[str, Tensor], range_constraints: dict[str, ValueRanges],
        module_call_graph: list[ModuleCallEntry], example_inputs: Any = None, constants: dict[str, Any] | None = None,
        *, verifiers: Any = None, guards: list[InputGuard] | None = None, sizes: list[SizeName] | None = None,
        training: bool = False,
    ) -> None:  # fmt: skip
        self._graph_module = _LazyGraphModule(root, graph)
        self._signature = graph_signature
        self._state_dict = dict(state_dict)
        self._constants = dict(constants or {})
        self._module_call_graph = module_call_graph
        self._example_inputs = example_inputs
        self.guards = list(guards or [])
        self.sizes = list(sizes or [])
        self._range_constraints = dict(range_constraints) or _ranges(self.sizes, self.guards)
        self.training = training
        self.verifiers = list(verifiers or ())
        show_sizes(self._graph_module, self.sizes)

    @property
    def graph_module(self) -> GraphModule:
        """The graph as a module of flat inputs."""
        return self._graph_module

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph_module.graph

    @property
    def graph_signature(self) -> ExportGraphSignature:
        """What each input and output is."""
        return self._signature

    @property
    def state_dict(self) -> dict[str, Any]:
        """Parameters and persistent buffers by path."""
        return self._state_dict

    @property
    def constants(self) -> dict[str, Any]:
        """Tensors by path that are no state."""
        return self._constants

    tensor_constants = constants

    @property
    def range_constraints(self) -> dict[str, ValueRanges]:
        """The ranges of the sizes that vary, by name."""
        return self._range_constraints

    @property
    def module_call_graph(self) -> list[ModuleCallEntry]:
        """How the program, and the modules in it that were asked for, are called."""
        return self._module_call_graph

    @property
    def example_inputs(self) -> Any:
        """The example: ``(args, kwargs)``."""
        return self._example_inputs

    @example_inputs.setter
    def example_inputs(self, value: Any) -> None:
        if value is not None:
            _check_example(value, self.call_spec.in_spec)
        self._example_inputs = value

    @property
    def call_spec(self) -> CallSpec:
        """How arguments and results are nested."""
        whole = self._module_call_graph[0].signature
        return CallSpec(None, None) if whole is None else CallSpec(whole.in_spec, whole.out_spec)

    @property
    def verifier(self) -> type[Verifier]:
        """The class whose checks the program passes."""
        return self.verifiers[0] if self.verifiers else TrainingIRVerifier

    @property
    def dialect(self) -> str:
        """'ATEN' behind `run_decompositions`, 'TRAINING' while ops may write to their arguments."""
        return self.verifier.dialect

    def parameters(self) -> Iterator[nn.Parameter]:
        """The parameters."""
        for _, parameter in self.named_parameters():
            yield parameter

    def named_parameters(self) -> Iterator[tuple[str, nn.Parameter]]:
        """The parameters with their paths."""
        for path in self._signature.parameters:
            yield path, self._state_dict[path]  # type: ignore[misc]

    def buffers(self) -> Iterator[Tensor]:
        """The buffers."""
        for _, buffer in self.named_buffers():
            yield buffer

    def named_buffers(self) -> Iterator[tuple[str, Tensor]]:
        """The buffers with their paths."""
        left_out = set(self._signature.non_persistent_buffers)
        for path in self._signature.buffers:
            yield path, self._constants[path] if path in left_out else self._state_dict[path]

    def tensor_of(self, path: str) -> Any:
        """The parameter, buffer or constant at a path."""
        return self._state_dict[path] if path in self._state_dict else self._constants[path]

    def module(self, check_guards: bool = True) -> GraphModule:
        """A module that takes and gives what the exported one did, and has its parameters.

        Args:
            check_guards: check sizes of arguments at each call.
        """
        return _as_module(self, check_guards)

    def run_decompositions(
        self, decomp_table: dict[Any, Callable[..., Any]] | None = None, decompose_custom_triton_ops: bool = False
    ) -> ExportedProgram:
        """The program in fewer kinds of ops, none of which writes to an argument.

        Args:
            decomp_table: a function of tensors for each op to take apart; by default what `default_decompositions` has.
                With an empty table composites stay.
            decompose_custom_triton_ops: there are none.
        """
        from taeda.export._decompose import decompose

        return decompose(self, decomp_table)

    def validate(self) -> None:
        """Checks that graph and signature fit.

        Raises:
            SpecViolationError: they do not.
        """
        for verifier in self.verifiers or [self.verifier]:
            verifier().check(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("taeda.export: an ExportedProgram is no function; call what its module() gives")

    def __deepcopy__(self, memo: Any) -> ExportedProgram:
        return self._with(copy.deepcopy(self.graph, memo), copy.deepcopy(self._signature), self._graph_module)

    def _with(self, graph: Graph, signature: ExportGraphSignature, root: Any, **changes: Any) -> ExportedProgram:
        """The same with another graph."""
        return ExportedProgram(
            root, graph, signature, changes.get("state_dict", self._state_dict), self._range_constraints,
            copy.copy(self._module_call_graph), self._example_inputs, changes.get("constants", self._constants),
            guards=self.guards, sizes=self.sizes, training=self.training,
            verifiers=changes.get("verifiers", self.verifiers),
        )  # fmt: skip

    def _update(
        self, graph_module: GraphModule, graph_signature: ExportGraphSignature, *, state_dict: Any = None,
        constants: Any = None, verifiers: list[type[Verifier]] | None = None,
    ) -> ExportedProgram:  # fmt: skip
        """The program with the graph that a pass made of its own."""
        changes = {"state_dict": state_dict, "constants": constants, "verifiers": verifiers}
        changed = {name: value for name, value in changes.items() if value is not None}
        made = self._with(copy.deepcopy(graph_module.graph), graph_signature, graph_module, **changed)
        made.graph_module.meta.update(graph_module.meta)
        return made

    def _transform_do_not_use(self, *passes: Callable[[GraphModule], PassResult | None]) -> ExportedProgram:
        """The program behind passes over its graph module, which leave its inputs and outputs in their places.

        Args:
            passes: each takes the graph module and gives a `PassResult`.
        """
        result = PassManager(list(passes))(self.graph_module)
        module: Any = result.graph_module
        if module is self.graph_module and not result.modified:
            return self
        names = [node.name for node in module.graph.find_nodes(op="placeholder")]
        signature = copy.deepcopy(self._signature)
        given = [spec.arg for spec in signature.input_specs]
        made = list(module.graph.output_node().args[0])
        if len(names) != len(given) or len(made) != len(signature.output_specs):
            raise AssertionError(
                f"ExportedProgram._transform_do_not_use: the program has {len(given)} inputs and "
                f"{len(signature.output_specs)} outputs; behind the passes it has {len(names)} and {len(made)}"
            )
        renamed = {arg.name: name for arg, name in zip(given, names, strict=True)}
        for arg, name in zip(given, names, strict=True):
            arg.name = name
        for spec, value in zip(signature.output_specs, made, strict=True):
            if isinstance(value, Node) and hasattr(spec.arg, "name"):
                spec.arg.name = value.name
            if spec.kind is OutputKind.USER_INPUT_MUTATION:
                spec.target = renamed.get(str(spec.target), spec.target)
        return self._update(module, signature)

    def __str__(self) -> str:
        code, signature = (
            "\n".join(f"    {line}" for line in str(part).splitlines())
            for part in (self._graph_module.print_readable(False), f"\n{self._signature}".strip("\n"))
        )
        ranges = ", ".join(f"{name}: {limits}" for name, limits in self._range_constraints.items())
        return (
            f"ExportedProgram:\n{code}\n    \nGraph signature: \n{signature}\n    \nRange constraints: {{{ranges}}}\n"
        )

    __repr__ = __str__


def _ranges(sizes: list[SizeName], guards: list[InputGuard]) -> dict[str, ValueRanges]:
    found: dict[str, ValueRanges] = {}
    names = {(size.node, size.dim): size.label or size.where for size in sizes}
    limits = [(names[size.node, size.dim], ValueRanges(size.low, size.high)) for size in sizes]
    for guard in guards:
        said = bounds_of(guard.expression)
        if said is not None and said[0] in names:
            limits.append((names[said[0]], said[1]))
    for name, limit in limits:
        before = found.get(name, ValueRanges(0, UNLIMITED))
        found[name] = ValueRanges(max(before.lower, limit.lower), min(before.upper, limit.upper))
    return found


def _as_module(program: ExportedProgram, check: bool) -> GraphModule:
    """Fetches parameters where the graph has inputs for them, and writes back what it returns as new values."""
    signature, source = program.graph_signature, program.graph
    targets = {s.arg.name: str(s.target) for s in signature.input_specs if s.kind is not InputKind.USER_INPUT}
    graph = Graph()
    values: dict[Node, Any] = {}
    users = [n for n in source.nodes if n.op == "placeholder" and n.name not in targets]
    for node in users:
        values[node] = graph.node_copy(node)
    for node in source.nodes:
        if node.op == "placeholder" and node.name in targets:
            fetched = graph.get_attr(targets[node.name])
            fetched.meta = copy.copy(node.meta)
            values[node] = fetched
    root = nn.Module()
    if check:
        shapes = {n.name: tuple(n.meta["val"].shape) for n in users if isinstance(n.meta.get("val"), Tensor)}
        names = [n.name for n in users]
        fixed = {s.arg.name: s.arg.value for s in signature.input_specs if isinstance(s.arg, ConstantArgument)}
        root.add_module("_guards_fn", CheckInputs(names, shapes, program.sizes, program.guards, fixed))
        graph.call_module("_guards_fn", tuple(values[n] for n in users))
    outputs = graph.graph_copy(source, values)
    results = _write_back(program, graph, list(outputs or ()), values)  # type: ignore[arg-type]
    graph.output(tuple(results))
    spec = program.module_call_graph[0].signature
    assert spec is not None
    graph.set_codegen(codegen_of(spec))
    _fill(root, program, graph)
    module = _ProgramModule(root, graph)
    _settle(module, program)
    module._in_spec, module._out_spec = spec.in_spec, spec.out_spec
    nn.Module.train(module, program.training)
    module.meta["exported"] = True
    if "custom" in program.graph_module.meta:
        module.meta["custom"] = program.graph_module.meta["custom"]
    return module


def codegen_of(spec: ModuleCallSignature) -> CodeGen:
    """What makes the code of a module that is called so."""
    names = list(spec.forward_arg_names or [])
    keywords = list(spec.in_spec.child(1).context or []) if spec.in_spec.num_children == 2 else []
    names = [n for n in names if n not in keywords] + keywords
    return _PyTreeCodeGen(_PyTreeInfo(names, spec.in_spec, spec.out_spec))


def _write_back(program: ExportedProgram, graph: Graph, results: list[Any], values: dict[Node, Any]) -> list[Any]:
    """Copies new values of buffers, parameters and inputs to where they belong; what is left is the user's."""
    inputs = {s.arg.name: n for s, n in zip(program.graph_signature.input_specs, program.graph.nodes)}
    by_target = {str(s.target): inputs[s.arg.name] for s in program.graph_signature.input_specs if s.target is not None}
    kept = []
    for spec, value in zip(program.graph_signature.output_specs, results):
        if spec.kind in (OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION):
            graph.call_function(taeda.ops.aten.copy_.default, (values[by_target[str(spec.target)]], value))
        elif spec.kind is OutputKind.USER_INPUT_MUTATION:
            graph.call_function(taeda.ops.aten.copy_.default, (values[inputs[str(spec.target)]], value))
        else:
            kept.append(value)
    return kept


def _fill(root: nn.Module, program: ExportedProgram, graph: Graph) -> None:
    for node in graph.find_nodes(op="get_attr"):
        path = str(node.target)
        if path in program.graph_module._modules:
            root.add_module(path, program.graph_module._modules[path])
            continue
        owner, name = root, path
        while "." in name:
            part, _, name = name.partition(".")
            if part not in owner._modules:
                owner.add_module(part, nn.Module())
            owner = owner._modules[part]  # type: ignore[assignment]
        value = program.tensor_of(path)
        if isinstance(value, nn.Parameter):
            owner.register_parameter(name, value)
        else:
            owner.register_buffer(name, value)


def _settle(module: nn.Module, program: ExportedProgram) -> None:
    """Constants are plain attributes, and some buffers are not saved."""
    left_out = set(program.graph_signature.non_persistent_buffers)
    plain = set(program.graph_signature.lifted_tensor_constants)
    for path, value in list(module.named_buffers(remove_duplicate=False)):
        owner: Any = module.get_submodule(path.rpartition(".")[0])
        name = path.rpartition(".")[2]
        if path in plain:
            del owner._buffers[name]
            owner.__dict__[name] = value
        elif path in left_out:
            owner._non_persistent_buffers_set.add(name)


def _check_example(value: Any, spec: pytree.TreeSpec | None) -> None:
    """Checks that an example is nested as the program's arguments; keywords may come in another order."""
    if not (
        isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], tuple) and isinstance(value[1], dict)
    ):
        raise ValueError(f"taeda.export: an example is a tuple of arguments and a dict of keywords; got {value!r}")
    if spec is None:
        return
    names = spec.child(1).context or []
    if set(names) != set(value[1]):
        raise ValueError(f"taeda.export: the program has the keywords {list(names)}; the example has {list(value[1])}")
    found = pytree.tree_structure((value[0], {name: value[1][name] for name in names}))
    if found != spec:
        raise ValueError(f"taeda.export: the program takes arguments nested as {spec}; the example has {found}")


def user_constant(spec: Any) -> bool:
    """Whether an input or output is a constant."""
    return isinstance(spec.arg, ConstantArgument)
