"""Where headers and libraries of this installation lie, and what a compiler must be told of them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

LIBRARIES = ("taeda_torch", "taeda")
# Set where the headers are read for PyTorch's C++ interface; the second keeps the ABI of strings as published wheels
# have it.
STANDARD = "c++20"
DEFINES = ("-D_GLIBCXX_USE_CXX11_ABI=1",)


def package() -> Path:
    """The folder of the package, as installed."""
    import taeda._C

    return Path(str(taeda._C.__file__)).parent


def _built() -> Path:
    """The folder in which the developer's build left the libraries."""
    import taeda._C

    return Path(str(taeda._C.__file__)).resolve().parent


def is_installed() -> bool:
    """Whether headers lie in the package, as in a wheel; else in the source tree and its build."""
    return (package() / "include" / "taeda").is_dir()


def include_folders() -> list[str]:
    """The folders that hold ``torch/extension.h``, ``ATen/ATen.h`` and ``taeda/core/tensor.h``."""
    if is_installed():
        return [str(package() / "include")]
    return [str(package().parent / "include"), str(_built() / "generated" / "include")]


def library_folders() -> list[str]:
    """The folders that hold ``libtaeda.so``."""
    return [str(package() / "lib")] if is_installed() else [str(_built())]


def library(name: str) -> Path:
    """The file of a library of ours: ``library("taeda_torch")``."""
    return Path(library_folders()[0]) / f"lib{name}.so"


def stand_in_folder() -> Path:
    """The folder of libraries by PyTorch's names."""
    return Path(library_folders()[0]) / "stand_in"


def cmake_folder() -> str:
    """The folder below which ``find_package(Torch)`` finds Taeda."""
    return str(package() / "share" / "cmake")


def pkgconfig_folder() -> str:
    """The folder of ``taeda.pc``."""
    return str((package() / "share" if is_installed() else _built()) / "pkgconfig")


def pybind_folders() -> list[str]:
    """The folder of pybind11's headers; none where it is not installed (``torch/extension.h`` then says what to do)."""
    try:
        import pybind11
    except ImportError:
        return []
    return [str(pybind11.get_include())]


def compiler() -> str:
    """The C++ compiler: what ``CXX`` says, else ``c++``."""
    return os.environ.get("CXX") or "c++"


def check_compiler() -> None:
    """RuntimeError with what to do if there is none."""
    name = compiler().split()[-1]
    if shutil.which(name) is None:
        raise RuntimeError(
            f"taeda.utils.cpp_extension: there is no C++ compiler '{name}'; install g++ 12 or later, or name one in CXX"
        )


def with_standard(flags: list[str]) -> list[str]:
    """The flags with C++20 where they ask for an older standard, or for none: the headers are written in it."""
    old = ("-std=c++11", "-std=c++14", "-std=c++17", "-std=gnu++11", "-std=gnu++14", "-std=gnu++17", "-std=c++1z",
           "-std=c++1y", "-std=c++0x")  # fmt: skip
    kept = [flag for flag in flags if flag not in old]
    return kept if any(flag.startswith("-std=") for flag in kept) else [*kept, f"-std={STANDARD}"]


def link_flags() -> list[str]:
    """What links a shared library with Taeda, and finds it again when it is loaded, here or in an environment that
    a wheel was moved to."""
    found = ["$ORIGIN/taeda/lib", "$ORIGIN/../taeda/lib", "$ORIGIN/../../taeda/lib", *library_folders()]
    return [
        *(f"-L{folder}" for folder in library_folders()), *(f"-l{name}" for name in LIBRARIES),
        *(f"-Wl,-rpath,{folder}" for folder in found),
    ]  # fmt: skip
