"""What a program asks of the passes beside qconfigs."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from taeda.ao.quantization.quant_type import QuantType, _quant_type_from_str, _quant_type_to_str

STANDALONE_MODULE_NAME_DICT_KEY = "standalone_module_name"
STANDALONE_MODULE_CLASS_DICT_KEY = "standalone_module_class"
FLOAT_TO_OBSERVED_DICT_KEY = "float_to_observed_custom_module_class"
OBSERVED_TO_QUANTIZED_DICT_KEY = "observed_to_quantized_custom_module_class"
NON_TRACEABLE_MODULE_NAME_DICT_KEY = "non_traceable_module_name"
NON_TRACEABLE_MODULE_CLASS_DICT_KEY = "non_traceable_module_class"
INPUT_QUANTIZED_INDEXES_DICT_KEY = "input_quantized_idxs"
OUTPUT_QUANTIZED_INDEXES_DICT_KEY = "output_quantized_idxs"
PRESERVED_ATTRIBUTES_DICT_KEY = "preserved_attributes"


class StandaloneModuleConfigEntry(NamedTuple):
    """How a submodule is quantised by itself."""

    qconfig_mapping: Any
    example_inputs: Any
    prepare_custom_config: Any
    backend_config: Any


class _Config:
    """Attributes that setters fill, and their form as a dict."""

    _lists: ClassVar[dict[str, str]] = {PRESERVED_ATTRIBUTES_DICT_KEY: "preserved_attributes"}  # by their keys

    def __init__(self) -> None:
        for name in self._lists.values():
            setattr(self, name, [])

    def __repr__(self) -> str:
        filled = {name: value for name, value in self.to_dict().items() if value}
        return f"{type(self).__name__}({filled})"

    def to_dict(self) -> dict[str, Any]:
        """The attributes that are filled."""
        return {key: getattr(self, name) for key, name in self._lists.items() if getattr(self, name)}

    def _take_lists(self, config: dict[str, Any]) -> None:
        for key, name in self._lists.items():
            setattr(self, name, config.get(key, []))


def _as_dict(config: Any) -> Any:
    return config.to_dict() if hasattr(config, "to_dict") else config


def _classes_to_dict(table: dict[QuantType, dict[Any, Any]]) -> dict[str, dict[Any, Any]]:
    return {_quant_type_to_str(kind): classes for kind, classes in table.items()}


class FuseCustomConfig(_Config):
    """For `fuse_fx`: attributes of the model that the fused one keeps."""

    preserved_attributes: list[str]

    def set_preserved_attributes(self, attributes: list[str]) -> FuseCustomConfig:
        """The names of attributes to keep, though the graph does not use them."""
        self.preserved_attributes = attributes
        return self

    @classmethod
    def from_dict(cls, config: dict[str, Any]) -> FuseCustomConfig:
        """What `to_dict` gives."""
        made = cls()
        made._take_lists(config)
        return made


class PrepareCustomConfig(_Config):
    """For `prepare_fx`: what is not traced, what is quantised from outside, classes of the user's own."""

    _lists = {
        NON_TRACEABLE_MODULE_NAME_DICT_KEY: "non_traceable_module_names",
        NON_TRACEABLE_MODULE_CLASS_DICT_KEY: "non_traceable_module_classes",
        INPUT_QUANTIZED_INDEXES_DICT_KEY: "input_quantized_indexes",
        OUTPUT_QUANTIZED_INDEXES_DICT_KEY: "output_quantized_indexes",
        **_Config._lists,
    }
    non_traceable_module_names: list[str]
    non_traceable_module_classes: list[type[Any]]
    input_quantized_indexes: list[int]
    output_quantized_indexes: list[int]
    preserved_attributes: list[str]

    def __init__(self) -> None:
        super().__init__()
        self.standalone_module_names: dict[str, StandaloneModuleConfigEntry] = {}
        self.standalone_module_classes: dict[Any, StandaloneModuleConfigEntry] = {}
        self.float_to_observed_mapping: dict[QuantType, dict[Any, Any]] = {}

    def set_standalone_module_name(
        self, module_name: str, qconfig_mapping: Any, example_inputs: Any, prepare_custom_config: Any,
        backend_config: Any,
    ) -> PrepareCustomConfig:  # fmt: skip
        """A submodule to be quantised by itself; None for a config: as the whole."""
        self.standalone_module_names[module_name] = StandaloneModuleConfigEntry(
            qconfig_mapping, example_inputs, prepare_custom_config, backend_config
        )  # fmt: skip
        return self

    def set_standalone_module_class(
        self, module_class: Any, qconfig_mapping: Any, example_inputs: Any, prepare_custom_config: Any,
        backend_config: Any,
    ) -> PrepareCustomConfig:  # fmt: skip
        """Submodules of a class to be quantised by themselves."""
        self.standalone_module_classes[module_class] = StandaloneModuleConfigEntry(
            qconfig_mapping, example_inputs, prepare_custom_config, backend_config
        )  # fmt: skip
        return self

    def set_float_to_observed_mapping(
        self, float_class: Any, observed_class: Any, quant_type: QuantType = QuantType.STATIC
    ) -> PrepareCustomConfig:
        """The class that is observed in the place of a float one."""
        self.float_to_observed_mapping.setdefault(quant_type, {})[float_class] = observed_class
        return self

    def set_non_traceable_module_names(self, module_names: list[str]) -> PrepareCustomConfig:
        """Submodules that stay calls."""
        self.non_traceable_module_names = module_names
        return self

    def set_non_traceable_module_classes(self, module_classes: list[type[Any]]) -> PrepareCustomConfig:
        """Classes whose modules stay calls."""
        self.non_traceable_module_classes = module_classes
        return self

    def set_input_quantized_indexes(self, indexes: list[int]) -> PrepareCustomConfig:
        """The inputs of the model that come quantised."""
        self.input_quantized_indexes = indexes
        return self

    def set_output_quantized_indexes(self, indexes: list[int]) -> PrepareCustomConfig:
        """The outputs of the model that stay quantised."""
        self.output_quantized_indexes = indexes
        return self

    def set_preserved_attributes(self, attributes: list[str]) -> PrepareCustomConfig:
        """The names of attributes to keep, though the graph does not use them."""
        self.preserved_attributes = attributes
        return self

    def to_dict(self) -> dict[str, Any]:
        """The attributes that are filled."""
        made = super().to_dict()
        for key, table in (
            (STANDALONE_MODULE_NAME_DICT_KEY, self.standalone_module_names),
            (STANDALONE_MODULE_CLASS_DICT_KEY, self.standalone_module_classes),
        ):
            if table:
                made[key] = [(which, *map(_as_dict, entry[:3]), entry[3]) for which, entry in table.items()]
        if self.float_to_observed_mapping:
            made[FLOAT_TO_OBSERVED_DICT_KEY] = _classes_to_dict(self.float_to_observed_mapping)
        return made

    @classmethod
    def from_dict(cls, config: dict[str, Any]) -> PrepareCustomConfig:
        """What `to_dict` gives, or a program wrote in its form."""
        made = cls()
        for name, *entry in config.get(STANDALONE_MODULE_NAME_DICT_KEY, []):
            made.standalone_module_names[name] = _standalone_entry(*entry)
        for kind, *entry in config.get(STANDALONE_MODULE_CLASS_DICT_KEY, []):
            made.standalone_module_classes[kind] = _standalone_entry(*entry)
        for kind, classes in config.get(FLOAT_TO_OBSERVED_DICT_KEY, {}).items():
            for float_class, observed in classes.items():
                made.set_float_to_observed_mapping(float_class, observed, _quant_type_from_str(kind))
        made._take_lists(config)
        return made


