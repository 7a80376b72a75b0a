"""Several qconfigs for each part of a model, to be compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda.ao.quantization.qconfig import QConfigAny, qconfig_equals
from taeda.ao.quantization.qconfig_mapping import QConfigMapping

# The dicts of a mapping, and what sets an entry of each.
_STYLES: dict[str, Callable[..., Any]] = {
    "object_type_qconfigs": QConfigMapping.set_object_type,
    "module_name_regex_qconfigs": QConfigMapping.set_module_name_regex,
    "module_name_qconfigs": QConfigMapping.set_module_name,
    "module_name_object_type_order_qconfigs": QConfigMapping.set_module_name_object_type_order,
}


def _distinct(qconfigs: list[QConfigAny]) -> list[QConfigAny]:
    found: list[QConfigAny] = []
    for qconfig in qconfigs:
        if qconfig is not None and not any(qconfig_equals(qconfig, other) for other in found):
            found.append(qconfig)
    return found


class QConfigMultiMapping:
    """Lists of qconfigs where `QConfigMapping` has one: ``qconfig_mappings_list[i]`` has the i-th of each list.

    Equal qconfigs and None count once, or not at all; where a list is shorter than others, the mappings after it leave
    that part in float.
    """

    def __init__(self) -> None:
        self.qconfig_mappings_list: list[QConfigMapping] = [QConfigMapping()]

    def _grown(self, count: int) -> list[QConfigMapping]:
        """The mappings, at least ``count`` of them; new ones leave in float all that others name."""
        while len(self.qconfig_mappings_list) < count:
            made = QConfigMapping()
            for style in _STYLES:
                named = getattr(self.qconfig_mappings_list[0], style)
                getattr(made, style).update(dict.fromkeys(named))
            self.qconfig_mappings_list.append(made)
        return self.qconfig_mappings_list

    def _set(self, setter: Callable[..., Any], key: tuple[Any, ...], qconfigs: list[QConfigAny]) -> QConfigMultiMapping:
        qconfigs = _distinct(qconfigs)
        for i, mapping in enumerate(self._grown(len(qconfigs))):
            setter(mapping, *key, qconfigs[i] if i < len(qconfigs) else None)
        return self

    def set_global(self, global_qconfig_list: list[QConfigAny]) -> QConfigMultiMapping:
        """For all that nothing else is said of."""
        return self._set(QConfigMapping.set_global, (), global_qconfig_list)

    def set_object_type(self, object_type: Any, qconfig_list: list[QConfigAny]) -> QConfigMultiMapping:
        """For modules of a class, and for calls of a function or method."""
        return self._set(QConfigMapping.set_object_type, (object_type,), qconfig_list)

    def set_module_name_regex(self, module_name_regex: str, qconfig_list: list[QConfigAny]) -> QConfigMultiMapping:
        """For modules whose path matches."""
        return self._set(QConfigMapping.set_module_name_regex, (module_name_regex,), qconfig_list)

    def set_module_name(self, module_name: str, qconfig_list: list[QConfigAny]) -> QConfigMultiMapping:
        """For the module at a path."""
        return self._set(QConfigMapping.set_module_name, (module_name,), qconfig_list)

    def set_module_name_object_type_order(
        self, module_name: str, object_type: Any, index: int, qconfig_list: list[QConfigAny]
    ) -> QConfigMultiMapping:
        """For the call of a type that has a place among those within a module."""
        key = (module_name, object_type, index)
        return self._set(QConfigMapping.set_module_name_object_type_order, key, qconfig_list)

    @classmethod
    def from_list_qconfig_mapping(cls, qconfig_mapping_list: list[QConfigMapping]) -> QConfigMultiMapping:
        """Of mappings with one qconfig each."""
        mappings = qconfig_mapping_list
        made = cls().set_global([mapping.global_qconfig for mapping in mappings])
        for style, setter in _STYLES.items():
            keys = dict.fromkeys(key for mapping in mappings for key in getattr(mapping, style))
            for key in keys:
                qconfigs = [getattr(mapping, style).get(key) for mapping in mappings]
                made._set(setter, key if isinstance(key, tuple) else (key,), qconfigs)
        return made

    def __repr__(self) -> str:
        return "QConfigMultiMapping [" + "".join(f"\n{mapping!r}," for mapping in self.qconfig_mappings_list) + "\n]"
