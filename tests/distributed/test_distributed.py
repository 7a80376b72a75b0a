"""Groups of one process: what they answer, collectives, `DistributedDataParallel`; beside PyTorch where it is."""

from __future__ import annotations

import copy
import gc
import importlib
import io
import os
import pickle
import socket
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import taeda
import taeda.distributed as dist
from taeda import nn
from taeda.distributed._work import FutureWork
from taeda.distributed.algorithms.ddp_comm_hooks import default_hooks, post_localSGD_hook
from taeda.futures import Future
from taeda.nn.parallel import DistributedDataParallel
from taeda.utils.checkpoint import checkpoint

ROOT = Path(__file__).resolve().parents[2]
with socket.socket() as _sock:
    _sock.bind(("", 0))
    PORT = _sock.getsockname()[1]
VARIABLES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")


@pytest.fixture(autouse=True)
def no_launcher(monkeypatch):
    """No environment of a launcher before a test, and no group after it."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    yield
    if dist.is_initialized():
        dist.destroy_process_group()


@pytest.fixture
def group():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)


def plain(value: Any) -> Any:
    """Tensors as lists beside their dtypes, also in lists, tuples and dictionaries."""
    if hasattr(value, "untyped_storage"):
        return str(value.dtype), value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return {key: plain(part) for key, part in value.items()} if isinstance(value, dict) else value


def outcome(call: Any) -> Any:
    """What a call gives, or the type of its error."""
    try:
        return plain(call())
    except Exception as error:
        return type(error).__name__


class Both:
    """A library's own parts, under names that do not tell which one it is."""

    def __init__(self, name: str) -> None:
        self.root: Any = importlib.import_module(name)
        self.nn = self.root.nn
        self.dist: Any = importlib.import_module(f"{name}.distributed")
        self.join: Any = importlib.import_module(f"{name}.distributed.algorithms.join")
        self.hooks: Any = importlib.import_module(f"{name}.distributed.algorithms.ddp_comm_hooks.default_hooks")
        self.ddp: Any = importlib.import_module(f"{name}.nn.parallel").DistributedDataParallel
        self.sampler: Any = importlib.import_module(f"{name}.utils.data.distributed").DistributedSampler

    def start(self) -> None:
        self.dist.init_process_group("gloo", store=self.dist.HashStore(), rank=0, world_size=1)

    def net(self) -> Any:
        self.root.manual_seed(0)
        return self.nn.Sequential(self.nn.Linear(2, 3), self.nn.BatchNorm1d(3), self.nn.Linear(3, 1))


def uninitialised(b: Both) -> Any:
    d, log = b.dist, []
    for name in ("get_rank", "get_world_size", "get_backend", "barrier", "destroy_process_group", "new_group",
                 "get_backend_config", "get_node_local_rank"):  # fmt: skip
        log.append(outcome(getattr(d, name)))
    log += [d.is_initialized(), d.get_pg_count(), d.group.WORLD, d.GroupMember.WORLD, d.GroupMember.NON_GROUP_MEMBER]
    log += [outcome(lambda: d.all_reduce(b.root.ones(1))), outcome(lambda: d.all_gather_object([None], 1))]
    log += [outcome(lambda: b.sampler([1])), outcome(lambda: b.ddp(b.net()))]
    return [*log, outcome(lambda: d.get_process_group_ranks(None)), d.get_node_local_rank(3)]


