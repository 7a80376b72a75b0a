"""One C++ function of an op: its head as PyTorch has it, and a body that calls ``taeda::ops``."""

from __future__ import annotations

from dataclasses import dataclass, replace

from taedagen.emit import cpp
from taedagen.emit.cpp_api import types
from taedagen.emit.cpp_api.types import Parameter
from taedagen.opdef.declaration import Op


@dataclass(frozen=True)
class Function:
    """A function of ``at`` or, if ``method``, of its tensors: declared in a header, defined in the library."""

    result: str
    name: str
    parameters: tuple[Parameter, ...]
    body: str
    method: bool = False

    @property
    def declaration(self) -> str:
        texts = ", ".join(p.text_with_default for p in self.parameters)
        return f"{self.result} {self.name}({texts}){' const' * self.method};"

    def definition(self, scope: str = "") -> str:
        texts = ", ".join(p.text for p in self.parameters)
        return f"{self.result} {scope}{self.name}({texts}){' const' * self.method} {{ {self.body} }}"

    def renamed(self, name: str) -> Function:
        return replace(self, name=name)


# Methods in C++ that Python's tensors have from elsewhere.
MORE_METHODS = {"alias", "mH", "mT", "matrix_H", "nonzero", "nonzero_numpy", "norm", "numpy_T", "stft", "where"}

# Arguments that have no default in C++ though the schema gives one, by name and type: with it, a call such as
# x.var() or conv2d(x, w, b) would fit two overloads.
_VARIANCE = {("unbiased", "bool")}
_PADDED = {("bias", "Tensor"), ("stride", "SymInt"), ("padding", "str")}
_NO_DEFAULTS: dict[str, set[tuple[str, str]]] = {
    **dict.fromkeys(("var", "std", "var_mean", "std_mean"), _VARIANCE),
    **dict.fromkeys(("conv1d", "conv2d", "conv3d"), _PADDED),
    **dict.fromkeys(("clamp", "clip", "clamp_", "clip_"), {("min", "Scalar")}),
    **dict.fromkeys(("any", "all"), {("dim", "int")}),
    **dict.fromkeys(("linalg_pinv", "linalg_matrix_rank"), {("atol", "float"), ("rtol", "float")}),
    "stft": {("hop_length", "int"), ("win_length", "int"), ("window", "Tensor"), ("normalized", "bool")},
    "arange": {("step", "Scalar")},
}  # fmt: skip


def _shown(op: Op, form: list[Parameter]) -> list[Parameter]:
    """A form without the defaults that would make calls ambiguous."""
    without = _NO_DEFAULTS.get(op.schema.name, set())
    if not without or (without is _PADDED and not any(a.type.base == "str" for a in op.inputs)):
        return form
    if op.schema.name == "stft" and any(a.name == "center" for a in op.inputs):
        return form
    names = {a.name for a in op.inputs if (a.name, a.type.base) in without}
    return [Parameter(p.type, p.name, p.passes) if p.name in names else p for p in form]


def _call(op: Op, given: list[Parameter], self_is: str = "") -> str:
    """``taeda::ops::add(*this, other, alpha)``: the arguments in the order of the schema."""
    expressions = {name: expression for p in given for name, expression in p.passes}
    if self_is:
        expressions["self"] = self_is
    return f"::taeda::ops::{op.cpp_name}({', '.join(expressions[a.name] for a in op.schema.arguments)})"


def _returned(op: Op, call: str) -> str:
    """The statement that gives a functional op's results."""
    results = op.schema.returns
    if not results:
        return f"{call};"
    if len(results) == 1 and results[0].type.is_list and results[0].type.is_tensor:
        return f"return at::detail::tensors({call});"
    if len(results) == 1 and results[0].type.base == "ScalarType":
        return f"return c10::to_scalar_type({call});"
    if len(results) > 1 and any(r.type.is_list for r in results):
        return f"return at::detail::results<{types.result(op)}>({call});"
    return f"return {call};"


def _forms(op: Op) -> list[list[Parameter]]:
    """With ``TensorOptions`` where the op takes what makes them up, and one by one."""
    arguments = op.inputs
    at = types.options_at(arguments)
    if at is None:
        return [_shown(op, types.parameters(arguments))]
    # One by one they have no defaults: a call without them takes the options.
    apart = [Parameter(p.type, p.name, p.passes) for p in types.parameters(arguments)]
    return [_shown(op, types.with_options(arguments, at)), apart]


def _outs(op: Op) -> list[Parameter]:
    return [types.parameter(a) for a in op.outs]


