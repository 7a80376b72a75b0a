"""Modules for inference, folded constants, notes that nodes inherit, and questions about sizes and signatures."""

from __future__ import annotations

import operator
from typing import Any

import pytest

import taeda as torch
from taeda import fx, nn
from taeda.fx import operator_schemas as schemas
from taeda.fx import traceback as notes
from taeda.fx.annotate import annotate
from taeda.fx.experimental import symbolic_shapes as sizes
from taeda.fx.experimental.const_fold import FoldedGraphModule, split_const_subgraphs
from taeda.fx.experimental.debug import set_trace
from taeda.fx.experimental.normalize import NormalizeArgs, NormalizeOperators
from taeda.fx.experimental.optimization import fuse, optimize_for_inference, remove_dropout
from taeda.fx.experimental.proxy_tensor import make_fx
from taeda.fx.experimental.schema_type_annotation import AnnotateTypesWithSchema
from taeda.fx.proxy import MetaProxy
from taeda.fx.tensor_type import Dyn, TensorType, is_consistent, is_more_precise


def model() -> nn.Module:
    made = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Dropout(), nn.Conv2d(2, 1, 1))
    made(torch.randn(8, 1, 6, 6))
    return made.eval()


@pytest.mark.parametrize(("change", "gone"), [
    (fuse, nn.BatchNorm2d), (remove_dropout, nn.Dropout), (optimize_for_inference, nn.BatchNorm2d),
    (optimize_for_inference, nn.Dropout),
])  # fmt: skip
def test_models_for_inference_do_the_same_with_less(change: Any, gone: type) -> None:
    before, x = model(), torch.randn(2, 1, 6, 6)
    after = change(before)
    torch.testing.assert_close(after(x), before(x), rtol=1e-5, atol=1e-5)
    assert not any(isinstance(m, gone) for m in after.modules()) and any(isinstance(m, gone) for m in before.modules())


def test_steps_are_left_out() -> None:
    kept = optimize_for_inference(model(), {"conv_bn_fuse": False, "remove_dropout": False})
    assert {nn.BatchNorm2d, nn.Dropout} <= {type(m) for m in kept.modules()}
    with pytest.raises(RuntimeError, match="other"):
        optimize_for_inference(model(), {"other": True})