def initialising(b: Both) -> Any:
    d, log = b.dist, []
    one = {"rank": 0, "world_size": 1}
    for backend, options in (
        ("gloo", {"init_method": f"tcp://localhost:{PORT}"}),
        ("gloo", {"init_method": f"tcp://localhost:{PORT}", "rank": 0}),
        ("gloo", {"init_method": "tcp://localhost", **one}),
        ("gloo", {"init_method": "file://", **one}),
        ("gloo", {"init_method": "file:///tmp/a"}),
        ("gloo", {"init_method": "unknown://a", **one}),
        ("gloo", {"init_method": "/tmp/a", **one}),
        ("gloo", {"store": d.HashStore()}),
        ("gloo", {"store": d.HashStore(), "rank": 0, "world_size": 0}),
        ("gloo", {"store": d.HashStore(), "init_method": "env://", **one}),
        ("gloo", {"store": d.HashStore(), "timeout": 3, **one}),
        ("gloo", {"store": d.HashStore(), "rank": 1, "world_size": 1}),
        ("nccl", {"store": d.HashStore(), **one}),
        ("cpu:gloo,cuda:nccl", {"store": d.HashStore(), **one}),
        ("unknown", {"store": d.HashStore(), **one}),
        (3, {"store": d.HashStore(), **one}),
    ):
        log.append(outcome(lambda backend=backend, options=options: d.init_process_group(backend, **options)))
    for name, value in (("RANK", "0"), ("WORLD_SIZE", "1"), ("MASTER_ADDR", "localhost"), ("MASTER_PORT", "no port")):
        log.append(outcome(lambda: d.init_process_group("gloo")))
        os.environ[name] = value
    log += [outcome(lambda: d.init_process_group("gloo")), d.is_initialized()]
    for backend in (None, "gloo", "GLOO", "cpu:gloo"):
        d.init_process_group(backend, store=d.HashStore(), **one)
        log += [d.get_backend(), d.get_backend_config(), d.is_initialized(), d.is_available()]
        log.append(outcome(lambda: d.init_process_group("gloo", store=d.HashStore(), **one)))
        d.destroy_process_group(d.group.WORLD if backend else None)
    return log


def groups(b: Both) -> Any:
    d, log = b.dist, []
    b.start()
    world, nobody = d.group.WORLD, d.GroupMember.NON_GROUP_MEMBER
    log += [world.rank(), world.size(), world.name(), world.group_name, world.group_desc, world is d.GroupMember.WORLD]
    log += [d.get_rank(nobody), d.get_world_size(nobody), d.all_reduce(b.root.ones(1), group=nobody)]
    log += [outcome(lambda: d.get_backend(nobody)), outcome(lambda: d.get_process_group_ranks(nobody))]
    log += [outcome(lambda: d.all_reduce(b.root.ones(1), group=3)), d.barrier(group=nobody)]
    made = d.new_group([0], group_desc="mine", timeout=timedelta(seconds=9))
    log += [made.group_desc, made.rank(), d.get_rank(made), d.get_world_size(made), d.get_process_group_ranks(made)]
    log += [d.get_backend(made), d.get_global_rank(made, 0), d.get_group_rank(made, 0), d.get_global_rank(world, 0)]
    log += [outcome(lambda: d.get_global_rank(made, 1)), outcome(lambda: d.get_group_rank(made, 1)), d.get_pg_count()]
    for ranks in ([1], [0, 1], [0, 0], 0):
        log.append(outcome(lambda ranks=ranks: d.new_group(ranks)))
    log += [outcome(lambda: d.new_group([0], backend="nccl")), outcome(lambda: d.new_group([0], timeout=3))]
    for size in (None, 0, 2):
        log.append(outcome(lambda size=size: d.new_subgroups(size)))
    for lists in (None, [], [[0], [0]]):
        log.append(outcome(lambda lists=lists: d.new_subgroups_by_enumeration(lists)))
    own, every = d.new_subgroups(1)
    log += [own is every[0], len(every), d.get_process_group_ranks(d.new_subgroups_by_enumeration([[0]])[0])]
    d.destroy_process_group(made)
    for call in (d.get_rank, d.get_backend, d.get_process_group_ranks, d.destroy_process_group):
        log.append(outcome(lambda call=call: call(made)))
    return [*log, d.destroy_process_group(nobody)]


def backends(b: Both) -> Any:
    B, d = b.dist.Backend, b.dist
    log = [
        B("GLOO"),
        B("Other"),
        B.GLOO,
        type(B("gloo")).__name__,
        B.default_device_backend_map["cpu"],
        outcome(lambda: B(3)),
    ]
    log += [str(d.BackendConfig(B("gloo"))), str(d.BackendConfig(B("cpu:gloo,cuda:nccl")))]
    log += [d.is_backend_available(name) for name in ("gloo", "GLOO", "nccl", "ucc", "xccl", "unknown")]
    log += [d.is_gloo_available(), d.is_nccl_available(), d.is_ucc_available()]
    log += [d.get_default_backend_for_device(device) for device in ("cpu", "cuda", b.root.device("cpu"))]
    return log


