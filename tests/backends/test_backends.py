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


def test_how_exactly_float32_may_be_computed():
    """The nearest of an op, its library and all libraries that says something counts."""
    b = taeda.backends
    ops = [b.cuda.matmul, b.cudnn.conv, b.cudnn.rnn, b.mkldnn.matmul, b.mkldnn.conv, b.mkldnn.rnn]
    state = lambda: [x.fp32_precision for x in (b, b.cudnn, b.mkldnn, *ops)]
    assert b.set_flags() == (b.fp32_precision,)
    with b.flags():
        for module in (b, b.cudnn, b.mkldnn, b.cuda.matmul, b.mkldnn.matmul):
            module.fp32_precision = "none"
        started = ["none"] * 4 + ["tf32", "tf32"] + ["none"] * 3
        assert state() == started and b.cudnn.allow_tf32 and not b.cuda.matmul.allow_tf32
        with b.flags(fp32_precision="ieee"):
            assert state() == ["ieee"] * 9 and not b.cudnn.allow_tf32
        with b.flags(fp32_precision="bf16"):  # which cuDNN has not
            assert state() == ["bf16", "none", "bf16", "none", "tf32", "tf32"] + ["bf16"] * 3
        assert state() == started
        with b.cudnn.flags(fp32_precision="ieee", allow_tf32=False):
            b.cudnn.rnn.fp32_precision = "tf32"
            assert state()[1:6] == ["ieee", "none", "ieee", "ieee", "tf32"]
            with pytest.raises(RuntimeError, match="differ"):
                b.cudnn.allow_tf32  # noqa: B018
        with b.mkldnn.flags(fp32_precision="bf16"):
            assert state()[6:] == ["bf16"] * 3
        assert state() == started
        b.cuda.matmul.allow_tf32 = True
        assert b.cuda.matmul.fp32_precision == "tf32"
        taeda.set_float32_matmul_precision("medium")
        assert (b.cuda.matmul.fp32_precision, b.mkldnn.matmul.fp32_precision) == ("tf32", "bf16")
        taeda.set_float32_matmul_precision("highest")
        assert not b.cuda.matmul.allow_tf32 and b.mkldnn.matmul.fp32_precision == "ieee"
        for switch in (b.cuda.matmul, b.cudnn):
            with pytest.raises(RuntimeError, match="cuda is one of none, ieee, tf32; got 'bf16'"):
                switch.fp32_precision = "bf16"
        with pytest.raises(TypeError, match="is a text; got int"):
            b.fp32_precision = 3
        with pytest.raises(AttributeError):
            b.mkldnn.conv.no_such_switch = True
