"""Tensors between processes: what is shared, what is refused, and that nothing is left behind."""

import gc
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import threading
from multiprocessing import resource_tracker

import pytest

import taeda
import taeda.multiprocessing as mp
from taeda import nn

METHODS = ["fork", "spawn", "forkserver"]


@pytest.fixture(params=sorted(mp.get_all_sharing_strategies()))
def strategy(request):
    before = mp.get_sharing_strategy()
    mp.set_sharing_strategy(request.param)
    yield request.param
    mp.set_sharing_strategy(before)


def names():
    return {name for name in os.listdir("/dev/shm") if name.startswith(f"taeda_{os.getpid()}_")}


def descriptors():
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


def add_one(inbox, outbox):
    while (tensors := inbox.get()) is not None:
        with taeda.no_grad():
            for tensor in tensors:
                tensor += 1
        outbox.put(tensors)


def exchange(ctx, kind, rounds):
    """Rounds of tensors to a process that adds one, and back."""
    inbox, outbox = getattr(ctx, kind)(), getattr(ctx, kind)()
    process = ctx.Process(target=add_one, args=(inbox, outbox))
    process.start()
    try:
        for _ in range(rounds):
            whole = taeda.zeros(6)
            sent = [whole, whole[1:3], whole.view(2, 3).t(), nn.Parameter(taeda.ones(2)), taeda.empty(0, 3)]
            sent += [taeda.ones(2, dtype=t) for t in (taeda.int8, taeda.bfloat16, taeda.complex64)]
            inbox.put(sent)
            yield sent, outbox.get()
    finally:
        inbox.put(None)
        process.join()
    assert process.exitcode == 0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["Queue", "SimpleQueue"])
def test_both_sides_see_what_either_writes(method, kind, strategy):
    before, files = names(), -1
    for number, (sent, received) in enumerate(exchange(mp.get_context(method), kind, 4)):
        assert sent[0].tolist() == [2, 3, 3, 2, 2, 2], "three views, each one added"
        assert sent[0].is_shared()
        for ours, theirs in zip(sent, received, strict=True):
            assert (type(ours), ours.dtype, ours.stride()) == (type(theirs), theirs.dtype, theirs.stride())
            assert ours.requires_grad == theirs.requires_grad and ours.tolist() == theirs.tolist()
            if ours.numel():
                assert ours.untyped_storage() is theirs.untyped_storage(), "what comes back is what it was"
        del sent, received, ours, theirs
        files = descriptors() if number == 0 else files
        assert descriptors() == files
    assert names() == before


@pytest.mark.parametrize("kind", ["Queue", "SimpleQueue", "Pipe"])
def test_a_message_outlives_its_sender(kind, strategy):
    ctx = mp.get_context("fork")
    queue = ctx.Pipe() if kind == "Pipe" else getattr(ctx, kind)()
    send, get = (queue[0].send, queue[1].recv) if kind == "Pipe" else (queue.put, queue.get)
    process = ctx.Process(target=lambda: send([taeda.arange(4), nn.Linear(2, 2)]))
    process.start()
    process.join()
    numbers, layer = get()
    assert numbers.tolist() == [0, 1, 2, 3] and layer(taeda.ones(2)).shape == (2,)


def test_messages_nobody_reads_leave_nothing(strategy):
    before, files = names(), descriptors()
    for read in (0, 1):
        inbox, outbox = mp.Queue(), mp.Queue()
        process = mp.get_context("fork").Process(target=lambda a=inbox, b=outbox: (b.put(a.get()), signal.pause()))
        process.start()
        for _ in range(5):
            inbox.put([taeda.ones(3) for _ in range(3)])
        for _ in range(read):
            assert len(outbox.get()) == 3
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        process.close()
        for queue in (inbox, outbox):
            queue.close()
            queue.join_thread()
        del inbox, outbox, process, queue
    assert descriptors() <= files + 3  # with the names the tracker's pipe
    if strategy == "file_descriptor":
        assert names() == before


def test_more_tensors_than_one_call_carries():
    first, second = mp.Pipe()
    tensors = [taeda.full((1,), i) for i in range(600)]
    first.send(tensors)
    assert [int(t) for t in second.recv()] == list(range(600))
    sender = threading.Thread(target=first.send, args=([bytes(1 << 20), taeda.ones(1)],))  # more than a socket holds
    sender.start()
    large, one = second.recv()
    sender.join()
    assert (len(large), one.item()) == (1 << 20, 1)


def take_until_full(queue, outbox):
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 20,) * 2)
    kept = []
    try:
        while True:
            kept.append(queue.get())
    except (OSError, RuntimeError) as error:  # as it is received, or as it is mapped
        text = str(error).lower()
    kept.clear()
    outbox.put((text, queue.get()[0].item()))


def test_too_many_open_files():
    """The message is lost; the queue is not."""
    queue, outbox = mp.SimpleQueue(), mp.SimpleQueue()
    process = mp.get_context("fork").Process(target=take_until_full, args=(queue, outbox))
    process.start()
    sent = [[taeda.full((1,), 10 * i + j) for j in range(4)] for i in range(7)]
    for tensors in sent:
        queue.put(tensors)
    process.join()
    assert process.exitcode == 0
    text, after = outbox.get()
    assert "too many open files" in text and after > 20


