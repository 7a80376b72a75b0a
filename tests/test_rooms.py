"""Rooms that say what there is: cuda, backends, accelerator, versions; and the small functions of the main one."""

import pytest

import taeda


def test_there_is_no_cuda():
    cuda = taeda.cuda
    assert not (cuda.is_available() or cuda.is_initialized() or cuda.device_count() or cuda.is_bf16_supported())
    assert cuda.memory_allocated() == cuda.max_memory_allocated() == cuda.memory_reserved() == 0
    assert cuda.get_rng_state_all() == cuda.get_arch_list() == [] and not cuda.is_current_stream_capturing()
    cuda.empty_cache()
    cuda.manual_seed_all(3)
    cuda.set_rng_state_all([])
    cuda.set_device(-1)
    with cuda.device(None), cuda.device(-1), cuda.stream(None):
        pass
    for name in ("synchronize", "current_device", "current_stream", "get_device_name", "get_device_properties",
                 "get_device_capability", "mem_get_info", "init", "get_rng_state"):  # fmt: skip
        with pytest.raises(AssertionError, match=f"cuda.{name}.*CUDA"):
            getattr(cuda, name)()
    with pytest.raises(AssertionError, match="set_device"):
        cuda.set_device(0)
    for make in (cuda.Stream, cuda.Event, cuda.CUDAGraph):
        with pytest.raises(RuntimeError, match="CUDA"):
            make()
    with pytest.raises(RuntimeError, match="CUDA"), cuda.device(0):
        pass


def test_nvtx_marks_nothing():
    for name, args in {
        "range_push": ["a"],
        "range_pop": [],
        "mark": ["a"],
        "range_start": ["a"],
        "range_end": [1],
    }.items():
        with pytest.raises(RuntimeError, match=name):
            getattr(taeda.cuda.nvtx, name)(*args)
    with pytest.raises(RuntimeError), taeda.cuda.nvtx.range("a"):
        pass


@pytest.mark.parametrize(
    "move",
    [
        lambda: taeda.ones(1).cuda(),
        lambda: taeda.ones(1).to("cuda"),
        lambda: taeda.ones(1, device="cuda"),
        lambda: taeda.tensor([1], device="cuda:0"),
        lambda: taeda.nn.Linear(1, 1).cuda(),
        lambda: taeda.nn.Linear(1, 1).to("cuda"),
    ],
)
def test_moving_to_cuda(move):
    with pytest.raises(AssertionError, match="CUDA"):
        move()


def test_the_cpu_is_a_device_too():
    cpu = taeda.cpu
    assert cpu.is_available() and cpu.is_initialized() and cpu.device_count() == 1 and cpu.current_device() == "cpu"
    cpu.set_device(0)
    cpu.synchronize()
    with cpu.stream(cpu.Stream()):
        cpu.current_stream().wait_stream(cpu.current_stream())


def test_names_for_annotations():
    from taeda import types

    assert types.Number == int | float | bool and isinstance(taeda.device("cpu"), types.Device)
    assert isinstance("a", types._str) and issubclass(types._TensorOrTensors.__args__[0], taeda.Tensor)


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


def test_no_accelerator():
    a = taeda.accelerator
    assert not a.is_available() and a.device_count() == 0 and a.current_accelerator(check_available=True) is None
    if a.current_accelerator() is None:
        for name in ("current_device_index", "current_stream", "synchronize"):
            with pytest.raises(RuntimeError, match="accelerator"):
                getattr(a, name)()
    assert not taeda.mps.is_available()
    for room in (taeda.xpu, taeda.mtia):
        assert not room.is_available() and room.device_count() == 0


def test_versions_and_parts():
    assert taeda.version.__version__ == taeda.__version__ and taeda.version.cuda is None and not taeda.version.debug
    assert taeda.__version__ in taeda.__config__.show() and "oneDNN" in taeda.__config__.show()
    assert f"get_num_threads(): {taeda.get_num_threads()}" in taeda.__config__.parallel_info()


