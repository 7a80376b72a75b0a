"""What a checkpoint's pickle calls to make tensors from storages, each argument checked before it is believed."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._serialization.plain_pickle import rebuild_quantized, with_bits

_INT64_END = 2**63


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise RuntimeError(f"taeda.load: the file is damaged or was tampered with: {what}")


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < _INT64_END


def _check_geometry(size: Any, stride: Any, offset: Any) -> int:
    """Check a tensor's geometry and return how many elements its storage must hold."""
    for name, values in (("size", size), ("stride", stride)):
        valid = isinstance(values, tuple) and all(_is_count(v) for v in values)
        _require(valid, f"a tensor's {name} is not a tuple of non-negative 64-bit integers")
    _require(len(size) == len(stride), f"a tensor has {len(size)} sizes but {len(stride)} strides")
    _require(_is_count(offset), "a tensor's storage offset is not a non-negative 64-bit integer")
    numel, last = 1, offset
    for extent, step in zip(size, stride, strict=True):
        numel *= extent
        last += (extent - 1) * step
    _require(numel < _INT64_END and (numel == 0 or last < _INT64_END), "a tensor's size overflows 64 bits")
    return last + 1 if numel else 0


def _over(untyped: taeda.UntypedStorage, dtype: Any, offset: Any, size: Any, stride: Any) -> Tensor:
    _require(isinstance(dtype, taeda.dtype), "a tensor's dtype is not a dtype")
    needed = _check_geometry(size, stride, offset)
    if untyped.device.type == "meta":
        return taeda.empty_strided(size, stride, dtype=dtype, device="meta")
    held = untyped.nbytes() // dtype.itemsize
    _require(needed <= held, f"a tensor reaches {needed} elements into a storage of {held}")
    return taeda.empty(0, dtype=dtype, device=untyped.device).set_(untyped, offset, size, stride)


def tensor_v1(storage: Any, offset: Any, size: Any, stride: Any) -> Tensor:
    _require(isinstance(storage, taeda.TypedStorage), "a tensor is built over something that is not a storage")
    return _over(storage._untyped_storage, storage.dtype, offset, size, stride)


def tensor_v2(
    storage: Any, offset: Any, size: Any, stride: Any, requires_grad: Any, hooks: Any = None, bits: Any = None
) -> Tensor:
    """``hooks`` is always empty in a file; ``bits`` marks a lazily conjugated or negated tensor."""
    tensor = _with_bits(tensor_v1(storage, offset, size, stride), bits)
    return tensor.requires_grad_() if requires_grad else tensor


def tensor_v3(
    storage: Any,
    offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    hooks: Any,
    dtype: Any,
    bits: Any = None,
) -> Tensor:
    """As ``tensor_v2``, over an untyped storage: for the dtypes that have no storage class in files."""
    _require(isinstance(storage, taeda.UntypedStorage), "a tensor is built over something that is not a storage")
    tensor = _with_bits(_over(storage, dtype, offset, size, stride), bits)
    return tensor.requires_grad_() if requires_grad else tensor


def _with_bits(tensor: Tensor, bits: Any) -> Tensor:
    if not isinstance(bits, dict):
        return tensor
    return with_bits(tensor, bool(bits.get("conj")), bool(bits.get("neg")))


def qtensor(storage: Any, offset: Any, size: Any, stride: Any, numbers: Any, requires_grad: Any, hooks: Any) -> Tensor:
    """``numbers`` are the scheme, then scale and zero point, or those by channel and the axis."""
    _require(isinstance(storage, taeda.TypedStorage), "a tensor is built over something that is not a storage")
    from taeda.storage import _INTEGERS

    dtype, untyped = storage.dtype, storage._untyped_storage
    _require(dtype in _INTEGERS, "a quantised tensor has a dtype that is none of quantised elements")
    _require(isinstance(numbers, tuple) and len(numbers) in (3, 4), "a quantised tensor has no scale")
    parameters = [taeda.tensor(n) if isinstance(n, list) else n for n in numbers[1:]]
    if dtype in (taeda.quint4x2, taeda.quint2x4):
        _check_geometry(size, stride, offset)
        return rebuild_quantized(_over(untyped, taeda.uint8, 0, (untyped.nbytes(),), (1,)), dtype, size, *parameters)
    integers = _over(untyped, _INTEGERS[dtype], offset, size, stride)
    return taeda._C._functions._as_quantized(integers, dtype, *parameters)


