"""How tensors are pickled for another process: their memory is shared, and what is sent is the way to find it."""

from __future__ import annotations

import os
import threading
import weakref
from multiprocessing import reduction
from multiprocessing.reduction import ForkingPickler
from typing import Any

from taeda import Tensor
from taeda._C import UntypedStorage
from taeda._serialization.plain_pickle import bits, rebuild_tensor
from taeda._tensor.unsaved_hooks import warn_if_has_hooks

from . import _files
from .connection import carried

__all__ = ["ForkingPickler", "init_reductions", "reduce_storage", "reduce_tensor"]

# The storages of this process that others know, by device and number of their file: memory that comes a second time,
# or comes back, is the storage that it was.
shared_cache: weakref.WeakValueDictionary[tuple[int, int], UntypedStorage] = weakref.WeakValueDictionary()
_lock = threading.Lock()


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


def fd_id(fd: int) -> tuple[int, int]:
    """What is the same for all descriptors of one file."""
    facts = os.fstat(fd)
    return facts.st_dev, facts.st_ino


def _by_descriptor(storage: UntypedStorage) -> Any:
    storage.share_memory_()
    descriptor = storage._get_shared_fd()
    with _lock:
        shared_cache.setdefault(fd_id(descriptor), storage)
    return rebuild_storage_fd, (type(storage), carried(descriptor, storage), storage.nbytes())


def rebuild_storage_fd(cls: Any, df: Any, size: int) -> UntypedStorage:
    """The storage in the memory file that ``df.detach()`` opens; the known one if it is known."""
    descriptor = df.detach()
    try:
        key = fd_id(descriptor)
        with _lock:
            storage = shared_cache.get(key)
            if storage is None or storage.nbytes() != size:
                storage = shared_cache[key] = cls._new_shared_fd_cpu(descriptor, size)
    finally:
        os.close(descriptor)
    return storage


def _by_name(storage: UntypedStorage) -> Any:
    if not storage.is_shared():
        path = _files.new_path()
        storage._share_filename_cpu_(path)
        _files.own(storage, path)
    path, tracker = _files.for_receiver(str(storage.filename))
    facts = os.stat(path)
    with _lock:
        shared_cache.setdefault((facts.st_dev, facts.st_ino), storage)
    return rebuild_storage_filename, (type(storage), path, storage.nbytes(), tracker)


def rebuild_storage_filename(cls: Any, path: str, size: int, tracker: int) -> UntypedStorage:
    """The storage in the file ``path``, a name that was made for this call; the known one if it is known."""
    facts = os.stat(path)
    key = facts.st_dev, facts.st_ino
    with _lock:
        storage = shared_cache.get(key)
        if storage is not None and storage.nbytes() == size:
            _files.drop(path, tracker)
            return storage
        storage = shared_cache[key] = cls._new_shared_filename_cpu(path, size)
    _files.own(storage, path, tracker)
    return storage


def rebuild_storage_empty(cls: type[UntypedStorage]) -> UntypedStorage:
    """A storage without bytes."""
    return cls(0)


def reduce_storage(storage: UntypedStorage) -> Any:
    """Shares the memory of ``storage``, and returns how to rebuild it.

    Raises:
        RuntimeError: the memory cannot be shared.
    """
    from . import get_sharing_strategy

    if storage.nbytes() == 0:
        return rebuild_storage_empty, (type(storage),)
    if storage.is_shared():
        named = _files.is_ours(storage.filename)
    else:
        named = get_sharing_strategy() == "file_system"
    return _by_name(storage) if named else _by_descriptor(storage)


class Shared:
    """Pickled as the storage of ``tensor``, shared, by a pickler that was made before `init_reductions`."""

    def __init__(self, tensor: Tensor) -> None:
        _check_leaf(tensor)
        self._storage = tensor.untyped_storage()

    def __reduce__(self) -> Any:
        return reduce_storage(self._storage)


def _check_leaf(tensor: Tensor) -> None:
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "taeda.multiprocessing: a tensor that requires grad and is no leaf cannot be sent to another process, for "
            "its graph cannot; send tensor.detach()"
        )


def reduce_tensor(tensor: Tensor) -> Any:
    """Shares the memory of ``tensor``, and returns how to rebuild it.

    Raises:
        RuntimeError: it requires grad and is no leaf: the graph behind it cannot go to another process.
    """
    _check_leaf(tensor)
    if type(tensor) is not Tensor or tensor.__dict__ or tensor.is_meta:
        return tensor.__reduce_ex__(2)
    warn_if_has_hooks(tensor)
    geometry = tensor.storage_offset(), tuple(tensor.size()), tensor.stride(), tensor.requires_grad, *bits(tensor)
    return rebuild_tensor, (tensor.untyped_storage(), tensor.dtype, *geometry)


def init_reductions() -> None:
    """Makes all pickling for other processes share the memory of tensors."""
    reduction.register(UntypedStorage, reduce_storage)
    reduction.register(Tensor, reduce_tensor)
