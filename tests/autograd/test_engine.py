"""Backward passes, hooks, retained gradients, errors and garbage."""

from __future__ import annotations

import gc
import threading
import warnings
import weakref

import pytest

import taeda
from taeda import autograd


def leaf(*values: float) -> taeda.Tensor:
    return taeda.tensor(values, requires_grad=True)


def values(t: taeda.Tensor) -> list[float]:
    return t.tolist()


def test_accumulates_over_passes():
    x = leaf(1.0, 2.0)
    for _ in range(2):
        (x * x).backward(taeda.tensor([1.0, 1.0]))
    assert values(x.grad) == [4.0, 8.0]


def test_grad_leaves_dot_grad_alone():
    x, y = leaf(3.0), leaf(5.0)
    product = x * y
    gx, gp = autograd.grad(product * y, [x, product])
    assert (gx.item(), gp.item()) == (25.0, 5.0) and x.grad is None and y.grad is None


def test_unused_inputs():
    x, unused = leaf(3.0), leaf(1.0)
    with pytest.raises(RuntimeError, match="allow_unused"):
        autograd.grad(x * 2, [x, unused])
    assert autograd.grad(x * 2, unused, allow_unused=True) == (None,)
    assert values(autograd.grad(x * 2, unused, materialize_grads=True)[0]) == [0.0]


def test_higher_derivatives():
    x = leaf(2.0)
    d = x * x * x
    for expected in (12.0, 12.0, 6.0):
        (d,) = autograd.grad(d, x, create_graph=True)
        assert d.item() == expected


def test_batched_gradients():
    x = leaf(1.0, 2.0)
    eye = taeda.tensor([[1.0, 0.0], [0.0, 1.0]])
    (rows,) = autograd.grad(x * x, x, eye, is_grads_batched=True)
    assert rows.tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_backward_into_chosen_inputs():
    x, y = leaf(3.0), leaf(5.0)
    z = x * y
    autograd.backward(z * y, inputs=[x, z])
    assert x.grad.item() == 25.0 and z.grad.item() == 5.0 and y.grad is None


def test_gradients_do_not_share_memory():
    x, y = leaf(1.0, 2.0), leaf(1.0, 2.0)
    (x.view(1, 2) + y.view(1, 2)).backward(taeda.tensor([[1.0, 1.0]]))
    x.grad.add_(5.0)
    assert values(y.grad) == [1.0, 1.0]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: x.backward(), RuntimeError, "one element"),
        (lambda x: taeda.tensor(1.0).backward(), RuntimeError, "does not require grad"),
        (lambda x: (x * 2).backward(taeda.tensor([1.0])), RuntimeError, "shape"),
        (lambda x: (x * 2).backward("no"), TypeError, "str"),
        (lambda x: autograd.backward([x[0], x[1]], [None]), RuntimeError, "2 tensors and 1"),
        (lambda x: autograd.backward(x[0], inputs=[]), RuntimeError, "empty"),
        (lambda x: autograd.grad(x[0], taeda.tensor(1.0)), RuntimeError, "require grad"),
        (lambda x: setattr(x, "grad", taeda.tensor([1.0])), RuntimeError, "shape"),
        (lambda x: setattr(x, "grad", taeda.tensor([1, 2])), RuntimeError, "float32"),
        (lambda x: setattr(x, "grad", x), RuntimeError, "own"),
        (lambda x: setattr(x, "grad", 3), TypeError, "int"),
        (lambda x: setattr(x * 2, "requires_grad", False), RuntimeError, "leaf"),
        (lambda x: setattr(x, "requires_grad", 3), RuntimeError, "True or False"),
        (lambda x: taeda.tensor([1]).requires_grad_(), RuntimeError, "floating-point"),
        (lambda x: taeda.tensor([1.0]).retain_grad(), RuntimeError, "require grad"),
        (lambda x: taeda.tensor([1.0]).register_hook(print), RuntimeError, "requires grad"),
        (lambda x: (x * 2).register_post_accumulate_grad_hook(print), RuntimeError, "leaf"),
        (lambda x: x.register_hook(3), TypeError, "callable"),
        (lambda x: x.add_(1), RuntimeError, "leaf"),
        (lambda x: x[0].add_(1), RuntimeError, "view of a leaf"),
        (lambda x: x.view(2).detach_(), RuntimeError, "view"),
    ],
)
def test_errors(call, error, words):
    with pytest.raises(error, match=words):
        call(leaf(1.0, 2.0))


