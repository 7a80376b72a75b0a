"""What a backend wants of the observers of a qconfig."""

from __future__ import annotations

import warnings
from typing import Any

from taeda.ao.quantization.backend_config.backend_config import BackendConfig, DTypeConfig, DTypeWithConstraints


def handles(backend: BackendConfig, kind: Any, qconfig: Any) -> bool:
    """Whether a module class, a function or a method's name is a pattern of a backend, or the fused class of one, whose
    dtypes and ranges are those of a qconfig."""
    found = [config for config in backend.configs if kind in (config.pattern, config.fused_module)]
    return any(
        not config.dtype_configs or any(satisfied_by(dtypes, qconfig) for dtypes in config.dtype_configs)
        for config in found
    )


def satisfied_by(config: DTypeConfig, qconfig: Any) -> bool:
    """Whether the observers of a qconfig keep to the ranges and scales of a `DTypeConfig`; warns where one does not."""
    return (
        _keeps("activation", qconfig.activation, config.input_dtype_with_constraints)
        and _keeps("activation", qconfig.activation, config.output_dtype_with_constraints)
        and _keeps("weight", qconfig.weight, config.weight_dtype_with_constraints)
    )


def _keeps(role: str, maker: Any, wanted: DTypeWithConstraints) -> bool:
    if maker is None or wanted.dtype is None:
        return True
    made = maker()
    if made.dtype != wanted.dtype:
        return True
    observer = getattr(made, "activation_post_process", made)
    problem = _range_problem(observer, wanted) or _scale_problem(observer, wanted)
    if problem:
        warnings.warn(f"the qconfig is left out: its {role} {problem}", stacklevel=2)
    return not problem


def _range_problem(observer: Any, wanted: DTypeWithConstraints) -> str:
    low, high = wanted.quant_min_lower_bound, wanted.quant_max_upper_bound
    if low is None or high is None:
        return ""
    own = (getattr(observer, "quant_min", None), getattr(observer, "quant_max", None))
    if None in own:
        return "says neither quant_min nor quant_max, and the backend has limits"
    return "" if low <= own[0] and own[1] <= high else f"has the range {own}, and the backend takes {(low, high)}"


def _scale_problem(observer: Any, wanted: DTypeWithConstraints) -> str:
    least = wanted.scale_min_lower_bound
    if least is not None:
        eps = getattr(observer, "eps", None)
        if eps is None:
            return "says no eps, and the backend wants a least scale"
        if eps < least:
            return f"has eps {float(eps)}, and the backend's least scale is {least}"
    fixed = (wanted.scale_exact_match, wanted.zero_point_exact_match)
    if None in fixed:
        return ""
    own = (getattr(observer, "scale", None), getattr(observer, "zero_point", None))
    if None in own or tuple(float(x) for x in own) != fixed:
        return f"must be fixed at scale and zero point {fixed}"
    return ""
