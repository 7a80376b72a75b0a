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


def eighths(*sizes):
    return taeda.randn(sizes).to(taeda.float8_e4m3fn)


@pytest.mark.parametrize("depth", [2, 3])
def test_scaled_grouped_mm_of_rows(depth):
    a, b = eighths(*[(6, 16), (2, 6, 16)][depth - 2]), eighths(2, 16, 8)
    scale_a, scale_b = taeda.rand(a.shape[:-1]) + 0.5, taeda.rand(2, 8) + 0.5
    offs = taeda.tensor([2, 6], dtype=taeda.int32) if depth == 2 else None
    rows = F.ScalingType.RowWise
    result = F.scaled_grouped_mm(a, b, scale_a, rows, [scale_b], [rows], offs=offs, output_dtype=taeda.float32)
    parts = a.float() * scale_a.unsqueeze(-1)
    each = [parts[:2], parts[2:]] if depth == 2 else parts
    products = [x @ (y.float() * s) for x, y, s in zip(each, b, scale_b)]
    taeda.testing.assert_close(result, taeda.cat(products) if depth == 2 else taeda.stack(products))
    assert F.scaled_grouped_mm(a, b, scale_a, rows, scale_b, rows, offs=offs).dtype == taeda.bfloat16


def test_scaled_grouped_mm_of_parts_of_the_sum():
    a, b, ends, rows = eighths(6, 16), eighths(16, 8), [8, 16], F.ScalingType.RowWise
    scale_a, scale_b = taeda.rand(2, 6) + 0.5, taeda.rand(2, 8) + 0.5
    offs = taeda.tensor(ends, dtype=taeda.int32)
    result = F.scaled_grouped_mm(
        a, b, scale_a.flatten(), rows, scale_b.flatten(), rows, offs=offs, output_dtype=taeda.float32
    )
    for got, cut, s, t in zip(result, (slice(0, 8), slice(8, 16)), scale_a, scale_b, strict=True):
        taeda.testing.assert_close(got, (a[:, cut].float() * s[:, None]) @ (b[cut].float() * t))


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
    with pytest.raises(ValueError, match="scaled_grouped_mm: scale recipes must be both RowWise"):
        F.scaled_grouped_mm(a, a, one, whole, one, whole)
