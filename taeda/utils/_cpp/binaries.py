"""Published binaries of PyTorch's world: they ask for libraries by PyTorch's names, and get ours.

The libraries of these names lie in a folder of their own, where no loader looks; opened by their paths, they are what
the names stand for in this process from then on. A process that has PyTorch's own keeps them.
"""

from __future__ import annotations

import ctypes
import functools
import os
import re

from taeda.utils._cpp import places

_TORCHS = re.compile(r"^lib(torch(_cpu|_cuda|_python)?|c10(_cuda)?|cudart|nvrtc)\.so(\.\d+)*$")


def is_missing(error: BaseException) -> bool:
    """Whether the loader says that a library of PyTorch's (or of CUDA's, which it brings) is not there."""
    name, _, rest = str(error).partition(":")
    return _TORCHS.match(name) is not None and "cannot open shared object file" in rest


@functools.cache
def open_stand_ins() -> None:
    """Opens the libraries by PyTorch's names, but for those that the process, or the system, has."""
    folder = places.stand_in_folder()
    for name in sorted(os.listdir(folder), key=lambda file: (not file.startswith("libc"), file)):
        try:
            ctypes.CDLL(name)
        except OSError:
            ctypes.CDLL(str(folder / name))


def load(path: str) -> None:
    """Opens a library for all, and raises what its registrations of ops and classes raised.

    Raises:
        OSError: the file is missing or cannot be loaded.
        RuntimeError: what it registers clashes with what there is.
    """
    ours = ctypes.CDLL(str(places.library("taeda_torch")))
    ours.taeda_end_loading.restype = ctypes.c_char_p
    ours.taeda_begin_loading()
    try:
        try:
            ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            if not is_missing(error):
                raise OSError(explained(str(error), path)) from None
            open_stand_ins()
            ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    finally:
        said = ours.taeda_end_loading().decode(errors="replace")
    if said:
        raise RuntimeError(f"taeda.ops.load_library: {path}: {said}")


def explained(message: str, path: str) -> str:
    """The loader's message; in words, where it is about the version of the binary interface."""
    built = re.search(r"undefined symbol: taeda_abi_(\d+)_", message)
    if built is None:
        return message
    return (
        f"{path} was built against version {built[1]} of Taeda's C++ interface, and the installed Taeda has another: "
        "build it again (what uses the stable C interface alone need not be)"
    )
