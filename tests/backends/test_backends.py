"""What the backends say of themselves, and their switches."""

import pytest

import taeda


def test_backends():
    b = taeda.backends
    assert [b.cudnn.is_available(), b.mkl.is_available(), b.mps.is_available(), b.mps.is_built()] == [False] * 4
    assert b.mkldnn.is_available() and b.openmp.is_available() and not b.cuda.is_built() and b.cudnn.version() is None
    assert b.cpu.get_cpu_capability() in ("AVX512", "AVX2", "DEFAULT") and not b.opt_einsum.is_available()
    before = b.cudnn.benchmark
    with b.cudnn.flags(benchmark=True, deterministic=True):
        assert b.cudnn.benchmark and b.cudnn.deterministic and not b.cudnn.enabled
    assert b.cudnn.benchmark == before and b.cudnn.enabled and not b.cudnn.is_acceptable(taeda.ones(1))
    b.cuda.matmul.allow_tf32 = b.cuda.matmul.allow_tf32
    with pytest.raises(AttributeError):
        b.cuda.matmul.no_such_switch = True
    assert set(dir(b)) >= {"cudnn", "mps"}


def test_primitive_cache():
    cache = taeda.backends.mkldnn.primitive_cache
    kept = cache.max_size
    cache.clear()
    before = cache.hits, cache.misses
    try:
        for size in (9, 11, 11, 9):
            taeda.conv2d(taeda.ones(1, 16, size, size), taeda.ones(16, 16, 3, 3))
        assert (cache.hits - before[0], cache.misses - before[1], cache.size) == (2, 2, 2)
        cache.max_size = 1
        assert cache.size == cache.max_size == 1
        with pytest.raises(ValueError, match="must not be negative"):
            cache.max_size = -1
    finally:
        cache.max_size = kept
