"""Pipelines: whatever the schedule, a model in stages computes and learns what it does whole."""

from __future__ import annotations

import copy
import threading
from typing import Any

import pytest

import taeda
import taeda.distributed as dist
from taeda import Tensor, nn
from taeda.distributed._threads import run_ranks
from taeda.distributed.pipelining import (
    PipelineStage,
    Schedule1F1B,
    ScheduleDualPipeV,
    ScheduleGPipe,
    ScheduleInterleaved1F1B,
    ScheduleInterleavedZeroBubble,
    ScheduleLoopedBFS,
    ScheduleZBVZeroBubble,
    SplitPoint,
    _orders,
    pipe_split,
    pipeline,
)
from taeda.distributed.pipelining._actions import _Action
from taeda.distributed.pipelining._lowering import (
    _add_send_recv,
    _add_unshard_reshard,
    _merge_bw,
    _simulate_comms_compute,
    _validate_schedule,
)
from taeda.distributed.pipelining._pipe import annotate_split_points
from taeda.distributed.pipelining.microbatch import (
    TensorChunkSpec,
    _LossReducer,
    _Replicate,
    merge_chunks,
    split_args_kwargs_into_chunks,
)
from taeda.distributed.pipelining.schedules import _PipelineScheduleRuntime, get_schedule_class
from taeda.nn.parallel import DistributedDataParallel

_drawing = threading.Lock()  # ranks are threads here, and the generator is one for all


def layers() -> list[nn.Module]:
    with _drawing:
        taeda.manual_seed(0)
        return [nn.Sequential(nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 6)) for _ in range(4)]


def batch() -> tuple[Tensor, Tensor]:
    generator = taeda.Generator().manual_seed(1)
    return taeda.randn(8, 6, generator=generator), taeda.randn(8, 6, generator=generator)


def whole() -> tuple[Tensor, list[Tensor]]:
    """The output and the gradients of the model in one piece."""
    model, (x, target) = nn.Sequential(*layers()), batch()
    output = model(x)
    nn.functional.mse_loss(output, target).backward()
    return output, [p.grad for p in model.parameters()]  # type: ignore[misc]


def grads_of(modules: list[nn.Module]) -> list[Any]:
    return [p.grad for module in modules for p in module.parameters()]


SCHEDULES = [
    (ScheduleGPipe, "one"), (Schedule1F1B, "one"), (ScheduleInterleaved1F1B, "loop"), (ScheduleLoopedBFS, "loop"),
    (ScheduleInterleavedZeroBubble, "loop"), (ScheduleZBVZeroBubble, "v"), (ScheduleDualPipeV, "v"),
]  # fmt: skip


@pytest.mark.parametrize(("schedule", "style"), SCHEDULES, ids=lambda one: getattr(one, "__name__", one))
def test_a_schedule_learns_what_the_whole_learns(schedule: Any, style: str) -> None:
    output, grads = whole()

    def body() -> Any:
        rank, (x, target) = dist.get_rank(), batch()
        parts = layers()
        if style == "one":
            mine, count, chosen = [rank], 2, [nn.Sequential(*parts[2 * rank : 2 * rank + 2])]
        else:
            mine, count = [rank, rank + 2 if style == "loop" else 3 - rank], 4
            chosen = [parts[index] for index in mine]
        stages = [PipelineStage(module, index, count, "cpu") for module, index in zip(chosen, mine)]
        run = schedule(stages[0] if style == "one" else stages, 4, loss_fn=nn.MSELoss())
        losses: list[Tensor] = []
        arguments = (x,) if rank == 0 else ()
        last = count - 1 in mine
        assert (run.eval(*arguments) is not None) == last and all(g is None for g in grads_of(chosen))
        result = run.step(*arguments, target=target if last else None, losses=losses)
        if last:
            assert len(losses) == 4
            taeda.testing.assert_close(result, output)
            taeda.testing.assert_close(sum(losses) / 4, nn.functional.mse_loss(output, target))
        return dict(zip(mine, [grads_of([one]) for one in chosen]))

    by_stage = {stage: found for one in run_ranks(2, body) for stage, found in one.items()}
    taeda.testing.assert_close([g for stage in sorted(by_stage) for g in by_stage[stage]], grads)


