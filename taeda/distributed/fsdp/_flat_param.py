"""A unit's parameters as one flat parameter, of which each process has an equal shard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.distributed.fsdp._group import Precision, Processes, ShardedGroup
from taeda.distributed.fsdp._layout import FlatLayout

FLAT_PARAM = "_flat_param"


class FlatParameter(nn.Parameter):
    """This process's shard of a unit's parameters."""


class FlatGroup(ShardedGroup):
    """Parameters in a flat shard. What modules and optimisers see is the shard, or views of it under the parameters'
    own names (``as_views``)."""

    def __init__(
        self, parameters: Sequence[nn.Parameter], places: Any, processes: Processes, precision: Precision,
        owner: nn.Module, as_views: bool, mesh: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(parameters, places, processes, precision, FlatLayout)
        self.owner, self.as_views, self.mesh = owner, as_views, mesh
        # What modules have while nobody uses it: they tell their shapes, and whether they have a bias.
        self.absent = [taeda.empty(p.shape, dtype=p.dtype, device="meta") for p in parameters]
        if as_views:
            self.sharded = [nn.Parameter(view, t) for view, t in zip(self.views(self.shard), self.trained, strict=True)]
        else:
            flat = FlatParameter(self.shard, self.trained[0])
            self.sharded = [flat]
            owner._parameters[FLAT_PARAM] = flat
        self._show(self.sharded)

    def views(self, shard: Tensor) -> list[Any]:
        if not self.as_views:
            return [shard]
        return [shard[start : start + length] for start, length in self.layout.own(self.processes.rank)]

    def give_grads(self, shard: Tensor, present: Sequence[bool]) -> None:
        super().give_grads(shard, present if self.as_views else [any(present)])

    def _show(self, parameters: Sequence[nn.Parameter]) -> None:
        if self.as_views:
            super()._show(parameters)
            return
        for at, places in enumerate(self.places):
            for module, name in places:
                module._parameters.pop(name, None)
                # no parameter of the module's, in use or not
                vars(module)[name] = self.absent[at] if parameters is self.sharded else parameters[at]

    def show_full(self, parameters: Sequence[nn.Parameter]) -> None:
        """Has the modules see whole parameters as parameters, in place of the shard."""
        self._show(self.sharded)
        if not self.as_views:
            self.owner._parameters.pop(FLAT_PARAM, None)
            for module, name in (place for places in self.places for place in places):
                del vars(module)[name]
        ShardedGroup._show(self, parameters)

    def show_shards(self) -> None:
        """The opposite of `show_full`."""
        self._show(self.sharded)
        if not self.as_views:
            self.owner._parameters[FLAT_PARAM] = self.sharded[0]

    def adopt(self) -> None:
        """Takes over a shard whose memory was replaced."""
        if not self.as_views:
            current = self.owner._parameters.get(FLAT_PARAM)
            assert current is not None
            values: list[Tensor] = [current.data]
            self.sharded = [current]
        else:
            self.sharded = [places[0][0]._parameters[places[0][1]] for places in self.places]  # type: ignore[misc]
            values = [one.data for one in self.sharded]
        views = self.views(self.shard)
        same = all(
            value.dtype == view.dtype and (not view.numel() or value.data_ptr() == view.data_ptr())
            for value, view in zip(values, views, strict=True)
        )
        if same:
            return
        if values[0].dtype != self.dtype:
            self.dtype = values[0].dtype
            self.shard = taeda.zeros(self.layout.shard, dtype=self.dtype, device=self.device)
            self._make_leaves()
            views = self.views(self.shard)
        elif self.aliased:
            self._make_leaves()
        with taeda.no_grad():
            for view, value, parameter in zip(views, values, self.sharded, strict=True):
                if not view.numel() or value.data_ptr() != view.data_ptr():
                    view.copy_(value.view(view.shape))
                    parameter.data = view
