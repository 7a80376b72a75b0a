"""What calls take for numbers, sizes, devices and data, and what they give back; facts found by running PyTorch."""

from __future__ import annotations

import enum
import operator
from typing import Any

import numpy as np
import pytest
from fuzz.hostile_values import Clears, Lies

import taeda


def test_numpy_numbers_before_operators() -> None:
    x = taeda.tensor([1.0, 2.0])
    i = taeda.tensor([1, 2])
    for number in (np.float64(3), np.float32(3), np.int64(3), enum.IntEnum("E", "a b c").c):
        for op in (operator.truediv, operator.floordiv, operator.mod, operator.pow, operator.sub, operator.mul):
            assert taeda.equal(op(number, x), op(3, x)), (number, op)
    assert (np.int64(3) << i).tolist() == [6, 12] and (np.float32(3) / x).dtype == taeda.float32
    assert (np.int64(3) // i).dtype == taeda.int64


@pytest.mark.parametrize(
    "call",
    [
        taeda.ones(1, 1).sum, taeda.zeros, taeda.tensor, taeda.ones(1).repeat, taeda.UntypedStorage,
        lambda sizes: taeda.ops.aten.sum.dim_IntList(taeda.ones(1, 1), sizes),
        lambda sizes: taeda.ones(1).new_ones(sizes),
    ],
)  # fmt: skip
def test_lists_that_change_while_they_are_read(call: Any) -> None:
    for _ in range(20):
        sizes: list[Any] = []
        sizes += [Clears(sizes), *range(1, 6)]
        with pytest.raises((RuntimeError, TypeError, ValueError, IndexError)):
            call(sizes)


@pytest.mark.filterwarnings("ignore:taeda.lu is deprecated")
@pytest.mark.parametrize("out", [Lies(), 3, [taeda.empty(0)], (taeda.empty(0),) * 3])
def test_out_that_is_no_pair(out: Any) -> None:
    with pytest.raises(TypeError, match="a tuple of 2 tensors"):  # Lies has items without end
        taeda.lu(taeda.eye(2), out=out)


@pytest.mark.filterwarnings("ignore:taeda.Tensor.resize is deprecated")
@pytest.mark.parametrize(
    "call",
    [
        lambda it: taeda.gradient(taeda.ones(3, 3), dim=it), lambda it: taeda.histogramdd(taeda.ones(2, 3), it),
        lambda it: taeda.tensordot(taeda.ones(2), taeda.ones(2), it), taeda.sym_sum,
        lambda it: taeda.tensordot(taeda.ones(2), taeda.ones(2), [it, it]),
        taeda.ones(2).__deepcopy__, taeda.ones(2).__setstate__, taeda.ones(2).resize,
        lambda it: taeda.ones(2).backward(inputs=it), taeda.autograd.backward, lambda it: taeda.autograd.grad(it, it),
        taeda.nn.utils.get_total_norm, lambda it: taeda.nn.utils.clip_grad_norm_(it, 1.0),
        taeda.func.stack_module_state,
        lambda it: taeda.sparse.sum(taeda.ones(2, 2).to_sparse(), it),
        lambda it: taeda.sparse.spdiags(taeda.ones(2), taeda.tensor(0), it),
        lambda it: taeda.nn.AdaptiveLogSoftmaxWithLoss(2, 9, it), taeda.nn.LayerNorm, taeda.nn.RMSNorm,
    ],
)  # fmt: skip
def test_items_without_end(call: Any) -> None:
    with pytest.raises(TypeError, match="is wanted"):
        call(Lies())


def test_tensors_as_numbers() -> None:
    row = taeda.tensor([2.0, 3.0])
    leaf = row.clone().requires_grad_()
    for number in (taeda.tensor(3.0), row[1], leaf.detach()[1], row.unbind()[1]):
        assert taeda.full((2,), number).tolist() == [3, 3]
        assert taeda.add(row, row, alpha=number).tolist() == [8, 12]
    for refused in (row[1:], leaf[1], leaf.sum()):
        with pytest.raises(TypeError):
            taeda.full((2,), refused)


def test_a_tensor_of_one_int_is_a_size() -> None:
    for size in (taeda.tensor(2), taeda.tensor([2]), taeda.tensor([[2]])):
        assert taeda.zeros(size).shape == (2,)
        assert taeda.zeros(2, 3).view(size, 3).shape == (2, 3)
        assert taeda.zeros(2).view(size).shape == taeda.zeros(1).expand(size).shape == (2,)
    for refused in (taeda.tensor([2, 3]), taeda.tensor([]), taeda.tensor([2.0])):
        with pytest.raises(TypeError):
            taeda.zeros(refused)


def test_numbers_in_the_first_tensors_place() -> None:
    x = taeda.tensor([1.0, 2.0])
    assert taeda.add(2, x).tolist() == [3, 4] and taeda.sub(2, x, alpha=2).tolist() == [0, -2]
    assert taeda.mul(2, x).tolist() == [2, 4] and taeda.div(2, x).tolist() == [2, 1]
    assert taeda.add(1, 2).dtype == taeda.int64 and taeda.true_divide(np.float64(1), x).dtype == taeda.float32
    assert taeda.floor_divide(5, taeda.tensor([2])).tolist() == [2] and x.clone().copy_(3).tolist() == [3, 3]
    for function in (taeda.exp, taeda.sqrt, taeda.maximum):
        with pytest.raises(TypeError):
            function(2, x)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.cumsum(True), lambda x: x.sum(True), lambda x: x.topk(True), lambda x: x.unsqueeze(False),
        lambda x: taeda.triu_indices(2, True), lambda x: taeda.eye(True), lambda x: taeda.randint(True, (2,)),
        lambda x: x.view(True, 4), lambda x: x.roll(True, 0), lambda x: taeda.randint(5, 3),
        lambda x: ~x,
    ],
)  # fmt: skip
def test_what_is_no_int_or_list(call: Any) -> None:
    with pytest.raises(TypeError):
        call(taeda.ones(4))


