"""Products of 8-bit floats with scales."""

import pytest

import taeda
import taeda.nn.functional as F


@pytest.mark.parametrize("rowwise", [False, True])
@pytest.mark.parametrize("dtype", [taeda.bfloat16, taeda.float32, None])
def test_scaled_mm(rowwise, dtype):
    a = taeda.arange(-32.0, 32).reshape(4, 16).div(8).to(taeda.float8_e4m3fn)
    b = taeda.arange(48.0).reshape(3, 16).div(16).to(taeda.float8_e4m3fn).t()
    recipe = F.ScalingType.RowWise if rowwise else F.ScalingType.TensorWise
    scales = (taeda.rand(4, 1) + 0.5, taeda.rand(1, 3) + 0.5) if rowwise else (taeda.tensor(2.0), taeda.tensor(0.5))
    result = F.scaled_mm(a, b, scales[0], recipe, [scales[1]], [recipe], bias=taeda.ones(3), output_dtype=dtype)
    wanted = (a.float() @ b.float()) * scales[0] * scales[1] + 1
    assert result.dtype == (dtype or taeda.float8_e4m3fn)
    taeda.testing.assert_close(result.float(), wanted.to(result.dtype).float())


def test_scaled_mm_errors():
    a, one = taeda.ones(16, 16).to(taeda.float8_e4m3fn), taeda.tensor(1.0)
    whole, rows = F.ScalingType.TensorWise, F.ScalingType.RowWise
    for arguments in (
        (a, a, one, rows, one, whole),
        (a, a, taeda.ones(16), rows, taeda.ones(16), rows),
        (a.float(), a, one, whole, one, whole),
        (a, a, one.double(), whole, one, whole),
        (a, a, [one, one], [whole, whole], one, whole),
    ):
        with pytest.raises(ValueError):
            F.scaled_mm(*arguments)
