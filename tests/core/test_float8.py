"""The 8-bit floating types: what they hold, how numbers are rounded to them, and which calls take them."""

from __future__ import annotations

import copy
import io
import math
import pickle

import numpy as np
import pytest

import taeda

NAMES = ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"]
INF, NAN = math.inf, math.nan


def bits(values, name):
    return taeda.tensor(values, dtype=taeda.float32).to(getattr(taeda, name)).view(taeda.uint8).tolist()


def every_value(name):
    return taeda.arange(256).to(taeda.uint8).view(getattr(taeda, name))


@pytest.mark.parametrize(
    ("name", "values", "wanted"),
    [
        ("float8_e4m3fn", [0.0, -0.0, 1.5, 448, 464, 1e6, INF, -INF, NAN, 2**-9, 2**-10, 3 * 2**-10],
         [0, 0x80, 0x3C, 0x7E, 0x7E, 0x7E, 0x7E, 0xFE, 0x7F, 1, 0, 2]),
        ("float8_e4m3fnuz", [0.0, -0.0, 1.5, 240, 247, 248, INF, NAN, -1],
         [0, 0, 0x44, 0x7F, 0x7F, 0x80, 0x80, 0x80, 0xC0]),
        ("float8_e5m2", [0.0, -0.0, 1.5, 57344, 61439, 61440, -INF, NAN],
         [0, 0x80, 0x3E, 0x7B, 0x7B, 0x7C, 0xFC, 0x7F]),
        ("float8_e5m2fnuz", [0.0, -0.0, 1.5, 57344, 61440, INF, NAN], [0, 0, 0x42, 0x7F, 0x80, 0x80, 0x80]),
        ("float8_e8m0fnu", [0.0, -1.0, 1.0, 1.5, 3, 2.5, INF, NAN, 2.0**127],
         [0, 0x7F, 0x7F, 0x80, 0x81, 0x80, 0xFF, 0xFF, 0xFE]),
    ],
)  # fmt: skip
def test_rounding_and_overflow(name, values, wanted):
    assert bits(values, name) == wanted


@pytest.mark.parametrize("name", NAMES)
def test_every_value_survives(name):
    values = every_value(name)
    wide = values.float()
    kept = ~wide.isnan()
    assert wide.to(values.dtype).view(taeda.uint8)[kept].tolist() == values.view(taeda.uint8)[kept].tolist()
    assert taeda.equal(values.double().float()[kept], wide[kept])
    info = taeda.finfo(values.dtype)
    finite = wide[kept & ~wide.isinf()]
    assert (finite.max().item(), finite.min().item()) == (info.max, info.min)


@pytest.mark.parametrize("name", NAMES)
def test_rounds_to_the_nearest(name):
    values = every_value(name).float()
    grid = np.unique(values[values.isfinite()].numpy().astype(np.float64))
    points = np.concatenate([(grid[1:] + 3 * grid[:-1]) / 4, (3 * grid[1:] + grid[:-1]) / 4])
    points = points[np.abs(points) > 2 * taeda.finfo(getattr(taeda, name)).smallest_normal]
    wanted = grid[np.abs(points[:, None] - grid[None, :]).argmin(1)]
    got = taeda.tensor(points, dtype=taeda.float32).to(getattr(taeda, name)).float().numpy()
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("name", NAMES)
def test_what_moves_elements(name):
    x = taeda.tensor([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]], dtype=getattr(taeda, name))
    wide = x.float()
    for function in (
        lambda t: t.t().contiguous(), lambda t: t[:, 1:], lambda t: t[taeda.tensor([1, 0])],
        lambda t: taeda.cat([t, t]),
        lambda t: t.reshape(3, 2), lambda t: t.expand(2, 2, 3).clone(), lambda t: t.index_select(1, taeda.tensor([2])),
        lambda t: t[t.float() > 3], lambda t: taeda.full_like(t, 2), lambda t: taeda.stack([t, t]).flatten(),
    ):  # fmt: skip
        moved = function(x)
        assert moved.dtype == x.dtype
        assert taeda.equal(moved.float(), function(wide))
    assert x[:0].float().shape == (0, 3) and x[:0].double().to(x.dtype).numel() == 0
    leaf = wide.clone().requires_grad_()
    (leaf.to(x.dtype).float() * wide).sum().backward()
    assert taeda.equal(leaf.grad, wide)
    x[0, 0] = 64
    assert x[0, 0].item() == 64
    assert x.tolist() == [[64, 2, 4], [8, 16, 32]]
    assert taeda.tensor([2, 4]).to(x.dtype).to(taeda.int32).tolist() == [2, 4]
    assert x.to(taeda.complex64)[0, 0].item() == 64 + 0j


@pytest.mark.parametrize("name", NAMES)
def test_files_and_copies(name):
    x = every_value(name)
    file = io.BytesIO()
    taeda.save(x, file)
    file.seek(0)
    for twin in (taeda.load(file), pickle.loads(pickle.dumps(x)), copy.deepcopy(x), taeda.from_dlpack(x)):
        assert (twin.dtype, twin.view(taeda.uint8).tolist()) == (x.dtype, list(range(256)))
    assert repr(x[:1]).endswith(f"dtype=torch.{name})")


@pytest.mark.parametrize("name", NAMES)
def test_what_computes_refuses(name):
    x = taeda.ones(2, dtype=getattr(taeda, name))
    for call in (
        lambda: x + x,
        lambda: x.sum(),
        lambda: x.sort(),
        lambda: x.exp(),
        lambda: taeda.rand(2, dtype=x.dtype),
    ):
        with pytest.raises(NotImplementedError, match=name):
            call()
    for call in (lambda: x + taeda.ones(2), lambda: taeda.promote_types(x.dtype, taeda.int32)):
        with pytest.raises(RuntimeError, match="convert it first"):
            call()
    with pytest.raises(TypeError):
        taeda.set_default_dtype(x.dtype)
    with pytest.raises(TypeError):
        x.numpy()


@pytest.mark.torch
@pytest.mark.parametrize("name", NAMES)
def test_conversion_is_torchs(name):
    torch = pytest.importorskip("torch")
    raw = (np.arange(1 << 16, dtype=np.uint32) << 16)[:, None] + np.array([0, 1, 0x8000, 0xFFFF], dtype=np.uint32)
    values = raw.reshape(-1).view(np.float32)
    ours, theirs = (m.tensor(values).to(getattr(m, name)).view(m.uint8).numpy() for m in (taeda, torch))
    np.testing.assert_array_equal(ours, theirs)
    ours, theirs = (m.arange(256).to(m.uint8).view(getattr(m, name)).float().numpy() for m in (taeda, torch))
    np.testing.assert_array_equal(ours, theirs)
    dtypes = [getattr(m, name) for m in (taeda, torch)]
    assert [str(m.finfo(d)) for m, d in zip((taeda, torch), dtypes)] == [str(torch.finfo(dtypes[1]))] * 2
    for attribute in ("is_signed", "is_floating_point", "itemsize"):
        assert getattr(dtypes[0], attribute) == getattr(dtypes[1], attribute)
