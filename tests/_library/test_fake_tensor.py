"""Fake tensors: shapes, dtypes and devices of results without memory; what depends on values raises."""

from __future__ import annotations

import copy
import gc
import weakref
from typing import Any

import pytest

import taeda
from taeda._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorDeviceMismatchError,
    FakeTensorMode,
    is_fake,
)


def network():
    nn = taeda.nn
    layers = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()
    return nn.Sequential(*layers, nn.Linear(8 * 16, 5))


def test_a_training_step_without_memory() -> None:
    with FakeTensorMode():
        model = network()
        optimizer = taeda.optim.Adam(model.parameters())
        loss = taeda.nn.functional.cross_entropy(model(taeda.randn(2, 3, 8, 8)), taeda.tensor([1, 2]))
        loss.backward()
        optimizer.step()
    assert is_fake(loss) and loss.shape == ()
    for p in model.parameters():
        assert isinstance(p, taeda.nn.Parameter) and is_fake(p.grad) and p.grad.shape == p.shape
        assert is_fake(optimizer.state[p]["exp_avg"])


@pytest.mark.parametrize(
    ("call", "shape", "dtype"),
    [
        (lambda a: a @ a.t(), (3, 3), taeda.float32),
        (lambda a: taeda.topk(a, 2).indices, (3, 2), taeda.int64),
        (lambda a: taeda.fft.rfft(a), (3, 3), taeda.complex64),
        (lambda a: taeda.linalg.svd(a).S, (3,), taeda.float32),
        (lambda a: a.to(taeda.float16)[1:], (2, 4), taeda.float16),
        (lambda a: a > taeda.tensor([[1.0], [2.0], [3.0]]), (3, 4), taeda.bool),
        (lambda a: taeda.nn.LSTM(4, 5)(a[None])[0], (1, 3, 5), taeda.float32),
        (lambda a: a.add_(1), (3, 4), taeda.float32),
    ],
)
def test_results(call, shape, dtype):
    with FakeTensorMode():
        result = call(taeda.randn(3, 4))
    assert type(result) is FakeTensor and (result.shape, result.dtype) == (shape, dtype)
    assert result.device == taeda.device("cpu") and not result.is_meta


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda a: a.sum().item(), DataDependentOutputException),
        (lambda a: bool(a.sum() > 0), DataDependentOutputException),
        (lambda a: a.tolist(), DataDependentOutputException),
        (lambda a: a.nonzero(), DynamicOutputShapeException),
        (lambda a: a[a > 0], DynamicOutputShapeException),
        (lambda a: a.numpy(), RuntimeError),
        (lambda a: a + taeda.ones(3, 4, device="cuda"), FakeTensorDeviceMismatchError),
        (lambda a: a @ taeda.ones(3, 3), RuntimeError),
        (lambda a: a + REAL, AssertionError),
    ],
)
def test_errors(call, error):
    with FakeTensorMode(), pytest.raises(error):
        call(taeda.randn(3, 4))


REAL = taeda.ones(3, 4)


def test_devices_that_are_absent() -> None:
    with FakeTensorMode():
        a = taeda.empty(2, device="cuda")
        assert str(a.device) == "cuda:0" and (a + 1).device == a.device and a.cpu().device.type == "cpu"
        assert repr(a) == "FakeTensor(..., device='cuda:0', size=(2,))"
        assert (a + taeda.tensor(1.0)).device == a.device  # numbers go along


def test_of_real_tensors() -> None:
    mode = FakeTensorMode()
    real = taeda.ones(2, 3).t()
    fake = mode.from_tensor(real)
    assert fake is mode.from_tensor(real) and fake.stride() == real.stride() and mode.is_our_fake(fake)
    assert is_fake(fake + fake) and not is_fake(real)
    with pytest.raises(AssertionError, match="from_tensor"):
        _ = fake + real
    with FakeTensorMode(allow_non_fake_inputs=True):
        assert is_fake(real + 1)
    gone = weakref.ref(real)
    del real
    gc.collect()
    assert gone() is None


def test_sizes_are_no_symbols() -> None:
    assert not isinstance(taeda.ones(2).shape[0], (taeda.SymInt, taeda.SymFloat, taeda.SymBool))
    with pytest.raises(TypeError, match="takes a node"):
        taeda.SymInt(3)


def test_modes_see_constants() -> None:
    seen = []

    class Log(taeda.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    numpy = pytest.importorskip("numpy")
    with Log():
        taeda.tensor([1.0]), taeda.as_tensor([2]), taeda.tensor(numpy.ones(2), dtype=taeda.float32)
        taeda.from_numpy(numpy.ones(2)), taeda.ones(1).new_tensor(3)
    assert seen.count("aten.lift_fresh.default") == 5 and set(seen) == {"aten.lift_fresh.default", "aten.ones.default"}


@pytest.mark.parametrize(
    ("change", "shape", "stride"),
    [
        (lambda x: x.unsqueeze_(0), (1, 2, 3), (6, 3, 1)),
        (lambda x: x.t_(), (3, 2), (1, 3)),
        (lambda x: x.transpose_(0, 1).unsqueeze_(-1), (3, 2, 1), (1, 3, 1)),
        (lambda x: x.resize_(4), (4,), (1,)),
    ],
)
def test_sizes_change_in_place(change: Any, shape: Any, stride: Any) -> None:
    with FakeTensorMode():
        x = taeda.ones(2, 3)
        assert change(x) is x and (x.shape, x.stride()) == (shape, stride)
        assert x.mul_(2).add(1).shape == shape
        leaf = taeda.ones(2, 3, requires_grad=True)
        (leaf * 2).unsqueeze_(0).sum().backward()
        assert leaf.grad is not None and leaf.grad.shape == (2, 3)


def test_numbers_that_the_program_wrote_down() -> None:
    with FakeTensorMode():
        number = taeda.tensor(3)
        assert number.item() == 3 and (number + 1).item() == 4 and bool(number > 2)
        number.add_(1)
        for lost in (number, taeda.ones(1), taeda.tensor(3).view(1), taeda.tensor([1, 2]).sum()):
            with pytest.raises(DataDependentOutputException):
                lost.item()


def test_copies_of_modules() -> None:
    with FakeTensorMode() as mode:
        layer = taeda.nn.Linear(2, 3)
        twin = copy.deepcopy(layer)
    assert isinstance(twin.weight, taeda.nn.Parameter) and twin.weight.fake_mode is mode
    assert twin.weight is not layer.weight and twin.weight.requires_grad
