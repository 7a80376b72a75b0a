"""Masks over the inputs of modules, found from what passes through a model."""

from __future__ import annotations

import copy
import warnings
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.ao.pruning.sparsifier.utils import fqn_to_module, module_to_fqn

__all__ = ["ActivationSparsifier"]

Mask = Any  # a tensor, or one for each feature
_NOT_KEPT = ("layer", "hook", "hook_state")


class ActivationSparsifier:
    """Aggregates what enters the registered layers, and makes a mask of it.

    Each time a layer is called, ``aggregate_fn(total, x)`` takes the input in. ``step`` reduces the total with
    ``reduce_fn``, and ``mask_fn(reduced, **sparse_config)`` makes the mask; with ``features``, indices along
    ``feature_dim``, there is a total and a mask for each. ``squash_mask`` then multiplies inputs by masks.
    """

    def __init__(
        self,
        model: nn.Module,
        aggregate_fn: Callable[[Any, Any], Any] | None = None,
        reduce_fn: Callable[[Any], Any] | None = None,
        mask_fn: Callable[..., Tensor] | None = None,
        features: list[int] | None = None,
        feature_dim: int | None = None,
        **sparse_config: Any,
    ) -> None:
        self.model = model
        self.defaults: dict[str, Any] = defaultdict(lambda: None)
        self.defaults["sparse_config"] = sparse_config
        self.defaults.update(_functions(aggregate_fn, reduce_fn, mask_fn), features=features, feature_dim=feature_dim)
        self.data_groups: dict[str, dict[str, Any]] = {}
        self.state: dict[str, dict[str, Any]] = defaultdict(dict)

    def register_layer(
        self,
        layer: nn.Module,
        aggregate_fn: Callable[[Any, Any], Any] | None = None,
        reduce_fn: Callable[[Any], Any] | None = None,
        mask_fn: Callable[..., Tensor] | None = None,
        features: list[int] | None = None,
        feature_dim: int | None = None,
        **sparse_config: Any,
    ) -> None:
        """Watches the inputs of a layer of the model; what is not given is as in the constructor."""
        name = module_to_fqn(self.model, layer)
        assert name is not None, "register_layer: the layer is not part of the model"
        if name in self.data_groups:
            warnings.warn(f"register_layer: {name!r} is registered again, its mask starts anew", stacklevel=2)
            self.unregister_layer(name)
        group = copy.deepcopy(dict(self.defaults))
        given = {
            **_functions(aggregate_fn, reduce_fn, mask_fn),
            "features": features,
            "feature_dim": feature_dim,
            "layer": layer,
        }
        group.update({key: value for key, value in given.items() if value is not None})
        group["sparse_config"].update(sparse_config)
        for key in ("aggregate_fn", "reduce_fn", "mask_fn"):
            assert group[key] is not None, f"register_layer: {name!r} has no {key}, nor has the sparsifier"
        if group["features"] is not None:
            assert group["feature_dim"] is not None, f"register_layer: features of {name!r} need a feature_dim"
        self.data_groups[name] = group
        self.state[name]["mask"] = None
        group["hook"] = layer.register_forward_pre_hook(self._aggregate_hook(name))
        group["hook_state"] = "aggregate"

    def _aggregate_hook(self, name: str) -> Callable[[nn.Module, Any], None]:
        """Takes a layer's input into the total."""
        group = self.data_groups[name]

        def hook(module: nn.Module, inputs: Any) -> None:
            parts = _features(inputs[0], group)
            old = group.get("data")
            new = parts if old is None else [group["aggregate_fn"](a, b) for a, b in zip(_list(old), parts)]
            group["data"] = new if group["features"] is not None else new[0]

        return hook

    def get_mask(self, name: str | None = None, layer: nn.Module | None = None) -> Mask:
        """The mask of a layer, by its name or itself.

        Raises:
            ValueError: the layer is not registered, or there was no ``step``.
        """
        assert name is not None or layer is not None, "get_mask: needs the name of a layer, or the layer"
        if name is None:
            name = module_to_fqn(self.model, layer)  # type: ignore[arg-type]
        if name not in self.state:
            raise ValueError(f"get_mask: {name!r} is not registered")
        mask = self.state[name]["mask"]
        if mask is None:
            raise ValueError(f"get_mask: {name!r} has no mask yet; call step() first")
        return mask

    def unregister_layer(self, name: str) -> None:
        """Forgets a layer: its hook, its total and its mask."""
        self.data_groups.pop(name)["hook"].remove()
        self.state.pop(name)

    def step(self) -> None:
        """Makes the masks of the totals, which start anew."""
        with taeda.no_grad():
            for name, group in self.data_groups.items():
                if "data" in group:
                    self.update_mask(name, group.pop("data"), group)

    def update_mask(self, name: str, data: Any, configs: dict[str, Any]) -> None:
        """The mask of one layer, of its total."""
        masks = [configs["mask_fn"](configs["reduce_fn"](part), **configs["sparse_config"]) for part in _list(data)]
        self.state[name]["mask"] = masks if configs["features"] is not None else masks[0]

    def _sparsify_hook(self, name: str) -> Callable[[nn.Module, Any], Any]:
        """Multiplies a layer's input by its mask."""
        mask, group = self.get_mask(name), self.data_groups[name]

        def hook(module: nn.Module, inputs: Any) -> Any:
            x, *rest = inputs
            if group["features"] is None:
                return (x * mask, *rest)
            made, dim = x.clone(), group["feature_dim"]
            for part, feature, of in zip(_features(x, group), group["features"], mask):
                made.narrow(dim, feature, 1).copy_(part * of)
            return (made, *rest)

        return hook

    def squash_mask(self, attach_sparsify_hook: bool = True, **kwargs: Any) -> None:
        """Stops watching, and from now on masks the inputs, unless told not to."""
        for name, group in self.data_groups.items():
            group.pop("hook").remove()
            hook = self._sparsify_hook(name) if attach_sparsify_hook else None
            group["hook_state"] = "None" if hook is None else "sparsify"
            if hook is not None:
                group["hook"] = group["layer"].register_forward_pre_hook(hook)

    def _get_serializable_data_groups(self) -> dict[str, Any]:
        return {
            name: {key: value for key, value in group.items() if key not in ("hook", "layer")}
            for name, group in self.data_groups.items()
        }

    @staticmethod
    def _convert_mask(states_dict: dict[str, Any], sparse_coo: bool = True) -> dict[str, Any]:
        """The states with sparse masks, as files hold them, or with dense ones."""

        def convert(mask: Mask) -> Mask:
            if mask is None:
                return None
            if isinstance(mask, list):
                return [convert(part) for part in mask]
            return mask.to_sparse_coo() if sparse_coo else mask.to_dense()

        return {name: {**state, "mask": convert(state["mask"])} for name, state in states_dict.items()}

    def state_dict(self) -> dict[str, Any]:
        """Sparse masks, configurations without layers and hooks, and the defaults."""
        return {
            "state": self._convert_mask(self.state),
            "data_groups": self._get_serializable_data_groups(),
            "defaults": dict(self.defaults),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """What ``state_dict`` gave; layers of the same names in this model get the hooks."""
        self.__set_state__(
            {**state_dict, "state": self._convert_mask(state_dict["state"], sparse_coo=False)},
        )

    def __get_state__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "data_groups": self._get_serializable_data_groups(), "state": self.state}

    def __set_state__(self, state: dict[str, Any]) -> None:
        for group in self.data_groups.values():
            if "hook" in group:
                group["hook"].remove()
        self.defaults = defaultdict(lambda: None, state["defaults"])
        self.state = defaultdict(dict, {name: dict(of) for name, of in state["state"].items()})
        self.data_groups = {name: dict(group) for name, group in state["data_groups"].items()}
        for name, group in self.data_groups.items():
            group["layer"] = fqn_to_module(self.model, name)
            hooks = {"aggregate": self._aggregate_hook, "sparsify": self._sparsify_hook}
            if group["hook_state"] in hooks:
                group["hook"] = group["layer"].register_forward_pre_hook(hooks[group["hook_state"]](name))

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for name, group in self.data_groups.items():
            lines += ["\tData Group", f"\t    name: {name}"]
            lines += [f"\t    {key}: {group[key]}" for key in sorted(group) if key not in ("data", *_NOT_KEPT)]
        return "\n".join([*lines, ")"])


def _functions(aggregate: Any, reduce: Any, mask: Any) -> dict[str, Any]:
    return {"aggregate_fn": aggregate, "reduce_fn": reduce, "mask_fn": mask}


def _list(data: Any) -> list[Any]:
    return data if isinstance(data, list) else [data]


def _features(x: Tensor, group: dict[str, Any]) -> list[Tensor]:
    """The parts of an input that have totals of their own."""
    if group["features"] is None:
        return [x]
    return [x.narrow(group["feature_dim"], feature, 1) for feature in group["features"]]
