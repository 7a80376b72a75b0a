"""Storages as programs of before ``UntypedStorage`` know them: bytes seen as elements of one dtype."""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import taeda
from taeda import UntypedStorage
from taeda import device as device_class
from taeda import dtype as dtype_class
from taeda._serialization.old_names import OLD_STORAGES

__all__ = ["TypedStorage", "UntypedStorage"]


# What the elements of quantised tensors are read as.
_INTEGERS = {
    taeda.qint8: taeda.int8, taeda.quint8: taeda.uint8, taeda.qint32: taeda.int32, taeda.quint4x2: taeda.uint8,
    taeda.quint2x4: taeda.uint8,
}  # fmt: skip


def _check_constructor(fixed: Any, args: tuple[Any, ...], wrap: Any, dtype: Any, device: Any) -> None:
    """Raises for arguments of ``TypedStorage`` that do not go together; ``fixed`` is the dtype of the class."""
    name = "taeda.TypedStorage" if fixed is None else f"taeda.{_legacy_name(fixed)}"
    for option, given in (("dtype", dtype), ("device", device)):
        if fixed is not None and given is not None:
            raise RuntimeError(f"{name}: 'device' and 'dtype' are the class's; got {option}={given}")
    if len(args) > 1:
        raise RuntimeError(f"{name}: takes one positional argument, a size or a sequence; got {len(args)}")
    if wrap is not None:
        if args or device is not None:
            raise RuntimeError(f"{name}: 'wrap_storage' brings size, elements and device; give none of them with it")
        if dtype is None and fixed is None:
            raise RuntimeError(f"{name}: 'wrap_storage' needs 'dtype', as bytes have none")
        if dtype is not None and not isinstance(dtype, taeda.dtype):
            raise TypeError(f"{name}: 'dtype' must be a taeda.dtype; got {type(dtype).__name__}")
        if not isinstance(wrap, taeda._C.StorageBase):
            raise TypeError(f"{name}: 'wrap_storage' must be an UntypedStorage; got {type(wrap).__name__}")
    if args and (isinstance(args[0], taeda.Tensor | str) or not isinstance(args[0], int | Sequence)):
        raise TypeError(f"{name}: takes a size or a sequence of numbers; got {type(args[0]).__name__}")


