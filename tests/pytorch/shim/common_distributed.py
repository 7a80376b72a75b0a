"""Test cases of several processes: each is a child that is forked off here, so that no module is imported again."""

import contextlib
import functools
import io
import logging
import os
import pickle
import signal
import sys
import tempfile
import time
import traceback
import types
import unittest
from collections import namedtuple
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.testing._internal.common_utils import TestCase

TestSkip = namedtuple("TestSkip", "exit_code, message")
logger = logging.getLogger(__name__)
TEST_SKIPS = {name: TestSkip(code, text) for code, (name, text) in enumerate(
    {"backend_unavailable": "a backend is missing", "small_worldsize": "needs more processes",
     "odd_worldsize": "needs an even number of processes", "no_cuda": "needs CUDA", "multi-gpu": "needs GPUs",
     "nccl": "needs NCCL", "skipIfRocm": "not with ROCm", "generic": "skipped", "importerror": "a module is missing",
     "no_accelerator": "needs an accelerator", "no_peer_access": "needs GPUs",
     **{f"multi-{kind}-{count}": f"needs {count} GPUs" for kind in ("gpu", "hpu") for count in range(1, 9)},
     }.items(), 72)}  # fmt: skip
DEFAULT_WORLD_SIZE = 4
TIMEOUT_DEFAULT, TIMEOUT_OVERRIDE = 100, {}
_CODES = {skip.exit_code: skip.message for skip in TEST_SKIPS.values()}


def get_timeout(test_id):
    return TIMEOUT_DEFAULT


def _skips(*args, **kwargs):
    """A decorator that skips, with or without arguments."""
    if len(args) == 1 and isinstance(args[0], (types.FunctionType, type)) and not kwargs:
        return unittest.skip("there is no GPU")(args[0])
    return unittest.skip("there is no GPU")


def _keeps(*args, **kwargs):
    if len(args) == 1 and isinstance(args[0], (types.FunctionType, type)) and not kwargs:
        return args[0]
    return lambda function: function


skip_if_no_gpu = skip_if_lt_x_gpu = nccl_skip_if_lt_x_gpu = requires_nccl = requires_nccl_version = requires_ucc = (
    _skips
)
requires_multicast_support = requires_accelerator_dist_backend = skip_if_rocm_multiprocess = _skips
requires_mpi = unittest.skip("built for other launchers")
requires_gloo = skip_if_win32 = with_nccl_blocking_wait = skip_if_rocm = skip_if_small_worldsize = _keeps
skip_if_odd_worldsize = require_n_gpus_for_nccl_backend = import_transformers_or_skip = _keeps