def test_second_pass_needs_the_graph():
    x = leaf(3.0)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(RuntimeError, match="retain_graph=True"):
        y.backward()
    assert x.grad.item() == 12.0


def test_writes_to_saved_tensors_are_noticed():
    x, w = leaf(3.0), taeda.tensor([2.0])
    y = x * w
    w.mul_(2)
    with pytest.raises(RuntimeError, match="MulBackward0.*mul_"):
        y.backward()


def test_hooks_replace_and_go_away():
    x = leaf(3.0)
    y = x * 2
    seen = []
    double = y.register_hook(lambda g: g * 2)
    look = x.register_hook(lambda g: seen.append(g.item()))
    y.backward(retain_graph=True)
    double.remove()
    y.backward(retain_graph=True)
    look.remove()
    y.backward()
    assert seen == [4.0, 2.0] and x.grad.item() == 8.0


def test_node_hooks():
    x = leaf(3.0)
    y = x * 2
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 10,))
    y.grad_fn.register_hook(lambda inputs, outputs: tuple(None if g is None else g + outputs[0] for g in inputs))
    y.backward()
    assert x.grad.item() == 30.0


def test_post_accumulate_hook():
    x = leaf(3.0)
    seen = []

    def step(p):
        seen.append(p.grad.item())
        p.grad = None

    with x.register_post_accumulate_grad_hook(step):
        (x * 2).backward()
    (x * 2).backward()
    assert seen == [2.0] and x.grad.item() == 2.0


def test_multi_hook():
    x, y, unused = leaf(1.0), leaf(2.0), leaf(3.0)
    seen = []
    z = x * y
    autograd.graph.register_multi_grad_hook([x, y, z, unused], seen.append)
    z.backward(retain_graph=True)
    assert [None if g is None else g.item() for g in seen[0]] == [2.0, 1.0, 1.0, None]
    z.backward()
    assert len(seen) == 2


def test_retained_gradients_follow_writes_in_place():
    x = leaf(3.0)
    y = x * 2
    y.retain_grad()
    y.mul_(5)
    y.retain_grad()
    (y * 1).backward()
    assert y.retains_grad and y.grad.item() == 1.0 and x.grad.item() == 10.0


def test_graph_is_visible():
    x = leaf(3.0)
    y = x * 2 + x
    node = y.grad_fn
    assert node is y.grad_fn and node.name() == type(node).__name__ == "AddBackward0"
    assert isinstance(node, autograd.graph.Node)
    (mul, nr), (accumulate, _) = node.next_functions
    assert mul.name() == "MulBackward0" and nr == 0 and accumulate.variable is x
    node.metadata["note"] = 1
    del node
    assert y.grad_fn.metadata == {"note": 1}
    assert (x * x).grad_fn._saved_self is x
    assert x.is_leaf and not y.is_leaf and y.output_nr == 0


def test_views_share_history():
    x = leaf(1.0, 2.0, 3.0)
    base = x * 2
    view = base[1:]
    assert view._base is base and view._is_view() and not base._is_view()
    view.mul_(10)
    assert base.grad_fn.name() == "CopySlices" and view.grad_fn.name() == "AsStridedBackward0"
    assert base._version == view._version == 1
    base.backward(taeda.tensor([1.0, 1.0, 1.0]))
    assert values(x.grad) == [2.0, 20.0, 20.0]


def test_no_grad_views_cannot_be_written_to():
    x = taeda.tensor([1.0, 2.0])
    with taeda.no_grad():
        view = x[:1]
    with pytest.raises(RuntimeError, match="no_grad"):
        view.mul_(leaf(2.0))


def test_data_and_detach():
    x = leaf(1.0, 2.0)
    twin, data = x.detach(), x.data
    assert not twin.requires_grad and not data.requires_grad
    twin.add_(1)
    assert x._version == 1 and data._version == 0 and values(data) == [2.0, 3.0]
    x.data = taeda.tensor([7.0, 8.0, 9.0])
    (x * 2).backward(taeda.tensor([1.0, 1.0, 1.0]))
    assert values(x.grad) == [2.0, 2.0, 2.0]


def test_nested_and_deep():
    x = leaf(1.0)
    depth = 0

    def nest(grad):
        nonlocal depth
        depth += 1
        if depth < 150:
            with taeda.enable_grad():
                y = leaf(1.0) * 1
            y.register_hook(nest)
            y.backward()

    y = x * 1
    y.register_hook(nest)
    y.backward()
    assert depth == 150
    t = x
    for _ in range(20000):
        t = t * 1.0
    t.backward()
    assert x.grad.item() == 2.0