class TypedStorage:
    """A storage whose elements have a dtype.

    Args:
        args: a number of elements, a sequence of them, or nothing.
        wrap_storage: the bytes to look at instead; shared, not copied.
        dtype: the type of the elements; the default dtype if None.
        device: where new memory is made.

    Raises:
        RuntimeError: the bytes are not a whole number of elements.
    """

    _fixed_dtype: taeda.dtype | None = None  # of the classes named after a dtype
    _untyped_storage: UntypedStorage

    def __init__(
        self,
        *args: Any,
        wrap_storage: UntypedStorage | None = None,
        dtype: dtype_class | None = None,
        device: device_class | str | int | None = None,
        _internal: bool = False,
    ) -> None:
        if args and not isinstance(args[0], taeda.Tensor) and hasattr(args[0], "__index__"):  # NumPy's are no int
            args = (operator.index(args[0]), *args[1:])
        _check_constructor(self._fixed_dtype, args, wrap_storage, dtype, device)
        self.dtype: taeda.dtype = self._fixed_dtype or dtype or taeda.get_default_dtype()
        if wrap_storage is not None:
            self._untyped_storage = wrap_storage
        elif not args:
            self._untyped_storage = UntypedStorage(0, device=device)
        elif isinstance(args[0], int):
            self._untyped_storage = UntypedStorage(args[0] * self.dtype.itemsize, device=device)
        else:
            elements = _INTEGERS.get(self.dtype, self.dtype)
            self._untyped_storage = taeda.tensor(args[0], dtype=elements, device=device).untyped_storage()
        if self.nbytes() % self.element_size():
            raise RuntimeError(f"taeda.TypedStorage: {self.nbytes()} bytes are not whole elements of {self.dtype}")

    def _tensor(self) -> taeda.Tensor:
        dtype = _INTEGERS.get(self.dtype, self.dtype)
        return taeda.empty(0, dtype=dtype, device=self.device).set_(self._untyped_storage)

    def _like(self, untyped: UntypedStorage) -> TypedStorage:
        return TypedStorage(wrap_storage=untyped, dtype=self.dtype)

    @property
    def device(self) -> taeda.device:
        """Where the memory is."""
        return self._untyped_storage.device

    @property
    def is_cuda(self) -> bool:
        """Whether the memory is on a GPU."""
        return self._untyped_storage.is_cuda

    @property
    def filename(self) -> str | None:
        """The file that is mapped, if any."""
        return self._untyped_storage.filename

    def untyped(self) -> UntypedStorage:
        """The bytes."""
        return self._untyped_storage

    def __len__(self) -> int:
        return self.nbytes() // self.element_size()

    size = __len__

    def __sizeof__(self) -> int:
        return super().__sizeof__() + self.nbytes()

    def nbytes(self) -> int:
        """The size in bytes."""
        return self._untyped_storage.nbytes()

    def element_size(self) -> int:
        """The bytes of an element."""
        return self.dtype.itemsize

    def data_ptr(self) -> int:
        """The first byte's address."""
        return self._untyped_storage.data_ptr()

    def resizable(self) -> bool:
        """Whether ``resize_`` may change the size."""
        return self._untyped_storage.resizable()

    def is_shared(self) -> bool:
        """Whether other processes can see the memory."""
        return self._untyped_storage.is_shared()

    def is_pinned(self, device: device_class | str | int | None = None) -> bool:
        """Whether the memory is page-locked."""
        return self._untyped_storage.is_pinned()

    def get_device(self) -> int:
        """The index of the device; -1 for the CPU."""
        return self._untyped_storage.get_device()

    def _refuse_meta(self) -> None:
        if self.device.type == "meta":
            raise NotImplementedError(
                "taeda.TypedStorage: a storage on meta has no elements that could be read or written"
            )

    def _refuse_sharing(self) -> None:
        if self.device.type != "cpu":
            raise RuntimeError(f"taeda.TypedStorage: only memory of the CPU can be shared; this is on {self.device}")

    def __getitem__(self, index: int) -> Any:
        self._refuse_meta()
        if isinstance(index, slice):
            raise RuntimeError("taeda.TypedStorage: only an untyped storage can be sliced; use untyped()")
        return self._tensor()[index].item()

    def __setitem__(self, index: int | slice, value: Any) -> None:
        self._refuse_meta()
        self._tensor()[index] = value

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def tolist(self) -> list[Any]:
        """The elements as Python numbers."""
        self._refuse_meta()
        return self._tensor().tolist()

    def fill_(self, value: Any) -> TypedStorage:
        """Sets every element."""
        if isinstance(value, TypedStorage | UntypedStorage):
            raise RuntimeError("taeda.TypedStorage.fill_: takes a number; a storage is copied with copy_()")
        self._tensor().fill_(value)
        return self

    def copy_(self, source: TypedStorage, non_blocking: bool = False) -> TypedStorage:
        """Takes the elements of ``source``, converted."""
        source._refuse_meta()
        self._tensor().copy_(source._tensor())
        return self

    def clone(self) -> TypedStorage:
        """A copy in memory of its own."""
        return self._like(self._untyped_storage.clone())

    def resize_(self, size: int) -> TypedStorage:
        """Changes the number of elements; new ones are undefined."""
        self._untyped_storage.resize_(size * self.element_size())
        return self

    def share_memory_(self) -> TypedStorage:
        """Moves the memory to where other processes can see it."""
        self._refuse_sharing()
        self._untyped_storage.share_memory_()
        return self

    def cpu(self) -> TypedStorage:
        """A copy on the CPU; the same memory if it is there."""
        self._refuse_meta()
        return self._like(self._untyped_storage.cpu())

    def to(self, *, device: Any, non_blocking: bool = False) -> TypedStorage:
        """A copy on ``device``; the same memory if it is there."""
        return self._like(self._untyped_storage.to(device=device))

    def type(self, dtype: dtype_class | None = None) -> Any:
        """The legacy class's name, or with ``dtype`` a converted copy."""
        return f"torch.{_legacy_name(self.dtype)}" if dtype is None else self._converted(dtype)

    def _pickle_storage_type(self) -> str:
        return _legacy_name(self.dtype)

    def _deepcopy(self, memo: dict[int, Any]) -> TypedStorage:
        return self.__deepcopy__(memo)

    def __deepcopy__(self, memo: dict[int, Any]) -> TypedStorage:
        key: Any = ("storage", self.data_ptr(), self.nbytes())  # as tensors over it, so that they share the copy
        if key not in memo:
            memo[key] = self._untyped_storage.clone()
        return self._like(memo[key])

    def _legacy_class(self) -> Any:
        name = _legacy_name(self.dtype)
        return globals().get(name) or _make(name)

    def _converted(self, dtype: taeda.dtype) -> TypedStorage:
        if dtype == self.dtype:
            return self
        return TypedStorage(wrap_storage=self._tensor().to(dtype).untyped_storage(), dtype=dtype)

    def _share_fd_cpu_(self, *args: Any, **kwargs: Any) -> Any:
        """See ``UntypedStorage._share_fd_cpu_``."""
        self._refuse_sharing()
        return self._untyped_storage._share_fd_cpu_(*args, **kwargs)

    def _share_filename_cpu_(self, *args: Any, **kwargs: Any) -> Any:
        """See ``UntypedStorage._share_filename_cpu_``."""
        self._refuse_sharing()
        return self._untyped_storage._share_filename_cpu_(*args, **kwargs)

    def _write_file(self, file: Any, is_real_file: Any, save_size: Any, element_size: int) -> None:
        """Writes the bytes, after the number of elements (8 bytes) where ``save_size``."""
        self._refuse_meta()
        if save_size:
            file.write((self.nbytes() // element_size).to_bytes(8, "little"))
        file.write(taeda.empty(0, dtype=taeda.uint8).set_(self._untyped_storage).numpy().tobytes())

    @property
    def _cdata(self) -> int:
        """What tells one storage's memory from another's."""
        return self._untyped_storage._cdata

    @classmethod
    def from_buffer(
        cls, buffer: Any, byte_order: str | None = None, *, dtype: dtype_class | None = None, **kwargs: Any
    ) -> TypedStorage:
        """A copy of a buffer's elements, in the byte order that ``byte_order`` names; see
        ``UntypedStorage.from_buffer``."""
        chosen = cls._fixed_dtype or dtype or taeda.get_default_dtype()
        untyped = UntypedStorage.from_buffer(buffer, byte_order=byte_order or sys.byteorder, dtype=chosen, **kwargs)
        return TypedStorage(wrap_storage=untyped, dtype=chosen)

    @classmethod
    def from_file(cls, filename: str, shared: bool = False, size: int = 0) -> TypedStorage:
        """A file's bytes as ``size`` elements; written back where ``shared``."""
        chosen = cls._fixed_dtype or taeda.get_default_dtype()
        untyped = UntypedStorage.from_file(filename, shared, size * chosen.itemsize)
        return TypedStorage(wrap_storage=untyped, dtype=chosen)

    def __copy__(self) -> TypedStorage:
        return self.clone()

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, TypedStorage):
            return NotImplemented
        return self.dtype == other.dtype and self._untyped_storage is other._untyped_storage

    def __hash__(self) -> Any:
        return hash((self.dtype, self._untyped_storage))

    def __repr__(self) -> str:
        lines = "".join(f" {value}\n" for value in self.tolist())
        return f"{lines}[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {len(self)}]"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._untyped_storage, self.dtype)


