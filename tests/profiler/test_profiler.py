"""What a profile records, what it makes of that, and that it leaves no trace."""

import gzip
import io
import itertools
import json
import os
import threading
import warnings

import pytest

import taeda
from taeda import nn
from taeda.autograd import profiler as autograd_profiler
from taeda.nn import functional as F
from taeda.profiler import (
    ProfilerAction,
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)


def names(events):
    return [event.name for event in events]


def outline(events):
    """The events without what they call, each with the outline of that."""
    return [(event.name, outline(event.cpu_children)) for event in events]


def top(prof):
    return [event for event in prof.events() if event.cpu_parent is None]


# --- what is recorded


def test_calls_within_calls():
    x, w = taeda.ones(2, 3), taeda.ones(4, 3)
    with profile() as prof:
        F.linear(x, w)
        with record_function("mine"):
            x + 1
    linear, mine = top(prof)
    assert linear.name == "aten::linear" and linear.overload_name == ""
    assert outline([mine]) == [("mine", [("aten::add", [])])]
    assert (linear.scope, mine.scope, mine.is_user_annotation) == (0, 7, True)
    assert mine.cpu_children[0].cpu_parent is mine


def test_times_add_up():
    net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
    with profile() as prof:
        net(taeda.ones(4, 8)).sum().backward()
    events = prof.events()
    for event in events:
        assert 0 <= event.time_range.start <= event.time_range.end and event.self_cpu_time_total >= 0
        for child in event.cpu_children:
            inside, around = child.time_range, event.time_range
            assert around.start <= inside.start <= inside.end <= around.end
    whole = sum(event.cpu_time_total for event in top(prof))
    assert events.self_cpu_time_total == pytest.approx(whole)
    assert prof.key_averages().self_cpu_time_total == pytest.approx(whole)
    assert [event.id for event in events] == list(range(len(events)))


def test_backward():
    a, b = (taeda.ones(3, requires_grad=True) for _ in range(2))
    with profile() as prof:
        (a * b).sum().backward()
    nodes = [event for event in top(prof) if event.scope == 1]
    assert names(nodes) == ["SumBackward0", "MulBackward0", *["AccumulateGrad"] * 2]
    recorded = {event.sequence_nr: event.name for event in prof.events() if event.scope == 0 and event.sequence_nr >= 0}
    assert recorded[nodes[1].sequence_nr] == "aten::mul" and recorded[nodes[0].sequence_nr] == "aten::sum"
    with profile() as prof, taeda.no_grad():
        a * b
    assert prof.events()[0].sequence_nr == -1


def test_it_shows_what_runs_without_it():
    """Gradients that one kernel makes are not taken apart."""
    a, b = (taeda.rand(3, requires_grad=True) for _ in range(2))
    with profile() as prof:
        (a * b).sum().backward()
    (node,) = [event for event in prof.events() if event.name == "MulBackward0"]
    assert node.cpu_children == []


def test_arguments():
    x = taeda.ones(2, 3, dtype=taeda.float64)
    with profile(record_shapes=True) as prof:
        taeda.add(x, taeda.ones(3), alpha=2)
        taeda.cat([x, x], 1)
        x.sum([0])
        with record_function("mine", "text"):
            pass
    found = {event.name: event for event in top(prof)}
    add, cat = found["aten::add"], found["aten::cat"]
    assert (add.input_shapes, add.concrete_inputs) == ([[2, 3], [3], []], [None, None, 2])
    assert add.input_dtypes == ["torch.float64", "torch.float32", ""] and add.overload_name == "Tensor"
    assert (cat.input_shapes, cat.concrete_inputs) == ([[], []], [None, 1])
    assert found["aten::sum"].concrete_inputs[1] == [0]
    assert found["mine"].concrete_inputs == ["text"]
    with profile() as prof:
        x + 1
    assert prof.events()[0].input_shapes == prof.events()[0].concrete_inputs == []


def test_arguments_are_not_kept_alive():
    import weakref

    x = taeda.ones(3)
    with profile(record_shapes=True, with_stack=True):
        y = x + 1
        gone = weakref.ref(y)
        del y
        assert gone() is None


def test_memory():
    with profile(profile_memory=True) as prof:
        x = taeda.empty(1 << 20)
        with record_function("free"):
            del x
        with record_function("both"):
            taeda.empty(1 << 20)
    make, free, both, inner = prof.events()
    assert make.cpu_memory_usage >= 1 << 22 and free.cpu_memory_usage == -make.cpu_memory_usage
    assert both.cpu_memory_usage == 0 and both.self_cpu_memory_usage == -inner.cpu_memory_usage
    table = prof.key_averages().table()
    assert "Self CPU Mem" in table and f"{make.cpu_memory_usage / 2**20:.2f} MB" in table


