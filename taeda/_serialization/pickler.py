"""Writing objects: Python's pickler, with tensors reduced to storages and names spelled the file's way."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from typing import Any

import taeda
from taeda import Tensor
from taeda._serialization import names


class StorageRef:
    """A storage as one tensor sees it; ``dtype`` is None where the file has no class for the tensor's dtype."""

    __slots__ = ("dtype", "untyped")

    def __init__(self, untyped: taeda.UntypedStorage, dtype: taeda.dtype | None) -> None:
        self.untyped = untyped
        self.dtype = dtype


class StorageTable:
    """The storages met so far, numbered in the order of their meeting."""

    def __init__(self) -> None:
        self.storages: list[taeda.UntypedStorage] = []
        self._seen: dict[int, tuple[str, taeda.dtype | None]] = {}

    def persistent_id(self, ref: StorageRef) -> tuple[Any, ...]:
        """What the pickle says in place of the storage.

        Raises:
            RuntimeError: the same storage was met under another dtype, which the file format cannot say.
        """
        key, dtype = self._seen.setdefault(id(ref.untyped), (str(len(self.storages)), ref.dtype))
        if int(key) == len(self.storages):
            self.storages.append(ref.untyped)  # also keeps it alive, so that its id stays its own
        if dtype != ref.dtype:
            raise RuntimeError(
                f"taeda.save: one storage is seen as {dtype} and as {ref.dtype}; a file can hold it under one dtype "
                "only. Save clones of the tensors, or view them as one dtype first"
            )
        from taeda._serialization.locations import location_tag

        nbytes = ref.untyped.nbytes()
        tag = location_tag(ref.untyped)
        if ref.dtype is None:
            return ("storage", names.UNTYPED, key, tag, nbytes)
        return ("storage", names.storage_class(ref.dtype), key, tag, nbytes // ref.dtype.itemsize)


def reduce_tensor(tensor: Tensor) -> tuple[Any, tuple[Any, ...]]:
    """How a file rebuilds ``tensor``: a function's name and its arguments."""
    state = dict(tensor.__dict__) or None
    if isinstance(tensor, taeda.nn.Parameter):
        args: tuple[Any, ...] = (tensor.data, tensor.requires_grad, OrderedDict())
        if state is None:
            return names.file_name("torch._utils", "_rebuild_parameter"), args
        return names.file_name("torch._utils", "_rebuild_parameter_with_state"), (*args, state)
    build, args = _reduce_plain(tensor)
    if type(tensor) is Tensor and state is None:
        return build, args
    return names.file_name("torch._tensor", "_rebuild_from_type_v2"), (build, type(tensor), args, state)


def _reduce_plain(tensor: Tensor) -> tuple[Any, tuple[Any, ...]]:
    size, stride = tuple(tensor.shape), tuple(tensor.stride())
    if tensor.is_meta:
        args: tuple[Any, ...] = (tensor.dtype, size, stride, tensor.requires_grad)
        return names.file_name("torch._utils", "_rebuild_meta_tensor_no_storage"), args
    typed = names.has_storage_class(tensor.dtype)
    ref = StorageRef(tensor.untyped_storage(), tensor.dtype if typed else None)
    args = (ref, tensor.storage_offset(), size, stride, tensor.requires_grad, OrderedDict())
    if not typed:
        args += (tensor.dtype,)
    bits = {name: True for name, on in (("conj", tensor.is_conj()), ("neg", tensor.is_neg())) if on}
    if bits:
        args += (bits,)
    return names.file_name("torch._utils", "_rebuild_tensor_v2" if typed else "_rebuild_tensor_v3"), args


def _own_reduction(cls: type) -> bool:
    """Whether a tensor class defines how it pickles, which then comes first."""
    return cls.__reduce_ex__ not in (Tensor.__reduce_ex__, taeda.nn.Parameter.__reduce_ex__)


class _Reductions:
    """The hooks that any pickler class needs to write our objects."""

    table: StorageTable

    def persistent_id(self, obj: Any) -> Any:
        if isinstance(obj, StorageRef):
            return self.table.persistent_id(obj)
        if isinstance(obj, taeda.UntypedStorage):
            return self.table.persistent_id(StorageRef(obj, None))
        return None

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Tensor):
            return NotImplemented if _own_reduction(type(obj)) else reduce_tensor(obj)
        if isinstance(obj, taeda.dtype):
            return names.dtype_name(obj)
        if isinstance(obj, taeda.Size):
            return names.file_name("torch", "Size"), (tuple(obj),)
        if isinstance(obj, taeda.device):
            args = (obj.type,) if obj.index is None else (obj.type, obj.index)
            return names.file_name("torch", "device"), args
        if isinstance(obj, taeda.layout):
            return names.file_name("torch.serialization", "_get_layout"), ("torch." + str(obj).rpartition(".")[2],)
        inherited = getattr(super(), "reducer_override", None)
        return inherited(obj) if inherited is not None else NotImplemented


class Pickler(_Reductions, pickle._Pickler):
    """The pickler of ``save``. The Python one, because the C one insists on importing the names that it writes."""

    dispatch = dict(pickle._Pickler.dispatch)

    def __init__(self, file: Any, protocol: int, table: StorageTable) -> None:
        super().__init__(file, protocol=protocol)
        self.table = table

    def save_file_name(self, obj: names.FileName) -> None:
        self._write_global(obj, obj.module, obj.name)

    dispatch[names.FileName] = save_file_name

    def save_global(self, obj: Any, name: str | None = None) -> None:
        if isinstance(obj, taeda.dtype):
            self._write_global(obj, names.FILE_ROOT, names.dtype_name(obj))
            return
        module = getattr(obj, "__module__", None)
        if name is None and isinstance(module, str) and module.partition(".")[0] == names.HERE:
            qualified = names.qualified(obj)
            local = obj.__qualname__
            self._check_importable(obj, module, local)
            self._write_global(obj, qualified[: -len(local) - 1], local)
            return
        super().save_global(obj, name)

    def _check_importable(self, obj: Any, module: str, name: str) -> None:
        try:
            same = names.resolve(module, name) is obj
        except (ImportError, AttributeError):
            same = False
        if not same:
            raise pickle.PicklingError(f"taeda.save: {obj!r} is not found as {module}.{name}")

    def _write_global(self, obj: Any, module: str, name: str) -> None:
        if self.proto >= 4:
            self.save(module)
            self.save(name)
            self.write(pickle.STACK_GLOBAL)
        else:
            self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())
        self.memoize(obj)


def make_pickler(pickle_module: Any, file: Any, protocol: int, table: StorageTable) -> Any:
    """A pickler over ``file``: ours, or ``pickle_module``'s with our hooks."""
    if pickle_module is None or pickle_module is pickle:
        return Pickler(file, protocol, table)
    foreign = type("Pickler", (_Reductions, pickle_module.Pickler), {"table": table})
    return foreign(file, protocol=protocol)
