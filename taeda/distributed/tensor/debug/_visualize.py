"""Where the parts of a DTensor lie, as a table."""

from __future__ import annotations

from typing import Any

from taeda.distributed import _mesh_layout as layout
from taeda.distributed.tensor._spec import cut_order
from taeda.distributed.tensor.placement_types import Shard, part_of


def _parts(dtensor: Any) -> dict[tuple[tuple[int, int], ...], list[int]]:
    """For each part, the first and last index along each dimension, the ranks that have it."""
    mesh, placements = dtensor.device_mesh, dtensor.placements
    dims = layout.contiguous(mesh.shape)
    found: dict[tuple[tuple[int, int], ...], list[int]] = {}
    for position, rank in enumerate(mesh.mesh.flatten().tolist()):
        ranges = [(0, size) for size in dtensor.shape]
        for dim in cut_order(placements):
            placement = placements[dim]
            if isinstance(placement, Shard):
                first, size = ranges[placement.dim]
                start, count = part_of(size, mesh.size(dim), layout.coordinate(position, dims[dim]))
                ranges[placement.dim] = first + start, count
        if all(size for _, size in ranges):
            found.setdefault(tuple((first, first + size - 1) for first, size in ranges), []).append(rank)
    return found


def visualize_sharding(dtensor: Any, header: str = "", use_rich: bool = False) -> None:
    """Prints which processes have which part of a DTensor with one or two dimensions; nothing for an empty one.

    Args:
        header: what to print above.
        use_rich: accepted; the table is plain text.

    Raises:
        RuntimeError: more than two dimensions.
    """
    if dtensor.numel() == 0:
        return
    if dtensor.dim() > 2:
        raise RuntimeError(f"visualize_sharding: one or two dimensions are wanted; got {dtensor.dim()}")
    if dtensor.device_mesh.get_coordinate() is None or any(dtensor.device_mesh.get_coordinate()):
        return  # one process prints
    parts = _parts(dtensor)
    columns = sorted({ranges[1] for ranges in parts}) if dtensor.dim() == 2 else [(0, 0)]
    table = [["", *(f"Col {first}-{last}" for first, last in columns)]] if dtensor.dim() == 2 else []
    for row in sorted({ranges[0] for ranges in parts} if dtensor.dim() else {(0, 0)}):
        cells = [parts.get((row, column) if dtensor.dim() == 2 else (row,) if dtensor.dim() else (), [])
                 for column in columns]  # fmt: skip
        kind = dtensor.device_mesh.device_type
        table.append([f"Row {row[0]}-{row[1]}", *(", ".join(f"{kind}:{rank}" for rank in cell) for cell in cells)])
    widths = [max(len(line[at]) for line in table) for at in range(len(table[0]))]
    print("\n".join([header] * bool(header) + ["  ".join(map(str.ljust, line, widths)).rstrip() for line in table]))
