"""Counting the functional collectives of a program, by module."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any, Self

import taeda
from taeda import nn
from taeda.distributed import _counted
from taeda.distributed import _functional_collectives as _functional_collectives  # whose ops are counted
from taeda.distributed.tensor._dtensor import DTensor
from taeda.nn.modules.module import register_module_forward_pre_hook
from taeda.utils.module_tracker import ModuleTracker

Counts = dict[Any, int]


class CommDebugMode:
    """Inside ``with mode:``, functional collectives are counted: those of DTensors and of `functional collectives`.

    ``comm_counts`` has the counts by op, as in ``taeda.ops.c10d_functional.all_reduce``; ``comm_module_counts`` has
    them by module and ``"forward"`` or ``"backward"``. Each ``with`` begins anew.
    """

    comm_counts: Counts
    comm_module_counts: dict[str, dict[str, Counts]]

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self.comm_counts = defaultdict(int)
        self.comm_module_counts = {"Global": _both()}
        self._modules: dict[str, nn.Module] = {}
        self._running: list[str] = []
        self.advanced_module_tracker = ModuleTracker()

    def __enter__(self) -> Self:
        self._clear()
        self.advanced_module_tracker.__enter__()
        self._hook = register_module_forward_pre_hook(self._begin)
        _counted.listeners.append(self._count)
        return self

    def __exit__(self, *error: object) -> None:
        _counted.listeners.remove(self._count)
        self._hook.remove()
        self.advanced_module_tracker.__exit__(*error)

    def _begin(self, module: nn.Module, inputs: Any) -> None:
        name = self.advanced_module_tracker._name(module)
        self._modules[name] = module
        self.comm_module_counts.setdefault(name, _both())
        self._running.append(name)

        def end(*_: Any) -> None:
            self._running.remove(name)
            hook.remove()

        hook = module.register_forward_hook(end, always_call=True)  # after its own hooks, which move what it gives

    def _count(self, name: str) -> None:
        op = getattr(taeda.ops.c10d_functional, name)
        tracker = self.advanced_module_tracker
        phase, modules = ("backward", tracker.parents) if tracker.is_bw else ("forward", {"Global", *self._running})
        self.comm_counts[op] += 1
        for module in modules:
            self.comm_module_counts.setdefault(module, _both())[phase][op] += 1

    def get_total_counts(self) -> int:
        """How many collectives there were."""
        return sum(self.comm_counts.values())

    def get_comm_counts(self) -> Counts:
        """How many there were of each op; 0 for others."""
        return self.comm_counts

    def get_parameter_info(self) -> dict[str, dict[str, Any]]:
        """The parameters of each module that was called and has some."""
        found = {name: dict(module.named_parameters(recurse=False)) for name, module in self._modules.items()}
        return {name: {key: param.data for key, param in params.items()} for name, params in found.items() if params}

    def get_sharding_info(self) -> dict[str, Any]:
        """The placements of each parameter that is a DTensor, by the module's name and its own."""
        return {f"{name}.{key}": value.placements for name, params in self.get_parameter_info().items()
                for key, value in params.items() if isinstance(value, DTensor)}  # fmt: skip

    def generate_comm_debug_tracing_table(self, noise_level: int = 3) -> str:
        """The counts by module, as text; with ``noise_level`` of 1 and more, the modules' parameters too."""
        lines: list[str] = []
        for name, phases in self.comm_module_counts.items():
            indent = "  " * (0 if name == "Global" else name.count(".") + 1)
            lines.append(f"{indent}{name}")
            if noise_level > 0:
                for key, value in self.get_parameter_info().get(name, {}).items():
                    placed = f" {value.placements}" if isinstance(value, DTensor) else ""
                    lines.append(f"{indent}  *parameter {key} {tuple(value.shape)}{placed}")
            for phase, counts in phases.items():
                lines += [f"{indent}  *{phase} {op}: {count}" for op, count in counts.items()]
        return "\n".join(lines) + "\n"

    def log_comm_debug_tracing_table_to_file(self, file_name: str = "comm_mode_log.txt", noise_level: int = 3) -> None:
        """Writes `generate_comm_debug_tracing_table` into a file."""
        Path(file_name).write_text(self.generate_comm_debug_tracing_table(noise_level))

    def generate_json_dump(self, file_name: str = "comm_mode_log.json", noise_level: int = 3) -> None:
        """Writes the counts by module, and where parameters lie, into a file of JSON."""
        modules = [
            {"fqn": name, "parameters": {key: str(getattr(value, "placements", ()))
                                         for key, value in self.get_parameter_info().get(name, {}).items()},
             **{phase: {str(op): count for op, count in counts.items()} for phase, counts in phases.items()}}
            for name, phases in self.comm_module_counts.items()
        ]  # fmt: skip
        Path(file_name).write_text(json.dumps(modules, indent=2))


def _both() -> dict[str, Counts]:
    return {"forward": defaultdict(int), "backward": defaultdict(int)}
