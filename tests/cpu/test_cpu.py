"""The CPU as a device."""

import platform

import pytest

import taeda


def test_the_cpu_is_a_device_too():
    cpu = taeda.cpu
    assert cpu.is_available() and cpu.is_initialized() and cpu.device_count() == 1 and cpu.current_device() == "cpu"
    cpu.set_device(0)
    cpu.synchronize()
    with cpu.stream(cpu.Stream()):
        cpu.current_stream().wait_stream(cpu.current_stream())


def test_capabilities():
    found = taeda.cpu.get_capabilities()
    assert found["architecture"] == platform.machine() and found["num_logical_cores"] >= found["num_sockets"] >= 1
    assert taeda.cpu._is_avx2_supported() == found.get("avx2", False)
    assert taeda._C._cpu._get_cpu_capability() is found


@pytest.mark.torch
def test_capabilities_are_what_pytorch_finds():
    torch = pytest.importorskip("torch")
    ours, theirs = taeda.cpu.get_capabilities(), torch.cpu.get_capabilities()
    vectors = [name for name in theirs if name.startswith(("avx", "amx", "fma", "sse"))]
    assert {name: ours.get(name, False) for name in vectors} == {name: theirs[name] for name in vectors}
    for name in ("avx2", "avx512", "avx512_bf16", "vnni", "amx_tile", "amx_fp16"):
        asked = f"_is_{name}_supported"
        assert getattr(taeda.cpu, asked)() == getattr(torch.cpu, asked)()
