"""CUDA devices, of which there are none."""

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
    with cuda.device(None), cuda.device(-1), cuda.device_of(taeda.ones(1)), cuda.stream(None):
        pass
    for name in ("synchronize", "current_device", "current_stream", "get_device_name", "get_device_properties",
                 "get_device_capability", "mem_get_info", "init", "get_rng_state"):  # fmt: skip
        with pytest.raises(AssertionError, match=f"cuda.{name}.*CUDA"):
            getattr(cuda, name)()
    with pytest.raises(AssertionError, match="set_device"):
        cuda.set_device(0)
    for make in (cuda.Stream, cuda.Event, cuda.CUDAGraph):
        with pytest.raises(RuntimeError, match="no such device"):
            make()
    with pytest.raises(RuntimeError, match="no such device"), cuda.device(0):
        pass


def test_modules_of_cuda():
    cuda = taeda.cuda
    assert cuda.memory.memory_allocated is cuda.memory_allocated and cuda.random.seed is cuda.seed
    assert "no CUDA" in cuda.memory_summary() and cuda.host_memory_stats() == {} and cuda.memory_snapshot() == []
    assert issubclass(cuda.OutOfMemoryError, RuntimeError) and cuda.AcceleratorError is taeda.AcceleratorError
    assert taeda.equal(cuda.comm.reduce_add([taeda.ones(2), taeda.ones(2)]), taeda.full((2,), 2.0))
    with pytest.warns(UserWarning, match="NCCL"):
        assert not cuda.nccl.is_available([taeda.ones(1)])
    for call in (cuda.cudart, cuda.profiler.start, cuda.nccl.version, cuda.ipc_collect, cuda.graph_pool_handle):
        with pytest.raises(AssertionError, match="no CUDA"):
            call()


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


@pytest.mark.parametrize("name", ("zeros", "rand", "linspace", "arange", "randperm", "hann_window", "tril_indices"))
def test_factories_say_that_there_is_no_cuda(name: str) -> None:
    args = {"linspace": (0, 1, 3), "tril_indices": (3, 3)}.get(name, (3,))
    with pytest.raises(AssertionError, match="no CUDA"):
        getattr(taeda, name)(*args, device="cuda")
