"""What the processor can do, as Linux tells it."""

from __future__ import annotations

import functools
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

# By PyTorch's name the kernel's, where they differ.
_OTHER_NAMES = {
    "lzcnt": "abm", "bmi": "bmi1", "fma3": "fma", "sse3": "pni", "sha": "sha_ni", "avx512_f": "avx512f",
    "avx512_bw": "avx512bw", "avx512_cd": "avx512cd", "avx512_dq": "avx512dq", "avx512_vl": "avx512vl",
    "avx512_ifma": "avx512ifma", "avx512_vbmi": "avx512vbmi",
}  # fmt: skip
_NAMES = [
    "sse", "sse2", "sse3", "ssse3", "sse4_1", "sse4_2", "sse4a", "avx", "avx2", "avx_vnni", "avx_vnni_int8",
    "avx_vnni_int16", "avx_ne_convert", "avx10_1", "avx10_2", "avx512_f", "avx512_cd", "avx512_dq", "avx512_bw",
    "avx512_vl", "avx512_ifma", "avx512_vbmi", "avx512_vbmi2", "avx512_bitalg", "avx512_vpopcntdq",
    "avx512_vnni", "avx512_bf16", "avx512_fp16", "avx512_vp2intersect", "avx512_4vnniw", "avx512_4fmaps",
    "amx_bf16", "amx_tile", "amx_int8", "amx_fp16", "f16c", "fma3", "fma4", "bmi", "bmi2", "popcnt", "lzcnt",
    "aes", "sha", "clflush", "clflushopt", "clwb",
]  # fmt: skip


@functools.cache
def get_capabilities() -> Mapping[str, Any]:
    """Which instructions the processor has, by name; its caches in bytes, cores, sockets, name and architecture."""
    processors = [_fields(text) for text in _read("/proc/cpuinfo").split("\n\n") if text.strip()]
    first = processors[0] if processors else {}
    flags = set(first.get("flags", first.get("Features", "")).split())
    found: dict[str, Any] = {}
    if "flags" in first:
        found = {name: _OTHER_NAMES.get(name, name) in flags for name in _NAMES}
    cores = {(one.get("physical id", "0"), one.get("core id", str(i))) for i, one in enumerate(processors)}
    found |= {
        "num_logical_cores": os.cpu_count() or 1, "num_physical_cores": max(len(cores), 1),
        "num_sockets": max(len({socket for socket, _ in cores}), 1), "cpu_name": first.get("model name", ""),
        "architecture": platform.machine(), **_caches(),
    }  # fmt: skip
    return MappingProxyType(found)


def _read(path: str | Path) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def _fields(text: str) -> dict[str, str]:
    """The lines ``name : value``."""
    pairs = (line.partition(":") for line in text.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _caches() -> dict[str, int]:
    """The sizes of the nearest cache of data and the one behind it."""
    found = {}
    for folder in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        level, kind, size = (_read(folder / name).strip() for name in ("level", "type", "size"))
        if (level, kind) in (("1", "Data"), ("2", "Unified")) and size.endswith("K"):
            found["l1d_cache_size" if level == "1" else "l2_cache_size"] = int(size[:-1]) * 1024
    return found


def _has(*names: str) -> bool:
    return all(get_capabilities().get(name, False) for name in names)


def _is_avx2_supported() -> bool:
    """Whether it has AVX2."""
    return _has("avx2")


def _is_avx512_supported() -> bool:
    """Whether it has the parts of AVX-512 that kernels are compiled for."""
    return _has("avx512_f", "avx512_vl", "avx512_bw", "avx512_dq")


def _is_avx512_bf16_supported() -> bool:
    """Whether it multiplies bfloat16."""
    return _has("avx512_bf16")


def _is_vnni_supported() -> bool:
    """Whether it sums products of bytes."""
    return _has("avx512_vnni")


def _is_amx_tile_supported() -> bool:
    """Whether it has tiles."""
    return _has("amx_tile")


def _is_amx_fp16_supported() -> bool:
    """Whether its tiles multiply float16."""
    return _has("amx_fp16")


def _init_amx() -> bool:
    """Whether tiles can be used; oneDNN asks the system for them itself."""
    return _is_amx_tile_supported()


_cpu = SimpleNamespace(_get_cpu_capability=get_capabilities, _init_amx=_init_amx)  # PyTorch's name in its native part