def test_every_name_that_dir_lists_is_there():
    for name in dir(taeda):
        assert getattr(taeda, name, MISSING) is not MISSING, name


MISSING = object()


def test_device_modules():
    assert taeda.get_device_module("cpu") is taeda.cpu and taeda.get_device_module(taeda.device("cuda")) is taeda.cuda
    for kind in ("meta", "nowhere", "nn"):
        with pytest.raises(RuntimeError, match=kind):
            taeda.get_device_module(kind)
    assert taeda.get_device(taeda.ones(1)) == -1


VALUES = [
    lambda T: 1, lambda T: True, lambda T: 1.5, lambda T: 1j, lambda T: T.ones(()), lambda T: T.ones(1).double(),
    lambda T: T.ones(2).half(), lambda T: T.ones((), dtype=T.int32), lambda T: T.ones(1, dtype=T.int64),
    lambda T: T.ones(1, dtype=T.bool), lambda T: T.ones((), dtype=T.complex64), lambda T: T.ones(1).bfloat16(),
]  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("default", ["float32", "float64"])
def test_result_types_are_torchs(default):
    torch = pytest.importorskip("torch")
    try:
        for T in (taeda, torch):
            T.set_default_dtype(getattr(T, default))
        for a in VALUES:
            for b in VALUES:
                theirs = str(torch.result_type(a(torch), b(torch))).replace("complex32", "complex64")
                assert str(taeda.result_type(a(taeda), b(taeda))) == theirs
    finally:
        torch.set_default_dtype(torch.float32)


def test_unravel_index():
    flat = taeda.arange(24).reshape(4, 6)
    parts = taeda.unravel_index(flat, (2, 3, 4))
    assert taeda.equal(parts[0] * 12 + parts[1] * 4 + parts[2], flat) and parts[1].max() == 2
    assert taeda.unravel_index(taeda.tensor(4), 6)[0].item() == 4
    for indices, shape, error in (
        (taeda.ones(1), (2,), TypeError), ([1], (2,), TypeError), (flat, (2.0,), TypeError), (flat, (-1,), ValueError)
    ):  # fmt: skip
        with pytest.raises(error, match="unravel_index"):
            taeda.unravel_index(indices, shape)


@pytest.mark.torch
def test_type_names_are_torchs():
    torch = pytest.importorskip("torch")
    for get in (lambda T: T.nn.Linear, lambda T: T.nn.Linear(1, 1), lambda T: T.ones(1), lambda T: T.FloatTensor,
                lambda T: 3, lambda T: int, lambda T: len, lambda T: []):  # fmt: skip
        assert taeda.typename(get(taeda)).replace("taeda", "torch") == torch.typename(get(torch))


def test_anomaly_switch():
    taeda.set_anomaly_enabled(True, False)
    assert taeda.is_anomaly_enabled() and not taeda.is_anomaly_check_nan_enabled()
    taeda.set_anomaly_enabled(False)
    assert not taeda.is_anomaly_enabled() and taeda.is_anomaly_check_nan_enabled()


def test_small_functions():
    assert taeda.sym_sum([1, 2.5]) == 3.5 and taeda.sym_ite(False, 1, 2) == 2 and taeda.sym_sqrt(4) == 2.0
    assert not taeda.is_neg(taeda.ones(1)) and not taeda.is_distributed(taeda.ones(1))
    assert not taeda.is_vulkan_available()
    taeda._assert(True, "fine")
    with pytest.raises(AssertionError, match="not so"):
        taeda._assert(False, "not so")


def test_dlpack():
    from taeda.utils import dlpack

    x = taeda.arange(3)
    y = dlpack.from_dlpack(dlpack.to_dlpack(x))
    y[0] = 7
    assert x.tolist() == [7, 1, 2] and dlpack.DLDeviceType(x.__dlpack_device__()[0]) is dlpack.DLDeviceType.kDLCPU


def test_modules_of_functions():
    def f():
        pass

    taeda.utils.set_module(f, "elsewhere")
    assert f.__module__ == "elsewhere"
    with pytest.raises(TypeError, match="str"):
        taeda.utils.set_module(f, None)
