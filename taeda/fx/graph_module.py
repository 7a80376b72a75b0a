"""`GraphModule`: a module whose forward is generated from a graph."""

from __future__ import annotations

import copy
import itertools
import os
from typing import Any

from taeda import Tensor, nn
from taeda.fx._python_code import ContainerCodeGen, PythonCode
from taeda.fx.graph import Graph

__all__ = ["GraphModule"]

# In ``meta``: attributes that copies get, too.
_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"
_number = itertools.count()


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
        self.graph = graph
        tracer = graph._tracer_cls
        self._tracer_cls = tracer if tracer is not None and "<locals>" not in tracer.__qualname__ else None

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
        if isinstance(codegen, ContainerCodeGen):
            self._in_spec = codegen.spec
        self._code = written.src
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
        body = copy.deepcopy({k: v for k, v in self.__getstate__().items() if k not in ("_graph", "meta")}, memo)
        graph = copy.deepcopy(self._graph, memo)
        nn.Module.__init__(twin)
        twin.__setstate__(body)
        twin.meta = copy.deepcopy(self.meta, memo)
        type(twin).__name__ = type(self).__name__
        twin.graph = graph
        for name, value in twin.meta.get(_USER_PRESERVED_ATTRIBUTES_KEY, {}).items():
            setattr(twin, name, value)
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
        state = {k: v for k, v in self.__getstate__().items() if k not in ("_graph", "_code", "meta")}
        base = next(c for c in type(self).__mro__ if not c.__dict__.get("_of_one_instance", False))
        return _load, (base, state, self._graph, type(self).__name__)

    # Text

    def print_readable(
        self, print_output: bool = True, include_stride: bool = False, include_device: bool = False,
        colored: bool = False, **options: Any,
    ) -> str:  # fmt: skip
        """The code of this module and of the GraphModules in it, with what is known of the calls' source locations.

        Args:
            print_output: print it, too.
            include_stride: accepted; values' strides are not in the text.
            include_device: accepted; values' devices are not in the text.
            colored: accepted; the text has no colours.
            options: accepted.
        """
        text = self._readable()
        if print_output:
            print(text)
        return text

    def _readable(self) -> str:
        code = self._graph.python_code("self", verbose=True).src
        parts = [f"class {type(self).__name__}(torch.nn.Module):", _indented(code)]
        parts += [_indented(m._readable()) for m in self.children() if isinstance(m, GraphModule)]
        return "\n".join(parts)

    def __str__(self) -> str:
        return f"{super().__str__()}\n{self._code}"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line.strip() else "" for line in text.strip("\n").splitlines())


def _find(module: Any, path: list[str]) -> Any:
    for part in path:
        module = getattr(module, part, None)
    return module


def _load(base: type[GraphModule], state: dict[str, Any], graph: Graph, class_name: str) -> GraphModule:
    module = base.__new__(base)
    nn.Module.__init__(module)
    module.__setstate__(state)
    module.meta = {}
    type(module).__name__ = class_name
    module.graph = graph
    return module
