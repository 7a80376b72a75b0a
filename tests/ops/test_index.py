"""x[...], and ops that read and write at positions, against PyTorch and against finite differences."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from twin import check

import taeda
from taeda.autograd.gradcheck import gradcheck, gradgradcheck


class One:
    def __index__(self) -> int:
        return 1


def words(text: str) -> list[str]:
    return text.split()


def run(code: str, library: Any, **extra: Any) -> Any:
    """``code`` with x (2, 3, 4), i (integers), m (a mask); assignments give x back."""
    names = {"x": library.arange(24.0).reshape(2, 3, 4), "i": library.arange(6), "t": library.tensor}
    names |= {"lib": library, "np": np, "One": One, **extra}
    names["m"] = names["x"] > 5
    if "\n" in code or "=" in code.replace("==", "").split("(")[0]:
        exec(code, names)
        return names["x"], names["i"]
    return eval(code, names)


READS = words("""
x[0] x[-1] x[0,1] x[(0,1)] x[()] x[...] x[None] x[None,...,None] x[...,0] x[...,None,0] x[1:10] x[::2] x[:,1:]
x[slice(None)] x[True] x[False] x[True,False] x[True,0] x[0,True] x[t(True)] x[t(False)] x[0][t(True)]
x[t(1,dtype=lib.uint8)] x[t(1)] x[t(1),t(2)] x[t([1,0])] x[t([[1,0]])] x[:,t([1,0])] x[...,t([1,0])] x[t([1,0]),...]
x[t([-1,0])] x[t([1,0],dtype=lib.int32)] x[:,t([1,0]),t([1,0])] x[t([1,0]),:,t([1,0])] x[t([1,0]),0] x[0,:,t([1,0])]
x[t([1,0]),None,t([1,0])] x[None,t([1,0])] x[:,None,t([1,0])] x[0,t([0,1]),None,:] x[t([[0],[1]]),t([0,2])]
x[[0,1],...,[1,2]] x[t([0,1])[:,None],t([[0,1]])] x[t([True,False])] x[:,t([True,False,True])] x[m] x[:,m[0]]
x[t([1,0],dtype=lib.uint8)] x[m[:,:,0]] x[lib.zeros(2,3,dtype=lib.bool)] x[[0,1]] x[[1,-1]] x[[]] x[:,[]] x[[],[]]
x[[True,False]] x[[True,0]] x[:,[True,False,True]] x[[1.5]] x[[0,1],[1,2]] x[[[0,1],[1,2]]] x[[[0,1],[1,0]],:]
x[[slice(0,1),1]] x[[None]] x[[0,t(1)]] x[[t([0]),t([1])]] x[(t([0,1]),[0,1])] x[[[[0]]]] x[[m]] x[range(2)]
x[:,range(2)] x[One()] x[np.array([1,0])] x[np.array([True,False])] x[np.array(1)] x[np.int64(1)]
x[np.int32(1),np.uint8(0)] x[np.array([])] x[np.array([[0,1],[1,0]])] x[np.arange(2),np.arange(2)] x[t(0):t(1)]
x[np.int64(0):np.int64(1)] x[10**30:] t(5.)[...] t(5.)[None] t(5.)[()] t(5.)[True] t(5.)[t(True)] t(5.)[t(False)]
lib.zeros(0,3)[t([],dtype=lib.int64)] lib.zeros(0,3)[:,t([0])] lib.zeros(3,0)[t([0,2])] x[t([],dtype=lib.int64)]
x.expand(2,2,3,4)[t([0,1]),t([1,0])] x.transpose(0,2)[t([0,3])] x.permute(2,0,1)[:,t([0,1])]
x.permute(2,0,1)[:,:,t([0,1])] x.permute(2,0,1)[t([0,1]),:,t([0,1])] x.flatten()[lib.arange(6).reshape(2,3).t()]
x.reshape(2,12)[:,lib.arange(6).reshape(2,3).t()] x.reshape(2,12).t()[lib.arange(6).reshape(2,3).t()]
x.permute(2,0,1)[t([[0,1],[1,0]]).t(),:,t([[0],[1]])] x[:1].expand(2,3,4)[:,t([0,1])] x[:,:,::2][t([1,0])]
x.reshape(1,2,3,4).to(memory_format=lib.channels_last)[t([0,0])]
x.reshape(1,2,3,4).to(memory_format=lib.channels_last)[:,:,t([0,2])]
x.reshape(1,2,3,4).to(memory_format=lib.channels_last)[:,:,t([[0,2]]).t(),t([1])]
x[m[:,:,0],t([0]*4)] x[m[:,:,0],t(1)] x[m[:,:,0],1] x[None,m[:,:,0],t([0])] x[...,m[0],t([0]).new_empty(0)]
x.reshape(2,3,2,2)[m[:,:,0],:,t([0])] x.reshape(2,3,2,2)[m[:,:,0],None,t([0]),1] x[t([1]),m[0]]
""")

REFUSED = words("""
x[5] x[-3] x[0,0,0,0] x[1.5] x['a'] x[{}] x[::-1] x[::0] x[1.0:2] x[10**30] x[t([5])] x[t([-5])] x[t([-2**63])]
x[t([2**62])] x[t([0,1]),t([0,1,2])] x[t([True,False,True])] x[m[0]] x[t([1.,0])] x[t(2.5)]
x[t([1,0],dtype=lib.int16)] x[t([])] x[[5]] x[['a']] t(5.)[0] lib.zeros(0,3)[t([0])] x[t([[True]])] x[1j]
x[np.float64(1)] x[0,...,...,0]
""")

WRITES = (
    """
