"""An optimiser's state, cut as the model is."""

from __future__ import annotations

from typing import Any

import taeda
from taeda.distributed.checkpoint.default_planner import DefaultLoadPlanner
from taeda.distributed.checkpoint.metadata import BytesStorageMetadata
from taeda.distributed.checkpoint.planner import LoadPlanner
from taeda.distributed.checkpoint.state_dict_loader import load_state_dict
from taeda.distributed.checkpoint.storage import StorageReader
from taeda.distributed.tensor import DTensor
from taeda.distributed.tensor._redistribute import local_of

__all__ = ["load_sharded_optimizer_state_dict"]


def load_sharded_optimizer_state_dict(
    model_state_dict: dict[str, Any], optimizer_key: str, storage_reader: StorageReader,
    planner: LoadPlanner | None = None,
) -> dict[str, Any]:  # fmt: skip
    """What a checkpoint has below ``optimizer_key``; states of DTensors of the model are cut as these.

    Args:
        model_state_dict: the model's parameters, by name.
    """
    metadata = storage_reader.read_metadata()
    state: dict[str, Any] = {}
    for name, stored in metadata.state_dict_metadata.items():
        path = (metadata.planner_data or {}).get(name, tuple(name.split(".")))
        if path[0] != optimizer_key:
            continue
        if isinstance(stored, BytesStorageMetadata):
            state[name] = None
            continue
        made: Any = taeda.empty(stored.size, dtype=stored.properties.dtype)
        like = next((value for key, value in model_state_dict.items() if key in path or f".{key}." in name), None)
        if isinstance(like, DTensor) and tuple(like.shape) == tuple(stored.size):
            made = DTensor(local_of(made, like._spec).clone(), like._spec, requires_grad=False)
        state[name] = made
    load_state_dict(state, storage_reader, planner=planner or DefaultLoadPlanner(flatten_state_dict=False))
    from taeda.distributed.checkpoint._nested_dict import unflatten_state_dict

    return unflatten_state_dict(state, metadata.planner_data)