def reductions(b: Both) -> Any:
    b.start()
    R, r, log = b.dist.ReduceOp, b.root, []
    for op in R.RedOpType.__members__.values():
        log += [str(op), repr(op), op.name, int(op), isinstance(op, R), b.dist.supports_complex(op)]
        for dtype in (r.float32, r.bfloat16, r.int64, r.uint8, r.bool, r.complex64):
            x = r.tensor([1, 2, 3]).to(dtype)
            out = r.zeros_like(x)
            log.append(outcome(lambda op=op, x=x: (b.dist.all_reduce(x, op), x)))
            log.append(outcome(lambda op=op, x=x: (b.dist.reduce(x, 0, op), x)))
            log.append(outcome(lambda op=op, x=x, out=out: (b.dist.reduce_scatter(out, [x], op), out)))
            log.append(outcome(lambda op=op, x=x, out=out: (b.dist.reduce_scatter_tensor(out, x, op), out)))
    for x in (r.arange(6.0).view(2, 3).t(), r.ones(0), r.tensor(3.0), [r.ones(1)], 3):
        log.append(outcome(lambda x=x: (b.dist.all_reduce(x), x)))
    leaf = r.ones(2, requires_grad=True)
    log += [(R(R.SUM) == R.SUM, R(R.SUM) == R.SUM, R(R.SUM) == R(R.SUM), R.SUM == 0, hash(R(R.MAX)) == hash(R.MAX))]
    log += [b.dist.all_reduce(leaf), leaf.requires_grad, leaf._version, b.dist.reduce_op.MAX == R.MAX]
    pair = [r.ones(1), r.ones(2)]
    log += [b.dist.all_reduce_coalesced(pair), plain(pair)]
    wrong = [r.ones(1), r.ones(1).long()]
    return [*log, *(outcome(lambda o=o: b.dist.all_reduce(r.ones(1), o)) for o in (3, "sum")),
            outcome(lambda: b.dist.all_reduce_coalesced(wrong))]  # fmt: skip


def ranks(b: Both) -> Any:
    b.start()
    d, x, log = b.dist, b.root.arange(3.0), []
    for options in ({}, {0: 0}, {0: 1}, {0: -1}, {0: "a"}, {1: 0}, {1: 1}, {0: 0, 1: 0}):
        for name, call in (("dst", d.reduce), ("src", d.broadcast), ("dst", d.gather), ("src", d.scatter)):
            if "a" in options.values() and name == "dst":
                continue
            given = {(f"group_{name}" if key else name): value for key, value in options.items()}
            lists = {"gather": {"gather_list": [x.clone()]}, "scatter": {"scatter_list": [x + 1]}}
            if -1 in options.values() and call.__name__ in lists:
                continue  # there an unknown rank means another thing
            given |= lists.get(call.__name__, {})
            log.append([call.__name__, str(options), outcome(lambda call=call, given=given: call(x.clone(), **given))])
    for call in (d.gather, d.scatter):
        for given in ((None,), ([],), ([x, x],), ([x[:2].clone()],), ([x.long()],), (None, 1)):
            log.append(outcome(lambda call=call, given=given: call(x.clone(), *given)))
    return log


def gathering(b: Both) -> Any:
    b.start()
    d, r, log = b.dist, b.root, []
    x = r.arange(6.0).view(2, 3)
    zeros = r.zeros
    for outs in ([zeros(2, 3)], [zeros(3, 2).t()], [], [zeros(2, 3)] * 2, [zeros(6)], [zeros(2, 3).long()], zeros(2, 3),
                 (zeros(2, 3),), [3], [zeros(2, 3, requires_grad=True)]):  # fmt: skip
        log.append(outcome(lambda outs=outs: (d.all_gather(outs, x), outs)))
        log.append(outcome(lambda outs=outs: (d.all_to_all(outs, [x]), outs)))
        if all(hasattr(out, "requires_grad") and not out.requires_grad for out in outs):
            log.append(outcome(lambda outs=outs: (d.gather(x, outs), outs)))
    for out in (zeros(2, 3), zeros(3), zeros(1, 2, 3), zeros(2, 3).int(), [x], 3):
        for call in (d.all_gather_into_tensor, d.all_gather_single, d.reduce_scatter_tensor, d._all_gather_base,
                     d._reduce_scatter_base, d.all_to_all_single):  # fmt: skip
            if call is d.all_to_all_single and out is not x and getattr(out, "shape", None) == (1, 2, 3):
                continue  # it counts elements there
            log.append(outcome(lambda call=call, out=out: (call(out, x), out)))
    for sizes in (([2], [2]), ([1], [2]), ([1, 1], [1, 1]), ([2], None)):
        out = zeros(2, 3)
        log.append(outcome(lambda out=out, sizes=sizes: (d.all_to_all_single(out, x, *sizes), out)))
    for inputs in ([x], [x, x], [], [x.long()], x, [x[:1]]):
        out = zeros(2, 3)
        log.append(outcome(lambda out=out, inputs=inputs: (d.reduce_scatter(out, inputs), out)))
        log.append(outcome(lambda out=out, inputs=inputs: (d.scatter(out, inputs), out)))
    lists = [[zeros(2, 3), zeros(1)]]
    log += [d.all_gather_coalesced(lists, [x, r.ones(1)]), plain(lists)]
    out = zeros(2, 3)
    d.all_gather([out], r.ones(2, 3, requires_grad=True))
    return [*log, out.requires_grad]