def test_threads():
    x = leaf(1.0)
    y = x * 2 * 3
    threads = [threading.Thread(target=lambda: [y.backward(retain_graph=True) for _ in range(50)]) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert x.grad.item() == 1200.0


def test_anomaly_mode():
    x = leaf(1.0)
    with pytest.warns(UserWarning, match="for finding mistakes"), autograd.detect_anomaly():
        y = x * float("nan")
        with warnings.catch_warnings(record=True) as caught, pytest.raises(RuntimeError, match="MulBackward0.*NaN"):
            warnings.simplefilter("always")
            y.backward()
    assert "test_anomaly_mode" in str(caught[0].message)
    assert not taeda.is_anomaly_enabled() if hasattr(taeda, "is_anomaly_enabled") else True


def test_errors_of_hooks_pass_through():
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        y.backward()


class Marker:
    pass


@pytest.mark.parametrize("where", ["tensor", "leaf", "node", "metadata"])
def test_cycles_through_hooks_are_collected(where):
    x = leaf(1.0)
    y = x * 2
    marker = Marker()
    ref = weakref.ref(marker)

    def hook(*args, keep=(marker, x if where == "leaf" else y)):
        pass

    if where == "tensor":
        y.register_hook(hook)
    elif where == "leaf":
        x.register_hook(hook)
    elif where == "node":
        y.grad_fn.register_prehook(hook)
    else:
        y.note = hook
    del x, y, hook, marker
    gc.collect()
    assert ref() is None


def test_saved_tensor_hooks():
    packed = []

    def pack(t):
        packed.append(t)
        return t.tolist()

    x = leaf(3.0)
    with autograd.graph.saved_tensors_hooks(pack, lambda kept: taeda.tensor(kept)):
        y = x * x * x
    (g,) = autograd.grad(y, x, create_graph=True)
    assert g.item() == 27.0 and len(packed) == 4
    assert autograd.grad(g, x)[0].item() == 18.0
    with autograd.graph.save_on_cpu():
        y = x * x
    assert autograd.grad(y, x)[0].item() == 6.0
    with autograd.graph.disable_saved_tensors_hooks("not here"), pytest.raises(RuntimeError, match="not here"):
        autograd.graph.saved_tensors_hooks(pack, pack).__enter__()


def test_raw_saved_tensors_take_hooks():
    x = leaf(3.0)
    y = x * x
    y.grad_fn._raw_saved_self.register_hooks(lambda t: t * 2, lambda t: t)
    y.backward()
    assert x.grad.item() == 9.0


def test_gradient_edges():
    x = leaf(3.0)
    y = x * 2
    edge = autograd.graph.get_gradient_edge(y)
    assert edge.node is y.grad_fn and edge.output_nr == 0
    assert autograd.grad(y * y, edge)[0].item() == 12.0
    with pytest.raises(RuntimeError, match="require grad"):
        autograd.graph.get_gradient_edge(taeda.tensor(1.0))


def test_versions():
    x = taeda.tensor([1.0])
    x.add_(1)
    autograd.graph.increment_version(x)
    assert x._version == 2


def test_callbacks():
    x = leaf(1.0)
    seen = []
    y = x * 2
    y.register_hook(lambda g: autograd.Variable._execution_engine.queue_callback(lambda: seen.append(x.grad.item())))
    y.backward()
    assert seen == [2.0]


def test_hooks_that_unpacking_registers_run():
    x, seen = leaf(3.0), []

    def unpack(tensor):
        node = taeda._C._current_autograd_node()
        node.register_hook(lambda inputs, outputs: seen.append(outputs))
        return tensor

    with autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
        y = x * x
    y.backward()
    assert x.grad.item() == 6.0 and seen and seen[0] == (None,)


def test_hooks_of_the_node_of_an_input():
    x, log = leaf(1.0), []
    y = x * 1
    y.grad_fn.register_prehook(lambda grads: log.append("node"))
    y.register_hook(lambda grad: log.append("tensor"))
    (y * 3).backward(inputs=(y,))
    assert log == ["tensor", "node"] and y.grad.item() == 3.0 and x.grad is None


def test_what_the_engine_is_asked_of_a_node():
    from taeda._C import _will_engine_execute_node as will

    x, found = leaf(1.0), []
    y = x * 2
    z = y * 3
    y.register_hook(lambda grad: found.append((will(y.grad_fn), will(autograd.graph.get_gradient_edge(x).node))))
    z.backward(retain_graph=True)
    assert found == [(True, True)]
    with pytest.raises(RuntimeError, match="its node does not run"):
        autograd.grad(z, x)
    for argument in (y.grad_fn, x):
        with pytest.raises(RuntimeError, match="_will_engine_execute_node"):
            will(argument)


def test_leaves_that_set_gives_another_shape():
    x = leaf(1.0, 2.0, 3.0)
    for _ in range(2):
        with taeda.no_grad():
            x.set_(x[1:].detach())
            x.grad = None
        (x * 2).sum().backward()
        assert x.grad.tolist() == [2.0] * len(x)


def test_hook_tables_of_tensors_without_gradients():
    x = taeda.ones(2)
    x._backward_hooks = table = {}
    table["a"] = lambda grad: 1 / 0
    assert x._backward_hooks is table
    for name in ("_backward_hooks", "_grad_fn", "data"):
        with pytest.raises(RuntimeError, match=name):
            delattr(x, name)


def test_a_hook_table_is_taken_as_it_is():
    for x in (leaf(1.0), leaf(1.0) * 1):
        seen = []
        x.register_hook(lambda grad: seen.append("first"))  # noqa: B023
        first = x._backward_hooks
        for table, wanted in ((first, ["first"]), ({0: lambda grad: seen.append("other")}, ["other"]), (None, [])):  # noqa: B023
            x._backward_hooks = table
            assert table is None or x._backward_hooks is table
            seen.clear()
            (x * 2).backward(inputs=(x,))
            assert seen == wanted
        assert len(first) == 1
        with pytest.raises(TypeError, match="_backward_hooks"):
            x._backward_hooks = 3


def test_create_graph_in_backward_warns_once():
    taeda.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match="create_graph=True"):
            (leaf(1.0) ** 2).backward(create_graph=True)
    finally:
        taeda.set_warn_always(False)


