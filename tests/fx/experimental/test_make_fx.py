"""`make_fx`: which ops it records, and that its graphs compute what the function does."""

from __future__ import annotations

import re
from typing import Any

import pytest

import taeda as torch
from taeda import nn
from taeda.fx.experimental.proxy_tensor import (
    DecompositionInterpreter,
    ProxyTorchDispatchMode,
    decompose,
    disable_proxy_modes_tracing,
    get_isolated_graphmodule,
    get_proxy_mode,
    get_proxy_slot,
    make_fx,
)
from taeda.nn import functional as F

aten: Any = torch.ops.aten
LINEAR = nn.Linear(3, 4)


def targets(graph_module: Any) -> list[str]:
    return [str(n.target) for n in graph_module.graph.nodes if n.op == "call_function"]


def backward(x: Any) -> Any:
    y = x.detach().requires_grad_().tanh()
    return torch.autograd.grad(y.sum() + 0 * x.sum(), [y])[0]


def written(x: Any) -> Any:
    y = x.clone()
    y.view(-1)[0:2].mul_(3)
    return y


X, SAME_SHAPE = torch.randn(4, 3), torch.randn(4, 3)
FUNCTIONS = {
    "pointwise": lambda x: x.sin() + 2 * x,
    "linear": lambda x: F.linear(x, LINEAR.weight, LINEAR.bias),
    "layer_norm": lambda x: F.layer_norm(x, (3,)),
    "conv": lambda x: F.conv1d(x[None], torch.ones(2, 4, 2), padding=1),
    "tuple": lambda x: x.split(2)[1] * x.max(0)[0],
    "constant": lambda x: x + torch.tensor([1.0, 2.0, 3.0]),
    "in place": written,
    "backward": backward,
    "grad": torch.func.grad(lambda x: (x.exp() * x).sum()),
    "second derivative": torch.func.grad(lambda x: torch.func.grad(lambda y: y.pow(3).sum())(x).sum()),
    "jvp": lambda x: torch.func.jvp(torch.sin, (x,), (torch.ones_like(x),))[1],
    "vmap": torch.func.vmap(lambda x: x.softmax(0) * x.sum()),
    "vmap grad": torch.func.vmap(torch.func.grad(lambda x: x.exp().sum())),
    "matmul": lambda x: x @ x.T,
    "attention": lambda x: F.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None]),
    "index": lambda x: x[torch.tensor([0, 2])],
}


@pytest.mark.parametrize("mode", ["real", "fake", "symbolic"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_graph_computes_what_the_function_does(name: str, mode: str) -> None:
    made = make_fx(FUNCTIONS[name], tracing_mode=mode, _allow_non_fake_inputs=True)(X)
    assert targets(made)
    torch.testing.assert_close(made(SAME_SHAPE), FUNCTIONS[name](SAME_SHAPE))


# Whose gradients or rules calculate sizes within the library, or whose weights fix them: a warning tells of the former.
FIXED = {"backward", "grad", "second derivative", "jvp", "vmap", "vmap grad"}


@pytest.mark.filterwarnings("ignore:.*example's sizes alone")
@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - FIXED - {"conv"}))
def test_a_symbolic_graph_serves_other_sizes(name: str) -> None:
    made = make_fx(FUNCTIONS[name], tracing_mode="symbolic", _allow_non_fake_inputs=True)(X)
    other = torch.randn(6, 3)
    torch.testing.assert_close(made(other), FUNCTIONS[name](other))


@pytest.mark.parametrize("name", sorted(FIXED))
def test_a_symbolic_graph_for_the_examples_sizes_says_so(name: str) -> None:
    with pytest.warns(UserWarning, match="example's sizes alone"):
        made = make_fx(FUNCTIONS[name], tracing_mode="symbolic", _allow_non_fake_inputs=True)(X)
    torch.testing.assert_close(made(SAME_SHAPE), FUNCTIONS[name](SAME_SHAPE))


def test_sizes_are_values_in_symbolic_graphs() -> None:
    def f(x: Any) -> Any:
        return x.reshape(x.shape[0] * x.shape[1]).sum(0, keepdim=True) + x.size(0) + torch.ones(x.shape[1] * 2).sum()

    made = make_fx(f, tracing_mode="symbolic")(torch.ones(4, 3))
    assert targets(made)[:2] == ["aten.sym_size.int", "aten.sym_size.int"]
    x = torch.randn(5, 7)
    torch.testing.assert_close(made(x), f(x))
    assert str(make_fx(lambda x: x + x.shape[0])(torch.ones(2)).code).count("sym_size") == 0


def test_a_branch_on_sizes_is_a_guard() -> None:
    made = make_fx(lambda x: x.sin() if x.shape[0] > 3 else x.cos(), tracing_mode="symbolic")(torch.ones(4))
    assert [str(guard).partition("  #")[0] for guard in made.shape_env.guards] != []
    assert "sin" in made.code


