"""Which rule serves an op: what its declaration says (``batch=``), or a program's own, else what its kind tells."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import taeda
from taeda._library.ops import OpOverload
from taeda._main.tables import generated_text
from taeda._schema.tags import Tag
from taeda.func._batched.program_rules import run_program_rule
from taeda.func._batched.tensor import Batch, Rule

_OF_PROGRAMS: dict[str, Rule] = {}


@functools.cache
def rule_of(op: OpOverload) -> Rule | None:
    """The rule of an op; None where it is made of others, whose rules serve."""
    said = _declared().get(op.name().removeprefix("aten::"))
    if said is None:
        is_ours = op.namespace == "aten"
        return _by_kind(op) if is_ours else _OF_PROGRAMS.get(op.name()) or _named("general.one_by_one")
    name, *options = said.split()
    if not options:
        return _named(name)
    given = {key: value if is_pair else True for key, is_pair, value in (o.partition("=") for o in options)}
    return functools.partial(_named(name), **given)


@functools.cache
def _declared() -> dict[str, str]:
    """By an op's full name its rule, ``file.function``, and the rule's options."""
    lines = generated_text("batching.txt").splitlines()
    return {name: rule for name, _, rule in (line.partition(" ") for line in lines)}


def _named(name: str) -> Rule:
    file, _, function = name.partition(".")
    return getattr(importlib.import_module(f"taeda.func._batched.{file}"), function)  # type: ignore[no-any-return]


def _by_kind(op: OpOverload) -> Rule | None:
    tags = op.tags
    if Tag.out in tags:
        return _named("general.refused")
    if Tag.pointwise in tags:
        return _named("general.written_elementwise" if op._schema.is_mutable else "general.elementwise")
    if Tag.reduction in tags:
        return _named("along.reduction")
    kinds = {hop[2] for hop in taeda._C._foretell(op, taeda.device("cpu"), taeda.strided)}
    if "Composite" in kinds:
        return None
    if op._schema.is_mutable or op.is_view:
        return _named("general.refused")
    return None if "AnyDevice" in kinds else _named("general.one_by_one")


def register_program_rule(name: str, function: Rule) -> None:
    """Registers ``function(info, in_dims, *args, **kwargs)``: it gives results and their dimensions over examples."""

    def run(batch: Batch, op: OpOverload, *args: Any, **kwargs: Any) -> Any:
        return run_program_rule(name, function, batch, args, kwargs)

    _OF_PROGRAMS[name] = run
    rule_of.cache_clear()
