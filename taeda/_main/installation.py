"""Where the package lies, and what it was built for."""

from __future__ import annotations

from pathlib import Path


def compiled_with_cxx11_abi() -> bool:
    """Whether strings and lists of C++ are those of C++11's ABI: yes, always."""
    return True


def get_file_path(*path_components: str) -> str:
    """The path of a file of the package: ``get_file_path("taeda", "lib")``, from the folder that holds the package."""
    return str(Path(__file__).resolve().parents[2].joinpath(*path_components))


def prepare_multiprocessing_environment(path: str) -> None:
    """Nothing: processes that are started need no preparation."""
