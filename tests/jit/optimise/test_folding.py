"""Constants are computed beforehand, batch normalisation with constant statistics goes into what is before it, and
shapes are found without running."""

import pytest
from pass_texts import canonical, check, text

import taeda as torch
from taeda import nn
from taeda.jit.ir import Graph, parse_ir
from taeda.jit.optimise import fold_batch_norms, fold_constants, propagate_shapes, remove_dead_code

KEPT = {
    "a division by zero, which raises when it is run": """
        graph(%x : Tensor):
          %1 : int = prim::Constant[value=1]()
          %0 : int = prim::Constant[value=0]()
          %a : int = aten::floordiv(%1, %0)
          return (%a)""",
    "a list, which each run makes anew": """
        graph(%x : Tensor):
          %1 : int = prim::Constant[value=1]()
          %a : int[] = prim::ListConstruct(%1, %1)
          return (%a)""",
    "random numbers": """
        graph():
          %1 : Tensor = prim::Constant[value={1}]()
          %n : NoneType = prim::Constant()
          %a : Tensor = aten::rand_like(%1, %n, %n, %n, %n, %n)
          %b : Tensor = aten::neg(%a)
          %c : Tensor = aten::neg(%b)
          return (%c)""",
    "a tensor that is returned, so that others may write to it": """
        graph():
          %1 : Tensor = prim::Constant[value={1}]()
          %a : Tensor = aten::neg(%1)
          return (%a)""",
}


@pytest.mark.parametrize("before", KEPT.values(), ids=KEPT)
def test_what_must_be_computed_each_time(before):
    check(fold_constants, before, None)


def fold_and_clean(graph: Graph) -> bool:
    return fold_constants(graph) and (remove_dead_code(graph) or True)


def test_numbers_and_texts():
    check(fold_and_clean, """
        graph():
          %a : int = prim::Constant[value=7]()
          %b : int = prim::Constant[value=2]()
          %c : int = aten::mul(%a, %b)
          %d : int = aten::floordiv(%c, %b)
          %s : str = prim::Constant[value="ab"]()
          %t : str = aten::add(%s, %s)
          %l : int = aten::len(%t)
          %e : (int, int) = prim::TupleConstruct(%d, %l)
          return (%e)""", """
        graph():
          %e : (int, int) = prim::Constant[value=(7, 4)]()
          return (%e)""")  # fmt: skip


def test_constant_tensors_inside():
    graph = parse_ir(
        text("""
        graph(%x : Tensor):
          %1 : Tensor = prim::Constant[value={3}]()
          %a : Tensor = aten::neg(%1)
          %b : Tensor = aten::mul(%x, %a)
          return (%b)""")
    )
    assert fold_constants(graph)
    constants = [node.t("value") for node in graph.findAllNodes("prim::Constant")]
    assert [c.item() for c in constants] == [3, -3] and not graph.findAllNodes("aten::neg")


def folded(layer: nn.Module, norm: nn.Module, op: str, arguments: list[object], rank: str) -> tuple[Graph, bool]:
    graph = Graph()
    x = graph.addInput("x")
    inputs = [x, *(graph.insertConstant(a.detach() if isinstance(a, torch.Tensor) else a) for a in arguments[:2])]
    for value in arguments[2:]:
        if isinstance(value, list):
            node = graph.emit(
                "prim::ListConstruct", [graph.insertConstant(i) for i in value], [torch._C._parse_type("int[]")]
            )
            inputs.append(node.output())
        else:
            inputs.append(graph.insertConstant(value))
    before = graph.emit(op, inputs, [x.static_type]).output()
    if rank:
        before.setType(parse_ir(f"graph(%x : Float({rank})):\n  return (%x)\n").inputs().__next__().type())
    parts = [norm.weight, norm.bias, norm.running_mean, norm.running_var]
    constants = [graph.insertConstant(p if p is None else p.detach()) for p in parts]
    constants += [graph.insertConstant(v) for v in (False, 0.1, 1e-5, True)]
    graph.registerOutput(graph.emit("aten::batch_norm", [before, *constants], [x.static_type]).output())
    changed = fold_batch_norms(graph)
    graph.lint()
    return graph, changed


CASES = {
    "conv2d": (nn.Conv2d(4, 6, 3, groups=2), nn.BatchNorm2d(6), (2, 4, 5, 5), [[1, 1], [0, 0], [1, 1], 2]),
    "conv1d": (nn.Conv1d(4, 6, 3, bias=False), nn.BatchNorm1d(6, affine=False), (2, 4, 5), [[1], [0], [1], 1]),
    "conv_transpose2d": (
        nn.ConvTranspose2d(4, 6, 3, groups=2), nn.BatchNorm2d(6), (2, 4, 5, 5), [[1, 1], [0, 0], [0, 0], 2, [1, 1]],
    ),
    "linear": (nn.Linear(4, 6), nn.BatchNorm1d(6), (3, 4), []),
}  # fmt: skip


@pytest.mark.parametrize("kind", CASES)
def test_batch_norm_goes_into_what_is_before_it(kind):
    layer, norm, size, rest = CASES[kind]
    torch.manual_seed(0)
    with torch.no_grad():
        norm.running_mean.uniform_(-1, 1)
        norm.running_var.uniform_(0.5, 2)
        if norm.weight is not None:
            norm.weight.uniform_(-1, 1)
            norm.bias.uniform_(-1, 1)
    graph, changed = folded(layer.eval(), norm.eval(), f"aten::{kind}", [layer.weight, layer.bias, *rest], "*, *")
    assert changed and not graph.findAllNodes("aten::batch_norm")
    node = graph.findNode(f"aten::{kind}")
    with torch.no_grad():
        x = torch.randn(size)
        expected = norm(layer(x))
        layer.weight.copy_(node.inputsAt(1).toIValue())
        layer.bias = nn.Parameter(node.inputsAt(2).toIValue())
        torch.testing.assert_close(layer(x), expected, atol=1e-5, rtol=1e-5)


def test_a_product_of_unknown_rank_keeps_its_batch_norm():
    layer, norm, _, _ = CASES["linear"]
    assert not folded(layer, norm, "aten::linear", [layer.weight, layer.bias], "")[1]


def test_shapes():
    graph = parse_ir(
        text("""
        graph(%x : Float(2, 3, strides=[3, 1], device=cpu), %c : bool):
          %0 : int = prim::Constant[value=0]()
          %1 : int = prim::Constant[value=1]()
          %n : NoneType = prim::Constant()
          %5 : int = prim::Constant[value=7]()
          %a : Tensor = aten::t(%x)
          %b : Tensor = aten::matmul(%x, %a)
          %d : Tensor = prim::If(%c)
            block0():
              %2 : Tensor = aten::relu(%b)
              -> (%2)
            block1():
              %3 : Tensor = aten::neg(%b)
              -> (%3)
          %s : Tensor = aten::nonzero(%d)
          %e : Tensor = aten::neg(%s)
          return (%e)""")
    )
    assert propagate_shapes(graph)
    types = {v.debugName(): str(v.facts.str()) if v.facts else None for n in graph.all_nodes() for v in n.outputs()}
    assert types["a"] == "Float(3, 2, strides=[1, 3], device=cpu)"
    assert types["b"] == types["d"] == "Float(2, 2, strides=[2, 1], device=cpu)"
    assert types["e"] is None  # how many are not zero is not known
    assert not propagate_shapes(graph)
    assert canonical(graph) == canonical(parse_ir(graph.str()))
