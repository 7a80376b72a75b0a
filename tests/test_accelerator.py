"""Devices beside the CPU, and the modules of all."""

import pytest

import taeda


def test_no_accelerator():
    a = taeda.accelerator
    assert not a.is_available() and a.device_count() == 0 and a.current_accelerator(check_available=True) is None
    if a.current_accelerator() is None:
        for name in ("current_device_index", "current_stream", "synchronize"):
            with pytest.raises(RuntimeError, match="accelerator"):
                getattr(a, name)()


def test_absent_devices():
    from taeda import backends, mps, mtia, xpu
    from taeda.backends import mps as metal

    assert taeda.mps is mps and backends.mps is metal and not metal.is_built()
    for module in (mps, mtia, xpu):
        assert not module.is_available() and module.device_count() == 0 and module.manual_seed(1) is None
    assert not xpu.is_initialized() and xpu.empty_cache() is None and xpu.memory_allocated() == 0


@pytest.mark.torch
@pytest.mark.parametrize("kind", ["cuda", "mps", "mtia", "xpu"])
def test_absent_devices_have_torchs_names(kind):
    torch = pytest.importorskip("torch")
    module = getattr(taeda, kind)
    names = [name for name in vars(module) if callable(getattr(module, name)) and name[0] != "_" and name != "Any"]
    assert len(names) > 2 and [name for name in names if not hasattr(getattr(torch, kind), name)] == []


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