class Constants(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight, self.scale = nn.Parameter(torch.randn(3, 3)), nn.Parameter(torch.randn(3))

    def forward(self, x: Any) -> Any:
        folded = torch.tanh(self.weight) * self.scale
        return x @ folded + folded.sum() + self.scale


def test_constants_are_computed_once() -> None:
    module, x = Constants(), torch.randn(2, 3)
    folded = split_const_subgraphs(module)
    assert isinstance(folded, FoldedGraphModule) and not folded.has_folding_been_run
    torch.testing.assert_close(folded(x), module(x))
    assert folded.has_folding_been_run
    assert torch.tanh not in [n.target for n in folded.graph.nodes]
    with pytest.raises(AssertionError, match="already"):
        folded.run_folding()
    kept = split_const_subgraphs(module, lambda node: node.target is torch.tanh)
    torch.testing.assert_close(kept(x), module(x))
    assert torch.tanh in [n.target for n in kept.graph.nodes]
    nothing = split_const_subgraphs(fx.symbolic_trace(lambda x: x + 1))
    assert nothing(x).equal(x + 1)


def test_nodes_inherit_notes() -> None:
    def f(x: Any) -> Any:
        with notes.annotate({"part": 1}):
            y = x.sin()
        return y.cos()

    with notes.preserve_node_meta():
        made = make_fx(f)(torch.ones(2))
        assert notes.has_preserved_node_meta()
        again = make_fx(fx.Interpreter(made).run)(torch.ones(2))
    parts = {n.name: n.meta.get("custom") for n in made.graph.nodes if n.op == "call_function"}
    assert parts == {"sin": {"part": 1}, "cos": None}
    sin = next(n for n in again.graph.nodes if n.name == "sin")
    assert sin.meta["custom"] == {"part": 1} and sin.meta["from_node"][-1].name == "sin"
    assert notes.get_graph_provenance_json(again.graph)["sin"][0]["name"] == "sin"
    assert not notes.has_preserved_node_meta() and notes.get_current_meta() == {}


@pytest.mark.parametrize(("target", "args", "kwargs", "wanted"), [
    (torch.relu, (1,), {}, {"input": 1}),
    (torch.nn.functional.relu, (1,), {"inplace": True}, {"input": 1, "inplace": True}),
    (torch.ops.aten.softmax.int, (1, 2), {}, {"input": 1, "dim": 2, "dtype": None}),
])  # fmt: skip
def test_calls_by_name(target: Any, args: Any, kwargs: Any, wanted: Any) -> None:
    found = schemas.normalize_function(target, args, kwargs, normalize_to_only_use_kwargs=True)
    assert found is not None and found.args == () and found.kwargs == wanted


def test_signatures_of_ops() -> None:
    signatures, found = schemas.get_signature_for_torch_op(torch.add, return_schemas=True)
    assert len(signatures) == len(found) > 1 and "alpha" in signatures[0].parameters
    assert schemas.get_signature_for_torch_op(len) is None
    linear = schemas.normalize_module(nn.Sequential(nn.Linear(1, 1)), "0", (5,), {}, True)
    assert linear is not None and linear.kwargs == {"input": 5}
    assert schemas.type_matches(list[int], list[int]) and schemas.type_matches(float, int)
    assert not schemas.type_matches(int, float) and schemas.create_type_hint([int, int]) == list[int]
    with pytest.raises(RuntimeError, match="writes"):
        schemas.check_for_mutable_operation(torch.ops.aten.add_.Tensor, (torch.ones(1), torch.ones(1)), {})


def test_questions_about_sizes() -> None:
    seen: dict[str, Any] = {}

    def f(x: Any) -> Any:
        rows = x.shape[0]
        seen["symbolic"] = [sizes.is_symbolic(rows), sizes.is_concrete_int(rows), sizes.hint_int(rows)]
        seen["free"] = sizes.has_free_symbols(x.shape), len(sizes.free_symbols(rows * 2 + rows))
        seen["values"] = sizes.has_free_unbacked_symbols(rows), sizes.has_free_unbacked_symbols(x.sum().item())
        seen["known"] = sizes.statically_known_true(rows == 4), sizes.guard_size_oblivious(rows == 4)
        seen["int"] = sizes.guard_int(rows)
        return x * rows

    made = make_fx(f, tracing_mode="symbolic")(torch.ones(4, 3))
    assert seen["symbolic"] == [True, False, 4] and seen["free"] == (True, 1) and seen["values"] == (False, True)
    assert seen["known"] == (False, True) and seen["int"] == 4
    assert sizes.eval_guards(made, torch.ones(4, 5)) and not sizes.eval_guards(made, torch.ones(5, 3))
    assert list(sizes.bind_symbols(made, torch.ones(7, 3)).values())[0] == 7
    assert sizes.fx_placeholder_targets(made) == ["x_1"] and len(sizes.fx_placeholder_vals(made)) == 1
    assert sizes.sym_eq((1, 2), (1, 2)) and sizes.sym_or(False, 3 > 2) and not sizes.sym_and(True, False)
    with pytest.raises(ValueError, match="from 0 to 2"):
        sizes.constrain_range(3, min=0, max=2)


def test_types_of_tensors() -> None:
    assert TensorType[2, 3] == TensorType((2, 3)) and is_consistent(TensorType((2, Dyn)), TensorType((2, 3)))
    assert is_more_precise(TensorType((2, 3)), Dyn) and not is_more_precise(Dyn, TensorType((2, 3)))
    assert not is_consistent(TensorType((2,)), TensorType((3,)))


def test_proxies_with_types_and_values() -> None:
    graph = fx.Graph()
    node = graph.placeholder("x")
    node.meta["val"] = torch.empty(2, 3, device="meta")
    result = torch.relu(MetaProxy(node))
    assert isinstance(result, MetaProxy) and result.node.meta["val"].shape == (2, 3)
    assert annotate(result, int) is result and result.node.type is int
    with pytest.raises(RuntimeError, match="already"):
        annotate(result, int)


def test_calls_are_put_in_one_form() -> None:
    module = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2)))
    named = NormalizeArgs(module).transform()
    call = next(n for n in named.graph.nodes if n.op == "call_module")
    assert call.args == () and list(call.kwargs) == ["input"]
    by_name = NormalizeArgs(fx.symbolic_trace(lambda x: torch.nn.functional.relu(x))).transform()
    relu = next(n for n in by_name.graph.nodes if n.op == "call_function")
    assert relu.args == () and relu.kwargs["inplace"] is False
    x = torch.tensor([-1.0, 2.0])
    assert by_name(x).tolist() == [0, 2] and torch.equal(named(x), module(x))
    written = fx.symbolic_trace(lambda x, y: torch.add(torch.add(x, y * 2), y, alpha=2))
    operators = NormalizeOperators(written).transform()
    calls = [n.target for n in operators.graph.nodes if n.op == "call_function"]
    assert calls == [operator.mul, operator.add, torch.add]
    assert operators(x, x).tolist() == [-5, 10]
    typed = AnnotateTypesWithSchema(module).transform()
    assert next(n for n in typed.graph.nodes if n.op == "call_module").type is torch.Tensor


def test_code_with_a_breakpoint() -> None:
    assert "pdb.set_trace()" in set_trace(fx.symbolic_trace(lambda x: x + 1)).code


def test_sources_as_text_and_data() -> None:
    node = fx.Graph().call_function(torch.add, (1, 2))
    node.meta["from_node"] = [notes.NodeSource(None, "first", notes.NodeSourceAction.CREATE)]
    source = notes.NodeSource(node, "second", notes.NodeSourceAction.REPLACE)
    assert source.print_readable() == (
        f"(name=add, pass_name=second, action=replace, graph_id={id(node.graph)})\n"
        "    (name=, pass_name=first, action=create, graph_id=-1)\n"
    )
    assert notes.NodeSource._from_dict(source.to_dict()) == source and notes.NodeSource._from_dict(None) is None
