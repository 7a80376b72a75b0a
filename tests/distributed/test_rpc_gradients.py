"""Gradients through calls between workers, optimisers of their parameters, and modules that live elsewhere."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from test_rpc import play

import taeda
import taeda.distributed.autograd as dist_autograd
import taeda.distributed.rpc as rpc
from taeda import nn
from taeda.distributed.nn import RemoteModule
from taeda.distributed.optim import DistributedOptimizer
from taeda.futures import Future, wait_all


class Layer:
    """A layer that another worker calls."""

    def __init__(self, seed: int, inputs: int = 3, outputs: int = 3) -> None:
        taeda.manual_seed(seed)
        self.layer = nn.Linear(inputs, outputs)
        self.lock = threading.Lock()

    def forward(self, x: Any) -> Any:
        return taeda.tanh(self.layer(x))

    def forward_of(self, x: Any) -> Any:
        with self.lock:
            return self.forward(x.to_here())

    def parameters(self) -> Any:
        return [rpc.RRef(parameter) for parameter in self.layer.parameters()]

    def values(self) -> Any:
        return [parameter.detach() for parameter in self.layer.parameters()]


def layers(count: int) -> list[Layer]:
    return [Layer(seed) for seed in range(count)]


def _steps(forward: Any, parameters: list[Any], steps: int = 3) -> list[float]:
    """The losses of a training in one process."""
    optimizer = taeda.optim.SGD(parameters, lr=0.3)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = forward(_data()).pow(2).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def _data() -> Any:
    return taeda.linspace(-1, 1, 12).view(4, 3)


def test_a_network_over_workers_trains_as_in_one_process() -> None:
    """Both ways meet again, one layer is used twice, and one crossing is of no use."""

    def body(rank: int) -> Any:
        if rank:
            return None
        a, b = (rpc.remote(f"worker{i + 1}", Layer, (i,)) for i in range(2))
        head = Layer(2)
        references = a.rpc_sync().parameters() + b.rpc_sync().parameters()
        optimizer = DistributedOptimizer(taeda.optim.SGD, references + head.parameters(), lr=0.3)
        losses = []
        for _ in range(3):
            with dist_autograd.context() as context:
                first = a.rpc_async().forward(_data())
                h = b.rpc_sync().forward(first.wait())
                h = h + a.remote().forward(h).to_here() * first.wait()
                b.rpc_sync().forward(h)  # leads nowhere
                loss = head.forward(h).pow(2).sum()
                dist_autograd.backward(context, [loss])
                assert all(parameter.grad is None for parameter in head.layer.parameters())
                optimizer.step(context)
                losses.append(loss.item())
        return losses, [value.tolist() for one in (a, b) for value in one.rpc_sync().values()]

    losses, values = play(3, body)[0]
    a, b, head = layers(3)

    def forward(x: Any) -> Any:
        first = a.forward(x)
        h = b.forward(first)
        return head.forward(h + a.forward(h) * first)

    parameters = [parameter for one in (a, b, head) for parameter in one.layer.parameters()]
    assert losses == pytest.approx(_steps(forward, parameters), rel=1e-5)
    for value, parameter in zip(values, parameters):
        taeda.testing.assert_close(taeda.tensor(value), parameter.detach(), rtol=1e-4, atol=1e-5)


def test_a_pipeline_of_microbatches() -> None:
    def body(rank: int) -> Any:
        if rank:
            return None
        a, b = (rpc.remote(f"worker{i + 1}", Layer, (i,)) for i in range(2))
        optimizer = DistributedOptimizer(taeda.optim.SGD, a.rpc_sync().parameters() + b.rpc_sync().parameters(), lr=0.3)
        losses = []
        for _ in range(3):
            with dist_autograd.context() as context:
                parts = []
                for part in _data().split(2):
                    half_way = a.remote().forward_of(rpc.RRef(part))
                    parts.append(b.rpc_async().forward_of(half_way))
                loss = taeda.cat(wait_all(parts)).pow(2).sum()
                dist_autograd.backward(context, [loss])
                optimizer.step(context)
                losses.append(loss.item())
        return losses

    a, b = layers(2)
    parameters = [*a.layer.parameters(), *b.layer.parameters()]
    assert play(3, body)[0] == pytest.approx(_steps(lambda x: b.forward(a.forward(x)), parameters), rel=1e-5)


def _nested(x: Any, depth: int) -> Any:
    """Goes to the next worker, and back."""
    me = rpc.get_worker_info().id
    if depth == 0:
        return x * 2
    return rpc.rpc_sync((me + 1) % 3, _nested, (x * x, depth - 1)) + x


def test_nested_calls_and_what_is_left() -> None:
    def body(rank: int) -> Any:
        if rank:
            return None
        x = taeda.tensor(1.5, requires_grad=True)
        with dist_autograd.context() as context:
            loss = rpc.rpc_sync("worker1", _nested, (x, 3))
            dist_autograd.backward(context, [loss], retain_graph=True)
            once = dist_autograd.get_gradients(context)[x].item()
            dist_autograd.backward(context, [loss])
            twice = dist_autograd.get_gradients(context)[x].item()
            assert set(dist_autograd.get_gradients(context)) == {x}
        deadline = time.monotonic() + 10
        while any(rpc.rpc_sync(i, _contexts) != "0" for i in range(3)) and time.monotonic() < deadline:
            time.sleep(0.01)
        return once, twice, [rpc.rpc_sync(i, _contexts) for i in range(3)]

    x = taeda.tensor(1.5, requires_grad=True)
    loss: Any = x
    terms = []
    for _ in range(3):
        terms.append(loss)
        loss = loss * loss
    (loss * 2 + sum(terms)).backward()
    assert x.grad is not None
    once, twice, left = play(3, body)[0]
    assert once == pytest.approx(x.grad.item()) and twice == pytest.approx(2 * x.grad.item()) and left == ["0"] * 3


def _contexts() -> str:
    return dist_autograd._get_debug_info()["num_autograd_contexts"]


class Breaks(taeda.autograd.Function):
    """Has no backward."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise ZeroDivisionError("no way back")


