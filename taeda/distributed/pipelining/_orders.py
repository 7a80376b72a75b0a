"""The orders in which ranks work: for each, its steps and the times at which it can only wait (None).

Every rank works out the orders of all, so that they agree.
"""

from __future__ import annotations

from collections.abc import Callable

from taeda.distributed.pipelining._actions import (
    BACKWARD_INPUT,
    BACKWARD_WEIGHT,
    FORWARD,
    FULL_BACKWARD,
    OVERLAP_F_B,
    Orders,
    _Action,
    _ComputationType,
    parts_of,
)

Key = tuple[int, str, int]  # stage, forward or backward, microbatch


def _needs(action: _Action, last: int) -> Key | None:
    """What must have been done before; None if nothing."""
    stage, kind, microbatch = action.stage_index, action.computation_type, action.microbatch_index
    assert microbatch is not None
    if kind is FORWARD:
        return None if stage == 0 else (stage - 1, "F", microbatch)
    if kind is BACKWARD_WEIGHT:
        return (stage, "B", microbatch)
    return (stage, "F", microbatch) if stage == last else (stage + 1, "B", microbatch)


def _met(action: _Action, last: int, done: set[Key]) -> bool:
    needed = _needs(action, last)
    return needed is None or needed in done


def _gives(action: _Action) -> Key | None:
    if action.computation_type is BACKWARD_WEIGHT or action.microbatch_index is None:
        return None
    return action.stage_index, "F" if action.computation_type is FORWARD else "B", action.microbatch_index


def with_waits(orders: dict[int, list[_Action]], stages: int) -> Orders:
    """The orders, with a None wherever a rank has to wait for another."""
    done: set[Key] = set()
    timed: Orders = {rank: [] for rank in orders}
    places = dict.fromkeys(orders, 0)
    while any(places[rank] < len(steps) for rank, steps in orders.items()):
        now: list[Key | None] = []
        for rank, steps in orders.items():
            if places[rank] == len(steps):
                continue
            step = steps[places[rank]]
            if all(_met(one, stages - 1, done) for one in parts_of(step)):
                timed[rank].append(step)
                now += map(_gives, parts_of(step))
                places[rank] += 1
            else:
                timed[rank].append(None)
        if not now:
            raise RuntimeError(f"taeda.distributed.pipelining: the ranks wait for each other in {orders}")
        done.update(key for key in now if key is not None)
    return timed


def gpipe(ranks: int, microbatches: int) -> Orders:
    """All forward passes, then all backward passes."""
    every = range(microbatches)
    orders = {rank: [_Action(rank, kind, m) for kind in (FORWARD, FULL_BACKWARD) for m in every]
              for rank in range(ranks)}  # fmt: skip
    return with_waits(orders, ranks)


def one_forward_one_backward(ranks: int, microbatches: int) -> Orders:
    """As few forward passes ahead as keep all ranks busy, then one of each in turn."""
    orders = {}
    for rank in range(ranks):
        ahead = min(microbatches, ranks - rank)
        orders[rank] = [_Action(rank, FORWARD, m) for m in range(ahead)]
        for m in range(microbatches):
            orders[rank].append(_Action(rank, FULL_BACKWARD, m))
            if ahead + m < microbatches:
                orders[rank].append(_Action(rank, FORWARD, ahead + m))
    return with_waits(orders, ranks)


def breadth_first(ranks: int, local: int, microbatches: int) -> Orders:
    """Each stage's forward passes whole, then the stages' backward passes in reverse."""
    orders = {}
    for rank in range(ranks):
        mine = range(rank, ranks * local, ranks)
        orders[rank] = [_Action(stage, FORWARD, m) for stage in mine for m in range(microbatches)]
        orders[rank] += [_Action(stage, FULL_BACKWARD, m) for stage in reversed(mine)
                         for m in reversed(range(microbatches))]  # fmt: skip
    return with_waits(orders, ranks * local)


