"""How units that would take too long are cut."""

from __future__ import annotations

import pytest

from taedagen.emit.files import part_name, shares

NAMES = [f"op{i}" for i in range(200)]


@pytest.mark.parametrize("limit, count", [(10_000, 1), (2000, 1), (1999, 2), (700, 3), (100, 20)])
def test_all_keys_in_as_many_parts_as_the_weight_asks(limit: int, count: int) -> None:
    parts = shares(dict.fromkeys(NAMES, 10), limit)
    assert len(parts) == count and sorted(key for part in parts for key in part) == sorted(NAMES)
    assert max(map(len, parts)) * 10 < 2 * limit


def test_a_new_key_moves_no_other() -> None:
    before, after = (shares(dict.fromkeys(names, 10), 700) for names in (NAMES, ["new", *NAMES]))
    assert [[key for key in part if key != "new"] for part in after] == before


def test_nothing_is_one_empty_part() -> None:
    assert shares({}, 10) == [[]] and [part_name("a", i) for i in range(3)] == ["a", "a_1", "a_2"]
