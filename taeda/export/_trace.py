"""``export``: from a module and an example to an `ExportedProgram`."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda._control_flow import capturing
from taeda._schema.symbols import SymNode, _Symbol
from taeda.export import _branches as _branches
from taeda.export._calls import Calls, argument_names
from taeda.export._capture import Capture, ShapeDependence
from taeda.export._regions import current_mode, wrap
from taeda.export._relations import related
from taeda.export._script import Walked, is_scripted
from taeda.export._search import most_varying, suggested_fixes
from taeda.export._state import State
from taeda.export._values import watched_values
from taeda.export.dynamic_shapes import UNLIMITED, Dim, Wishes, choose, read_wishes
from taeda.export.errors import UserError, UserErrorType
from taeda.export.exported_program import ExportedProgram, ModuleCallEntry, ModuleCallSignature
from taeda.export.graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    SymIntArgument,
    TensorArgument,
)
from taeda.export.guards import InputGuard, SizeName, expression_of
from taeda.fx._python_code import _PyTreeCodeGen
from taeda.fx._pytree import tree_flatten_spec
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.interpreter import Interpreter
from taeda.fx.node import Node
from taeda.fx.traceback import preserve_node_meta
from taeda.nn.modules._hooks import of_this_thread
from taeda.utils import _pytree as pytree

ATTEMPTS = 7


def export(
    mod: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None = None, *, dynamic_shapes: Any = None,
    strict: bool = False, preserve_module_call_signature: tuple[str, ...] = (),
    prefer_deferred_runtime_asserts_over_guards: bool = False,
) -> ExportedProgram:  # fmt: skip
    """Records a module's ops, as it calls them on an example, in a graph that stands by itself.

    Args:
        mod: the module, scripted ones too. Its parameters and buffers stay as they are, and the program shares them.
        args: the example's arguments, a tuple; tensors in nested containers, and constants.
        kwargs: the example's keyword arguments.
        dynamic_shapes: for each argument, by name or in order and nested as it is, which dimensions vary:
            ``{0: Dim("batch")}``, ``(Dim.AUTO, None)``. All others are as in the example.
        strict: is taken as PyTorch's callers give it; there is one way of recording.
        preserve_module_call_signature: paths of submodules whose arguments and results ``unflatten`` shall restore.
        prefer_deferred_runtime_asserts_over_guards: conditions on sizes are checked at each call either way.

    Raises:
        UserError: the program branches on values, or on sizes that shall vary, with the line; or ``dynamic_shapes``
            does not fit the example, or ``args`` is no tuple.
        ValueError: ``mod`` is no module.
    """
    if is_scripted(mod):
        mod = Walked(mod)
    if not isinstance(mod, nn.Module):
        raise ValueError(f"taeda.export.export: mod must be an nn.Module; got {type(mod).__name__}")
    if not isinstance(args, tuple):
        raise UserError(
            UserErrorType.INVALID_INPUT,
            f"taeda.export.export: args must be a tuple of the example's arguments; got {type(args).__name__}",
        )
    kwargs = dict(kwargs or {})
    wishes = read_wishes(mod, args, kwargs, dynamic_shapes)

    def record(wishes: Wishes, united: bool = False, attempt: int = 0) -> ExportedProgram:
        recording = _Recording(mod, args, kwargs, wishes, united, attempt, preserve_module_call_signature, strict)
        try:
            return recording.run()
        except ShapeDependence as dependence:
            dependence.related = related(wishes, recording.shadows, dependence.pairs)
            raise

    def works(wishes: Wishes) -> bool:
        try:
            record(wishes)
        except (ShapeDependence, UserError):
            return False
        return True

    united, attempt, relations = False, 0, 0
    for _ in range(ATTEMPTS + 2 * len(wishes)):
        try:
            return record(wishes, united, attempt + relations)
        except ShapeDependence as dependence:
            if dependence.related is not None:  # which the next shadow, of other sizes, has to fit
                wishes, relations = dependence.related, relations + 1
                continue
            attempt += 1
            automatic = any(wish.is_auto for wish in wishes.values())
            if automatic and united:
                wishes, united = most_varying(works, wishes), False
            elif automatic:
                united = True
            elif dependence.sizes or attempt > 2:  # where an op failed, another size may do: multiples are wanted
                raise _refusal(dependence, wishes, suggested_fixes(works, wishes)) from None
    raise AssertionError("unreachable")


def _export(
    mod: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None = None, dynamic_shapes: Any = None, *,
    strict: bool = True, preserve_module_call_signature: tuple[str, ...] = (), pre_dispatch: bool = False,
    prefer_deferred_runtime_asserts_over_guards: bool = False,
) -> ExportedProgram:  # fmt: skip
    """`export` under its inner name; without ``pre_dispatch`` no op writes."""
    program = export(
        mod, args, kwargs, dynamic_shapes=dynamic_shapes, strict=strict,
        preserve_module_call_signature=preserve_module_call_signature,
    )  # fmt: skip
    return program if pre_dispatch else program.run_decompositions({})


def _refusal(dependence: ShapeDependence, wishes: Wishes, fixes: str) -> UserError:
    names = sorted({w.dim.root.__name__ for w in wishes.values() if isinstance(w.dim, Dim)})
    sizes = f"dimensions named {', '.join(names)} vary" if names else "dimensions are asked to vary"
    return UserError(
        UserErrorType.CONSTRAINT_VIOLATION,
        f"taeda.export.export: {sizes}, but {dependence.message}\nLeave the dimension out of dynamic_shapes, say "
        "Dim.AUTO to have it fixed where it must be, give dimensions that are always equal one Dim, or limit it with "
        f"Dim(name, min=..., max=...){fixes}",
    )


class _Recording:
    """One run of the program under record."""

    def __init__(self, module: nn.Module, args: Any, kwargs: Any, wishes: Wishes, united: bool, attempt: int,
                 preserved: tuple[str, ...], strict: bool = False) -> None:  # fmt: skip
        self.module, self.args, self.kwargs = module, args, kwargs
        self.wishes, self.united, self.attempt, self.preserved = wishes, united, attempt, preserved
        self.capture = Capture(bool(wishes), strict)
        self.graph: Graph = self.capture.scope.graph
        self.inputs: list[InputSpec] = []
        self.shadows: dict[str, tuple[int, int]] = {}  # by name of a size: the example's and the other
        self.size_names: list[SizeName] = []
        self.state = State(module)

    def run(self) -> ExportedProgram:
        leaves, spec = pytree.tree_flatten((self.args, self.kwargs))
        names = leaf_names(self.module, self.args, self.kwargs)
        self._add_state()
        capture = self.capture
        capture.on_constant = self._constant
        self.first_user: Node | None = None
        copies = [self._add_input(i, name, leaf) for i, (name, leaf) in enumerate(zip(names, leaves))]
        args, kwargs = pytree.tree_unflatten(copies, spec)
        self.calls = Calls(self.module, capture, self.preserved)
        with self.state.kept(), _module_stack(self.module, capture), self.calls, taeda.random.fork_rng():
            result = run_recorded(self.module, args, kwargs, capture)
            assigned = self.state.assigned()
            with capture:
                for path, value in assigned:
                    self.state.original[path].detach().copy_(value)
        self.state.restore(capture.overwritten)
        return self._finish(leaves, spec, result)

    # --- inputs

    def _add_state(self) -> None:
        for path, tensor, kind, persistent in self.state.entries:
            prefix = "p_" if kind is InputKind.PARAMETER else "b_" if kind is InputKind.BUFFER else "c_"
            node = self.graph.placeholder(prefix + _identifier(path))
            node.meta["example"] = tensor
            self.inputs.append(InputSpec(kind, TensorArgument(node.name), path, persistent))
            self.capture.scope.nodes.setdefault(id(tensor), node)
            self.capture.names.setdefault(id(tensor), path)

    def _constant(self, tensor: Tensor) -> Node:
        """A tensor that the program made of plain data, or keeps outside of parameters and buffers."""
        paths = self.state.paths_of_plain(tensor) or [f"lifted_tensor_{len(self.capture.constants)}"]
        path, plain = paths[0], tensor.detach() if tensor.requires_grad else tensor
        self.capture.constants.update(dict.fromkeys(paths, plain))
        root = self.capture.scope.root().graph
        before = self.first_user or next((n for n in root.nodes if n.op != "placeholder"), None)
        with root.inserting_before(before) if before is not None else contextlib.nullcontext():
            node = root.placeholder("c_" + _identifier(path))
        node.meta["example"] = tensor
        at = next((i for i, s in enumerate(self.inputs) if s.kind is InputKind.USER_INPUT), len(self.inputs))
        self.inputs.insert(at, InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument(node.name), path))
        return node

    def _add_input(self, index: int, name: str, leaf: Any) -> Any:
        node = self.graph.placeholder(name)
        self.first_user = self.first_user or node
        kind = InputKind.USER_INPUT
        if isinstance(leaf, Tensor):
            self.inputs.append(InputSpec(kind, TensorArgument(node.name), None))
            copy = leaf.detach().clone().requires_grad_(leaf.requires_grad)
            node.meta["example"] = copy
            shadow = self._shadow_input(index, node.name, copy) if self.wishes else None
            self.capture.track(copy, node, shadow)
            return copy
        node.meta["example"] = leaf
        wish = self.wishes.get((index, None))
        if wish is not None:
            other = self._other_size(wish, index, None)
            self.inputs.append(InputSpec(kind, SymIntArgument(node.name), None))
            self.size_names.append(self._named(node.name, None, wish))
            symbol = SymNode(leaf, "input", (), self.capture, node.name)
            return self.capture.track_symbol(symbol, node, other)
        self.inputs.append(InputSpec(kind, ConstantArgument(node.name, leaf), None))
        return leaf

    def _shadow_input(self, index: int, name: str, tensor: Tensor) -> Tensor:
        sizes = list(tensor.shape)
        for dim in range(tensor.dim()):
            wish = self.wishes.get((index, dim))
            if wish is not None:
                sizes[dim] = self._other_size(wish, index, dim)
                self.size_names.append(self._named(name, dim, wish))
        shadow = taeda.empty(sizes, dtype=tensor.dtype, device="meta")
        if tensor.dim() == 4 and not tensor.is_contiguous() and tensor.is_contiguous(memory_format=taeda.channels_last):
            shadow = shadow.to(memory_format=taeda.channels_last)
        return shadow

    def _named(self, node: str, dim: int | None, wish: Any) -> SizeName:
        label = wish.dim.__name__ if isinstance(wish.dim, Dim) else None
        low = wish.dim.min if wish.dim.min is not None else 0
        high = wish.dim.max if wish.dim.max is not None else UNLIMITED
        root = wish.dim.root.__name__ if isinstance(wish.dim, Dim) else None
        if label is None and self.united and wish.is_auto:
            label = root = f"s{wish.hint}"
        if label is None:
            taken = {w.dim.root.__name__ for w in self.wishes.values() if isinstance(w.dim, Dim)}
            taken |= {size.label for size in self.size_names if size.label is not None}
            label = next(n for i in itertools.count() if (n := f"s{i}") not in taken)
        derived = (wish.dim.factor, wish.dim.offset) if hasattr(wish.dim, "factor") else None
        return SizeName(node, dim, label, root, derived, low, high)

    def _other_size(self, wish: Any, index: int, dim: int | None) -> int:
        """A size for the shadow; dimensions of one name get one, others each another."""
        if isinstance(wish.dim, Dim):
            root = wish.dim.root
            hint: Any = wish.dim.of(wish.hint)
            return wish.dim.value(self._chosen(root.__name__, hint, root.min, root.max))
        key = f"={wish.hint}" if self.united and wish.is_auto else f"{index},{dim}"
        low = wish.dim.min if wish.dim.min is not None else 0
        high = wish.dim.max if wish.dim.max is not None else UNLIMITED
        return self._chosen(key, wish.hint, low, high)

    def _chosen(self, key: str, hint: int, low: int, high: int) -> int:
        if key not in self.shadows:
            taken = set(self.shadows.values())
            grown = {b - a for a, b in taken}  # which tells sizes, and what follows from them, apart
            other = hint
            for nth in range(len(taken) + self.attempt, len(taken) + self.attempt + 5):
                other = choose(hint, low, high, nth)
                if other - hint not in grown and all(other != b for _, b in taken):
                    break
            self.shadows[key] = hint, other
        return self.shadows[key][1]

    # --- outputs

    def _finish(self, leaves: list[Any], spec: Any, result: Any) -> ExportedProgram:
        results, out_spec = pytree.tree_flatten(result)
        specs: list[OutputSpec] = []
        values: list[Any] = []
        for value in results:
            node = self.capture.node_of(value) if isinstance(value, (Tensor, _Symbol)) else value
            values.append(node)
            if isinstance(value, Tensor):
                arg: Any = TensorArgument(node.name)
            elif isinstance(node, Node):
                arg = SymIntArgument(node.name)
            elif value is None or isinstance(value, (int, float, bool, str)):
                arg = ConstantArgument("", value)
            else:
                raise UserError(
                    UserErrorType.INVALID_OUTPUT,
                    f"taeda.export.export: the module returns a {type(value).__name__}; a graph's results are tensors, "
                    "numbers and texts in tuples, lists, dicts and registered dataclasses "
                    "(taeda.export.register_dataclass)",
                )
            specs.append(OutputSpec(OutputKind.USER_OUTPUT, arg, None))
        self.graph.output(tuple(values))
        self._describe()
        guards = self._guards()
        self.graph.eliminate_dead_code()
        self.capture.origins.finish(list(self.graph.nodes))
        wrap(self.graph, self.capture.subgraphs, current_mode())
        signature = ExportGraphSignature(self.inputs, specs)
        state = self.state.saved()
        constants: dict[str, Any] = {p: t for p, t, kind, kept in self.state.entries
                                     if kind is InputKind.BUFFER and not kept}  # fmt: skip
        arguments = [s.arg for s in self.inputs if s.kind is InputKind.USER_INPUT]
        whole = ModuleCallSignature(
            arguments, [s.arg for s in specs], spec, out_spec, list(argument_names(self.module, self.args, self.kwargs))
        )
        calls = [ModuleCallEntry("", whole), *self.calls.entries()]
        program = ExportedProgram(
            self.capture.subgraphs, self.graph, signature, state, {}, calls,
            (self.args, self.kwargs), constants | self.capture.constants, guards=guards, sizes=self.size_names,
            training=self.module.training,
        )  # fmt: skip
        if isinstance(self.module, GraphModule) and "custom" in self.module.meta:
            program.graph_module.meta["custom"] = self.module.meta["custom"]
        return program

    def _describe(self) -> None:
        """What each result is but its values: ``meta["val"]``; ``meta["other"]`` has the sizes that the shadow has."""
        from taeda._library.fake_tensor import FakeTensorMode

        mode: Any = FakeTensorMode()
        with mode:
            pass
        graphs = [self.graph, *(m.graph for m in self.capture.subgraphs.values())]
        for node in (n for graph in graphs for n in graph.nodes):
            example = node.meta.pop("example", None)
            if isinstance(example, Tensor):
                node.meta["other"] = self.capture.other_sizes(example)
                node.meta["val"] = mode.from_tensor(example)
            else:
                node.meta["val"] = pytree.tree_map_only(Tensor, mode.from_tensor, example)

    def _guards(self) -> list[InputGuard]:
        """The conditions on sizes of inputs; those on others become assertions in the graph."""
        found: list[InputGuard] = []
        for guard in self.capture.guards:
            expression = expression_of(guard.condition, self.capture._symbols)
            if expression is not None:
                text = self.capture.text(guard.condition)
                expression = expression if guard.value else ("not_", expression)
                found.append(InputGuard(text if guard.value else f"not ({text})", expression, guard.file, guard.line))
        return found


def run_recorded(module: nn.Module, args: Any, kwargs: Any, capture: Capture) -> Any:
    """Calls the module under record; frames outside of this are not the program's."""
    capture.records_modes = True
    with watched_values(), capturing(capture), _by_nodes(module), capture:
        return module(*args, **kwargs)


