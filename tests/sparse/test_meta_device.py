"""Sparse tensors on the meta device: layouts, shapes and dtypes without elements; fake tensors of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import taeda
from taeda import Tensor
from taeda._library.fake_tensor import FakeTensor, FakeTensorMode

LAYOUTS = ("coo", "csr", "csc", "bsr", "bsc")


def made(layout: str, shape: tuple[int, ...] = (4, 6)) -> Tensor:
    taeda.manual_seed(0)
    x = taeda.randn(shape).relu()
    if layout == "coo":
        return x.to_sparse()
    block = ((2, 3),) if layout.startswith("bs") else ()
    return getattr(x, f"to_sparse_{layout}")(*block)


def kind(x: Any) -> Any:
    """What a tensor is, but for its elements and its device."""
    if isinstance(x, (tuple, list)):
        return [kind(item) for item in x]
    dims = (x.sparse_dim(), x.dense_dim()) if x.layout != taeda.strided else ()
    return x.layout, x.shape, x.dtype, dims


def dense(x: Tensor, *shape: int) -> Tensor:
    return taeda.ones(shape, device=x.device)


EVERYWHERE: dict[str, Callable[[Tensor], Any]] = {
    "clone": lambda x: x.clone(),
    "detach": lambda x: x.detach(),
    "double": lambda x: x.double(),
    "neg": lambda x: -x,
    "sqrt": lambda x: x.sqrt(),
    "isnan": lambda x: x.isnan(),
    "add": lambda x: x + x,
    "add to dense": lambda x: dense(x, 4, 6) + x,
    "mul": lambda x: x * x,
    "mul by dense": lambda x: x * dense(x, 4, 6),
    "mul by number": lambda x: x * 2,
    "sum": lambda x: x.sum(),
    "sum along": lambda x: x.sum(1),
    "mean": lambda x: x.mean(),
    "any": lambda x: x.any(),
    "norm": lambda x: x.norm(),
    "softmax": lambda x: taeda.sparse.softmax(x, 1),
    "mm": lambda x: x @ dense(x, 6, 3),
    "from the right": lambda x: dense(x, 3, 4) @ x,
    "mv": lambda x: x @ dense(x, 6),
    "addmm": lambda x: taeda.addmm(dense(x, 4, 3), x, dense(x, 6, 3)),
    "reduced": lambda x: taeda.sparse.mm(x, dense(x, 6, 3), "amax"),
    "sampled": lambda x: taeda.sparse.sampled_addmm(x, dense(x, 4, 2), dense(x, 2, 6)),
    "to_dense": lambda x: x.to_dense(),
    "to_sparse": lambda x: x.to_sparse(),
    "transpose": lambda x: x.transpose(0, 1),
    "zeros_like": lambda x: taeda.zeros_like(x),
    "empty_like": lambda x: taeda.empty_like(x),
    "mask": lambda x: dense(x, 4, 6).sparse_mask(x),
    "in place": lambda x: x.mul_(2),
    "zero_": lambda x: x.zero_(),
    "copy_": lambda x: x.copy_(x.clone()),
}
SOME: dict[str, tuple[str, Callable[[Tensor], Any]]] = {
    "coalesce": ("coo", lambda x: x.coalesce()),
    "product": ("coo csr", lambda x: x @ x.t()),
    "rows": ("coo csc", lambda x: x.to_sparse_csr()),
    "columns": ("coo csr", lambda x: x.to_sparse_csc()),
    "blocks": ("coo csr csc", lambda x: x.to_sparse_bsr((2, 3))),
    "select": ("coo csr csc", lambda x: x.select(0, 1)),
    "slice": ("coo", lambda x: x[1:3]),
    "index_select": ("coo", lambda x: x.index_select(1, taeda.tensor([3, 1, 1], device=x.device))),
    "unbind": ("coo", lambda x: x.unbind(0)),
    "cat": ("coo", lambda x: taeda.cat([x, x], 1)),
    "stack": ("coo", lambda x: taeda.stack([x, x])),
    "permute": ("coo", lambda x: x.permute(1, 0)),
    "unsqueeze": ("coo", lambda x: x.unsqueeze(1)),
    "reshape": ("coo", lambda x: x.reshape(3, 8)),
    "new_zeros": ("coo csr", lambda x: x.new_zeros(2, 3)),
    "resized": ("coo", lambda x: x.clone().sparse_resize_((8, 9), 2, 0)),
    "as another": ("csr bsc", lambda x: x.clone().resize_as_sparse_(x)),
    "triangle": ("csr csc", lambda x: taeda.triangular_solve(dense(x, 4, 2), x @ x.t())[0]),
}
CALLS = [(name, layout, call) for name, call in EVERYWHERE.items() for layout in LAYOUTS] + [
    (name, layout, call) for name, (layouts, call) in SOME.items() for layout in layouts.split()
]


@pytest.mark.parametrize("name, layout, call", CALLS, ids=[f"{name}-{layout}" for name, layout, _ in CALLS])
def test_results_are_of_the_kind_that_the_cpu_makes(name: str, layout: str, call: Callable[[Tensor], Any]) -> None:
    wanted, got = call(made(layout)), call(made(layout).to("meta"))
    assert kind(got) == kind(wanted)
    assert all(x.is_meta for x in (got if isinstance(got, (tuple, list)) else [got]))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_conversion_to_meta_leaves_all_elements_behind(layout: str) -> None:
    x = made(layout)
    for m in (x.to("meta"), taeda.zeros_like(x, device="meta")):
        assert (kind(m), m._nnz(), m.is_meta) == (kind(x), 0, True)
    assert "device='meta'" in repr(m) and "values=tensor(..., size=(0" in repr(m)
    with pytest.raises(NotImplementedError):
        m.to("cpu")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_parts_on_meta_make_a_tensor_that_keeps_their_number(layout: str) -> None:
    x = made(layout)
    indices, plain, values = (p if p is None else taeda.empty_like(p, device="meta") for p in taeda._C._sparse_parts(x))
    if layout == "coo":
        m = taeda.sparse_coo_tensor(indices, values, x.shape)
    else:
        m = taeda.sparse_compressed_tensor(indices, plain, values, x.shape, layout=x.layout)
    assert (kind(m), m._nnz()) == (kind(x), x._nnz())
    assert (kind(m * 2), (m.clone() * 2)._nnz()) == (kind(x), x._nnz())
    if layout == "coo":  # how many remain is not known
        assert m.coalesce()._nnz() == 0 and m.coalesce().is_coalesced()


def test_new_ones() -> None:
    for layout in (taeda.sparse_coo, taeda.sparse_csr, taeda.sparse_csc):
        for make in (taeda.empty, taeda.zeros):
            m = make(4, 6, layout=layout, device="meta", dtype=taeda.float64)
            assert (m.layout, m.shape, m.dtype, m.device.type, m._nnz()) == (layout, (4, 6), taeda.float64, "meta", 0)
    r = taeda.sparse_coo_tensor(size=(4, 4), device="meta")
    assert r.sparse_resize_and_clear_((4, 4, 4), 2, 1).values().shape == (0, 4)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_gradients_have_the_kind_of_what_they_belong_to(layout: str) -> None:
    x, y = made(layout).to("meta").requires_grad_(), taeda.ones(6, 3, device="meta", requires_grad=True)
    (x @ y).sum().backward()
    assert kind(x.grad) == kind(x) and kind(y.grad) == kind(y)
    assert x.grad.is_meta and y.grad.is_meta


@pytest.mark.parametrize("layout", LAYOUTS)
def test_fake_tensors(layout: str) -> None:
    x = made(layout)
    calls: list[Callable[[Tensor], Tensor]] = [
        lambda x: x,
        lambda x: x.detach(),
        lambda x: x * 2,
        lambda x: x @ taeda.ones(6, 3),
        lambda x: taeda.zeros_like(x),
        lambda x: x.to_dense(),
    ]
    wanted = [kind(call(x)) for call in calls]
    with FakeTensorMode() as mode:
        f = mode.from_tensor(x)
        got = [call(f) for call in calls]
    assert all(isinstance(y, FakeTensor) and y.device.type == "cpu" for y in got)
    assert list(map(kind, got)) == wanted and f is mode.from_tensor(x) and f._values().shape[0] == 0


@pytest.mark.torch
@pytest.mark.parametrize("layout", LAYOUTS)
def test_as_in_pytorch(layout: str) -> None:
    torch = pytest.importorskip("torch")

    def told(module: Any) -> list[str]:
        d = module.zeros(4, 6)
        d[1, 2] = 1.0
        block = ((2, 3),) if layout.startswith("bs") else ()
        m = (d.to_sparse() if layout == "coo" else getattr(d, f"to_sparse_{layout}")(*block)).to("meta")
        several = [m, m.clone(), m.double(), m + m, m.transpose(0, 1), module.zeros_like(m), module.empty_like(m)]
        return [
            f"{x.layout} {tuple(x.shape)} {x.dtype} {x._nnz()} {x.device}".replace("taeda", "torch") for x in several
        ]

    assert told(taeda) == told(torch)