def _broken(x: Any) -> Any:
    return Breaks.apply(x)


def test_gradient_errors() -> None:
    def body(rank: int) -> Any:
        if rank:
            return
        x = taeda.ones(2, requires_grad=True)
        with dist_autograd.context() as context:
            with pytest.raises(RuntimeError, match="no way back"):
                dist_autograd.backward(context, [rpc.rpc_sync("worker1", _broken, (x,)).sum()])
            for roots in ([], [x], [taeda.ones(1)], x):
                with pytest.raises((RuntimeError, TypeError), match="backward"):
                    dist_autograd.backward(context, roots)  # type: ignore[arg-type]
            with pytest.raises(RuntimeError, match="context"), dist_autograd.context():
                pass
            y = rpc.rpc_sync("worker1", taeda.mul, (x, 3))
            y.add_(1)
            dist_autograd.backward(context, [y.sum()])
            assert dist_autograd.get_gradients(context)[x].tolist() == [3, 3]
        sparse = taeda.sparse_coo_tensor([[0, 2]], [3.0, 4.0], (3,), requires_grad=True)
        with dist_autograd.context() as context:
            dist_autograd.backward(context, [rpc.rpc_sync("worker1", taeda.mul, (sparse, 2)).sum()])
            assert dist_autograd.get_gradients(context)[sparse].to_dense().tolist() == _sparse_twin()
        with pytest.raises(RuntimeError, match="could not find"):
            dist_autograd.get_gradients(context)
        assert rpc.RRef(x.sum()).backward() is None and x.grad is not None

    play(2, body)


def _sparse_twin() -> Any:
    x = taeda.sparse_coo_tensor([[0, 2]], [3.0, 4.0], (3,), requires_grad=True)
    (x * 2).sum().backward()
    assert x.grad is not None
    return x.grad.to_dense().tolist()