@pytest.mark.parametrize("count", [2, 8, 9, 10, 11, 12, 20])
def test_methods_of_many_arguments(count: int) -> None:
    x = taeda.ones(2, *[1] * (count - 2), 3)
    dims = tuple(reversed(range(count)))
    for turned in (x.permute(*dims), x.permute(dims), x.permute(list(dims)), x.permute(dims=dims)):
        assert turned.shape == (3, *[1] * (count - 2), 2)
    with pytest.raises(TypeError):
        x.permute(*dims, dims=dims)


def test_a_list_of_ints_may_hold_bools_after_the_first() -> None:
    assert taeda.ones(3).view(3, True).shape == (3, 1) and taeda.zeros((2, True)).shape == (2, 1)


def test_the_cpu_has_no_index() -> None:
    for device in ("cpu:0", "cpu:1", taeda.device("cpu", 0)):
        assert taeda.ones(1, device=device).device == taeda.device("cpu") == taeda.tensor(1, device=device).device
        assert taeda.ones(1).to(device).device.index is None
    assert taeda.device("cpu:1").index == 1


@pytest.mark.parametrize("data, dtype, error", [
    ([300], "int8", RuntimeError), ([256], "uint8", RuntimeError), ([[2**31]], "int32", RuntimeError),
    ([-1.5], "uint8", RuntimeError), ([255.5], "uint8", RuntimeError), ([float("nan")], "int64", RuntimeError),
    (float("inf"), "int32", RuntimeError), (1e10, "int32", RuntimeError), ([np.int64(300)], "int8", RuntimeError),
    ([1j], "float32", TypeError), (1j, "int64", TypeError), (None, None, RuntimeError), ([1, None], None, RuntimeError),
    ({1, 2}, None, RuntimeError), ({1: 2}.keys(), None, RuntimeError), ("a", None, TypeError),
])  # fmt: skip
def test_data_that_does_not_fit(data: Any, dtype: str | None, error: type[Exception]) -> None:
    for function in (taeda.tensor, taeda.as_tensor):
        with pytest.raises(error):
            function(data, dtype=getattr(taeda, dtype) if dtype else None)


