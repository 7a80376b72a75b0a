"""Linear layers whose weight is rounded while training, and whose inputs will be quantised on the fly."""

from __future__ import annotations

from typing import Any

from taeda.ao.nn.qat.modules import linear


class Linear(linear.Linear):
    """`taeda.ao.nn.qat.Linear` with a qconfig whose activations keep nothing of tensors that went before.

    Raises:
        ValueError: the qconfig's do.
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, qconfig: Any = None, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(in_features, out_features, bias, qconfig, device, dtype)
        activation = qconfig.activation()
        watching = getattr(activation, "activation_post_process", activation)
        if getattr(watching, "averaging_constant", None) != 1:
            raise ValueError("Linear: the qconfig must be dynamic, such as default_dynamic_qat_qconfig")
