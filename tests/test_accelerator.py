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
    assert not taeda.mps.is_available()
    for room in (taeda.xpu, taeda.mtia):
        assert not room.is_available() and room.device_count() == 0


def test_device_modules():
    assert taeda.get_device_module("cpu") is taeda.cpu and taeda.get_device_module(taeda.device("cuda")) is taeda.cuda
    for kind in ("meta", "nowhere", "nn"):
        with pytest.raises(RuntimeError, match=kind):
            taeda.get_device_module(kind)
    assert taeda.get_device(taeda.ones(1)) == -1