def test_data_that_fits() -> None:
    assert taeda.tensor([-1, -255], dtype=taeda.uint8).tolist() == [255, 1]
    assert taeda.tensor([0.5, 127.0], dtype=taeda.int8).tolist() == [0, 127]
    assert taeda.tensor([300, float("nan"), 0], dtype=taeda.bool).tolist() == [True, True, False]
    assert taeda.tensor([2**63], dtype=taeda.uint64).item() == 2**63


def test_large_ints_are_stored_where_they_fit() -> None:
    x = taeda.zeros(2, dtype=taeda.uint64)
    x[taeda.tensor([0])] = 2**64 - 1
    x[1] = 2**63
    assert x.tolist() == [2**64 - 1, 2**63]
    for dtype in (taeda.int64, taeda.uint8, taeda.float32, taeda.bool, taeda.complex64):
        for index in (0, taeda.tensor([0]), slice(None)):
            with pytest.raises(ValueError):
                taeda.zeros(2, dtype=dtype)[index] = 2**63
    with pytest.raises(RuntimeError):
        taeda.arange(3)[taeda.tensor([1])] = taeda.tensor(2.5)


class Labelled(taeda.Tensor):
    """A subclass with the inherited protocol."""


def test_subclass_results() -> None:
    x = taeda.arange(4.0).view(2, 2).as_subclass(Labelled)
    results = [*x.max(0), *x.sort(), x.T, x.mT, x.H, x.data, x.real, x.max(1).indices, x.aminmax().min]
    assert {type(r) for r in results} == {Labelled} and type(x.max(0)) is taeda.return_types.max
    x.requires_grad_()
    (x * 2).sum().backward()
    assert type(x.shape) is taeda.Size and type(x.grad) is taeda.Tensor


def test_modes_see_tensor() -> None:
    calls: list[str] = []

    class Log(taeda.overrides.TorchFunctionMode):
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            calls.append(function.__name__)
            return function(*args, **(kwargs or {}))

    with Log():
        taeda.as_tensor(taeda.tensor([1.0], dtype=taeda.float64))
    assert calls == ["tensor", "as_tensor"]


FRESH = [
    lambda x, i: x.scatter(0, i, x[:1, :1]),
    lambda x, i: x.scatter_add(0, i, x[:1, :1]), lambda x, i: x.masked_fill(x > 0, 1),
    lambda x, i: x.index_add(0, i[0], x[:1]), lambda x, i: x.index_fill(0, i[0], 1.0), lambda x, i: x.to(taeda.float64),
    lambda x, i: x.index_copy(0, i[0], x[:1]), lambda x, i: x.masked_scatter(x > 0, x),
    lambda x, i: x.put(i[0], x[0, :1]),
    lambda x, i: x.index_put((i[0],), x[:1]),
    lambda x, i: x.scatter_reduce(0, i, x[:1, :1], "sum"), lambda x, i: x.half(),
    lambda x, i: x.slice_scatter(x[:1], 0, 0, 1), lambda x, i: x.select_scatter(x[0], 0, 1),
    lambda x, i: x.diagonal_scatter(x[0]), lambda x, i: taeda.diag_embed(x), lambda x, i: taeda.block_diag(x, x),
    lambda x, i: taeda.nn.functional.pad(x, (1, 1)),
]  # fmt: skip


@pytest.mark.parametrize("call", FRESH)
def test_new_results_have_version_0(call: Any) -> None:
    x, i = taeda.arange(4.0).view(2, 2), taeda.tensor([[0]])
    assert call(x, i)._version == 0
    leaf = x.clone().requires_grad_()
    y = call(leaf, i)
    y.square().sum().backward()
    assert leaf.grad is not None


def test_products_are_no_views() -> None:
    v, m, b = taeda.ones(3, requires_grad=True), taeda.ones(3, 3), taeda.ones(2, 3, 3)
    names = [(v @ v, "Dot"), (m @ v, "Mv"), (b @ v, "UnsafeView")]
    for result, name in names:
        assert not result._is_view() and result.grad_fn.name() == f"{name}Backward0", name
    assert not (b @ m)._is_view() and not (v @ m)._is_view() and (b @ v).shape == (2, 3) and (v @ m).shape == (3,)


