"""Reports as tables and plots."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, ClassVar

import taeda
from taeda import Tensor


class ModelReportVisualizer:
    """Shows reports.

    Args:
        generated_reports: by the name of a module, by the name of a feature, a value of the whole module or one for
            each channel (a tensor or a list).
    """

    TABLE_TENSOR_KEY = "tensor_level_info"
    TABLE_CHANNEL_KEY = "channel_level_info"
    NUM_NON_FEATURE_TENSOR_HEADERS = 2
    NUM_NON_FEATURE_CHANNEL_HEADERS = 3
    CHANNEL_NUM_INDEX = 2
    _NOTHING: ClassVar[str] = "Not Applicable"

    def __init__(self, generated_reports: OrderedDict[str, Any]) -> None:
        self.generated_reports = generated_reports

    def get_all_unique_module_fqns(self) -> set[str]:
        """The names of the modules."""
        return set(self.generated_reports)

    def get_all_unique_feature_names(self, plottable_features_only: bool = True) -> set[str]:
        """The names of the features; only of those that are tensors, if asked so."""
        return {
            name
            for facts in self.generated_reports.values()
            for name, value in facts.items()
            if isinstance(value, Tensor) or not plottable_features_only
        }

    def _get_filtered_data(self, feature_filter: str, module_fqn_filter: str) -> OrderedDict[str, Any]:
        """The modules and features in whose names the filters are."""
        chosen: OrderedDict[str, Any] = OrderedDict()
        for fqn, facts in self.generated_reports.items():
            if module_fqn_filter not in fqn:
                continue
            if kept := {name: value for name, value in facts.items() if feature_filter in name}:
                chosen[fqn] = kept
        return chosen

    def _generate_tensor_table(
        self, filtered_data: OrderedDict[str, dict[str, Any]], tensor_features: list[str]
    ) -> tuple[list[str], list[list[Any]]]:
        """Headers and a row for each module."""
        if not tensor_features:
            return [], []
        rows: list[list[Any]] = []
        for fqn, facts in filtered_data.items():
            values = [_number(facts.get(name, self._NOTHING)) for name in tensor_features]
            rows.append([len(rows), fqn, *values])
        return ["idx", "layer_fqn", *tensor_features], rows

    def _generate_channels_table(
        self, filtered_data: OrderedDict[str, Any], channel_features: list[str], num_channels: int
    ) -> tuple[list[str], list[list[Any]]]:
        """Headers and a row for each channel of each module."""
        if not channel_features:
            return [], []
        rows: list[list[Any]] = []
        for fqn, facts in filtered_data.items():
            own = {name: facts[name] for name in channel_features if name in facts}
            for channel in range(max((len(values) for values in own.values()), default=0)):
                values = [
                    _number(own[name][channel]) if name in own and channel < len(own[name]) else self._NOTHING
                    for name in channel_features
                ]
                rows.append([len(rows), fqn, channel, *values])
        return ["idx", "layer_fqn", "channel", *channel_features], rows

    def generate_filtered_tables(
        self, feature_filter: str = "", module_fqn_filter: str = ""
    ) -> dict[str, tuple[list[str], list[list[Any]]]]:
        """Two tables, headers and rows each: of values of whole modules, and of those of channels.

        Args:
            feature_filter, module_fqn_filter: what must be in the names.
        """
        chosen = self._get_filtered_data(feature_filter, module_fqn_filter)
        facts = [pair for one in chosen.values() for pair in one.items()]
        channels = sorted({name for name, value in facts if _is_by_channel(value)})
        whole = sorted({name for name, value in facts if not _is_by_channel(value)})
        count = max((len(value) for _, value in facts if _is_by_channel(value)), default=0)
        return {
            self.TABLE_TENSOR_KEY: self._generate_tensor_table(chosen, whole),
            self.TABLE_CHANNEL_KEY: self._generate_channels_table(chosen, channels, count),
        }

    def generate_table_visualization(self, feature_filter: str = "", module_fqn_filter: str = "") -> None:
        """Prints the two tables."""
        for key, (headers, rows) in self.generate_filtered_tables(feature_filter, module_fqn_filter).items():
            if headers:
                print(key)
                print(_text([headers, *rows]))

    def _get_plottable_data(
        self, feature_filter: str, module_fqn_filter: str
    ) -> tuple[list[int], list[list[float]], bool]:
        """Of one feature: the modules' places, a list of values (one for each channel if it is by channel), and whether
        it is by channel. ValueError if the filter leaves more or less than one feature, or it is not of numbers."""
        chosen = self._get_filtered_data(feature_filter, module_fqn_filter)
        names = {name for facts in chosen.values() for name in facts}
        if len(names) != 1:
            raise ValueError(f"ModelReportVisualizer: plots one feature; {feature_filter!r} is in {sorted(names)}")
        values = [next(iter(facts.values())) for facts in chosen.values()]
        if any(isinstance(value, str) for value in values):
            raise ValueError(f"ModelReportVisualizer: {names.pop()} has no numbers to plot")
        places = list(range(len(values)))
        if not _is_by_channel(values[0]):
            return places, [_number(value) for value in values], False  # type: ignore[misc]
        count = max(len(value) for value in values)
        rows = [[_number(value[at]) if at < len(value) else float("nan") for value in values] for at in range(count)]
        return places, rows, True

    def generate_plot_visualization(self, feature_filter: str, module_fqn_filter: str = "") -> None:
        """Plots one feature over the modules, a line for each channel, with matplotlib."""
        from matplotlib import pyplot

        places, values, by_channel = self._get_plottable_data(feature_filter, module_fqn_filter)
        for at, line in enumerate(values if by_channel else [values]):
            pyplot.plot(places, line, label=f"channel {at}" if by_channel else None)  # type: ignore[arg-type]
        pyplot.xlabel("module")
        pyplot.ylabel(feature_filter)
        if by_channel:
            pyplot.legend(loc="upper right")
        pyplot.show()

    def generate_histogram_visualization(
        self, feature_filter: str, module_fqn_filter: str = "", num_bins: int = 10
    ) -> None:
        """Plots how often one feature has which values, with matplotlib."""
        from matplotlib import pyplot

        _, values, by_channel = self._get_plottable_data(feature_filter, module_fqn_filter)
        flat = [value for line in values for value in line] if by_channel else values
        pyplot.hist(flat, bins=num_bins)  # type: ignore[arg-type]
        pyplot.xlabel(feature_filter)
        pyplot.ylabel("count")
        pyplot.show()


def _is_by_channel(value: Any) -> bool:
    return isinstance(value, list) or (isinstance(value, Tensor) and value.dim() > 0)


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, taeda.Tensor) else value


def _text(rows: list[list[Any]]) -> str:
    """Columns under one another."""
    cells = [[f"{cell:.6g}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells
    )
