"""Modules that take note of what passes through them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from taeda import Tensor, nn
from taeda.ao.ns.fx.utils import compute_sqnr


class OutputLogger(nn.Module):
    """Keeps copies of the tensors that pass through it, and where it stands."""

    stats: list[Tensor]
    stats_rnn: list[tuple[Tensor, tuple[Tensor, Tensor]]]
    fqn: str | None
    qconfig_str: str | None
    _is_impure = True  # passes over graphs leave it, though nothing uses its result

    def __init__(
        self, ref_node_name: str, prev_node_name: str, model_name: str, ref_name: str, prev_node_target_type: str,
        ref_node_target_type: str, results_type: str, index_within_arg: int, index_of_arg: int, fqn: str | None,
        qconfig_str: str | None = "",
    ) -> None:  # fmt: skip
        super().__init__()
        self.stats = []
        self.stats_rnn = []
        self.enabled, self.save_activations = True, True
        self.ref_node_name, self.prev_node_name, self.model_name = ref_node_name, prev_node_name, model_name
        self.ref_name, self.results_type, self.fqn = ref_name, results_type, fqn
        self.prev_node_target_type, self.ref_node_target_type = prev_node_target_type, ref_node_target_type
        self.index_within_arg, self.index_of_arg, self.qconfig_str = index_within_arg, index_of_arg, qconfig_str

    # Without types, so that scripted models take it for one of tensors.
    def forward(self, x):  # type: ignore[no-untyped-def]
        """Takes note of ``x`` and returns it."""
        if not self.enabled or not self.save_activations:
            return x
        if isinstance(x, Tensor):
            self.stats.append(x.detach())
        elif isinstance(x, tuple) and len(x) == 2 and len(x[1]) == 2:  # of a recurrent layer
            self.stats_rnn.append((x[0].detach(), (x[1][0].detach(), x[1][1].detach())))
        return x

    def __repr__(self) -> str:
        shown = ("ref_name", "model_name", "prev_node_name", "ref_node_name", "results_type", "index_of_arg", "fqn")
        return f"OutputLogger({', '.join(f'{name}={getattr(self, name)}' for name in shown)})"


class OutputComparisonLogger(OutputLogger):
    """Takes note of how near what passes through it is to what it is compared with."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.comparison_fn: Callable[[Any, Any], Any] = compute_sqnr
        self.comparison_fn_name = "sqnr"
        self.comparisons: list[Any] = []

    def forward(self, x: Tensor, x_ref: Tensor) -> Tensor:  # type: ignore[override]
        """Compares ``x`` with ``x_ref`` and returns it."""
        if self.enabled:
            if self.save_activations:
                self.stats.append(x.detach())
            self.comparisons.append(self.comparison_fn(x, x_ref))
        return x

    def __repr__(self) -> str:
        return super().__repr__().replace("OutputLogger", "OutputComparisonLogger", 1)


def loggers_of(model: nn.Module, logger_cls: Any) -> Iterator[Any]:
    """The loggers of a model, also of one that was scripted."""
    for module in model.modules():
        if isinstance(module, logger_cls) or getattr(module, "original_name", None) == logger_cls.__name__:
            yield module


def record_of(logger: Any) -> dict[str, Any]:
    """What a logger kept, and where it stands."""
    names = (
        "ref_node_name", "ref_node_target_type", "prev_node_name", "prev_node_target_type", "index_within_arg",
        "index_of_arg", "fqn", "qconfig_str",
    )  # fmt: skip
    return {
        "type": logger.results_type,
        "values": logger.stats or logger.stats_rnn,
        **{name: getattr(logger, name) for name in names},
        "comparisons": getattr(logger, "comparisons", []),
        "comparison_fn_name": getattr(logger, "comparison_fn_name", ""),
    }