def meta_tensor(dtype: Any, size: Any, stride: Any, requires_grad: Any) -> Tensor:
    _require(isinstance(dtype, taeda.dtype), "a tensor's dtype is not a dtype")
    _check_geometry(size, stride, 0)
    tensor = taeda.empty_strided(size, stride, dtype=dtype, device="meta")
    return tensor.requires_grad_() if requires_grad else tensor


def wrapper_subclass(
    cls: Any, dtype: Any, size: Any, stride: Any, offset: Any, layout: Any, device: Any, requires_grad: Any
) -> Tensor:
    """A tensor without memory of its own, whose class answers its ops; what it wraps is among its attributes."""
    _require(isinstance(cls, type) and issubclass(cls, Tensor), "a tensor is given a type that is not a Tensor")
    _require(isinstance(dtype, taeda.dtype), "a tensor's dtype is not a dtype")
    _check_geometry(size, stride, offset)
    made: Tensor = Tensor._make_wrapper_subclass(
        cls, size, strides=stride, storage_offset=offset, dtype=dtype, device=device, requires_grad=bool(requires_grad)
    )
    return made


def parameter(data: Any, requires_grad: Any, hooks: Any) -> Tensor:
    _require(isinstance(data, Tensor), "a Parameter holds something that is not a tensor")
    return taeda.nn.Parameter(data, requires_grad=bool(requires_grad))


def parameter_with_state(data: Any, requires_grad: Any, hooks: Any, state: Any) -> Tensor:
    return set_state(parameter(data, requires_grad, hooks), state)


def from_type(build: Any, cls: Any, args: Any, state: Any) -> Tensor:
    """A tensor of a subclass, or a plain one with attributes of its own."""
    allowed = [known for (_, name), known in REBUILDERS.items() if name.startswith("_rebuild") and known != from_type]
    _require(any(build is one for one in allowed), "a tensor subclass is not built by one of the known functions")
    _require(isinstance(cls, type) and issubclass(cls, Tensor), "a tensor is given a type that is not a Tensor")
    tensor = build(*args)
    if type(tensor) is not cls:
        tensor = tensor.as_subclass(cls)
    return set_state(tensor, state)


def set_state(tensor: Tensor, state: Any) -> Tensor:
    """Give a tensor its Python attributes, through ``__setstate__`` where its class defines one."""
    custom = getattr(type(tensor), "__setstate__", None)
    if custom is not None and custom is not getattr(Tensor, "__setstate__", None):
        custom(tensor, state)
        return tensor
    plain, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    for part in (plain, slots):
        _require(part is None or isinstance(part, dict), "a tensor's attributes are not a dictionary")
    # Not setattr: what the class itself defines (data, grad, ...) is not the file's to set.
    tensor.__dict__.update(plain or {})
    for name, value in (slots or {}).items():
        declared = any(name in cls.__dict__.get("__slots__", ()) for cls in type(tensor).__mro__)
        _require(declared, "a tensor attribute is not among its class's slots")
        object.__setattr__(tensor, name, value)
    return tensor


def layout(name: Any) -> taeda.layout:
    _require(isinstance(name, (str, taeda.layout)), "a layout is not named by a text")
    found: Any = getattr(taeda, str(name).rpartition(".")[2], None)
    _require(isinstance(found, taeda.layout), "an unknown layout is named")
    return found


