"""Takes out of biases what quantisation adds to the mean of each channel."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from taeda import Tensor, nn
from taeda.ao.nn import quantized
from taeda.ao.ns import _numeric_suite as ns

_supported_modules = {nn.Linear, nn.Conv2d}
_supported_modules_quantized = {quantized.Linear, quantized.Conv2d}


def get_module(model: nn.Module, name: str) -> nn.Module:
    """The part of a model at a path."""
    return model.get_submodule(name)


def parent_child_names(name: str) -> tuple[str, str]:
    """A path as that of the parent and the last name."""
    parent, _, child = name.rpartition(".")
    return parent, child


def get_param(module: nn.Module, attr: str) -> Any:
    """A weight or bias, which quantised modules have as a method."""
    found: Any = getattr(module, attr)
    return found() if callable(found) and not isinstance(found, Tensor) else found


class MeanShadowLogger(ns.Logger):
    """Keeps the means over batches of what a quantised module gave, and its float shadow."""

    def __init__(self) -> None:
        super().__init__()
        self.clear()

    def forward(self, x: Any, y: Any) -> None:  # type: ignore[override]
        """Takes note of ``x``, quantised, and ``y``, float."""
        self.count += 1
        for name, value in (("quantized", ns._dequantized(x).detach()), ("float", y.detach())):
            mean = self.stats[name]
            self.stats[name] = value if mean is None else mean + (value - mean) / self.count

    def clear(self) -> None:
        """Forgets what was seen."""
        self.stats.update({"float": None, "quantized": None})
        self.count = 0


def bias_correction(
    float_model: nn.Module, quantized_model: nn.Module, img_data: Iterable[Any],
    target_modules: Any = _supported_modules_quantized, neval_batches: int | None = None,
) -> None:  # fmt: skip
    """Changes the biases of ``quantized_model``, one module after the other as they are reached, so that on data each
    channel's mean is that of ``float_model``. The model keeps `Shadow` modules with the float ones.

    Args:
        img_data: batches, whose first part is the input.
        target_modules: the classes whose biases change.
        neval_batches: how many batches to run at most for each module.
    """
    ns.prepare_model_with_stubs(float_model, quantized_model, _supported_modules, MeanShadowLogger)
    shadows = {
        name: part for name, part in quantized_model.named_modules()
        if isinstance(part, ns.Shadow) and type(part.orig_module) in target_modules
    }  # fmt: skip
    for shadow in shadows.values():
        for count, data in enumerate(img_data, 1):
            quantized_model(data[0])
            if count == neval_batches:
                break
        stats: dict[str, Any] = shadow.logger.stats
        error = stats["quantized"] - stats["float"]
        expected = error.mean([dim for dim in range(error.dim()) if dim != 1])
        module: Any = shadow.orig_module
        if (bias := get_param(module, "bias")) is not None:
            module.set_weight_bias(get_param(module, "weight"), bias.detach() - expected)
        for other in quantized_model.modules():
            if isinstance(other, MeanShadowLogger):
                other.clear()