def working(b: Both) -> Any:
    b.start()
    d, x, log = b.dist, b.root.ones(2), []
    out = b.root.zeros(2)
    for call in (
        lambda: d.all_reduce(x, async_op=True), lambda: d.broadcast(x, 0, async_op=True),
        lambda: d.reduce(x, 0, async_op=True), lambda: d.all_gather([out], x, async_op=True),
        lambda: d.gather(x, [out], async_op=True), lambda: d.scatter(out, [x], async_op=True),
        lambda: d.reduce_scatter(out, [x], async_op=True), lambda: d.all_to_all([out], [x], async_op=True),
        lambda: d.all_to_all_single(out, x, async_op=True), lambda: d.barrier(async_op=True),
        lambda: d.all_gather_into_tensor(out, x, async_op=True),
    ):  # fmt: skip
        work = call()
        log += [isinstance(work, d.Work), work.wait(), work.wait(timedelta(seconds=1))]
    future = d.all_reduce(x, async_op=True).get_future()
    log += [plain(future.wait()), future.done(), plain(future.then(lambda done: done.value()[0] * 2).wait())]
    return [*log, outcome(d.all_reduce(x, async_op=True).source_rank), d.monitored_barrier()]


def objects(b: Both) -> Any:
    b.start()
    d, log = b.dist, []
    one = {"a": b.root.ones(1), "b": [1]}
    for call in (
        lambda into: d.all_gather_object(into, one), lambda into: d.all_gather_object(into, lambda: 1),
        lambda into: d.all_gather_object(into, 1, d.new_group([0])),
        lambda into: d.gather_object(one, into), lambda into: d.gather_object(one, into, 1),
        lambda into: d.gather_object(one, None), lambda into: d.gather_object(one, None, 1),
        lambda into: d.scatter_object_list(into, [one]), lambda into: d.scatter_object_list(into, None),
        lambda into: d.scatter_object_list(into, [1, 2]), lambda into: d.scatter_object_list(into, [one], 1),
        lambda into: d.broadcast_object_list(into), lambda into: d.broadcast_object_list(into, 0),
        lambda into: d.broadcast_object_list(into, 1),
    ):  # fmt: skip
        for into in ([None], [None, 5]):
            log.append(outcome(lambda call=call, into=into: (call(into), into)))
    into: list[Any] = [None]
    d.all_gather_object(into, one)
    sent = [one]
    d.broadcast_object_list(sent, 0)
    log += [into[0] is one, sent[0] is one, outcome(lambda: d.broadcast_object_list([lambda: 1], 0))]
    log += [outcome(lambda: d.all_gather_object([], 1)), outcome(lambda: d.scatter_object_list(None, [1]))]
    return [*log, outcome(lambda: d.scatter_object_list([], [1])), outcome(lambda: d.broadcast_object_list([], 0))]


def peers(b: Both) -> Any:
    b.start()
    d, x = b.dist, b.root.ones(1)
    return [
        outcome(lambda: d.send(x, 0)), outcome(lambda: d.send(x)),
        outcome(lambda: d.recv([x], 0)), outcome(lambda: d.irecv(3, 0)), outcome(lambda: d.isend([x], 0)),
    ]  # fmt: skip


