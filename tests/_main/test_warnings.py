"""What warns, of which class; and what stands next to it and must not."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import taeda
from taeda import nn
from taeda.nn import utils
from taeda.utils import data


def leaf(*sizes: int) -> taeda.Tensor:
    return taeda.ones(*sizes, requires_grad=True)


def backward_hook(x: taeda.Tensor) -> None:
    layer = nn.Linear(2, 2)
    layer.register_full_backward_hook(lambda *_: None)
    layer(x).sum().backward()


def kept_grad() -> Any:
    x = leaf(1) * 2
    x.retain_grad()
    return x.grad


NAMES = {
    **{"T": taeda, "nn": nn, "u": utils, "data": data, "leaf": leaf, "hook": backward_hook, "kept": kept_grad},
    **{"x": taeda.eye(3), "b": taeda.ones(3, 1), "byte": taeda.ones(3, dtype=taeda.uint8)},
}
CASES = {
    UserWarning: """x.index_put((byte,),x) |
        (leaf(1)*2).grad | float(leaf(1)) | complex(leaf(1)) | x.new_tensor(x) | T.tensor(x) | x[byte] |
        x[:,byte] | T.cross(x,x) | x.cross(x) | T.chain_matmul(x,x) | T.cholesky(x) | x.qr() | T.lu(x) | x.lu() |
        T.lu_solve(b,*T.linalg.lu_factor(x)) | T.triangular_solve(b,x) | T.add(x,2,x) | hook(T.ones(1,2)) |
        T.set_default_tensor_type('torch.FloatTensor') | data.DataLoader([1],num_workers=4096)""",
    FutureWarning: "u.weight_norm(nn.Linear(2,2))",
    None: """(leaf(1)*2).detach().grad | leaf(1).grad | kept() | float(x[0,0]) | int(leaf(1)) | leaf(1).item() |
        leaf(1).tolist() | x.new_tensor([1]) | x[byte.bool()] | T.cross(x,x,dim=0) | T.linalg.cross(x,x) |
        T.linalg.multi_dot([x,x]) | T.linalg.cholesky(x) | T.cholesky_solve(b,x) | T.cholesky_inverse(x) |
        T.linalg.qr(x) | T.linalg.lu_solve(*T.linalg.lu_factor(x),b) | T.add(x,x,alpha=2) | hook(leaf(1,2)) |
        str(leaf(1)*2) | u.parametrizations.weight_norm(nn.Linear(2,2)) | data.DataLoader([1],num_workers=1) |
        nn.Linear(2,2)(leaf(1,2)).sum().backward()""",
}


@pytest.mark.parametrize(
    ("category", "expression"), [(c, e) for c, text in CASES.items() for e in "".join(text.split()).split("|")]
)
def test_warns(category: type[Warning] | None, expression: str) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        eval(expression, dict(NAMES))
    assert [w.category for w in seen] == [category] * bool(category)


@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("name", ["add", "sub", "addcmul", "addcdiv"])
def test_the_old_place_of_a_factor(name: str, inplace: bool) -> None:
    keyword, count = ("value", 2) if name.startswith("addc") else ("alpha", 1)
    tensors = [taeda.tensor([float(i), -3.0]) for i in range(2, 2 + count)]
    want = getattr(taeda, name)(taeda.ones(2), *tensors, **{keyword: 0.5})
    with pytest.warns(UserWarning, match=f"{keyword}="):
        if inplace:
            got = taeda.ones(2)
            assert getattr(got, name + "_")(0.5, *tensors) is got
        else:
            got = getattr(taeda, name)(taeda.ones(2), 0.5, *tensors)
    assert got.tolist() == want.tolist()


@pytest.mark.parametrize("expression", ["T.add(x,x,2)", "T.mul(x,2,x)", "T.addcmul(x,2,x)", "x.add(2,x,x)"])
def test_no_other_order(expression: str) -> None:
    with pytest.raises(TypeError):
        eval(expression, dict(NAMES))


def test_what_warns_once_can_warn_always() -> None:
    taeda.set_warn_always(True)
    try:
        for _ in range(2):
            with pytest.warns(UserWarning, match="searchsorted"):
                taeda.searchsorted(taeda.eye(3).t()[:, ::2], taeda.eye(3))
            with pytest.warns(UserWarning, match="istft"):
                taeda.istft(taeda.ones(3, 4, dtype=taeda.cfloat), 4, window=taeda.ones(4), length=99)
    finally:
        taeda.set_warn_always(False)