class Skipping(nn.Module):
    """Uses a weight in two stages, and a value and an input two stages on."""

    def __init__(self) -> None:
        super().__init__()
        self.shared = nn.Parameter(taeda.randn(6, 6))
        self.first, self.last = nn.Linear(6, 6), nn.Linear(6, 3)

    def forward(self, x: Tensor, y: Tensor, scale: Tensor | None = None) -> Tensor:
        x = kept = x @ self.shared
        pipe_split()
        x = self.first(x).relu() @ self.shared
        pipe_split()
        return self.last(x + kept * y) * (1 if scale is None else scale)


def test_a_recorded_model_is_cut_where_it_says() -> None:
    taeda.manual_seed(0)
    model = Skipping()
    x, y = batch()
    pipe = pipeline(model, (x[:2], y[:2]), {"scale": taeda.tensor(2.0)})
    assert pipe.num_stages == 3
    taeda.testing.assert_close(pipe(x[:2], y[:2], scale=taeda.tensor(2.0))[0], model(x[:2], y[:2], taeda.tensor(2.0)))
    names = [set(pipe.get_stage_module(index).state_dict()) for index in range(3)]
    assert names == [{"shared"}, {"first.weight", "first.bias", "shared"}, {"last.weight", "last.bias"}]
    expected = copy.deepcopy(model)
    expected(x, y).square().mean().backward()

    def body() -> Any:
        mine = copy.deepcopy(model)
        rank = dist.get_rank()
        stage = pipeline(mine, (x[:2], y[:2])).build_stage(rank, "cpu")
        run = ScheduleGPipe(stage, 4, loss_fn=lambda out, target: out.square().mean())
        run.step(*((x, y) if rank == 0 else ()), target=taeda.zeros(8) if rank == 2 else None)
        return {name: p.grad for name, p in stage.submod.named_parameters()}

    results = run_ranks(3, body)
    named = {name: p.grad for name, p in expected.named_parameters()}
    taeda.testing.assert_close(results[0].pop("shared") + results[1].pop("shared"), named.pop("shared"))
    taeda.testing.assert_close(results[1] | results[2], named)


def test_submodules_are_cut_off_before_or_behind() -> None:
    model = nn.Sequential(*layers())
    for spec in ({"2": SplitPoint.BEGINNING}, {"1": SplitPoint.END}):
        pipe = pipeline(model, (batch()[0],), split_spec=spec)
        kept = [[name for name, _ in pipe.get_stage_module(index).named_children()] for index in range(2)]
        assert pipe.num_stages == 2 and kept == [["0", "1"], ["2", "3"]]
    assert pipeline(model, (batch()[0],)).num_stages == 1  # hooks are gone
    annotate_split_points(model, {"1": SplitPoint.BEGINNING, "3": SplitPoint.BEGINNING})
    assert pipeline(model, (batch()[0],)).num_stages == 3
    with pytest.raises(ValueError, match="no stage 2 of 2"):
        pipe.get_stage_module(2)


