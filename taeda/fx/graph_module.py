"""`GraphModule`: a module whose forward is generated from a graph."""

from __future__ import annotations

import contextlib
import copy
import functools
import itertools
import os
from collections.abc import Callable, Iterator
from typing import Any

from taeda import Tensor, nn
from taeda.fx._python_code import PythonCode, _PyTreeCodeGen
from taeda.fx.graph import Graph
from taeda.fx.node import Node

__all__ = ["GraphModule"]

# In ``meta``: attributes that copies get, too.
_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"
_number = itertools.count()
_NOTHING = object()
_HOOKS = ("_create_node_hooks", "_erase_node_hooks", "_replace_hooks", "_deepcopy_hooks")
_TRANSIENT = frozenset(["_graph", "_code", "_lineno_map", "meta", *_HOOKS])  # what files do not hold


class _Source:
    """Shows tracebacks the text of generated code, for as long as that lives."""

    def __init__(self, text: str) -> None:
        self.text = text

    def get_source(self, name: str) -> str:
        return self.text


def _compile(code: PythonCode, traced: dict[str, Any]) -> Any:
    """The function ``forward`` that the text defines. ``traced``: the code that the graph was traced from, if any,
    which tracebacks then name."""
    name = f"<taeda.fx>.{next(_number)}"
    if traced:
        name += f" from {traced['co_filename']}:{traced['co_firstlineno']} in {traced['co_name']}"
    names = {**code.globals, "__name__": name, "__loader__": _Source(code.src)}
    exec(compile(code.src, name, "exec"), names)
    return names["forward"]