def require_world_size(world_size):
    """Skips, in the children, where there are fewer processes."""

    def decorate(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            if int(os.environ.get("WORLD_SIZE", 1)) < world_size:
                raise unittest.SkipTest(f"needs {world_size} processes")
            return function(*args, **kwargs)

        return call

    return decorate


def exit_if_lt_x_gpu(count):
    raise unittest.SkipTest("there is no GPU")


def tp_transports():
    return ["shm", "uv"]


class DistTestCases:
    """What backends have."""

    skip_collective = {name: set() for name in (
        "allgather_coalesced", "reduce", "sendrecv anysource", "cpu barrier", "gather", "scatter",
        "all_to_all")}  # fmt: skip
    backend_feature = {name: set() for name in ("gpu", "cuda", "ddp", "subgroup", "plugin", "hpu", "xpu")} | {
        "ddp": {"gloo"}, "subgroup": {"gloo"}}  # fmt: skip


def initialize_temp_directories(init_method=None):
    """A folder of the test's own, in ``TEMP_DIR``."""
    os.environ["TEMP_DIR"] = folder = tempfile.mkdtemp()
    for name in ("barrier", "test_dir", "init_dir"):
        os.mkdir(os.path.join(folder, name))
    os.environ["INIT_METHOD"] = init_method or f"file://{folder}/init_dir/shared_init_file"


def cleanup_temp_dir():
    import shutil

    shutil.rmtree(os.environ["TEMP_DIR"], ignore_errors=True)


def init_multigpu_helper(world_size, backend):
    return {rank: [] for rank in range(world_size)}


def with_dist_debug_levels(levels):
    """Runs a test once for each level."""

    def decorate(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            before = os.environ.get("TORCH_DISTRIBUTED_DEBUG")
            for level in levels:
                os.environ["TORCH_DISTRIBUTED_DEBUG"] = level
                dist.set_debug_level_from_env()
                function(*args, **kwargs)
                dist.barrier()
            os.environ["TORCH_DISTRIBUTED_DEBUG"] = before or "OFF"
            dist.set_debug_level_from_env()

        return call

    return decorate


def verify_ddp_error_logged(model_DDP, err_substr):
    assert "iteration" in model_DDP._get_ddp_logging_data()


def run_subtests(case, config, function, *args, **kwargs):
    """Runs ``function`` with every combination of the values in ``config``."""
    import itertools

    for values in itertools.product(*config.values()):
        with case.subTest(**dict(zip(config, values))):
            function(*args, **dict(zip(config, values)), **kwargs)
        if dist.is_initialized():
            dist.barrier()


def create_device(interface=None):
    return dist.ProcessGroupGloo.create_device(interface=interface or "lo")


def create_tcp_store(
    addr="localhost", world_size=1, is_master=True, timeout=timedelta(minutes=5), wait_for_workers=True,
    jit_class=False, use_libuv=True,
):  # fmt: skip
    return dist.TCPStore(addr, 0, world_size, is_master, wait_for_workers=wait_for_workers, use_libuv=use_libuv)


def simple_sparse_reduce_tests(rank, world_size, num_inputs=1):
    """Pairs of inputs and of what their sum over all ranks is."""

    def rows(which):
        index = torch.arange(which + 1)[None]
        return torch.sparse_coo_tensor(index, torch.ones(which + 1) * (which + 1), (world_size,))

    def whole(which):
        return torch.sparse_coo_tensor(torch.tensor([[which]]), torch.ones(1, 2), (world_size, 2))

    pairs = []
    for make in (rows, whole):
        total = sum((make(one).to_dense() for one in range(world_size)), torch.zeros(make(0).shape)) * num_inputs
        pairs.append(([make(rank) for _ in range(num_inputs)], [total.to_sparse() for _ in range(num_inputs)]))
    return pairs


@contextlib.contextmanager
def _dynamo_dist_per_rank_init(rank, world_size, init_pg=True, **kwargs):
    raise unittest.SkipTest("there is no compiler of several processes")
    yield


def captured_output():
    from io import StringIO

    @contextlib.contextmanager
    def capture():
        before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = StringIO(), StringIO()
        try:
            yield sys.stdout, sys.stderr
        finally:
            sys.stdout, sys.stderr = before

    return capture()


class MultiProcessTestCase(TestCase):
    """Each test runs in ``world_size`` processes; ``setUp`` is to call ``_spawn_processes``."""

    MAIN_PROCESS_RANK = -1
    TEST_ERROR_EXIT_CODE = 10

    def __init__(self, method_name="runTest", methodName="runTest"):
        name = methodName if methodName != "runTest" else method_name
        super().__init__(name)
        self.rank, self.processes = self.MAIN_PROCESS_RANK, []
        self._body = getattr(self, name, None)
        if self._body is not None:
            setattr(self, name, functools.wraps(self._body)(lambda: self._join()))

    @property
    def world_size(self):
        return DEFAULT_WORLD_SIZE

    @property
    def destroy_pg_upon_exit(self):
        return True

    @property
    def is_master(self):
        return self.rank == 0

    def join_or_run(self, function):
        return function

    def setUp(self):
        super().setUp()
        self.processes, self.pid_to_pipe, self._pipes = [], {}, []
        self.rank = self.MAIN_PROCESS_RANK
        with tempfile.NamedTemporaryFile(delete=False) as file:
            self.file_name = file.name

    def tearDown(self):
        super().tearDown()
        self._end()
        with contextlib.suppress(OSError):
            os.unlink(self.file_name)

    def _current_test_name(self):
        return self.id().split(".")[-1]

    def _spawn_processes(self):
        sys.stdout.flush(), sys.stderr.flush()
        for rank in range(int(self.world_size)):
            read, write = os.pipe()
            child = os.fork()
            if not child:
                os.close(read)
                self._child(rank, write)
            os.close(write)
            self.processes.append(types.SimpleNamespace(pid=child, exitcode=None))
            self._pipes.append(read)

    _fork_processes = _start_processes = _spawn_processes

    def _child(self, rank, write):
        signal.setitimer(signal.ITIMER_REAL, 0)
        code, told = 0, None
        try:
            os.environ["WORLD_SIZE_OF_TEST"] = str(self.world_size)
            try:
                type(self)._run(rank, self._testMethodName, self.file_name, write)
            except unittest.SkipTest as skip:
                told = "skipped", str(skip)
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 1
                told = ("skipped", _CODES[code]) if code in _CODES else ("ended", str(code)) if code else None
            except BaseException as error:
                last = traceback.format_exception_only(error)[-1].strip()
                code, told = self.TEST_ERROR_EXIT_CODE, ("failed", f"{last[:300]}\n{traceback.format_exc()[-20000:]}")
            if told is not None:
                os.write(write, pickle.dumps(told))
        finally:
            os._exit(code)

    @classmethod
    def _run(cls, rank, test_name, file_name, parent_pipe, **kwargs):
        """One rank's part, in its process; some tests have a way of their own, which calls `run_test`."""
        self = cls(test_name)
        self.rank, self.file_name = rank, file_name
        self.run_test(test_name, parent_pipe)

    def run_test(self, test_name, parent_pipe):
        self._in_child()
        if self.destroy_pg_upon_exit and dist.is_initialized():
            with contextlib.suppress(Exception):
                dist.destroy_process_group()
        os.write(parent_pipe, pickle.dumps(("passed", "")))

    def _in_child(self):
        self._body()

    def _join(self):
        if self.rank != self.MAIN_PROCESS_RANK:
            return self._in_child()
        deadline = time.time() + 50
        told = [self._told(one, read, deadline) for one, read in zip(self.processes, self._pipes)]
        self._check_return_codes(0)
        if any(kind == "skipped" for kind, _ in told):
            raise unittest.SkipTest(next(text for kind, text in told if kind == "skipped"))
        failed = [(rank, text) for rank, (kind, text) in enumerate(told) if kind in ("failed", "hung")]
        if failed:  # what other ranks say often follows from that
            rank, text = next(((r, t) for r, t in failed if "reached by" not in t[:300]), failed[0])
            raise AssertionError(f"rank {rank}: {text[:400]}\n{text[-1200:]}")

    def _check_return_codes(self, elapsed_time):
        """Tests whose processes are to die say here what they expect."""

    def _told(self, process, read, deadline):
        data = b""
        os.set_blocking(read, False)
        while time.time() < deadline:
            try:
                part = os.read(read, 1 << 16)
            except BlockingIOError:
                time.sleep(0.005)
                continue
            if not part:
                break
            data += part
        else:
            return "hung", "it did not end"
        _, status = os.waitpid(process.pid, 0)
        process.exitcode = os.waitstatus_to_exitcode(status)
        told = io.BytesIO(data)
        last = None
        while told.tell() < len(data):
            last = pickle.load(told)
        if last is not None:
            return last
        return "failed", f"it ended with {process.exitcode} and said nothing"

    def _end(self):
        if self.rank != self.MAIN_PROCESS_RANK:
            return
        for process, read in zip(self.processes, getattr(self, "_pipes", [])):
            os.close(read)
            if process.exitcode is None:
                with contextlib.suppress(ProcessLookupError, ChildProcessError):
                    os.kill(process.pid, signal.SIGKILL)
                    os.waitpid(process.pid, 0)
        self.processes, self._pipes = [], []


class MultiThreadedTestCase(MultiProcessTestCase):
    """Tests whose ranks PyTorch runs as threads; here they are processes with a group."""

    def perThreadSetUp(self):
        torch.manual_seed(0)

    def perThreadTearDown(self):
        pass

    def _spawn_threads(self):
        self._spawn_processes()

    def _in_child(self):
        if dist.is_initialized():  # the parent's, of a test that leaves it
            dist.destroy_process_group()
        store = dist.FileStore(self.file_name, self.world_size)
        dist.init_process_group("gloo", store=store, rank=self.rank, world_size=self.world_size)
        self.perThreadSetUp()
        try:
            self._body()
        finally:
            self.perThreadTearDown()

    @property
    def threads(self):
        return self.processes

    @classmethod
    def _check_threads(cls, *args):
        pass

    def assertEqualOnRank(self, x, y, msg=None, *, rank=0):
        if self.rank == rank:
            self.assertEqual(x, y, msg)

    def assertNotEqualOnRank(self, x, y, msg=None, *, rank=0):
        if self.rank == rank:
            self.assertNotEqual(x, y, msg)


class DistributedTestBase(MultiProcessTestCase):
    """With a group of all processes when asked."""

    @classmethod
    def setUpClass(cls):
        os.environ["MASTER_ADDR"] = "localhost"

    def setUp(self):
        super().setUp()
        self._spawn_processes()

    def backend(self, device):
        return "gloo"

    def create_pg(self, device):
        store = dist.FileStore(self.file_name, self.world_size)
        dist.init_process_group("gloo", world_size=self.world_size, rank=self.rank, store=store)
        return dist.distributed_c10d._get_default_group()

    def rank_to_device(self, device):
        return {rank: [rank] for rank in range(self.world_size)}
