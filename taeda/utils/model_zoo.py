"""The old names of `taeda.hub.load_state_dict_from_url` and of its progress bar."""

from typing import Any

from taeda import hub
from taeda.hub import load_state_dict_from_url as load_url

__all__ = ["load_url"]


def __getattr__(name: str) -> Any:
    if name != "tqdm":
        raise AttributeError(f"module 'taeda.utils.model_zoo' has no attribute '{name}'")
    return hub.tqdm
