"""What the pipes of a fork, or of a split, read from together."""

from __future__ import annotations

import copy as copying
import warnings
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from taeda.utils.data.datapipes.datapipe import IterDataPipe
from taeda.utils.data.datapipes.iter.callable import _length


class _ContainerTemplate(ABC):
    """What a child asks of the pipe it belongs to."""

    @abstractmethod
    def get_next_element_by_instance(self, instance_id: int) -> Iterator[Any]:
        """An iterator for that child."""

    @abstractmethod
    def is_every_instance_exhausted(self) -> bool:
        """Whether all children have read all they get."""

    @abstractmethod
    def reset(self) -> None:
        """Has all children begin anew."""

    @abstractmethod
    def get_length_by_instance(self, instance_id: int) -> int:
        """How many samples that child gets."""


class _Shared(IterDataPipe[Any], _ContainerTemplate):
    """A pipe that several children read from, each at its own pace."""

    def __init__(self, datapipe: Any, num_instances: int, buffer_size: int) -> None:
        self.main_datapipe, self.num_instances, self.buffer_size = datapipe, num_instances, buffer_size
        if buffer_size < 0:
            warnings.warn(
                "fork, demux: without a limit of the buffer all samples may come to lie in memory",
                UserWarning,
                stacklevel=4,
            )
        self._forget()

    def _forget(self) -> None:
        self._datapipe_iterator: Iterator[Any] | None = None
        self._finished = [False] * self.num_instances

    def _pull(self) -> Any:
        if self._datapipe_iterator is None:
            self._datapipe_iterator = iter(self.main_datapipe)
        return next(self._datapipe_iterator)

    def is_every_instance_exhausted(self) -> bool:
        return all(self._finished)

    def reset(self) -> None:
        self._forget()

    def __getstate__(self) -> Any:
        live = ("_datapipe_iterator", "_finished", "_buffer", "_buffers", "_read", "_base", "_ended", "_snapshot_state")
        return self._hooked_state({n: v for n, v in self.__dict__.items() if n not in live})

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state)
        self._forget()

    def _overflow(self) -> BufferError:
        return BufferError(
            f"fork, demux: more than buffer_size={self.buffer_size} samples wait for another pipe; read the"
            " pipes together, or give a larger buffer_size (-1: as many as there are)"
        )


def _same(sample: Any) -> Any:
    return sample


_COPIES = {None: _same, "shallow": copying.copy, "deep": copying.deepcopy}


class _ForkerIterDataPipe(_Shared):
    """Gives every sample to every child; keeps those that some child has not read."""

    def __init__(self, datapipe: Any, num_instances: int, buffer_size: int = 1000, copy: Any = None) -> None:
        super().__init__(datapipe, num_instances, buffer_size)
        if copy not in _COPIES:
            raise ValueError(f"Forker: copy must be None, 'shallow' or 'deep'; got {copy!r}")
        self.copy_fn = _COPIES[copy]

    def _forget(self) -> None:
        super()._forget()
        self._buffer: deque[Any] = deque()
        self._base = 0  # the number of the buffer's first sample
        self._read = [0] * self.num_instances
        self._ended = False

    def __len__(self) -> int:
        return _length(self, self.main_datapipe)

    def get_length_by_instance(self, instance_id: int) -> int:
        return len(self)

    def get_next_element_by_instance(self, instance_id: int) -> Iterator[Any]:
        while True:
            at = self._read[instance_id]
            if at - self._base >= len(self._buffer):
                try:
                    if self._ended:
                        break
                    self._buffer.append(self._pull())
                except StopIteration:
                    self._ended = True
                    break
            sample = self._buffer[at - self._base]
            self._read[instance_id] = at + 1
            if at == self._base and min(self._read) > self._base:
                self._buffer.popleft()
                self._base += 1
            if 0 <= self.buffer_size < max(self._read) - self._base:
                raise self._overflow()
            yield self.copy_fn(sample)
        self._finished[instance_id] = True


class _DemultiplexerIterDataPipe(_Shared):
    """Gives every sample to the child that a function names; keeps those of others."""

    def __init__(
        self,
        datapipe: Any,
        num_instances: int,
        classifier_fn: Callable[[Any], int | None],
        drop_none: bool,
        buffer_size: int,
    ) -> None:
        super().__init__(datapipe, num_instances, buffer_size)
        self.classifier_fn, self.drop_none = classifier_fn, drop_none

    def _forget(self) -> None:
        super()._forget()
        self._buffers: list[deque[Any]] = [deque() for _ in range(self.num_instances)]
        self._ended = False

    def get_length_by_instance(self, instance_id: int) -> int:
        raise TypeError("demux: nobody knows how many samples each pipe gets")

    def _child_of(self, sample: Any) -> int | None:
        child = self.classifier_fn(sample)
        if child is None and self.drop_none:
            return None
        if child is None or not 0 <= child < self.num_instances:
            raise ValueError(
                f"demux: classifier_fn must give a number from 0 to {self.num_instances - 1}"
                f"{', or None' if self.drop_none else ' (None with drop_none=True)'}; got {child!r}"
            )
        return child

    def get_next_element_by_instance(self, instance_id: int) -> Iterator[Any]:
        own = self._buffers[instance_id]
        while True:
            while not own and not self._ended:
                try:
                    sample = self._pull()
                except StopIteration:
                    self._ended = True
                    break
                child = self._child_of(sample)
                if child is None:
                    continue
                self._buffers[child].append(sample)
                if child != instance_id and 0 <= self.buffer_size < sum(map(len, self._buffers)):
                    raise self._overflow()
            if not own:
                break
            yield own.popleft()
        self._finished[instance_id] = True


class _ChildDataPipe(IterDataPipe[Any]):
    """One of the pipes of a fork or split. A new iterator of one resets all, unless the others had new ones before."""

    _is_child_datapipe = True

    def __init__(self, main_datapipe: Any, instance_id: int) -> None:
        self.main_datapipe, self.instance_id = main_datapipe, instance_id

    def __iter__(self) -> Iterator[Any]:
        samples: Iterator[Any] = self.main_datapipe.get_next_element_by_instance(self.instance_id)
        return samples

    def __len__(self) -> int:
        length: int = self.main_datapipe.get_length_by_instance(self.instance_id)
        return length

    def _set_main_datapipe_valid_iterator_id(self) -> int:
        main = self.main_datapipe
        if main._valid_iterator_id is None:
            main._valid_iterator_id = 0
        elif self._valid_iterator_id == main._valid_iterator_id:
            main._valid_iterator_id += 1
            if not main.is_every_instance_exhausted():
                warnings.warn(
                    "fork, demux: one pipe is read anew while others have samples left; all begin anew",
                    UserWarning,
                    stacklevel=2,
                )
            main.reset()
        number: int = main._valid_iterator_id
        self._valid_iterator_id = number
        self._number_of_samples_yielded = 0
        return number

    def _check_valid_iterator_id(self, iterator_id: int) -> bool:
        return iterator_id == self._valid_iterator_id == self.main_datapipe._valid_iterator_id
