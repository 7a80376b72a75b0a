"""FloatTensor and its kind: construction, isinstance, conversions, against torch's where it is installed."""

import pytest

import taeda

MAKE = {
    "nothing": lambda T: T.FloatTensor(),
    "sizes": lambda T: T.LongTensor(2, 3).zero_(),
    "a Size": lambda T: T.ByteTensor(T.Size([2, 3])).zero_(),
    "a list": lambda T: T.LongTensor([1, 2]),
    "rounded": lambda T: T.LongTensor([1.7]),
    "nested": lambda T: T.DoubleTensor([[1, 2], [3, 4]]),
    "a range": lambda T: T.FloatTensor(range(3)),
    "bools": lambda T: T.BoolTensor([1, 0]),
    "halves": lambda T: T.HalfTensor([1, 0]),
    "its own": lambda T: T.FloatTensor(T.ones(2)),
    "on the CPU": lambda T: T.FloatTensor(2, device="cpu").zero_(),
    "converted": lambda T: T.ones(1).type(T.LongTensor),
    "sparse": lambda T: T.sparse.DoubleTensor(T.tensor([[0, 1], [1, 0]]), T.tensor([1.0, 2.0]), T.Size([2, 3])),
    "sparse of the smallest size": lambda T: T.sparse.FloatTensor(T.tensor([[0, 1], [1, 0]]), T.tensor([1.0, 2.0])),
    "sparse sizes": lambda T: T.sparse.LongTensor(2, 3),
    "a sparse Size": lambda T: T.sparse.HalfTensor(T.Size([2, 3])),
    "sparse nothing": lambda T: T.sparse.FloatTensor(),
    "by name": lambda T: T.ones(1).type("torch.IntTensor"),
}


def facts(T, name):
    x = MAKE[name](T)
    types = T.FloatTensor, T.LongTensor, T.sparse.FloatTensor, T.sparse.LongTensor
    return x.to_dense().tolist(), str(x.dtype), tuple(x.shape), x.type(), [isinstance(x, t) for t in types]


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:torch.sparse.SparseTensor")
@pytest.mark.parametrize("name", MAKE)
def test_as_torch(name):
    assert facts(taeda, name) == facts(pytest.importorskip("torch"), name)


def test_what_they_are():
    x = taeda.ones(2)
    assert isinstance(x, taeda.FloatTensor) and isinstance(taeda.nn.Parameter(x), taeda.FloatTensor)
    assert not isinstance(x.to("meta"), taeda.FloatTensor) and not isinstance([1.0], taeda.FloatTensor)
    assert not isinstance(x, taeda.cuda.FloatTensor) and taeda.cuda.FloatTensor.is_cuda
    assert taeda.HalfTensor.dtype == taeda.float16 and not taeda.HalfTensor.is_cuda
    assert str(taeda.LongTensor) == "<class 'torch.LongTensor'>" == str(taeda.LongTensor)
    alias = taeda.FloatTensor(x)
    alias[0] = 5
    assert x.tolist() == [5, 1] and alias._base is x
    for cls in (taeda.FloatTensor, taeda.Tensor, type("Own", (taeda.Tensor,), {})):
        assert taeda.autograd.grad(cls(x.requires_grad_()).sum(), x)[0].tolist() == [1, 1], cls
    taeda.set_default_tensor_type(taeda.DoubleTensor)
    assert taeda.ones(1).dtype == taeda.float64


@pytest.mark.parametrize("sizes", [(2,), ([1.0, 2.0],), (), (taeda.Size([2]),)])
def test_they_ignore_the_default_device(sizes):
    with taeda.device("meta"):
        assert taeda.FloatTensor(*sizes).is_cpu and taeda.Tensor(*sizes).is_cpu


@pytest.mark.parametrize("argument", [2.5, None, "a"])
def test_refusals(argument):
    with pytest.raises(TypeError, match="FloatTensor"):
        taeda.FloatTensor(argument)


def test_other_refusals():
    with pytest.raises(TypeError, match="DoubleTensor"):
        taeda.FloatTensor(taeda.ones(2, dtype=taeda.float64))
    with pytest.raises(RuntimeError, match="CPU"):
        taeda.FloatTensor(2, device="meta")
    with pytest.raises(TypeError, match="CUDA"):
        taeda.cuda.LongTensor(2)
    with pytest.raises(TypeError, match="sparse.LongTensor"):
        taeda.sparse.LongTensor([1, 2])


def test_storage_types():
    assert taeda.zeros(3).storage_type() is taeda.FloatStorage
    assert taeda.zeros(3, dtype=taeda.int64).storage_type() is taeda.LongStorage
    assert isinstance(taeda.zeros(3).storage(), taeda.FloatStorage)
    assert not isinstance(taeda.LongStorage(2), taeda.FloatStorage)


def test_the_default_type():
    taeda.set_default_dtype(taeda.float64)
    assert taeda.Storage is taeda.DoubleStorage
    taeda.set_default_dtype(taeda.float32)
    assert taeda.Storage is taeda.FloatStorage
    for absent in (taeda.cuda.FloatTensor, "torch.cuda.FloatTensor"):
        with pytest.raises(TypeError, match="CUDA"):
            taeda.set_default_tensor_type(absent)
    with pytest.raises(TypeError, match="dtype"):
        taeda.set_default_tensor_type(taeda.float32)
    with pytest.raises(RuntimeError, match="device"):
        taeda.ones(1).new(taeda.ones(1), device="cpu")
