"""Passes that programs ask for by name: a text before and one after."""

import functools

import pytest
from pass_texts import check, text

import taeda
from taeda.jit.ir import parse_ir
from taeda.jit.optimise import activations, conv_arithmetic, decompositions, devices, mutation, rewrite, shapes
from taeda.jit.optimise.branches import fold_branches, unroll_counted_loops
from taeda.jit.optimise.peephole import simplify
from taeda.jit.optimise.refinement import refine_integers, refine_list_lengths

CASES = {
    "an item of a dict": (
        simplify,
        """
        graph(%x : int, %y : int):
          %0 : int = prim::Constant[value=0]()
          %1 : int = prim::Constant[value=1]()
          %d : Dict(int, int) = prim::DictConstruct(%0, %x, %1, %y)
          %a : int = aten::__getitem__(%d, %1)
          return (%a)""",
        """
        graph(%x : int, %y : int):
          %0 : int = prim::Constant[value=0]()
          %1 : int = prim::Constant[value=1]()
          %d : Dict(int, int) = prim::DictConstruct(%0, %x, %1, %y)
          return (%y)""",
    ),
    "an item of a dict whose keys may be equal": (
        simplify,
        """
        graph(%x : int, %y : int):
          %0 : int = prim::Constant[value=0]()
          %d : Dict(int, int) = prim::DictConstruct(%0, %x, %x, %y)
          %a : int = aten::__getitem__(%d, %0)
          return (%a)""",
        None,
    ),
    "a part of a list": (
        simplify,
        """
        graph(%x : int, %y : int):
          %1 : int = prim::Constant[value=1]()
          %n : NoneType = prim::Constant()
          %l : int[] = prim::ListConstruct(%x, %y, %x)
          %a : int[] = aten::slice(%l, %1, %n, %1)
          return (%a)""",
        """
        graph(%x : int, %y : int):
          %1 : int = prim::Constant[value=1]()
          %n : NoneType = prim::Constant()
          %l : int[] = prim::ListConstruct(%x, %y, %x)
          %a : int[] = prim::ListConstruct(%y, %x)
          return (%a)""",
    ),
    "a part of a list that is written to": (
        simplify,
        """
        graph(%x : int):
          %0 : int = prim::Constant[value=0]()
          %1 : int = prim::Constant[value=1]()
          %l : int[] = prim::ListConstruct(%x, %x)
          %b : int[] = aten::_set_item(%l, %0, %1)
          %a : int[] = aten::slice(%l, %0, %1, %1)
          return (%a)""",
        None,
    ),
    "a number that is compared with itself": (
        simplify,
        """
        graph(%x : int):
          %a : bool = aten::eq(%x, %x)
          return (%a)""",
        """
        graph(%x : int):
          %a : bool = prim::Constant[value=1]()
          return (%a)""",
    ),
    "a float that is compared with itself may be nan": (
        simplify,
        """
        graph(%x : float):
          %a : bool = aten::eq(%x, %x)
          return (%a)""",
        None,
    ),
    "a dtype that it has": (
        functools.partial(simplify, believe_dtypes=True),
        """
        graph(%x : Float(1, requires_grad=0, device=cpu), %y : Float(2, requires_grad=0, device=cpu)):
          %a : Tensor = aten::type_as(%x, %y)
          return (%a)""",
        """
        graph(%x : Float(1, requires_grad=0, device=cpu), %y : Float(2, requires_grad=0, device=cpu)):
          return (%x)""",
    ),
    "a dtype that a trace's example has": (
        simplify,
        """
        graph(%x : Float(1, requires_grad=0, device=cpu), %y : Float(2, requires_grad=0, device=cpu)):
          %a : Tensor = aten::type_as(%x, %y)
          return (%a)""",
        None,
    ),
    "branches that agree": (
        fold_branches,
        """
        graph(%c : bool, %x : int):
          %a : int, %b : bool = prim::If(%c)
            block0():
              %f : bool = prim::Constant[value=0]()
              -> (%x, %f)
            block1():
              -> (%x, %c)
          return (%a, %b)""",
        """
        graph(%c : bool, %x : int):
          %t : bool = prim::Constant[value=0]()
          %a : int, %b : bool = prim::If(%c)
            block0():
              %f : bool = prim::Constant[value=0]()
              -> (%x, %f)
            block1():
              -> (%x, %c)
          return (%x, %t)""",
    ),
    "a number that a condition tells": (
        refine_integers,
        """
        graph(%x : int):
          %4 : int = prim::Constant[value=4]()
          %m : str = prim::Constant[value=""]()
          %c : bool = aten::ne(%x, %4)
           = prim::If(%c)
            block0():
               = prim::RaiseException(%m)
              -> ()
            block1():
              -> ()
          return (%x)""",
        """
        graph(%x : int):
          %4 : int = prim::Constant[value=4]()
          %m : str = prim::Constant[value=""]()
          %c : bool = aten::ne(%x, %4)
           = prim::If(%c)
            block0():
               = prim::RaiseException(%m)
              -> ()
            block1():
              -> ()
          %k : int = prim::Constant[value=4]()
          return (%k)""",
    ),
    "a length that an assertion tells": (
        refine_list_lengths,
        """
        graph(%x : int[]):
          %4 : int = prim::Constant[value=4]()
          %n : int = aten::len(%x)
          %c : bool = aten::eq(%n, %4)
          %r : int = prim::If(%c)
            block0():
              %k : int = aten::len(%x)
              -> (%k)
            block1():
              -> (%n)
          return (%r)""",
        """
        graph(%x : int[]):
          %4 : int = prim::Constant[value=4]()
          %n : int = aten::len(%x)
          %c : bool = aten::eq(%n, %4)
          %r : int = prim::If(%c)
            block0():
              %j : int = prim::Constant[value=4]()
              %k : int = aten::len(%x)
              -> (%j)
            block1():
              -> (%n)
          return (%r)""",
    ),
    "a length of a list that is written to": (
        refine_list_lengths,
        """
        graph(%x : int[]):
          %4 : int = prim::Constant[value=4]()
          %n : int = aten::len(%x)
          %c : bool = aten::eq(%n, %4)
          %r : int = prim::If(%c)
            block0():
              %y : int[] = aten::append(%x, %4)
              %k : int = aten::len(%x)
              -> (%k)
            block1():
              -> (%n)
          return (%r)""",
        None,
    ),
    "writing to a new tensor": (
        mutation.remove_mutation,
        """
        graph(%x : Tensor):
          %1 : int = prim::Constant[value=1]()
          %y : Tensor = aten::relu(%x)
          %z : Tensor = aten::add_(%y, %1, %1)
          return (%y, %z)""",
        """
        graph(%x : Tensor):
          %1 : int = prim::Constant[value=1]()
          %y : Tensor = aten::relu(%x)
          %z : Tensor = aten::add(%y, %1, %1)
          return (%z, %z)""",
    ),
    "writing to what was read": (
        mutation.remove_mutation,
        """
        graph(%x : Tensor):
          %1 : int = prim::Constant[value=1]()
          %y : Tensor = aten::relu(%x)
          %w : Tensor = aten::neg(%y)
          %z : Tensor = aten::add_(%y, %1, %1)
          return (%w, %z)""",
        None,
    ),
    "writing to an argument, and to a view": (
        mutation.remove_mutation,
        """
        graph(%x : Tensor):
          %1 : int = prim::Constant[value=1]()
          %y : Tensor = aten::relu_(%x)
          %s : Tensor = aten::select(%x, %1, %1)
          %z : Tensor = aten::add_(%s, %1, %1)
          return (%y, %z)""",
        None,
    ),
    "writing to a new list": (
        mutation.remove_mutation,
        """
        graph(%x : int):
          %0 : int = prim::Constant[value=0]()
          %l : int[] = prim::ListConstruct(%x)
          %a : int[] = aten::append(%l, %0)
           = aten::insert(%l, %0, %x)
          return (%l)""",
        """
        graph(%x : int):
          %0 : int = prim::Constant[value=0]()
          %l : int[] = prim::ListConstruct(%x, %x, %0)
          return (%l)""",
    ),
    "an activation of a new tensor": (
        activations.activate_in_place,
        """
        graph(%x : Tensor):
          %y : Tensor = aten::neg(%x)
          %z : Tensor = aten::relu(%y)
          return (%z)""",
        """
        graph(%x : Tensor):
          %y : Tensor = aten::neg(%x)
          %z : Tensor = aten::relu_(%y)
          return (%z)""",
    ),
    "an activation of an argument, and one that makes floats": (
        activations.activate_in_place,
        """
        graph(%x : Tensor):
          %y : Tensor = aten::relu(%x)
          %z : Tensor = aten::sigmoid(%y)
          return (%z)""",
        None,
    ),
    "an activation in place": (
        activations.activate_apart,
        """
        graph(%x : Tensor):
          %y : Tensor = aten::neg(%x)
          %z : Tensor = aten::relu_(%y)
          return (%y)""",
        """
        graph(%x : Tensor):
          %y : Tensor = aten::neg(%x)
          %z : Tensor = aten::relu(%y)
          return (%z)""",
    ),
    "a product with a transposed matrix": (
        rewrite.fuse_linear,
        """
        graph(%x : Tensor, %w : Tensor, %b : Tensor):
          %1 : int = prim::Constant[value=1]()
          %t : Tensor = aten::t(%w)
          %y : Tensor = aten::matmul(%x, %t)
          %z : Tensor = aten::add(%y, %b, %1)
          return (%z)""",
        """
        graph(%x : Tensor, %w : Tensor, %b : Tensor):
          %z : Tensor = aten::linear(%x, %w, %b)
          return (%z)""",
    ),
    "addmm": (
        rewrite.decompose_addmm,
        """
        graph(%x : Tensor, %a : Tensor, %b : Tensor):
          %1 : int = prim::Constant[value=1]()
          %2 : int = prim::Constant[value=2]()
          %y : Tensor = aten::addmm(%x, %a, %b, %1, %1)
          %z : Tensor = aten::addmm(%y, %a, %b, %2, %1)
          return (%z)""",
        """
        graph(%x : Tensor, %a : Tensor, %b : Tensor):
          %1 : int = prim::Constant[value=1]()
          %2 : int = prim::Constant[value=2]()
          %m : Tensor = aten::mm(%a, %b)
          %3 : int = prim::Constant[value=1]()
          %y : Tensor = aten::add(%m, %x, %3)
          %z : Tensor = aten::addmm(%y, %a, %b, %2, %1)
          return (%z)""",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_pass(case):
    check(*case)


def test_rewrite_says_what_does_not_fit():
    with pytest.raises(RuntimeError, match="takes and gives"):
        rewrite.rewrite(parse_ir("graph(%x):\n  return (%x)"), "graph(%x):\n  return (%x)", "graph():\n  return ()")


def test_what_others_read_is_not_rewritten():
    graph = parse_ir("graph(%x, %y):\n  %a = aten::mul(%x, %y)\n  %b = aten::mul(%a, %x)\n  return (%a, %b)")
    both = "graph(%x, %y, %z):\n  %a = aten::mul(%x, %y)\n  %b = aten::mul(%a, %z)\n  return (%b)"
    assert not rewrite.rewrite(graph, both, "graph(%x, %y, %z):\n  %b = my::both(%x, %y, %z)\n  return (%b)")


@pytest.mark.parametrize("count", [0, 3, 8, 21])
def test_loops_do_several_rounds_at_once(count):
    unit = taeda.jit.CompilationUnit(
        "def f(n: int):\n    y = 0\n    for i in range(n):\n        y += i * i\n    return y"
    )
    graph = unit.f.graph.copy()
    assert unroll_counted_loops(graph) and len(graph.findAllNodes("prim::Loop")) == 2
    graph.lint()
    made = taeda._C._create_function_from_graph("f", graph)
    assert made(count) == sum(i * i for i in range(count))


@pytest.mark.parametrize("op", ["x + 2.0", "x - self.t", "x * self.t", "x / 2.0"])
@pytest.mark.parametrize("bias", [True, False])
def test_constants_behind_convolutions(op, bias):
    class Net(taeda.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = taeda.nn.Conv2d(2, 3, 2, bias=bias)
            self.t = taeda.rand(3, 1, 1)

    scope = {}
    exec(f"def forward(self, x):\n    x = self.conv(x)\n    return {op}", scope)
    net, x = Net().eval(), taeda.randn(1, 2, 4, 4)
    frozen = taeda.jit.freeze(taeda.jit.trace(_with(net, scope["forward"]), x, check_trace=False))
    assert [n.kind() for n in frozen.graph.nodes() if n.kind() != "prim::Constant"][-1].startswith("aten::_conv") or (
        not any(frozen.graph.findNode(f"aten::{name}") for name in ("add", "sub", "mul", "div"))
    )
    taeda.testing.assert_close(frozen(x), scope["forward"](net, x))


def _with(net, forward):
    type(net).forward = forward
    return net


def test_what_is_resized_has_no_shape():
    graph = parse_ir(
        text("""
        graph(%x : Float(2, 2, strides=[2, 1], requires_grad=0, device=cpu)):
          %3 : int = prim::Constant[value=3]()
          %n : NoneType = prim::Constant()
          %s : int[] = prim::ListConstruct(%3)
          %y : Tensor = aten::relu(%x)
          %z : Tensor = aten::resize_(%y, %s, %n)
          return (%x)""")
    )
    shapes.propagate_shapes(graph)
    assert graph.findNode("aten::relu").output().facts is None and next(graph.inputs()).facts is not None


def test_devices():
    graph = parse_ir(
        text("""
        graph(%x : Tensor, %n : int):
          %t : bool = prim::Constant[value=1]()
          %y : Tensor = aten::relu(%x)
          %z : Tensor = prim::Loop(%n, %t, %y)
            block0(%i : int, %c : Tensor):
              %d : Tensor = aten::cuda(%c)
              -> (%t, %d)
          return (%y, %z)""")
    )
    value = next(graph.inputs())
    value.setType(value.type().with_device(taeda.device("cpu")))
    assert devices.propagate_devices(graph) and not devices.propagate_devices(graph)
    y, z = graph.outputs()
    assert y.type().device() == taeda.device("cpu") and z.type().device() is None
    assert graph.findNode("aten::cuda").output().type().device().type == "cuda"


def test_registered_decompositions():
    unit = taeda.jit.CompilationUnit("def f(x):\n    return torch.sinc(x)\ndef g(x):\n    return torch.sin(x) / x")
    taeda.jit._register_decomposition(taeda.ops.aten.sinc.default, unit.g.graph)
    try:
        graph = unit.f.graph.copy()
        assert decompositions.run_decompositions(graph) and graph.findNode("aten::sin") is not None
    finally:
        decompositions._GRAPHS.clear()
    with pytest.raises(RuntimeError, match="takes 1 arguments"):
        taeda.jit._register_decomposition(taeda.ops.aten.sinc.default, parse_ir("graph():\n  return ()"))
    spread = taeda.jit.CompilationUnit("def f(x):\n    return torch.var(x, True)").f
    x = taeda.randn(5)
    assert decompositions.run_decompositions(spread.graph) and taeda.allclose(spread(x), x.var())


def test_transposed_products():
    graph = taeda.jit.freeze(taeda.jit.script(taeda.nn.Linear(2, 3).eval())).graph
    assert conv_arithmetic.transpose_linear(graph) and graph.findNode("aten::linear") is None


def test_dtypes_and_sizes_that_are_half_known():
    unit = taeda.jit.CompilationUnit("def f(x, y: float):\n    return torch.log(x) * y\ndef g(x, y):\n    return x * y")
    graph = unit.f.graph.copy()
    value = next(graph.inputs())
    value.setType(value.type().with_dtype(taeda.int64).with_sizes([None, 2]))
    assert shapes.propagate_dtypes(graph) and not shapes.propagate_dtypes(graph)
    assert graph.findNode("aten::log").output().type().dtype() is taeda.float32
    graph = unit.g.graph.copy()
    for value, sizes in zip(graph.inputs(), ([1, 6, 5], [7, 1, 5]), strict=True):
        value.setType(value.type().with_sizes(sizes))
    assert shapes.propagate_shapes(graph)
    made = next(graph.outputs()).type()
    assert made.symbolic_sizes() == [7, 6, 5] and made.dtype() is None
    taeda._C._jit_erase_non_input_shape_information(graph)
    assert next(graph.outputs()).facts is None and next(graph.inputs()).facts is not None
    first, second = made.with_sizes([None, None]).symbolic_sizes()
    assert first < 0 and second < 0 and first != second


def test_what_is_known_of_an_example():
    from taeda.jit._passes._property_propagation import apply_input_props_using_example

    graph = taeda.jit.CompilationUnit("def f(x, y: float):\n    return x * y").f.graph
    apply_input_props_using_example(graph, [taeda.ones(2), None])
    assert next(graph.inputs()).type().sizes() == [2]
    for wrong in ([taeda.ones(2)], [1.0, 1.0]):
        with pytest.raises(RuntimeError, match="got"):
            apply_input_props_using_example(graph, wrong)
