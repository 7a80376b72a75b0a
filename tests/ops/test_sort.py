"""Order, running totals, searching, counting and distinct values, against PyTorch and against finite differences."""

from __future__ import annotations

from typing import Any

import pytest
from twin import check

import taeda
from taeda.autograd.gradcheck import gradcheck, gradgradcheck


def words(text: str) -> list[str]:
    return text.split()


def run(code: str, library: Any) -> Any:
    """``code`` with x (2, 3, 4) shuffled, i (integers with ties), m (300 of them), n (NaN, infinities, both zeros)."""
    t = library.tensor
    x = ((library.arange(24) * 7 + 3) % 24 - 11).float().reshape(2, 3, 4)
    special = t([3.0, float("nan"), 1.0, -0.0, 0.0, float("inf"), float("nan"), -float("inf")])
    many = library.arange(300) * 7919 % 13
    return eval(code, {"x": x, "i": t([3, 1, 2, 3, 1, 1, 0]), "m": many, "n": special, "t": t, "lib": library})


CASES = words("""
x.sort() x.sort(0) x.sort(1,descending=True) x.sort(dim=-1,stable=True) n.sort() n.sort(descending=True) t(3.).sort()
lib.empty(0,2).sort(0) x.transpose(0,2).sort(1) i.sort(stable=True) i.sort(stable=True,descending=True)
(x>0).sort(stable=True) x.half().sort() x.bfloat16().sort(0) x.to(lib.int8).sort() x.to(lib.uint8).sort()
lib.arange(2000).flip(0).sort() (lib.arange(3000)*7919%3001-1500).float().sort()
(lib.arange(3000)*7919%3001-1500).double().sort(descending=True) x.expand(2,2,3,4).sort(1,stable=True) x.argsort()
lib.sort(x,out=(x,lib.empty(0,dtype=lib.int64))) lib.topk(x,4,out=(x,lib.empty(0,dtype=lib.int64)))
x.argsort(0,True) lib.argsort(i,stable=True) lib.msort(x) lib.sort(x,out=(lib.empty(0),lib.empty(0,dtype=lib.int64)))
m.sort() m.float().sort(descending=True) m.reshape(6,50).argsort() m.reshape(50,6).half().argsort(0,descending=True)
m.argsort(stable=True) (m>6).sort() m.topk(3) m.topk(20,largest=False) m.reshape(4,75).bfloat16().topk(9) m[:15].topk(1)
m.topk(20,sorted=False) m.topk(3,sorted=False) m.topk(300) m.mode() m.reshape(6,50).mode(1)
x.topk(2) x.topk(2,1) x.topk(2,largest=False) x.topk(0) n.topk(4) n.topk(3,largest=False)[1].sort()[0] t(3.).topk(1)
x.transpose(0,2).topk(1,0) lib.arange(5000).float().topk(40) x.kthvalue(2) x.kthvalue(1,0,keepdim=True) n.kthvalue(5)
t(3.).kthvalue(1) x.median() x.median(1) x.median(0,keepdim=True) n.median() n.nanmedian() n.nanmedian(0)
t([float('nan')]).nanmedian(0) i.median(0)[0] lib.empty(0).median() t(3.).median(0) x.mode(0) i.mode()
i.mode(keepdim=True) (x>0).mode(0)[0] t(3.).mode() x.quantile(.3) x.quantile(.3,0) x.quantile(t([.1,.5]),1)
x.quantile(t([.1,.5]),1,keepdim=True) x.quantile(t(.5),2,True) x.quantile(.5,keepdim=True) n[:4].quantile(.5)
n[:5].nanquantile(.5) x.quantile(.3,interpolation='lower') x.quantile(.3,interpolation='higher')
x.quantile(.3,interpolation='midpoint') x.quantile(.3,interpolation='nearest') x.nanquantile(t([.2,.9]),0) x.cumsum(0)
x.cumsum(1) x.cumsum(-1) x.cumprod(1) i.cumsum(0) (x>0).cumsum(1) i.to(lib.int8).cumprod(0)
i.cumsum(0,dtype=lib.float64) x.cumsum(1,dtype=lib.int64) t(3.).cumsum(0) lib.ones(5000).half().cumsum(0)[-1]
x.transpose(0,2).cumsum(1) lib.empty(0,2).cumsum(0) x.clone().cumsum_(1) i.to(lib.int8).cumsum_(0) n.cumsum(0)
(x*1j).cumsum(1) x.cummax(1) x.cummin(0) n.cummax(0) n.cummin(0) i.cummax(0) i.cummin(0) (x>0).cummax(1)
lib.empty(0,2).cummax(0) x.logcumsumexp(1) n.logcumsumexp(0) (x*100).logcumsumexp(0) x.double().logcumsumexp(2)
x.diff() x.diff(n=2,dim=1) x.diff(n=0) x.diff(n=9) (x>0).diff() x.diff(prepend=x[...,:1],append=x[...,:1])
lib.trapezoid(x) lib.trapezoid(x,dx=2.,dim=1) lib.trapezoid(x,t([0.,1,3,4])) lib.trapz(x,dx=.5)
lib.cumulative_trapezoid(x) lib.cumulative_trapezoid(x,x.abs(),dim=1) lib.searchsorted(t([1,2,2,3]),t([[2,0],[9,3]]))
lib.searchsorted(t([1,2,2,3]),t([2]),right=True) lib.searchsorted(t([1.,2]),1.5) lib.searchsorted(t([1,2,3]),t([2.5]))
lib.searchsorted(x.sort()[0],x) lib.searchsorted(t([1.,2,float('nan')]),n)
lib.searchsorted(t([3,1,2]),t([2]),sorter=t([1,2,0])) lib.searchsorted(t([1,2]),t([1]),side='right',out_int32=True)
lib.bucketize(x,t([-5.,0,5])) lib.bucketize(3,t([1,3]),right=True) lib.bincount(i) lib.bincount(i,minlength=9)
lib.bincount(i,lib.ones(7)) lib.bincount(i,i) lib.bincount(t([],dtype=lib.int64),minlength=2) x.histc(5)
x.histc(4,0,4) t([1.,1.]).histc(4) lib.empty(0).histc(3) lib.histogram(x,4)
lib.histogram(x,3,range=(-5.,5.),density=True) lib.histogram(x,t([-3.,0,3]),weight=x.abs()) lib.isin(x,t([1.,2]))
lib.isin(i,2) lib.isin(2,i) lib.isin(i,t([1,3]),invert=True) lib.isin(n,n) lib.isin(i,t([],dtype=lib.int64))
lib.isin(i,t([1.5,3])) lib.unique(i) lib.unique(i,return_inverse=True,return_counts=True)
lib.unique(n,return_counts=True) x.unique() lib.unique((x>0)) lib.unique(lib.empty(0))
lib.unique(t([[1,2],[0,3],[1,2]]),dim=0,return_inverse=True,return_counts=True) lib.unique(t([[1,2,1],[0,3,0]]),dim=1)
lib.unique(lib.empty(0,3),dim=0) lib.unique_consecutive(t([1,1,2,2,1]),return_inverse=True,return_counts=True)
lib.unique_consecutive(t([[1,1],[1,1],[2,1]]),dim=0,return_counts=True) x.unique_consecutive()
n.unique_consecutive() n.unique_consecutive(True,True) (m//4).unique_consecutive(True,True)
(m//4).half().unique_consecutive(return_counts=True,dim=0) (m>6).unique_consecutive(True,True,dim=-1)
m[::3].unique_consecutive(True) lib.empty(0).unique_consecutive(True,True) t(3.).unique_consecutive(True,True)
i.unique_consecutive(dim=1) t(3.).unique_consecutive(dim=0) lib.empty(0).unique_consecutive(True,True,dim=0)
i.unique(return_counts=True) lib.unique_consecutive(t([[1,1],[2,2]]),return_inverse=True) x.sort(5) (x*1j).sort()
x.topk(9) x.topk(-1) (x>0).topk(1) x.kthvalue(0) x.kthvalue(9) (x>0).median() (x>0).kthvalue(1)
lib.empty(0,2).median(0) lib.empty(0,2).kthvalue(1,0) lib.empty(0).mode() x.quantile(1.5) i.quantile(.5)
x.quantile(t(.5).double()) x.quantile(.5,interpolation='x') lib.empty(0).quantile(.5) (x*1j).cummax(0)
i.logcumsumexp(0) t(1.).diff() x.diff(n=-1) x.cumsum(3) lib.searchsorted(x,x[0])
lib.searchsorted(t([1,2]),t([1]),side='left',right=True) lib.searchsorted(t([3,1,2]),t([2]),sorter=t([1,2,9]))
lib.bucketize(x,x) lib.bincount(t([-1])) lib.bincount(x[0,0]) lib.bincount(i,lib.ones(3)) n.histc(4) x.histc(4,3,2)
i.histc(3) lib.searchsorted(t([1,2]),t([1]),out=lib.empty(1,dtype=lib.int32))
lib.searchsorted(t([1.,2]),t([1.]),out_int32=True,out=lib.empty(1,dtype=lib.int32)) lib.isin(i,True) lib.isin(x>0,x)
lib.searchsorted(t([True]),t([True])) lib.searchsorted(t([1j]),t([1j]))
lib.unique(x*1j) lib.unique(lib.empty(3,0),dim=0) lib.unique(x,dim=5)
""")