def _out_result(outs: list[Parameter]) -> tuple[str, str]:
    """The type that an out= function gives, and the statement that gives its out tensors."""
    if any(p.type == "at::TensorList" for p in outs):
        return "void", ""
    if len(outs) == 1:
        return "at::Tensor&", f" return {outs[0].name};"
    names = ", ".join(p.name for p in outs)
    return f"::std::tuple<{', '.join(['at::Tensor&'] * len(outs))}>", f" return {{{names}}};"


def functions(op: Op) -> list[Function]:
    """What ``namespace at`` has of an op."""
    name = cpp.identifier(op.cpp_name)
    if op.variant == "out":
        return _out_functions(op)
    if op.variant == "inplace":
        return _inplace_function(op)
    return [Function(types.result(op), name, tuple(form), _returned(op, _call(op, form))) for form in _forms(op)]


def _out_functions(op: Op) -> list[Function]:
    """``add_out(out, self, other)`` and ``add_outf(self, other, out)``."""
    outs = _outs(op)
    result, give = _out_result(outs)
    made = []
    for form in _forms(op):
        body = f"{_call(op, [*form, *outs])};{give}"
        bare = [Parameter(p.type, p.name, p.passes) for p in form]
        made.append(Function(result, op.cpp_name, (*outs, *form), body))
        made.append(Function(result, op.cpp_name + "f", (*bare, *outs), body))
    return made


def _inplace_function(op: Op) -> list[Function]:
    """The functions of ``at`` that write to their first argument; lists are written to and not returned."""
    form = tuple(_shown(op, types.parameters(op.inputs)))
    declared = op.declaration.variants
    if "function" not in declared if op.is_declared else not {"inplace_function"} & declared and "method" in declared:
        return []
    if form[0].type != "at::Tensor&":
        returns_list = form[0].type == "at::TensorList"
        return [Function("void", op.cpp_name, form, f"{_call(op, [*form])};")] if returns_list else []
    return [Function("at::Tensor&", op.cpp_name, form, f"{_call(op, [*form])}; return {form[0].name};")]


def methods(op: Op) -> list[Function]:
    """What class ``at::Tensor`` has of an op."""
    arguments = op.inputs
    declared = op.declaration.variants
    if op.variant == "out" or not arguments or not any(a.name == "self" and a.type.is_tensor for a in arguments):
        return []
    if op.schema.argument("self").type.is_list:
        return []
    if op.variant == "functional" and "method" not in declared and op.schema.name not in MORE_METHODS:
        return []
    if op.variant == "inplace" and op.is_declared and "method" not in declared:
        return []
    made = []
    for form in _forms(op):
        rest = [p for p in form if p.name != "self"]
        call = _call(op, rest, "*this")
        if op.variant == "inplace":
            body = f"{call}; return const_cast<Tensor&>(*this);"
            made.append(Function("at::Tensor&", op.cpp_name, tuple(rest), body, method=True))
        else:
            made.append(Function(types.result(op), op.cpp_name, tuple(rest), _returned(op, call), method=True))
    return made


def heads(op: Op) -> list[str]:
    """What C++ has of an op, as a reader knows it: ``at::Tensor at::relu(const at::Tensor& self);``."""
    scoped = [f.renamed(f"at::{f.name}") for f in functions(op)]
    return [f.declaration for f in (*scoped, *(m.renamed(f"at::Tensor::{m.name}") for m in methods(op)))]


def with_symbolic_sizes(op: Op, made: Function) -> list[Function]:
    """``view_symint(size)`` of ``view(size)``: the same with sizes as ``c10::SymInt``, which are numbers here."""
    sizes = {a.name for a in op.inputs if a.type.base == "SymInt"}
    if not sizes or op.variant == "out":
        return []
    given = [types.symbolic(p) if p.name in sizes else (p, p.name) for p in made.parameters]
    call = f"{'this->' if made.method else 'at::'}{made.name}({', '.join(passed for _, passed in given)})"
    return [replace(made, name=f"{made.name}_symint", parameters=tuple(p for p, _ in given), body=f"return {call};")]


def variable_factory(op: Op) -> list[Function]:
    """What ``namespace torch`` has of an op that makes tensors: calls ``at``'s, and heeds ``requires_grad``."""
    at = types.options_at(op.inputs)
    if op.variant != "functional" or at is None or op.schema.name == "to" or len(op.schema.returns) != 1:
        return []
    if "function" not in op.declaration.variants or op.schema.name in ("_to_copy", "_cudnn_init_dropout_state"):
        return []
    form = tuple(_shown(op, types.with_options(op.inputs, at)))
    given = ", ".join("options.requires_grad(::std::nullopt)" if p.name == "options" else p.name for p in form)
    return [
        Function("at::Tensor", op.cpp_name, form, f"return detail::with_grad(at::{op.cpp_name}({given}), options);")
    ]
