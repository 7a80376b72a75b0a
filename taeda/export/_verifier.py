"""Checks that an exported program is what it says: its graph, and its graph with its signature."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import taeda
from taeda import Tensor, nn
from taeda._library.ops import OpOverload
from taeda.export.graph_signature import InputKind, OutputKind
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node

if TYPE_CHECKING:
    from taeda.export.exported_program import ExportedProgram


class SpecViolationError(RuntimeError):
    """A program is not what an exported program may be."""


# Python's own functions of numbers that a graph may call.
_NUMBERS = frozenset(
    getattr(operator, name)
    for name in ("getitem", "add", "mul", "sub", "truediv", "floordiv", "mod", "pow", "neg", "ge", "le", "gt", "lt",
                 "eq", "ne", "and_", "or_", "not_", "pos", "abs", "rshift", "lshift")
) | {math.ceil, math.floor, math.trunc, round, max, min, int, float, bool, abs}  # fmt: skip


class Verifier:
    """What a graph without writes may hold. A subclass is another dialect."""

    dialect = "ATEN"

    def allowed_builtin_ops(self) -> list[Any]:
        """Functions of numbers."""
        return [*_NUMBERS]

    def allowed_op_types(self) -> tuple[type[Any], ...]:
        """The types of what a graph calls."""
        return OpOverload, type(taeda.ops.higher_order.cond)

    def allowed_getattr_types(self) -> tuple[type[Any], ...]:
        """The types of a graph's attributes."""
        return GraphModule, Tensor

    def check_valid_op(self, op: Any) -> None:
        """Checks the target of a call further; a dialect may raise `SpecViolationError`."""
        if isinstance(op, OpOverload) and op._schema.is_mutable and op.namespace == "aten":
            raise SpecViolationError(f"taeda.export: {op} writes to its arguments, as nothing may in {self.dialect}")

    def check_additional(self, gm: GraphModule) -> None:
        """Checks a graph further; a dialect may raise `SpecViolationError`."""

    def check(self, ep: ExportedProgram) -> None:
        """Checks a program.

        Raises:
            SpecViolationError: the graph calls what it must not, or does not fit its signature.
        """
        self._check_graph_module(ep.graph_module)
        check_signature(ep)

    def _check_graph_module(self, gm: GraphModule) -> None:
        for module in gm.modules():
            if not isinstance(module, GraphModule):
                continue
            module.graph.lint()
            for node in module.graph.nodes:
                self._check_node(module, node)
        self.check_additional(gm)

    def _check_node(self, gm: GraphModule, node: Node) -> None:
        if node.op in ("call_module", "call_method"):
            raise SpecViolationError(f"taeda.export: the graph has a {node.op} of {node.target}; it may call ops only")
        if node.op == "get_attr":
            value: Any = gm
            for part in str(node.target).split("."):
                value = getattr(value, part, None)
            if not isinstance(value, self.allowed_getattr_types()):
                raise SpecViolationError(f"taeda.export: {node.target} is no attribute of the graph's module")
        elif node.op == "call_function":
            known = node.target in self.allowed_builtin_ops() or _is_helper(node.target)
            if not known and not isinstance(node.target, self.allowed_op_types()):
                raise SpecViolationError(f"taeda.export: the graph calls {node.target}, which is no op")
            self.check_valid_op(node.target)


class TrainingIRVerifier(Verifier):
    """What a graph may hold whose ops may write."""

    dialect = "TRAINING"

    def check_valid_op(self, op: Any) -> None:
        """Every op is valid."""


def _is_helper(target: Any) -> bool:
    """Whether it is one of the functions of sizes that stand for ops."""
    name = getattr(target, "__name__", "")
    return getattr(target, "__module__", "").startswith("taeda.") or getattr(taeda, name, None) is target


def check_signature(program: ExportedProgram) -> None:
    """Checks that inputs, outputs and state are what the signature says."""
    placeholders = [n.name for n in program.graph.nodes if n.op == "placeholder"]
    specs = program.graph_signature.input_specs
    if len(placeholders) != len(specs):
        raise SpecViolationError(
            f"taeda.export: the graph takes {len(placeholders)} inputs, its signature says {len(specs)}"
        )
    for name, spec in zip(placeholders, specs):
        if getattr(spec.arg, "name", name) != name:
            raise SpecViolationError(f"taeda.export: the graph takes {name}, its signature says {spec.arg.name}")
        for problem in _problems_of(spec, program):
            raise SpecViolationError(f"taeda.export: {problem}")
    _check_outputs(program)


def _problems_of(spec: Any, program: ExportedProgram) -> Iterator[str]:
    target = spec.target
    if spec.kind is InputKind.PARAMETER:
        if target not in program.state_dict:
            yield f"the parameter {target} is not in the state dict"
        elif not isinstance(program.state_dict[target], nn.Parameter):
            yield f"the state for the parameter {target} is not an instance of nn.Parameter"
    elif spec.kind is InputKind.BUFFER:
        if spec.persistent is None:
            yield f"the buffer {target} does not say whether it is persistent"
        elif spec.persistent and target not in program.state_dict:
            yield f"the buffer {target} is not in the state dict"
        elif not spec.persistent and target not in program.constants:
            yield f"the buffer {target}, which is not persistent, is not among the constants"
    elif spec.kind in (InputKind.CONSTANT_TENSOR, InputKind.CUSTOM_OBJ) and target not in program.constants:
        yield f"the constant {target} is not among the constants"


def _check_outputs(program: ExportedProgram) -> None:
    specs = program.graph_signature.output_specs
    results = program.graph.output_node().args[0]
    if not isinstance(results, (list, tuple)) or len(results) != len(specs):
        raise SpecViolationError(f"taeda.export: the graph gives {results}, its signature says {len(specs)} outputs")
    places = {spec.target: spec.kind for spec in program.graph_signature.input_specs}
    for spec, value in zip(specs, results):
        if isinstance(value, Node) and getattr(spec.arg, "name", value.name) != value.name:
            raise SpecViolationError(f"taeda.export: the graph gives {value.name}, its signature says {spec.arg.name}")
        if spec.kind is OutputKind.BUFFER_MUTATION and places.get(spec.target) is not InputKind.BUFFER:
            raise SpecViolationError(f"taeda.export: {spec.arg.name} is new, but there is no tensor '{spec.target}'")
