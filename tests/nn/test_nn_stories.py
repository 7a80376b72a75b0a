"""What Module itself does; each program runs in taeda.nn and in torch.nn and must tell the same story."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections import OrderedDict
from typing import Any

import pytest

import taeda
import taeda.nn as nn

torch = pytest.importorskip("torch")

from nn_twin import assert_same, outcome  # noqa: E402

pytestmark = pytest.mark.torch


def both(program: Any) -> None:
    """Runs ``program(nn, root)`` on both sides with the same seed; what it returns must agree."""
    taeda.manual_seed(0)
    ours = program(nn, taeda)
    torch.manual_seed(0)
    assert_same(ours, program(torch.nn, torch))


def net(p: Any) -> Any:
    return p.Sequential(
        OrderedDict(
            conv=p.Conv2d(1, 2, 3), norm=p.BatchNorm2d(2), body=p.Sequential(p.ReLU(), p.Flatten(), p.Linear(8, 3))
        )
    )


def names(module: Any) -> Any:
    return [
        [name for name, _ in module.named_parameters()],
        [name for name, _ in module.named_buffers("root")],
        [name for name, _ in module.named_modules(prefix="top")],
        [name for name, _ in module.named_children()],
        list(module.state_dict(prefix="x.")),
        dict(module.state_dict()._metadata),
        repr(module),
    ]


def shared(p: Any, root: Any) -> Any:
    module = net(p)
    module.again = module.body
    module.tied = p.Linear(8, 3)
    module.tied.weight = module.body[2].weight
    duplicates = [
        [name for name, _ in module.named_parameters(remove_duplicate=False)],
        [name for name, _ in module.named_modules(remove_duplicate=False)],
    ]
    return names(module), duplicates, len(list(module.parameters())), len(list(module.parameters(recurse=False)))


def setting(p: Any, root: Any) -> Any:
    module = p.Module()
    log = []
    module.w = p.Parameter(root.ones(2))
    module.w = None
    log.append((module.w is None, list(module._parameters)))
    log.append(outcome(lambda: setattr(module, "w", 3)))
    log.append(outcome(lambda: setattr(module, "w", root.ones(2))))
    module.w = p.Parameter(root.zeros(2))
    module.register_buffer("b", root.ones(1))
    module.b = root.zeros(3)
    log.append((module.b.shape[0], outcome(lambda: setattr(module, "b", "no"))))
    module.b = None
    module.t = root.ones(1)
    log.append(("t" in module._buffers, list(module.state_dict())))
    module.sub = p.ReLU()
    log.append(outcome(lambda: setattr(module, "sub", 1)))
    module.sub = None
    module.sub = p.Tanh()
    module.sub = p.Parameter(root.ones(1))
    log.append((list(module._modules), list(module._parameters)))
    log.append(outcome(lambda: setattr(module, "sub", p.ReLU())))
    module.register_buffer("soon", root.ones(1))
    module.soon = p.ReLU()
    log.append((list(module._modules), list(module._parameters), list(module._buffers)))
    del module.w
    log.append((hasattr(module, "w"), outcome(lambda: module.w), outcome(lambda: delattr(module, "nothing"))))
    del module.b, module.sub, module.t
    module.plain = None
    module.plain = p.Parameter(root.ones(1))
    module.buf = p.Buffer(root.ones(1), persistent=False)
    module.keep = p.Buffer(root.ones(1))
    return log, names(module)


def registering(p: Any, root: Any) -> Any:
    module = p.Linear(1, 1)
    w = p.Parameter(root.ones(1))
    attempts = [
        lambda: module.register_parameter("a.b", w),
        lambda: module.register_parameter("", w),
        lambda: module.register_parameter(3, w),
        lambda: module.register_parameter("forward", w),
        lambda: module.register_parameter("in_features", w),
        lambda: module.register_parameter("x", root.ones(1)),
        lambda: module.register_parameter("x", p.Parameter(root.ones(1)) * 2),
        lambda: module.register_buffer("a.b", root.ones(1)),
        lambda: module.register_buffer("weight", root.ones(1)),
        lambda: module.register_buffer("x", 3),
        lambda: module.register_buffer(3, root.ones(1)),
        lambda: module.add_module("weight", p.ReLU()),
        lambda: module.add_module("x", 3),
        lambda: module.add_module(3, p.ReLU()),
        lambda: module.register_module("a.b", p.ReLU()),
        lambda: module.register_module("act", p.ReLU()),
        lambda: module.register_buffer("none", None),
        lambda: module.register_parameter("nothing", None),
        lambda: p.Module(1),
        lambda: p.Module(a=1),
        lambda: p.Module()(1),
    ]
    return [outcome(attempt) for attempt in attempts], names(module)


def before_init(p: Any, root: Any) -> Any:
    class Early(p.Module):
        def __init__(self, value: Any) -> None:
            self.value = value
            super().__init__()

    return [
        outcome(lambda: Early(p.Parameter(root.ones(1)))),
        outcome(lambda: Early(p.ReLU())),
        Early(3).value,
        Early(root.ones(1)).value,
    ]


def looking_up(p: Any, root: Any) -> Any:
    module = net(p)
    found = [
        module.get_submodule("body.2") is module.body[2],
        module.get_submodule("") is module,
        module.get_parameter("body.2.bias") is module.body[2].bias,
        module.get_buffer("norm.running_mean") is module.norm.running_mean,
    ]
    bad = [
        lambda: module.get_submodule("body.7"),
        lambda: module.get_submodule("conv.weight"),
        lambda: module.get_parameter("norm.running_mean"),
        lambda: module.get_parameter("norm.nothing"),
        lambda: module.get_buffer("norm.weight"),
        lambda: module.set_submodule("", p.ReLU()),
        lambda: module.set_submodule("body.0.x", p.ReLU(), strict=True),
        lambda: module.set_submodule("no.way", p.ReLU()),
    ]
    module.set_submodule("body.0", p.Tanh())
    module.set_submodule("body.new", p.ELU())
    return found, [outcome(attempt) for attempt in bad], names(module)


def modes(p: Any, root: Any) -> Any:
    module = net(p)
    log = [module.eval() is module, [m.training for m in module.modules()]]
    module.train().body.eval()
    log.append([m.training for m in module.modules()])
    log.append(outcome(lambda: module.train("yes")))
    module.requires_grad_(False)
    log.append([param.requires_grad for param in module.parameters()])
    order: list[str] = []
    module.apply(lambda m: order.append(type(m).__name__))
    return log, order


def gradients(p: Any, root: Any) -> Any:
    module = p.Linear(2, 2)
    module(root.ones(1, 2)).sum().backward()
    log = [module.weight.grad.tolist()]
    module.zero_grad(set_to_none=False)
    log.append(module.weight.grad.tolist())
    module.zero_grad()
    return log, module.weight.grad


def casting(p: Any, root: Any) -> Any:
    log = []
    for change in (
        lambda m: m.double(),
        lambda m: m.half(),
        lambda m: m.bfloat16(),
        lambda m: m.float(),
        lambda m: m.to(root.float64),
        lambda m: m.to("cpu", root.float16),
        lambda m: m.to(device="cpu"),
        lambda m: m.to(dtype=root.float64, non_blocking=True),
        lambda m: m.to(root.device("cpu"), root.float32, True),
        lambda m: m.to(root.ones(1, dtype=root.float64)),
        lambda m: m.to("meta"),
        lambda m: m.type(root.float64),
        lambda m: m.cpu(),
        lambda m: m.to_empty(device="cpu"),
        lambda m: m.to(memory_format=root.channels_last),
    ):
        module = net(p)
        module.conv(root.ones(1, 1, 4, 4)).sum().backward()
        kept = module.conv.weight
        same = change(module) is module
        state = module.state_dict()
        kinds = [f"{t.dtype} {t.device} {t.requires_grad}" for t in (*state.values(), *module.parameters())]
        grad = module.conv.weight.grad
        log.append((same, module.conv.weight is kept, kinds, f"{grad.dtype} {grad.device}", grad is None))
        log.append(module.conv.weight is module.conv._parameters["weight"])
    module = net(p)
    bad = [
        lambda: module.to(root.int64),
        lambda: module.to("cpu", "cpu"),
        lambda: module.to(root.float32, "cpu"),
    ]
    return log, [outcome(attempt) for attempt in bad]


def loading(p: Any, root: Any) -> Any:
    source, target = net(p), net(p)
    state = source.state_dict()
    log: list[Any] = [repr(target.load_state_dict(state)), target.state_dict()]
    extra = OrderedDict(state)
    extra["body.9.weight"] = extra["nothing"] = root.ones(1)
    del extra["norm.bias"]
    found = target.load_state_dict(extra, strict=False)
    log += [found.missing_keys, found.unexpected_keys]
    wrong = OrderedDict(state, **{"conv.bias": root.ones(3)})
    log += [
        outcome(lambda: target.load_state_dict(extra)),
        outcome(lambda: target.load_state_dict(wrong, strict=False)),
        outcome(lambda: target.load_state_dict(OrderedDict(state, **{"conv.bias": 3}))),
        outcome(lambda: target.load_state_dict([1])),
    ]
    old = OrderedDict((key, value) for key, value in state.items() if "num_batches" not in key)
    log.append(outcome(lambda: repr(net(p).load_state_dict(old))))
    scalar = p.Module()
    scalar.s = p.Parameter(root.tensor(1.0))
    scalar.load_state_dict({"s": root.tensor([5.0])})
    return [*log, scalar.s.item()]


def assigning(p: Any, root: Any) -> Any:
    source = p.Linear(2, 2).double()
    target = p.Linear(2, 2).requires_grad_(False)
    state = source.state_dict()
    target.load_state_dict(state, assign=True)
    log = [target.weight.data_ptr() == source.weight.data_ptr(), str(target.weight.dtype), target.weight.requires_grad]
    log.append(isinstance(target.weight, p.Parameter))
    with root.device("meta"):
        empty = p.BatchNorm1d(2)
    empty.load_state_dict(p.BatchNorm1d(2).state_dict(), assign=True)
    log += [empty.weight.is_meta, empty.running_mean.is_meta, empty.weight.requires_grad]
    given = p.Parameter(root.ones(2, 2), requires_grad=True)
    target.load_state_dict({"weight": given, "bias": root.ones(2)}, assign=True)
    return [*log, target.weight is given, target.weight.requires_grad]


def extra_state(p: Any, root: Any) -> Any:
    class Counting(p.Module):
        def __init__(self) -> None:
            super().__init__()
            self.count = 0

        def get_extra_state(self) -> Any:
            return {"count": self.count}

        def set_extra_state(self, state: Any) -> None:
            self.count = state["count"]

    source, target = p.Sequential(Counting()), p.Sequential(Counting())
    source[0].count = 5
    state = source.state_dict()
    target.load_state_dict(state)
    return [
        list(state),
        target[0].count,
        outcome(lambda: target.load_state_dict({})),
        outcome(lambda: p.Sequential(p.ReLU()).load_state_dict(state)),
        p.Sequential(p.ReLU()).load_state_dict(state, strict=False).unexpected_keys,
        outcome(lambda: p.ReLU().get_extra_state()),
        outcome(lambda: p.ReLU().set_extra_state(1)),
    ]


def state_hooks(p: Any, root: Any) -> Any:
    module = net(p)
    log: list[Any] = []
    module.body.register_state_dict_pre_hook(
        lambda m, prefix, keep: log.append(("pre", type(m).__name__, prefix, keep))
    )
    module.body.register_state_dict_post_hook(
        lambda m, state, prefix, meta: log.append(("post", prefix, len(state), dict(meta)))
    )
    handle = module._register_state_dict_hook(lambda m, state, prefix, meta: OrderedDict(only=1))
    log.append(list(module.state_dict(keep_vars=True)))
    handle.remove()
    state = module.state_dict()

    def before(
        m: Any, given: Any, prefix: str, meta: Any, strict: bool, missing: Any, unexpected: Any, errors: Any
    ) -> None:
        log.append(("before", type(m).__name__, prefix, dict(meta), strict, list(missing)))
        given.pop(prefix + "2.bias")

    module.body.register_load_state_dict_pre_hook(before)
    module._register_load_state_dict_pre_hook(lambda *args: log.append(("plain", args[1], len(args))))
    module.register_load_state_dict_post_hook(lambda m, keys: log.append(("after", list(keys.missing_keys))))
    module.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
    log.append(repr(module.load_state_dict(state)))
    twin = copy.deepcopy(module)
    twin.load_state_dict(state)
    module.register_state_dict_post_hook(lambda *args: 1)
    return [*log, outcome(module.state_dict)]


def saving_hooks_see_prefixes(p: Any, root: Any) -> Any:
    with pytest.warns(FutureWarning):
        positional = p.Linear(1, 1).state_dict(OrderedDict(), "a.")
    return list(positional), list(p.Linear(1, 1).state_dict(destination={}, prefix="b."))


def forward_hooks(p: Any, root: Any) -> Any:
    log: list[Any] = []

    class Double(p.Module):
        def forward(self, x: Any, times: int = 2) -> Any:
            log.append(("forward", x.tolist(), times))
            if times == 0:
                raise ZeroDivisionError
            return x * times

    module = Double()
    x = root.ones(1)
    handles = [
        module.register_forward_pre_hook(lambda m, args: log.append(("pre", args[0].tolist()))),
        module.register_forward_pre_hook(lambda m, args: args[0] + 1, prepend=True),
        module.register_forward_pre_hook(lambda m, args, kw: (args, {"times": kw.get("times", 3)}), with_kwargs=True),
        module.register_forward_hook(lambda m, args, out: log.append(("out", out.tolist()))),
        module.register_forward_hook(lambda m, args, out: out + 10, prepend=True),
        module.register_forward_hook(lambda m, args, kw, out: log.append(("kw", kw)), with_kwargs=True),
        module.register_forward_hook(
            lambda m, args, out: log.append(("always", None if out is None else out.tolist())), always_call=True
        ),
    ]
    log.append(module(x).tolist())
    log.append(outcome(lambda: module(x, times=0)))
    bad = module.register_forward_pre_hook(lambda m, args, kw: 3, with_kwargs=True)
    log.append(outcome(lambda: module(x)))
    bad.remove()
    for handle in handles[::2]:
        handle.remove()
    log.append(module(x, times=4).tolist())
    log.append(copy.deepcopy(module)(x).tolist())
    for handle in handles:
        handle.remove()
    log.append(module(x).tolist())
    module._forward_hooks[0] = lambda m, args, out: out * 0
    return [*log, module(x).tolist(), len(module._forward_pre_hooks)]


def global_hooks(p: Any, root: Any) -> Any:
    mod = p.modules.module
    log: list[Any] = []
    module = p.Sequential(p.ReLU(), p.Tanh())

    def note(kind: str) -> Any:
        return lambda m, *args: log.append((kind, type(m).__name__, len(args)))

    module[0].register_forward_hook(note("own"))
    module[0].register_full_backward_hook(note("own backward"))
    handles = [
        mod.register_module_forward_pre_hook(note("pre")),
        mod.register_module_forward_hook(note("post")),
        mod.register_module_forward_hook(note("post with kwargs"), with_kwargs=True),
        mod.register_module_full_backward_pre_hook(note("backward pre")),
        mod.register_module_full_backward_hook(note("backward")),
    ]
    try:
        module(root.ones(2, requires_grad=True)).sum().backward()
        log.append(outcome(lambda: mod.register_module_backward_hook(note("legacy"))))
    finally:
        for handle in handles:
            handle.remove()
    module(root.ones(2))
    handles = [
        mod.register_module_parameter_registration_hook(lambda m, name, value: log.append(("param", name))),
        mod.register_module_buffer_registration_hook(lambda m, name, value: log.append(("buffer", name))),
        mod.register_module_module_registration_hook(lambda m, name, value: log.append(("module", name))),
    ]
    try:
        p.Sequential(p.BatchNorm1d(2), p.Linear(1, 1))
    finally:
        for handle in handles:
            handle.remove()
    p.Sequential(p.BatchNorm1d(2))
    return log


def backward_hooks(p: Any, root: Any) -> Any:
    log: list[Any] = []

    def lists(grads: Any) -> Any:
        return [None if grad is None else grad.tolist() for grad in grads]

    class Two(p.Module):
        def forward(self, x: Any, y: Any, flag: bool) -> Any:
            return x * y, x + 1

    module = Two()
    handles = [
        module.register_full_backward_hook(lambda m, gi, go: log.append(("hook", lists(gi), lists(go)))),
        module.register_full_backward_hook(lambda m, gi, go: (gi[0] * 10, None, None)),
        module.register_full_backward_hook(lambda m, gi, go: log.append(("first", lists(gi))), prepend=True),
        module.register_full_backward_pre_hook(lambda m, go: log.append(("pre", lists(go)))),
        module.register_full_backward_pre_hook(lambda m, go: (go[0] * 2, go[1]), prepend=True),
    ]
    for x, y in [
        (root.ones(2, requires_grad=True), root.full((2,), 3.0)),
        (root.ones(2, requires_grad=True), root.full((2,), 3.0, requires_grad=True)),
    ]:
        out, plain = module(x, y, True)
        (out.sum() + 0 * plain.sum()).backward()
        log.append([None if t.grad is None else t.grad.tolist() for t in (x, y)])
    with root.no_grad():
        log.append(module(x, y, False)[0].tolist())
    log.append(outcome(lambda: module.register_backward_hook(lambda *args: None)))
    for handle in handles:
        handle.remove()
    module(x, y, True)[0].sum().backward()

    linear = p.Linear(2, 1)
    linear.register_full_backward_hook(lambda m, gi, go: log.append(("no input grad", lists(gi), lists(go))))
    linear(root.ones(1, 2)).sum().backward()
    wrong = p.ReLU()
    wrong.register_full_backward_hook(lambda m, gi, go: (gi[0], gi[0]))
    log.append(outcome(lambda: wrong(root.ones(1, requires_grad=True)).backward()))
    relu = p.ReLU()
    relu.register_full_backward_hook(lambda m, gi, go: None)
    log.append(outcome(lambda: relu(root.ones(1, requires_grad=True)).add_(1)))
    return log


@pytest.mark.filterwarnings("ignore")
def legacy_backward_hooks(p: Any, root: Any) -> Any:
    log: list[Any] = []
    module = p.ReLU()
    handle = module.register_backward_hook(lambda m, gi, go: log.append([len(gi), go[0].tolist()]))
    x = root.ones(2, requires_grad=True)
    module(x).sum().backward()
    log.append(outcome(lambda: module.register_full_backward_hook(lambda *args: None)))
    handle.remove()
    module(x).sum().backward()
    return log


def containers(p: Any, root: Any) -> Any:
    log: list[Any] = []
    seq = p.Sequential(p.Linear(2, 2), p.ReLU(), p.Linear(2, 2), p.Tanh())
    log += [repr(seq[1:3]), repr(seq[-1]), len(seq), repr(seq[::2])]
    seq[1] = p.ELU()
    del seq[0]
    seq.append(p.ReLU()).insert(1, p.GELU()).insert(-1, p.SiLU()).extend(p.Sequential(p.SELU()))
    log += [repr(seq), repr(seq.pop(0)), repr(seq)]
    log += [repr(seq + p.Sequential(p.ReLU())), repr(seq[:1] * 2), repr(2 * seq[:1])]
    short = seq[:1]
    short *= 3
    short += p.Sequential(p.ReLU())
    log.append(repr(short))
    del short[1:3]
    log.append(repr(short))
    modules = p.ModuleList([p.ReLU(), p.Tanh()])
    modules.append(p.ELU()).extend([p.ReLU(), p.ReLU()])
    modules.insert(1, p.Linear(1, 1))
    modules[0] = p.SELU()
    modules += [p.ReLU()]
    log += [repr(modules), repr(modules[1:3]), repr(modules.pop(-1)), repr(modules + [p.ReLU()]), len(modules)]
    del modules[::2]
    del modules[-1]
    log += [repr(modules), [name for name, _ in modules.named_children()], "0" in dir(modules)]
    table = p.ModuleDict([("b", p.ReLU()), ("a", p.Linear(1, 1))])
    table.update({"c": p.Tanh()})
    table["d"] = p.ELU()
    log += [repr(table), list(table), "a" in table, repr(table.pop("b")), len(table), list(table.keys())]
    log += [[name for name, _ in table.items()], len(list(table.values()))]
    del table["a"]
    table.clear()
    log.append(repr(table))
    log.append(repr(p.ModuleList([p.Sequential(p.Linear(1, 1), p.ReLU()) for _ in range(3)])))
    bad = [
        lambda: seq[9],
        lambda: seq["a"],
        lambda: seq + [1],
        lambda: seq * 0,
        lambda: seq * "a",
        lambda: seq.insert(20, p.ReLU()),
        lambda: seq.insert(0, 1),
        lambda: seq.append(1),
        lambda: modules[9],
        lambda: modules.extend(p.ReLU()),
        lambda: modules.append(1),
        lambda: table["no"],
        lambda: table.update(3),
        lambda: table.update([1]),
        lambda: table.update([(1, 2, 3)]),
        lambda: table.update([("a", 2)]),
        lambda: p.ModuleDict({"keys": p.ReLU()}),
        lambda: modules(1),
        lambda: table(1),
    ]
    return log, [outcome(attempt) for attempt in bad]


def parameter_containers(p: Any, root: Any) -> Any:
    log: list[Any] = []
    params = p.ParameterList([root.ones(2, 3), p.Parameter(root.ones(1)), "text"])
    params.append(root.zeros(2)).extend([3])
    params[0] = root.zeros(4)
    params += [root.ones(1)]
    log += [repr(params), len(params), list(params.state_dict()), repr(params[1:3]), params[-2], "0" in dir(params)]
    table = p.ParameterDict({"b": root.ones(2), "a": p.Parameter(root.ones(2, 2)), "c": 3})
    table["e"] = root.ones(1)
    log += [repr(table), list(table), list(table.state_dict()), "a" in table, table.get("no"), len(table)]
    log += [list(reversed(table)), table.pop("c"), table.popitem()[0], table.setdefault("b").tolist()]
    table.update([("z", root.ones(1))])
    table |= p.ParameterDict({"y": root.ones(1)})
    log += [sorted(table | table.copy()), list(table.fromkeys(["q"], root.ones(1))), [key for key, _ in table.items()]]
    log.append(copy.deepcopy(table)["a"].tolist())
    table.clear()
    bad = [
        lambda: params[9],
        lambda: params(1),
        lambda: params.extend(root.ones(2)),
        lambda: params.extend(3),
        lambda: table["no"],
        lambda: table(1),
        lambda: table.update(3),
        lambda: table.update([(1, 2, 3)]),
        lambda: table.__setitem__(3, 4),
        lambda: p.ParameterDict({"keys": root.ones(1)}),
    ]
    return [*log, len(table)], [outcome(attempt) for attempt in bad]


def parameters(p: Any, root: Any) -> Any:
    data = root.ones(2)
    param = p.Parameter(data)
    frozen = p.Parameter(data, requires_grad=False)
    other = copy.deepcopy(param)
    loaded = pickle.loads(pickle.dumps(frozen))
    memo: dict[int, Any] = {}
    return [
        repr(param),
        repr(frozen),
        param.requires_grad,
        param.is_leaf,
        param.data_ptr() == data.data_ptr(),
        type(param * 2) is root.Tensor,
        isinstance(other, p.Parameter) and other.data_ptr() != param.data_ptr(),
        copy.deepcopy(param, memo) is copy.deepcopy(param, memo),
        isinstance(loaded, p.Parameter) and not loaded.requires_grad,
        p.Parameter().shape[0],
        outcome(lambda: p.Parameter(root.ones(1, dtype=root.int64))),
        isinstance(data, p.Parameter),
        isinstance(p.Buffer(data), p.Buffer),
        isinstance(param, p.Buffer),
        param.detach().requires_grad,
    ]


def lazy(p: Any, root: Any) -> Any:
    module = p.Sequential(p.LazyLinear(3), p.LazyBatchNorm1d(), p.LazyConv2d(4, 3, bias=False))
    weight = module[0].weight
    log: list[Any] = [
        repr(weight),
        p.parameter.is_lazy(weight),
        outcome(lambda: weight.shape),
        outcome(lambda: weight * 2),
        list(module.state_dict()),
        type(copy.deepcopy(module[0])).__name__,
        module[0].has_uninitialized_params(),
    ]
    module.double()
    first = module[0]
    loaded = p.LazyLinear(3)
    loaded.load_state_dict(p.Linear(2, 3).state_dict())
    log += [list(loaded.weight.shape), type(loaded).__name__]
    loaded(root.ones(1, 2))
    log.append(type(loaded).__name__)
    log.append(list(module[1](first(root.ones(2, 5, dtype=root.float64))).shape))
    log += [type(first).__name__, type(first.weight).__name__, repr(module[:2]), str(first.weight.dtype)]
    return [*log, first.weight.tolist()]


def utilities(p: Any, root: Any) -> Any:
    def fresh() -> Any:
        module = p.Linear(3, 2)
        module(root.ones(1, 3) * 5).pow(2).sum().backward()
        return module

    log: list[Any] = []
    u = p.utils
    for max_norm, kind in ((0.5, 2.0), (0.5, float("inf")), (1e6, 1.0)):
        module = fresh()
        log += [u.clip_grad_norm_(module.parameters(), max_norm, kind), module.weight.grad, module.bias.grad]
    module = fresh()
    u.clip_grad_value_(module.parameters(), 0.3)
    log += [module.weight.grad, u.get_total_norm([module.weight.grad, module.bias.grad])]
    log.append(u.clip_grad_norm_(p.Linear(1, 1).parameters(), 1.0))
    module.weight.grad.fill_(float("nan"))
    log.append(outcome(lambda: u.clip_grad_norm_(module.parameters(), 1.0, error_if_nonfinite=True)))
    vector = u.parameters_to_vector(module.parameters())
    u.vector_to_parameters(root.arange(8.0), module.parameters())
    log += [vector, module.weight, module.bias, outcome(lambda: u.vector_to_parameters(3, []))]
    log.append(u.skip_init(p.Linear, 3, 2).weight.shape[0])
    conv, norm, x = p.Conv2d(2, 3, 2, bias=False), p.BatchNorm2d(3), root.arange(18.0).view(1, 2, 3, 3)
    norm(conv(x))
    log.append(outcome(lambda: u.fusion.fuse_conv_bn_eval(conv, norm)))
    log.append(u.fusion.fuse_conv_bn_eval(conv.eval(), norm.eval())(x))
    linear, norm = p.Linear(2, 3).eval(), p.BatchNorm1d(3).eval()
    log.append(u.fusion.fuse_linear_bn_eval(linear, norm)(root.ones(1, 2)))
    deconv = p.ConvTranspose2d(2, 3, 2).eval()
    norm = p.BatchNorm2d(3).eval()
    norm.running_mean.fill_(0.5)
    log.append(u.fusion.fuse_conv_bn_eval(deconv, norm, transpose=True)(x))
    return log


def weight_norm(p: Any, root: Any) -> Any:
    u = p.utils
    log: list[Any] = []
    for module, dim in ((p.Linear(3, 2), 0), (p.Conv1d(3, 2, 2), 1), (p.Linear(3, 2), None)):
        u.weight_norm(module, dim=dim)
        module.weight_g.data.mul_(2)
        x = root.ones(1, 3, 3)
        module(x).sum().backward()
        log += [repr(module), list(module.state_dict()), module.weight_g.grad, module.weight_v.grad, module(x)]
        log.append(outcome(lambda module=module: u.weight_norm(module)))
        log += [repr(u.remove_weight_norm(module)), list(module.state_dict()), module(x), module.weight.requires_grad]
        log.append(outcome(lambda module=module: u.remove_weight_norm(module)))
    return log


def sequences(p: Any, root: Any) -> Any:
    rnn = p.utils.rnn
    given = [root.ones(2, 2), root.full((3, 2), 2.0), root.full((1, 2), 3.0)]
    packed = rnn.pack_sequence(given, enforce_sorted=False)
    lengths = root.tensor([3, 2])
    return [
        rnn.pad_sequence(given),
        rnn.pad_sequence(given, True, 7.0, "left"),
        list(packed),
        list(rnn.pad_packed_sequence(packed, total_length=5, padding_value=-1)),
        rnn.unpack_sequence(packed),
        rnn.unpad_sequence(root.ones(3, 2, 1), lengths),
        str(packed.double().data.dtype),
        packed.to(root.float32) is packed,
        packed.is_cuda,
        repr(packed).split("(")[0],
        outcome(lambda: rnn.pack_sequence(given)),
        outcome(lambda: rnn.pad_packed_sequence(packed, total_length=1)),
        outcome(lambda: rnn.pad_sequence(3)),
    ]


def dropped_padding(p: Any, root: Any) -> Any:
    """An encoder in evaluation leaves padding at the end of sequences out, under conditions."""
    log: list[Any] = []
    end = root.tensor([[False, False, True], [False, True, True]])
    x = root.randn(2, 3, 8)

    def seen(padding: Any = end, grad: bool = False, train: bool = False, more: Any = None, mask: Any = None,
             **options: Any) -> None:  # fmt: skip
        layer = p.TransformerEncoderLayer(8, 2, 8, 0.0, **{"batch_first": True, **options})
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            encoder = p.TransformerEncoder(layer, 1, **{"norm": p.LayerNorm(8), **(more or {})})
        encoder.train(train)
        src = x if options.get("batch_first", True) else x.transpose(0, 1)
        with root.set_grad_enabled(grad):
            y = encoder(src, mask, padding)
        log.extend([y, len([w for w in caught if "enable_nested_tensor" in str(w.message)]), encoder.use_nested_tensor])

    seen()
    seen(padding=root.zeros(2, 3).masked_fill(end, float("-inf")), more={"norm": None})
    for case in (
        {"grad": True}, {"train": True}, {"padding": end.flip(1)}, {"mask": root.zeros(3, 3)}, {"norm_first": True},
        {"batch_first": False}, {"activation": "gelu"}, {"activation": root.tanh}, {"bias": False},
        {"more": {"enable_nested_tensor": False}}, {"more": {"mask_check": False}},
    ):  # fmt: skip
        seen(**case)
    root.backends.mha.set_fastpath_enabled(False)
    seen()
    log.append(root.backends.mha.get_fastpath_enabled())
    root.backends.mha.set_fastpath_enabled(True)
    return log


PROGRAMS = [
    shared, setting, registering, before_init, looking_up, modes, gradients, casting, loading, assigning, extra_state,
    state_hooks, saving_hooks_see_prefixes, forward_hooks, global_hooks, backward_hooks, legacy_backward_hooks,
    containers, parameter_containers, parameters, lazy, utilities, weight_norm, sequences, dropped_padding,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_same_story(program: Any) -> None:
    both(program)


def test_names() -> None:
    both(lambda p, root: names(net(p)))
