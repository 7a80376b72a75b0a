"""Writing pickles as PyTorch's reader of programs takes them: protocol 2, with the opcodes that it knows."""

from __future__ import annotations

import struct
from typing import Any

import taeda
from taeda import Tensor
from taeda._main.schemes import parameters_of
from taeda._serialization.pickler import StorageRef, StorageTable
from taeda._serialization.storage_types import BY_DTYPE, UntypedStorage
from taeda.jit.files.literals import type_text
from taeda.jit.files.objects import is_member, is_object, member_of, state_of

_LISTS = {"int": "build_intlist", "Tensor": "build_tensorlist", "float": "build_doublelist", "bool": "build_boollist"}
_SMALL = [b"K" + bytes([value]) for value in range(256)]
_SAME_TYPE = frozenset(["OptionalType", "AnyType", "UnionType", "NumberType", "InterfaceType"])


class PickleWriter:
    """Writes one pickle. Objects that were written before are referred to.

    Args:
        table: receives the storages of tensors.
    """

    def __init__(self, table: StorageTable) -> None:
        self._table = table
        self._out = bytearray(b"\x80\x02")
        self._memo: dict[Any, int] = {}
        self._alive: list[Any] = []  # so that ids stay their objects' own

    def finish(self) -> bytes:
        """The pickle, of the one value that was written."""
        return bytes(self._out) + b"."

    # --- Pieces
    def put(self, data: bytes) -> None:
        """Opcodes as they are."""
        self._out += data

    def _known(self, key: Any) -> bool:
        place = self._memo.get(key)
        if place is None:
            return False
        self.put(b"h" + bytes([place]) if place < 256 else b"j" + struct.pack("<I", place))
        return True

    def _remember(self, key: Any) -> None:
        place = self._memo.setdefault(key, len(self._memo))
        self.put(b"q" + bytes([place]) if place < 256 else b"r" + struct.pack("<I", place))

    def name(self, name: str) -> None:
        """A global: ``module.name``."""
        if not self._known(("global", name)):
            module, _, last = name.rpartition(".")
            self.put(b"c" + f"{module}\n{last}\n".encode())
            self._remember(("global", name))

    def text(self, text: str) -> None:
        """A text."""
        if not self._known(("text", text)):
            data = text.encode("utf-8", "surrogatepass")
            self.put(b"X" + struct.pack("<I", len(data)) + data)
            self._remember(("text", text))

    def integer(self, value: int) -> None:
        """A whole number of 64 bits."""
        if 0 <= value < 256:
            self._out += _SMALL[value]
        elif -(1 << 31) <= value < 1 << 31:
            self.put(b"J" + struct.pack("<i", value))
        else:
            self.put(b"\x8a\x08" + struct.pack("<q", value))

    def _real(self, value: float) -> None:
        self.put(b"G" + struct.pack(">d", value))

    def _call(self, name: str, *parts: Any) -> None:
        """A call of a global with arguments, each of which is written by calling it."""
        self.name(name)
        self.put(b"(")
        for part in parts:
            part()
        self.put(b"tR")

    # --- Values
    def write(self, value: Any, type: Any = None) -> None:
        """A value of a type; without one, of the type that it has."""
        if type is None or type.kind() in _SAME_TYPE:
            type = self._type_of(value, type)
        if value is None:
            self.put(b"N")
        elif is_member(value):  # which may be a text or a number, too
            name, held = member_of(value, type)
            self.name(name)
            self.write(held)
            self.put(b"R")
        elif isinstance(value, bool):
            self.put(b"\x88" if value else b"\x89")
        elif isinstance(value, (int, float, complex)):
            self._number(value, type)
        elif isinstance(value, str):
            self.text(value)
        elif isinstance(value, Tensor):
            self.tensor(value)
        elif isinstance(value, taeda.device):
            self._call("torch.device", lambda: self.text(str(value)))
        elif is_object(value):
            self._shared(value, lambda: self._object(value))
        else:
            self._collection(value, type)

    def _type_of(self, value: Any, wanted: Any) -> Any:
        if is_object(value) or value is None:
            return None
        if wanted is not None and wanted.kind() == "OptionalType":
            return wanted.containedTypes()[0]
        return taeda._C._type_of(value)

    def _number(self, value: complex, type: Any) -> None:
        kind = type.kind() if type is not None else ""
        if kind == "FloatType" or (isinstance(value, float) and kind != "ComplexType"):
            self._real(float(value))  # type: ignore[arg-type]
        elif isinstance(value, int):
            self.integer(value)
        else:
            self._call("builtins.complex", lambda: self._real(value.real), lambda: self._real(value.imag))

    def _shared(self, value: Any, write: Any) -> None:
        held = getattr(value, "_c", value)  # of which there may be several handles
        if not self._known(held):
            write()
            self._remember(held)

    def _collection(self, value: Any, type: Any) -> None:
        if isinstance(value, tuple):
            self._tuple(value, type)
        elif isinstance(value, dict):
            self._call_typed(lambda: self._dict(value, type), type)
        elif isinstance(value, list):
            element = type.containedTypes()[0] if type is not None else None
            build = _LISTS.get(type_text(element)) if element is not None else None
            if build is not None:
                self._call(f"torch.jit._pickle.{build}", lambda: self._list(value, element))
            else:
                self._call_typed(lambda: self._list(value, element), type)
        else:
            raise RuntimeError(
                f"taeda.jit.save: an archive cannot hold a {value.__class__.__name__}; make it a tensor, a number, a "
                "text, a container of these, or an object of a scripted class"
            )

    def _call_typed(self, write: Any, type: Any) -> None:
        self._call("torch.jit._pickle.restore_type_tag", write, lambda: self.text(type_text(type)))

    def _list(self, items: list[Any], element: Any) -> None:
        self.put(b"](")
        for item in items:
            self.write(item, element)
        self.put(b"e")

    def _dict(self, items: dict[Any, Any], type: Any) -> None:
        key, value = type.containedTypes()
        self.put(b"}(")
        for k, v in items.items():
            self.write(k, key)
            self.write(v, value)
        self.put(b"u")

    def _tuple(self, items: tuple[Any, ...], type: Any) -> None:
        types = type.containedTypes() if type is not None else [None] * len(items)
        self.put(b"(")
        for item, inner in zip(items, types, strict=True):
            self.write(item, inner)
        self.put(b"t")

    def _object(self, value: Any) -> None:
        name, state = state_of(value)
        self.name(name)
        self.put(b")\x81")
        if isinstance(state, list):  # by attribute: (name, type, value)
            self.put(b"}(")
            for attribute, type, held in state:
                self.text(attribute)
                self.write(held, type)
            self.put(b"u")
        else:
            self.write(state.value, state.type)
        self.put(b"b")

    # --- Tensors
    def tensor(self, tensor: Tensor) -> None:
        """A tensor, by its storage."""
        if self._known(id(tensor)):
            return
        if tensor.layout is not taeda.strided or tensor.is_conj() or tensor.is_neg():
            tensor = self._plain(tensor)
        typed = tensor.dtype in BY_DTYPE
        ref = StorageRef(tensor.untyped_storage(), tensor.dtype if typed else None)
        if self._table.is_of_another_dtype(ref):  # as weights that are packed: quantised, and as integers
            tensor = tensor.clone()
            ref = StorageRef(tensor.untyped_storage(), ref.dtype)
        _, kind, key, location, count = self._table.persistent_id(ref)
        kind_of = "qtensor" if tensor.is_quantized else f"tensor_v{2 if typed else 3}"
        self.name(f"torch._utils._rebuild_{kind_of}")
        self.put(b"((")
        self.text("storage")
        self.name("torch.storage.UntypedStorage" if kind is UntypedStorage else f"torch.{kind.__name__}")
        self.text(key)
        self.text(location)
        self.integer(count)
        self.put(b"tQ")
        self.integer(tensor.storage_offset())
        for numbers in (tensor.shape, tensor.stride()):
            self.put(b"(")
            for number in numbers:
                self.integer(number)
            self.put(b"t")
        if tensor.is_quantized:
            self._quantisation(tensor)
        self.put(b"\x88" if tensor.requires_grad else b"\x89")
        self.name("collections.OrderedDict")
        self.put(b")R")
        if not typed:
            self.name(str(tensor.dtype))
        self.put(b"tR")
        self._alive.append(tensor)
        self._remember(id(tensor))

    def _quantisation(self, tensor: Tensor) -> None:
        scheme, *numbers = parameters_of(tensor)
        self.put(b"(")
        self.name(str(scheme))
        for number in numbers:
            self.tensor(number) if isinstance(number, Tensor) else self.write(number, None)
        self.put(b"t")

    def _plain(self, tensor: Tensor) -> Tensor:
        if tensor.layout is not taeda.strided:
            raise RuntimeError(
                f"taeda.jit.save: an archive cannot hold a tensor of layout {tensor.layout}; make it dense"
            )
        return tensor.detach().resolve_conj().resolve_neg().requires_grad_(tensor.requires_grad)
