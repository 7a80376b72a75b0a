"""A backend of any number of ranks that talks to nobody: for plans, and to see what a program would send."""

from __future__ import annotations

from typing import Any

from taeda import Tensor
from taeda.distributed._backend_class import CALLS, Backend
from taeda.distributed._store import HashStore
from taeda.distributed._work import Work

__all__ = ["FakeBackend", "FakeStore"]


class FakeStore(HashStore):
    """A store for a group of ranks that are not there."""


class FakeBackend(Backend):
    """Every rank gathers what this one has, and what is reduced stays as it is. All work is done at once."""

    def name(self) -> str:
        return "fake"

    def __getattr__(self, name: str) -> Any:
        if name not in CALLS:
            return super().__getattr__(name)
        return lambda *arguments: Work(arguments[0] if arguments else [])

    def allgather(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Work:
        """Copies the input to all outputs."""
        for outputs, tensor in zip(output_tensors, input_tensors):
            for output in outputs:
                output.detach().copy_(tensor.detach())
        return Work(output_tensors)

    def _allgather_base(self, output: Tensor, input: Tensor, opts: Any = None) -> Work:
        for part in output.detach().view(self.size(), -1):
            part.copy_(input.detach().reshape(-1))
        return Work([output])

    def allgather_into_tensor_coalesced(self, outputs: Any, inputs: Any, opts: Any = None) -> Work:
        """Copies each input to all parts of its output."""
        for output, tensor in zip(outputs, inputs):
            self._allgather_base(output, tensor)
        return Work(outputs)

    def scatter(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Work:
        """Copies this rank's own input, where it is given."""
        for output, tensors in zip(output_tensors, input_tensors):
            output.detach().copy_(tensors[self.rank()].detach())
        return Work(output_tensors)

    def reduce_scatter(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Work:
        """Copies this rank's own input."""
        return self.scatter(output_tensors, input_tensors)

    def _reduce_scatter_base(self, output: Tensor, input: Tensor, opts: Any = None) -> Work:
        own = input.detach().reshape(self.size(), -1)[self.rank()]
        output.detach().copy_(own.view(output.shape))
        return Work([output])
