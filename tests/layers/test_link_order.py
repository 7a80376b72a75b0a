"""Code for some processors only must not stand in for what all of them run."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

BUILD = Path(__file__).resolve().parents[2] / "build" / "dev"


def linked_objects() -> list[str]:
    """What libtaeda is linked from, in this order."""
    text = (BUILD / "build.ninja").read_text()
    found = re.search(r"^build libtaeda\.so: CXX_SHARED_LIBRARY_LINKER__\S+ (.+?)(?: \||$)", text, re.MULTILINE)
    assert found, "libtaeda.so is not among the targets of build.ninja"
    return [name for name in found[1].split() if name.endswith(".o")]


@pytest.mark.skipif(not (BUILD / "build.ninja").exists(), reason="needs the objects of a build in build/dev")
def test_inline_functions_come_from_objects_for_every_processor() -> None:
    objects = linked_objects()
    symbols = subprocess.run(["nm", "--defined-only", "-A", *objects], cwd=BUILD, capture_output=True, text=True).stdout
    first: dict[str, str] = {}  # what several objects hold, to the one that the linker takes it from
    held: dict[str, set[bool]] = {}
    for line in symbols.splitlines():
        name, _, symbol = line.partition(":")
        *_, kind, symbol = symbol.split()
        if kind in "WVu":
            first.setdefault(symbol, name)
            held.setdefault(symbol, set()).add("taeda_avx" in name)
    assert any("taeda_avx512" in name for name in objects)
    wrong = [symbol for symbol, name in first.items() if held[symbol] == {True, False} and "taeda_avx" in name]
    assert wrong == []