# The names by which PyTorch's own code calls them, without its warning that the class is deprecated.
for _name in ("resize_", "size", "is_shared", "share_memory_", "element_size", "data_ptr", "nbytes"):
    setattr(TypedStorage, f"_{_name}", vars(TypedStorage)[_name])
TypedStorage._setitem = TypedStorage.__setitem__  # type: ignore[attr-defined]
TypedStorage._dtype = property(lambda self: self.dtype)  # type: ignore[attr-defined]

_always_warns = False


def _get_always_warn_typed_storage_removal() -> bool:
    """What ``_set_always_warn_typed_storage_removal`` was last told. Typed storages stay here, and nothing warns."""
    return _always_warns


def _set_always_warn_typed_storage_removal(always_warn: bool) -> None:
    """Whether PyTorch would warn of every use of a typed storage and not of the first only."""
    global _always_warns
    _always_warns = bool(always_warn)


def _conversion(dtype: taeda.dtype) -> Any:
    def convert(self: TypedStorage) -> TypedStorage:
        return self._converted(dtype)

    return convert


# Set from outside: in the class body these names would hide the builtins from its annotations.
for _name in ("float", "double", "half", "bfloat16", "long", "int", "short", "bool"):
    setattr(TypedStorage, _name, _conversion(getattr(taeda, _name)))
