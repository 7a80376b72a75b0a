"""``unflatten``: an exported program with the modules of the original again, as far as its calls show them."""

from __future__ import annotations

import contextlib
import operator
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from taeda import Tensor, nn
from taeda.export._regions import inlined
from taeda.export.exported_program import ExportedProgram, ModuleCallSignature, NestedModule, codegen_of
from taeda.export.graph_signature import ConstantArgument
from taeda.fx._pytree import tree_flatten_spec
from taeda.fx._symbolic_trace import is_fx_tracing
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.interpreter import Interpreter
from taeda.fx.node import Node, map_aggregate, map_arg
from taeda.utils import _pytree as pytree

InterpreterModule = GraphModule


@contextlib.contextmanager
def _disable_interpreter() -> Iterator[None]:
    """Within, modules run their code: they always do."""
    yield


class FlatArgsAdapter:
    """Changes arguments that are nested differently into what the program takes; subclasses say how."""

    def adapt(
        self, target_spec: pytree.TreeSpec, input_spec: pytree.TreeSpec, input_args: list[Any],
        metadata: dict[str, Any] | None = None, obj: Any | None = None,
    ) -> list[Any]:  # fmt: skip
        """The leaves that ``target_spec`` wants, of those that were given."""
        raise NotImplementedError(f"{type(self).__name__} must define adapt")


class UnflattenedModule(nn.Module):
    """A program as a tree of modules, each with its parameters, buffers and part of the graph.

    A module that is called more than once is one module where all calls do the same; else those that do something else
    are modules of their own, which are named by the number of the call: ``name@1``, ``name@2`` and so on.
    """

    def __init__(self, export_module: ExportedProgram, flat_args_adapter: FlatArgsAdapter | None = None) -> None:
        super().__init__()
        self.flat_args_adapter = flat_args_adapter
        self._program = export_module
        flat = inlined(export_module).module(check_guards=False)
        self._in_spec: Any = flat._in_spec
        self._out_spec: Any = flat._out_spec
        copies = _own_state(flat)
        _read_in_place(flat.graph)
        self.module_call_graph = export_module.module_call_graph
        calls = {entry.fqn: entry.signature for entry in export_module.module_call_graph if entry.fqn}
        flat.__dict__["_calls"] = {path: signature for path, signature in calls.items() if signature is not None}
        top = _group(flat, flat.graph, "")
        _add_state(top, flat)
        for path, tensor in export_module.state_dict.items():  # other names of what the graph fetches
            if id(tensor) in copies and path not in flat.state_dict(keep_vars=True):
                _place(top, path, copies[id(tensor)])
        for name, module in top.named_children():
            self.add_module(name, module)
        for name, parameter in top.named_parameters(recurse=False, remove_duplicate=False):
            self.register_parameter(name, parameter)
        for name, buffer in top.named_buffers(recurse=False, remove_duplicate=False):
            self.register_buffer(name, buffer, persistent=name not in top._non_persistent_buffers_set)
        for node in top.graph.nodes:
            outer = str(node.target).partition(".")[0] if node.op == "get_attr" else ""
            if outer and not hasattr(self, outer):
                self.__dict__[outer] = getattr(top, outer)  # a constant
        self._top: Any
        self.__dict__["_top"] = top  # whose code runs on this module
        self.graph = top.graph
        nn.Module.train(self, export_module.training)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Takes and gives what the original module did."""
        if is_fx_tracing():
            leaves = tree_flatten_spec((args, kwargs), self._in_spec)
            return pytree.tree_unflatten(Interpreter(self, graph=self.graph).run(*leaves), self._out_spec)
        leaves, spec = pytree.tree_flatten((args, kwargs))
        if spec != self._in_spec:
            if self.flat_args_adapter is None:
                raise TypeError(
                    f"taeda.export.unflatten: the program takes arguments nested as {self._in_spec}; got {spec}"
                )
            leaves = self.flat_args_adapter.adapt(self._in_spec, spec, leaves)
        return pytree.tree_unflatten(type(self._top).forward(self, *leaves), self._out_spec)

    def print_readable(self, print_output: bool = True, **options: Any) -> str:
        """The code of this module and of those in it."""
        return self._top.print_readable(print_output, **options)


def unflatten(module: ExportedProgram, flat_args_adapter: FlatArgsAdapter | None = None) -> UnflattenedModule:
    """The program as a tree of modules.

    Args:
        module: the program.
        flat_args_adapter: for calls with arguments that are nested differently.
    """
    return UnflattenedModule(module, flat_args_adapter)


class _Call(NamedTuple):
    """A call of a module: the module's path, and how often it had been called before."""

    path: str
    number: int

    def name(self) -> str:
        return f"{self.path}@{self.number}" if self.number else self.path


