"""What a declaration is, and the ops (schemas) that one declaration stands for."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from keyword import iskeyword
from pathlib import Path
from typing import Any

from taedagen.opdef import options as known_options
from taedagen.opdef.errors import DeclarationError, relative
from taedagen.opdef.expr import call, count_results_with
from taedagen.opdef.samples import Sample, mistake_in_domain, mistake_in_samples
from taedagen.opdef.schema import Argument, Return, Schema, Type, parse_schema

VARIANTS = {"function", "method", "inplace", "inplace_function", "out"}
PROMOTIONS = {"result_type", "float", "same", "bool", "int_to_float"}
AUTOCASTS = {"lower", "fp32", "promote"}

# Groups of dtypes that declarations name.
INTEGRAL = ("uint8", "int8", "int16", "int32", "int64")
UNSIGNED = ("uint16", "uint32", "uint64")
HALF = ("float16", "bfloat16")
FLOATING = ("float32", "float64", *HALF)
COMPLEX = ("complex64", "complex128")
BOOL = ("bool",)
REAL = (*INTEGRAL, *FLOATING)
NUMERIC = (*REAL, *COMPLEX)
ALL = (*NUMERIC, *BOOL)


# What data can be besides dense, as functionalities of core/key_set.h, and what dispatch keys call them.
LAYOUTS = {"Sparse": "Sparse", "SparseCsr": "SparseCsr", "Quantized": "Quantized", "Nested": "NestedTensor"}
_KEY = re.compile(rf"({'|'.join(sorted(LAYOUTS.values(), key=len, reverse=True))})(\w*)")


def layout_layer(functionality: str) -> str:
    """``sparse_csr`` of ``SparseCsr``."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", functionality).lower()


@dataclass(frozen=True, eq=False)
class LayoutKernel:
    """What computes an op on data that is not dense."""

    functionality: str  # of LAYOUTS
    device: str  # a DeviceType; "" for every device
    function: Callable[..., Any]
    files: str  # where it is written by hand; "" where the function is traced

    @property
    def layer(self) -> str:
        """The namespace of its C++ function."""
        layout = layout_layer(self.functionality)
        return f"{layout}_{self.device.lower()}" if self.device else layout