TypedStorage.complex_float = _conversion(taeda.complex64)  # type: ignore[attr-defined]
TypedStorage.complex_double = _conversion(taeda.complex128)  # type: ignore[attr-defined]
TypedStorage.char = _conversion(taeda.int8)  # type: ignore[attr-defined]
TypedStorage.byte = _conversion(taeda.uint8)  # type: ignore[attr-defined]


def _numbers_of(untyped: UntypedStorage, name: str) -> TypedStorage:
    """What ``UntypedStorage.float()`` and its kind give: each byte as a number of the type."""
    return getattr(TypedStorage(wrap_storage=untyped, dtype=taeda.uint8), name)()


def _rebuild(untyped: UntypedStorage, dtype: taeda.dtype) -> TypedStorage:
    return TypedStorage(wrap_storage=untyped, dtype=dtype)


def _legacy_name(dtype: taeda.dtype) -> str:
    return next((name for name, known in OLD_STORAGES.items() if getattr(taeda, known) == dtype), "TypedStorage")


def _dtype_to_storage_type_map() -> dict[taeda.dtype, str]:
    """The names of the classes of storages that are named after a dtype."""
    return {getattr(taeda, dtype): name for name, dtype in OLD_STORAGES.items()}


class _LegacyStorage(TypedStorage):
    """What the classes named after a dtype have in common; not for direct use."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if self._fixed_dtype is None:
            raise RuntimeError(
                "taeda.storage._LegacyStorage is not for direct use; call a class of its, as FloatStorage"
            )
        super().__init__(*args, **kwargs)


class _OfDtype(type):
    """The classes named after a dtype: any typed storage of that is an instance."""

    _fixed_dtype: taeda.dtype
    dtype = _dtype = property(lambda cls: cls._fixed_dtype)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, TypedStorage) and instance.dtype == cls._fixed_dtype


def _make(name: str) -> Any:
    """``FloatStorage`` and its kind, made when first asked for."""
    made = _OfDtype(
        name, (_LegacyStorage,), {"_fixed_dtype": getattr(taeda, OLD_STORAGES[name]), "__module__": taeda.__name__}
    )
    globals()[name] = made
    return made


class _NoMemory(TypedStorage):
    """Of a device that this build has not: nothing is an instance."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._refuse()

    @classmethod
    def _refuse(cls, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"taeda.cuda.{cls.__name__}: this build of Taeda has no CUDA")

    from_buffer = _new_with_weak_ptr = _new_shared_filename = _refuse


def _absent_on_cuda(name: str) -> type:
    if name not in OLD_STORAGES:
        raise AttributeError(f"module 'taeda.cuda' has no attribute '{name}'")
    fixed = getattr(taeda, OLD_STORAGES[name])
    return type(name, (_NoMemory,), {"_fixed_dtype": fixed, "dtype": fixed, "__module__": "torch.cuda"})


if TYPE_CHECKING:

    class BFloat16Storage(TypedStorage): ...

    class BoolStorage(TypedStorage): ...

    class ByteStorage(TypedStorage): ...

    class CharStorage(TypedStorage): ...

    class ComplexDoubleStorage(TypedStorage): ...

    class ComplexFloatStorage(TypedStorage): ...

    class DoubleStorage(TypedStorage): ...

    class FloatStorage(TypedStorage): ...

    class HalfStorage(TypedStorage): ...

    class IntStorage(TypedStorage): ...

    class LongStorage(TypedStorage): ...

    class ShortStorage(TypedStorage): ...

    class QInt8Storage(TypedStorage): ...

    class QUInt8Storage(TypedStorage): ...

    class QInt32Storage(TypedStorage): ...

    class QUInt4x2Storage(TypedStorage): ...

    class QUInt2x4Storage(TypedStorage): ...

    Storage = FloatStorage
    _storage_classes: set[type]
else:

    def __getattr__(name: str) -> Any:
        if name == "Storage":  # that of the default dtype
            name = next(
                old for old, dtype in OLD_STORAGES.items() if getattr(taeda, dtype) == taeda.get_default_dtype()
            )
            return globals().get(name) or _make(name)
        if name == "_storage_classes":
            return {UntypedStorage, TypedStorage, *(globals().get(old) or _make(old) for old in OLD_STORAGES)}
        if name not in OLD_STORAGES:
            raise AttributeError(f"module 'taeda.storage' has no attribute '{name}'")
        return _make(name)