def test_stacks(tmp_path):
    def inner():
        return taeda.ones(1) + 1

    with profile(with_stack=True) as prof:
        inner()
        with record_function("mine"):
            pass
    add, mine = prof.events()[-2:]
    assert add.stack[0].endswith(": inner") and add.stack[1].endswith(": test_stacks")
    assert mine.stack[0].endswith(": test_stacks") and __file__ in mine.stack[0]
    prof.export_stacks(str(tmp_path / "stacks"))
    lines = (tmp_path / "stacks").read_text().splitlines()
    assert any(line.rsplit(" ", 1)[0].endswith("inner") and line.rsplit(" ", 1)[1].isdigit() for line in lines)
    with pytest.raises(ValueError, match="self_cpu_time_total"):
        prof.export_stacks(str(tmp_path / "stacks"), "weight")
    assert ": inner" in prof.key_averages(group_by_stack_n=1).table()


FLOPS = {
    "mm": (lambda t: t.ones(3, 4) @ t.ones(4, 2), "aten::mm", 48),
    "addmm": (lambda t: t.addmm(t.ones(5), t.ones(3, 4), t.ones(4, 5)), "aten::addmm", 120),
    "bmm": (lambda t: t.bmm(t.ones(2, 3, 4), t.ones(2, 4, 5)), "aten::bmm", 240),
    "baddbmm": (lambda t: t.baddbmm(t.ones(2, 3, 5), t.ones(2, 3, 4), t.ones(2, 4, 5)), "aten::baddbmm", 240),
    "linear": (lambda t: t.nn.functional.linear(t.ones(2, 3), t.ones(5, 3)), "aten::linear", 60),
    "add": (lambda t: t.ones(3, 4) + 1, "aten::add", 12),
    "mul": (lambda t: t.ones(3, 4) * t.ones(3, 4), "aten::mul", 12),
    "conv2d": (
        lambda t: t.nn.functional.conv2d(t.ones(1, 2, 5, 5), t.ones(4, 1, 3, 3), padding=1, stride=2, groups=2),
        "aten::conv2d",
        648,
    ),
    "conv1d": (lambda t: t.nn.functional.conv1d(t.ones(2, 5), t.ones(3, 2, 3), dilation=2), "aten::conv1d", 36),
}


@pytest.mark.parametrize("name", FLOPS)
def test_flops(name):
    call, op, expected = FLOPS[name]
    with profile(with_flops=True) as prof:
        call(taeda)
    assert [event.flops for event in prof.events() if event.name == op] == [expected]
    table = prof.key_averages().table()
    assert f"{expected / 1000:.3f}" in table if "Total KFLOPs" in table else "Total FLOPs" in table
    torch = pytest.importorskip("torch")
    if name not in ("conv1d", "linear"):  # not counted there
        with torch.profiler.profile(with_flops=True) as theirs:
            call(torch)
        assert [event.flops for event in theirs.events() if event.name == op] == [expected]


def test_steps_of_optimizers():
    w = nn.Parameter(taeda.ones(2))
    w.grad = taeda.ones(2)
    with profile() as prof:
        optimizer = taeda.optim.SGD([w], lr=0.1)
        optimizer.step()
        optimizer.zero_grad()
    step, zero = [event for event in top(prof) if event.name.startswith("Optimizer")]
    assert step.name == "Optimizer.step#SGD.step" and step.cpu_children and w.grad is None
    assert zero.name == "Optimizer.zero_grad#SGD.zero_grad"
    assert not taeda.optim.optimizer._global_optimizer_pre_hooks


def test_batches_of_loaders():
    for workers, name in ((0, "_SingleProcessDataLoaderIter"), (1, "_MultiProcessingDataLoaderIter")):
        with profile() as prof:
            assert len(list(taeda.utils.data.DataLoader(range(4), batch_size=2, num_workers=workers))) == 2
        found = [e.name for e in prof.events() if e.name.startswith("enumerate")]
        assert found == [f"enumerate(DataLoader)#{name}.__next__"] * 3  # the last finds nothing more


# --- what does not disturb it


