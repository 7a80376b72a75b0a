"""What sparsifiers of named tensors share."""

from __future__ import annotations

import abc
import copy
import warnings
from collections import defaultdict
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.ao.pruning.sparsifier.base_sparsifier import BaseSparsifier
from taeda.ao.pruning.sparsifier.utils import FakeSparsity
from taeda.nn.utils import parametrize

__all__ = ["BaseDataSparsifier"]

EMBEDDINGS = (nn.Embedding, nn.EmbeddingBag)
SUPPORTED_TYPES = (Tensor, nn.Parameter, *EMBEDDINGS)


class _Container(nn.Module):
    """Holds the tensors as buffers, so that they can be parametrised."""


class BaseDataSparsifier(BaseSparsifier):
    """Puts masks over tensors, parameters and the weights of embeddings, each by a name; ``data_groups`` has their
    configurations, which come from ``defaults`` where ``add_data`` does not say otherwise."""

    def __init__(self, data_list: list[tuple[str, Any]] | None = None, **defaults: Any) -> None:
        super().__init__(defaults=defaults)
        self._container = _Container()
        self.data_groups: dict[str, dict[str, Any]] = defaultdict(dict)
        for name, data in data_list or ():
            self.add_data(name, data, **self.defaults)

    def prepare(self, model: nn.Module, config: Any) -> None:
        """Refused: tensors come by ``add_data``."""
        raise NotImplementedError(f"{type(self).__name__}.prepare: tensors are given to add_data, not a model")

    def _extract_weight(self, data: Any) -> Tensor:
        if isinstance(data, EMBEDDINGS):
            return data.weight
        if type(data) not in SUPPORTED_TYPES:
            raise AssertionError(f"add_data: data must be a tensor, a parameter or an embedding; got a {type(data)}")
        return data

    def add_data(self, name: str, data: Any, reuse_mask: bool = True, **config: Any) -> None:
        """Puts a mask over ``data``; one of the same name gives way, and its mask stays, with ``reuse_mask``."""
        weight = self._extract_weight(data)
        group = {**copy.deepcopy(self.defaults), **config}
        mask = group.get("mask")
        if name in self.state:
            warnings.warn(f"add_data: {name!r} takes the place of data of that name", stacklevel=2)
            group = {**copy.deepcopy(self.data_groups[name]), **config}
            if reuse_mask:
                mask = self.get_mask(name)
                assert mask.shape == weight.shape, f"add_data: the mask of {name!r} is {mask.shape}, not {weight.shape}"
            self._delete_data(name)
        mask = taeda.ones_like(weight) if mask is None else mask
        self.data_groups[name] = group
        self._register(name, weight, group.get("parametrization", FakeSparsity)(mask))
        self.state[name]["mask"] = mask

    def _register(self, name: str, weight: Tensor, mask: nn.Module | None) -> None:
        self._container.register_buffer(name, weight)
        if mask is not None:
            parametrize.register_parametrization(self._container, name, mask)

    def get_data(self, name: str, return_original: bool = True) -> Tensor:
        """The tensor as it was given, or with its mask.

        Raises:
            ValueError: no such name; or the original is gone, as the mask was squashed.
        """
        if name not in self.data_groups:
            raise ValueError(f"get_data: there is no data {name!r}")
        if not return_original:
            return getattr(self._container, name)
        if not parametrize.is_parametrized(self._container, name):
            raise ValueError(f"get_data: the mask of {name!r} was squashed, the original is gone")
        return self._container.parametrizations[name].original

    def get_mask(self, name: str) -> Tensor:
        """The mask of that name.

        Raises:
            ValueError: there is none.
        """
        if name not in self.state:
            raise ValueError(f"get_mask: there is no data {name!r}")
        return self.state[name]["mask"]

    @staticmethod
    def _convert_mask(states: dict[str, Any], sparse_coo: bool = True) -> dict[str, Any]:
        """The states with sparse masks, as files hold them, or with dense ones."""
        made = copy.deepcopy(states)
        for state in made.values():
            state["mask"] = state["mask"].to_sparse_coo() if sparse_coo else state["mask"].to_dense()
        return made

    def state_dict(self) -> dict[str, Any]:
        """Tensors, sparse masks and configurations."""
        return {
            "state": self._convert_mask(self.state),
            "data_groups": self.data_groups,
            "_container": self._container.state_dict(),
        }

    def load_state_dict(self, state_dict: dict[str, Any], strict: bool = True) -> None:
        """What ``state_dict`` gave takes the place of all that is here, or joins it without ``strict``."""
        states = self._convert_mask(state_dict["state"], sparse_coo=False)
        groups = copy.deepcopy(state_dict["data_groups"])
        if strict:
            self._container = _Container()
        self._load_container_from_state(states, groups, state_dict["_container"])
        if not strict:
            states, groups = {**states, **self.state}, {**groups, **self.data_groups}
        self.__setstate__({"state": states, "data_groups": groups})

    def _load_container_from_state(
        self, states: dict[str, Any], data_groups: dict[str, Any], container_state_dict: dict[str, Any]
    ) -> None:
        for name, state in states.items():
            if name not in data_groups:
                raise RuntimeError(f"load_state_dict: {name!r} has a state and no configuration")
            original = container_state_dict.get(f"parametrizations.{name}.original")
            data = container_state_dict[name] if original is None else original
            fake = data_groups[name].get("parametrization", FakeSparsity)
            self._register(name, data, None if original is None else fake(state["mask"]))

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, **self.state_dict()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        rest = dict(state)
        if "_container" in rest:  # as pickled
            self._container = _Container()
            rest["state"] = self._convert_mask(rest["state"], sparse_coo=False)
            self._load_container_from_state(rest["state"], rest["data_groups"], rest.pop("_container"))
            self.__dict__.setdefault("enable_mask_update", True)
        for key in ("state", "data_groups"):
            rest[key] = defaultdict(dict, rest[key])
        self.__dict__.update(rest)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for name, group in self.data_groups.items():
            lines += [f"\tData Group\n\t    name: {name}"]
            lines += [f"\t    {key}: {group[key]}" for key in sorted(group) if key not in ("data", "mask")]
        return "\n".join([*lines, ")"])

    def squash_mask(
        self, *args: Any, leave_parametrized: bool = True, names: list[str] | None = None, **kwargs: Any
    ) -> None:
        """Makes the masked tensors the data, or with ``leave_parametrized=False`` the originals."""
        for name in list(self.data_groups) if names is None else names:
            parametrize.remove_parametrizations(self._container, name, leave_parametrized=leave_parametrized)

    def step(self) -> None:
        """Updates all masks, unless ``enable_mask_update`` is off."""
        if not self.enable_mask_update:
            return
        with taeda.no_grad():
            for name, group in self.data_groups.items():
                self.update_mask(name, self.get_data(name), **group)

    @abc.abstractmethod
    def update_mask(self, name: str, data: Tensor, **kwargs: Any) -> None:
        """Sets the mask of a tensor; ``kwargs`` is its configuration."""

    def _delete_data(self, name: str) -> None:
        """Forgets a tensor, which keeps its values."""
        if parametrize.is_parametrized(self._container, name):
            self.squash_mask(leave_parametrized=False, names=[name])
        delattr(self._container, name)
        del self.state[name], self.data_groups[name]