@contextlib.contextmanager
def _by_nodes(module: nn.Module) -> Iterator[None]:
    """A module with a graph runs node by node within, so that new nodes inherit what is noted of them."""
    if not isinstance(module, GraphModule) or "forward" in vars(module):
        yield
        return

    def forward(*args: Any, **kwargs: Any) -> Any:
        graph = module.graph
        nested = isinstance(graph._codegen, _PyTreeCodeGen)
        names = [str(node.target) for node in graph.find_nodes(op="placeholder")]
        if nested:
            leaves = tree_flatten_spec((args, kwargs), graph._codegen.pytree_info.in_spec)  # type: ignore[attr-defined]
        elif any(name.startswith("*") for name in names) or not set(kwargs) <= set(names):
            return type(module).forward(module, *args, **kwargs)
        else:
            leaves = [*args, *(kwargs[name] for name in names[len(args) :] if name in kwargs)]
        with preserve_node_meta():
            result = Interpreter(module).run(*leaves, enable_io_processing=False)
        return graph.process_outputs(result) if nested else result

    vars(module)["forward"] = forward
    try:
        yield
    finally:
        del vars(module)["forward"]


@contextlib.contextmanager
def _module_stack(root: nn.Module, capture: Capture) -> Iterator[None]:
    """Notes for each node in which modules it was called."""
    paths = {id(m): path for path, m in root.named_modules()}
    stack = capture.module_stack
    before: list[Any] = []
    calls: dict[str, int] = {}

    def enter(module: nn.Module, args: Any) -> None:
        before.append(dict(stack))
        path = paths.get(id(module))
        if path is not None:  # one that the program made while it ran is part of its caller
            number = calls[path] = calls.get(path, -1) + 1
            stack[f"L__self__{path}@{number}" if number else f"L__self__{path}"] = (path, _class_name(module))
        capture.origins.enter(module)

    def leave(module: nn.Module, args: Any, result: Any) -> None:
        stack.clear()
        stack.update(before.pop())
        capture.origins.leave()

    hooks = [
        nn.modules.module.register_module_forward_pre_hook(of_this_thread(enter)),
        nn.modules.module.register_module_forward_hook(of_this_thread(leave)),
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _class_name(module: nn.Module) -> str:
    kind = type(module)
    home = kind.__module__
    return f"{home.replace('taeda', 'torch', 1) if home.startswith('taeda.') else home}.{kind.__qualname__}"


def leaf_names(module: nn.Module, args: Any, kwargs: Any) -> list[str]:
    """A name for each leaf of the arguments: that of the parameter, and where in it."""
    from taeda.export.dynamic_shapes import named_arguments

    names = []
    for name, value in named_arguments(module, args, kwargs).items():
        for path, _ in pytree.tree_leaves_with_path(value):
            parts = [name, *(str(getattr(k, "key", getattr(k, "idx", getattr(k, "name", k)))) for k in path)]
            names.append("_".join(map(_identifier, parts)))
    return names


def _identifier(path: str) -> str:
    """A path as part of a name."""
    return re.sub(r"\W", "_", path)
