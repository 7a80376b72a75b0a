"""A function of a program: its source, its signature and, once it is asked for, its graph."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from taeda import _C, Tensor
from taeda._schema.function_schema import FunctionSchema
from taeda.jit.check.annotations import (
    repeats_of,
    repeats_of_comment,
    signature_of_comment,
    type_of_annotation,
    type_of_comment,
)
from taeda.jit.check.emitter import FALLS, RETURNS, Emitter
from taeda.jit.check.environment import ClosureResolver, Frame, Resolver, is_ours
from taeda.jit.check.operators import WIDENING, conversion
from taeda.jit.check.types import ANY, NONE, TENSOR, optional
from taeda.jit.check.values import Known, LocalFunction, TupleOf
from taeda.jit.ir import Graph, Value
from taeda.jit.parse.comments import type_comments
from taeda.jit.parse.definition import Definition, definition_of
from taeda.jit.parse.errors import CompileError, fail
from taeda.jit.source import SourceRange

MISSING = inspect.Parameter.empty


class Parameter:
    """One parameter: its name, its type if it says one, its default."""

    def __init__(self, name: str, type: Any, default: Any, keyword_only: bool, annotation: ast.expr | None) -> None:
        self.name, self.type, self.default, self.keyword_only = name, type, default, keyword_only
        self.annotation, self.repeats = annotation, 0  # where not 0, one number is given for so many


class Function:
    """A compiled function, or one that will be when its graph is asked for.

    Args:
        definition: the tree and its source.
        resolver: what names mean outside of it.
        qualified_name: ``__torch__.package.name``.
        defaults: values of parameters that may be left out.
        self_type: the class whose method it is; its first parameter is the object.
        types: types of parameters that the source does not say.
        owner_class: the Python class that it was written in, for ``super()``.
        reads: a Python function whose annotations help where names are not known.
    """

    run: Any = None  # what runs it, once it was called (see `taeda.jit._run`)
    _inferred_places: list[int] | None = None
    settled: frozenset[str] = frozenset()  # parameters whose type a call within the program said

    def __init__(
        self, definition: Definition, resolver: Resolver, qualified_name: str, defaults: dict[str, Any] | None = None,
        self_type: Any = None, types: dict[str, Any] | None = None, owner_class: type | None = None,
    ) -> None:  # fmt: skip
        self.definition, self.resolver, self.qualified_name = definition, resolver, qualified_name
        self.defaults, self.self_type, self.types = defaults or {}, self_type, types or {}
        self.owner_class = owner_class
        self.name = qualified_name.rpartition(".")[2]
        self._graph: Graph | None = None
        self._parameters: list[Parameter] | None = None
        self._declared_result: Any = MISSING
        self._compiling = False
        self.inferred: set[str] = set()  # parameters whose type nobody said: tensors, until calls say otherwise

    # --- The signature
    def _reader(self) -> Emitter:
        return Emitter(Graph(), self.definition, self.resolver, self)

    def parameters(self) -> list[Parameter]:
        """Its parameters, the object of a method first."""
        if self._parameters is None:
            self._parameters, self._declared_result = self._read_signature()
        return self._parameters

    def declared_result(self) -> Any:
        """The type of the result that the source says; None if it says none."""
        self.parameters()
        return self._declared_result

    def _read_signature(self) -> tuple[list[Parameter], Any]:
        reader, node = self._reader(), self.definition.node
        found = []
        comments = type_comments(self.definition)
        head = self.definition.head()
        comment = signature_of_comment(reader, comments.signature, head) if comments.signature is not None else None
        plain = [*node.args.posonlyargs, *node.args.args]
        if node.args.vararg is not None or node.args.kwarg is not None:
            star: Any = node.args.vararg or node.args.kwarg
            fail(
                self.definition.range(star),
                f"'{star.arg}' takes any number of arguments: such a function is compiled into the programs that call"
                " it, and has no program of its own",
            )
        given = [*plain, *node.args.kwonlyargs]
        said_of = comments.arguments
        own = given[1:] if self.self_type is not None else given
        if comment is not None and comment[0] is not None:
            if len(comment[0]) not in (len(own), len(given)):
                fail(head, f"the type comment has {len(comment[0])} types for {len(own)} arguments")
            types = comment[0][len(comment[0]) - len(own) :]
        else:
            types = [type_of_comment(reader, said_of[a.arg], head) if a.arg in said_of else None for a in own]
            if comment is not None and len(said_of) < sum(a.annotation is None for a in own):
                fail(head, f"'# type: (...)': {len(said_of)} of {len(own)} arguments have a type behind them")
        for i, arg in enumerate(given):
            if i == 0 and self.self_type is not None:
                found.append(Parameter(arg.arg, self.self_type, MISSING, False, None))
                continue
            found.append(self._parameter(reader, arg, types[i - (self.self_type is not None)], i >= len(plain)))
        for parameter, count in zip(reversed(found), reversed(repeats_of_comment(comments.signature))):
            parameter.repeats = count
        return found, self._result_of(reader, comment)

    def said_result(self) -> Any:
        """The type of the result that the source says, whatever the parameters are; None if it says none."""
        reader, comments = self._reader(), type_comments(self.definition)
        head = self.definition.head()
        said = comments.signature
        return self._result_of(reader, signature_of_comment(reader, said, head) if said is not None else None)

    def _result_of(self, reader: Emitter, comment: tuple[list[Any] | None, Any] | None) -> Any:
        returns = getattr(self.definition.node, "returns", None)
        result = comment[1] if comment is not None else None
        if returns is not None and result is None:
            result = type_of_annotation(reader, returns, self.resolver.annotation("return"))
            if result is ANY and self._is_ours():
                return None  # it says nothing
        return result

    def _is_ours(self) -> bool:
        return self.owner_class is not None and is_ours(self.owner_class)

    def _parameter(self, reader: Emitter, arg: ast.arg, said: Any, keyword_only: bool) -> Parameter:
        name = arg.arg
        default = self.defaults.get(name, MISSING)
        type = said
        if type is None and name in self.types:
            type = self.types[name]
        if type is None and arg.annotation is not None:
            type = type_of_annotation(reader, arg.annotation, self.resolver.annotation(name))
        if type is None:
            type = type_of_default(default)
            if type is None:
                type = TENSOR
                self.inferred.add(name)
        repeats = repeats_of(arg.annotation)
        if repeats and isinstance(default, (int, float)):
            default = [default] * repeats
        elif not self._is_ours():
            _check_default(default, type, name, self.definition.range(arg))
        made = Parameter(name, type, default, keyword_only, arg.annotation)
        made.repeats = repeats
        return made

    def takes_tensors(self, args: tuple[Any, ...], kwargs: dict[str, Any], skip: int = 0) -> bool:
        """Whether it is seen at a glance that a call gives tensors to all parameters whose type nobody said.

        Args:
            skip: 1 for a method, whose object is not among the arguments.
        """
        if self._inferred_places is None:
            self._inferred_places = [i for i, p in enumerate(self.parameters()) if p.name in self.inferred]
        count = len(args)
        for place in self._inferred_places:
            if place - skip < count and not isinstance(args[place - skip], Tensor):
                return False
        return not kwargs

    # --- The graph
    @property
    def graph(self) -> Graph:
        """Its graph, compiled when it is asked for first.

        Raises:
            CompileError: it cannot be compiled; shows where.
        """
        if self._graph is None:
            self.compile()
        assert self._graph is not None
        return self._graph

    @property
    def run_graph(self) -> Graph:
        """What runs: the graph."""
        return self.graph

    @property
    def is_compiled(self) -> bool:
        """Whether it has a graph, or need only be asked for one."""
        return self._graph is not None

    def set_graph(self, graph: Graph) -> None:
        """Gives it a graph that was made elsewhere."""
        self._graph = graph

    def compile(self) -> None:
        """Compiles it, unless it is."""
        if self._graph is not None:
            return
        if self._compiling:
            raise CompileError(
                f"'{self.name}' calls itself; what it returns must be said: def {self.name}(...) -> ...",
                self.definition.head(),
            )
        self._compiling = True
        try:
            self._graph = self._compiled()
        finally:
            self._compiling = False

    def _compiled(self) -> Graph:
        graph = Graph()
        emitter = Emitter(graph, self.definition, self.resolver, self)
        emitter.owner_class = self.owner_class
        for parameter in self.parameters():
            value = graph.addInput(parameter.name, parameter.type)
            emitter.frame.set(parameter.name, value)
            if parameter.type is not self.self_type:
                emitter.frame.declared[parameter.name] = parameter.type
            else:
                emitter.self_value = value
        emitter.returns = self.declared_result()
        result = run_body(emitter)
        value = emitter.value(result, self.definition.head(), emitter.returns)
        graph.registerOutput(value)
        return graph

    def return_type(self) -> Any:
        """The type of its result: what was declared, or what compiling found."""
        declared = self.declared_result()
        return declared if declared is not None else self.graph.return_node().inputsAt(0).static_type

    @property
    def schema(self) -> FunctionSchema:
        """Its schema."""
        parts = []
        marked = False
        for p in self.parameters():
            if p.keyword_only and not marked:
                parts.append("*")
                marked = True
            parts.append(f"{spelled(p.type)} {p.name}{_default_text(p)}")
        return FunctionSchema(f"{self.name}({', '.join(parts)}) -> {_result_text(self.return_type())}")


def spelled(type: Any) -> str:
    """A type as schemas spell it, named tuples by their names."""
    text: str = type.str()
    if "NamedTuple(" not in text:
        return text
    kind, inner = type.kind(), [spelled(each) for each in type.containedTypes()]
    if kind == "TupleType":
        return type._name or f"({', '.join(inner)})"
    if kind == "ListType":
        return f"{inner[0]}[]"
    if kind == "OptionalType":
        return f"{inner[0]}?"
    return f"{kind.removesuffix('Type')}({', '.join(inner)})"


def _result_text(type: Any) -> str:
    return f"({spelled(type)})" if type.kind() == "TupleType" else spelled(type)


def _default_text(parameter: Parameter) -> str:
    default = parameter.default
    if default is MISSING:
        return ""
    if default is None or isinstance(default, bool):
        return f"={default}"
    if isinstance(default, (int, float)):
        return f"={default!r}"
    if isinstance(default, str):
        from taeda.jit._ir_text import string_text

        return f"={string_text(default)}"
    if isinstance(default, (list, tuple)) and all(isinstance(d, (bool, int, float)) for d in default):
        items = ", ".join(map(repr, default))
        return f"=({items})" if parameter.type.kind() == "TupleType" else f"=[{items}]"
    return "=None" if parameter.type.kind() == "OptionalType" else ""


def _check_default(default: Any, type: Any, name: str, range: SourceRange) -> None:
    """A default is of its parameter's type, and nothing that a call could change for the next."""
    if default is MISSING:
        return
    if _changes(default):
        fail(range, f"the default of '{name}' could be changed by a call, for all later ones; let it be None")
    found = type_of_default(default)
    if default is None:
        found = NONE
    numbers = ("IntType", "FloatType", "ComplexType", "BoolType", "TensorType")
    if found is None or found.isSubtypeOf(type) or (found.kind() in numbers and type.kind() in numbers[1:]):
        return
    if found is NONE or found.kind() in numbers:
        fail(range, f"the default of '{name}' must be a {type}; got a {found}")


