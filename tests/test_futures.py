"""Futures: set by one thread, waited for by another."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

from taeda.futures import Future, collect_all, wait_all


def test_a_value_of_another_thread():
    future: Future[int] = Future()
    later = future.then(lambda done: done.value() + 1)
    assert not future.done() and not later.done()
    with pytest.raises(RuntimeError, match="not done"):
        future.value()
    thread = threading.Thread(target=future.set_result, args=(3,))
    thread.start()
    assert later.wait() == 4 and future.wait() == future.value() == 3
    thread.join()
    with pytest.raises(RuntimeError, match="done already"):
        future.set_result(4)


def test_errors():
    future: Future[int] = Future()
    later = future.then(lambda done: done.wait())
    future.set_exception(KeyError("a"))
    for read in (future.wait, future.value):
        with pytest.raises(KeyError):
            read()
    with pytest.raises(RuntimeError, match="KeyError") as caught:
        later.wait()
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(AssertionError, match="int"):
        Future().set_exception(3)


def test_an_error_does_not_keep_its_future():
    class Value:
        pass

    gc.disable()
    try:
        future, value = Future(), Value()
        future.value_of_interest, known = value, weakref.ref(value)
        future.set_exception(ValueError())
        for get in (future.wait, future.value):
            with pytest.raises(ValueError):
                get()
        del future, value, get
        assert known() is None
    finally:
        gc.enable()


def test_callbacks(capsys):
    future: Future[int] = Future()
    seen = []
    future.add_done_callback(lambda done: seen.append(done.value()))
    future.add_done_callback(lambda done: 1 / 0)
    future.set_result(1)
    future.add_done_callback(lambda done: seen.append(2))
    assert seen == [1, 2] and "ZeroDivisionError" in capsys.readouterr().out


def test_several():
    futures: list[Future[int]] = [Future() for _ in range(3)]
    everything = collect_all(futures)
    for k in (2, 0, 1):
        assert not everything.done()
        futures[k].set_result(k)
    assert everything.wait() == futures and wait_all(futures) == [0, 1, 2] and collect_all([]).wait() == []
    for wrong in (lambda: collect_all([3]), lambda: futures[0].then(3), lambda: futures[0].add_done_callback(3)):
        with pytest.raises(TypeError, match="int"):
            wrong()
    bad: Future[int] = Future()
    bad.set_exception(ValueError("bad"))
    for wait in (lambda: wait_all([*futures, bad]), lambda: collect_all([bad, *futures]).wait()):
        with pytest.raises(ValueError, match="bad"):
            wait()