def test_a_policy_cuts_the_recorded_graph() -> None:
    model = nn.Sequential(*layers())

    def in_the_middle(module: Any) -> Any:
        calls = [node for node in module.graph.nodes if node.op == "call_function"]
        with module.graph.inserting_after(calls[len(calls) // 2 - 1]):
            module.graph.call_function(pipe_split)
        return module

    def other(module: Any) -> Any:
        module.graph.call_function(taeda.ones, (2,))
        return module

    pipe = pipeline(model, (batch()[0],), split_policy=in_the_middle)
    kept = [[name for name, _ in pipe.get_stage_module(index).named_children()] for index in range(2)]
    assert pipe.num_stages == 2 and kept == [["0", "1"], ["2", "3"]]
    taeda.testing.assert_close(pipe(batch()[0])[0], model(batch()[0]))
    with pytest.raises(ValueError, match="only calls of pipe_split"):
        pipeline(model, (batch()[0],), split_policy=other)
    with pytest.raises(ValueError, match="not both"):
        pipeline(model, (batch()[0],), split_spec={}, split_policy=other)


def test_replicas_of_a_stage_take_the_mean() -> None:
    """Two pipelines of two stages: on ranks 0 and 1, and on 2 and 3."""
    x, target = batch()
    _, grads = whole()

    def body() -> Any:
        rank = dist.get_rank()
        pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
        copies = [dist.new_group([0, 2]), dist.new_group([1, 3])]
        place, half = rank % 2, slice(4 * (rank // 2), 4 * (rank // 2) + 4)
        module = nn.Sequential(*layers()[2 * place : 2 * place + 2])
        wrapped = DistributedDataParallel(module, process_group=copies[place])
        stage = PipelineStage(wrapped, place, 2, "cpu", group=pairs[rank // 2])
        run = Schedule1F1B(stage, 2, loss_fn=nn.MSELoss())
        run.step(*((x[half],) if place == 0 else ()), target=target[half] if place else None)
        return grads_of([module])

    results = run_ranks(4, body)
    taeda.testing.assert_close(results[0] + results[1], grads)
    taeda.testing.assert_close(results[2] + results[3], grads)


def test_other_shapes_than_said_are_refused() -> None:
    def body() -> None:
        stage = PipelineStage(nn.Linear(6, 6), 0, 1, "cpu", input_args=taeda.ones(2, 6), output_args=taeda.ones(2, 6))
        run = ScheduleGPipe(stage, 2)
        for given, part in ((taeda.ones(6, 6), "shape"), (taeda.ones(4, 6, dtype=taeda.float64), "dtype")):
            with pytest.raises(RuntimeError, match=f"{part} mismatch"):
                run.step(given)
        with pytest.raises(ValueError, match="3 microbatches, where 2"):
            run._step_microbatches([(taeda.ones(1, 6),)] * 3)
        with pytest.raises(ValueError, match="no stage 2 of 2"):
            PipelineStage(nn.Linear(6, 6), 2, 2, "cpu")

    run_ranks(1, body)


def test_arguments_are_cut_and_results_joined() -> None:
    x, y = taeda.arange(6.0).view(3, 2), taeda.arange(8.0).view(2, 4)
    args, kwargs = split_args_kwargs_into_chunks((x, 3), {"y": y, "z": [x]}, 2, None, {"y": TensorChunkSpec(1)})
    assert [one[0].shape for one in args] == [(2, 2), (1, 2)] and args[1][1] == 3
    assert kwargs[0]["y"].shape == (2, 2) and kwargs[1]["z"][0].shape == (1, 2)
    assert len(split_args_kwargs_into_chunks((x,), None, 5)[0]) == 3  # it is no longer
    same = split_args_kwargs_into_chunks((x,), {}, 2, (_Replicate(),))[0]
    assert same[1][0] is x
    spec = (TensorChunkSpec(1), _LossReducer(0.0, lambda a, b: a + b), TensorChunkSpec.from_dict({"k": 0}))
    joined = merge_chunks([(y[:, :2], 1.5, {"k": x[:1]}), (y[:, 2:], 2.0, {"k": x[1:]})], spec)
    taeda.testing.assert_close(joined, (y, 3.5, {"k": x}))
    with pytest.raises(ValueError, match="2 specifications"):
        merge_chunks([x], (TensorChunkSpec(0), TensorChunkSpec(0)))


def steps(text: str) -> list[_Action | None]:
    return [_Action.from_str(one) for one in text.split()]


def test_steps_read_and_write_themselves() -> None:
    for text in ("1F0", "2I1", "0W3", "0B3", "1UNSHARD", "3RESHARD", "2SEND_B2", "1RECV_F1", "(0F1;3B0)OVERLAP_F_B"):
        assert repr(_Action.from_str(text)) == text
    assert _Action.from_str("  ") is None
    with pytest.raises(RuntimeError, match="no step"):
        _Action.from_str("1X0")
    assert _merge_bw(steps("0I0 0I1 0W0 0I2 0W2 0W1")) == steps("0I0 0I1 0W0 0B2 0W1")
    assert _add_unshard_reshard(steps("0F0 0F1 0B0")) == steps("0UNSHARD 0F0 0F1 0B0 0RESHARD")
    assert _add_unshard_reshard(steps("0F0 1F0 0F1"), 1)[:4] == steps("0UNSHARD 0F0 0RESHARD 1UNSHARD")


@pytest.mark.parametrize("microbatches", [2, 6, 8])
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_orders_hold_every_step_and_come_to_an_end(ranks: int, microbatches: int) -> None:
    def check(order: Any, stages: int, held: Any) -> None:
        _validate_schedule(order, ranks, stages, microbatches)
        whole = _add_send_recv(order, held, stages)
        timed = _simulate_comms_compute(whole, held, stages)  # type: ignore[arg-type]
        assert [[a for a in timed[rank] if a is not None] for rank in timed] == [*whole.values()]

    check(_orders.gpipe(ranks, microbatches), ranks, lambda stage: stage)
    check(_orders.one_forward_one_backward(ranks, microbatches), ranks, lambda stage: stage)
    for split in (False, True):
        back = _orders.there_and_back(ranks, microbatches, split)
        check(back, 2 * ranks, lambda stage: stage if stage < ranks else 2 * ranks - 1 - stage)
        if microbatches % max(1, microbatches // ranks) == 0:
            turns = _orders.interleaved(ranks, 3, microbatches, split)
            check(turns, 3 * ranks, lambda stage: stage % ranks)
    check(_orders.breadth_first(ranks, 2, microbatches), 2 * ranks, lambda stage: stage % ranks)


def test_schedules_that_stop_or_lack_steps_are_refused() -> None:
    for order in ({0: steps("0F0 0B0")}, {0: steps("0F0"), 1: steps("1F0 1B0")}):
        with pytest.raises(AssertionError):
            _validate_schedule(order, 2, 2, 1)
    with pytest.raises(AssertionError, match="wait for each other"):
        _add_send_recv({0: steps("0B0 0F0"), 1: steps("1F0 1B0")}, lambda stage: stage, 2)


def test_a_schedule_can_be_written_down(tmp_path: Any) -> None:
    def body() -> None:
        x, target = batch()
        module = layers()[0]
        run = _PipelineScheduleRuntime([PipelineStage(module, 0, 1, "cpu")], 2, nn.MSELoss(), scale_grads=False)
        run._load_actions({0: steps("0F0 0F1 0I0 0I1 0W0 0W1")})
        run._dump_csv(str(tmp_path / "steps.csv"))
        run._load_csv(str(tmp_path / "steps.csv"), "compute_comms")
        result = run.step(x, target=target)
        expected = copy.deepcopy(module).requires_grad_()
        expected.zero_grad()
        for part in zip(x.chunk(2), target.chunk(2)):
            nn.functional.mse_loss(expected(part[0]), part[1]).backward()
        taeda.testing.assert_close(result, expected(x))
        taeda.testing.assert_close(grads_of([module]), grads_of([expected]))

    run_ranks(1, body)


def test_schedules_have_names() -> None:
    assert get_schedule_class("1f1b") is Schedule1F1B and get_schedule_class("ZBVZeroBubble") is ScheduleZBVZeroBubble
    with pytest.raises(ValueError, match="'Another'"):
        get_schedule_class("Another")