def stores(b: Both) -> Any:
    d = b.dist
    store, log = d.HashStore(), []
    log += [store.set("a", "1"), store.get("a"), store.add("n", 3), store.add("n", -1), store.get("n")]
    log += [store.check(["a"]), store.check(["a", "q"]), store.num_keys(), store.delete_key("a"), store.delete_key("a")]
    for given in (("", "v"), ("v", "w"), ("v", "x")):
        log.append(store.compare_set("z", *given))
    log += [store.compare_set("y", "e", "x"), store.check(["y"]), store.append("z", "3"), store.get("z")]
    log += [store.multi_set(["k", "l"], [b"1", "2"]), store.multi_get(["k", "l"]), sorted(store.list_keys())]
    store.set_timeout(timedelta(seconds=0.01))
    log += [outcome(lambda: store.get("none")), outcome(lambda: store.wait(["none"], timedelta(seconds=0.01)))]
    log += [outcome(lambda: store.set("b", 3)), outcome(lambda: store.add("b", "x")), store.wait(["k"])]
    store.set("w", "abc")
    log += [outcome(lambda: store.add("w", 1)), [base.__name__ for base in d.DistStoreError.__mro__]]
    log += [outcome(lambda: d.rendezvous("unknown://a")), outcome(lambda: d.rendezvous(3))]
    return [*log, outcome(lambda: d.register_rendezvous_handler("tcp", lambda url: url))]


def wrapping(b: Both) -> Any:
    b.start()
    n, log = b.nn, []
    mixed = n.Sequential(n.Linear(2, 1), n.Linear(2, 1, device="meta"))
    for module, options in (
        (n.ReLU(), {}), (n.Linear(2, 1).requires_grad_(False), {}), (b.net(), {"device_ids": [0]}),
        (b.net(), {"device_ids": ["cpu"]}), (b.net(), {"device_ids": [0, 1]}), (n.LazyLinear(3), {}), (mixed, {}),
        (3, {}), (b.net(), {"device_ids": []}), (b.net(), {"output_device": 0}),
    ):  # fmt: skip
        log.append(outcome(lambda module=module, options=options: type(b.ddp(module, **options)).__name__))
    net = b.net()
    ddp, x = b.ddp(net), b.root.linspace(-1, 1, 8).view(4, 2)
    ddp(x).square().sum().backward()
    log += [repr(ddp), list(ddp.state_dict()), ddp.module is net, [p.grad for p in ddp.parameters()], ddp.device_ids]
    log += [ddp.require_backward_grad_sync, ddp.dim, str(ddp.device), ddp.device_type, ddp.bucket_bytes_cap]
    with ddp.no_sync():
        log.append(ddp.require_backward_grad_sync)
        ddp(x).sum().backward()
    log += [ddp.require_backward_grad_sync, ddp.require_forward_param_sync]
    with ddp.join(), b.join.Join([ddp], enable=False):
        ddp(x).sum().backward()
    file = io.BytesIO()
    b.root.save(ddp, file)
    file.seek(0)
    for twin in (copy.deepcopy(ddp), pickle.loads(pickle.dumps(ddp)), b.root.load(file, weights_only=False)):
        twin(x).sum().backward()
        log += [[p.grad for p in twin.parameters()], twin.process_group is b.dist.group.WORLD]
    ddp.load_state_dict({name: value * 0 for name, value in ddp.state_dict().items()})
    log += [[p.grad for p in ddp.parameters()], ddp(x), ddp.eval().module.training]
    sampler = b.sampler(list(range(5)), shuffle=False)
    log += [sampler.num_replicas, sampler.rank, list(sampler)]
    log.append(n.SyncBatchNorm(2).eval()(x))
    b.dist.destroy_process_group()
    return plain([*log, n.SyncBatchNorm(2)(x)])


def unused(b: Both) -> Any:
    b.start()

    class Two(b.nn.Module):  # type: ignore[name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = b.nn.Linear(2, 1), b.nn.Linear(2, 1)

        def forward(self, x: Any) -> Any:
            return {"out": [self.a(x)]}

    x, log = b.root.ones(3, 2), []

    def train(options: Any, prepare: Any = lambda ddp: ddp) -> Any:
        b.root.manual_seed(0)
        ddp = prepare(b.ddp(Two(), **options))
        for _ in range(3):
            ddp(x)["out"][0].sum().backward()
        return [p.grad for p in ddp.parameters()]

    for options in ({}, {"find_unused_parameters": True}, {"static_graph": True}):
        log.append(outcome(lambda options=options: train(options)))
        log.append(outcome(lambda options=options: train(options, lambda ddp: ddp.eval())))

    def ignoring(ddp: Any) -> Any:
        module = Two()
        b.ddp._set_params_and_buffers_to_ignore_for_model(module, ["b.weight", "b.bias"])
        return b.ddp(module)

    log.append(len(train({}, ignoring)))

    def seen(state, bucket):
        state.append(plain(bucket.gradients()))
        return b.hooks.allreduce_hook(None, bucket)

    b.root.manual_seed(0)
    ddp = b.ddp(Two(), find_unused_parameters=True)
    ddp.register_comm_hook(log, seen)
    ddp(x)["out"][0].sum().backward()
    log.append([p.grad for p in ddp.parameters()])
    for passes in (lambda net: (net(x), net(x)["out"][0].sum().backward()),
                   lambda net: (net(x)["out"][0] + net(x)["out"][0]).sum().backward()):  # fmt: skip
        net = b.ddp(Two(), find_unused_parameters=True)
        passes(net)
        log.append([p.grad for p in net.parameters()])
    y = net(x)["out"][0].sum()
    y.backward(retain_graph=True)
    return plain([*log, y.backward(), [p.grad for p in net.parameters()]])