def _below(path: str, node: Node) -> _Call | None:
    """The outermost call of a module within ``path`` that a node is part of; None if there is none."""
    prefix = f"{path}." if path else ""
    for key, (inner, *_) in node.meta.get("nn_module_stack", {}).items():
        if inner.startswith(prefix) and inner not in ("", path):
            number = key.rpartition("@")[2] if "@" in key else ""
            return _Call(inner, int(number) if number.isdigit() else 0)
    return None


def _group(source: nn.Module, graph: Graph, path: str, nodes: list[Node] | None = None,
           inputs: Sequence[Node | None] | None = None, outputs: list[Any] | None = None,
           as_tuple: bool = False) -> GraphModule:  # fmt: skip
    """A module for part of a graph, with modules in it for the parts that its children computed."""
    nodes = [n for n in graph.nodes if n.op != "output"] if nodes is None else nodes
    made = Graph()
    values: dict[Node, Node] = {}
    root = nn.Module()
    for i, given in enumerate(inputs or []):
        taken = given is None or given in values
        placeholder = made.placeholder(f"input_{i}" if taken else given.name)  # type: ignore[union-attr]
        placeholder.meta["val"] = None  # of a constant
        if given is not None:
            placeholder.meta = dict(given.meta)
            values[given] = placeholder
    runs = _runs(nodes, path)
    for call, run in runs:
        if call is None:
            for node in run:
                values[node] = _copy(made, root, source, node, values, path)
            continue
        _call(made, root, source, graph, call, run, values, path)
    if outputs is None:
        made.output(map_arg(graph.output_node().args[0], lambda n: values[n]))
    elif len(outputs) == 1 and not as_tuple:
        made.output(values[outputs[0]])
    else:
        made.output(tuple(values[n] if isinstance(n, Node) else n for n in outputs))
    made.eliminate_dead_code(lambda node: node.op == "call_module" or node.is_impure())
    return GraphModule(root, made, "InterpreterModule")


def _runs(nodes: list[Node], path: str) -> list[tuple[_Call | None, list[Node]]]:
    """The nodes of each call in turn, and those between calls; what fetches attributes comes first."""
    fetched = [node for node in nodes if node.op == "get_attr"]
    runs: list[tuple[_Call | None, list[Node]]] = [(None, fetched)] if fetched else []
    for node in nodes:
        call = None if node.op == "placeholder" else _below(path, node)
        if node.op == "get_attr":
            continue
        if runs and runs[-1][0] == call and runs[-1][1] is not fetched:
            runs[-1][1].append(node)
        else:
            runs.append((call, [node]))
    return runs


def _copy(made: Graph, root: nn.Module, source: nn.Module, node: Node, values: dict[Node, Node], path: str) -> Node:
    twin = made.node_copy(node, lambda n: values[n])
    if node.op == "get_attr":
        name = str(node.target).removeprefix(f"{path}.") if path else str(node.target)
        twin.target = name
        _place(root, name, _found(source, str(node.target)))
    return twin


def _found(source: Any, path: str) -> Any:
    for part in path.split("."):
        source = getattr(source, part)
    return source


def _module_at(root: nn.Module, path: str) -> Any:
    for part in path.split("."):
        root = root._modules.get(part)  # type: ignore[assignment]
        if root is None:
            return None
    return root


def _owner(root: nn.Module, path: str) -> Any:
    """The module at a path, made where it is missing."""
    for part in path.split(".") if path else ():
        if part not in root._modules:
            root.add_module(part, nn.Module())
        root = root._modules[part]  # type: ignore[assignment]
    return root


def _place(root: nn.Module, path: str, value: Any) -> None:
    outer, _, name = path.rpartition(".")
    root = _owner(root, outer)
    if isinstance(value, nn.Parameter):
        root.register_parameter(name, value)
    elif isinstance(value, Tensor):
        root.register_buffer(name, value)
    else:
        setattr(root, name, value)


