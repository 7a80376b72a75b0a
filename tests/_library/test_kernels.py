"""Kernels that outlive their replacement, and rules for one op and class."""

import pytest

import taeda
from taeda.library import _scoped_library, custom_op, get_kernel, register_torch_dispatch
from taeda.utils._python_dispatch import TorchDispatchMode


def test_a_kernel_outlives_its_replacement():
    before = get_kernel("aten::sin", "CPU")

    def sin(keys, x):
        return before.call_boxed(keys, x) if bool((x < 0).any()) else taeda.zeros_like(x)

    with _scoped_library("aten", "IMPL") as library:
        library.impl("sin", sin, "CPU", with_keyset=True, allow_override=True)
        mine = get_kernel(taeda.ops.aten.sin.default, taeda._C.DispatchKey.CPU)
        assert taeda.sin(taeda.ones(1)).item() == 0
        assert taeda.sin(-taeda.ones(1)).item() == pytest.approx(-0.841471)
    assert taeda.sin(taeda.ones(1)).item() == pytest.approx(0.841471)
    assert mine.call_boxed(taeda._C.DispatchKeySet("CPU"), taeda.ones(1)).item() == 0


def test_get_kernel_errors():
    for op, key, error in (
        ("aten::nosuch", "CPU", RuntimeError),
        ("aten::sin", "NoKey", ValueError),
        ("aten::sin", "SparseCPU", RuntimeError),
        (3, "CPU", ValueError),
    ):
        with pytest.raises(error):
            get_kernel(op, key)


class Through(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


class Derived(Through):
    pass


def test_a_rule_for_one_op_and_class():
    @custom_op("small_names::same", mutates_args=())
    def same(x: taeda.Tensor) -> taeda.Tensor:
        return x.clone()

    @register_torch_dispatch("small_names::same", Through)
    def plus_one(mode, func, types, args, kwargs):
        assert isinstance(mode, Through) and func is taeda.ops.small_names.same.default
        return args[0] + 1

    x = taeda.zeros(2)
    assert same(x).tolist() == [0, 0]
    with Through():
        assert same(x).tolist() == [1, 1]
    with Derived():
        assert same(x).tolist() == [0, 0]
    with pytest.raises(ValueError, match="__torch_dispatch__"):
        register_torch_dispatch("small_names::same", int, plus_one)
