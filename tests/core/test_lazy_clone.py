"""Lazy clones: bytes are shared until somebody may write them. (What ops do stands in tests/conformance.)"""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest

import taeda

is_shared = taeda._C._is_cow_tensor
address = taeda._C._data_address


def pair():
    t = taeda.arange(6.0)
    return t, t._lazy_clone()


def test_two_clones_share_and_the_last_takes_the_bytes_over():
    t, clone = pair()
    first = address(t)
    view = t[2:]
    assert is_shared(t) and is_shared(clone) and is_shared(view) and address(clone) == first
    view += 1
    assert not is_shared(t) and address(t) != first
    assert (t.tolist(), clone.tolist()) == ([0, 1, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5])
    assert is_shared(clone)
    clone[0] = 9
    assert not is_shared(clone) and address(clone) == first and t[0] == 0


def test_clones_of_clones_and_of_views():
    t, clone = pair()
    second = clone[1:]._lazy_clone()
    assert address(second) == address(t[1:]) and second.storage_offset() == 1
    del t, clone
    second.zero_()
    assert second.tolist() == [0] * 5


WRITERS = {
    "data_ptr": lambda t: t.data_ptr(),
    "untyped_storage().data_ptr": lambda t: t.untyped_storage().data_ptr(),
    "numpy": lambda t: t.numpy().__setitem__(0, 7),
    "array": lambda t: np.asarray(t).__setitem__(0, 7),
    "memoryview": lambda t: memoryview(t).__setitem__(0, 7.0),
    "dlpack": lambda t: np.from_dlpack(t),
    "from_dlpack": lambda t: taeda.from_dlpack(t).fill_(7),
    "share_memory_": lambda t: t.share_memory_().fill_(7),
    "storage fill_": lambda t: t.untyped_storage().fill_(0),
    "storage setitem": lambda t: t.untyped_storage().__setitem__(0, 7),
    "storage slice": lambda t: t.untyped_storage()[0:4].fill_(7),
    "storage copy_": lambda t: t.untyped_storage().copy_(taeda.zeros(6).untyped_storage()),
    "storage resize_": lambda t: t.untyped_storage().resize_(8),
    "storage byteswap": lambda t: t.untyped_storage().byteswap(taeda.float32),
    "storage memoryview": lambda t: memoryview(t.untyped_storage()).__setitem__(0, 1),
    "typed storage": lambda t: t.storage().__setitem__(0, 7.0),
    "out": lambda t: taeda.neg(taeda.ones(6), out=t),
    "boxed": lambda t: taeda.ops.aten.add_.Tensor(t, taeda.ones(6)),
    "foreach": lambda t: taeda._foreach_add_([taeda.ones(2), t], 1),
    "setitem": lambda t: t.__setitem__(slice(0, 2), 5),
    "resize_": lambda t: t.resize_(9).fill_(1),
    "inference": lambda t: taeda.inference_mode()(lambda: t.detach().add_(1))(),
    "data": lambda t: t.data.add_(1),
    "script": lambda t: taeda.jit.trace(lambda x: x.mul_(2), taeda.ones(6))(t),
    "batch_norm": lambda t: taeda.nn.functional.batch_norm(taeda.rand(2, 6), t, taeda.ones(6), training=True),
    "functorch": lambda t: taeda.vmap(lambda x: x.add_(1))(t),
}


@pytest.mark.parametrize("name", WRITERS)
def test_whoever_may_write_gets_bytes_of_its_own(name):
    t, clone = pair()
    WRITERS[name](t)
    assert clone.tolist() == [0, 1, 2, 3, 4, 5] and is_shared(clone)
    assert address(t) != address(clone)


READERS = {
    "const_data_ptr": lambda t: t.const_data_ptr(),
    "item": lambda t: t[3].item(),
    "repr": repr,
    "tolist": lambda t: t.tolist(),
    "storage getitem": lambda t: t.untyped_storage()[3],
    "storage tolist": lambda t: t.untyped_storage().tolist(),
    "views": lambda t: t.view(2, 3).t()[1:].as_strided((2,), (1,)),
    "geometry": lambda t: t.detach().unsqueeze_(0).t_(),
    "set_": lambda t: taeda.empty(0).set_(t),
    "add": lambda t: t + t,
    "matmul": lambda t: t @ t,
    "clone": lambda t: t.clone(),
    "backward": lambda t: (t.detach().requires_grad_() ** 2).sum().backward(),
}


@pytest.mark.parametrize("name", READERS)
def test_whoever_only_reads_copies_nothing(name):
    t, clone = pair()
    READERS[name](t)
    assert is_shared(t) and is_shared(clone) and address(t) == address(clone)


