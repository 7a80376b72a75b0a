"""Linear layers whose weight is rounded while training."""

from __future__ import annotations

from typing import Any

from taeda import Tensor, nn
from taeda.nn import functional as F
from taeda.nn.utils.parametrize import is_parametrized, transfer_parametrizations_and_params


def take_weight(made: nn.Module, module: nn.Module) -> None:
    """Gives ``made`` the weight of ``module``, with its parametrisations."""
    if is_parametrized(module, "weight"):
        transfer_parametrizations_and_params(module, made, "weight")
    else:
        made.weight = module.weight


class Linear(nn.Linear):
    """``nn.Linear`` with a weight that ``weight_fake_quant`` rounds.

    Args:
        qconfig: makes ``weight_fake_quant``. The others as of ``nn.Linear``.

    Raises:
        ValueError: there is no qconfig.
    """

    _FLOAT_MODULE: Any = nn.Linear

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, qconfig: Any = None, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(in_features, out_features, bias, device=device, dtype=dtype)
        if not qconfig:
            raise ValueError(f"{type(self).__name__}: a module that rounds while training needs a qconfig")
        self.qconfig = qconfig
        self.weight_fake_quant = qconfig.weight()

    def forward(self, input: Tensor) -> Tensor:
        """As ``nn.Linear``, with the rounded weight."""
        return F.linear(input, self.weight_fake_quant(self.weight), self.bias)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Of a float module with a qconfig; its parameters are taken over, not copied.

        Raises:
            AssertionError: it has no qconfig.
        """
        if not getattr(mod, "qconfig", None):
            raise AssertionError(f"{cls.__name__}: the float module must have a qconfig")
        linear = mod[0] if isinstance(mod, nn.Sequential) else mod
        made = cls(linear.in_features, linear.out_features, bias=linear.bias is not None, qconfig=mod.qconfig)
        made.bias = linear.bias
        take_weight(made, linear)
        return made

    def to_float(self) -> nn.Module:
        """A float module with copies of the parameters."""
        made = nn.Linear(self.in_features, self.out_features, self.bias is not None)
        made.weight = nn.Parameter(self.weight.detach())
        if self.bias is not None:
            made.bias = nn.Parameter(self.bias.detach())
        made.train(self.training)
        return made
