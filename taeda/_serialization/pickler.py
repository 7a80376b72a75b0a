"""Writing objects: tensors are reduced to storages, and the finished pickle's names are spelled the file's way."""

from __future__ import annotations

import io
import pickle
import re
import sys
from collections import OrderedDict
from typing import Any

import taeda
from taeda import Tensor
from taeda._serialization import names, rebuild
from taeda._serialization.storage_types import BY_DTYPE, UntypedStorage
from taeda._tensor.sparse_methods import SPARSE
from taeda._tensor.unsaved_hooks import warn_if_has_hooks


class StorageRef:
    """A storage as one tensor sees it; ``dtype`` is None where the file has no class for the tensor's dtype. Without
    memory of its own it says by ``device`` where it is to be."""

    __slots__ = ("device", "dtype", "untyped")

    def __init__(
        self, untyped: taeda.UntypedStorage, dtype: taeda.dtype | None, device: taeda.device | None = None
    ) -> None:
        self.untyped, self.dtype, self.device = untyped, dtype, device


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
        if dtype != ref.dtype and ref.untyped.nbytes():
            raise RuntimeError(
                f"taeda.save: one storage is seen as {dtype} and as {ref.dtype}; a file can hold it under one dtype "
                "only. Save clones of the tensors, or view them as one dtype first"
            )
        from taeda._serialization.locations import location_tag

        nbytes = ref.untyped.nbytes()
        tag = location_tag(ref.untyped) if ref.device is None else str(ref.device)
        if ref.dtype is None:
            return ("storage", UntypedStorage, key, tag, nbytes)
        return ("storage", BY_DTYPE[ref.dtype], key, tag, nbytes // ref.dtype.itemsize)

    def is_of_another_dtype(self, ref: StorageRef) -> bool:
        """Whether the same storage was met under another dtype."""
        return self._seen.get(id(ref.untyped), ("", ref.dtype))[1] != ref.dtype

    def itemsizes(self) -> list[int]:
        """The bytes of each storage's elements."""
        return [1 if dtype is None else dtype.itemsize for _, dtype in self._seen.values()]


def reduce_tensor(tensor: Tensor) -> tuple[Any, tuple[Any, ...]]:
    """How a file rebuilds ``tensor``: a function's name and its arguments."""
    state = _state_of(tensor)
    if isinstance(tensor, taeda.nn.Parameter):
        args: tuple[Any, ...] = (tensor.data, tensor.requires_grad, OrderedDict())
        if state is None:
            return rebuild.parameter, args
        return rebuild.parameter_with_state, (*args, state)
    warn_if_has_hooks(tensor)
    build, args = _reduce_plain(tensor)
    if type(tensor) is Tensor and state is None:
        return build, args
    return rebuild.from_type, (build, type(tensor), args, state)


def _state_of(tensor: Tensor) -> Any:
    """A tensor's Python attributes, as pickle would have them: None, a dictionary, or that and one of its slots."""
    custom = getattr(type(tensor), "__getstate__", None)
    if custom not in (None, getattr(object, "__getstate__", None), getattr(Tensor, "__getstate__", None)):
        return tensor.__getstate__()
    state = dict(tensor.__dict__) or None
    declared = [cls.__dict__.get("__slots__", ()) for cls in type(tensor).__mro__ if issubclass(cls, Tensor)]
    filled = [name for slots in declared for name in ((slots,) if isinstance(slots, str) else slots)]
    slots = {name: getattr(tensor, name) for name in filled if name != "__dict__" and hasattr(tensor, name)}
    return (state, slots) if slots else state


def _reduce_plain(tensor: Tensor) -> tuple[Any, tuple[Any, ...]]:
    if tensor.layout in SPARSE:
        from taeda.sparse._pickling import parts_of

        return rebuild.sparse, (tensor.layout, parts_of(tensor))
    size, stride = tuple(tensor.shape), tuple(tensor.stride())
    if tensor.is_meta:
        args: tuple[Any, ...] = (tensor.dtype, size, stride, tensor.requires_grad)
        return rebuild.meta_tensor, args
    try:
        storage = tensor.untyped_storage()
    except NotImplementedError:
        if not tensor._python_dispatch:
            raise
        place = (tensor.dtype, size, stride, tensor.storage_offset(), tensor.layout, tensor.device)
        return rebuild.wrapper_subclass, (type(tensor), *place, tensor.requires_grad)
    return _over(storage, tensor)


def _over(
    storage: taeda.UntypedStorage, tensor: Tensor, device: taeda.device | None = None
) -> tuple[Any, tuple[Any, ...]]:
    """A tensor as what it shows of a storage."""
    size, stride = tuple(tensor.shape), tuple(tensor.stride())
    typed = tensor.dtype in BY_DTYPE
    ref = StorageRef(storage, tensor.dtype if typed else None, device)
    if tensor.is_quantized:
        from taeda._main.schemes import parameters_of

        numbers = parameters_of(tensor)
        return rebuild.qtensor, (ref, tensor.storage_offset(), size, stride, numbers, False, OrderedDict())
    args: tuple[Any, ...] = (ref, tensor.storage_offset(), size, stride, tensor.requires_grad, OrderedDict())
    if not typed:
        args += (tensor.dtype,)
    bits = {name: True for name, on in (("conj", tensor.is_conj()), ("neg", tensor.is_neg())) if on}
    if bits:
        args += (bits,)
    return rebuild.tensor_v2 if typed else rebuild.tensor_v3, args


def _own_reduction(cls: type) -> bool:
    """Whether a tensor class defines how it pickles, which then comes first."""
    return cls.__reduce_ex__ not in (Tensor.__reduce_ex__, taeda.nn.Parameter.__reduce_ex__)


_UNTYPED = taeda.UntypedStorage  # bound once: the pickler asks about every object


def _is_typed(obj: Any) -> bool:
    """Whether ``obj`` is a `TypedStorage`, which is not loaded before somebody makes one."""
    module = sys.modules.get("taeda.storage")
    return module is not None and isinstance(obj, module.TypedStorage)


def _is_fake(tensor: Tensor) -> bool:
    module = sys.modules.get("taeda._library.fake_tensor")  # where it was never loaded there is none
    return module is not None and isinstance(tensor, module.FakeTensor)


class _Reductions:
    """The hooks that any pickler class needs to write our objects."""

    table: StorageTable
    fakes: bool = False  # fake tensors are written as if they had memory

    def persistent_id(self, obj: Any) -> Any:
        if isinstance(obj, StorageRef):
            return self.table.persistent_id(obj)
        if isinstance(obj, _UNTYPED):
            return self.table.persistent_id(StorageRef(obj, None))
        if _is_typed(obj):
            dtype = obj.dtype if obj.dtype in BY_DTYPE else None
            return self.table.persistent_id(StorageRef(obj._untyped_storage, dtype))
        return None

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Tensor):
            if self.fakes and _is_fake(obj) and not isinstance(obj, taeda.nn.Parameter):
                return _over(obj._meta.untyped_storage(), obj, obj.fake_device)  # type: ignore[attr-defined]
            return NotImplemented if _own_reduction(type(obj)) else reduce_tensor(obj)
        if isinstance(obj, taeda.Size):
            return taeda.Size, (tuple(obj),)
        if isinstance(obj, taeda.device):
            args = (obj.type,) if obj.index is None else (obj.type, obj.index)
            return taeda.device, args
        if isinstance(obj, taeda.layout):
            return rebuild.layout, ("torch." + str(obj).rpartition(".")[2],)
        inherited = getattr(super(), "reducer_override", None)
        return inherited(obj) if inherited is not None else NotImplemented


