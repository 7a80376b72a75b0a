"""The text of graphs for people, and what is made lazily or told of changes."""

from __future__ import annotations

import copy
import pickle
from typing import Any, NamedTuple

import pytest

import taeda
from taeda import fx, nn
from taeda.fx._lazy_graph_module import (
    _force_skip_lazy_graph_module,
    _LazyGraphModule,
    _make_graph_module,
    _use_lazy_graph_module,
)
from taeda.fx._readable import short_dtype
from taeda.fx.experimental.proxy_tensor import make_fx
from taeda.fx.graph import _PyTreeCodeGen, _PyTreeInfo
from taeda.fx.graph_module import _assign_attr, _del_attr, _get_attr, _has_attr
from taeda.fx.node import _format_arg, _get_qualified_name
from taeda.fx.passes.shape_prop import ShapeProp


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x: Any) -> Any:
        return taeda.relu(self.layer(x)) + 1


def shaped() -> fx.GraphModule:
    traced = fx.symbolic_trace(Net())
    ShapeProp(traced).propagate(taeda.ones(2, 4))
    return traced


def test_values_and_places() -> None:
    lines = shaped().print_readable(False).splitlines()
    assert lines[:3] == [
        "class Net(torch.nn.Module):",
        '    def forward(self, x: "f32[2, 4]"):',
        "        # No stacktrace found for following nodes",
    ]
    assert lines[3] == '        layer: "f32[2, 3]" = self.layer(x);  x = None'
    assert lines[-1] == "        return add"
    ops = make_fx(lambda x: x.sin().t(), tracing_mode="fake")(taeda.ones(2, 3))
    assert 't: "f32[3, 2][1, 3]cpu" = ' in ops.print_readable(False, include_stride=True, include_device=True)


def test_options_of_the_text() -> None:
    traced = shaped()
    for node in traced.graph.nodes:
        node.meta["note"] = 7
    assert '    def forward(\n        self,\n        x: "f32[2, 4]",\n    ):\n' in traced.print_readable(
        False, expanded_def=True
    )
    assert "# note: 7 # No stacktrace" in traced.print_readable(False, additional_meta=["note"])
    coloured = traced.print_readable(False, colored=True)
    assert "\x1b[34m[2, 3]\x1b[0m" in coloured and "\x1b[2mx = None\x1b[0m" in coloured
    assert "f32" in traced.graph.python_code("self", verbose=True).src and "f32" not in traced.code


def test_places_come_once() -> None:
    tracer = fx.Tracer()
    tracer.record_stack_traces = True
    text = fx.GraphModule(Net(), tracer.trace(Net())).print_readable(False)
    assert text.count("# File: ") == 1 and "test_readable.py:" in text and ", code: return taeda.relu" in text


@pytest.mark.parametrize(
    ("dtype", "short"),
    [("float32", "f32"), ("bfloat16", "bf16"), ("uint8", "u8"), ("bool", "b8"), ("complex64", "c64"),
     ("float8_e4m3fn", "f8e4m3fn")],
)  # fmt: skip
def test_short_dtypes(dtype: str, short: str) -> None:
    assert short_dtype(getattr(taeda, dtype)) == short


def test_lines_know_their_nodes() -> None:
    traced = fx.symbolic_trace(lambda a, b: taeda.sin(a) + taeda.cos(b))
    assert traced._lineno_map == {1: 2, 2: 3, 3: 4, 4: 5}
    traced.graph.on_generate_code(lambda before: lambda body: ["print(1)\n", *body])
    traced.recompile()
    assert traced._lineno_map == {1: None, 2: 2, 3: 3, 4: 4, 5: 5}


def test_nested_arguments_and_results() -> None:
    graph = fx.Graph()
    a, b = graph.placeholder("a"), graph.placeholder("b")
    graph.output((graph.call_function(taeda.add, (a, b)),))
    given, result = ((taeda.ones(1),), {"b": taeda.ones(1)}), {"sum": 0}
    specs = (taeda.utils._pytree.tree_structure(tree) for tree in (given, result))
    graph.set_codegen(_PyTreeCodeGen(_PyTreeInfo(["a", "b"], *specs)))
    module = fx.GraphModule({}, graph)
    assert "a, b, = fx_pytree.tree_flatten_spec(([a], {'b':b}), self._in_spec)" in module.code
    assert module(taeda.ones(1), b=taeda.ones(1))["sum"].item() == 2
    assert fx.Interpreter(module).run(taeda.ones(1), taeda.ones(1))["sum"].item() == 2


class Pair(NamedTuple):
    left: Any
    right: Any


def test_texts_of_arguments() -> None:
    assert _format_arg([1, 2, 3], 2) == "[1, 2, ...[total_len=3]]" and _format_arg((1,)) == "(1,)"
    assert _format_arg(Pair(1, "a")) == "Pair(left=1, right=a)"
    assert _get_qualified_name(nn.Linear) == "torch.nn.modules.linear.Linear"


def test_attributes_at_paths() -> None:
    module = nn.Module()
    _assign_attr(taeda.ones(2), module, "a.b.c")
    assert _has_attr(module, "a.b.c") and _get_attr(module, "a.b.c").sum() == 2
    assert "a.b.c" in module.state_dict()
    _del_attr(module, "a.b.c")
    assert not _has_attr(module, "a.b.c") and not _has_attr(module, "x.y")


def test_hooks_hear_of_changes() -> None:
    traced = fx.symbolic_trace(lambda x: taeda.sin(x))
    heard: list[Any] = []
    copied = heard.append
    traced._register_create_node_hook(lambda node: heard.append(("new", node.name)))
    traced._register_erase_node_hook(lambda node: heard.append(("gone", node.name)))
    traced._register_deepcopy_hook(copied)
    sine = next(node for node in traced.graph.nodes if node.op == "call_function")
    with traced._set_replace_hook(lambda old, new, user: heard.append((old.name, new, user.name))):
        with traced.graph.inserting_after(sine):
            sine.replace_all_uses_with(traced.graph.call_function(taeda.cos, sine.args))
        traced.graph.erase_node(sine)
    assert heard == [("new", "cos"), ("sin", "cos", "output"), ("gone", "sin")]
    assert copy.deepcopy(traced) is heard[-1]
    traced._unregister_deepcopy_hook(copied)
    assert traced._deepcopy_hooks == [] and traced._replace_hooks == []


def test_lazy_modules() -> None:
    with _use_lazy_graph_module(True):
        traced = fx.symbolic_trace(lambda x: x.sin())
        assert isinstance(make_fx(traced)(taeda.ones(1)), _LazyGraphModule)
        with _force_skip_lazy_graph_module():
            assert not isinstance(_make_graph_module(traced, traced.graph), _LazyGraphModule)
        assert not isinstance(
            _make_graph_module(traced, traced.graph, graph_module_cls=fx.GraphModule), _LazyGraphModule
        )
        lazy = fx.symbolic_trace(traced)
    assert isinstance(lazy, _LazyGraphModule) and not isinstance(fx.symbolic_trace(lazy), _LazyGraphModule)
    lazy.recompile()
    call = lazy.forward
    assert lazy._needs_recompile() and call(taeda.zeros(1)).item() == 0 and not lazy._needs_recompile()
    lazy.recompile()
    assert "sin" in str(lazy) and not lazy._needs_recompile()
    again = pickle.loads(pickle.dumps(lazy))
    assert isinstance(again, _LazyGraphModule) and again._needs_recompile() and "sin" in again.code
    assert _LazyGraphModule.from_graphmodule(lazy) is lazy