def _changes(value: Any) -> bool:
    return isinstance(value, (list, dict)) or (isinstance(value, tuple) and any(map(_changes, value)))


def type_of_default(default: Any) -> Any:
    """The type that a default says of its parameter: None that it may be a tensor; None if it says nothing."""
    if default is MISSING:
        return None
    if default is None:
        return optional(TENSOR)
    try:
        found = _C._type_of(default)
    except (RuntimeError, TypeError, ValueError):
        return None
    return None if found.kind() in ("AnyType", "PyObjectType", "CapsuleType") else found


def run_body(emitter: Emitter) -> Any:
    """Compiles the function's body; what it returns."""
    node = emitter.definition.node
    if isinstance(node, ast.Lambda):
        what = emitter.expression(node.body, emitter.returns)
        return (
            what if emitter.returns is None else emitter.convert(what, emitter.returns, emitter.range(node.body), "it")
        )
    status = emitter.block(node.body)
    found = emitter.frame.find("$value")
    if not status & RETURNS:
        if not status & FALLS:  # it always raises
            return _never(emitter)
        if emitter.returns is not None and emitter.returns is not NONE:
            fail(
                emitter.definition.head(),
                f"'{emitter.definition.name}' must return a {emitter.returns} and returns nothing",
            )
        return Known(None)
    if not status & FALLS:
        return found
    returns = emitter.returns
    if returns is not None and not NONE.isSubtypeOf(returns):
        fail(
            emitter.definition.head(),
            f"'{emitter.definition.name}' must return a {returns}, but may reach its end without",
        )
    from taeda.jit.check.expressions import either
    from taeda.jit.check.values import Condition

    flag = emitter.frame.find("$return")
    if isinstance(flag, Known):
        return found if flag.obj else Known(None)
    place = emitter.definition.head()
    return either(emitter, Condition(flag), lambda: found, lambda: Known(None), place, returns)


