"""Functions with a derivative written in Python."""

from __future__ import annotations

import gc
import weakref

import pytest

import taeda
from taeda import autograd
from taeda.autograd import Function
from taeda.autograd.function import once_differentiable


class Scale(Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        assert ctx.needs_input_grad == (True, False)
        return grad * ctx.factor, None


class Square(Function):
    @staticmethod
    def forward(x, power=2):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        assert inputs[1] == 2
        ctx.save_for_backward(inputs[0], output)

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        assert y.grad_fn is ctx
        return 2 * x * grad, None

    @staticmethod
    def jvp(ctx, tangent, _):
        return tangent * 6


def leaf(*values):
    return taeda.tensor(values, requires_grad=True)


def test_first_and_second_derivative():
    x = leaf(3.0)
    assert Scale.apply(x, 4.0).grad_fn.name() == "ScaleBackward"
    assert autograd.grad(Scale.apply(x, 4.0), x)[0].item() == 4.0
    (g,) = autograd.grad(Square.apply(x), x, create_graph=True)
    assert g.item() == 6.0 and autograd.grad(g, x)[0].item() == 2.0


def test_keywords_reach_setup_context():
    assert Square.apply(leaf(3.0), power=2).item() == 9.0
    with pytest.raises(TypeError):
        Scale.apply(leaf(3.0), factor=2)


def test_nothing_is_recorded_without_need():
    assert Scale.apply(taeda.tensor([1.0]), 2.0).grad_fn is None
    with taeda.no_grad():
        assert not Scale.apply(leaf(1.0), 2.0).requires_grad


class Several(Function):
    @staticmethod
    def forward(ctx, x):
        index = taeda.tensor([0])
        y = x * 3
        ctx.mark_non_differentiable(y)
        return x, x * 2, index, y, "text", None

    @staticmethod
    def backward(ctx, *grads):
        Several.seen = grads
        return grads[0] + grads[1]


def test_outputs_of_all_kinds():
    x = leaf(1.0, 2.0)
    same, twice, index, y, text, nothing = Several.apply(x)
    assert same is not x and same.grad_fn is twice.grad_fn and twice.output_nr == 1
    assert not index.requires_grad and not y.requires_grad and (text, nothing) == ("text", None)
    twice.backward(taeda.tensor([1.0, 1.0]))
    assert x.grad.tolist() == [1.0, 1.0]
    assert Several.seen[0].tolist() == [0.0, 0.0] and Several.seen[4:] == (None, None)
    with pytest.raises(RuntimeError, match="Function"):
        same.add_(1)


def test_gradients_may_stay_none():
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, a, b):
            assert a is None
            return b * 2

    x = leaf(1.0)
    F.apply(x)[1].backward()
    assert x.grad.item() == 2.0