def test_names_and_nesting_are_those_of_the_function() -> None:
    made = make_fx(lambda x, more: {"sum": x + more["y"], "same": [x, 2]})(torch.ones(2), {"y": torch.ones(2)})
    assert [n.name for n in made.graph.nodes][:3] == ["x_1", "more_1", "add"]
    result = made(torch.ones(2), {"y": torch.zeros(2)})
    assert result["sum"].tolist() == [1, 1] and result["same"][1] == 2
    assert [n.name for n in make_fx(LINEAR)(torch.ones(2, 3)).graph.nodes][0] == "arg0_1"


def test_parameters_and_constants_are_attributes() -> None:
    made = make_fx(lambda x: LINEAR(x) + torch.tensor(1.0))(torch.ones(2, 3))
    assert [name for name, _ in made.named_parameters()] == ["_param_constant0", "_param_constant1"]
    assert made._param_constant0 is LINEAR.weight and hasattr(made, "_tensor_constant0")


def test_nodes_know_what_their_values_are() -> None:
    made = make_fx(lambda x: x.to(torch.float64).sum(0))(torch.ones(2, 3))
    last = list(made.graph.nodes)[-2]
    assert last.meta["val"].shape == (3,) and last.meta["val"].dtype is torch.float64
    assert last.meta["tensor_meta"].shape == (3,)


def drawn(x: Any) -> Any:
    step = torch.tensor(1.0)
    step.uniform_()
    return x * step.item()


@pytest.mark.parametrize("ask", [
    drawn,
    lambda x: x if x.sum() > 0 else -x, lambda x: x + x.sum().item(), lambda x: x[int(x.sum())],
    lambda x: x * float(torch.equal(x, x)),
])  # fmt: skip
def test_a_value_that_decides_ends_the_trace(ask: Any) -> None:
    with pytest.raises(RuntimeError, match="make_fx"):
        make_fx(ask)(torch.ones(2))


def test_values_of_constants_may_decide() -> None:
    def f(x: Any) -> Any:
        step = torch.tensor(1.0)
        return x.sin() if (step + 1).item() == 2 else x

    assert "aten.sin.default" in targets(make_fx(f)(torch.ones(2)))


def test_a_number_out_of_a_tensor_stays_one_in_symbolic_graphs() -> None:
    made = make_fx(lambda x: x + x.sum().item(), tracing_mode="symbolic")(torch.ones(2))
    assert made(torch.tensor([1.0, 3.0])).tolist() == [5.0, 7.0]


def test_before_dispatch_composites_are_whole() -> None:
    assert targets(make_fx(lambda x: F.linear(x, x), pre_dispatch=True)(torch.ones(2, 2))) == ["aten.linear.default"]
    assert targets(make_fx(lambda x: F.linear(x, x))(torch.ones(2, 2))) == ["aten.t.default", "aten.mm.default"]


def test_a_table_says_what_ops_are_made_of() -> None:
    table = {aten.tanh.default: lambda x: 2 * torch.sigmoid(2 * x) - 1}
    made = make_fx(torch.tanh, table)(torch.ones(2))
    assert "aten.tanh.default" not in targets(made) and "aten.sigmoid.default" in targets(made)
    torch.testing.assert_close(made(torch.ones(2)), torch.tanh(torch.ones(2)))
    graph = torch.fx.Graph()
    DecompositionInterpreter(make_fx(torch.tanh)(torch.ones(2)), graph, table).run(torch.ones(2))
    assert "aten.sigmoid.default" in targets(torch.fx.GraphModule({}, graph))
    with decompose(table) as current:
        assert current is table


def test_a_trace_within_a_trace_is_not_seen() -> None:
    def f(x: Any) -> Any:
        inner = get_isolated_graphmodule(torch.sum, (x,), {})
        assert targets(inner) == ["aten.sum.default"]
        assert targets(make_fx(torch.digamma)(x)) == ["aten.digamma.default"]
        with disable_proxy_modes_tracing():
            assert get_proxy_mode() is None
            x.cos()
        mode = get_proxy_mode()
        assert isinstance(mode, ProxyTorchDispatchMode)
        assert get_proxy_slot(x, mode.tracer).proxy.node.name == "x_1"
        return x.sin() + make_fx(torch.sum)(x)(x)

    assert targets(make_fx(f)(torch.ones(2))) == ["aten.sin.default", "aten.sum.default", "aten.add.Tensor"]
    assert get_proxy_mode() is None


def test_nodes_know_their_modules() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    made = make_fx(model, record_module_stack=True)(torch.ones(1, 2))
    relu = next(n for n in made.graph.nodes if n.target is aten.relu.default)
    assert relu.meta["nn_module_stack"] == {"1": ("1", nn.ReLU)}