def hooks(b: Both) -> Any:
    b.start()
    x, log = b.root.linspace(-1, 1, 8).view(4, 2), []

    def doubled(state, bucket):
        shapes = [tuple(gradient.shape) for gradient in bucket.gradients()]
        state.append([bucket.index(), bucket.is_last(), bucket.buffer().numel(), sorted(shapes)])
        state.append(sorted(shapes) == sorted(tuple(p.shape) for p in bucket.parameters()))
        future = b.root.futures.Future()
        future.set_result(bucket.buffer() * 2)
        return future

    for cap in (None, 1e-5):
        ddp = b.ddp(b.net(), bucket_cap_mb=cap)
        seen: list[Any] = []
        ddp.register_comm_hook(seen, doubled)
        ddp(x).sum().backward()
        log += [list(seen), [p.grad for p in ddp.parameters()]]
        with ddp.no_sync():
            ddp(x).sum().backward()
        count = len(seen)
        ddp(x).sum().backward()
        log += [len(seen) - count, [p.grad for p in ddp.parameters()]]

    mean = b.hooks.allreduce_hook
    for hook in (mean, b.hooks.fp16_compress_hook, b.hooks.fp16_compress_wrapper(mean)):
        ddp = b.ddp(b.net())
        ddp.register_comm_hook(None, hook)
        ddp(x).sum().backward()
        log.append([p.grad for p in ddp.parameters()])

    def wrongly_annotated(state, bucket): ...
    def wrong_result(state, bucket): ...

    wrongly_annotated.__annotations__ = {"bucket": int}
    wrong_result.__annotations__ = {"return": int}
    ddp = b.ddp(b.net())
    for hook in (3, wrongly_annotated, wrong_result, lambda state, bucket: bucket.buffer(), doubled):
        log.append(outcome(lambda hook=hook: ddp.register_comm_hook(None, hook)))
    return plain([*log, outcome(lambda: ddp(x).sum().backward())])


def joining(b: Both) -> Any:
    b.start()
    log: list[Any] = []

    class Hook(b.join.JoinHook):  # type: ignore[name-defined]
        def main_hook(self) -> None:
            log.append("main")

        def post_hook(self, is_last_joiner: bool) -> None:
            log.append(is_last_joiner)

    class Counter(b.join.Joinable):  # type: ignore[name-defined]
        def __init__(self) -> None:
            super().__init__()

        def join_hook(self, **kwargs: Any) -> Any:
            log.append(kwargs)
            return Hook()

        @property
        def join_device(self) -> Any:
            return b.root.device("cpu")

        @property
        def join_process_group(self) -> Any:
            return b.dist.group.WORLD

    first, second = Counter(), Counter()
    for enable in (True, False):
        with b.join.Join([first, second], enable, key=1):
            for one in (first, second, Counter()):
                log.append(b.join.Join.notify_join_context(one) is None)
    with pytest.raises(KeyError), b.join.Join([first]):
        raise KeyError
    return [*log, outcome(lambda: b.join.Join([])), outcome(b.join.Joinable)]


CASES = [uninitialised, initialising, groups, backends, reductions, ranks, gathering, working, objects, peers, stores,
         wrapping, unused, hooks, joining]  # fmt: skip


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_as_pytorch(case):
    results = []
    for name in ("taeda", "torch"):
        both = Both(name)
        try:
            results.append(case(both))
        finally:
            for variable in VARIABLES:
                os.environ.pop(variable, None)
            if both.dist.is_initialized():
                both.dist.destroy_process_group()
    assert len(results[0]) == len(results[1])
    assert {i: pair for i, pair in enumerate(zip(*results, strict=True)) if not close(*pair)} == {}