def test_errors_end_their_events():
    with profile() as prof:
        with pytest.raises(RuntimeError), record_function("fails"):
            taeda.ones(3) @ taeda.ones(4)
        with record_function("after"):
            pass
    assert names(top(prof)) == ["fails", "after"]
    with pytest.raises(ZeroDivisionError), profile() as prof:
        taeda.ones(1)
        1 / 0  # noqa: B018
    assert names(prof.events())[0] == "aten::ones" and not taeda._C._profiler_enabled()


def test_marks_in_any_order():
    first, second = record_function("first"), record_function("second")
    with profile() as prof:
        first.__enter__()
        second.__enter__()
        first.__exit__()
        taeda.empty(1)
        second.__exit__()
        open_at_the_end = record_function("open").__enter__()
    open_at_the_end.__exit__()
    assert outline(top(prof)) == [("first", [("second", [])]), ("aten::empty", []), ("open", [])]
    with profile() as prof:
        open_at_the_end.__exit__()
        taeda.empty(1)
    assert names(prof.events()) == ["aten::empty"]


def test_record_function_decorates():
    @record_function("mine")
    def factorial(n):
        """Of ``n``."""
        return n * factorial(n - 1) if n else 1

    with profile() as prof:
        assert factorial(2) == 2
    assert outline(top(prof)) == [("mine", [("mine", [("mine", [])])])]
    assert factorial.__name__ == "factorial" and factorial.__doc__ == "Of ``n``."
    assert prof.key_averages()[0].count == 3
    for wrong in (record_function(3), record_function("a", 3)):
        with pytest.raises(RuntimeError, match="int"), wrong:
            pass


def test_other_threads_and_processes_are_not_recorded():
    with profile() as prof:
        thread = threading.Thread(target=taeda.ones, args=(1,))
        thread.start()
        thread.join()
        child = os.fork()
        if child == 0:
            os._exit(int(taeda._C._profiler_enabled()))
        assert os.waitpid(child, 0)[1] == 0
    assert names(prof.events()) == []


def test_each_thread_has_its_own():
    found = []

    def run():
        with profile() as prof:
            taeda.empty(2)
        found.append(names(prof.events()))

    with profile() as prof:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        taeda.zeros_like(taeda.empty(1))
    assert found == [["aten::empty"]] and names(prof.events())[0] == "aten::empty"


def test_modes_transforms_and_explanations():
    from taeda.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    seen = []
    x = taeda.rand(3, 2)
    with profile() as prof, Mode():
        x + 1
    assert seen == ["aten.add.Tensor"] and outline(top(prof)) == [("aten::add", [("aten::add", [])])]
    with profile() as prof:
        assert taeda.equal(taeda.func.vmap(taeda.sum)(x), x.sum(1))
        assert taeda.equal(taeda.func.grad(lambda t: t.sum())(x), taeda.ones(3, 2))
    assert "aten::sum" in names(prof.events())
    with open(os.devnull, "w") as nowhere, profile() as prof, taeda.explain_calls(file=nowhere):
        x + 1
    assert names(prof.events()) == ["aten::add"]


def test_results_are_the_same():
    def run():
        taeda.manual_seed(0)
        net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(8, 3))
        opt = taeda.optim.Adam(net.parameters())
        for _ in range(2):
            loss = F.cross_entropy(net(taeda.rand(4, 1, 4, 4)), taeda.tensor([0, 1, 2, 0]))
            opt.zero_grad()
            loss.backward()
            opt.step()
        out = taeda.empty(2)
        return [*net.parameters(), loss, *taeda.rand(3).sort(), taeda.ones(2).add_(1), taeda.add(out, 1, out=out)]

    before = run()
    with profile(record_shapes=True, profile_memory=True, with_stack=True, with_flops=True):
        during = run()
    for one, other in zip(before[:-1], during[:-1], strict=True):
        assert taeda.equal(one, other)


def test_custom_ops():
    library = taeda.library.Library("profiled", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x + x, "CompositeExplicitAutograd")
    with profile() as prof:
        taeda.ops.profiled.twice(taeda.ones(1))
    assert ("profiled::twice", [("aten::add", [])]) in outline(top(prof))


# --- what is made of it


