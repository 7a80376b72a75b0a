"""An optimiser that keeps the state of its process's share of the parameters (Rajbhandari et al., 2020)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import taeda
import taeda.distributed as dist
from taeda import Tensor
from taeda.distributed._queries import _get_default_group, _made
from taeda.distributed._replicas import broadcast_coalesced
from taeda.distributed.algorithms.join import Join, Joinable, JoinHook
from taeda.optim import Optimizer

_NAME = "taeda.distributed.optim.ZeroRedundancyOptimizer"


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """``optimizer_class`` over the parameters that are this process's share; each parameter is in one share.

    After a step everybody gets everybody's parameters. The gradients are to be the same on all processes, as
    `DistributedDataParallel` makes them.

    Args:
        params: the tensors, or dictionaries of groups of them, on all processes the same.
        optimizer_class: the optimiser of the share, which ``optim`` is.
        process_group: who divides the parameters, by default the whole world.
        parameters_as_bucket_view: accepted; parameters are sent at the end of a step.
        overlap_with_ddp: ``hook_with_zero_step`` takes the steps, and `step` does nothing.
        defaults: the optimiser's own arguments.

    Raises:
        ValueError: there is no process group, or parameters are sparse or of several types.
        TypeError: ``params`` is no iterable of tensors or dictionaries.
    """

    def __init__(
        self,
        params: Iterable[Any],
        optimizer_class: type[Optimizer],
        process_group: Any = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: Any,
    ) -> None:
        if isinstance(params, Tensor):
            raise TypeError(f"{_NAME}: params is wanted as tensors or groups of them; got a Tensor")
        _made(process_group)
        self.process_group = _get_default_group() if process_group is None else process_group
        self.world_size: int = self.process_group.size()
        self.rank: int = self.process_group.rank()
        self._optimizer_class, self._given = optimizer_class, defaults
        self._shares: list[list[Tensor]] = [[] for _ in range(self.world_size)]
        self._overlap_with_ddp = overlap_with_ddp
        self._consolidated: list[Any] | None = None
        self.optim: Optimizer | None = None
        given = list(params)
        tensors = [one for each in given for one in (each["params"] if isinstance(each, dict) else [each])]
        kinds = sorted({one.type() for one in tensors if isinstance(one, Tensor)})
        if len(kinds) > 1 or any(isinstance(one, Tensor) and one.is_sparse for one in tensors):
            raise ValueError(f"{_NAME}: dense parameters of one type are wanted; got {', '.join(kinds)}")
        # The class says what defaults there are, and refuses what it cannot take; on one process it is all there is.
        whole = optimizer_class(given, **defaults)
        Joinable.__init__(self)
        super().__init__(whole.param_groups, whole.defaults)
        if self.world_size == 1:
            self.optim = whole
            self.param_groups, self.state = whole.param_groups, whole.state
        else:
            self.optim = optimizer_class([self._own(group) for group in self.param_groups], **defaults)
            self.state = self.optim.state

    def _own(self, group: dict[str, Any]) -> dict[str, Any]:
        """Divides a group's parameters, the largest first, each to whom has least; gives this process's part."""
        sizes = [sum(p.numel() for p in share) for share in self._shares]
        owners = {}
        for parameter in sorted(group["params"], key=Tensor.numel, reverse=True):
            rank = sizes.index(min(sizes))
            sizes[rank] += parameter.numel()
            owners[id(parameter)] = rank
        for parameter in group["params"]:
            self._shares[owners[id(parameter)]].append(parameter)
        own = [parameter for parameter in group["params"] if owners[id(parameter)] == self.rank]
        return {**group, "params": own}

    def _copy_options(self, source: list[dict[str, Any]], target: list[dict[str, Any]]) -> None:
        """What schedulers and programs set in one list of groups, to the other."""
        for one, other in zip(source, target, strict=True):
            if one is not other:
                other.update({name: value for name, value in one.items() if name != "params"})

    def step(self, closure: Callable[[], Any] | None = None, **kwargs: Any) -> Any:
        """One step of the share, then everybody's values to everybody. Returns what ``closure`` does."""
        return None if self._overlap_with_ddp else self.step_now(closure, **kwargs)

    @taeda.no_grad()
    def step_now(self, closure: Callable[[], Any] | None = None, **kwargs: Any) -> Any:
        """`step`, also where that is left to `DistributedDataParallel`."""
        Join.notify_join_context(self)
        self._consolidated = None
        if closure is not None:
            kwargs["closure"] = closure
        assert self.optim is not None
        self._copy_options(self.param_groups, self.optim.param_groups)
        result = self.optim.step(**kwargs)
        self._copy_options(self.optim.param_groups, self.param_groups)
        if self.world_size > 1:
            for rank, share in enumerate(self._shares):
                broadcast_coalesced(self.process_group, [parameter.detach() for parameter in share], rank)
        return result

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds parameters with options of their own."""
        if self.optim is None:  # on the way to be made
            super().add_param_group(param_group)
        elif self.world_size == 1:
            self.optim.add_param_group(param_group)
        else:
            super().add_param_group(param_group)
            self.optim.add_param_group(self._own(self.param_groups[-1]))

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Brings the state of all shares to the process ``to``, before `state_dict` there. All processes call it."""
        assert self.optim is not None
        self._copy_options(self.param_groups, self.optim.param_groups)
        if self.world_size == 1:
            self._consolidated = [self.optim.state_dict()["state"]]
            return
        told: list[Any] | None = [None] * self.world_size if self.rank == to else None
        own = self.optim.state_dict()["state"]
        dist.gather_object(own, told, group=self.process_group, group_dst=to)
        self._consolidated = told

    @property
    def _all_params(self) -> list[Tensor]:
        """The parameters of all shares, in the order in which they were given."""
        return [parameter for group in self.param_groups for parameter in group["params"]]

    def _numbers(self) -> list[list[int]]:
        """For each process the numbers, among all parameters, of those that its optimiser counts 0, 1, 2, ..."""
        numbers = {id(p): n for n, p in enumerate(self._all_params)}
        owner = {id(p): rank for rank, share in enumerate(self._shares) for p in share}
        found: list[list[int]] = [[] for _ in range(self.world_size)]
        for group in self.param_groups:
            for parameter in group["params"]:
                found[owner.get(id(parameter), 0)].append(numbers[id(parameter)])
        return found

    def state_dict(self) -> dict[str, Any]:
        """The state of all shares. RuntimeError unless `consolidate_state_dict` has brought it here."""
        if self._consolidated is None:
            raise RuntimeError(
                f"{_NAME}.state_dict: call consolidate_state_dict() on every process first; the state is on the "
                f"process that its argument names, and this one is {self.rank}"
            )
        assert self.optim is not None
        if self.world_size == 1:
            return self.optim.state_dict()
        state = {}
        for numbers, own in zip(self._numbers(), self._consolidated, strict=True):
            state.update({numbers[local]: value for local, value in own.items()})
        groups, count = [], 0
        for group in self.param_groups:
            members = list(range(count, count + len(group["params"])))
            groups.append({**group, "params": members})
            count += len(members)
        return {"state": dict(sorted(state.items())), "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes up the state of all shares; of it this process keeps its own."""
        assert self.optim is not None
        self._consolidated = None
        if self.world_size == 1:
            self.optim.load_state_dict(state_dict)
            self.param_groups, self.state = self.optim.param_groups, self.optim.state
            return
        self._copy_options(state_dict["param_groups"], self.param_groups)
        own = self._numbers()[self.rank]
        state = {local: state_dict["state"][number] for local, number in enumerate(own)
                 if number in state_dict["state"]}  # fmt: skip
        groups = self.optim.state_dict()["param_groups"]
        self._copy_options(state_dict["param_groups"], groups)
        self.optim.load_state_dict({"state": state, "param_groups": groups})
        self.state = self.optim.state

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """While others go on this process goes on with its share, with the gradients that it gets."""
        return _StepAlong(self)

    @property
    def join_device(self) -> Any:
        return self.param_groups[0]["params"][0].device

    @property
    def join_process_group(self) -> Any:
        return self.process_group


def _broadcast_object(obj: Any, src_rank: int, group: Any = None, device: Any = None) -> Any:
    """What the process ``src_rank`` gives as ``obj``, with the tensors in it; everybody gets it."""
    told = [obj]
    dist.broadcast_object_list(told, src_rank, group, device)
    return told[0]


class _StepAlong(JoinHook):
    def __init__(self, zero: ZeroRedundancyOptimizer) -> None:
        self.zero = zero

    def main_hook(self) -> None:
        self.zero.step()