def close(mine: Any, theirs: Any) -> bool:
    """Whether results are the same, floating-point numbers to some digits."""
    if isinstance(mine, float) and isinstance(theirs, float):
        return mine == pytest.approx(theirs, rel=1e-5, abs=1e-5)
    if isinstance(mine, (list, tuple)) and isinstance(theirs, (list, tuple)):
        return len(mine) == len(theirs) and all(map(close, mine, theirs))
    if isinstance(mine, dict) and isinstance(theirs, dict):
        return list(mine) == list(theirs) and all(map(close, mine.values(), theirs.values()))
    return bool(mine == theirs)


def test_addresses(monkeypatch, tmp_path):
    monkeypatch.setenv("RANK", "0")
    for address, options in (
        ("env://", {"world_size": 1}), (f"file://{tmp_path}/meeting", {"rank": 0, "world_size": 1}),
        (f"tcp://localhost:{PORT}", {"rank": 0, "world_size": 1}), (f"tcp://localhost:{PORT}?rank=0&world_size=1", {}),
    ):  # fmt: skip
        monkeypatch.setenv("MASTER_ADDR", "localhost")
        monkeypatch.setenv("MASTER_PORT", str(PORT))
        dist.init_process_group("gloo", address, timedelta(seconds=5), **options)
        assert dist.get_rank() == 0 and dist.get_world_size() == 1
        store = dist.distributed_c10d._get_default_store()
        assert store.timeout == timedelta(seconds=5)
        dist.destroy_process_group()
    dist.register_rendezvous_handler("mine", lambda url, **_: iter([(dist.HashStore(), 0, 1)]))
    dist.init_process_group(init_method="mine://x")
    assert dist.get_backend() == "undefined" and dist.distributed_c10d._get_default_group() is dist.group.WORLD


def test_is_available(group):
    assert dist.is_available() and dist.is_initialized()
    dist.destroy_process_group()
    assert dist.is_available() and not dist.is_initialized()


def test_talking_to_oneself(group):
    for call in (dist.send, dist.isend, dist.recv, dist.irecv):
        with pytest.raises(ValueError, match="this process itself"):
            call(taeda.ones(1), 0)


def test_narrow_gradients(group):
    x = taeda.tensor([[1 + 2.0**-10, 3.0]])
    for hook in (default_hooks.bf16_compress_hook, default_hooks.bf16_compress_wrapper(default_hooks.allreduce_hook)):
        ddp = DistributedDataParallel(nn.Linear(2, 1))
        ddp.register_comm_hook(None, hook)
        ddp(x).backward()
        assert ddp.module.weight.grad.tolist() == [[1.0, 3.0]] and ddp.module.weight.grad.dtype == taeda.float32


def test_finished_work(group):
    work = dist.all_reduce(taeda.ones(2), async_op=True)
    assert work.is_completed() and work.is_success() and work.exception() is None and work.synchronize() is None
    assert work.result()[0].tolist() == [1, 1] and copy.deepcopy(dist.group.WORLD) is dist.group.WORLD
    assert dist.ReduceOp(dist.ReduceOp.MAX) == dist.ReduceOp.MAX and len({dist.ReduceOp.SUM, dist.ReduceOp.AVG}) == 2


def test_a_wrapper_leaves_nothing_behind(group):
    net = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1))
    ddp, seen = DistributedDataParallel(net), []
    ddp.register_comm_hook(
        seen, lambda state, bucket: seen.append(bucket) or default_hooks.allreduce_hook(None, bucket)
    )
    ddp(taeda.ones(1, 1)).backward()
    del ddp
    gc.collect()
    net(taeda.ones(1, 1)).backward()
    assert len(seen) == 1 and not net[0].weight._post_accumulate_grad_hooks


def test_checkpoints_inside(group):
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second, self.third = (nn.Linear(2, 2) for _ in range(3))

        def forward(self, x):
            return self.third(checkpoint(self.second, self.first(x), use_reentrant=True))

    for options in ({}, {"static_graph": True}):
        net = Net()
        ddp = DistributedDataParallel(net, **options)
        for _ in range(3):
            ddp(taeda.ones(1, 2)).sum().backward()
        assert net.first.bias.grad.ne(0).any()


