"""Names of parameters with and without wrappers."""

from __future__ import annotations

from typing import Any

from taeda import nn
from taeda.distributed.fsdp._optim_states import _Parameters
from taeda.distributed.fsdp._state_dicts import clean as without_wrappers
from taeda.nn.parallel import DistributedDataParallel


class Names:
    """Those of ``model``."""

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._wrapped = [f"{name}." if name else "" for name, one in model.named_modules()
                         if isinstance(one, DistributedDataParallel)]  # fmt: skip

    def clean(self, name: str) -> str:
        """Without wrappers."""
        for prefix in reversed(self._wrapped):  # inner ones first
            if name.startswith(f"{prefix}module."):
                name = prefix + name[len(prefix) + len("module.") :]
        return without_wrappers(name).replace("_orig_mod.", "")

    def raw(self, name: str) -> str:
        """With `DistributedDataParallel`'s, of a name without."""
        for prefix in self._wrapped:
            if name.startswith(prefix):
                name = f"{prefix}module.{name[len(prefix) :]}"
        return name

    def of_parameters(self) -> dict[int, list[str]]:
        """By the id of what an optimiser has: the parameters that it stands for."""
        found = _Parameters(self._model).names if _has_flat(self._model) else {}
        for name, one in self._model.named_parameters():
            found.setdefault(id(one), [self.clean(name)])
        return found

    def within(self, state: dict[str, Any], modules: set[nn.Module], keeps: bool) -> dict[str, Any]:
        """What is in some of the modules; without their own names unless ``keeps``."""
        found: dict[str, Any] = {}
        for path, module in self._model.named_modules():
            if module in modules:
                prefix = self.clean(f"{path}.") if path else ""
                for name, value in state.items():
                    if name.startswith(prefix):
                        found[name if keeps else name[len(prefix) :]] = value
        return found


def _has_flat(model: nn.Module) -> bool:
    from taeda.distributed.fsdp import FullyShardedDataParallel

    return bool(FullyShardedDataParallel.fsdp_modules(model))
