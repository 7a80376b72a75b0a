"""``python -m taeda config``: what a compiler must be told to build a program or library with Taeda."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping

from taeda.utils._cpp import places


def cflags() -> str:
    """Folders of headers, and the standard that these are written in."""
    return shlex.join([f"-std={places.STANDARD}", *places.DEFINES, *(f"-I{path}" for path in places.include_folders())])


def libs() -> str:
    """What links with the libraries, and finds them when the program runs."""
    folders = places.library_folders()
    return shlex.join(
        [*(f"-L{path}" for path in folders), *(f"-Wl,-rpath,{path}" for path in folders),
         *(f"-l{name}" for name in places.LIBRARIES)]
    )  # fmt: skip


def cmake() -> str:
    """The folder for ``CMAKE_PREFIX_PATH``: ``find_package(Torch)`` and ``find_package(Taeda)`` look there."""
    return places.cmake_folder()


def pkgconfig() -> str:
    """The folder for ``PKG_CONFIG_PATH``: ``pkg-config --cflags --libs taeda``."""
    return places.pkgconfig_folder()


QUESTIONS: Mapping[str, Callable[[], str]] = {"cflags": cflags, "libs": libs, "cmake": cmake, "pkgconfig": pkgconfig}