def test_averages():
    x = taeda.ones(2)
    with profile(record_shapes=True) as prof:
        for n in (1, 2, 2):
            taeda.empty(n)
        x + 1
        x + x
    averages = {average.key: average for average in prof.key_averages()}
    assert {key: average.count for key, average in averages.items()} == {"aten::empty": 3, "aten::add": 2}
    total = sum(event.cpu_time_total for event in prof.events()[:3])
    assert averages["aten::empty"].cpu_time_total == pytest.approx(total)
    assert averages["aten::empty"].cpu_time == pytest.approx(total / 3)
    assert averages["aten::add"].input_shapes == "" and averages["aten::add"].stack == []
    by_shape = prof.key_averages(group_by_input_shape=True)
    assert [average.input_shapes for average in by_shape if average.key == "aten::add"] == [
        [[2], [], []],
        [[2], [2], []],
    ]
    by_overload = prof.key_averages(group_by_overload_name=True)
    assert {average.overload_name for average in by_overload if average.key == "aten::add"} == {"Scalar", "Tensor"}
    assert prof.events().total_average().count == 5 and prof.events().total_average().key == "Total"
    for zero in ("cuda_time_total", "device_time_total", "self_device_time_total", "device_memory_usage"):
        assert getattr(averages["aten::add"], zero) == 0


def test_tables():
    with profile(record_shapes=True) as prof:
        with record_function("m" * 80):
            taeda.empty(1)
        taeda.ones(2, 3) + 1
    averages = prof.key_averages(group_by_input_shape=True)
    text = averages.table(sort_by="cpu_time_total", header="Here", max_name_column_width=20, time_unit="ms")
    first, rule, titles, *rows = text.splitlines()
    for title in ("Name", "Self CPU %", "CPU total", "CPU time avg", "# of Calls", "Input Shapes"):
        assert title in titles
    assert first == "Here" and set(rule) == {"-", " "} and "CPU Mem" not in titles and "FLOPs" not in titles
    assert "m" * 17 + "..." in text and "[[2, 3], [], []]" in text and "us" not in text.replace("-", "")
    assert text.endswith("ms\n") and "Self CPU time total: " in text
    assert len(rows) == len(averages) + 3
    assert len(averages.table(row_limit=1).splitlines()) == 6
    assert "aten::empty" not in averages.table(top_level_events_only=True)
    times = [float(line.split()[4].removesuffix("ms")) for line in rows[1:-2]]
    assert times == sorted(times, reverse=True)
    for wrong in ("nonsense", "key"):
        with pytest.raises(AttributeError, match=wrong):
            averages.table(sort_by=wrong)
    assert str(averages) == averages.table() and taeda.autograd.profiler.EventList().table() == ""


def test_chrome_traces(tmp_path):
    a = taeda.ones(2, 3, requires_grad=True)
    with profile(record_shapes=True) as prof, record_function("mine"):
        a.exp().sum().backward()
    prof.add_metadata("who", "me")
    prof.add_metadata_json("numbers", "[1, 2]")
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    prof.export_chrome_trace(str(tmp_path / "trace.json.gz"))
    trace = json.loads((tmp_path / "trace.json").read_text())
    assert gzip.decompress((tmp_path / "trace.json.gz").read_bytes()).count(b'"aten::exp"') == 1
    assert (trace["who"], trace["numbers"], trace["record_shapes"]) == ("me", [1, 2], 1)
    assert trace["trace_id"] == prof.get_trace_id() and trace["baseTimeNanoseconds"] > 0
    slices = {event["name"]: event for event in trace["traceEvents"] if event["ph"] == "X"}
    assert slices["mine"]["cat"] == "user_annotation" and slices["aten::exp"]["cat"] == "cpu_op"
    assert slices["aten::exp"]["args"]["Input Dims"] == [[2, 3]] and slices["mine"]["pid"] == os.getpid()
    assert slices["mine"]["dur"] >= slices["aten::exp"]["dur"]
    flows = [event for event in trace["traceEvents"] if event.get("cat") == "fwdbwd"]
    starts = {event["id"]: event["ts"] for event in flows if event["ph"] == "s"}
    ends = {event["id"]: event["ts"] for event in flows if event["ph"] == "f"}
    assert len(starts) == 2 and starts.keys() == ends.keys() and all(starts[i] < ends[i] for i in starts)
    with pytest.raises(ValueError):
        prof.add_metadata_json("numbers", "[")


