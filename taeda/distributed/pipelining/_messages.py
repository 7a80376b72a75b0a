"""What stages send each other: some tensors, behind a header that tells their shapes.

Sends do not wait, and each kind of message of a stage and microbatch has its own tag, so the order of a schedule is
never a matter of life and death.
"""

from __future__ import annotations

import pickle
from typing import Any, NamedTuple

import taeda
import taeda.distributed as dist
from taeda import Tensor

_HEADER = 512
_TAGS = 1 << 14


class Mailbox(NamedTuple):
    """Where the messages of a pair of stages go."""

    group: Any
    device: Any

    def send(self, values: list[Tensor | None], rank: int, tag: int) -> list[Any]:
        """Begins to send; the calls to wait for."""
        told = [None if v is None else (str(v.dtype).rpartition(".")[2], tuple(v.shape), v.requires_grad)
                for v in values]  # fmt: skip
        text = pickle.dumps(told)
        head = len(text).to_bytes(8, "little") + text
        head += bytes(max(0, _HEADER - len(head)))
        parts = [_bytes(head[:_HEADER])] + ([_bytes(head[_HEADER:])] if len(head) > _HEADER else [])
        parts += [v.detach().contiguous() for v in values if v is not None and v.numel()]
        return [(self._call(dist.isend, part, rank, tag), part) for part in parts]

    def receive(self, rank: int, tag: int) -> list[Tensor | None]:
        """Waits for a message."""
        head = self._filled(taeda.empty(_HEADER, dtype=taeda.uint8), rank, tag)
        length = int.from_bytes(bytes(head[:8].tolist()), "little")
        if (more := length + 8 - _HEADER) > 0:
            head = taeda.cat([head, self._filled(taeda.empty(more, dtype=taeda.uint8), rank, tag)])
        values: list[Tensor | None] = []
        for told in pickle.loads(bytes(head[8 : 8 + length].tolist())):
            if told is None:
                values.append(None)
                continue
            name, shape, wants = told
            value = taeda.empty(shape, dtype=getattr(taeda, name), device=self.device)
            values.append(self._filled(value, rank, tag).requires_grad_(wants))
        return values

    def _filled(self, tensor: Tensor, rank: int, tag: int) -> Tensor:
        if tensor.numel():
            self._call(dist.irecv, tensor, rank, tag).wait()
        return tensor

    def _call(self, call: Any, tensor: Tensor, rank: int, tag: int) -> Any:
        peer = rank if self.group is None else dist.get_global_rank(self.group, rank)
        return call(tensor, peer, self.group, tag)


def tag_of(stage: int, other: int, microbatch: int, backward: bool) -> int:
    """The tag of what ``stage`` sends to ``other``; the same for messages so far apart that their order tells them."""
    return (((stage * 61 + other) * 256 + microbatch) * 2 + backward) % _TAGS


def _bytes(data: bytes) -> Tensor:
    return taeda.frombuffer(bytearray(data), dtype=taeda.uint8)
