"""Which ops are related, pair by pair."""

from __future__ import annotations

from typing import Any

from taeda.ao.ns.fx.mappings import Sets, get_base_name_to_sets_of_related_ops


def get_type_a_related_to_b(base_name_to_sets_of_related_ops: Sets | None = None) -> set[tuple[Any, Any]]:
    """All pairs of ops of one set, and each op with itself."""
    sets = base_name_to_sets_of_related_ops or get_base_name_to_sets_of_related_ops()
    return {(a, b) for ops in sets.values() for a in ops for b in ops}