@pytest.mark.parametrize("reduce", [taeda.max, taeda.min, taeda.median])
@pytest.mark.parametrize("value", [1.0, float("nan")])
def test_equal_elements_share_the_gradient(reduce, value):
    x = leaf(value, value)
    reduce(x).backward()
    assert x.grad.tolist() == [0.5, 0.5]


def test_hooks_see_that_no_gradient_came():
    x, seen = leaf(1.0, 2.0), []
    first, second = (x * 1).unbind()
    for t in (x, first):
        t.register_hook(seen.append)
    second.backward()
    assert seen[0] is None and seen[1].tolist() == [0.0, 1.0]


def test_a_hook_behind_the_last_node_sees_what_is_stored():
    x = taeda.ones(2, requires_grad=True)
    node, seen = x.view_as(x).grad_fn.next_functions[0][0], []

    def more(t):
        t.grad += 1

    x.register_post_accumulate_grad_hook(more)
    node.register_hook(lambda _, grads: seen.extend(grads[0].tolist()))
    (x * 2).sum().backward()
    assert seen == x.grad.tolist() == [3.0, 3.0]


@pytest.mark.parametrize("function", [taeda.unique, taeda.unique_consecutive, lambda x: taeda.unique(x, dim=0)])
def test_distinct_values_are_of_the_graph_and_have_no_derivative(function):
    x = taeda.tensor([1.0, 1.0, 2.0], requires_grad=True)
    values = function(x)
    assert values.requires_grad and values.tolist() == [1.0, 2.0]
    with pytest.raises(RuntimeError, match="unique"):
        values.sum().backward()


def test_saved_values_have_torchs_names_and_are_listed():
    x = taeda.ones(2, 3, requires_grad=True)
    node = x.sum(0).grad_fn
    assert {"_saved_dim", "_saved_keepdim", "_saved_self_sym_sizes"} <= set(dir(node)) and "name" in dir(node)
    assert node._saved_self_sym_sizes == (2, 3) and node._saved_dim == (0,)
    product = (x * x).grad_fn
    assert {"_saved_self", "_raw_saved_self", "_saved_other"} <= set(dir(product))
    assert taeda.equal(product._saved_self, x)


@pytest.mark.parametrize("call", [
    lambda x: taeda.autograd.grad(2 * x, []),
    lambda x: taeda.autograd.grad(2 * x, (), allow_unused=True, materialize_grads=True),
    lambda x: taeda.autograd.backward(2 * x, inputs=[]),
])  # fmt: skip
def test_nothing_to_differentiate_by(call):
    with pytest.raises(RuntimeError, match="inputs must not be empty"):
        call(taeda.ones(1, requires_grad=True))