def _never(emitter: Emitter) -> Any:
    type = emitter.returns
    if type is None or type is NONE:
        return Known(None)
    return emitter.graph.emit("prim::Uninitialized", [], [type]).output()


# --- Calls
def place_arguments(
    parameters: Sequence[Parameter], args: Sequence[Any], kwargs: dict[str, Any], name: str, range: SourceRange | None,
) -> list[Any]:  # fmt: skip
    """What each parameter is given: an argument or its default.

    Raises:
        CompileError: one is missing, given twice, or there is none of that name.
    """
    placed: list[Any] = []
    rest = dict(kwargs)
    for i, p in enumerate(parameters):
        if i < len(args) and not p.keyword_only:
            if p.name in rest:
                fail(range, f"{name}: '{p.name}' is given twice")
            placed.append(args[i])
        elif p.name in rest:
            placed.append(rest.pop(p.name))
        elif p.default is not MISSING:
            placed.append(Known(p.default))
        else:
            fail(range, f"{name}: the argument '{p.name}' is missing; it takes {_spoken(parameters)}")
    takes = sum(not p.keyword_only for p in parameters)
    if len(args) > takes:
        fail(range, f"{name}: takes {takes} positional arguments and was given {len(args)}")
    if rest:
        fail(range, f"{name}: there is no argument '{next(iter(rest))}'; it takes {_spoken(parameters)}")
    return placed


