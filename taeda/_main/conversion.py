"""Tensors over the memory of others: of arrays and buffers, of files."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda.types import Device, _dtype


def asarray(obj: Any, *, dtype: _dtype | None = None, device: Device = None, copy: bool | None = None,
            requires_grad: bool | None = None) -> Tensor:  # fmt: skip
    """``obj`` as a tensor: a tensor, an array, a DLPack capsule, a buffer (whose bytes are read as ``dtype``), a
    number or nested sequences of them.

    Its memory is shared where that can be: never with ``copy=True``; with ``copy=False`` a ValueError says that it
    cannot. A tensor stays part of its graph unless ``requires_grad`` is False.
    """
    shared = _shared(obj, dtype)
    if shared is None:
        if copy is False:
            error = RuntimeError if hasattr(obj, "__array_interface__") else ValueError  # a NumPy scalar
            raise error(f"taeda.asarray: copy=False, but the memory of a {type(obj).__name__} cannot be shared")
        result = taeda.tensor(obj, dtype=dtype, device=device)
    else:
        result = _moved(shared, dtype, device, copy)
    if requires_grad is False and result.requires_grad:
        return result.detach()
    if requires_grad and not result.requires_grad:
        result = result.detach() if result is obj else result
        result.requires_grad_()
    return result


def _shared(obj: Any, dtype: Any) -> Tensor | None:
    """A tensor over the memory of ``obj``, or None."""
    if isinstance(obj, taeda.Tensor):
        return obj
    if isinstance(obj, taeda._C.StorageBase):
        return taeda.as_tensor(obj, dtype=dtype)
    if hasattr(obj, "__array_interface__"):
        return taeda.as_tensor(obj) if hasattr(obj, "__setitem__") else None
    if type(obj).__name__ == "PyCapsule" or hasattr(obj, "__dlpack__"):
        return taeda.from_dlpack(obj)
    try:
        memoryview(obj)
    except TypeError:
        return None
    return taeda.frombuffer(obj, dtype=dtype or taeda.get_default_dtype())


def _moved(tensor: Tensor, dtype: Any, device: Any, copy: bool | None) -> Tensor:
    kind, target = dtype or tensor.dtype, taeda.device(device) if device is not None else tensor.device
    stays = kind == tensor.dtype and (
        target == tensor.device or (target.type == tensor.device.type and target.index is None)
    )
    if stays:
        return tensor.clone() if copy else tensor
    if copy is False:
        raise ValueError(
            f"taeda.asarray: copy=False, but a tensor of {tensor.dtype} on {tensor.device} has to be copied to become "
            f"{kind} on {target}"
        )
    return tensor.to(device=target, dtype=kind)


def from_file(filename: str, shared: bool | None = None, size: int | None = 0, *, dtype: _dtype | None = None,
              layout: Any = None, device: Device = None, pin_memory: bool | None = None,
              requires_grad: bool = False) -> Tensor:  # fmt: skip
    """A vector of the ``size`` first elements of a file, which stays its memory.

    With ``shared`` writes go to the file, which is made, or lengthened, where need be; without, they stay here.
    """
    target = taeda.device(taeda.get_default_device() if device is None else device)
    if target.type != "cpu" or pin_memory or layout not in (None, taeda.strided):
        raise RuntimeError(
            f"taeda.from_file: files are mapped into plain memory of the CPU; got device={target}, layout={layout}, "
            f"pin_memory={pin_memory}"
        )
    count = size or 0
    if count < 0:
        raise RuntimeError(f"taeda.from_file: size must not be negative; got {count}")
    result = taeda.empty(0, dtype=dtype, device="cpu")
    storage = taeda.UntypedStorage.from_file(filename, bool(shared), count * result.itemsize)
    return result.set_(storage, 0, (count,)).requires_grad_(requires_grad)