@dataclass(eq=False)
class Declaration:
    """One block of a family file: schema, documentation, formula or kernel, derivative."""

    kind: str
    schema: Schema
    function: Callable[..., Any] | type
    where: tuple[str, int]
    family: str
    variants: frozenset[str] = frozenset({"function"})
    module: str = ""  # "" for the main namespace, else nn, linalg, fft, special
    dtypes: tuple[str, ...] = ALL
    options: dict[str, Any] = field(default_factory=dict)  # taedagen/opdef/options.py
    formulas: dict[tuple[str, ...], Callable[..., Any]] = field(default_factory=dict)  # by dtypes, besides the main one
    derivative: Callable[..., Any] | None = None
    derivative_where: tuple[str, int] | None = None
    tangent: Callable[..., Any] | None = None  # @op.forward
    differentiable: bool = True
    layouts: list[LayoutKernel] = field(default_factory=list)  # @op.kernel

    @property
    def name(self) -> str:
        return self.schema.name

    @property
    def doc(self) -> str:
        return inspect.cleandoc(self.function.__doc__ or "")

    @property
    def supported(self) -> tuple[str, ...]:
        """All dtypes that some formula is for."""
        return tuple(dict.fromkeys([*self.dtypes, *(dtype for dtypes in self.formulas for dtype in dtypes)]))

    def fail(self, message: str, where: tuple[str, int] | None = None) -> DeclarationError:
        return DeclarationError(where or self.where, f"{self.schema.full_name}: {message}")

    # --- the decorators of a declaration
    def backward(self, function: Callable[..., Any]) -> Declaration:
        """The derivative: parameters are what is saved, the result maps arguments to gradients."""
        if self.derivative is not None:
            raise self.fail("a second derivative is declared for it", place_of(function))
        self.derivative, self.derivative_where = function, place_of(function)
        return self

    def forward(self, function: Callable[..., Any]) -> Declaration:
        """The forward-mode derivative, where the derived one will not do."""
        self.tangent = function
        return self

    def formula(self, dtypes: tuple[str, ...]) -> Callable[[Callable[..., Any]], Declaration]:
        """A second formula, for these dtypes."""

        def take(function: Callable[..., Any]) -> Declaration:
            self.formulas[tuple(dtypes)] = function
            return self

        return take

    def samples(self, samples: list[Sample]) -> None:
        """What ``samples=`` says, below the block where it is long."""
        where = place_of_caller()
        if "samples" in self.options:
            raise self.fail("it has samples already", where)
        mistake = mistake_in_samples(self.schema, samples)
        if mistake:
            raise self.fail(mistake, where)
        self.options["samples"] = samples

    def kernel(self, key: str, files: str = "") -> Callable[[Callable[..., Any]], Declaration]:
        """A kernel for data that is not dense: ``"Sparse"`` on every device, ``"SparseCPU"`` on one.

        The function is traced to calls of other ops; where ``files`` names a source, it is written there by hand.
        """

        def take(function: Callable[..., Any]) -> Declaration:
            where, match = place_of(function), _KEY.fullmatch(key)
            if match is None:
                raise self.fail(f"'{key}' is no kind of data; there are {', '.join(LAYOUTS.values())}", where)
            if self.kind == "composite" and not self.options.get("explicit"):
                raise self.fail("it is made of other ops, which bring the kernels for each kind of data", where)
            functionality = next(name for name, shown in LAYOUTS.items() if shown == match[1])
            self.layouts.append(LayoutKernel(functionality, match[2], function, files))
            return self

        return take

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """In a formula or derivative of another op: a call of this one."""
        return call(self.name, args, kwargs)

    # --- the ops it stands for
    def ops(self) -> list[Op]:
        """All schemas of this declaration: functional, in-place, out, and the same with numbers for tensors."""
        schemas = [(self.schema, frozenset[str]())]
        for overload, names in self.scalar_overloads.items():
            arguments = [replace(a, type=Type("Scalar")) if a.name in names
                         else replace(a, keyword_only=False) if a.name == "alpha" else a
                         for a in self.schema.arguments]  # fmt: skip
            schemas.append((self.schema.with_arguments(*arguments, overload=overload), frozenset(names)))
        result = []
        for schema, numbers in schemas:
            first_is_number = bool(schema.arguments) and schema.arguments[0].name in numbers
            # A schema that is in place already (``copy_``, ``uniform_``) stands for itself alone.
            declared_inplace = schema.name.endswith("_") and any(r.type.is_mutable for r in schema.returns)
            result.append(Op(self, schema, "inplace" if declared_inplace else "functional", numbers, schema))
            if "inplace" in self.variants and not first_is_number:
                result.append(Op(self, self._inplace(schema), "inplace", numbers, schema))
            if "out" in self.variants:
                result.append(Op(self, self._out(schema), "out", numbers, schema))
        return result

    @property
    def scalar_overloads(self) -> dict[str, tuple[str, ...]]:
        """Overload name to the tensor arguments that are numbers in it (option ``scalar``)."""
        spec = self.options.get("scalar") or {}
        if isinstance(spec, str):
            spec = {"Scalar": spec}
        return {k: (v,) if isinstance(v, str) else tuple(v) for k, v in spec.items()}

    def _inplace(self, schema: Schema) -> Schema:
        first, *rest = schema.arguments
        mutable = replace(first, type=replace(first.type, alias="a!"))
        overload = self._of_overload("inplace_overload", schema, schema.overload)
        returns = (Return(mutable.type),)
        return schema.with_arguments(mutable, *rest, name=schema.name + "_", overload=overload, returns=returns)

    def _out(self, schema: Schema) -> Schema:
        letters = "abcdefgh"
        returns, outs = [], []
        for i, result in enumerate(schema.returns):
            type_ = replace(result.type, alias=f"{letters[i]}!")
            outs.append(Argument(self.out_names[i], type_, None, keyword_only=True))
            returns.append(Return(type_, result.name))
        plain = schema.overload in ("", "self") or (schema.overload == "Tensor" and self.kind == "pointwise")
        overload = self._of_overload("out_overload", schema, "out" if plain else f"{schema.overload}_out")
        # The dtype that an out tensor has goes before the one that a new tensor would get.
        arguments = [replace(a, default="None") if a.name == "dtype" and a.type.optional else a
                     for a in schema.arguments]  # fmt: skip
        return schema.with_arguments(*arguments, *outs, overload=overload, returns=tuple(returns))

    def _of_overload(self, option: str, schema: Schema, usual: Any) -> Any:
        """What an option says of a schema: one value is of the declared one, a table has values by overload."""
        said = self.options.get(option)
        if not isinstance(said, dict):
            said = {} if said is None else {self.schema.overload: said}
        return said.get(schema.overload, usual)

    def node_number(self, schema: Schema) -> int | None:
        """The number in the name of its node, where the order of declarations does not tell it."""
        number: int | None = self._of_overload("node", schema, None)
        return number

    @property
    def out_names(self) -> list[str]:
        """Names of the out parameters: ``out`` for one result, else the results' names."""
        if "outs" in self.options:
            return str(self.options["outs"]).split()
        if len(self.schema.returns) == 1:
            return ["out"]
        taken = self.schema.names
        return [r.name if r.name and r.name not in taken else f"out{i}" for i, r in enumerate(self.schema.returns)]


