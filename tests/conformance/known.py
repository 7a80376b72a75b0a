"""Expected failures, ``"aspect op": reason``. A test of this table that passes is a failure: take the row out."""

from __future__ import annotations

KNOWN: dict[str, str] = {}
