"""How many floating-point operations a program spends in its matrix products, convolutions and attention."""

from __future__ import annotations

import functools
import sys
from collections import defaultdict
from collections.abc import Callable
from math import prod
from typing import Any

import taeda
from taeda import Tensor
from taeda._main.tables import generated_text
from taeda.utils._python_dispatch import TorchDispatchMode
from taeda.utils._pytree import tree_map
from taeda.utils.module_tracker import ModuleTracker

__all__ = ["FlopCounterMode", "register_flop_formula"]

Formula = Callable[..., int]

aten = taeda.ops.aten
flop_registry: dict[Any, Formula] = {}


def _shape_of(value: Any) -> Any:
    return value.shape if isinstance(value, Tensor) else value


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable[[Formula], Formula]:
    """Decorates the formula for what an op costs: ``formula(*args, out_shape=..., **kwargs)``.

    Args:
        targets: an op like ``ops.aten.mm``, or a list of them.
        get_raw: the formula gets tensors, and the result as ``out_val``; by default it gets their shapes.
    """

    def register(formula: Formula) -> Formula:
        counted = formula if get_raw else _of_shapes(formula)
        for target in targets if isinstance(targets, (list, tuple)) else [targets]:
            flop_registry[target] = counted
        return formula

    return register


def _of_shapes(formula: Formula) -> Formula:
    @functools.wraps(formula)
    def counted(*args: Any, out_val: Any = None, **kwargs: Any) -> int:
        args, kwargs, out_shape = tree_map(_shape_of, (args, kwargs, out_val))
        return formula(*args, out_shape=out_shape, **kwargs)

    return counted


def _declared() -> dict[str, Formula]:
    """The formulas of declarations, by the names of ops."""
    lines = (line.partition(" ") for line in generated_text("flops.txt").splitlines())
    return {name: eval(formula, {"prod": prod}) for name, _, formula in lines}


_FORMULAS = _declared()
for _name, _formula in _FORMULAS.items():
    register_flop_formula(getattr(aten, _name))(_formula)
mm_flop, bmm_flop, addmm_flop, conv_flop = map(_FORMULAS.get, ("mm", "bmm", "addmm", "convolution"))


_SUFFIXES = ("", "K", "M", "B", "T")


def _suffix_index(number: int) -> int:
    return max(0, min(len(_SUFFIXES) - 1, (len(str(number)) - 2) // 3))


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.2%}" if whole else "0%"


class FlopCounterMode:
    """Counts floating-point operations inside ``with counter:``, by module and by op.

    Matrix products, linear layers, convolutions and attention are counted, their backward passes too, and what
    `register_flop_formula` tells about. A multiplication and an addition are two operations.

    Args:
        mods: not needed; modules are found as they are called.
        depth: how deep below the outermost modules the table goes; None for all the way.
        display: print the table at the end.
        custom_mapping: formulas for ops, before the registered ones.
    """

    def __init__(
        self,
        mods: Any = None,
        depth: int | None = 2,
        display: bool = True,
        custom_mapping: dict[Any, Any] | None = None,
    ) -> None:
        self.flop_counts: dict[str, dict[Any, int]] = {}
        self.depth, self.display = depth, display
        own = {
            op: formula if getattr(formula, "_get_raw", False) else _of_shapes(formula)
            for op, formula in (custom_mapping or {}).items()
        }
        self.flop_registry: dict[Any, Formula] = {**flop_registry, **own}
        self.mod_tracker = ModuleTracker()
        self._mode = _Counting(self)

    def __enter__(self) -> FlopCounterMode:
        self.flop_counts = defaultdict(lambda: defaultdict(int))
        self.mod_tracker.__enter__()
        self._mode.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._mode.__exit__(*error)
        self.mod_tracker.__exit__()
        if self.display:
            print(self.get_table(self.depth))

    def _count(self, op: Any, result: Any, args: Any, kwargs: dict[str, Any]) -> None:
        formula = self.flop_registry.get(op.overloadpacket)
        if formula is None:
            return
        flops = formula(*args, **kwargs, out_val=result)
        for module in self.mod_tracker.parents:
            self.flop_counts[module][op.overloadpacket] += flops

    def get_total_flops(self) -> int:
        """The number of operations."""
        return sum(self.flop_counts.get("Global", {}).values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """The number of operations by the name of the module, then by op; ``"Global"`` is everything."""
        return {module: dict(counts) for module, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """The counts as a table for reading."""
        depth = self.depth if depth is None else depth
        depth = sys.maxsize if depth is None else depth
        whole = self.get_total_flops()
        modules = sorted(name for name in self.flop_counts if name != "Global" and name.count(".") + 1 <= depth)
        # Everything gets a line of its own unless one module did it all.
        alone = any(sum(self.flop_counts[name].values()) == whole for name in modules)
        lines = [] if alone else _lines("Global", 0, self.flop_counts.get("Global", {}))
        for name in modules:
            lines += _lines(name, name.count(".") + (not alone), self.flop_counts[name])
        scale = _suffix_index(whole)
        rows = [[text, _scaled(count, scale), _percent(count, whole)] for text, count in lines]
        return _layout([["Module", "FLOP", "% Total"], *rows])


def _lines(module: str, level: int, counts: dict[Any, int]) -> list[tuple[str, int]]:
    """A module's total and its ops', each with what the table shows for it."""
    ops = [(f"{' ' * level} - {op}", count) for op, count in counts.items()]
    return [(" " * level + module, sum(counts.values())), *ops]


def _scaled(count: int, scale: int) -> str:
    return f"{count / 1000**scale:.3f}{_SUFFIXES[scale]}" if scale else str(count)


def _layout(rows: list[list[str]]) -> str:
    """Columns of equal width; the first one's text stands left, numbers right."""
    widths = [max(len(row[column]) for row in rows) for column in range(3)]

    def line(row: list[str]) -> str:
        return "  ".join([row[0].ljust(widths[0]), row[1].rjust(widths[1]), row[2].rjust(widths[2])])

    return "\n".join([line(rows[0]), "  ".join("-" * width for width in widths), *map(line, rows[1:])])


class _Counting(TorchDispatchMode):
    """Shows the counter every op and its result."""

    def __init__(self, counter: FlopCounterMode) -> None:
        super().__init__()
        self._counter = counter

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        self._counter._count(func, result, args, kwargs)
        return result
