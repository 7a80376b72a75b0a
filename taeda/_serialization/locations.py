"""Where storages come from and go to: location tags, ``map_location`` and the registry of devices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda

Tagger = Callable[[Any], "str | None"]
Deserializer = Callable[[Any, str], Any]

_registry: list[tuple[int, Tagger, Deserializer]] = []


def register_package(priority: int, tagger: Tagger, deserializer: Deserializer) -> None:
    """Teach ``save`` and ``load`` a kind of device; lower priorities are asked first.

    Args:
        priority: order among the registered kinds.
        tagger: given a storage, its location (``"cuda:0"``) or None when it is not of this kind.
        deserializer: given a storage in memory and a location, the storage there, or None likewise.
    """
    _registry.append((priority, tagger, deserializer))
    _registry.sort(key=lambda entry: entry[0])


def location_tag(storage: Any) -> str:
    """The location under which ``storage`` is saved.

    Raises:
        RuntimeError: no registered kind knows its device.
    """
    for _, tagger, _ in _registry:
        tag = tagger(storage)
        if tag is not None:
            return tag
    raise RuntimeError(f"taeda.save: no location is registered for storages on {storage.device}")


def default_restore_location(storage: Any, location: str) -> Any:
    """``storage`` moved to ``location``.

    Raises:
        RuntimeError: the location is unknown, or not available on this machine.
    """
    for _, _, deserializer in _registry:
        moved = deserializer(storage, location)
        if moved is not None:
            return moved
    raise RuntimeError(
        f"taeda.load: do not know how to place a storage at {location!r}; map_location='cpu' loads it into memory"
    )


def restorer(map_location: Any) -> Callable[[Any, str], Any]:
    """The function that places each loaded storage, from ``load``'s ``map_location`` argument."""
    if map_location is None:
        return default_restore_location
    if isinstance(map_location, dict):
        return lambda storage, location: default_restore_location(storage, map_location.get(location, location))
    if isinstance(map_location, (str, bytes, taeda.device)):
        target = map_location.decode() if isinstance(map_location, bytes) else str(map_location)
        return lambda storage, location: default_restore_location(storage, target)

    def ask(storage: Any, location: str) -> Any:
        moved = map_location(storage, location)
        return default_restore_location(storage, location) if moved is None else moved

    return ask


def _tag(kind: str) -> Tagger:
    return lambda storage: kind if storage.device.type == kind else None


def _to_cpu(storage: Any, location: str) -> Any:
    return storage if location == "cpu" else None


def _to_meta(storage: Any, location: str) -> Any:
    return taeda.UntypedStorage(storage.nbytes(), device="meta") if location == "meta" else None


def _cuda_tag(storage: Any) -> str | None:
    return f"cuda:{storage.device.index}" if storage.device.type == "cuda" else None


def _to_cuda(storage: Any, location: str) -> Any:
    if not location.startswith("cuda"):
        return None
    if not taeda.cuda.is_available():
        raise RuntimeError(
            f"taeda.load: the file holds tensors of {location}, but CUDA is not available here; "
            "load them into memory with map_location='cpu'"
        )
    return storage.to(device=taeda.device(location))


register_package(10, _tag("cpu"), _to_cpu)
register_package(20, _cuda_tag, _to_cuda)
register_package(30, _tag("meta"), _to_meta)
