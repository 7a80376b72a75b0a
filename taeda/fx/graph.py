"""`Graph`: the steps of a computation, in order."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from taeda.fx._naming import Namespace, name_of_target, snake_case
from taeda.fx._python_code import CodeGen, PythonCode, TransformBody, write
from taeda.fx._python_code import _PyTreeCodeGen as _PyTreeCodeGen
from taeda.fx._python_code import _PyTreeInfo as _PyTreeInfo
from taeda.fx._readable import Reader
from taeda.fx.node import Argument, Node, NodeList, Target, map_aggregate, map_arg, nodes_in

__all__ = ["CodeGen", "Graph", "PythonCode"]

_NOTHING: Any = object()


class _Setting:
    """An attribute that has a new value from now on; as a context, until it ends."""

    def __init__(self, owner: Any, name: str, value: Any) -> None:
        self._before = owner, name, getattr(owner, name)
        setattr(owner, name, value)

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        setattr(*self._before)


class Graph:
    """The steps of a computation, each a `Node`, in the order of execution.

    `symbolic_trace` records one; it can also be built step by step::

        graph = fx.Graph()
        x = graph.placeholder("x")
        graph.output(graph.call_function(torch.relu, (x,)))
        module = fx.GraphModule({}, graph)

    Args:
        owning_module: the module that its call_module and get_attr steps name, if there is one.
        tracer_cls: the class of the tracer that records it.
        tracer_extras: kept for whoever reads ``_tracer_extras``.
    """

    def __init__(
        self,
        owning_module: Any = None,
        tracer_cls: type[Any] | None = None,
        tracer_extras: dict[str, Any] | None = None,
    ) -> None:
        self._root = Node(self, "", "root", "", (), {})
        self._names = Namespace()
        self._insert: Callable[[Node], None] = self._root.prepend
        self._count = 0
        self._owning_module = owning_module
        self._tracer_cls = tracer_cls
        self._tracer_extras = tracer_extras
        self._co_fields: dict[str, Any] = {}  # of the code that was traced: tracebacks name it
        self._codegen = CodeGen()

    @property
    def owning_module(self) -> Any:
        """The GraphModule whose graph this is, or None."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, module: Any) -> None:
        self._owning_module = module

    @property
    def nodes(self) -> NodeList:
        """The nodes in order; a loop over them may erase, move and insert."""
        return NodeList(self._root, self)

    def output_node(self) -> Node:
        """The output; RuntimeError without one."""
        found = next((node for node in reversed(self.nodes) if node.op == "output"), None)
        if found is None:
            raise RuntimeError("Graph.output_node: the graph has no output")
        return found

    def find_nodes(self, *, op: str, target: Target | None = None, sort: bool = True) -> list[Node]:
        """The nodes with this ``op`` and, for calls, this ``target``, in order."""
        return [n for n in self.nodes if n.op == op and (target is None or op == "output" or n.target == target)]

    # Making nodes

    def create_node(
        self, op: str, target: Target, args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None, name: str | None = None, type_expr: Any = None,
    ) -> Node:  # fmt: skip
        """Adds a node at the insertion point, by default the end.

        Args:
            op: what kind of node, see `Node`.
            target: what is called.
            args: the positional arguments.
            kwargs: the keyword arguments.
            name: what to call the node; numbered if taken, made from the target by default.
            type_expr: the annotation of the result.

        Raises:
            AssertionError: there is no such ``op``.
            ValueError: the target is of the wrong type.
        """
        node = Node(self, "", op, target, args or (), kwargs or {}, type_expr)
        node.name = self._names.create_name(name if name is not None else name_of_target(target), None)
        self._insert(node)
        self._count += 1
        for hook in getattr(self._owning_module, "_create_node_hooks", ()):
            hook(node)
        return node

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = _NOTHING) -> Node:
        """Adds a parameter of the function; ``*name`` and ``**name`` take what is left."""
        args = () if default_value is _NOTHING else (default_value,)
        return self.create_node("placeholder", name, args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """Adds a node that fetches a parameter, buffer or submodule by its dotted path; warns if there is none yet."""
        if self._owning_module is not None and self._missing(qualified_name):
            warnings.warn(
                f"Graph.get_attr: there is no {qualified_name} in the {type(self._owning_module).__name__} that owns "
                "this graph; add it before the graph runs",
                stacklevel=2,
            )
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(
        self, module_name: str, args: tuple[Argument, ...] | None = None, kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
    ) -> Node:  # fmt: skip
        """Adds a call of the submodule at a dotted path."""
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(
        self, method_name: str, args: tuple[Argument, ...] | None = None, kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
    ) -> Node:  # fmt: skip
        """Adds a call of a method of ``args[0]``."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self, the_function: Callable[..., Any], args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None, type_expr: Any = None, name: str | None = None,
    ) -> Node:  # fmt: skip
        """Adds a call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def output(self, result: Argument, type_expr: Any = None) -> Node:
        """Adds the end: the function returns ``result``."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Argument] = lambda node: node) -> Node:
        """Adds a copy of another graph's node; ``arg_transform`` gives this graph's node for each of its inputs."""
        args, kwargs = map_arg((node.args, node.kwargs), arg_transform)
        copied = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        copied.meta = copy.copy(node.meta)
        return copied

    def graph_copy(self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False) -> Argument | None:
        """Adds copies of all nodes of ``g`` but the output and those that ``val_map`` has an answer for.

        Args:
            g: the other graph.
            val_map: from its nodes to nodes of this graph; the copies are added to it.
            return_output_node: return ``g``'s output node too.

        Returns:
            The argument of ``g``'s output in terms of this graph, or None if ``g`` has none.
        """
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda value: val_map[value])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda value: val_map[value])
        return None

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Graph:
        memo = {} if memo is None else memo
        twin = Graph(tracer_cls=self._tracer_cls, tracer_extras=self._tracer_extras)
        memo[id(self)] = twin
        twin._co_fields = dict(self._co_fields)
        found: dict[Node, Node] = {}
        for node in self.nodes:
            if node.op == "output":  # which is called that whatever it was called here
                found[node] = twin.output(map_arg(node.args[0], lambda value: found[value]), node.type)
            else:
                found[node] = twin.node_copy(node, lambda value: found[value])
            found[node].meta = copy.deepcopy(node.meta, memo)
            memo[id(node)] = found[node]
        twin._codegen = copy.deepcopy(self._codegen, memo)
        return twin

    def __reduce__(self) -> tuple[Any, ...]:
        # Flat, so that a long graph needs no deep recursion. Like the files of the modules themselves, without meta.
        number = {node: _Ref(i) for i, node in enumerate(self.nodes)}
        steps = [
            (n.op, n.target, *map_arg((n.args, n.kwargs), lambda value: number[value]), n.name, n.type)
            for n in self.nodes
        ]
        return _from_steps, (steps, self._tracer_cls, self._codegen)

    # Changing it

    def inserting_before(self, n: Node | None = None) -> _Setting:
        """New nodes come before ``n``, by default before all others; use it with ``with``."""
        if n is None:
            return self.inserting_after(self._root)
        self._check_mine("inserting_before", n)
        return _Setting(self, "_insert", n.prepend)

    def inserting_after(self, n: Node | None = None) -> _Setting:
        """New nodes come after ``n``, by default after all others; use it with ``with``."""
        if n is None:
            return self.inserting_before(self._root)
        self._check_mine("inserting_after", n)
        last = n

        def insert(node: Node) -> None:
            nonlocal last
            last.append(node)
            last = node

        return _Setting(self, "_insert", insert)

    def _check_mine(self, function: str, node: Node) -> None:
        if node.graph is not self or node._erased:
            raise AssertionError(f"Graph.{function}: {node} is not a node of this graph")

    def erase_node(self, to_erase: Node) -> None:
        """Removes a node; RuntimeError if it has users, or belongs to another graph."""
        if to_erase.users:
            users = ", ".join(map(str, to_erase.users))
            raise RuntimeError(f"Graph.erase_node: {to_erase} is still used, by {users}; see replace_all_uses_with")
        if to_erase.graph is not self:
            raise RuntimeError(f"Graph.erase_node: {to_erase} belongs to another graph")
        if to_erase._erased:
            return
        for hook in getattr(self._owning_module, "_erase_node_hooks", ()):
            hook(to_erase)
        to_erase._unlink()
        to_erase._set((), {})
        to_erase._erased = True
        self._count -= 1

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Erases the nodes without users that do nothing but compute.

        Args:
            is_impure_node: which nodes do more, in place of `Node.is_impure`.

        Returns:
            Whether there were any.
        """
        self.lint()
        before = self._count
        for node in reversed(self.nodes):
            impure = node.is_impure() if is_impure_node is None else is_impure_node(node)
            if not node.users and not impure and node.op not in ("placeholder", "output"):
                self.erase_node(node)
        return self._count < before

    def lint(self) -> None:
        """Checks that the graph is well-formed.

        Raises:
            RuntimeError: a node uses one that comes later, or is not in the graph; names repeat; or the owning module
                lacks what a node names.
            ValueError: a target is of the wrong type.
        """
        seen: set[Node] = set()
        names: set[str] = set()
        for node in self.nodes:
            for value in nodes_in(node.args, node.kwargs):
                if value not in seen:
                    why = "is not in the graph" if value.graph is not self or value._erased else "comes later"
                    raise RuntimeError(f"Graph.lint: the argument {value} of {node} {why}")
                if node not in value.users:
                    raise RuntimeError(f"Graph.lint: {value} does not know its user {node}")
            if node.name in names:
                raise RuntimeError(f"Graph.lint: two nodes have the name {node}")
            if node.op == "call_function" and not callable(node.target):
                raise ValueError(f"Graph.lint: the target of {node} must be callable; got {type(node.target).__name__}")
            if node.op != "call_function" and not isinstance(node.target, str):
                raise ValueError(f"Graph.lint: the target of {node} must be a str; got {type(node.target).__name__}")
            if node.op in ("call_module", "get_attr") and self._owning_module is not None:
                self._check_target(node)
            seen.add(node)
            names.add(node.name)

    def _check_target(self, node: Node) -> None:
        missing = self._missing(str(node.target))
        if missing:
            raise RuntimeError(f"Graph.lint: {node} names {node.target}, but there is no {missing}")

    def _missing(self, path: str) -> str:
        """What of a dotted path below the owning module is not there; the empty string if all is."""
        found = self._owning_module
        for part in path.split("."):
            if not hasattr(found, part):
                return f"{part} in {type(found).__name__}"
            found = getattr(found, part)
        return ""

    # Text

    def set_codegen(self, codegen: CodeGen) -> None:
        """Sets what turns the graph into source text."""
        self._codegen = codegen

    def on_generate_code(self, make_transformer: Callable[[TransformBody | None], TransformBody]) -> _Setting:
        """Lets a function change the lines of generated code; with ``with``, until the end::

            graph.on_generate_code(lambda before: lambda body: ["print(x)\\n", *(before(body) if before else body)])

        Args:
            make_transformer: gets the function that is in force, or None, and returns the new one, which takes the
                lines below ``def``, each with its newline, and returns those to take instead.
        """
        return _Setting(self._codegen, "transform_body", make_transformer(self._codegen.transform_body))

    def process_inputs(self, *args: Any) -> Any:
        """What placeholders get for the arguments of a call; the codegen decides."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """What a call returns for the graph's result; the codegen decides."""
        return self._codegen.process_outputs(out)

    def python_code(
        self, root_module: str, *, verbose: bool = False, include_stride: bool = False, include_device: bool = False,
        colored: bool = False, expanded_def: bool = False, additional_meta: Sequence[str] | None = None,
        **options: Any,
    ) -> PythonCode:  # fmt: skip
        """The source text of a function ``forward(self, ...)`` that computes the graph.

        Args:
            root_module: the text's name for the module, usually 'self'.
            verbose: for people: with dtypes and sizes where nodes know them (``"f32[2, 3]"``), and with comments that
                say where the program made the calls.
            include_stride: then also strides.
            include_device: then also devices.
            colored: then in the colours of a terminal.
            expanded_def: then with each parameter on a line of its own.
            additional_meta: then with these items of ``node.meta`` in the comments.
            options: accepted.
        """
        keys = tuple(additional_meta or ())
        reader = Reader(include_stride, include_device, colored, expanded_def, keys) if verbose else None
        return write(self, self._codegen, root_module, reader)

    def __str__(self) -> str:
        parameters: list[str] = []
        returns = [""]
        lines = [line for node in self.nodes if (line := node.format_node(None, returns))]
        return "\n    ".join([f"graph({', '.join(parameters)}){returns[0]}:", *lines])

    def print_tabular(self) -> None:
        """Prints a table of the nodes."""
        rows = [["opcode", "name", "target", "args", "kwargs"]]
        rows += [[n.op, n.name, str(n.target), str(n.args), str(n.kwargs)] for n in self.nodes]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        rows.insert(1, ["-" * width for width in widths])
        for row in rows:
            print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


# The names by which tools that make code know these.
_Namespace, _snake_case = Namespace, snake_case


class _Ref:
    """A node in a file, by its number."""

    def __init__(self, number: int) -> None:
        self.number = number


def _from_steps(steps: list[Any], tracer_cls: type[Any] | None, codegen: CodeGen) -> Graph:
    graph = Graph(tracer_cls=tracer_cls)
    nodes: list[Node] = []

    def resolve(leaf: Any) -> Any:
        return nodes[leaf.number] if isinstance(leaf, _Ref) else leaf

    for op, target, args, kwargs, name, kind in steps:
        args, kwargs = map_aggregate((args, kwargs), resolve)
        nodes.append(graph.create_node(op, target, args, kwargs, name, kind))
    graph._codegen = codegen
    return graph
