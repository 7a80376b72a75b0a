"""Tensor parallel modules under ``DistributedDataParallel``, which sees the parts of their parameters."""

from __future__ import annotations

from typing import Any

from taeda import nn
from taeda.distributed.tensor._dtensor import DTensor, _FromLocal

__all__: list[str] = []


def _pre_dp_module_transform(module: nn.Module) -> None:
    """Puts their parts in the place of a module's parameters that are DTensors, but for while it runs."""
    cut = {name: one for name, one in module.named_parameters() if isinstance(one, DTensor)}
    specs = {name: one._spec for name, one in cut.items()}
    parts = {name: nn.Parameter(one._local_tensor, one.requires_grad) for name, one in cut.items()}

    def place(values: dict[str, Any]) -> None:
        for name, value in values.items():
            owner, _, leaf = name.rpartition(".")
            module.get_submodule(owner)._parameters[leaf] = value

    place(parts)
    module.register_forward_pre_hook(
        lambda *_: place({name: _FromLocal.apply(part, specs[name]) for name, part in parts.items()})
    )
    module.register_forward_hook(lambda *_: place(parts), always_call=True)