def test_traces_for_tensorboard(tmp_path):
    for gz in (False, True):
        handler = tensorboard_trace_handler(str(tmp_path / "deep" / "er"), "worker", use_gzip=gz)
        with profile(on_trace_ready=handler):
            taeda.ones(1)
    found = sorted(path.name for path in (tmp_path / "deep" / "er").iterdir())
    assert sorted(name.split(".")[2:] for name in found) == [["pt", "trace", "json"], ["pt", "trace", "json", "gz"]]
    assert all(name.startswith("worker.") for name in found)
    (tmp_path / "file").touch()
    with (
        pytest.raises(RuntimeError, match="file"),
        profile(on_trace_ready=tensorboard_trace_handler(str(tmp_path / "file"))),
    ):
        pass


# --- schedules


def test_schedules_are_pytorchs():
    torch = pytest.importorskip("torch")
    for wait, warmup, active, repeat, skip, skip_wait in itertools.product(
        (0, 1, 2), (0, 1), (1, 3), (0, 2), (0, 2), (0, 1)
    ):
        options = {"wait": wait, "warmup": warmup, "active": active, "repeat": repeat, "skip_first": skip,
                   "skip_first_wait": skip_wait}  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours, theirs = schedule(**options), torch.profiler.schedule(**options)
        assert [ours(i).value for i in range(20)] == [theirs(i).value for i in range(20)], options


def test_schedules_refuse():
    for wrong in ({"active": 0}, {"wait": -1}, {"warmup": -1}, {"repeat": -1}, {"skip_first": -1}):
        with pytest.raises(AssertionError, match="got active="):
            schedule(**({"wait": 0, "warmup": 1, "active": 1} | wrong))
    with pytest.raises(AssertionError, match="-1"):
        schedule(wait=0, warmup=1, active=1)(-1)
    with pytest.warns(UserWarning, match="warm up"):
        schedule(wait=0, warmup=0, active=1)


@pytest.mark.parametrize("keeps", [False, True])
def test_steps(keeps):
    seen = []

    def ready(prof):
        seen.append((prof.step_num, [event.trace_name for event in prof.events() if event.is_user_annotation]))

    plan = schedule(wait=1, warmup=1, active=2, repeat=2)
    with profile(schedule=plan, on_trace_ready=ready, acc_events=keeps) as prof:
        for i in range(10):
            taeda.empty(i)
            prof.step()
    first, second = ["ProfilerStep#2", "ProfilerStep#3"], ["ProfilerStep#6", "ProfilerStep#7"]
    assert seen == [(4, first), (8, first + second if keeps else second)]
    assert names(prof.events()[:2]) == ["ProfilerStep*", "aten::empty"]
    assert prof.key_averages()[0].count == (4 if keeps else 2)
    assert [event.id for event in prof.events()] == list(range(len(prof.events())))


def test_a_cycle_that_is_broken_off():
    seen = []
    with profile(
        schedule=schedule(wait=0, warmup=1, active=3), on_trace_ready=lambda p: seen.append(p.step_num)
    ) as prof:
        prof.step()
    assert seen == [1]
    plan = [ProfilerAction.RECORD, ProfilerAction.NONE, ProfilerAction.NONE]
    with profile(schedule=plan.__getitem__, on_trace_ready=lambda p: seen.append(p.step_num)) as prof:
        with pytest.warns(UserWarning, match="RECORD_AND_SAVE"):
            prof.step()
        prof.step()
    assert seen == [1] and names(prof.events()) == ["ProfilerStep*"]


def test_without_a_schedule_steps_are_counted():
    with profile() as prof:
        for _ in range(3):
            taeda.empty(1)
            prof.step()
        assert prof.events() == [] and prof.key_averages().table() == ""
    assert prof.step_num == 3 and names(prof.events()) == ["aten::empty"] * 3


# --- what is refused


def test_order_of_calls(tmp_path):
    prof = profile()
    for early in (prof.stop, prof.events, prof.key_averages, lambda: prof.export_chrome_trace("x"),
                  lambda: prof.export_stacks("x")):  # fmt: skip
        with pytest.raises(AssertionError, match="not been started"):
            early()
    assert prof.get_trace_id() is None
    with prof:
        with pytest.raises(RuntimeError, match="ended"):
            prof.export_chrome_trace(str(tmp_path / "x"))
        with pytest.raises(RuntimeError, match="already"), profile():
            pass
        taeda.empty(1)
    assert names(prof.events()) == ["aten::empty"]
    with pytest.raises(AssertionError, match="with_stack"):
        prof.export_stacks(str(tmp_path / "x"))