def test_pickles_and_files_hold_the_values(tmp_path):
    t, clone = pair()
    taeda.save([t, clone], tmp_path / "f")
    loaded, other = taeda.load(tmp_path / "f")
    loaded.add_(1)
    assert other.tolist() == t.tolist() == pickle.loads(pickle.dumps(clone)).tolist()


def test_memory_that_others_may_write_is_copied_at_once():
    array = np.zeros(3, np.float32)
    pinned = taeda.ones(3)
    exported = pinned.numpy()
    for t in (taeda.from_numpy(array), pinned, taeda.ones(3).share_memory_()):
        clone = t._lazy_clone()
        assert not is_shared(t) and not is_shared(clone) and address(t) != address(clone)
    exported[0] = 5
    assert pinned[0] == 5


def test_inference_tensors_too():
    with taeda.inference_mode():
        t = taeda.ones(3)
        clone = t._lazy_clone()
        t.add_(1)
        assert clone.tolist() == [1, 1, 1] and clone.is_inference()


def test_gradients_and_saved_tensors():
    x = taeda.arange(3.0, requires_grad=True)
    y = x._lazy_clone()
    z = (y * y).sum()
    with taeda.no_grad():
        x.add_(10)  # y is a clone: what was saved of it stays
    z.backward()
    assert x.grad.tolist() == [0, 2, 4]
    assert taeda.autograd.gradcheck(lambda t: t._lazy_clone(), taeda.rand(3, dtype=taeda.double, requires_grad=True))
    y = x._lazy_clone()
    z = (y * y).sum()
    with taeda.no_grad():
        y.add_(1)
    with pytest.raises(RuntimeError, match="add_"):
        z.backward()


def test_a_gradient_that_is_a_lazy_clone_is_added_to_apart():
    kept = taeda.ones(3)

    class Give(taeda.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return kept._lazy_clone()

    x = taeda.zeros(3, requires_grad=True)
    (Give.apply(x) + Give.apply(x)).sum().backward()
    Give.apply(x).sum().backward()
    assert x.grad.tolist() == [3, 3, 3] and kept.tolist() == [1, 1, 1]


def test_layouts_subclasses_and_devices():
    t = taeda.rand(3, 4).t()
    clone = t._lazy_clone()
    assert clone.stride() == t.stride() and is_shared(clone)
    empty = taeda.empty(0)._lazy_clone()
    empty.resize_(3).fill_(1)
    assert taeda.ones(2, device="meta")._lazy_clone().add_(1).device.type == "meta"
    conjugated = taeda.tensor([1 + 2j]).conj()._lazy_clone()
    assert conjugated.tolist() == [1 - 2j]
    parameter = taeda.nn.Parameter(taeda.ones(2))
    assert taeda._lazy_clone(parameter).grad_fn is not None


def test_a_storage_that_shrank_keeps_its_addresses():
    t = taeda.ones(1 << 12)
    view = t[-1:]
    t.untyped_storage().resize_(4)
    clone = taeda.empty(0).set_(t.untyped_storage())._lazy_clone()
    t[:1].fill_(2)
    assert view.tolist() == [0] and clone.tolist() == [1]


def test_threads_that_write_apart_and_clone_at_once():
    t = taeda.zeros(8, 1000)
    clones, barrier = [], threading.Barrier(8)

    def work(i):
        for _ in range(50):
            barrier.wait()
            clones.append(t._lazy_clone())
            barrier.wait()
            t[i].add_(1)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (t == 50).all()
    for clone in clones:  # of the moment when all waited
        assert clone.unique().numel() == 1


def test_versions_are_counted_apart():
    t, clone = pair()
    clone.add_(1)
    assert (t._version, clone._version) == (0, 1)


@pytest.mark.parametrize(("pieces", "skips"), [(1, False), (10, False), (10, True)])
def test_no_piece_of_a_parallel_loop_moves_bytes(pieces, skips):
    t, _ = pair()
    with pytest.raises(RuntimeError, match="parallel_for"):
        taeda._test_parallel_materialize(t, pieces, skips)
    t.add_(1)
    taeda._test_parallel_materialize(t, pieces, skips)


def test_bytes_that_a_memoryview_sees_stay_where_they_are():
    t = taeda.arange(6.0)
    with memoryview(t.untyped_storage()):
        assert not is_shared(t._lazy_clone())
        with pytest.raises(RuntimeError, match="memoryview"):
            t.resize_(1000)
    assert is_shared(t._lazy_clone())
    t.resize_(1000)