def test_what_cannot_be() -> None:
    with pytest.raises(ValueError, match="tracing_mode"):
        make_fx(torch.sin, tracing_mode="other")
    with pytest.raises(RuntimeError, match=re.escape("2 arguments; got 1")):
        make_fx(lambda x, y: x)(torch.ones(1))


@pytest.mark.torch
@pytest.mark.parametrize("name", ["pointwise", "linear", "layer_norm", "tuple", "constant", "in place", "grad"])
def test_the_ops_are_those_of_pytorch(name: str) -> None:
    real = pytest.importorskip("torch")
    from torch.fx.experimental.proxy_tensor import make_fx as real_make_fx

    linear = real.nn.Linear(3, 4)

    def in_place(x: Any) -> Any:
        y = x.clone()
        y.view(-1)[0:2].mul_(3)
        return y

    functions = {
        "pointwise": lambda x: x.sin() + 2 * x,
        "linear": lambda x: real.nn.functional.linear(x, linear.weight, linear.bias),
        "layer_norm": lambda x: real.nn.functional.layer_norm(x, (3,)),
        "tuple": lambda x: x.split(2)[1] * x.max(0)[0],
        "constant": lambda x: x + real.tensor([1.0, 2.0, 3.0]),
        "in place": in_place,
        "grad": real.func.grad(lambda x: (x.exp() * x).sum()),
    }
    wanted = targets(real_make_fx(functions[name])(real.randn(4, 3)))
    assert sorted(targets(make_fx(FUNCTIONS[name])(X))) == sorted(wanted)


@pytest.mark.filterwarnings("error")
def test_sizes_that_the_library_calculates_vary() -> None:
    x, other = torch.rand(4, 3), torch.rand(6, 3)
    for function in (lambda x: x.reshape(-1) * 2, lambda x: x.flatten().mean(), lambda x: x[:, :2].reshape(-1)):
        graph = make_fx(function, tracing_mode="symbolic")(x)
        assert torch.equal(graph(other), function(other))
    for function in (lambda x: torch.cat([x, x]).chunk(2)[0],
                     lambda x: x.unflatten(0, (2, -1))):  # fmt: skip
        with pytest.warns(UserWarning, match="the example's sizes alone"):
            graph = make_fx(function, tracing_mode="symbolic")(x)
        assert torch.equal(graph(x), function(x))


def test_gradient_mode_before_autograd() -> None:
    def mixed(x: Any) -> Any:
        y = x.sin()
        with torch.no_grad():
            z = y.cos()
        return z * x + y

    x = torch.ones(2, requires_grad=True)
    graph = make_fx(mixed, pre_dispatch=True)(x)
    assert "torch._C._set_grad_enabled(False)" in graph.code
    graph.graph.eliminate_dead_code()
    graph.recompile()
    gradients = [torch.autograd.grad(call(x).sum(), x)[0] for call in (graph, mixed)]
    assert torch.equal(*gradients) and torch.is_grad_enabled()


def test_symbols_in_values() -> None:
    def many(x: Any) -> Any:
        return x.sin(), torch.cat([x, x]), x.t() @ x, torch.zeros(x.shape[0] * 2, x.shape[1] + 1)

    text = make_fx(many, tracing_mode="symbolic")(torch.ones(3, 4)).print_readable(False)
    for kind in ('x_1: "f32[s0, s1]"', 'cat: "f32[s0 * 2, s1]"', 'mm: "f32[s1, s1]"', 'zeros: "f32[s0 * 2, s1 + 1]"'):
        assert kind in text


@pytest.mark.parametrize("mode", ["real", "fake", "symbolic"])
def test_sizes_that_change_in_place(mode: str) -> None:
    graph = make_fx(lambda x: x.clone().unsqueeze_(-1).t_() * 2, tracing_mode=mode)(torch.ones(3))
    assert "t_ = torch.ops.aten.t_.default(unsqueeze_)" in graph.code and graph(torch.ones(3)).shape == (1, 3)


@pytest.mark.parametrize("mode", ["real", "fake", "symbolic"])
def test_values_of_parts_of_constants(mode: str) -> None:
    def function(x: torch.Tensor) -> Any:
        (part,) = torch.tensor([2]).unbind(0)
        part.add_(1)
        return x * part.item()

    assert make_fx(function, tracing_mode=mode)(torch.ones(2))(torch.ones(2)).tolist() == [3.0, 3.0]


def test_a_size_is_a_shape_to_broadcast() -> None:
    graph = make_fx(lambda x, y: x.expand(torch.broadcast_shapes(x.shape, y.shape[0])), tracing_mode="symbolic")
    assert graph(torch.ones(3, 1), torch.ones(5))(torch.ones(2, 1), torch.ones(4)).shape == (2, 4)