def test_ends_of_pipes_travel_too():
    first, second = mp.Pipe()
    near, far = mp.Pipe()
    first.send(far)
    near.send(taeda.ones(2))
    assert second.recv().recv().tolist() == [1, 1]


def test_threads_share_a_queue():
    queue = mp.SimpleQueue()
    threads = [threading.Thread(target=lambda k=k: [queue.put(taeda.full((3,), 50 * k + i)) for i in range(50)])
               for k in range(4)]  # fmt: skip
    for thread in threads:
        thread.start()
    assert sorted(int(queue.get()[2]) for _ in range(200)) == list(range(200))
    for thread in threads:
        thread.join()


def test_managers(strategy):
    with mp.get_context("fork").Manager() as manager:
        queue = manager.Queue()
        queue.put(taeda.ones(2))
        assert queue.get().tolist() == [1, 1]


def test_plain_bytes_and_plain_objects():
    first, second = mp.Pipe(duplex=False)
    second.send_bytes(b"abc")
    assert first.poll(5) and first.recv_bytes() == b"abc"
    second.send({"a": 1})
    assert first.recv() == {"a": 1}
    second.send_bytes(b"0123456789")
    with pytest.raises(OSError):
        first.recv_bytes(3)
    with pytest.raises(OSError):
        first.send(1)
    second.close()
    with pytest.raises((EOFError, OSError)):
        first.recv()


def test_the_standard_librarys_own_queues_share_too(strategy):
    queue = multiprocessing.get_context("fork").SimpleQueue()
    tensor = taeda.zeros(3)
    queue.put(tensor)
    queue.get().fill_(2)
    assert tensor.tolist() == [2, 2, 2]


def test_they_share_before_anything_imports_ours():
    """The very first message, through a pickler that has not heard of tensors."""
    code = (
        "import multiprocessing, pickle, sys, taeda\n"
        "whole = taeda.zeros(4)\n"
        "pickle.loads(pickle.dumps(whole)).add_(1)\n"
        "assert not whole.is_shared() and 'taeda.multiprocessing' not in sys.modules\n"
        "sent = [whole, whole[1:3], taeda.nn.Parameter(taeda.zeros(1)), taeda.empty(2, device='meta')]\n"
        "queue = multiprocessing.get_context('fork').SimpleQueue()\n"
        "queue.put(sent); got = queue.get()\n"
        "got[1].fill_(2); got[2].data.fill_(3)\n"
        "print(whole.tolist(), got[0].tolist(), sent[2].item(), type(got[2]).__name__, got[3].device)\n"
        "try: queue.put(taeda.ones(1, requires_grad=True) * 2)\n"
        "except RuntimeError as error: print('detach' in str(error))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    shared = "[0.0, 2.0, 2.0, 0.0]"
    assert done.stdout == f"{shared} {shared} 3.0 Parameter meta\nTrue\n", done.stderr


def test_what_cannot_go():
    grown = taeda.ones(2, requires_grad=True) * 2
    for put in (mp.Queue().put, mp.SimpleQueue().put, mp.Pipe()[0].send):
        with pytest.raises(RuntimeError, match="detach"):
            put([grown])
    queue = mp.Queue(1)
    queue.put(grown.detach())
    assert queue.get(timeout=5).tolist() == [2, 2]


def test_full_and_joinable():
    import queue as standard

    small = mp.Queue(1)
    small.put(1)
    with pytest.raises(standard.Full):
        small.put(taeda.ones(1), block=False)
    joinable = mp.JoinableQueue()
    joinable.put(taeda.ones(1))
    assert joinable.get().item() == 1
    joinable.task_done()
    joinable.join()


def test_meta_and_attributes():
    first, second = mp.Pipe()
    tensor = taeda.ones(2)
    tensor.note = "n"
    first.send([taeda.empty(3, 2, device="meta"), tensor, tensor.untyped_storage(), tensor.storage()])
    meta, plain, untyped, typed = second.recv()
    assert meta.device.type == "meta" and meta.shape == (3, 2)
    assert plain.note == "n" and plain.untyped_storage() is untyped is typed.untyped() is tensor.untyped_storage()


def square(x):
    return x * x, os.getpid()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_pool(method):
    with mp.get_context(method).Pool(2) as pool:
        results = pool.map(square, [taeda.full((2,), i) for i in range(6)])
    assert [r.tolist() for r, _ in results] == [[i * i] * 2 for i in range(6)]
    assert os.getpid() not in {pid for _, pid in results}


def train(index, model, steps):
    taeda.manual_seed(index)
    optimizer = taeda.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(steps):
        x = taeda.randn(16, 3)
        optimizer.zero_grad()
        ((model(x) - x.sum(1, keepdim=True)) ** 2).mean().backward()
        optimizer.step()


@pytest.mark.parametrize("method", METHODS)
def test_several_processes_train_one_model(method):
    taeda.manual_seed(0)
    model = nn.Linear(3, 1).share_memory()
    assert all(p.is_shared() for p in model.parameters())
    mp.start_processes(train, (model, 200), nprocs=2, start_method=method)
    assert (model.weight - 1).abs().max() < 0.05 and model.bias.abs() < 0.05


def tell(index, folder):
    (folder / str(index)).touch()


def test_processes_of_a_forkserver_start_at_the_same_time(monkeypatch, tmp_path):
    monkeypatch.setenv(mp.ENV_VAR_PARALLEL_START, "1")
    kind, everyone = mp.get_context("forkserver").Process, threading.Barrier(3)
    start = kind.start
    monkeypatch.setattr(kind, "start", lambda self: (everyone.wait(20), start(self)))
    mp.start_processes(tell, (tmp_path,), nprocs=3, start_method="forkserver")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1", "2"]


def fail(index, how):
    if index == 0:
        signal.pause() if how != "none" else None
    if how == "raise":
        raise ValueError("boo")
    if how == "exit":
        os._exit(3)
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("how", ["raise", "exit", "kill"])
def test_a_failure_ends_the_others(how):
    context = mp.start_processes(fail, (how,), nprocs=3, join=False, start_method="fork")
    assert len(context.pids()) == 3
    with pytest.raises(mp.ProcessRaisedException if how == "raise" else mp.ProcessExitedException) as caught:
        while not context.join():
            pass
    error = caught.value
    assert error.error_index in (1, 2) and error.error_pid == context.pids()[error.error_index]
    if how == "raise":
        assert "ValueError: boo" in str(error) and "in fail" in str(error)
    else:
        assert (error.exit_code, error.signal_name) == {"exit": (3, None), "kill": (-9, "SIGKILL")}[how]
    assert not any(process.is_alive() for process in context.processes)
    import pickle

    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.error_index, again.error_pid) == (str(error), error.error_index, error.error_pid)
    files = list(context.error_files)
    del context, caught, error
    gc.collect()
    assert not any(os.path.exists(file) for file in files)


