"""`parallelize_module`."""

from __future__ import annotations

import warnings
from fnmatch import fnmatch

from taeda import nn
from taeda.distributed.device_mesh import DeviceMesh, current_mesh
from taeda.distributed.tensor.parallel.style import ParallelStyle

__all__ = ["parallelize_module"]


def parallelize_module(
    module: nn.Module,
    device_mesh: DeviceMesh | None = None,
    parallelize_plan: ParallelStyle | dict[str, ParallelStyle] | None = None,
    *,
    src_data_rank: int | None = 0,
) -> nn.Module:
    """Cuts a module's parameters as a plan says, in place.

    Args:
        device_mesh: a mesh of one dimension; that of ``with mesh:`` by default.
        parallelize_plan: a style for the module, or styles by submodules' names, parts of which may be patterns.
        src_data_rank: whose parameters count, by its number along the mesh; None: each process's own.

    Raises:
        ValueError: a mesh of several dimensions.
        TypeError: the plan is none.
    """
    mesh = current_mesh("parallelize_module") if device_mesh is None else device_mesh
    if mesh.ndim != 1:
        raise ValueError(f"parallelize_module: a mesh of one dimension is wanted, as in mesh['tp']; got {mesh}")
    if parallelize_plan is None:
        warnings.warn("parallelize_module: there is no plan, so that nothing is done", stacklevel=2)
        return module
    if isinstance(parallelize_plan, ParallelStyle):
        parallelize_plan.src_data_rank = src_data_rank
        return parallelize_plan._apply(module, mesh)
    if not isinstance(parallelize_plan, dict):
        raise TypeError(f"parallelize_module: a style, or a dict of styles, is wanted; got {parallelize_plan!r}")
    for path, style in parallelize_plan.items():
        matched = _matching(module, path.split(".")) if path else [module]
        if not matched:
            warnings.warn(f"parallelize_module: no submodule is called {path!r}", stacklevel=2)
        for one in matched:
            style.src_data_rank = src_data_rank
            style._apply(one, mesh)
    return module


def _matching(module: nn.Module, path: list[str]) -> list[nn.Module]:
    if not path:
        return [module]
    below = [child for name, child in module.named_children() if fnmatch(name, path[0])]
    return [found for child in below for found in _matching(child, path[1:])]
