"""DLPack's functions and kinds of device."""

import taeda


def test_dlpack():
    from taeda.utils import dlpack

    x = taeda.arange(3)
    y = dlpack.from_dlpack(dlpack.to_dlpack(x))
    y[0] = 7
    assert x.tolist() == [7, 1, 2] and dlpack.DLDeviceType(x.__dlpack_device__()[0]) is dlpack.DLDeviceType.kDLCPU