def test_spawn():
    assert mp.spawn(fail, ("none",), nprocs=2) is None
    with pytest.warns(FutureWarning, match="start_processes"):
        context = mp.spawn(fail, ("none",), join=False, start_method="fork")
    while not context.join(timeout=30):
        pass
    with pytest.warns(UserWarning, match="ProcessContext"):
        assert isinstance(mp.SpawnContext([], []), mp.ProcessContext)


def test_names():
    """Beside the standard library's all that PyTorch documents."""
    documented = {"spawn", "start_processes", "ProcessContext", "ProcessRaisedException", "ProcessExitedException",
                  "SpawnContext", "get_sharing_strategy", "set_sharing_strategy", "get_all_sharing_strategies",
                  "init_reductions", *multiprocessing.__all__}  # fmt: skip
    assert {name for name in documented if not hasattr(mp, name)} == set()


def test_strategies():
    assert mp.get_all_sharing_strategies() == {"file_descriptor", "file_system"}
    with pytest.raises(AssertionError, match="file_descriptor"):
        mp.set_sharing_strategy("carrier_pigeon")


def test_forks_after_threads_were_used():
    before = taeda.get_num_threads()
    taeda.set_num_threads(2)
    try:
        big = taeda.ones(1 << 21)
        assert big.sum() == 1 << 21
        other = threading.Thread(target=lambda: (big * 2).sum())
        other.start()
        queue = mp.get_context("fork").SimpleQueue()
        process = mp.get_context("fork").Process(target=lambda: queue.put((big + big).sum()))
        process.start()
        assert queue.get() == 1 << 22
        process.join()
        other.join()
    finally:
        taeda.set_num_threads(before)


def test_a_killed_programs_names_are_removed():
    code = (
        "import os, signal, taeda, taeda.multiprocessing as mp\n"
        "mp.set_sharing_strategy('file_system')\n"
        "a, b = mp.Pipe(); t = [taeda.ones(2) for _ in range(3)]; a.send(t)\n"
        "print(os.getpid(), len([n for n in os.listdir('/dev/shm') if str(os.getpid()) in n]), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    # Its output ends when the tracker, which has the same, has ended.
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    pid, count = done.stdout.split()
    assert count == "6" and not any(pid in name for name in os.listdir("/dev/shm"))


def put_shared(outbox):
    mp.set_sharing_strategy("file_system")
    outbox.put(taeda.ones(2))


def test_a_fork_while_another_thread_speaks_to_the_tracker():
    """The tracker's lock is taken by a thread that the child does not have."""
    lock, taken, done = resource_tracker._resource_tracker._lock, threading.Event(), threading.Event()

    def hold():
        with lock:
            taken.set()
            done.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    taken.wait()
    ctx = mp.get_context("fork")
    outbox = ctx.SimpleQueue()
    child = ctx.Process(target=put_shared, args=(outbox,))
    child.start()
    done.set()
    holder.join()
    child.join(30)
    stuck = child.is_alive()
    child.kill()
    assert not stuck and outbox.get().tolist() == [1, 1]
