"""Prints where the pip packages of OpenBLAS and oneDNN keep libraries and headers, as a CMake list."""

from __future__ import annotations

import sys
from importlib.metadata import files
from pathlib import Path

import scipy_openblas32


def find(package: str, name: str) -> Path:
    for file in files(package) or []:
        if file.name == name:
            return Path(file.locate()).resolve()
    sys.exit(f"the package {package} lacks {name}; install it with: pip install {package}")


openblas = next(Path(scipy_openblas32.get_lib_dir()).glob("libscipy_openblas*.so"))
include = find("onednn-devel-cpu-gomp", "dnnl.hpp").parent
library = find("onednn-cpu-gomp", "libdnnl.so.3")
print(";".join(map(str, (openblas, include, library))))
