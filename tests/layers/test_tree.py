"""The tests stand in a tree that mirrors what they test."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent

# Folders for more than one folder of the sources, and files for what stands beside them.
ACROSS = {"compat", "conformance", "cpp", "fuzz", "layers", "pytorch", "stubs", "taedagen"}
BESIDE = {"docs", "examples", "reference"}


def test_a_folder_of_tests_is_a_folder_of_the_sources() -> None:
    sources = {path.name for folder in ("taeda", "csrc", "taedagen") for path in (ROOT / folder).iterdir()}
    folders = {path.name for path in TESTS.iterdir() if any(path.glob("**/test_*.py"))}
    assert folders - sources - ACROSS == set()


def test_a_file_at_the_top_tests_a_module_at_the_top() -> None:
    modules = {path.stem for path in (ROOT / "taeda").glob("*.py")}
    assert {path.stem.removeprefix("test_") for path in TESTS.glob("test_*.py")} - modules - BESIDE == set()
