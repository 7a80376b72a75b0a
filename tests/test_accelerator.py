"""Devices beside the CPU, and the modules of all."""

import contextlib
import inspect

import pytest

import taeda


def test_no_accelerator():
    a = taeda.accelerator
    assert not a.is_available() and a.device_count() == 0 and a.current_accelerator(check_available=True) is None
    with a.device_index(None):
        pass
    if a.current_accelerator() is None:
        for name in set(a.__all__) - {"current_accelerator", "device_count", "device_index", "is_available"}:
            with pytest.raises(RuntimeError, match="accelerator"):
                getattr(a, name)(*([0] if name.startswith("set_") else []))
        with pytest.raises(RuntimeError, match="accelerator"), a.device_index(0):
            pass


def test_absent_devices():
    from taeda import backends, mps, mtia, xpu
    from taeda.backends import mps as metal

    assert taeda.mps is mps and backends.mps is metal and not metal.is_built()
    for module in (mps, mtia, xpu):
        assert not module.is_available() and module.device_count() == 0 and module.manual_seed(1) is None
    assert not xpu.is_initialized() and xpu.empty_cache() is None and xpu.memory_allocated() == 0


# What PyTorch's builds without the device do otherwise: fail for want of another package or of a key.
_BY_PACKAGES = {"device_memory_used", "memory_usage", "temperature", "power_draw", "clock_rate", "utilization"}
BETTER = {
    "cuda": {"is_current_stream_capturing", "memory_summary", "list_gpu_processes", "is_bf16_supported",
             "graph_pool_handle", *_BY_PACKAGES},
    "xpu": {"is_current_stream_capturing", "is_bf16_supported", "graph_pool_handle", *_BY_PACKAGES},
    "mtia": {"is_bf16_supported", "init", "initial_seed", "get_rng_state"},
    "mps": set(),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["cuda", "mps", "mtia", "xpu"])
def test_absent_devices_answer_as_torchs(kind):
    torch = pytest.importorskip("torch")
    ours, theirs = getattr(taeda, kind), getattr(torch, kind)
    names = [name for name in vars(ours) if inspect.isroutine(getattr(ours, name)) and name[0] != "_"]
    assert len(names) > 10 and [name for name in names if not hasattr(theirs, name)] == []
    for name in set(names) - BETTER[kind]:
        answers = []
        for module in (theirs, ours):
            try:
                answer = getattr(module, name)()
                answers.append(type(answer).__mro__[-2] if isinstance(answer, dict) else answer)
            except Exception as error:
                answers.append(type(error))
        missing = answers[0] in (AttributeError, TypeError)  # of a function of C++ that is left out, or an argument
        assert answers[0] == answers[1] or missing or isinstance(answers[0], contextlib.AbstractContextManager), name


def test_the_accelerator_is_what_has_devices(monkeypatch):
    from taeda._main import absent_devices

    own = taeda._C._get_privateuse1_backend_name()
    monkeypatch.setitem(absent_devices.BUILT, "xpu", True)
    assert taeda.accelerator.current_accelerator(check_available=True) is None
    if not hasattr(taeda, own):
        assert taeda.accelerator.current_accelerator() == taeda.device("xpu")
    monkeypatch.setitem(absent_devices.BUILT, "mps", True)
    monkeypatch.setattr(taeda.mps, "device_count", lambda: 2)
    assert taeda.accelerator.current_accelerator() == taeda.device("mps") and taeda.accelerator.device_count() == 2


def test_device_modules():
    assert taeda.get_device_module("cpu") is taeda.cpu and taeda.get_device_module(taeda.device("cuda")) is taeda.cuda
    for kind in ("meta", "nowhere", "nn"):
        with pytest.raises(RuntimeError, match=kind):
            taeda.get_device_module(kind)
    assert taeda.get_device(taeda.ones(1)) == -1
