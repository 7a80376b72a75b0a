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


def test_ways_to_compute_attention():
    """The switches of `taeda.backends.cuda` and of `taeda.nn.attention` are one."""
    from taeda.backends import cuda
    from taeda.nn import attention

    names = ("flash", "mem_efficient", "math", "cudnn")
    state = lambda: [getattr(cuda, f"{name}_sdp_enabled")() for name in names]
    assert state() == [True] * 4
    with attention.sdpa_kernel([attention.SDPBackend.MATH, attention.SDPBackend.FLASH_ATTENTION]):
        assert state() == [True, False, True, False]
    with pytest.warns(FutureWarning, match="sdpa_kernel"), cuda.sdp_kernel(enable_math=False):
        assert state() == [True, True, False, True]
    for i, name in enumerate(names):
        getattr(cuda, f"enable_{name}_sdp")(False)
        assert state() == [k != i for k in range(4)] and len(attention._cur_sdpa_kernel_backends()) == 4
        getattr(cuda, f"enable_{name}_sdp")(True)
    q = taeda.ones(1, 1, 2, 4)
    asked = cuda.SDPAParams(q, q, q, None, 0.0, False, False)
    assert not (cuda.can_use_flash_attention(asked) or cuda.is_flash_attention_available())
    for name in ("clear", "size", "max_size"):
        with pytest.raises(AssertionError, match=f"cufft_plan_cache.{name}: .* no CUDA"):
            getattr(cuda.cufft_plan_cache[0], name)
    assert not hasattr(cuda.cufft_plan_cache, "plans")
