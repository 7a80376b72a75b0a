"""`Interpreter` runs a graph step by step; `Transformer` runs it on proxies, which makes a new graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from taeda.fx import traceback as fx_traceback
from taeda.fx._python_code import last_uses
from taeda.fx._symbolic_trace import Tracer
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Argument, Node, Target, map_arg
from taeda.fx.proxy import Proxy

__all__ = ["Interpreter", "Transformer"]


class Interpreter:
    """Runs a module's graph step by step. A subclass overrides what happens at a step::

        class Shapes(fx.Interpreter):
            def run_node(self, n):
                result = super().run_node(n)
                print(n, getattr(result, "shape", None))
                return result

    Args:
        module: the module.
        garbage_collect_values: forget every value after its last use.
        graph: a graph to run in place of the module's; its names are looked up in the module.
    """

    def __init__(self, module: Any, garbage_collect_values: bool = True, graph: Graph | None = None) -> None:
        self.module = module
        self.submodules = dict(module.named_modules())
        self.graph: Graph = module.graph if graph is None else graph
        self.env: dict[Node, Any] = {}
        self.name = type(self).__name__
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        self.user_to_last_uses = last_uses(reversed(self.graph.nodes)) if garbage_collect_values else {}
        self.args_iter: Iterator[Any] = iter(())

    def run(self, *args: Any, initial_env: dict[Node, Any] | None = None, enable_io_processing: bool = True) -> Any:
        """Runs the graph on the arguments, in the order of the placeholders, and returns its result.

        Args:
            args: the arguments.
            initial_env: values of nodes that are not to run.
            enable_io_processing: take the arguments and give the result as the module's own forward does.
        """
        self.env = dict(initial_env or {})
        self.args_iter = iter(self.graph.process_inputs(*args) if enable_io_processing else args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as error:
                if self.extra_traceback:
                    error.add_note(f"while running {node.format_node()}\n{node.stack_trace or ''}".rstrip())
                raise
            for value in self.user_to_last_uses.get(node, ()):
                del self.env[value]
            if node.op == "output":
                result = self.env[node]
                return self.graph.process_outputs(result) if enable_io_processing else result
        return None

    def boxed_run(self, args_list: list[Any]) -> Any:
        """`run` on the items of a list, which it empties, so that nothing else holds them."""
        args = tuple(args_list)
        args_list.clear()
        return self.run(*args)

    def run_node(self, n: Node) -> Any:
        """The result of one step, by the method that is named as its ``op``."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        with fx_traceback.set_current_meta(n, f"Interpreter_{self.name}"):
            return getattr(self, n.op)(n.target, args, kwargs)

    def placeholder(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """The next argument, or the default; all that are left for ``*args``. RuntimeError without one."""
        if isinstance(target, str) and target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration:
            if args:
                return args[0]
            raise RuntimeError(f"{self.name}.run: there is no argument for {target}, which has no default") from None

    def get_attr(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """The module's attribute at a dotted path."""
        return self.fetch_attr(_path(target))

    def call_function(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a function."""
        if isinstance(target, str):
            raise AssertionError(f"{self.name}.call_function: the target must be callable; got {target!r}")
        return target(*args, **kwargs)

    def call_method(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a method of ``args[0]``."""
        owner, *rest = args
        return getattr(owner, _path(target))(*rest, **kwargs)

    def call_module(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a submodule."""
        return self.fetch_attr(_path(target))(*args, **kwargs)

    def output(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """The result of the graph."""
        return args[0]

    def fetch_attr(self, target: str) -> Any:
        """The module's attribute at a dotted path; RuntimeError if there is none."""
        found: Any = self.module
        for part in target.split("."):
            if not hasattr(found, part):
                raise RuntimeError(f"{self.name}: {target} leads nowhere: {type(found).__name__} has no {part}")
            found = getattr(found, part)
        return found

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a step, with values for nodes."""
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args: Argument, n: Node) -> Any:
        """``args`` with values for nodes; RuntimeError if one has not run."""

        def value(node: Node) -> Any:
            if node not in self.env:
                raise RuntimeError(f"{self.name}: {n} needs {node}, which has no value; Graph.lint finds what is wrong")
            return self.env[node]

        return map_arg(args, value)


def _path(target: Target) -> str:
    if not isinstance(target, str):
        raise AssertionError(f"taeda.fx.Interpreter: the target must be a str; got {target!r}")
    return target


class Transformer(Interpreter):
    """Makes a new module from a module's graph. A subclass overrides what becomes of a step::

        class Negated(fx.Transformer):
            def call_function(self, target, args, kwargs):
                return super().call_function(torch.neg if target is torch.relu else target, args, kwargs)

        new = Negated(module).transform()

    Args:
        module: the module, which stays as it is.
    """

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.new_graph = Graph(tracer_cls=module.graph._tracer_cls)
        self.new_graph.set_codegen(module.graph._codegen)
        self.tracer = _TransformerTracer(self.new_graph, module)

    def placeholder(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """A placeholder of the new graph."""
        default = () if not args else (args[0],)
        return Proxy(self.new_graph.create_node("placeholder", _path(target), default), self.tracer)

    def get_attr(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """The proxy for an attribute."""
        return self.tracer.create_proxy("get_attr", _path(target), args, kwargs)

    def call_module(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """The proxy for the result of a submodule."""
        return self.tracer.create_proxy("call_module", _path(target), args, kwargs)

    def call_function(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """The proxy for the result of a function."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self) -> GraphModule:
        """Runs all steps on proxies and returns the new module, which shares what it calls with the old one."""
        result = super().run(enable_io_processing=False)
        if result is not None or self.graph.find_nodes(op="output"):
            kind = self.graph.output_node().type
            node = self.new_graph.output(self.tracer.create_arg(result), kind)
            node.meta = dict(self.graph.output_node().meta)
        return GraphModule(self.module, self.new_graph, type(self.module).__name__)

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        if isinstance(result, Proxy) and n.op != "output":
            result.node.meta = {**n.meta, **result.node.meta}
            result.node.type = n.type if result.node.type is None else result.node.type
        return result


class _TransformerTracer(Tracer):
    """Adds to a graph that is there; every module is a leaf."""

    def __init__(self, graph: Graph, module: GraphModule) -> None:
        super().__init__()
        self.graph = graph
        self.root = module
        self._collect_state()

    def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:
        return True