def _call(made: Graph, root: nn.Module, source: nn.Module, graph: Graph, call: _Call, run: list[Node],
          values: dict[Node, Node], path: str) -> None:  # fmt: skip
    child = call.path
    inside = set(run)
    inputs: dict[Node, None] = {}
    for node in run:
        for value in node.all_input_nodes:
            if value not in inside:
                inputs[value] = None
    own = [n for n in inputs if n.op == "get_attr" and str(n.target).startswith(f"{child}.")]
    given = [n for n in inputs if n not in own]
    results = [n for n in run if any(user not in inside for user in n.users)]
    signature = source.__dict__["_calls"].get(call.name())
    if signature is not None and _fits(signature, graph, given, results):
        _call_nested(made, root, source, graph, call, run, values, path, signature)
        return
    module = _group(source, graph, child, [*own, *run], given, results)
    target = _put(root, child.removeprefix(f"{path}.") if path else child, call.number, module)
    called = made.call_module(target, tuple(values[n] for n in given))
    if len(results) == 1:
        values[results[0]] = called
        called.meta["val"] = results[0].meta.get("val")
        return
    called.meta["val"] = tuple(node.meta.get("val") for node in results)
    for i, node in enumerate(results):
        values[node] = made.call_function(operator.getitem, (called, i))
        values[node].meta["val"] = node.meta.get("val")


def _put(root: nn.Module, name: str, number: int, module: Any) -> str:
    """Makes a part of the graph a module at its path if it is the first there; else one that does the same is taken, or
    it stands at ``path@number``. Gives where it stands."""
    outer, _, last = name.rpartition(".")
    beside = _owner(root, outer)._modules
    for known in [key for key in beside if key.partition("@")[0] == last]:
        if hasattr(beside[known], "graph") and _is_same(beside[known], module):
            return f"{outer}.{known}" if outer else known
    target = name
    while hasattr(known := _module_at(root, target), "graph"):
        number = max(number, 1)
        target, number = f"{name}@{number}", number + 1
    outer, _, last = target.rpartition(".")
    if target == name:
        _keep(known, module)
    else:
        _share(_module_at(root, name), module)
    _owner(root, outer).register_module(last, module)
    return target


def _share(first: Any, later: Any) -> None:
    """Has a later call of a module use the modules in the first one: who swaps one there swaps it for both."""
    for node in later.graph.nodes:
        if node.op == "call_module":
            name, _, number = str(node.target).partition("@")
            node.target = _put(first, name, int(number or 0), _module_at(later, str(node.target)))
    _keep(later, first)
    for name in later._modules:  # which the instance has as its own, too
        later.__dict__.pop(name, None)
    later.__dict__["_modules"] = first._modules
    later.recompile()


def _keep(former: Any, module: Any) -> None:
    """Gives a module what stood at its path: what others called or read there before it was called itself."""
    if former is None:
        return
    for name, tensor in [*former._parameters.items(), *former._buffers.items()]:
        if not hasattr(module, name):
            _place(module, name, tensor)
    for name, child in former._modules.items():
        if name not in module._modules:
            module.register_module(name, child)
        elif not hasattr(module._modules[name], "graph"):
            _keep(module._modules[name], child)
            module.register_module(name, child)
        else:
            _keep(child, module._modules[name])


def _own_state(flat: nn.Module) -> dict[int, Tensor]:
    """Copies parameters and buffers, which the program keeps; those that are one stay one. Gives the copies by the id
    of what they were made of."""
    copies: dict[int, Tensor] = {}
    for module in flat.modules():
        for name, parameter in module._parameters.items():
            if parameter is not None:
                plain = parameter.detach().clone()
                copy = copies.setdefault(id(parameter), nn.Parameter(plain, parameter.requires_grad))
                module._parameters[name] = copy  # type: ignore[assignment]
        for name, buffer in module._buffers.items():
            if buffer is not None:
                module._buffers[name] = copies.setdefault(id(buffer), buffer.detach().clone())
    return copies


def _read_in_place(graph: Graph) -> None:
    """Lets what follows an op that writes to a buffer read the buffer, so that modules need not be given it."""
    for node in graph.nodes:
        schema = getattr(node.target, "_schema", None)
        first = node.args[0] if node.args else None
        written = schema is not None and schema.name.endswith("_") and schema.is_mutable
        if written and isinstance(first, Node) and first.op == "get_attr":
            node.replace_all_uses_with(first, lambda user: user.op != "output")


