"""The old name of `taeda.hub.load_state_dict_from_url`."""

from taeda.hub import load_state_dict_from_url as load_url

__all__ = ["load_url"]