class _CodeOnlyModule(nn.Module):
    """A module with the attributes of another."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        self.__setstate__(body)


def _copy_attr(from_module: nn.Module, to_module: nn.Module, target: str) -> None:
    """Gives ``to_module`` what ``from_module`` has at a dotted path; plain modules go where the path needs them."""
    *path, name = target.split(".")
    for part in path:
        inner = getattr(to_module, part, None)
        if inner is getattr(from_module, part) and inner is not None:
            return  # the whole of it came along before
        if inner is None:
            inner = nn.Module()
            setattr(to_module, part, inner)
        from_module, to_module = getattr(from_module, part), inner
    _put(to_module, name, getattr(from_module, name))


def _put(module: nn.Module, name: str, value: Any) -> None:
    if isinstance(value, Tensor) and not isinstance(value, nn.Parameter):
        module.register_buffer(name, value)
    else:
        setattr(module, name, value)


def _assign(values: dict[str, Any], module: nn.Module, target: str) -> None:
    """Sets the value for ``target`` at that path below ``module``."""
    *path, name = target.split(".")
    for part in path:
        if not hasattr(module, part):
            setattr(module, part, nn.Module())
        module = getattr(module, part)
    _put(module, name, values[target])


class GraphModule(nn.Module):
    """A module whose ``forward`` is generated from ``graph``, with the submodules and tensors that the graph names.

    Args:
        root: a module to take these from, which shares them; or a dict from dotted paths to them.
        graph: the graph; its owning module becomes this one.
        class_name: the name to print.

    Raises:
        RuntimeError: ``root`` is a dict that lacks what the graph names.

    Change ``graph`` and call `recompile`, or assign to it.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> GraphModule:
        # Every instance has a class of its own, whose ``forward`` is its code.
        base = next(c for c in cls.__mro__ if not c.__dict__.get("_of_one_instance", False))
        own = type(base.__name__, (base,), {"_of_one_instance": True, "__module__": base.__module__})
        return super().__new__(own)  # type: ignore[return-value]

    def __init__(self, root: nn.Module | dict[str, Any], graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        type(self).__name__ = class_name
        named = [node for node in graph.nodes if node.op in ("call_module", "get_attr")]
        if isinstance(root, nn.Module):
            self.training = root.training
            for node in named:
                _copy_attr(root, self, str(node.target))
        elif isinstance(root, dict):
            for node in named:
                if node.target not in root:
                    raise RuntimeError(f"taeda.fx.GraphModule: {node} names {node.target}, which root lacks")
            # Outer ones first, so that inner ones find their place.
            for target in sorted(dict.fromkeys(str(node.target) for node in named), key=lambda path: path.count(".")):
                _assign(root, self, target)
        else:
            raise RuntimeError(f"taeda.fx.GraphModule: root must be a module or a dict; got {type(root).__name__}")
        self.meta: dict[str, Any] = {}
        self._listen()
        self.graph = graph
        tracer = graph._tracer_cls
        self._tracer_cls = tracer if tracer is not None and "<locals>" not in tracer.__qualname__ else None

    def _listen(self) -> None:
        self._create_node_hooks: list[Callable[[Node], Any]] = []
        self._erase_node_hooks: list[Callable[[Node], Any]] = []
        self._replace_hooks: list[Callable[[Node, str, Node], Any]] = []
        self._deepcopy_hooks: list[Callable[[GraphModule], Any]] = []

    def _register_create_node_hook(self, f: Callable[[Node], Any]) -> None:
        """From now on ``f`` is told of each new node of the graph."""
        self._create_node_hooks.append(f)

    def _unregister_create_node_hook(self, f: Callable[[Node], Any]) -> None:
        """The end of `_register_create_node_hook`."""
        self._create_node_hooks.remove(f)

    def _register_erase_node_hook(self, f: Callable[[Node], Any]) -> None:
        """From now on ``f`` is told of each node that is erased."""
        self._erase_node_hooks.append(f)

    def _unregister_erase_node_hook(self, f: Callable[[Node], Any]) -> None:
        """The end of `_register_erase_node_hook`."""
        self._erase_node_hooks.remove(f)

    def _register_replace_node_hook(self, f: Callable[[Node, str, Node], Any]) -> None:
        """From now on ``f`` is told ``(old, new, user)`` where a user takes a new node: ``new`` is a name."""
        self._replace_hooks.append(f)

    def _unregister_replace_node_hook(self, f: Callable[[Node, str, Node], Any]) -> None:
        """The end of `_register_replace_node_hook`."""
        self._replace_hooks.remove(f)

    @contextlib.contextmanager
    def _set_replace_hook(self, f: Callable[[Node, str, Node], Any]) -> Iterator[None]:
        """`_register_replace_node_hook` within a ``with``."""
        self._register_replace_node_hook(f)
        try:
            yield
        finally:
            self._unregister_replace_node_hook(f)

    def _register_deepcopy_hook(self, f: Callable[[GraphModule], Any]) -> None:
        """From now on ``f`` is told of each copy of the module."""
        self._deepcopy_hooks.append(f)

    def _unregister_deepcopy_hook(self, f: Callable[[GraphModule], Any]) -> None:
        """The end of `_register_deepcopy_hook`."""
        self._deepcopy_hooks.remove(f)

    @property
    def graph(self) -> Graph:
        """The graph. Assigning one compiles its code."""
        return self._graph

    @graph.setter
    def graph(self, graph: Graph) -> None:
        if not isinstance(graph, Graph):
            raise AssertionError(f"taeda.fx.GraphModule.graph must be a Graph; got {type(graph).__name__}")
        self._graph = graph
        graph.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The source text of ``forward``."""
        return self._code

    def recompile(self) -> PythonCode:
        """Makes ``forward`` from the graph as it is now, and returns its text."""
        written = self._graph.python_code("self")
        codegen = self._graph._codegen
        if isinstance(codegen, _PyTreeCodeGen):
            self._in_spec, self._out_spec = codegen.pytree_info.in_spec, codegen.pytree_info.out_spec
        self._code, self._lineno_map = written.src, written._lineno_map
        type(self).forward = _compile(written, self._graph._co_fields)  # type: ignore[method-assign]
        return written

    # Submodules

    def add_submodule(self, target: str, m: nn.Module) -> bool:
        """Adds a module at a dotted path, with plain ones where the path needs them; False if something is there."""
        *path, name = target.split(".")
        module: Any = self
        for part in path:
            inner = getattr(module, part, None)
            if inner is None:
                inner = nn.Module()
                setattr(module, part, inner)
            if not isinstance(inner, nn.Module):
                return False
            module = inner
        module.add_module(name, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Removes the module at a dotted path; False if there is none. The graph stays as it is."""
        *path, name = target.split(".")
        module: Any = self
        for part in path:
            module = getattr(module, part, None)
            if not isinstance(module, nn.Module):
                return False
        if not isinstance(getattr(module, name, None), nn.Module):
            return False
        delattr(module, name)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Removes the modules that no step calls or fetches from."""
        used: set[str] = set()
        for node in self._graph.nodes:
            if node.op in ("call_module", "get_attr"):
                parts = str(node.target).split(".")
                used.update(".".join(parts[:i]) for i in range(1, len(parts) + 1))
                if node.op == "call_module" or isinstance(_find(self, parts), nn.Module):
                    whole = self.get_submodule(str(node.target))
                    used.update(
                        f"{node.target}.{inner}" for inner, _ in whole.named_modules(remove_duplicate=False) if inner
                    )
        # A module that is used by one name may be there by others, too.
        for name in [n for n, _ in self.named_modules(remove_duplicate=False) if n and n not in used]:
            self.delete_submodule(name)

    # Copies and files

    def to_folder(self, folder: str | os.PathLike[str], module_name: str = "FxModule") -> None:
        """Writes the module as a package: ``module.py`` with a class of that name, and the files that it loads.

        Layers whose text makes them again are spelled out; other modules are pickled.

        Args:
            folder: where to.
            module_name: the name of the class.
        """
        from taeda.fx._folder import write_folder

        write_folder(self, self._graph.python_code("self"), folder, module_name)

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        kept = {k: v for k, v in self.__getstate__().items() if k not in ("_graph", "meta", *_HOOKS)}
        body = copy.deepcopy(kept, memo) | {name: list(getattr(self, name)) for name in _HOOKS}
        graph = copy.deepcopy(self._graph, memo)
        nn.Module.__init__(twin)
        twin.__setstate__(body)
        twin.meta = copy.deepcopy(self.meta, memo)
        type(twin).__name__ = type(self).__name__
        twin.graph = graph
        for name, value in twin.meta.get(_USER_PRESERVED_ATTRIBUTES_KEY, {}).items():
            setattr(twin, name, value)
        for hook in self._deepcopy_hooks:
            hook(twin)
        return twin

    def __copy__(self) -> GraphModule:
        twin = GraphModule(self, copy.copy(self._graph), type(self).__name__)
        twin.meta = self.meta
        return twin

    def _replicate_for_data_parallel(self) -> GraphModule:
        """A shallow copy for another device."""
        replica = self.__copy__()
        replica._is_replica = True  # type: ignore[assignment]
        return replica

    def __reduce__(self) -> tuple[Any, ...]:
        state = {k: v for k, v in self.__getstate__().items() if k not in _TRANSIENT}
        base = next(c for c in type(self).__mro__ if not c.__dict__.get("_of_one_instance", False))
        return _load, (base, state, self._graph, type(self).__name__)

    def __reduce_package__(self, exporter: Any) -> tuple[Any, tuple[Any, ...]]:
        """How a package keeps the module: as a module of Python with its code, and the attributes."""
        from taeda.fx import _packaged

        state = {k: v for k, v in self.__getstate__().items() if k not in _TRANSIENT}
        state |= {"_code": self.code, "_graphmodule_cls_name": type(self).__name__}
        name = f"fx-generated._{exporter.get_unique_id()}"
        exporter.save_source_string(name, _packaged.source_of(self._graph, exporter.importer))
        return reduce_package_graph_module, (state, name)

    # Text

    def print_readable(
        self, print_output: bool = True, include_stride: bool = False, include_device: bool = False,
        colored: bool = False, **options: Any,
    ) -> str:  # fmt: skip
        """The code of this module and of the GraphModules in it, with what is known of values and of source locations.

        Args:
            print_output: print it, too.
            include_stride: say the strides of tensors.
            include_device: say the devices of tensors.
            colored: in the colours of a terminal.
            options: of `Graph.python_code`.
        """
        options |= {"include_stride": include_stride, "include_device": include_device, "colored": colored}
        text = _print_readable(self, type(self).__name__, **options)
        if print_output:
            print(text)
        return text

    def __str__(self) -> str:
        return f"{super().__str__()}\n{self.code}\n# graph_module.print_readable() says more"


def _print_readable(module: Any, module_name: str, print_output: bool = False, **options: Any) -> str:
    """The text of a module with a graph, and of those in it."""
    code = module._graph.python_code("self", verbose=True, **options).src
    inner = [_print_readable(m, n, **options) for n, m in module.named_children() if hasattr(m, "_graph")]
    text = "\n".join([f"class {module_name}(torch.nn.Module):\n{_indented(code.strip())}", *map(_indented, inner)])
    if print_output:
        print(text)
    return text


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line.strip() else "" for line in text.splitlines()) + "\n"


def _assign_attr(from_obj: Any, to_module: nn.Module, target: str) -> None:
    """Sets a value at a dotted path; plain modules go where the path needs them, plain tensors become buffers."""
    _assign({target: from_obj}, to_module, target)


def _get_attr(model: nn.Module, attr_name: str) -> Any:
    """What is at a dotted path; AttributeError if nothing is."""
    return functools.reduce(getattr, attr_name.split("."), model)


def _has_attr(model: nn.Module, attr_name: str) -> bool:
    """Whether something is at a dotted path."""
    return functools.reduce(lambda m, n: getattr(m, n, _NOTHING), attr_name.split("."), model) is not _NOTHING  # type: ignore[arg-type,return-value]


def _del_attr(model: nn.Module, attr_name: str) -> None:
    """Removes what is at a dotted path; AttributeError if nothing is."""
    path, _, name = attr_name.rpartition(".")
    delattr(_get_attr(model, path) if path else model, name)


def _find(module: Any, path: list[str]) -> Any:
    for part in path:
        module = getattr(module, part, None)
    return module


def reduce_package_graph_module(importer: Any, body: dict[Any, Any], generated_module_name: str) -> nn.Module:
    """The module of a graph in a package: its code is traced anew. Pickles in packages name this function.

    Args:
        importer: of the package.
        body: the module's attributes.
        generated_module_name: where its code is.
    """
    from taeda.fx import _packaged

    return _packaged.loaded(importer.import_module(generated_module_name).forward, body)


def _load(base: type[GraphModule], state: dict[str, Any], graph: Graph, class_name: str) -> GraphModule:
    module = base.__new__(base)
    nn.Module.__init__(module)
    module.__setstate__(state)
    module._listen()
    module.meta = {}
    type(module).__name__ = class_name
    module.graph = graph
    return module