# --- modules that are called as the original's were
def _fits(signature: ModuleCallSignature, graph: Graph, given: list[Node], results: list[Node]) -> bool:
    """Whether what a part takes and gives is what the call of the module did."""
    takes = {arg.name for arg in signature.inputs if not isinstance(arg, ConstantArgument)}
    gives = {arg.name for arg in signature.outputs if not isinstance(arg, ConstantArgument)}
    there = {node.name for node in graph.nodes}
    fits = all(n.name in takes or n.op == "get_attr" for n in given) and all(n.name in gives for n in results)
    return fits and (takes | gives) <= there


def _call_nested(made: Graph, root: nn.Module, source: nn.Module, graph: Graph, call: _Call, run: list[Node],
                 values: dict[Node, Node], path: str, signature: ModuleCallSignature) -> None:  # fmt: skip
    child = call.path
    by_name = {node.name: node for node in graph.nodes}
    plain = lambda arg: isinstance(arg, ConstantArgument)
    inputs = [None if plain(arg) else by_name[arg.name] for arg in signature.inputs]
    outputs = [arg.value if plain(arg) else by_name[arg.name] for arg in signature.outputs]
    inside = set(run)
    needed = {value: None for node in run for value in node.all_input_nodes if value not in inside}
    fetched = [value for value in needed if value not in inputs]
    flat = _group(source, graph, child, [*fetched, *run], inputs, outputs, as_tuple=True)
    flat.graph.set_codegen(codegen_of(signature))
    module = NestedModule(flat, flat.graph, "InterpreterModule")
    module._in_spec, module._out_spec = signature.in_spec, signature.out_spec
    given = [arg.value if node is None else values[node] for arg, node in zip(signature.inputs, inputs, strict=True)]
    args, kwargs = pytree.tree_unflatten(given, signature.in_spec)
    target = _put(root, child.removeprefix(f"{path}.") if path else child, call.number, module)
    called = made.call_module(target, tuple(args), kwargs)
    plain_values = [v.meta.get("val") if isinstance(v, Node) else v for v in outputs]
    called.meta["val"] = pytree.tree_unflatten(plain_values, signature.out_spec)
    places = pytree.tree_unflatten(range(len(outputs)), signature.out_spec)
    for keys, i in pytree.tree_leaves_with_path(places):
        if isinstance(outputs[i], Node):
            values[outputs[i]] = _taken(made, called, keys)


def _taken(made: Graph, value: Node, keys: Any) -> Node:
    """What stands at a path in a nested result."""
    for key in keys:
        if hasattr(key, "name"):
            part = made.call_function(getattr, (value, key.name))
        else:
            part = made.call_function(operator.getitem, (value, key.key if hasattr(key, "key") else key.idx))
        part.meta["val"] = key.get(value.meta["val"])
        value = part
    return value


def _add_state(top: nn.Module, flat: nn.Module) -> None:
    """Puts parameters and buffers that no op asks for where the original has them."""
    left_out = {f"{p}.{n}" if p else n for p, m in flat.named_modules() for n in m._non_persistent_buffers_set}
    there = {path for path, _ in top.named_parameters(remove_duplicate=False)}
    there |= {path for path, _ in top.named_buffers(remove_duplicate=False)}
    tensors = *flat.named_parameters(remove_duplicate=False), *flat.named_buffers(remove_duplicate=False)
    for path, tensor in tensors:
        if path not in there:
            _place(top, path, tensor)
    buffers = {path for path, _ in flat.named_buffers(remove_duplicate=False)}
    for path, tensor in list(top.named_buffers(remove_duplicate=False)):
        outer, _, name = path.rpartition(".")
        owner, original = _owner(top, outer), re.sub(r"@\d+", "", path)
        if original in left_out:
            owner._non_persistent_buffers_set.add(name)
        elif original not in buffers:  # a constant
            del owner._buffers[name]
            owner.__dict__[name] = tensor


def _is_same(a: Any, b: Any) -> bool:
    """Whether two parts do the same with the same tensors."""
    return _outline(a) == _outline(b)


def _outline(module: Any) -> list[Any]:
    """A graph without the names of its nodes."""
    numbers: dict[Node, str] = {}
    lines: list[Any] = []
    for node in module.graph.nodes:
        numbers[node] = f"%{len(numbers)}"
        target: Any = None if node.op in ("placeholder", "output") else node.target
        if node.op == "get_attr":
            target = id(_found(module, str(node.target)))
        inner = _outline(_module_at(module, str(node.target))) if node.op == "call_module" else None
        lines.append((node.op, target, map_aggregate((node.args, node.kwargs), lambda n: numbers.get(n, n)), inner))  # type: ignore[call-overload]
    return lines
