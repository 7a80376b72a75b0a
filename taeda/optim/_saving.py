"""Optimiser state to and from the saved form, in which parameters are numbered across all groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

import taeda
from taeda import Tensor


def index_params(groups: list[dict[str, Any]], state: Mapping[Any, Any]) -> dict[str, Any]:
    """The saved form of ``groups`` and ``state``; a parameter that occurs twice keeps its first number."""
    index: dict[int, int] = {}
    packed = []
    for group in groups:
        for p in group["params"]:
            index.setdefault(id(p), len(index))
        options = {key: value for key, value in group.items() if key != "params"}
        packed.append({**options, "params": [index[id(p)] for p in group["params"]]})
    states = {index[id(key)] if isinstance(key, Tensor) else key: value for key, value in state.items()}
    return {"state": states, "param_groups": packed}


def match_params(ours: list[dict[str, Any]], saved: list[dict[str, Any]]) -> dict[Any, tuple[Tensor, dict[str, Any]]]:
    """Maps each saved number to our parameter at the same index and the saved options of its group."""
    if len(ours) != len(saved):
        raise ValueError(
            f"load_state_dict: the optimizer has {len(ours)} parameter groups, the saved state {len(saved)}"
        )
    for i, (a, b) in enumerate(zip(ours, saved, strict=True)):
        if len(a["params"]) != len(b["params"]):
            raise ValueError(
                f"load_state_dict: parameter group {i} holds {len(a['params'])} parameters here and"
                f" {len(b['params'])} in the saved state"
            )
    params = chain.from_iterable(group["params"] for group in ours)
    numbers = chain.from_iterable(((n, group) for n in group["params"]) for group in saved)
    return {number: (p, group) for p, (number, group) in zip(params, numbers, strict=True)}


def cast_state(p: Tensor, value: Any, group: dict[str, Any], key: str | None = None) -> Any:
    """``value`` with its tensors on the device of ``p`` and, where ``p`` is floating, in its dtype.

    The step count is no function of the parameter's precision: it stays float32, and on its own device unless a kernel
    on the parameter's device reads it.
    """
    if isinstance(value, Tensor):
        if key == "step":
            on_device = group.get("capturable") or group.get("fused")
            return value.to(dtype=taeda.float32, device=p.device) if on_device else value
        return value.to(dtype=p.dtype, device=p.device) if p.is_floating_point() else value.to(device=p.device)
    if isinstance(value, dict):
        return {k: cast_state(p, v, group, k) for k, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return type(value)(cast_state(p, v, group) for v in value)  # type: ignore[call-arg]
    return value