@dataclass(frozen=True, eq=False)
class Op:
    """One schema of a declaration: an entry of the op table."""

    declaration: Declaration
    schema: Schema
    variant: str  # functional, inplace or out
    numbers: frozenset[str]  # arguments that are numbers here and tensors in the declaration
    plain: Schema  # the form that is neither in place nor with out=, or itself where there is none

    @property
    def cpp_name(self) -> str:
        return self.schema.name + ("_out" if self.variant == "out" else "")

    @property
    def is_declared(self) -> bool:
        """Whether it is the declaration's own schema, not a form of it."""
        return self.schema == self.plain and not self.numbers

    @property
    def inputs(self) -> tuple[Argument, ...]:
        """Without the out parameters."""
        return tuple(
            a for a in self.schema.arguments if self.variant != "out" or a.name not in self.declaration.out_names
        )

    @property
    def outs(self) -> tuple[Argument, ...]:
        return self.schema.arguments[len(self.inputs) :]


def place_of(function: Any) -> tuple[str, int]:
    code = getattr(function, "__code__", None)
    if code is not None:
        return relative(code.co_filename), code.co_firstlineno
    return relative(inspect.getsourcefile(function) or "?"), inspect.getsourcelines(function)[1]


def place_of_caller() -> tuple[str, int]:
    """Where the function was called that asks."""
    frame = sys._getframe(2)
    return relative(frame.f_code.co_filename), frame.f_lineno


def defined(text: str) -> Callable[..., Any]:
    """The function that ``text`` defines, for declarations that are made in a loop: as if it stood where this is
    called from."""
    caller = inspect.currentframe()
    assert caller is not None and caller.f_back is not None
    code = compile("\n" * (caller.f_back.f_lineno - 1) + text, caller.f_back.f_code.co_filename, "exec")
    names: dict[str, Any] = {}
    exec(code, caller.f_back.f_globals, names)
    (function,) = names.values()
    function.__source__ = text
    return function  # type: ignore[no-any-return]


class Registry:
    """All declarations in the order of their files and lines."""

    def __init__(self) -> None:
        self.declarations: list[Declaration] = []
        self._by_full_name: dict[str, Declaration] = {}
        self._by_plain_name: dict[str, list[Declaration]] = {}

    def add(self, declaration: Declaration) -> None:
        for op in declaration.ops():
            other = self._by_full_name.setdefault(op.schema.full_name, declaration)
            if other is not declaration:
                raise declaration.fail(
                    f"'{op.schema.full_name}' is declared already at {other.where[0]}:{other.where[1]}"
                )
        self.declarations.append(declaration)
        self._by_plain_name.setdefault(declaration.name.removesuffix("_"), []).append(declaration)

    def find(self, full_name: str) -> Declaration | None:
        """The declaration of ``name.overload``."""
        return self._by_full_name.get(full_name)

    def siblings(self, name: str) -> list[Declaration]:
        """All overloads of ``name``, and of that name with or without the underscore of an in-place op."""
        return self._by_plain_name.get(name.removesuffix("_"), [])

    def named(self, name: str) -> list[Declaration]:
        """All overloads of ``name``, functional schemas only."""
        return [d for d in self.siblings(name) if d.name == name]

    def result_count(self, name: str) -> int:
        """How many results the first op of that name has; 1 for a name that is not declared."""
        return next((len(d.schema.returns) for d in self.named(name)), 1)