class Double(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def test_writes_in_place():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    assert Double.apply(y) is y and y.grad_fn.name() == "DoubleBackward"
    y.backward(taeda.tensor([1.0, 1.0, 1.0]))
    assert x.grad.tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(RuntimeError, match="leaf"):
        Double.apply(leaf(1.0))


def test_writes_through_a_view():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    Double.apply(y[1:])
    y.backward(taeda.tensor([1.0, 1.0, 1.0]))
    assert x.grad.tolist() == [1.0, 2.0, 2.0]


def failing(result):
    class F(Function):
        @staticmethod
        def forward(ctx, x, other):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return result

    return F


@pytest.mark.parametrize(
    ("result", "error", "words"),
    [
        (taeda.tensor([1.0]), RuntimeError, "1 gradients for 2 inputs"),
        ((taeda.tensor([1.0]), None, taeda.tensor([1.0])), RuntimeError, "3 gradients for 2"),
        ((taeda.tensor([1.0, 2.0, 3.0]), None), RuntimeError, "shape"),
        ((taeda.tensor([1.0]), taeda.tensor([1.0])), RuntimeError, "no tensor"),
        ((3, None), RuntimeError, "int"),
    ],
)
def test_wrong_gradients(result, error, words):
    with pytest.raises(error, match=words):
        failing(result).apply(leaf(1.0, 2.0), 1).backward(taeda.tensor([1.0, 1.0]))


def test_surplus_nones_are_fine():
    x = leaf(1.0)
    failing((taeda.tensor([5.0]), None, None)).apply(x, 1).backward()
    assert x.grad.item() == 5.0


def test_missing_parts():
    class Empty(Function):
        pass

    with pytest.raises(NotImplementedError, match="forward"):
        Empty.apply(leaf(1.0))

    class NoBackward(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    with pytest.raises(NotImplementedError, match="backward"):
        NoBackward.apply(leaf(1.0)).backward()


def test_released_tensors():
    x = leaf(3.0)
    y = Square.apply(x)
    y.backward()
    with pytest.raises(RuntimeError, match="retain_graph"):
        y.backward()
    with pytest.raises(RuntimeError, match="retain_graph"):
        y.grad_fn.saved_tensors  # noqa: B018


def test_writes_to_saved_tensors_are_noticed():
    x = leaf(3.0)
    z = x * 1
    y = Square.apply(z)
    z.add_(1)
    with pytest.raises(RuntimeError, match="SquareBackward.*add_"):
        y.backward()


def test_vjp_is_another_name_of_backward():
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def vjp(ctx, grad):
            return grad * 2

    x = leaf(1.0)
    F.apply(x).backward()
    assert x.grad.item() == 2.0


def test_once_differentiable():
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @once_differentiable
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * x * grad

    x = leaf(3.0)
    (g,) = autograd.grad(F.apply(x) * x, x, create_graph=True)
    assert g.item() == 27.0
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.backward()


def test_forward_mode():
    with autograd.forward_ad.dual_level():
        dual = autograd.forward_ad.make_dual(taeda.tensor([3.0]), taeda.tensor([2.0]))
        assert autograd.forward_ad.unpack_dual(Square.apply(dual)).tangent.item() == 12.0


def test_backward_inside_backward():
    class Checkpoint(Function):
        @staticmethod
        def forward(ctx, run, x):
            ctx.run = run
            ctx.save_for_backward(x)
            return run(x)

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            again = x.detach().requires_grad_()
            with taeda.enable_grad():
                y = ctx.run(again)
            y.backward(grad)
            return None, again.grad

    w, x = leaf(5.0), leaf(3.0)
    Checkpoint.apply(lambda t: t * t * w, x).backward()
    assert x.grad.item() == 30.0 and w.grad.item() == 9.0


def test_cycles_are_collected():
    class Keep(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad

    class Marker:
        pass

    marker = Marker()
    ref = weakref.ref(marker)
    y = Keep.apply(leaf(1.0))
    y.grad_fn.keep = (y, marker)
    del y, marker
    gc.collect()
    assert ref() is None


def test_contexts_outlive_their_node():
    y = Scale.apply(leaf(1.0), 2.0)
    node = y.grad_fn
    del y
    with pytest.raises(RuntimeError, match="node"):
        node.next_functions  # noqa: B018


def test_functions_are_not_called():
    with pytest.raises(RuntimeError, match="apply"):
        Scale()(leaf(1.0), 2.0)


def test_forward_mode_reads_what_was_saved_for_it():
    class Cube(Function):
        @staticmethod
        def forward(x):
            return x**3

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_forward(*inputs)

        @staticmethod
        def jvp(ctx, tangent):
            (x,) = ctx.saved_tensors
            return 3 * x * x * tangent

    x = taeda.tensor([1.0, 2.0], dtype=taeda.float64)
    assert taeda.func.jvp(Cube.apply, (x,), (x,))[1].tolist() == [3.0, 24.0]
    nested = taeda.func.jacfwd(taeda.func.jacfwd(lambda x: Cube.apply(x).sum()))(x)
    assert nested.tolist() == [[6.0, 0.0], [0.0, 12.0]]


def test_forward_mode_refuses():
    class NoRule(Function):
        @staticmethod
        def forward(ctx, x):
            return x * x

    class WrongShape(NoRule):
        @staticmethod
        def jvp(ctx, tangent):
            return taeda.ones(3)

    with autograd.forward_ad.dual_level():
        dual = autograd.forward_ad.make_dual(taeda.tensor([3.0]), taeda.tensor([2.0]))
        with pytest.raises(NotImplementedError, match="jvp"):
            NoRule.apply(dual)
        with pytest.raises(RuntimeError, match="shape"):
            WrongShape.apply(dual)


def test_functions_of_the_first_years():
    class Double(taeda.autograd.function.InplaceFunction):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, grad):
            return 2 * grad

    x = taeda.ones(2, requires_grad=True)
    Double.apply(x).sum().backward()
    assert x.grad.tolist() == [2, 2]
    with pytest.warns(DeprecationWarning, match="Double should not be instantiated"):
        assert Double(inplace=True).inplace and not Double().inplace


class Twice(Function):
    @staticmethod
    def forward(ctx, x):
        y = x * 2
        return y, y

    @staticmethod
    def backward(ctx, first, second):
        return first * 2 + second * 2


def test_a_result_that_is_returned_twice_is_one_tensor():
    x = leaf(3.0)
    one, two = Twice.apply(x)
    assert one is two
    assert autograd.grad(one + two, x)[0].item() == 4.0


@pytest.mark.parametrize("made", [True, False])
def test_gradients_of_results_that_have_none(made):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            other = x.clone()
            ctx.mark_non_differentiable(other)
            ctx._materialize_non_diff_grads = made
            return x.clone(), other

        @staticmethod
        def backward(ctx, first, second):
            assert (second is not None) == made
            return first

    x = leaf(1.0)
    F.apply(x)[0].backward()


def dirty(mark, give):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            results = [x, x * 1]
            ctx.mark_dirty(results[mark])
            return results[give]

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    return F.apply(leaf(1.0).clone())


def test_what_is_marked_dirty_is_an_input_that_is_returned():
    assert dirty(0, 0).item() == 2.0
    with pytest.warns(UserWarning, match="no input of forward"):
        dirty(1, 1)
    with pytest.raises(RuntimeError, match="not returned by forward"):
        dirty(0, 1)


@pytest.mark.parametrize("save", ["save_for_backward", "save_for_forward"])
@pytest.mark.parametrize("part", [0, 1])
@pytest.mark.parametrize("requires_grad", [True, False])
def test_an_input_that_is_returned_is_saved_as_one_of_both(save, part, requires_grad):
    class Same(Function):
        @staticmethod
        def forward(x):
            return Same.view(x)

        @staticmethod
        def setup_context(ctx, inputs, output):
            getattr(ctx, save)((*inputs, output)[part])

        @staticmethod
        def backward(ctx, grad):
            return grad

    x = taeda.ones(2, requires_grad=requires_grad)
    Same.view = lambda x: x
    with pytest.raises(RuntimeError, match="view_as"):
        Same.apply(x)
    Same.view = lambda x: x.view_as(x)
    assert taeda.equal(Same.apply(x), x)


FOLLOWS = {
    "input": (lambda x: x, lambda t: t.view_as(t), lambda t: t * 1),
    "view": (lambda x: x[:1], lambda t: t[:1], lambda t: t[:1].clone()),
    "view of another": (lambda x: x[:1], lambda t: t[:1], lambda t: t.clone()[:1]),
}


@pytest.mark.parametrize("how", FOLLOWS)
def test_tangents_of_views_are_views(how):
    forward, right, wrong = FOLLOWS[how]
    for jvp, ok in ((right, True), (wrong, False)):
        members = {
            "forward": staticmethod(lambda ctx, x: forward(x)),
            "jvp": staticmethod(lambda ctx, t, jvp=jvp: jvp(t)),
        }
        F = type("F", (Function,), members)
        with autograd.forward_ad.dual_level():
            dual = autograd.forward_ad.make_dual(taeda.ones(2), taeda.ones(2))
            if ok:
                assert autograd.forward_ad.unpack_dual(F.apply(dual)).tangent.tolist()[0] == 1.0
            else:
                with pytest.raises(RuntimeError, match="jvp must return a view"):
                    F.apply(dual)


@pytest.mark.parametrize("writes", [True, False])
def test_tangents_of_what_is_written_in_place(writes):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def jvp(ctx, t):
            return t.mul_(2) if writes else t * 2

    with autograd.forward_ad.dual_level():
        tangent = taeda.ones(2)
        dual = autograd.forward_ad.make_dual(taeda.ones(2), tangent)
        if writes:
            assert F.apply(dual) is dual and tangent.tolist() == [2.0, 2.0]
        else:
            with pytest.raises(RuntimeError, match="jvp must write to its tangent"):
                F.apply(dual)


def test_what_a_function_saved_can_be_packed_later():
    y = Scale.apply(leaf(3.0), 4.0)
    (saved,) = y.grad_fn._raw_saved_tensors
    assert isinstance(saved, autograd.SavedTensor)
    saved.register_hooks(lambda x: x.tolist(), taeda.tensor)
    assert y.grad_fn.saved_tensors[0].tolist() == [3.0]
    with pytest.raises(RuntimeError, match="SavedTensor"):
        autograd.SavedTensor()


def test_functions_of_the_graph_itself():
    from taeda._C import _functions

    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="boom"):
        _functions.DelayedError("boom", 1)(x).sum().backward()
    assert autograd.grad(_functions.UndefinedGrad()(x * 2).sum(), x, allow_unused=True) == (None,)
    assert autograd._functions.Resize.apply(x, (2, 1)).shape == (2, 1)
    assert type(autograd.graph.get_gradient_edge(x).node) is _functions.AccumulateGrad


def test_a_view_that_forward_wrote_to():
    class F(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            view = x.clone()[:2]
            view += 2
            return view

        @staticmethod
        def backward(ctx, grad):
            return taeda.cat([grad, grad])

    x = leaf(1.0, 2.0, 3.0, 4.0)
    y = F.apply(x)
    assert "F" in y.grad_fn.name() and y.tolist() == [3.0, 4.0]
    y.sum().backward()
    assert x.grad.tolist() == [1.0] * 4


def test_mark_dirty_counts_a_write():
    class SetFirst(Function):
        @staticmethod
        def forward(ctx, x):
            x.data.numpy()[0] = 2  # past the ops that count
            ctx.mark_dirty(x)
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[0]

    for wants in (True, False):
        x = taeda.ones(3, requires_grad=wants).clone()
        squares = x * x
        before = x._version
        assert SetFirst.apply(x) is x and x._version == before + 1
        if wants:
            x.sum().backward()
            with pytest.raises(RuntimeError, match="a Function that marked it dirty"):
                squares.sum().backward()