class Model(nn.Module):
    """Says what it got."""

    def __init__(self, factor: float, bias: float = 0) -> None:
        super().__init__()
        self.factor = nn.Parameter(taeda.tensor(factor))
        self.bias = bias

    def forward(self, x: Any, times: int = 1) -> Any:
        return (x * self.factor + self.bias) * times


def _forward(module: Any, x: Any) -> Any:
    return module(x)


def _training(module: Any) -> bool:
    return bool(module.local_value().training)


def test_modules_elsewhere() -> None:
    def body(rank: int) -> Any:
        if rank:
            return
        module = RemoteModule("worker1/cpu", Model, (2.0,), {"bias": 1})
        x = taeda.ones(2)
        assert module(x, times=2).tolist() == [6, 6] and module.forward_async(x).wait().tolist() == [3, 3]
        assert rpc.rpc_sync("worker2", _forward, (module, x)).tolist() == [3, 3]
        assert isinstance(module.forward_async(x), Future)
        module.eval()
        assert not rpc.rpc_sync("worker1", _training, (module.get_module_rref(),))
        with dist_autograd.context() as context:
            dist_autograd.backward(context, [module(x).sum()])
            DistributedOptimizer(taeda.optim.SGD, module.remote_parameters(), lr=0.5).step(context)
        assert [one.to_here().item() for one in module.remote_parameters()] == [1]
        again = RemoteModule.init_from_module_rref("worker1", module.get_module_rref())
        assert again(x).tolist() == [2, 2]
        with pytest.raises(ValueError, match="remote_parameters"):
            module.parameters()
        with pytest.raises(ValueError, match="Module"):
            RemoteModule("worker1", dict)(x)
        for wrong in ("/cpu", "worker1/nothing"):
            with pytest.raises(ValueError, match="worker/device"):
                RemoteModule(wrong, Model, (1.0,))

    play(3, body)


class Server:
    """Takes gradients from trainers, and steps once it has all of them."""

    def __init__(self, trainers: int) -> None:
        self.model = Layer(0).layer
        self.optimizer = taeda.optim.SGD(self.model.parameters(), lr=0.1)
        self.lock = threading.Lock()
        self.trainers, self.got = trainers, 0
        self.next: Future[Any] = Future()
        for parameter in self.model.parameters():
            parameter.grad = taeda.zeros_like(parameter)

    def get_model(self) -> Any:
        return self.model

    @staticmethod
    @rpc.functions.async_execution
    def update(reference: Any, grads: Any) -> Future[Any]:
        self = reference.local_value()
        with self.lock:
            self.got += 1
            mine = self.next
            for parameter, grad in zip(self.model.parameters(), grads):
                parameter.grad += grad / self.trainers
            if self.got == self.trainers:
                self.got, self.next = 0, Future()
                self.optimizer.step()
                self.optimizer.zero_grad(set_to_none=False)
                mine.set_result(self.model)
        return mine


def _train(server: Any, number: int) -> None:
    model = server.rpc_sync().get_model()
    for _ in range(3):
        model(_data()[number::2]).pow(2).sum().backward()
        grads = [parameter.grad for parameter in model.parameters()]
        model = rpc.rpc_sync(server.owner(), Server.update, (server, grads))


def test_a_parameter_server_in_batches() -> None:
    def body(rank: int) -> Any:
        if rank:
            return None
        server = rpc.RRef(Server(2))
        wait_all([rpc.rpc_async(f"worker{i + 1}", _train, (server, i)) for i in range(2)])
        return [parameter.tolist() for parameter in server.local_value().model.parameters()]

    model = Layer(0).layer
    optimizer = taeda.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(3):
        optimizer.zero_grad()
        model(_data()).pow(2).sum().backward()
        optimizer.step()
    for got, parameter in zip(play(3, body)[0], model.parameters()):
        taeda.testing.assert_close(taeda.tensor(got), parameter.detach(), rtol=1e-5, atol=1e-6)
