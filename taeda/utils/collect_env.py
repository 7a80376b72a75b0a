"""``python -m torch.utils.collect_env``: what a report of a fault should say, as ``python -m taeda info`` prints it."""

from __future__ import annotations

import platform
import sys
from importlib import metadata
from typing import NamedTuple

import taeda

# Packages whose versions explain what a program does.
_PACKAGES = ("numpy", "taeda", "torch", "torchvision", "torchaudio", "onnx", "onnxruntime", "optree", "mpich")


class SystemEnv(NamedTuple):
    """What is known of this machine; ``None`` where it has no such thing."""

    torch_version: str
    is_debug_build: str
    cuda_compiled_version: str | None
    gcc_version: str | None
    libc_version: str
    os: str
    python_version: str
    python_platform: str
    is_cuda_available: str
    pip_packages: str
    cpu_info: str


def get_pip_packages() -> str:
    """The versions of the packages that matter here, one a line, as ``name==version``."""
    lines = []
    for name in _PACKAGES:
        try:
            lines.append(f"{name}=={metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    return "\n".join(lines)


def get_env_info() -> SystemEnv:
    """The facts, as text."""
    compiler = platform.python_compiler()
    return SystemEnv(
        torch_version=taeda.__version__,
        is_debug_build=str(taeda.version.debug),
        cuda_compiled_version=taeda.version.cuda,
        gcc_version=compiler if compiler.startswith("GCC") else None,
        libc_version="-".join(platform.libc_ver()),
        os=platform.platform(),
        python_version=sys.version,
        python_platform=platform.platform(),
        is_cuda_available=str(taeda.cuda.is_available()),
        pip_packages=get_pip_packages(),
        cpu_info=f"{platform.processor() or platform.machine()}, {taeda.backends.cpu.get_cpu_capability()}",
    )


def get_pretty_env_info() -> str:
    """The lines of ``python -m taeda info`` and the versions of packages."""
    from taeda._explain import info

    return "\n".join([*info.lines(), "", get_pip_packages()])


def main() -> None:
    """Prints them."""
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