def sparse(kind: Any, data: Any) -> Tensor:
    """A tensor of a sparse layout from its indices, values and size (and whether it is coalesced); all are checked."""
    _require(isinstance(kind, taeda.layout) and isinstance(data, tuple), "a sparse tensor has no layout or no parts")
    tensors = 2 if kind == taeda.sparse_coo else 3
    _require(
        len(data) in (tensors + 1, tensors + 2) and all(isinstance(part, Tensor) for part in data[:tensors]),
        "a sparse tensor does not have the parts of its layout",
    )
    _require(isinstance(data[tensors], (tuple, taeda.Size)), "a sparse tensor's size is not a tuple")
    size = tuple(data[tensors])
    _require(all(map(_is_count, size)), "a sparse tensor's size is not one of 64-bit integers")
    if kind == taeda.sparse_coo:
        coalesced = bool(data[3]) if len(data) > 3 and data[3] is not None else None
        return taeda.sparse_coo_tensor(data[0], data[1], size, is_coalesced=coalesced, check_invariants=True)
    pointers, plain, values = data[:3]
    return taeda.sparse_compressed_tensor(pointers, plain, values, size, layout=kind, check_invariants=True)


def nested_strided(buffer: Any, sizes: Any, strides: Any, offsets: Any) -> Tensor:
    """The nested tensor whose components lie in ``buffer``, each where a row of the others says."""
    tensors = all(isinstance(part, Tensor) for part in (buffer, sizes, strides, offsets))
    columns = [part.tolist() for part in (sizes, strides, offsets)] if tensors else []
    fits = tensors and buffer.dim() == 1 and all(isinstance(column, list) for column in columns)
    fits = fits and len({len(column) for column in columns}) == 1
    _require(fits, "a nested tensor does not have the parts of its layout")
    parts = []
    for size, stride, offset in zip(*columns, strict=True):
        _require(isinstance(size, list) and isinstance(stride, list), "a component of a nested tensor has no sizes")
        needed = _check_geometry(tuple(size), tuple(stride), offset)
        _require(needed <= buffer.numel(), "a component reaches beyond the nested tensor's elements")
        parts.append(buffer.detach().as_strided(size, stride, offset))
    made = taeda.nested.as_nested_tensor(parts, dtype=buffer.dtype)
    return made.requires_grad_() if buffer.requires_grad else made


def nested_jagged(parts: Any) -> Tensor:
    """The nested tensor over values and offsets; its limits are the sizes of tensors without elements."""
    _require(isinstance(parts, dict), "a jagged tensor has no parts")
    values, offsets, lengths = (parts.get(name) for name in ("values", "offsets", "lengths"))
    ragged, known = parts.get("_ragged_idx", 1), parts.get("_metadata_cache") or {}
    _require(isinstance(ragged, int) and isinstance(known, dict), "a jagged tensor has parts of other types")
    tensors = isinstance(values, Tensor) and isinstance(offsets, Tensor) and offsets.dim() == 1
    whole = not offsets.is_floating_point() if tensors else False
    _require(whole and (lengths is None or isinstance(lengths, Tensor)), "a jagged tensor has no values or no offsets")
    limits = {}
    for name, limit in known.items():
        _require(name in ("min_seqlen", "max_seqlen") and isinstance(limit, Tensor), "a jagged tensor has other limits")
        limits[name] = limit.size(0) if limit.dim() else 0
    made = taeda.nested.nested_tensor_from_jagged(values, offsets, lengths, ragged, **limits)
    return made.requires_grad_() if parts.get("requires_grad") else made


# By the names that PyTorch's files call them.
REBUILDERS = {
    ("torch._utils", "_rebuild_tensor"): tensor_v1,
    ("torch._utils", "_rebuild_tensor_v2"): tensor_v2,
    ("torch._utils", "_rebuild_tensor_v3"): tensor_v3,
    ("torch._utils", "_rebuild_sparse_tensor"): sparse,
    ("torch._utils", "_rebuild_nested_tensor"): nested_strided,
    ("torch.nested._internal.nested_tensor", "_rebuild_njt"): nested_jagged,
    ("torch._utils", "_rebuild_qtensor"): qtensor,
    ("torch._utils", "_rebuild_meta_tensor_no_storage"): meta_tensor,
    ("torch._utils", "_rebuild_wrapper_subclass"): wrapper_subclass,
    ("torch._utils", "_rebuild_parameter"): parameter,
    ("torch._utils", "_rebuild_parameter_with_state"): parameter_with_state,
    ("torch._tensor", "_rebuild_from_type_v2"): from_type,
    ("torch.serialization", "_get_layout"): layout,
}