def test_means_over_some_processes_later(group):
    for options in ({}, {"post_local_gradient_allreduce": False}):
        state = post_localSGD_hook.PostLocalSGDState(None, dist.group.WORLD, 2, **options)
        ddp = DistributedDataParallel(nn.Sequential(nn.Linear(2, 1), nn.Linear(1, 1)))
        ddp.register_comm_hook(state, post_localSGD_hook.post_localSGD_hook)
        for _ in range(4):
            ddp(taeda.ones(1, 2)).sum().backward()
        assert state.iter == 2 and ddp.module[1].bias.grad == 4


def test_what_a_wrapper_tells(group):
    data = DistributedDataParallel(nn.Linear(2, 3), find_unused_parameters=True)._get_ddp_logging_data()
    told = {"module_name": "Linear", "world_size": 1, "rank": 0, "dtypes": "float", "num_parameter_tensors": 2,
            "total_parameter_size_bytes": 36, "find_unused_parameters": 1}  # fmt: skip
    assert data.items() >= told.items()


def test_hooks_that_are_wrong(group):
    ddp = DistributedDataParallel(nn.Linear(1, 1))
    with pytest.raises(TypeError):
        ddp.register_comm_hook(None, lambda bucket: bucket)


def test_import_is_lazy():
    program = (
        "import sys, taeda, taeda.nn, taeda.nn.parallel; "
        "print([m for m in sys.modules if 'distributed' in m and not m.startswith('taeda._C')])"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=env, check=True)
    assert done.stdout.strip() == "[]"


def test_a_launched_program(tmp_path):
    (tmp_path / "train.py").write_text(
        "import torch, torch.distributed as dist\n"
        "from torch.nn.parallel import DistributedDataParallel as DDP\n"
        "from torch.distributed import init_process_group, destroy_process_group\n"
        "assert dist.is_available() and torch.nn.parallel.distributed.DistributedDataParallel is DDP\n"
        "init_process_group('gloo')\n"
        "model = DDP(torch.nn.Linear(2, 1))\n"
        "model(torch.ones(3, 2)).sum().backward()\n"
        "print(model.module.bias.grad.item(), dist.get_rank(), dist.get_world_size(), dist.get_node_local_rank())\n"
        "destroy_process_group()\n"
    )
    launched = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(PORT)}
    env = {**os.environ, "PYTHONPATH": str(ROOT), **launched}
    command = [sys.executable, "-m", "taeda", "run", "train.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=env)
    assert done.stdout == "3.0 0 1 0\n", done.stderr


class OwnGroup(dist.ProcessGroup):
    """Of one process, and written in Python."""

    def __init__(self) -> None:
        super().__init__(3, 4)
        self.calls: list[str] = []

    def _work(self, name: str, tensors: Any) -> Any:
        self.calls.append(name)
        future: Any = Future()
        future.set_result(tensors)
        return FutureWork(future)

    def broadcast(self, tensors, opts):
        return self._work("broadcast", tensors)

    def allreduce(self, tensors, opts):
        return self._work("allreduce", tensors)

    def getBackendName(self):
        return "own"

    def getRank(self):
        return 0

    def getSize(self):
        return 1

    def setGroupName(self, name):
        self.title = f"my {name}"

    def getGroupName(self):
        return self.title


def test_a_wrapper_over_a_group_of_the_programs_own(group):
    own, module = OwnGroup(), nn.Linear(2, 2)
    ddp = DistributedDataParallel(module, process_group=own)
    ddp(taeda.ones(1, 2)).sum().backward()
    assert own.calls == ["broadcast", "allreduce"] and module.weight.grad.tolist() == [[1, 1], [1, 1]]
    assert ddp._get_ddp_logging_data()["backend_name"] == "own"
    dist.all_reduce(taeda.ones(1), group=own)
    dist._broadcast_coalesced(own, [taeda.ones(2), taeda.ones(3).double()], 100)
    assert own.calls[2:] == ["allreduce", "broadcast"]
    own._set_group_name("name")
    own._set_group_desc("what for")
    assert (own.group_name, own.group_desc, own.size()) == ("my name", "what for", 1)
    work = FutureWork(Future())
    assert not work.is_completed() and work.exception() is None
    work.get_future().set_exception(ValueError("late"))
    with pytest.raises(ValueError, match="late"):
        work.wait()
    assert isinstance(work.exception(), ValueError) and not work.is_success()