@pytest.mark.parametrize("code", CASES)
def test_beside_torch(code: str) -> None:
    check(lambda lib: run(code, lib), strides=False, rtol=1e-5)


DIFFERENTIABLE = words("""
x.sort(1)[0] x.topk(2,1)[0] x.kthvalue(2,1)[0] x.median() x.median(1)[0] x.nanmedian(0,True)[0] x.mode(1)[0]
x.quantile(.3,1) x.msort() x.cumsum(1) x.cumprod(1) x.cummax(1)[0] x.cummin(0)[0] x.logcumsumexp(1) x.diff(dim=1)
lib.trapezoid(x) lib.cumulative_trapezoid(x,dim=1) x.cumsum(0).cumprod(0)
""")


@pytest.mark.parametrize("code", DIFFERENTIABLE)
def test_gradients(code: str) -> None:
    taeda.manual_seed(1)
    x = taeda.randn(3, 4, dtype=taeda.float64).requires_grad_()

    def function(x: Any) -> Any:
        return eval(code, {"x": x, "lib": taeda})

    assert gradcheck(function, (x,))
    assert gradgradcheck(function, (x,))


@pytest.mark.parametrize("zeros", [(1,), (0,), (1, 3), (0, 1, 2, 3)])
def test_cumprod_of_zeros_has_gradients(zeros: tuple[int, ...]) -> None:
    x = taeda.tensor([2.0, 3.0, 4.0, 5.0], dtype=taeda.float64)
    x[list(zeros)] = 0.0
    x.requires_grad_()
    assert gradcheck(lambda x: x.cumprod(0), (x,))
    assert gradgradcheck(lambda x: x.cumprod(0), (x,))


@pytest.mark.parametrize("dtype", words("uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64"))
@pytest.mark.parametrize("length", [3, 383, 384, 5000])
def test_sorts_every_dtype_and_length(dtype: str, length: int) -> None:
    taeda.manual_seed(2)
    x = taeda.randint(-120, 120, (2, length)).to(getattr(taeda, dtype))
    values, indices = x.sort(dim=1, stable=True)
    wide = values.double()
    assert bool((wide[:, 1:] >= wide[:, :-1]).all())
    assert bool((x.gather(1, indices) == values).all())
    ties = wide[:, 1:] == wide[:, :-1]
    assert bool((indices[:, 1:] > indices[:, :-1])[ties].all())
    largest = x.topk(min(length, 70), dim=1)[0]
    assert bool((largest == values.flip(1)[:, : largest.shape[1]]).all())