def dump(obj: Any, pickle_module: Any, protocol: int, table: StorageTable, fakes: bool = False) -> bytes:
    """The pickle of ``obj``, by ``pickle`` or the module given.

    Protocols 4 and 5 are written as 3, which names a global by one opcode.
    """
    base = (pickle_module or pickle).Pickler
    pickler = type("Pickler", (_Reductions, base), {"table": table, "fakes": fakes})
    out = io.BytesIO()
    pickler(out, protocol=min(protocol, 3)).dump(obj)
    return rename_globals(out.getvalue())


# Opcodes with their arguments, as far as these have fixed lengths: a run of them is skipped in one match.
_FIXED = re.compile(
    rb"(?:[N\x88\x89(012})\]tulesabRQ\x81\x85\x86\x87od]|[Kqh\x80\x82].|[M\x83]..|[Jrj\x84]....|G........)*+",
    re.DOTALL,
)
_LENGTH_BYTES = {b"X": 4, b"T": 4, b"B": 4, b"\x8b": 4, b"U": 1, b"C": 1, b"\x8a": 1}


def rename_globals(data: bytes) -> bytes:
    """A binary pickle of protocol 3 or less, with this package's names made the file's.

    Raises:
        pickle.PicklingError: an opcode that such pickles do not have.
    """
    pieces: list[bytes] = []
    copied = at = 0
    while True:
        at = _FIXED.match(data, at).end()  # type: ignore[union-attr]  # it matches the empty run
        opcode = data[at : at + 1]
        if opcode == pickle.STOP:
            return b"".join([*pieces, data[copied:]])
        if opcode == pickle.GLOBAL:
            middle = data.index(b"\n", at)
            end = data.index(b"\n", middle + 1)
            module, name = names.name_in_file(data[at + 1 : middle].decode(), data[middle + 1 : end].decode())
            pieces += [data[copied : at + 1], f"{module}\n{name}".encode()]
            copied = at = end
            at += 1
        elif opcode in _LENGTH_BYTES:
            width = _LENGTH_BYTES[opcode]
            at += 1 + width + int.from_bytes(data[at + 1 : at + 1 + width], "little")
        else:
            raise pickle.PicklingError(
                f"taeda.save: the pickle module wrote opcode {opcode!r}, which files cannot hold"
            )