x[0]=1|x[0]=True|x[:]=t([1.,2,3,4])|x[0,0]=t([1,2,3,4])|x[0]=t([[1.,2,3,4]])|x[0]=lib.zeros(1,1,3,4)
x[0,0,0]=t([[3.]])|x[m]=0|x[m]=t(7)|x[m]=t([7])|x[x>22]=t([7.])|x[t([0,1])]=1|x[t([0,1])]=t([1.,2,3,4])
x[t([0,1]),t([1,0])]=lib.ones(2,4)|x[[0,1],[1,0]]=9|x[t([0,1]),:,t([1,0])]=lib.ones(2,3)*5
x[...,0]=t([[1.,2,3],[4,5,6]])|x[True]=5|x[False]=5|x[t(True)]=lib.ones(2,3,4)|x[None]=3
x[t([0,0])]=lib.arange(24.).reshape(2,3,4)|x[[]]=1|x[t([],dtype=lib.int64)]=lib.ones(0,3,4)|x[0:0]=5
x[np.array([0,1])]=2|x[range(2)]=3|x[:,t([True,False,True])]=6|x[:,t([True,False,True])]=lib.ones(2,2,4)|x[...]=8
x[()]=8|x[0]=x[1]|x[1:]=x[:1]|x[m]=x[m]*2|x[t([0])]=lib.ones(1,1,3,4)|x[0,0]=lib.ones(4,dtype=lib.float64)
x[t([0])]=np.float64(2)|x[None,0]=t([1.,2,3,4])|x[0,t([0,1]),t([0,1])]=t([5.,6.])|x[0]=float('nan')|i[0]=1.7
i[t([0])]=1.7|i[0]=t(1.7)|i[0]=2**62|x[0][x[0]>5]=-1|x[0]=1j|x[0]=None|x[0]='a'|x[0]=lib.zeros(2,3,4)
x[0,0,0]=t([3,4])|x[m]=t([7.,8.])|x[t([0,1])]=t([1,2,3,4])|x[5]=1|x[t([5])]=1|x[::-1]=1|x[t([0,1])]=lib.ones(3,3,4)
x[t([0])]=2j|x[1.5]=1|x['a']=1|i[0]=1j|i[0]=2**70|i[0]=-2**70|i[0]=2**63|x[0]=2**70|x[t([0])]=2**70|m[0]=2**64
""".replace("\n", "|")
    .strip("|")
    .split("|")
)


@pytest.mark.parametrize("code", READS)
def test_read(code: str) -> None:
    check(lambda lib: run(code, lib))


@pytest.mark.parametrize("code", REFUSED)
def test_refused(code: str) -> None:
    check(lambda lib: run(code, lib))


@pytest.mark.parametrize("code", WRITES)
def test_write(code: str) -> None:
    check(lambda lib: run(code + "\n", lib))


OPS = words("""
x.index_select(1,t([2,0])) x.index_select(-1,t(1)) t(3.).index_select(0,t([0]))
x.transpose(0,2).index_select(1,t([0,0,2])) x.double().index_select(2,t([3,0]*9)) x.half().index_select(2,t([3,0]*9))
(x>0).index_select(2,t([3,0]*9)) (x*1j).cdouble().index_select(2,t([3,0]*9)) x.index_select(2,t([3,0]*9).int())
x[...,::2].index_select(2,t([1,0]*9)[::3]) x.index_select(2,t([],dtype=lib.int64)) x[:0].index_select(2,t([1,0]))
x.transpose(0,2).index_select(0,t([3,0]*9)) lib.index_add(x,1,t([0,0]),lib.ones(2,2,4))
lib.index_add(x,1,t([0,0]),lib.ones(2,2,4),alpha=2) x.long().index_add(0,t([1]),x[:1].long(),alpha=3)
x.index_copy(0,t([1]),x[:1]*2) x.index_fill(1,t([0,-1]),7) x.index_fill(2,t([0]),t(7.))
(x>3).index_fill(0,t([0]),True) x.index_reduce(0,t([0,0]),x+1,'prod')
x.index_reduce(0,t([0,0]),x+1,'mean',include_self=False) x.index_reduce(1,t([2,0]),x[:,:2]-9,'amax')
x.long().index_reduce(1,t([2,0]),x[:,:2].long()-9,'mean')
x.index_reduce(1,t([2,0]),x[:,:2]-9,'amin',include_self=False) x.index_put((t([0,1]),),t(3.),accumulate=True)
x.index_put((t([0,0]),t([1,1])),lib.ones(2,4),True) x.index_put((m,),t(0.)) x.gather(2,t([[[0,3],[1,1]]]))
x.gather(0,t([[[1,0,1,0]]])) x.gather(1,lib.zeros(2,3,4,dtype=lib.int32)) t(3.).gather(0,t([0,0]))
t([3.,4]).gather(0,t(1)) x.scatter(1,t([[[0,1]]]),x) x.scatter(2,t([[[0],[3]]]),5)
x.scatter(0,t([[[1,0]]]),x,reduce='add') x.scatter(0,t([[[1,0]]]),3,reduce='multiply')
x.scatter_add(0,lib.zeros(2,3,4,dtype=lib.int64),x) x.scatter_add(1,t([[[0,1,0,1]]]).expand(2,3,4),x)
x.transpose(0,2).scatter_add(0,t([[[0,1]]]),x) x.scatter_reduce(0,lib.zeros(2,3,4,dtype=lib.int64),x,'sum')
x.scatter_reduce(0,lib.zeros(2,3,4,dtype=lib.int64),x-5,'prod')
x.scatter_reduce(1,t([[[0,1]]]).expand(2,3,2),x,'mean')
x.scatter_reduce(1,t([[[0,1]]]).expand(2,3,2),-x,'mean',include_self=False)
x.scatter_reduce(2,t([[[0,1]]]).expand(2,3,2),x+3,'amax')
x.scatter_reduce(2,t([[[0,1]]]).expand(2,3,2),x-3,'amin',include_self=False)
x.bfloat16().scatter_add(0,lib.zeros(2,3,4,dtype=lib.int64),x.bfloat16())
m.scatter_reduce(0,lib.zeros(2,3,4,dtype=lib.int64),m,'sum') x.take(t([[0,5],[-1,23]]))
x.transpose(0,1).take(t([1,5])) x.put(t([1,-1]),t([9.,8])) x.put(t([1,1]),t([9.,8]),accumulate=True)
x.take_along_dim(t([[[0],[1],[2]]]),2) x.take_along_dim(t([3,4])) x.take_along_dim(x.argsort(1),1)
x.take_along_dim(t([[[-1]],[[5]]]),0) x.take_along_dim(t([[[-4]]]),1) x.take_along_dim(t([-1])) x.masked_fill(m,9)
x.masked_fill(m[0],t(3)) x[0].masked_fill(m,1) i.masked_fill(i>2,1.5) x.transpose(0,1).masked_fill(m.transpose(0,1),0)
x.masked_select(m) x[0].masked_select(m) x.transpose(0,2).masked_select(m.transpose(0,2)) lib.masked_select(x,t(True))
lib.masked_select(x,t(False)) x.masked_scatter(m,-x) x.masked_scatter(m[0],lib.arange(50.)) x.nonzero()
lib.nonzero(x,as_tuple=True) x.nonzero(as_tuple=True) t(3.).nonzero() lib.nonzero(t(3.),as_tuple=True)
lib.zeros(0,3).nonzero() (x>5).nonzero() x.transpose(0,2).nonzero() lib.argwhere(x>20) lib.nonzero_static(x>20,size=5)
lib.where(m) lib.where(m,x,0) lib.where(m,0,x) lib.where(m,x,x.double()) lib.where(m,1,2.) x.where(m,x*2) x.where(m,0)
lib.count_nonzero(x) lib.nn.functional.one_hot(t([2,0])) lib.nn.functional.one_hot(t([[1]]),3)
lib.embedding(x[0],t([[0,2]])) lib.nn.functional.embedding(t([2,0]),x[0],padding_idx=0)
lib.nn.functional.embedding_bag(t([0,1,2,2]),x[0],t([0,1,1]))
lib.nn.functional.embedding_bag(t([0,1,2,2]),x[0],t([0,1,4]),mode='max')
lib.nn.functional.embedding_bag(t([[0,1],[2,2]]),x[0],mode='sum',per_sample_weights=lib.ones(2,2)*2,padding_idx=1)
lib.gather(x,1,t([[[0]]]),out=lib.empty(0)) lib.index_select(x,0,t([1]),out=lib.empty(0))
lib.take(x,t([1]),out=lib.empty(0))
""")

BAD = words("""
x.index_select(0,t([2])) x.index_select(0,t([-1])) x.index_select(0,t([0.])) x.index_select(0,t([[0]]))
x.index_select(5,t([0])) t(1.).index_select(0,t([1])) x.index_add(0,t([2]),x[:1]) x.index_add(0,t([0]),x[:1].double())
x.index_add(0,t([0,1]),x[:1]) x.index_add(0,t([0]),x[:1,:2]) x.index_copy(0,t([2]),x[:1])
x.index_copy(0,t([0,1]),x[:1]) x.index_copy(0,t([0],dtype=lib.int32),x[:1]) x.index_fill(0,t([3]),1)
x.index_fill(0,t([0]),lib.ones(2)) x.index_fill(0,t([0],dtype=lib.int32),1) x.index_reduce(0,t([2]),x[:1],'prod')
x.index_reduce(0,t([0]),x[:1],'foo') x.index_put((t([5]),),t(1.)) x.index_put((t([0]),),t(1)) x.gather(0,t([[[2]]]))
x.gather(0,t([[[-1]]])) x.gather(0,t([[[-2**63]]])) x.gather(0,t([0])) x.gather(0,lib.zeros(1,5,1,dtype=lib.int64))
x.gather(3,t([[[0]]])) x.scatter(0,t([[[2]]]),x) x.scatter(0,t([[[0]]]),x.double())
x.scatter(0,lib.zeros(3,3,4,dtype=lib.int64),x) x.scatter(0,t([[[0]]]),x,reduce='foo')
x.scatter_add(0,t([[[2**62]]]),x) x.scatter_reduce(0,t([[[0]]]),x,'foo')
x.scatter_reduce(0,t([[[0]]]),x,reduce='amax',include_self=1,foo=2) x.take(t([24])) x.take(t([-25])) x.take(t([0.]))
lib.zeros(0).take(t([0])) x.put(t([24]),t([1.])) x.put(t([1]),t([1.,2])) x.put(t([1]),t([1])) x.masked_fill(x,1)
x.masked_fill(m,lib.ones(1)) x.masked_fill(m,1j) x[0].clone().masked_fill_(m,1) x.masked_select(x)
x.masked_scatter(m,x[0]) x.masked_scatter(m,x.double()) lib.gather(x,0,t([[[0]]]),out=lib.empty(0,dtype=lib.float64))
lib.take(x,t([0]),out=lib.empty(0,dtype=lib.float64)) lib.index_select(x,0,t([0]),out=lib.empty(0,dtype=lib.float64))
lib.gather(x,1,lib.zeros(2,3,4,dtype=lib.int64),out=x) lib.take(x,lib.zeros(2,3,4,dtype=lib.int64),out=x)
lib.index_select(x,1,t([2,1,0]),out=x) lib.where(x,x,x) lib.embedding(x[0],t([3]))
lib.embedding(x[0],t([-1])) lib.embedding(x[0],t([0.])) lib.embedding(x,t([0])) lib.nonzero_static(x,size=-1)
lib.nn.functional.one_hot(t([-1])) lib.nn.functional.one_hot(t([1,2]),2)
lib.nn.functional.one_hot(t([],dtype=lib.int64)) lib.nn.functional.one_hot(x)
""")


@pytest.mark.parametrize("code", OPS)
def test_op(code: str) -> None:
    check(lambda lib: run(code, lib), strides=False)


@pytest.mark.parametrize("code", BAD)
def test_bad(code: str) -> None:
    check(lambda lib: run(code, lib))


DTYPES = words("bool uint8 int16 int32 int64 float16 bfloat16 float32 float64 complex128")
MOVES = words("""
x[:,t([2,0])] x.gather(1,t([[[0,2]]])) x.scatter_add(1,t([[[0,0]]]).expand(2,3,2),x) x[m]
x.index_put((t([0,0]),),x,True) x.masked_fill(m,1)
""")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("code", MOVES)
def test_dtypes(code: str, dtype: str) -> None:
    check(lambda lib: run(code, lib, x=lib.arange(24).reshape(2, 3, 4).to(getattr(lib, dtype))), strides=False)


DIFFERENTIABLE = words("""
x[t([0,0,1])] x[:,t([1,1])] x[t([0,1]),:,t([1,1])] x[m] x.index_select(1,t([0,0])) x.gather(1,t([[[0,0]]]))
x.take(t([0,0,3])) x.masked_select(m) x.index_put((t([0,0]),),y,True) x.index_put((t([1,0]),),y)
x.index_add(0,t([1,1]),y,alpha=2) x.index_copy(0,t([1]),y[:1]) x.index_fill(0,t([1]),y[0,0,0])
x.scatter(1,t([[[2,0],[1,1]]]),y) x.scatter_add(1,t([[[0,0]]]).expand(2,3,2),y) x.put(t([1,2]),y[0,0,:2])
x.put(t([1,1]),y[0,0,:2],True) x.masked_fill(m,y[0,0,0]) x.masked_scatter(m,y) x.take_along_dim(t([[[0],[1],[2]]]),2)
lib.where(m,x,y) lib.embedding(x[0],t([[0,2,2]])) lib.embedding_bag(x[0],t([0,1,1]),t([0,2]),mode=1)[0]
lib.embedding_bag(x[0],t([0,1,1]),t([0,2]),mode=2)[0]
lib.embedding_bag(x[0],t([0,1,1]),t([0,2]),per_sample_weights=y[0,0,:3])[0] x.scatter_reduce(0,z,y,'sum')
x.scatter_reduce(0,z,y,'prod') x.scatter_reduce(0,z,y,'mean') x.scatter_reduce(0,z,y,'amax')
x.scatter_reduce(0,z,y,'amin',include_self=False) x.scatter_reduce(0,z,y,'prod',include_self=False)
x.scatter_reduce(0,z,y,'mean',include_self=False) x.index_reduce(0,t([0,0]),y,'prod')
x.index_reduce(0,t([1,0]),y,'mean')
""")


@pytest.mark.parametrize("code", DIFFERENTIABLE)
def test_gradients(code: str) -> None:
    taeda.manual_seed(0)
    x, y = (taeda.randn(2, 3, 4, dtype=taeda.float64).requires_grad_() for _ in range(2))
    mask, zeros = taeda.rand(2, 3, 4) > 0.4, taeda.zeros(2, 3, 4, dtype=taeda.int64)

    def of(x: Any, y: Any) -> Any:
        return eval(code, {"x": x, "y": y, "t": taeda.tensor, "lib": taeda, "m": mask, "z": zeros})

    inputs = (x, y) if re.search(r"\by\b", code) else (x,)
    function = of if len(inputs) == 2 else (lambda x: of(x, None))
    assert gradcheck(function, inputs)
    assert gradgradcheck(function, inputs)


@pytest.mark.parametrize(
    "code", words("x[0]=b x[t([0,2])]=b x[:,0]=b[:3] x[x>5]=b[0] x[t([0,0])]=b x[x>5]=1 x[t([1]),t([2])]=b[1]")
)
def test_gradients_of_assignment(code: str) -> None:
    def gradients(lib: Any) -> Any:
        a, b = lib.arange(12.0).reshape(3, 4).requires_grad_(), lib.ones(4).requires_grad_()
        x = a * 1
        exec(code, {"x": x, "b": b, "t": lib.tensor})
        x.pow(2).sum().backward()
        return [a.grad] + ([] if b.grad is None else [b.grad])

    check(gradients)


@pytest.mark.parametrize("options", [{"padding_idx": 0}, {"scale_grad_by_freq": True}])
def test_gradients_of_embedding_are_weighted(options: dict[str, Any]) -> None:
    def gradients(lib: Any) -> Any:
        weight = lib.arange(12.0).reshape(3, 4).requires_grad_()
        rows = lib.embedding(weight, lib.tensor([[0, 2, 2, 0]]), **options)
        return lib.autograd.grad((rows * lib.arange(4.0).reshape(4, 1)).sum(), weight)

    check(gradients)
    weight = taeda.arange(12.0, dtype=taeda.float64).reshape(3, 4).requires_grad_()
    assert gradgradcheck(lambda weight: taeda.embedding(weight, taeda.tensor([[0, 2, 2, 0]]), **options), (weight,))


def test_product_with_zeros_has_gradients() -> None:
    def gradient(lib: Any) -> Any:
        x = lib.tensor([2.0, 0.0, 3.0]).requires_grad_()
        lib.ones(2).scatter_reduce(0, lib.tensor([0, 0, 1]), x, "prod").sum().backward()
        return x.grad

    check(gradient)


@pytest.mark.parametrize("code", ["x.scatter_add_(0, i, y)", "x.index_put_((i,), y, True)", "x.index_add_(0, i, y)"])
def test_threads_change_no_bit(code: str) -> None:
    taeda.manual_seed(0)
    y, index = taeda.randn(100_000), taeda.randint(0, 50, (100_000,))
    results = []
    before = taeda.get_num_threads()
    try:
        for threads in (1, 2):
            taeda.set_num_threads(threads)
            results.append(eval(code, {"x": taeda.zeros(50), "i": index, "y": y}))
    finally:
        taeda.set_num_threads(before)
    assert bool((results[0] == results[1]).all())


def test_every_byte_of_a_bool_but_zero_is_true():
    mask = taeda.tensor([192, 0, 1, 64], dtype=taeda.uint8).view(taeda.bool)
    wanted = [True, False, True, True]
    assert mask.tolist() == wanted == [bool(x) for x in mask] and mask.float().tolist() == wanted
    assert mask.nonzero().flatten().tolist() == taeda.arange(4)[mask].tolist() == [0, 2, 3]
    assert taeda.arange(4).masked_select(mask).tolist() == [0, 2, 3]
    assert (
        taeda.arange(4).masked_fill(mask, 9).tolist() == taeda.where(mask, 9, taeda.arange(4)).tolist() == [9, 1, 9, 9]
    )
    assert mask.sum() == mask.count_nonzero() == 3 and (~mask).tolist() == [not x for x in wanted]


def test_unravel_index():
    flat = taeda.arange(24).reshape(4, 6)
    parts = taeda.unravel_index(flat, (2, 3, 4))
    assert taeda.equal(parts[0] * 12 + parts[1] * 4 + parts[2], flat) and parts[1].max() == 2
    assert taeda.unravel_index(taeda.tensor(4), 6)[0].item() == 4
    for indices, shape, error in (
        (taeda.ones(1), (2,), TypeError), ([1], (2,), TypeError), (flat, (2.0,), TypeError), (flat, (-1,), ValueError)
    ):  # fmt: skip
        with pytest.raises(error, match="unravel_index"):
            taeda.unravel_index(indices, shape)


@pytest.mark.parametrize("dtype", [taeda.int64, taeda.uint64, taeda.uint8, taeda.bool, taeda.float16])
def test_gradients_of_tables_by_frequency(dtype):
    """Shares of integers are no integers: they are cut off."""
    rows = taeda.tensor([[4, 7], [2, 7], [3, 3], [9, 9]]).to(dtype)
    found = taeda.ops.aten.embedding_dense_backward(rows, taeda.tensor([0, 0, 2, 1]), 4, 1, True)
    shares = (rows[:2] / 2).to(dtype)
    zero = taeda.zeros(2, dtype=dtype)
    assert (
        found.dtype == dtype and found.tolist() == taeda.stack([shares.sum(0).to(dtype), zero, rows[2], zero]).tolist()
    )


def test_gradients_of_distances_of_other_dtypes_are_refused():
    rows, one = taeda.zeros(2, 3), taeda.zeros(1, dtype=taeda.int16)
    with pytest.raises(RuntimeError, match="must be float32 as the rows"):
        taeda.ops.aten._pdist_backward(one, rows, 0.5, one)
    with pytest.raises(RuntimeError, match="must be float32 as the rows"):
        taeda.ops.aten._cdist_backward(taeda.zeros(2, 2, dtype=taeda.float64), rows, rows, 2.0, taeda.zeros(2, 2))
