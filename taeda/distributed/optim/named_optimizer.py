"""An optimiser whose state is filed under the names of parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import taeda
from taeda import Tensor
from taeda.nn import Module
from taeda.optim import Optimizer

__all__: list[str] = []

_NAME = "taeda.distributed.optim._NamedOptimizer"


class _NamedOptimizer(Optimizer):
    """``optimizer_class`` over named parameters; state dictionaries have names in place of numbers.

    Args:
        named_parameters: pairs of a name and a parameter, as a module gives them, or a mapping.
        param_groups: groups with options of their own; all parameters are one by default.
        module: whose parameters they are.
        args, kwargs: the optimiser's own.

    Raises:
        ValueError: a group has a tensor without a name.
    """

    def __init__(
        self,
        named_parameters: Iterable[tuple[str, Tensor]] | Mapping[str, Tensor],
        optimizer_class: type[Optimizer],
        param_groups: Iterable[dict[str, Any]] | None = None,
        module: Module | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        self.named_parameters = dict(named_parameters)
        self.module = module
        given: Any = self.named_parameters.values() if param_groups is None else param_groups
        self._optimizer = optimizer_class(given, *args, **kwargs)  # type: ignore[misc]
        self.param_groups = self._optimizer.param_groups
        names = {id(parameter): name for name, parameter in self.named_parameters.items()}
        self.ordered_param_keys = list(self.named_parameters) if param_groups is None else []
        for group in self.param_groups if param_groups is not None else ():
            self.ordered_param_keys += [_name_of(parameter, names) for parameter in group["params"]]

    @property
    def state(self) -> Any:  # type: ignore[override]
        """The state by parameter."""
        return self._optimizer.state

    def step(self, closure: Callable[[], Any] | None = None) -> Any:  # type: ignore[override]
        """A step of the optimiser."""
        return self._optimizer.step(closure=closure)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds parameters, which must be among those with names."""
        names = {id(parameter): name for name, parameter in self.named_parameters.items()}
        given = param_group["params"]
        members = [given] if isinstance(given, Tensor) else list(given)
        added = [_name_of(parameter, names) for parameter in members]
        self._optimizer.add_param_group({**param_group, "params": members})
        self.ordered_param_keys += added
        self.param_groups = self._optimizer.param_groups

    def init_state(self) -> None:
        """Makes the state that a first step makes, and changes no parameter: before a state is loaded. Gradients are
        zero behind it."""
        rates = [group["lr"] for group in self.param_groups]
        for parameter in self.named_parameters.values():
            if parameter.requires_grad:
                parameter.grad = taeda.zeros_like(parameter)
        for group in self.param_groups:
            group["lr"] = taeda.tensor(0.0) if isinstance(group["lr"], Tensor) else 0.0
        try:
            self.step()
        finally:
            for group, rate in zip(self.param_groups, rates, strict=True):
                group["lr"] = rate

    def state_dict(self) -> dict[str, Any]:
        """The optimiser's, with names for numbers."""
        plain = self._optimizer.state_dict()
        state = {self.ordered_param_keys[number]: value for number, value in plain["state"].items()}
        groups = [
            {**group, "params": sorted(self.ordered_param_keys[number] for number in group["params"])}
            for group in plain["param_groups"]
        ]
        return self._post_state_dict({"state": state, "param_groups": groups})

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what `state_dict` gave, of an optimiser of the same names; what is not
        there stays.

        Raises:
            ValueError: this one has no state yet (see `init_state`), or the entries of
                a group or of a parameter's state differ.
        """
        given = self._pre_load_state_dict(state_dict)
        plain = self._optimizer.state_dict()
        if not plain["state"]:
            raise ValueError(f"{_NAME}.load_state_dict: there is no state to load into; call init_state() first")
        numbers = {name: number for number, name in enumerate(self.ordered_param_keys)}
        state = dict(plain["state"])
        for name, value in given["state"].items():
            if name in numbers:
                _check(name, state.get(numbers[name], {}), value)
                state[numbers[name]] = value
        groups = _groups_of(plain["param_groups"], given["param_groups"], self.ordered_param_keys)
        self._optimizer.load_state_dict({"state": state, "param_groups": groups})
        self.param_groups = self._optimizer.param_groups

    def _pre_load_state_dict(self, state_dict: dict[str, Any]) -> dict[str, Any]:
        return state_dict

    def _post_state_dict(self, state_dict: dict[str, Any]) -> dict[str, Any]:
        return state_dict


def _name_of(parameter: Tensor, names: dict[int, str]) -> str:
    if id(parameter) not in names:
        raise ValueError(f"{_NAME}: a group has a tensor of shape {tuple(parameter.shape)} without a name")
    return names[id(parameter)]


def _check(name: str, own: dict[str, Any], given: dict[str, Any]) -> None:
    """Raises ValueError unless the given state of a parameter has what its own has."""
    if missing := own.keys() ^ given.keys():
        raise ValueError(f"{_NAME}.load_state_dict: the state of {name!r} differs in {sorted(missing)}")


def _groups_of(plain: list[Any], given: list[Any], names: list[str]) -> list[Any]:
    """The groups ``given``, in the order and with the numbers of ``plain``; groups that are not given stay."""
    by_names = {tuple(sorted(group["params"])): group for group in given}
    found = []
    for group in plain:
        key = tuple(sorted(names[number] for number in group["params"]))
        options = by_names.get(key, group)
        if missing := group.keys() - options.keys():
            raise ValueError(f"{_NAME}.load_state_dict: the group of {list(key)} lacks {sorted(missing)}")
        found.append({**options, "params": group["params"]})
    return found
