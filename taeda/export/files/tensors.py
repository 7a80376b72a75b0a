"""The tensors of a program in an archive: the bytes of each storage, and a table of what lies where in them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda._serialization.archive import ArchiveReader, ArchiveWriter, bytes_of, swap_bytes
from taeda.export.files import codes


def write(archive: ArchiveWriter, folder: str, stem: str, table: str, values: dict[str, Any]) -> None:
    """Writes tensors by path; those that share memory share it in the file.

    Raises:
        RuntimeError: one is no dense tensor.
    """
    storages: dict[int, str] = {}
    config = {}
    for path, tensor in values.items():
        if not isinstance(tensor, Tensor) or tensor.layout is not taeda.strided or tensor.is_quantized:
            kind = f"a tensor of layout {tensor.layout}" if isinstance(tensor, Tensor) else type(tensor).__name__
            raise RuntimeError(f"taeda.export.save: '{path}' is {kind}; files hold dense tensors")
        storage = tensor.untyped_storage()
        key = storage.data_ptr() or id(tensor)
        if key not in storages:
            storages[key] = f"{stem}{len(storages)}"
            plain = storage if storage.device.type == "cpu" else storage.cpu()
            archive.write(f"{folder}/{storages[key]}", bytes_of(plain))
        numbers = ([{"as_int": n} for n in each] for each in (tensor.shape, tensor.stride()))
        meta = codes.described(tensor, *numbers) | {"storage_offset": {"as_int": tensor.storage_offset()}}
        config[path] = {
            "path_name": storages[key], "is_param": isinstance(tensor, nn.Parameter), "use_pickle": False,
            "tensor_meta": meta,
        }  # fmt: skip
    archive.write(f"{folder}/{table}", json.dumps({"config": config}).encode())


def read(archive: ArchiveReader, folder: str, table: str) -> dict[str, Tensor]:
    """What `write` and PyTorch write.

    Raises:
        RuntimeError: the table speaks of what is not there, or of what is no dense tensor.
    """
    storages: dict[str, Any] = {}
    found: dict[Any, Tensor] = {}
    values = {}
    for path, entry in json.loads(archive.read(f"{folder}/{table}"))["config"].items():
        meta = entry["tensor_meta"]
        if entry["use_pickle"] or meta is None or not entry["path_name"].replace("_", "").isalnum():
            raise RuntimeError(f"taeda.export.load: '{path[:100]}' is no dense tensor; such values are not read")
        dtype = codes.member(codes.DTYPES, meta["dtype"])
        name = entry["path_name"]
        if name not in storages:
            storages[name] = _bytes(archive, f"{folder}/{name}", dtype).to(codes.read_device(meta["device"]))
        sizes, strides, offset = _ints(meta["sizes"]), _ints(meta["strides"]), int(meta["storage_offset"]["as_int"])
        key = name, dtype, tuple(sizes), tuple(strides), offset, entry["is_param"]
        if key not in found:
            made = _made(storages[name], dtype, sizes, strides, offset)
            requires_grad = bool(meta["requires_grad"])
            found[key] = nn.Parameter(made, requires_grad) if entry["is_param"] else made.requires_grad_(requires_grad)
        values[path] = found[key]
    return values


def _bytes(archive: ArchiveReader, name: str, dtype: taeda.dtype) -> Tensor:
    flat = taeda.empty(archive.size(name), dtype=taeda.uint8)
    archive.read_into(name, bytes_of(flat.untyped_storage()))
    if archive.swaps_bytes:
        swap_bytes(flat.untyped_storage(), dtype.itemsize // (2 if dtype.is_complex else 1))
    return flat


def _ints(numbers: Iterable[dict[str, int]]) -> list[int]:
    return [int(number["as_int"]) for number in numbers]


def _made(flat: Tensor, dtype: taeda.dtype, sizes: list[int], strides: list[int], offset: int) -> Tensor:
    reach = offset + sum((n - 1) * s for n, s in zip(sizes, strides)) + 1 if all(sizes) else 0
    if min((*sizes, *strides, offset), default=0) < 0 or reach * dtype.itemsize > flat.numel():
        raise RuntimeError("taeda.export.load: a tensor reaches beyond its bytes")
    return taeda.empty(0, dtype=dtype, device=flat.device).set_(flat.untyped_storage(), offset, sizes, strides)
