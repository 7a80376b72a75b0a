"""The CPU as a device."""

import taeda


def test_the_cpu_is_a_device_too():
    cpu = taeda.cpu
    assert cpu.is_available() and cpu.is_initialized() and cpu.device_count() == 1 and cpu.current_device() == "cpu"
    cpu.set_device(0)
    cpu.synchronize()
    with cpu.stream(cpu.Stream()):
        cpu.current_stream().wait_stream(cpu.current_stream())
