"""What tests of sharded modules share: a test case with a group, and a few modules."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.testing._internal.common_distributed import MultiProcessTestCase, MultiThreadedTestCase

DEVICE_COUNT = 4
DEVICE_TYPE = "cpu"


def get_devtype():
    return torch.device("cpu")


class FSDPTest(MultiProcessTestCase):
    """With a group of all processes."""

    def setUp(self):
        super().setUp()
        self._spawn_processes()

    @property
    def world_size(self):
        return DEVICE_COUNT

    @property
    def process_group(self):
        return dist.distributed_c10d._get_default_group()

    @property
    def init_method(self):
        return f"file://{self.file_name}"

    def _in_child(self):
        os.environ.update(RANK=str(self.rank), WORLD_SIZE=str(self.world_size))
        dist.init_process_group("gloo", init_method=self.init_method, world_size=self.world_size, rank=self.rank)
        self._body()

    def run_subtests(self, config, function, *args, **kwargs):
        import itertools

        for values in itertools.product(*config.values()):
            with self.subTest(**dict(zip(config, values))):
                function(*args, **dict(zip(config, values)), **kwargs)
                dist.barrier()


class FSDPTestMultiThread(MultiThreadedTestCase):
    """Ranks as threads elsewhere."""

    @property
    def world_size(self):
        return DEVICE_COUNT

    def setUp(self):
        super().setUp()
        self._spawn_threads()

    run_subtests = FSDPTest.run_subtests


class MLP(nn.Module):
    """Two layers, from ``dim`` to ``dim``."""

    def __init__(self, dim, device=None, *, bias=True, with_buffer=False, dim_multiplier=4):
        super().__init__()
        self.in_proj = nn.Linear(dim, dim_multiplier * dim, device=device, bias=bias)
        self.out_proj = nn.Linear(dim_multiplier * dim, dim, device=device, bias=bias)
        if with_buffer:
            self.register_buffer("buffer", torch.randn((dim,), device=device))
        else:
            self.buffer = None

    def forward(self, x):
        z = torch.relu(self.out_proj(torch.relu(self.in_proj(x))))
        return z if self.buffer is None else z + self.buffer

    def reset_parameters(self):
        if self.buffer is not None:
            torch.nn.init.normal_(self.buffer)


def patch_all_gather(new):
    return _patched("all_gather_into_tensor", new)


def patch_reduce_scatter(new):
    return _patched("reduce_scatter_tensor", new)


def _patched(name, new):
    from unittest import mock

    return mock.patch.object(dist, name, new)
