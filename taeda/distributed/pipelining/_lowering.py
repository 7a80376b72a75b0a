"""From steps that calculate to all steps: messages between ranks, and gathering of sharded weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from taeda.distributed.pipelining._actions import (
    BACKWARD_INPUT,
    BACKWARD_WEIGHT,
    FORWARD,
    FULL_BACKWARD,
    RECV_B,
    RECV_F,
    REDUCE_GRAD,
    RESHARD,
    SEND_B,
    SEND_F,
    UNSHARD,
    Orders,
    _Action,
    parts_of,
)

_BACKWARD = (FULL_BACKWARD, BACKWARD_INPUT)


def _format_pipeline_order(pipeline_order: Orders, error_step_number: int | None = None) -> str:
    """A table with a line for each step and a column for each rank."""
    columns = [["" if a is None else str(a) for a in order] for order in pipeline_order.values()]
    height = max(map(len, columns), default=0)
    widths = [max(map(len, [*column, f"Rank {rank}"])) for rank, column in zip(pipeline_order, columns)]
    lines = [" " * 9 + " ".join(f"Rank {rank}".ljust(width) for rank, width in zip(pipeline_order, widths))]
    for step in range(height):
        cells = (c[step].ljust(w) if step < len(c) else " " * w for c, w in zip(columns, widths))
        mark = " <-- here" if step == error_step_number else ""
        lines.append(f"Step {step:<4}" + " ".join(cells) + mark)
    return "\n".join(lines) + "\n"


def _merge_bw(compute_actions: Sequence[_Action | None]) -> list[_Action]:
    """The two halves of a backward pass that follow each other become one step."""
    merged: list[_Action] = []
    for action in compute_actions:
        if action is None:
            continue
        last = merged[-1] if merged else None
        if (
            last is not None
            and action.computation_type is BACKWARD_WEIGHT
            and last == action._replace(computation_type=BACKWARD_INPUT)
        ):
            merged[-1] = action._replace(computation_type=FULL_BACKWARD)
        else:
            merged.append(action)
    return merged


def _next_stages(steps: Sequence[_Action], index: int, count: int) -> list[int]:
    """The first ``count`` stages that work from a step on."""
    found: dict[int, None] = {}
    for place in range(index, len(steps)):
        found.update((one.stage_index, None) for one in parts_of(steps[place]))
        if len(found) >= count:
            break
    return list(found)[:count]


def _add_unshard_reshard(compute_actions: Sequence[_Action | None], max_active_stages: int = 3) -> list[_Action]:
    """Weights of the stages that come next are gathered ahead, those of at most ``max_active_stages`` at a time."""
    steps = [action for action in compute_actions if action is not None]
    active: list[int] = []
    result: list[_Action] = []
    for index, action in enumerate(steps):
        wanted = _next_stages(steps, index, max_active_stages)
        for stage in [stage for stage in active if stage not in wanted]:
            active.remove(stage)
            result.append(_Action(stage, RESHARD))
        for stage in [stage for stage in wanted if stage not in active]:
            active.append(stage)
            result.append(_Action(stage, UNSHARD))
        result.append(action)
    return result + [_Action(stage, RESHARD) for stage in active]


def _add_reduce_grad(actions: Sequence[_Action | None], n_microbatches: int) -> list[_Action | None]:
    """Behind the last backward pass of each stage: its gradients are reduced."""
    left: dict[int, int] = {}
    result: list[_Action | None] = []
    for action in actions:
        result.append(action)
        for one in parts_of(action):
            if one.computation_type in (FULL_BACKWARD, BACKWARD_WEIGHT):
                left[one.stage_index] = left.get(one.stage_index, n_microbatches) - 1
                if left[one.stage_index] == 0:
                    result.append(_Action(one.stage_index, REDUCE_GRAD))
    return result


def _message(action: _Action, stages: int) -> tuple[_Action, _Action] | None:
    """What is sent behind a step, and how the other side receives it."""
    stage, kind, microbatch = action.stage_index, action.computation_type, action.microbatch_index
    if kind is FORWARD and stage < stages - 1:
        return _Action(stage, SEND_F, microbatch), _Action(stage + 1, RECV_F, microbatch)
    if kind in _BACKWARD and stage > 0:
        return _Action(stage, SEND_B, microbatch), _Action(stage - 1, RECV_B, microbatch)
    return None


def _able(action: _Action, done: set[_Action], stages: int) -> bool:
    """Whether what a step needs is among what its rank has done."""
    stage, kind, microbatch = action.stage_index, action.computation_type, action.microbatch_index
    if kind is FORWARD:
        needed = [_Action(stage, RECV_F, microbatch), _Action(stage - 1, FORWARD, microbatch)]
        free = stage == 0
    elif kind in _BACKWARD and stage == stages - 1:
        needed, free = [_Action(stage, FORWARD, microbatch)], False
    elif kind in _BACKWARD:
        needed = [_Action(stage, RECV_B, microbatch), *(_Action(stage + 1, one, microbatch) for one in _BACKWARD)]
        free = False
    else:
        return True
    return free or any(one in done for one in needed)


def _add_send_recv(
    compute_actions: Orders, stage_to_rank: Callable[[int], int], num_stages: int
) -> dict[int, list[_Action]]:
    """Sends behind the steps that make something for another rank, and receives where its turn then is."""
    left = {rank: list(steps) for rank, steps in compute_actions.items()}
    result: dict[int, list[_Action]] = {rank: [] for rank in compute_actions}
    done: dict[int, set[_Action]] = {rank: set() for rank in compute_actions}
    while any(left.values()):
        moved = False
        for rank in sorted(left):
            if not left[rank]:
                continue
            action = left[rank][0]
            if not all(_able(one, done[rank], num_stages) for one in parts_of(action)):
                continue
            left[rank].pop(0)
            moved = True
            if action is None:
                continue
            result[rank].append(action)
            done[rank].update(parts_of(action))
            for one in parts_of(action):
                message = _message(one, num_stages)
                peer = rank if message is None else stage_to_rank(message[1].stage_index)
                if message and peer != rank:
                    result[rank].append(message[0])
                    result[peer].append(message[1])
                    done[peer].add(message[1])
        if not moved:
            waiting = {rank: steps[0] for rank, steps in left.items() if steps}
            raise AssertionError(f"taeda.distributed.pipelining: the schedule stops: {waiting} wait for each other")
    return result


def _simulate_comms_compute(
    pipeline_order: Orders, stage_to_rank: Callable[[int], int], num_stages: int
) -> dict[int, list[_Action | None]]:
    """The steps against time, where each takes as long: None while a rank waits.

    Raises:
        RuntimeError: the ranks wait for each other.
    """
    left = {rank: [one for one in pipeline_order[rank] if one is not None] for rank in sorted(pipeline_order)}
    timed: dict[int, list[_Action | None]] = {rank: [] for rank in left}
    done: dict[int, set[_Action]] = {rank: set() for rank in left}

    def able(rank: int, action: _Action) -> bool:
        stage, kind = action.stage_index, action.computation_type
        if kind in (RECV_F, RECV_B):
            sender = stage - 1 if kind is RECV_F else stage + 1
            sent = action._replace(stage_index=sender, computation_type=SEND_F if kind is RECV_F else SEND_B)
            return sent in done[stage_to_rank(sender)]
        return _able(action, done[rank], num_stages)

    while any(left.values()):
        for rank, steps in left.items():
            if steps:
                timed[rank].append(None)
        moved = False
        for rank, steps in [*left.items()] * 2:  # a rank may go on at once when a later one has sent
            if steps and timed[rank][-1] is None and all(able(rank, one) for one in parts_of(steps[0])):
                timed[rank][-1] = action = steps.pop(0)
                done[rank].update((action, *parts_of(action)))
                moved = True
        if not moved:
            waiting = {rank: steps[0] for rank, steps in left.items() if steps}
            raise RuntimeError(f"taeda.distributed.pipelining: the schedule stops: {waiting} wait for each other")
    return timed


def _validate_schedule(actions: Orders, pp_group_size: int, num_stages: int, num_microbatches: int) -> dict[int, int]:
    """The rank of each stage, as a schedule uses them.

    Raises:
        AssertionError: a rank, a stage or a step is missing, or comes before what it needs.
    """
    name = "taeda.distributed.pipelining"
    if set(actions) != set(range(pp_group_size)):
        raise AssertionError(f"{name}: the schedule is for ranks {sorted(actions)} of {pp_group_size}")
    ranks: dict[int, int] = {}
    done: dict[tuple[int, str], list[int]] = {}
    for rank, steps in actions.items():
        for one in (part for step in steps for part in parts_of(step)):
            if ranks.setdefault(one.stage_index, rank) != rank:
                raise AssertionError(f"{name}: {one} is on rank {rank}, its stage on rank {ranks[one.stage_index]}")
            if one.microbatch_index is not None:
                kind = "B" if one.computation_type is FULL_BACKWARD else one.computation_type.value
                done.setdefault((one.stage_index, kind), []).append(one.microbatch_index)
    wanted = list(range(num_microbatches))
    for stage in range(num_stages):
        forward, whole = done.get((stage, "F"), []), done.get((stage, "B"), [])
        halves = done.get((stage, "I"), []), done.get((stage, "W"), [])
        if sorted(forward) != wanted or any(sorted(whole + half) != wanted for half in halves):
            raise AssertionError(
                f"{name}: stage {stage} has forward passes of microbatches {forward}, backward passes of {whole} and "
                f"halves of {halves}; all are to be of each of {num_microbatches}"
            )
    return ranks
