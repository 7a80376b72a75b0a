"""`dedup_save_plans`, where programs look for it."""

from __future__ import annotations

from taeda.distributed.checkpoint.default_planner import without_doubles
from taeda.distributed.checkpoint.planner import SavePlan

__all__ = ["dedup_save_plans"]


def dedup_save_plans(all_plans: list[SavePlan], save_to_lowest_rank: bool = False) -> list[SavePlan]:
    """The plans, each chunk in one of them only: of those that hold it, the one with least to write, or the first."""
    return without_doubles(all_plans, save_to_lowest_rank)