def test_activities():
    assert supported_activities() == {ProfilerActivity.CPU}
    with pytest.warns(UserWarning, match="CUDA"):
        prof = profile(activities=[ProfilerActivity.CPU, {ProfilerActivity.CUDA: ["x"]}])
    assert prof.activities == {ProfilerActivity.CPU}
    for wrong in ([], ["CPU"]):
        with pytest.raises(AssertionError, match="activities"):
            profile(activities=wrong)
    with pytest.raises(AssertionError, match="CPU"), pytest.warns(UserWarning, match="CUDA"):
        profile(activities=[ProfilerActivity.CUDA])
    with pytest.raises(TypeError):
        profile(activities=3)
    with pytest.raises(TypeError):
        profile(schedule=3)


def test_what_there_is_not():
    for call in (lambda: profile(execution_trace_observer=3), lambda: profile(experimental_config=3)):
        with pytest.raises(NotImplementedError):
            call()
    for kind in (autograd_profiler.emit_nvtx, autograd_profiler.emit_itt):
        with pytest.raises(RuntimeError, match=kind.__name__), kind():
            pass
        with kind(enabled=False):
            pass


def test_the_profiler_of_autograd(tmp_path):
    with autograd_profiler.profile(record_shapes=True, custom_trace_id_callback=lambda: "mine") as prof:
        taeda.ones(2) + 1
    assert prof.self_cpu_time_total == prof.total_average().self_cpu_time_total > 0
    assert str(prof) == prof.table() and prof.key_averages()[-1].key == "aten::add"
    prof.export_chrome_trace(str(tmp_path / "x"))
    assert json.loads((tmp_path / "x").read_text())["trace_id"] == "mine"
    with autograd_profiler.profile(enabled=False) as off:
        taeda.ones(2)
    assert "without events" in repr(off) and str(off) == repr(off)
    for early in (off.table, off.key_averages, off.total_average, lambda: off.self_cpu_time_total):
        with pytest.raises(RuntimeError, match="ended"):
            early()
    with pytest.warns(UserWarning, match="cuda"):
        autograd_profiler.profile(use_cuda=True)
    with autograd_profiler.profile() as prof, pytest.raises(RuntimeError, match="already"), prof:
        pass
    assert taeda.autograd.profiler is autograd_profiler and autograd_profiler.kineto_available()


def test_marks_by_ops():
    enter, leave = taeda.ops.profiler._record_function_enter, taeda.ops.profiler._record_function_exit
    with taeda.profiler.profile() as prof:
        handle = enter("marked", None)
        taeda.ones(2) + 1
        leave(handle)
        leave(taeda.ops.profiler._record_function_enter_new("also", "text"))
        leave(taeda.tensor(int(handle) + 1000))  # of no mark
    marked, also = (event for event in prof.events() if event.name in ("marked", "also"))
    assert [e.name for e in marked.cpu_children] == ["aten::ones", "aten::add"] and not also.cpu_children
    nowhere = taeda.empty((), dtype=taeda.int64, device="meta")
    for wrong in (taeda.ones(2), taeda.tensor(1.5), nowhere, taeda.tensor([3]).to_sparse()):
        with pytest.raises(RuntimeError, match="_record_function_enter gave|no memory of its own"):
            leave(wrong)


class Marked(nn.Module):
    def forward(self, x):
        with taeda.autograd.profiler.record_function("inside"):
            y = x * 2
        return y + 1


class MarkedByOps(nn.Module):
    def forward(self, x):
        handle = taeda.ops.profiler._record_function_enter_new("inside")
        y = x * 2
        taeda.ops.profiler._record_function_exit(handle)
        return y + 1


def test_exports_have_no_marks():
    graph = taeda.export.export(MarkedByOps(), (taeda.ones(2),)).graph
    assert [str(n.target) for n in graph.nodes if n.op == "call_function"] == ["aten.mul.Tensor", "aten.add.Tensor"]


@pytest.mark.parametrize(
    "made",
    [lambda: taeda.jit.script(Marked()), lambda: taeda.jit.trace(MarkedByOps(), taeda.ones(2))],
    ids=["script", "trace"],
)
@pytest.mark.parametrize("saved", [False, True])
def test_marks_of_programs(made, saved):
    program = made()
    if saved:
        file = io.BytesIO()
        taeda.jit.save(program, file)
        program = taeda.jit.load(io.BytesIO(file.getvalue()))
    with taeda.profiler.profile() as prof:
        assert program(taeda.ones(2)).tolist() == [3, 3]
    inside = next(event for event in prof.events() if event.name == "inside")
    assert [e.name for e in inside.cpu_children] == ["aten::mul"]
