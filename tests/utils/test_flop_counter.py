"""Counting floating-point operations, and which modules are at work."""

import pytest

import taeda
from taeda import nn
from taeda.utils.flop_counter import FlopCounterMode, register_flop_formula
from taeda.utils.module_tracker import ModuleTracker

aten = taeda.ops.aten


def total(run, **options):
    with FlopCounterMode(display=False, **options) as counter:
        run()
    return counter.get_total_flops()


def rand(*shape):
    return taeda.randn(*shape, requires_grad=True)


PRODUCTS = [
    (lambda: rand(3, 4) @ rand(4, 5), 120),
    (lambda: rand(2, 3, 4) @ rand(2, 4, 5), 240),
    (lambda: taeda.einsum("bij,bjk->bik", rand(2, 3, 4), rand(2, 4, 5)), 240),
    (lambda: taeda.addmm(rand(5), rand(3, 4), rand(4, 5)), 120),
    (lambda: taeda.baddbmm(rand(2, 3, 5), rand(2, 3, 4), rand(2, 4, 5)), 240),
    (lambda: nn.functional.linear(rand(7, 3, 4), rand(5, 4), rand(5)), 840),
    (lambda: nn.functional.conv2d(rand(2, 3, 6, 6), rand(4, 3, 3, 3)), 2 * 2 * 16 * 4 * 27),
    (lambda: nn.functional.conv2d(rand(2, 4, 6, 6), rand(6, 2, 3, 3), groups=2, stride=2), 2 * 2 * 4 * 6 * 18),
    (lambda: nn.functional.conv_transpose2d(rand(2, 3, 5, 5), rand(3, 4, 3, 3)), 2 * 2 * 25 * 3 * 36),
]


@pytest.mark.parametrize(("run", "flops"), PRODUCTS)
def test_products(run, flops):
    """The backward pass has two for each: the gradients of both operands."""
    assert total(run) == flops and total(lambda: run().sum().backward()) == 3 * flops


def test_attention():
    def run():
        return nn.functional.scaled_dot_product_attention(rand(2, 3, 5, 8), rand(2, 3, 7, 8), rand(2, 3, 7, 4))

    product = 2 * 6 * 5 * 7
    assert total(run) == product * (8 + 4) and total(lambda: run().sum().backward()) == product * (4 * 8 + 3 * 4)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 5)
        self.body = nn.Sequential(nn.Linear(5, 6), nn.Linear(6, 7))

    def forward(self, x):
        return self.body(self.first(x)) @ taeda.ones(7, 3)


def test_by_module(capsys):
    with FlopCounterMode(depth=2) as counter:
        Net()(taeda.randn(8, 4)).sum().backward()
    counts = {name: sum(ops.values()) for name, ops in counter.get_flop_counts().items()}
    assert counts == {"Global": 4768, "Net": 4768, "Net.first": 640, "Net.body": 3456, "Net.body.0": 1440,
                      "Net.body.1": 2016}  # fmt: skip
    assert counter.get_flop_counts()["Net.first"] == {aten.linear: 320, aten.mm: 320}
    table = capsys.readouterr().out
    assert "Net.body" in table and "Net.body.0" not in table and "72.48%" in table and "Global" not in table
    assert "Net.body.0" in counter.get_table(3)
    with counter:
        taeda.ones(1000, 10) @ taeda.ones(10, 1000)
    assert (
        counter.get_total_flops() == 20_000_000
        and "20.000M" in counter.get_table()
        and "Net" not in counter.flop_counts
    )


def test_formulas_of_ones_own():
    assert (
        total(lambda: taeda.ones(3, 4) @ taeda.ones(4, 2), custom_mapping={aten.mm: lambda a, b, out_shape: a[0]}) == 3
    )

    @register_flop_formula(aten.mv)
    def of_shapes(a, b, *, out_shape):
        return 1000 * a[0] + 10 * b[0] + out_shape[0]

    assert total(lambda: taeda.ones(3, 4).mv(taeda.ones(4))) == 3043

    @register_flop_formula([aten.mv], get_raw=True)
    def of_tensors(a, b, *, out_val):
        return int(out_val.sum())

    assert total(lambda: taeda.ones(3, 4).mv(taeda.ones(4))) == 12
    del taeda.utils.flop_counter.flop_registry[aten.mv]
    assert total(lambda: None) == 0 and "0%" in FlopCounterMode().get_table()


def test_modules_at_work():
    seen = []
    net = Net()
    with ModuleTracker() as tracker:
        net.body[0].register_forward_hook(lambda *_: seen.append((sorted(tracker.parents), tracker.is_bw)))
        net.body[0].weight.register_hook(lambda grad: seen.append((sorted(tracker.parents), tracker.is_bw)))
        net(taeda.randn(2, 4)).sum().backward()
        assert tracker.parents == {"Global"} and not tracker.is_bw
    inside = ["Global", "Net", "Net.body", "Net.body.0"]
    assert seen[1] == (inside, True) and seen[0][1] is False and set(inside[:3]) <= set(seen[0][0])
    net(taeda.randn(2, 4))
    assert tracker.parents == {"Global"}