def by_conversions(forms: Sequence[Function], args: Sequence[Any], kwargs: dict[str, Any], skip: int = 0) -> list[Any]:
    """The forms of a function, first those that take the arguments as they are; ``skip`` leaves out ``self``."""

    def conversions(form: Function) -> int:
        takes = form.parameters()[skip:]
        named = {p.name: p for p in takes}
        pairs = [*zip(args, takes), *((value, named[name]) for name, value in kwargs.items() if name in named)]
        return sum(isinstance(v, Value) and not v.static_type.isSubtypeOf(p.type) for v, p in pairs)

    return sorted(forms, key=conversions)


def _spoken(parameters: Sequence[Parameter]) -> str:
    return "(" + ", ".join(f"{p.name}: {p.type}" for p in parameters) + ")"


def call_function(emitter: Emitter, function: Function, args: Sequence[Any], kwargs: dict[str, Any],
                  range: SourceRange | None) -> Value:  # fmt: skip
    """Calls another function of the program: ``prim::CallFunction``."""
    from taeda.jit._ir_types import FunctionType

    inputs = converted(emitter, function, args, kwargs, range)
    result = traced_result(function, emitter, range)
    callee = emitter.constant(function, FunctionType(function))
    return emitter.graph.emit("prim::CallFunction", [callee, *inputs], [result], range).output()