def _standalone_entry(qconfigs: Any, inputs: Any, config: Any, backend: Any) -> StandaloneModuleConfigEntry:
    """As a program wrote it: with dicts in the place of configs, or without them."""
    from taeda.ao.quantization.backend_config import BackendConfig
    from taeda.ao.quantization.qconfig_mapping import QConfigMapping

    read = lambda kind, given: kind.from_dict(given) if isinstance(given, dict) else given
    return StandaloneModuleConfigEntry(
        read(QConfigMapping, qconfigs), inputs, read(PrepareCustomConfig, config), read(BackendConfig, backend)
    )


class ConvertCustomConfig(_Config):
    """For `convert_fx`: classes of the user's own, attributes to keep."""

    preserved_attributes: list[str]

    def __init__(self) -> None:
        super().__init__()
        self.observed_to_quantized_mapping: dict[QuantType, dict[Any, Any]] = {}

    def set_observed_to_quantized_mapping(
        self, observed_class: Any, quantized_class: Any, quant_type: QuantType = QuantType.STATIC
    ) -> ConvertCustomConfig:
        """The class that takes the place of an observed one."""
        self.observed_to_quantized_mapping.setdefault(quant_type, {})[observed_class] = quantized_class
        return self

    def set_preserved_attributes(self, attributes: list[str]) -> ConvertCustomConfig:
        """The names of attributes to keep, though the graph does not use them."""
        self.preserved_attributes = attributes
        return self

    def to_dict(self) -> dict[str, Any]:
        """The attributes that are filled."""
        made = super().to_dict()
        if self.observed_to_quantized_mapping:
            made[OBSERVED_TO_QUANTIZED_DICT_KEY] = _classes_to_dict(self.observed_to_quantized_mapping)
        return made

    @classmethod
    def from_dict(cls, config: dict[str, Any]) -> ConvertCustomConfig:
        """What `to_dict` gives, or a program wrote in its form."""
        made = cls()
        for kind, classes in config.get(OBSERVED_TO_QUANTIZED_DICT_KEY, {}).items():
            for observed, quantized in classes.items():
                made.set_observed_to_quantized_mapping(observed, quantized, _quant_type_from_str(kind))
        made._take_lists(config)
        return made
