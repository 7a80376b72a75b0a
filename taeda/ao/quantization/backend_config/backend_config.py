"""The classes that say what a backend can quantise."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class ObservationType(Enum):
    """Where the result of an op has its scale from."""

    OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT = 0
    OUTPUT_SHARE_OBSERVER_WITH_INPUT = 1
    INPUT_OUTPUT_NOT_OBSERVED = 2


@dataclass
class DTypeWithConstraints:
    """A dtype, and what the backend wants of the range and scale that go with it."""

    dtype: Any = None
    quant_min_lower_bound: float | int | None = None
    quant_max_upper_bound: float | int | None = None
    scale_min_lower_bound: float | int | None = None
    scale_max_upper_bound: float | int | None = None
    scale_exact_match: float | None = None
    zero_point_exact_match: int | None = None


def _constrained(dtype: Any) -> DTypeWithConstraints:
    return dtype if isinstance(dtype, DTypeWithConstraints) else DTypeWithConstraints(dtype)


class DTypeConfig:
    """The dtypes of a way to run an op, as the reference form of a graph shows them.

    Args:
        input_dtype: of activations; a dtype or a `DTypeWithConstraints`, like the next two.
        output_dtype: of results.
        weight_dtype: of weights.
        bias_dtype: of biases.
        is_dynamic: activations are quantised on the fly.
    """

    def __init__(
        self, input_dtype: Any = None, output_dtype: Any = None, weight_dtype: Any = None, bias_dtype: Any = None,
        is_dynamic: bool | None = None,
    ) -> None:  # fmt: skip
        self.input_dtype_with_constraints = _constrained(input_dtype)
        self.output_dtype_with_constraints = _constrained(output_dtype)
        self.weight_dtype_with_constraints = _constrained(weight_dtype)
        self.bias_dtype, self.is_dynamic = bias_dtype, is_dynamic

    @property
    def input_dtype(self) -> Any:
        """The dtype of activations."""
        return self.input_dtype_with_constraints.dtype

    @property
    def output_dtype(self) -> Any:
        """The dtype of results."""
        return self.output_dtype_with_constraints.dtype

    @property
    def weight_dtype(self) -> Any:
        """The dtype of weights."""
        return self.weight_dtype_with_constraints.dtype

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DTypeConfig) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"DTypeConfig({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    @classmethod
    def from_dict(cls, dtype_config_dict: dict[str, Any]) -> DTypeConfig:
        """What `to_dict` gives."""
        return cls(**dtype_config_dict)

    def to_dict(self) -> dict[str, Any]:
        """The arguments that were given."""
        given = {
            "input_dtype": self.input_dtype_with_constraints, "output_dtype": self.output_dtype_with_constraints,
            "weight_dtype": self.weight_dtype_with_constraints,
        }  # fmt: skip
        made: dict[str, Any] = {key: value for key, value in given.items() if value.dtype is not None}
        if self.bias_dtype is not None:
            made["bias_dtype"] = self.bias_dtype
        if self.is_dynamic is not None:
            made["is_dynamic"] = self.is_dynamic
        return made


# What some fields are called in a dict.
_KEYS = {
    "reference_quantized_module": "reference_quantized_module_for_root", "_root_node_getter": "root_node_getter",
    "_extra_inputs_getter": "extra_inputs_getter", "_input_type_to_index": "input_type_to_index",
    "_num_tensor_args_to_observation_type": "num_tensor_args_to_observation_type",
}  # fmt: skip


@dataclass
class BackendPatternConfig:
    """How a backend handles a pattern: a module class, a function, or a tuple of these that follow one another."""

    pattern: Any = None
    observation_type: ObservationType = ObservationType.OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT
    dtype_configs: list[DTypeConfig] = field(default_factory=list)
    root_module: Any = None
    qat_module: Any = None
    reference_quantized_module: Any = None
    fused_module: Any = None
    fuser_method: Callable[..., Any] | None = None
    _root_node_getter: Callable[..., Any] | None = None
    _extra_inputs_getter: Callable[..., Any] | None = None
    _num_tensor_args_to_observation_type: dict[int, ObservationType] = field(default_factory=dict)
    _input_type_to_index: dict[str, int] = field(default_factory=dict)

    def set_observation_type(self, observation_type: ObservationType) -> BackendPatternConfig:
        """Where the result has its scale from."""
        self.observation_type = observation_type
        return self

    def add_dtype_config(self, dtype_config: DTypeConfig) -> BackendPatternConfig:
        """A further way to run it."""
        self.dtype_configs.append(dtype_config)
        return self

    def set_dtype_configs(self, dtype_configs: list[DTypeConfig]) -> BackendPatternConfig:
        """All ways to run it."""
        self.dtype_configs = dtype_configs
        return self

    def set_root_module(self, root_module: Any) -> BackendPatternConfig:
        """The class with the weight."""
        self.root_module = root_module
        return self

    def set_qat_module(self, qat_module: Any) -> BackendPatternConfig:
        """The class whose weight is rounded while training."""
        self.qat_module = qat_module
        return self

    def set_reference_quantized_module(self, reference_quantized_module: Any) -> BackendPatternConfig:
        """The reference class."""
        self.reference_quantized_module = reference_quantized_module
        return self

    def set_fused_module(self, fused_module: Any) -> BackendPatternConfig:
        """The class that the pattern is fused into."""
        self.fused_module = fused_module
        return self

    def set_fuser_method(self, fuser_method: Callable[..., Any]) -> BackendPatternConfig:
        """The function ``f(is_qat, *modules)`` that fuses it."""
        self.fuser_method = fuser_method
        return self

    def _set_root_node_getter(self, root_node_getter: Callable[..., Any]) -> BackendPatternConfig:
        """The function that finds the node with the weight among those of a pattern."""
        self._root_node_getter = root_node_getter
        return self

    def _set_extra_inputs_getter(self, extra_inputs_getter: Callable[..., Any]) -> BackendPatternConfig:
        """The function that finds what a pattern takes besides its first operand."""
        self._extra_inputs_getter = extra_inputs_getter
        return self

    def _set_num_tensor_args_to_observation_type(self, num_tensor_args_to_observation_type: dict[int, ObservationType]
                                                 ) -> BackendPatternConfig:  # fmt: skip
        """Where the result has its scale from, by the number of operands that are tensors."""
        self._num_tensor_args_to_observation_type = num_tensor_args_to_observation_type
        return self

    def _set_input_type_to_index(self, input_type_to_index: dict[str, int]) -> BackendPatternConfig:
        """The position of ``"input"``, ``"weight"`` and ``"bias"`` among the operands of a function."""
        self._input_type_to_index = input_type_to_index
        return self

    def to_dict(self) -> dict[str, Any]:
        """What was set."""
        made = {_KEYS.get(name, name): value for name, value in vars(self).items() if value is not None and value != {}}
        return {**made, "dtype_configs": [config.to_dict() for config in self.dtype_configs]}

    @classmethod
    def from_dict(cls, backend_pattern_config_dict: dict[str, Any]) -> BackendPatternConfig:
        """What `to_dict` gives."""
        names = {key: name for name, key in _KEYS.items()}
        given = {names.get(key, key): value for key, value in backend_pattern_config_dict.items()}
        configs = [
            config if isinstance(config, DTypeConfig) else DTypeConfig.from_dict(config)
            for config in given.pop("dtype_configs", [])
        ]
        return cls(dtype_configs=configs, **given)


class BackendConfig:
    """What a backend can quantise, pattern by pattern."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self._by_pattern: dict[Any, BackendPatternConfig] = {}

    def __repr__(self) -> str:
        return f"BackendConfig({self.name!r}, {len(self._by_pattern)} patterns)"

    @property
    def configs(self) -> list[BackendPatternConfig]:
        """Of all patterns."""
        return list(self._by_pattern.values())

    @property
    def _pattern_complex_format_to_config(self) -> dict[Any, BackendPatternConfig]:
        """By pattern, where one of several parts stands as ``(last, (..., first))``."""
        last_first = lambda p: functools.reduce(lambda made, part: (part, made), p) if isinstance(p, tuple) else p
        return {last_first(pattern): config for pattern, config in self._by_pattern.items()}

    def set_name(self, name: str) -> BackendConfig:
        """The backend's name."""
        self.name = name
        return self

    def set_backend_pattern_config(self, config: BackendPatternConfig) -> BackendConfig:
        """How a pattern is handled."""
        self._by_pattern[config.pattern] = config
        return self

    def set_backend_pattern_configs(self, configs: list[BackendPatternConfig]) -> BackendConfig:
        """How patterns are handled."""
        for config in configs:
            self.set_backend_pattern_config(config)
        return self

    def fuser_methods(self) -> dict[Any, Any]:
        """Sequences that are made one, with the functions that do it."""
        return {
            config.pattern: config.fuser_method
            for config in self.configs
            if config.fuser_method is not None and isinstance(config.pattern, tuple)
        }

    def to_dict(self) -> dict[str, Any]:
        """The name and the patterns."""
        return {"name": self.name, "configs": [config.to_dict() for config in self.configs]}

    @classmethod
    def from_dict(cls, backend_config_dict: dict[str, Any]) -> BackendConfig:
        """What `to_dict` gives."""
        made = cls(backend_config_dict.get("name", ""))
        for config in backend_config_dict.get("configs", []):
            made.set_backend_pattern_config(
                config if isinstance(config, BackendPatternConfig) else BackendPatternConfig.from_dict(config)
            )
        return made