def interleaved(ranks: int, local: int, microbatches: int, split_backward: bool) -> Orders:
    """Rounds of microbatches go through all local stages in turn, forward ahead of backward."""
    rounds = max(1, microbatches // ranks)
    per_round = microbatches // rounds
    total = microbatches * local

    def step(rank: int, index: int, forward: bool) -> tuple[int, int]:
        turn = index // per_round % local
        stage = (turn if forward else local - 1 - turn) * ranks + rank
        return stage, index // (per_round * local) * per_round + index % per_round

    orders: dict[int, list[_Action]] = {}
    for rank in range(ranks):
        ahead = (local - 1) * per_round + (1 if split_backward else 2) * (ranks - 1 - rank)
        ahead = min(ahead, total)
        steps = [_Action(stage, FORWARD, m) for stage, m in (step(rank, i, True) for i in range(ahead))]
        weights: list[_Action] = []
        for index in range(total):
            if ahead + index < total:
                steps.append(_action(step(rank, ahead + index, True), FORWARD))
            where = step(rank, index, False)
            if not split_backward:
                steps.append(_action(where, FULL_BACKWARD))
                continue
            steps.append(_action(where, BACKWARD_INPUT))
            weights.append(_action(where, BACKWARD_WEIGHT))
            if len(weights) > rank:
                steps.append(weights.pop(0))
        orders[rank] = steps + weights
    return with_waits(orders, ranks * local)


def _action(where: tuple[int, int], kind: _ComputationType) -> _Action:
    return _Action(where[0], kind, where[1])


class _Rank:
    """A rank of a V: it holds a stage of the way there and one of the way back."""

    def __init__(self, rank: int, ranks: int, microbatches: int) -> None:
        self.stages = rank, 2 * ranks - 1 - rank
        self.count, self.limit = microbatches, 2 * ranks - rank
        self.forward, self.backward = [0, 0], [0, 0]
        self.weights: list[_Action] = []
        self.steps: list[_Action | None] = []

    def finished(self) -> bool:
        return min(self.backward) == self.count and not self.weights

    def _ready(self, kind: _ComputationType, side: int, able: Callable[[_Action], bool]) -> _Action | None:
        done = self.forward if kind is FORWARD else self.backward
        if done[side] == self.count:
            return None
        action = _action((self.stages[side], done[side]), kind)
        if kind is not FORWARD and self.forward[side] <= done[side]:
            return None
        return action if able(action) else None

    def choose(self, able: Callable[[_Action], bool], split: bool) -> _Action | None:
        """The next step: backward passes first, then the way back, then more microbatches, and weights last."""
        kind = BACKWARD_INPUT if split else FULL_BACKWARD
        backward = next((a for side in (1, 0) if (a := self._ready(kind, side, able))), None)
        held = self.forward[0] - self.backward[0]
        forward = self._ready(FORWARD, 1, able)
        if forward is None and held < self.limit:
            forward = self._ready(FORWARD, 0, able)
        if not split and backward and forward and forward.stage_index != backward.stage_index:
            return _Action(-1, OVERLAP_F_B, None, (forward, backward))
        return backward or forward or (self.weights.pop(0) if self.weights else None)

    def take(self, action: _Action | None) -> None:
        self.steps.append(action)
        for one in parts_of(action):
            if one.computation_type is BACKWARD_WEIGHT:
                continue
            side = self.stages.index(one.stage_index)
            if one.computation_type is FORWARD:
                self.forward[side] += 1
            else:
                self.backward[side] += 1
                if one.computation_type is BACKWARD_INPUT:
                    self.weights.append(one._replace(computation_type=BACKWARD_WEIGHT))


def there_and_back(ranks: int, microbatches: int, split_backward: bool) -> Orders:
    """Two stages on each rank in a V, each step chosen when its time comes; weights fill the gaps if backward passes
    are split, else forward and backward passes of a rank run as one where both can."""
    held = [_Rank(rank, ranks, microbatches) for rank in range(ranks)]
    done: set[Key] = set()

    def able(action: _Action) -> bool:
        return _met(action, 2 * ranks - 1, done)

    while not all(one.finished() for one in held):
        busy = [one for one in held if not one.finished()]
        chosen = [one.choose(able, split_backward) for one in busy]
        for one, action in zip(busy, chosen):
            one.take(action)
        done.update(key for action in chosen for key in map(_gives, parts_of(action)) if key is not None)
    return {rank: one.steps for rank, one in enumerate(held)}