def converted(emitter: Emitter, function: Function, args: Sequence[Any], kwargs: dict[str, Any],
              range: SourceRange | None) -> list[Value]:  # fmt: skip
    """The arguments as values of the parameters' types."""
    parameters = function.parameters()
    placed = place_arguments(parameters, args, kwargs, function.name, range)
    return [
        emitter.convert(_repeated(what, p), p.type, range, f"{function.name}: the argument '{p.name}'")
        for p, what in zip(parameters, placed)
    ]


def _repeated(what: Any, parameter: Parameter) -> Any:
    """One number as the list that the parameter takes."""
    kind = what.static_type.kind() if isinstance(what, Value) else ""
    one = kind in ("IntType", "FloatType") or (isinstance(what, Known) and isinstance(what.obj, (int, float)))
    return TupleOf((what,) * parameter.repeats) if one and parameter.repeats else what


def traced_result(function: Function, emitter: Emitter, range: SourceRange | None) -> Any:
    """The type of a function's result, which may have to be compiled for it; errors say who called it."""
    try:
        if function._graph is None and function.declared_result() is not None and function._compiling:
            return function.declared_result()
        function.compile()
        return function.return_type()
    except CompileError as error:
        if range is not None:
            error.calls.append((function.name, range))
        raise


_FUNCTIONS: dict[Any, Function] = {}


def function_of(obj: Callable[..., Any], types: dict[str, Any] | None = None, name: str | None = None) -> Function:
    """The compiled form of a Python function, the same each time."""
    key = (obj, tuple(sorted((k, id(t)) for k, t in (types or {}).items())))
    found = _FUNCTIONS.get(key)
    if found is None:
        defaults = defaults_of(obj)
        qualified = f"__torch__.{name}" if name else program_name(obj)
        found = Function(definition_of(obj), ClosureResolver(obj), qualified, defaults, types=types)
        _FUNCTIONS[key] = found
    return found


def program_name(obj: Any) -> str:
    """The name by which programs know a Python function: ``__torch__.package.name``."""
    module = obj.__module__ or "__main__"
    name = "_lambda" if obj.__name__ == "<lambda>" else obj.__name__
    if module == "__main__":
        return f"__torch__.{name}"
    if module == "taeda" or module.startswith("taeda."):
        module = "torch" + module[5:]
    # What modules of packages are called, "<torch_package_0>.net", is no word of schemas.
    return f"__torch__.{module}.{name}".replace("<", "_").replace(">", "_")


def defaults_of(obj: Any) -> dict[str, Any]:
    """The defaults of a Python function's parameters."""
    try:
        signature = inspect.signature(obj, follow_wrapped=False)
    except (TypeError, ValueError):
        return {}
    return {p.name: p.default for p in signature.parameters.values() if p.default is not MISSING}


# --- Functions that are compiled into their caller, for the arguments of this call
def inline(
    emitter: Emitter, definition: Definition, resolver: Resolver, defaults: dict[str, Any], args: Sequence[Any],
    kwargs: dict[str, Any], range: SourceRange | None, frame: Frame | None = None, owner_class: type | None = None,
) -> Any:  # fmt: skip
    """Compiles a function into the caller's graph, with what its arguments are in this call: what is known of them is
    known within, and an annotation converts where it says a type. What it returns."""
    depth, above = 0, emitter
    while above.caller is not None:
        depth, above = depth + 1, above.caller
        if above.definition.node is definition.node and depth > 40:
            fail(range, f"'{definition.name}' calls itself without end")
    inner = Emitter(emitter.graph, definition, resolver, emitter.function)
    inner.caller, inner.owner_class = emitter, owner_class
    inner.frame = Frame(emitter.frame.block, frame)
    _bind_all(inner, definition.node.args, defaults, args, kwargs, range)
    returns = getattr(definition.node, "returns", None)
    try:
        if returns is not None:
            inner.returns = _soft_type(inner, returns, resolver.annotation("return"))
        return run_body(inner)
    except CompileError as error:
        if range is not None and (not error.calls or error.calls[-1][1] != range):
            error.calls.append((definition.name, range))
        raise