@pytest.mark.parametrize("call, name", [
    (lambda x: x.sum(), "Sum0"), (lambda x: x.sum(0), "Sum1"), (lambda x: x.mean(), "Mean0"),
    (lambda x: x.mean(0), "Mean1"),
    (lambda x: x.prod(), "Prod0"), (lambda x: x.max(), "Max1"), (lambda x: x.max(0)[0], "Max0"),
    (lambda x: x**2, "Pow0"),
    (lambda x: x**x, "Pow1"), (lambda x: 2**x, "Pow2"), (lambda x: 1 - x, "Rsub1"), (lambda x: x.clamp(0), "Clamp1"),
    (lambda x: x.median(), "Median0"), (lambda x: x.median(0)[0], "Median1"),
])  # fmt: skip
def test_node_numbers(call: Any, name: str) -> None:
    x = taeda.ones(3, requires_grad=True)
    assert call(x).grad_fn.name() == f"{name[:-1]}Backward{name[-1]}"


def test_a_hook_keeps_the_dtype() -> None:
    x = taeda.ones(3, requires_grad=True)
    x.register_hook(lambda g: g.double())
    with pytest.raises(RuntimeError):
        x.sum().backward()


def test_overloads_of_out_forms() -> None:
    aten = taeda.ops.aten
    for op in (aten.geqrf.a, aten.linalg_matrix_rank.out_tol_tensor, aten.linalg_pinv.out_rcond_tensor, aten.norm.out,
               aten.norm.dtype_out):  # fmt: skip
        assert "out" in str(op._schema) or op._overloadname == "a"


def test_bytes_of_bool_other_than_0_and_1_are_true() -> None:
    odd = taeda.tensor([0, 2, 255, 1], dtype=taeda.uint8).view(taeda.bool)
    plain = taeda.tensor([False, True, True, True])
    assert taeda.equal(odd == plain, taeda.ones(4, dtype=taeda.bool)) and not (odd ^ plain).any()
    assert (odd < plain).sum() == 0 and taeda.maximum(odd, plain).view(taeda.uint8).tolist() == [0, 1, 1, 1]
    assert odd.sort().values.view(taeda.uint8).tolist() == [0, 1, 1, 1]
    assert odd.unique(return_counts=True)[1].tolist() == [1, 3]


def test_tensor_equals_array() -> None:
    x, a = taeda.tensor([1.0, 2.0]), np.array([1.0, 3.0])
    for equal in (x == a, a == x):
        assert isinstance(equal, taeda.Tensor) and equal.tolist() == [True, False]
    assert (x != a).tolist() == [False, True] and (x == np.array(["1", "2"])) is False
    with pytest.raises(RuntimeError, match="size"):
        _ = x == np.ones(3)


@pytest.mark.parametrize("keyword", ["dim", "axis"])
def test_keywords_and_their_other_names(keyword: str) -> None:
    x = taeda.arange(6.0).view(2, 3)
    made_up = "".join(list(keyword))  # a string of its own, not the interned one
    assert taeda.sum(x, **{made_up: 0}).tolist() == taeda.sum(input=x, **{keyword: 0}).tolist() == [3.0, 5.0, 7.0]
    with pytest.raises(TypeError, match="twice"):
        x.sum(0, **{made_up: 0})
    with pytest.raises(TypeError, match="no parameter 'axes'"):
        x.sum(axes=0)


def test_a_name_that_another_parameter_has_is_not_an_other_name() -> None:
    library = taeda.library.Library("argument_names", "DEF")
    library.define("less(Tensor self, Tensor x) -> Tensor")
    library.impl("less", lambda self, x: self - x, "CPU")
    assert taeda.ops.argument_names.less(x=taeda.ones(1), self=taeda.zeros(1)).item() == -1.0


def test_what_is_no_int_among_ints_is_named() -> None:
    with pytest.raises(TypeError, match="got Tensor"):
        taeda.ones(4).view(2, taeda.ones(2))
