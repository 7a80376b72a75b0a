"""``ones``, ``zeros``, ``randn``, … as DTensors: taeda's functions of these names, with a mesh and placements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda.distributed.device_mesh import DeviceMesh
from taeda.distributed.tensor._dtensor import DTensor
from taeda.distributed.tensor._redistribute import local_of
from taeda.distributed.tensor._spec import DTensorSpec, placements_for
from taeda.distributed.tensor.placement_types import Placement


def _made(
    make: Callable[..., Any], args: tuple[Any, ...], *, dtype: taeda.dtype | None = None,
    layout: taeda.layout = taeda.strided, requires_grad: bool = False, device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor:  # fmt: skip
    size = args[0] if len(args) > 0 and not isinstance(args[0], int) else args
    name = f"taeda.distributed.tensor.{make.__name__}"
    mesh, placed = placements_for(name, len(size), device_mesh, placements)
    spec = DTensorSpec(mesh, placed, tuple(size))
    # Random numbers are the whole's on every process that has the same seed.
    device = "meta" if mesh.get_coordinate() is None else mesh.device_type
    whole = make(*args, dtype=dtype, layout=layout, device=device)
    return DTensor(local_of(whole, spec), spec, requires_grad=requires_grad)


def ones(*size: Any, **options: Any) -> DTensor:
    """A DTensor of ones.

    Args:
        size: the sizes, apart or as one sequence.
        dtype, layout, requires_grad: as in `taeda.ones`.
        device_mesh: the mesh, that of ``with mesh:`` by default; its kind of device is the tensor's.
        placements: one for each dimension of the mesh, `Replicate` by default.

    Raises:
        RuntimeError: no mesh.
        ValueError: placements that do not fit it.
    """
    return _made(taeda.ones, size, **options)


def zeros(*size: Any, **options: Any) -> DTensor:
    """A DTensor of zeros; arguments as in `ones`."""
    return _made(taeda.zeros, size, **options)


def empty(*size: Any, **options: Any) -> DTensor:
    """A DTensor of values that nobody set; arguments as in `ones`."""
    return _made(taeda.empty, size, **options)


def rand(*size: Any, **options: Any) -> DTensor:
    """A DTensor of numbers drawn evenly from [0, 1); arguments as in `ones`."""
    return _made(taeda.rand, size, **options)


def randn(*size: Any, **options: Any) -> DTensor:
    """A DTensor of numbers drawn from the normal distribution; arguments as in `ones`."""
    return _made(taeda.randn, size, **options)


def full(size: Any, fill_value: Any, **options: Any) -> DTensor:
    """A DTensor of ``fill_value``; ``size`` is a sequence, the other arguments are as in `ones`."""
    return _made(taeda.full, (tuple(size), fill_value), **options)