def _soft_type(emitter: Emitter, node: ast.expr, fallback: Any) -> Any:
    """A type where an annotation says one that programs have; None where it does not."""
    from taeda.jit._ir_types import contained_in
    from taeda.jit.check.types import ANY

    try:
        found = type_of_annotation(emitter, node, fallback)
    except CompileError:
        return None
    except (TypeError, AttributeError):
        return None
    return None if found is None or contained_in(found, lambda t: t is ANY) else found


def _bind_all(
    inner: Emitter, spec: ast.arguments, defaults: dict[str, Any], args: Sequence[Any], kwargs: dict[str, Any],
    range: SourceRange | None,
) -> None:  # fmt: skip
    name = inner.definition.name
    plain = [*spec.posonlyargs, *spec.args]
    rest = dict(kwargs)
    for i, arg in enumerate([*plain, *spec.kwonlyargs]):
        if i < len(args) and i < len(plain):
            what = args[i]
        elif arg.arg in rest:
            what = rest.pop(arg.arg)
        elif arg.arg in defaults:
            what = Known(defaults[arg.arg])
        else:
            fail(range, f"{name}: the argument '{arg.arg}' is missing")
        if arg.annotation is not None:
            type = _soft_type(inner, arg.annotation, inner.resolver.annotation(arg.arg))
            what = _fitted(inner, what, type, arg.arg, range)
        inner.frame.names[arg.arg] = what
    if spec.vararg is not None:
        inner.frame.names[spec.vararg.arg] = TupleOf(tuple(args[len(plain) :]))
    elif len(args) > len(plain):
        fail(range, f"{name}: takes {len(plain)} positional arguments and was given {len(args)}")
    if spec.kwarg is not None:
        inner.frame.names[spec.kwarg.arg] = KeywordsOf(rest)
    elif rest:
        fail(range, f"{name}: there is no argument '{next(iter(rest))}'")


def _fitted(inner: Emitter, what: Any, type: Any, name: str, range: SourceRange | None) -> Any:
    if type is None or not isinstance(what, Value):
        return what
    if what.static_type.isSubtypeOf(type):
        return what
    found = conversion(what, type, WIDENING)
    return what if found is None else found(inner.graph, what, range)


class KeywordsOf(TupleOf):
    """``**kwargs`` of a function that is compiled into its caller: things by name."""

    def __init__(self, named: dict[str, Any]) -> None:
        super().__init__(tuple(map(Known, named)))
        object.__setattr__(self, "table", named)

    table: dict[str, Any]


def inline_python(emitter: Emitter, obj: Any, args: Sequence[Any], kwargs: dict[str, Any],
                  range: SourceRange | None) -> Any:  # fmt: skip
    """As `inline`, for a Python function."""
    plain = inspect.unwrap(obj)
    return inline(emitter, definition_of(plain), ClosureResolver(plain), defaults_of(plain), args, kwargs, range)


def inline_local(emitter: Emitter, local: LocalFunction, args: Sequence[Any], kwargs: dict[str, Any],
                 range: SourceRange | None) -> Any:  # fmt: skip
    """As `inline`, for a function defined within the program, which sees the names around it."""
    definition = Definition(local.node, local.home.definition.source)
    spec = local.node.args
    named = [*spec.posonlyargs, *spec.args]
    defaults = {}
    for arg, default in zip(named[len(named) - len(spec.defaults) :], spec.defaults):
        defaults[arg.arg] = _evaluated(emitter, default)
    for arg, written in zip(spec.kwonlyargs, spec.kw_defaults):
        if written is not None:
            defaults[arg.arg] = _evaluated(emitter, written)
    return inline(emitter, definition, local.home.resolver, defaults, args, kwargs, range, local.frame)


def _evaluated(emitter: Emitter, node: ast.expr) -> Any:
    what = emitter.expression(node)
    if not isinstance(what, Known):
        fail(emitter.range(node), "the default of an inner function must be known while the program is compiled")
    return what.obj
