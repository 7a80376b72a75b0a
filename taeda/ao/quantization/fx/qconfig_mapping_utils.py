"""Looks up a `QConfigMapping` in one way at a time; what it does not name keeps the fallback."""

from __future__ import annotations

import re
from typing import Any

from taeda.ao.quantization.qconfig_mapping import QConfigMapping


def _get_object_type_qconfig(qconfig_mapping: QConfigMapping, object_type: Any, fallback_qconfig: Any) -> Any:
    return qconfig_mapping.object_type_qconfigs.get(object_type, fallback_qconfig)


def _get_module_name_regex_qconfig(qconfig_mapping: QConfigMapping, module_name: str, fallback_qconfig: Any) -> Any:
    found = qconfig_mapping.module_name_regex_qconfigs.items()
    return next((qconfig for pattern, qconfig in found if re.match(pattern, module_name)), fallback_qconfig)


def _get_module_name_qconfig(qconfig_mapping: QConfigMapping, module_name: str, fallback_qconfig: Any) -> Any:
    """Of the module, or of the innermost one that it is in."""
    while module_name:
        if module_name in qconfig_mapping.module_name_qconfigs:
            return qconfig_mapping.module_name_qconfigs[module_name]
        module_name = module_name.rpartition(".")[0]
    return fallback_qconfig


def _maybe_adjust_qconfig_for_module_name_object_type_order(
    qconfig_mapping: QConfigMapping, cur_module_path: str, cur_object_type: Any, cur_object_type_idx: int,
    fallback_qconfig: Any,
) -> Any:  # fmt: skip
    """Of a call that is told from others like it by its number."""
    found = qconfig_mapping.module_name_object_type_order_qconfigs
    return found.get((cur_module_path, cur_object_type, cur_object_type_idx), fallback_qconfig)