REGISTRY = Registry()
count_results_with(REGISTRY.result_count)


def _declare(kind: str, text: str, options: dict[str, Any]) -> Callable[[Any], Declaration]:
    def take(function: Any) -> Declaration:
        where = place_of(function)
        try:
            schema = parse_schema(text)
        except ValueError as mistake:
            raise DeclarationError(where, str(mistake)) from None
        variants = frozenset(str(options.pop("variants", "function")).split())
        declaration = Declaration(
            kind, schema, function, where, Path(where[0]).stem, variants, options.pop("module", ""),
            tuple(options.pop("dtypes", ALL)), options,
        )  # fmt: skip
        declaration.differentiable = not options.pop("not_differentiable", False)
        _validate(declaration)
        REGISTRY.add(declaration)
        return declaration

    return take


def _validate(declaration: Declaration) -> None:
    schema, function = declaration.schema, declaration.function
    mistake = known_options.mistake(declaration.kind, declaration.options)
    if mistake:
        raise declaration.fail(mistake)
    unknown = declaration.variants - VARIANTS
    if unknown:
        raise declaration.fail(f"the variant {sorted(unknown)} is unknown; there are {sorted(VARIANTS)}")
    promote = declaration.options.get("promote")
    if promote is not None and promote not in PROMOTIONS:
        raise declaration.fail(f"the promotion rule '{promote}' is unknown; there are {sorted(PROMOTIONS)}")
    autocast = declaration.options.get("autocast")
    if autocast is not None and autocast not in AUTOCASTS:
        raise declaration.fail(f"the autocast rule '{autocast}' is unknown; there are {sorted(AUTOCASTS)}")
    widest_of = str(declaration.options.get("widest_of", "")).split()
    if widest_of and (autocast != "promote" or not set(widest_of) <= set(schema.names)):
        raise declaration.fail("widest_of names arguments, for autocast='promote'")
    for option, find_mistake in (("samples", mistake_in_samples), ("domain", mistake_in_domain)):
        wrong = find_mistake(schema, declaration.options[option]) if option in declaration.options else None
        if wrong:
            raise declaration.fail(wrong)
    for option in ("number", "old_factor"):
        if declaration.options.get(option, schema.names[0]) not in schema.names:
            raise declaration.fail(f"the option '{option}' names an argument; there are {schema.names}")
    if not set(str(declaration.options.get("flat", "")).split()) <= set(schema.names):
        raise declaration.fail(f"the option 'flat' names arguments; there are {schema.names}")
    if not declaration.doc:
        raise declaration.fail("it has no docstring")
    if not isinstance(function, type):
        names = list(inspect.signature(function).parameters)
        wanted = [f"{name}_" if iskeyword(name) else name for name in schema.names]
        written_by_hand = declaration.kind == "kernel" or "files" in declaration.options
        if names != wanted and not (written_by_hand and names == ["_"]):
            raise declaration.fail(f"the function takes {names} but the schema says {wanted}")
    if "inplace" in declaration.variants and not (schema.arguments and schema.arguments[0].type.is_tensor):
        raise declaration.fail("an in-place variant needs a tensor as its first argument")


def pointwise(schema: str, **options: Any) -> Callable[[Any], Declaration]:
    """An op whose result at an index is a formula of the inputs at that index.

    The options of every kind are in ``taedagen/opdef/options.py``.
    """
    return _declare("pointwise", schema, options)


def reduction(schema: str, **options: Any) -> Callable[[Any], Declaration]:
    """An op that combines elements along dimensions; a class with ``identity``, ``combine``, ``load``, ``finish``."""
    return _declare("reduction", schema, options)


def view(schema: str, **options: Any) -> Callable[[Any], Declaration]:
    """An op that gives another geometry over the same storage; ``shape`` names the rule in ``csrc/shape``."""
    return _declare("view", schema, options)


def kernel(schema: str, **options: Any) -> Callable[[Any], Declaration]:
    """An op with a hand-written kernel per backend in ``csrc/backend/*/<files>.cpp``; ``shape`` names its shape
    rule."""
    return _declare("kernel", schema, options)


def composite(schema: str, **options: Any) -> Callable[[Any], Declaration]:
    """An op made of other ops: a traced body, or with ``files`` a function in ``csrc/composite/<files>.cpp``."""
    return _declare("composite", schema, options)
