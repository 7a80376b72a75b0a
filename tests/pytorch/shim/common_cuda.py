"""This suite runs on CPU: every CUDA capability is absent."""

import contextlib

TEST_CUDA = TEST_MULTIGPU = TEST_CUDNN = TEST_MAGMA = TEST_CUSPARSE_GENERIC = TEST_NUMBA_CUDA = False
TEST_CUDNN_VERSION = 0
SM53OrLater = SM60OrLater = SM70OrLater = SM75OrLater = SM80OrLater = SM90OrLater = SM100OrLater = CDNA2OrLater = False
PLATFORM_SUPPORTS_FLASH_ATTENTION = PLATFORM_SUPPORTS_MEM_EFF_ATTENTION = PLATFORM_SUPPORTS_CUDNN_ATTENTION = False
PLATFORM_SUPPORTS_FUSED_ATTENTION = PLATFORM_SUPPORTS_FP8 = PLATFORM_SUPPORTS_BF16 = False
IS_JETSON = IS_SM89 = False
_get_torch_cuda_version = _get_magma_version = _get_torch_rocm_version = lambda: (0, 0)
tf32_is_not_fp32 = lambda: False


class _Null(contextlib.ContextDecorator):
    def __enter__(self):
        return self

    def __exit__(self, *a):
        return False


tf32_on = tf32_off = tf32_enabled = lambda *a, **k: _Null()


def tf32_on_and_off(*a, **k):
    return lambda f: f


def with_tf32_off(f):
    return f


def __getattr__(n):
    if n.startswith("__"):
        raise AttributeError(n)
    from stand_ins import fallback

    return fallback(__name__, n)
