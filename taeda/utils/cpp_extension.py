"""``torch.utils.cpp_extension``: extensions in C++, built by ``setup.py``, or here and now by :func:`load`."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import shlex
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taeda.utils._cpp import binaries, inline, places
from taeda.utils._cpp import compile as building

if TYPE_CHECKING:
    import setuptools

    from taeda.utils._cpp.setup import BuildExtension as BuildExtension

# There is no CUDA in this build, nor ROCm or SYCL.
CUDA_HOME: str | None = None
CUDNN_HOME: str | None = None
ROCM_HOME: str | None = None
SYCL_HOME: str | None = None
HIP_HOME: str | None = None
ROCM_VERSION: tuple[int, int] | None = None
COMMON_NVCC_FLAGS: list[str] = []
MINIMUM_GCC_VERSION = (12, 0, 0)
IS_WINDOWS = False
IS_MACOS = False
IS_LINUX = True
IS_HIP_EXTENSION = False
EXEC_EXT, LIB_EXT, CLIB_PREFIX, CLIB_EXT, SHARED_FLAG = "", ".so", "lib", ".so", "-shared"
TORCH_LIB_PATH: str


def __getattr__(name: str) -> Any:
    if name == "BuildExtension":  # needs setuptools, which programs that only load() need not have
        from taeda.utils._cpp.setup import BuildExtension

        return BuildExtension
    if name == "TORCH_LIB_PATH":
        return places.library_folders()[0]
    raise AttributeError(f"module 'taeda.utils.cpp_extension' has no attribute '{name}'")


def include_paths(device_type: str = "cpu", torch_include_dirs: bool = True) -> list[str]:
    """The folders of headers that an extension needs.

    Raises:
        RuntimeError: ``device_type`` is not ``"cpu"``.
    """
    _only_cpu(device_type)
    return places.include_folders() if torch_include_dirs else []


def library_paths(device_type: str = "cpu", torch_include_dirs: bool = True, cross_target_platform: str | None = None
                  ) -> list[str]:  # fmt: skip
    """The folders of libraries that an extension is linked with.

    Raises:
        RuntimeError: ``device_type`` is not ``"cpu"``.
    """
    _only_cpu(device_type)
    return places.library_folders() if torch_include_dirs else []


def _only_cpu(device_type: object) -> None:
    if device_type in ("cuda", "xpu", "hip", True):
        raise RuntimeError(
            f"taeda.utils.cpp_extension: this build has no {device_type if isinstance(device_type, str) else 'cuda'}: "
            "extensions are for the CPU; ask torch.cuda.is_available() first"
        )


def CppExtension(name: str, sources: Sequence[str], *args: Any, **kwargs: Any) -> setuptools.Extension:
    """A ``setuptools.Extension`` of C++ sources, with Taeda's headers and libraries; built by :class:`BuildExtension`.

    Args:
        name: the module's full name.
        sources: the C++ files.
        kwargs: as of ``setuptools.Extension``; with ``py_limited_api=True`` for what registers ops alone, a module
            that serves all later versions of Python (pybind11 cannot be used in it).
    """
    import setuptools

    kwargs["include_dirs"] = [*kwargs.get("include_dirs", []), *places.include_folders(), *places.pybind_folders()]
    kwargs["extra_link_args"] = [*kwargs.get("extra_link_args", []), *places.link_flags()]
    kwargs["language"] = "c++"
    return setuptools.Extension(name, list(sources), *args, **kwargs)


def CUDAExtension(name: str, sources: Sequence[str], *args: Any, **kwargs: Any) -> setuptools.Extension:
    """Refused: this build has no CUDA.

    Raises:
        RuntimeError: always.
    """
    raise RuntimeError(
        f"taeda.utils.cpp_extension.CUDAExtension: this build has no CUDA, so {name} cannot be built with it; build a "
        "CppExtension of its C++ sources where torch.cuda.is_available() is False"
    )


def SyclExtension(name: str, sources: Sequence[str], *args: Any, **kwargs: Any) -> setuptools.Extension:
    """Refused: this build has no SYCL.

    Raises:
        RuntimeError: always.
    """
    raise RuntimeError(f"taeda.utils.cpp_extension.SyclExtension: this build has no SYCL, so {name} cannot be built")


def _find_cuda_home() -> str | None:
    return CUDA_HOME


def get_default_build_root() -> str:
    """The folder under which :func:`load` builds, unless ``TORCH_EXTENSIONS_DIR`` names another."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "taeda_extensions")


def get_cxx_compiler() -> str:
    """The C++ compiler that builds use."""
    return places.compiler()


def is_ninja_available() -> bool:
    """Whether ``ninja`` is installed; builds do not need it."""
    import shutil

    return shutil.which("ninja") is not None


def verify_ninja_availability() -> None:
    """RuntimeError if ninja is not installed; builds here do not need it."""
    if not is_ninja_available():
        raise RuntimeError(
            "taeda.utils.cpp_extension.verify_ninja_availability: there is no ninja; builds do without it, and who "
            "wants it all the same gets it by pip install ninja"
        )


def check_compiler_is_gcc(compiler: str) -> bool:
    """Whether the command is a g++."""
    import subprocess

    shown = subprocess.run([*shlex.split(compiler), "-v"], capture_output=True, text=True).stderr
    return "gcc version" in shown


def check_compiler_ok_for_platform(compiler: str) -> bool:
    """Whether extensions can be built with it: any g++ or clang can."""
    import shutil

    return shutil.which(shlex.split(compiler)[-1]) is not None


def get_compiler_abi_compatibility_and_version(compiler: str) -> tuple[bool, Any]:
    """Whether the compiler will do, and its version."""
    import subprocess

    from taeda.torch_version import TorchVersion

    if not check_compiler_ok_for_platform(compiler):
        return False, TorchVersion("0.0.0")
    shown = subprocess.run([*shlex.split(compiler), "-dumpfullversion", "-dumpversion"], capture_output=True, text=True)
    version = shown.stdout.strip() or "0.0.0"
    return True, TorchVersion(version)


# --- building here and now

_versions: dict[str, tuple[str, int]] = {}  # of modules that this process loaded: what they were made of, how often


def load(name: str, sources: str | Sequence[str], extra_cflags: Sequence[str] | None = None,
         extra_cuda_cflags: Sequence[str] | None = None, extra_sycl_cflags: Sequence[str] | None = None,
         extra_ldflags: Sequence[str] | None = None, extra_include_paths: Sequence[str] | None = None,
         build_directory: str | None = None, verbose: bool = False, with_cuda: bool | None = None,
         with_sycl: bool | None = None, is_python_module: bool = True, is_standalone: bool = False,
         keep_intermediates: bool = True) -> Any:  # fmt: skip
    """Builds an extension, unless it was built before of the same, and loads it.

    Args:
        name: what the extension is called; ``TORCH_EXTENSION_NAME`` in its sources.
        sources: the C++ files.
        build_directory: where it is built; by default a folder of ``name`` below :func:`get_default_build_root`.
        is_python_module: whether it is a module, and not a library that registers ops.
        is_standalone: whether it is a program.

    Returns:
        The module; the path of a library or of a program.

    Raises:
        RuntimeError: the sources do not compile (the message has what the compiler says), or are for CUDA.
    """
    files = [sources] if isinstance(sources, str) else list(sources)
    if with_cuda or with_sycl or any(f.endswith((".cu", ".cuh", ".sycl")) for f in files):
        _only_cpu("cuda")
    folder = Path(build_directory or _get_build_directory(name, verbose))
    flags = [*(extra_cflags or []), *(f"-I{path}" for path in extra_include_paths or [])]
    return _build_and_load(name, [Path(f).resolve() for f in files], folder, flags, list(extra_ldflags or []), verbose,
                           is_python_module, is_standalone, with_header=False)  # fmt: skip


def load_inline(name: str, cpp_sources: str | Sequence[str], cuda_sources: str | Sequence[str] | None = None,
                sycl_sources: str | Sequence[str] | None = None,
                functions: None | str | Sequence[str] | Mapping[str, str] = None,
                extra_cflags: Sequence[str] | None = None, extra_cuda_cflags: Sequence[str] | None = None,
                extra_sycl_cflags: Sequence[str] | None = None, extra_ldflags: Sequence[str] | None = None,
                extra_include_paths: Sequence[str] | None = None, build_directory: str | None = None,
                verbose: bool = False, with_cuda: bool | None = None, with_sycl: bool | None = None,
                is_python_module: bool = True, with_pytorch_error_handling: bool = True,
                keep_intermediates: bool = True, use_pch: bool = True, no_implicit_headers: bool = False
                ) -> Any:  # fmt: skip
    """As :func:`load`, of sources that are strings.

    Args:
        cpp_sources: C++; ``#include <torch/extension.h>`` stands before it already.
        functions: what shall be bound: names, or names with documentations.
        use_pch: keep ``torch/extension.h`` compiled, for all extensions with the same flags.
        no_implicit_headers: nothing is put before the sources.

    Raises:
        RuntimeError: the sources do not compile, or are for CUDA.
    """
    if with_cuda or with_sycl or cuda_sources or sycl_sources:
        _only_cpu("cuda")
    folder = Path(build_directory or _get_build_directory(name, verbose))
    parts = [cpp_sources] if isinstance(cpp_sources, str) else list(cpp_sources)
    text = inline.source_text(parts, inline.as_functions(functions), not no_implicit_headers)
    source = folder / "main.cpp"
    with _locked(folder):
        if not source.exists() or source.read_text() != text:
            source.write_text(text)
    flags = [*(extra_cflags or []), *(f"-I{path}" for path in extra_include_paths or [])]
    return _build_and_load(name, [source], folder, flags, list(extra_ldflags or []), verbose, is_python_module,
                           is_standalone=False, with_header=use_pch and not no_implicit_headers)  # fmt: skip


def _get_build_directory(name: str, verbose: bool = False) -> str:
    root = os.environ.get("TORCH_EXTENSIONS_DIR") or os.path.join(
        get_default_build_root(), f"py{sys.version_info.major}{sys.version_info.minor}_cpu"
    )
    folder = os.path.join(root, name)
    if verbose:
        print(f"taeda.utils.cpp_extension: {name} is built in {folder}", file=sys.stderr)
    return folder


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One process at a time builds in a folder. The system drops the lock of a process that dies."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _command(flags: Sequence[str], is_standalone: bool) -> list[str]:
    """The compiler with all flags but the source's; of a program, which binds nothing."""
    of_python = [*places.pybind_folders(), sysconfig.get_paths()["include"]]
    includes = [*(f"-I{folder}" for folder in places.include_folders()), *(f"-isystem{folder}" for folder in of_python)]
    given = places.with_standard([*shlex.split(os.environ.get("CXXFLAGS", "")), *flags])
    binds = [] if is_standalone else ["-DTORCH_API_INCLUDE_EXTENSION_H"]
    return [*shlex.split(places.compiler()), "-fPIC", "-O2", *places.DEFINES, *binds, *given, *includes]


def _build_and_load(name: str, sources: list[Path], folder: Path, flags: list[str], link: list[str], verbose: bool,
                    is_python_module: bool, is_standalone: bool, with_header: bool) -> Any:  # fmt: skip
    places.check_compiler()
    with _locked(folder):
        binary = _build(name, sources, folder, flags, link, verbose, is_python_module, is_standalone, with_header)
    if is_standalone:
        return str(binary)
    return _import_module_from_library(name, str(folder), is_python_module, binary)


def _build(name: str, sources: list[Path], folder: Path, flags: list[str], link: list[str], verbose: bool,
           is_python_module: bool, is_standalone: bool, with_header: bool) -> Path:  # fmt: skip
    command = _command(flags, is_standalone)
    module = f"{name}{_suffix(name, sources, [*command, *link])}"
    define = f"-DTORCH_EXTENSION_NAME={module}"
    if with_header:
        header = next(Path(f) / "torch" / "extension.h" for f in places.include_folders()
                      if (Path(f) / "torch" / "extension.h").exists())  # fmt: skip
        root = Path(os.environ.get("TORCH_EXTENSIONS_DIR") or get_default_build_root())
        with _locked(root / "precompiled"):
            ready = inline.precompiled(root, command, header, verbose)
        at = next(i for i, flag in enumerate(command) if flag.startswith("-I"))
        command.insert(at, f"-I{ready}")
    jobs = [building.compilation([*command, define], source, folder / f"{i}_{source.stem}.o")
            for i, source in enumerate(sources)]  # fmt: skip
    building.run(jobs, verbose)
    binary = folder / (module if is_standalone else f"{module}.so")
    shared = [] if is_standalone else ["-shared"]
    objects = tuple(job.output for job in jobs)
    # A library that a process has open is not written to, but replaced.
    linked = (*shlex.split(places.compiler()), *shared, *map(str, objects), *link, *places.link_flags(), "-o",
              str(binary))  # fmt: skip
    job = building.Job(linked, binary, objects)
    if building._is_stale(job):
        binary.unlink(missing_ok=True)
    building.run([job], verbose)
    return binary


def _suffix(name: str, sources: list[Path], command: Sequence[str]) -> str:
    """Of a module that this process loaded and that changed since: it cannot be loaded again by its name."""
    digest = hashlib.sha256("\0".join(command).encode())
    for source in sources:
        digest.update(source.read_bytes())
    made_of, count = _versions.get(name, (digest.hexdigest(), 0))
    if made_of != digest.hexdigest():
        count += 1
    _versions[name] = (digest.hexdigest(), count)
    return f"_v{count}" if count else ""


def _import_module_from_library(module_name: str, path: str, is_python_module: bool, binary: Path | None = None) -> Any:
    """The module ``module_name`` that was built in the folder ``path``; of no Python module the ops, and its path."""
    binary = binary or Path(path) / f"{module_name}{LIB_EXT}"
    if not is_python_module:
        from taeda import ops

        ops.load_library(str(binary))
        return str(binary)
    spec = importlib.util.spec_from_file_location(binary.stem, binary)
    assert spec is not None and spec.loader is not None
    try:
        module = importlib.util.module_from_spec(spec)
    except ImportError as error:
        raise ImportError(binaries.explained(str(error), str(binary)), name=binary.stem, path=str(binary)) from None
    spec.loader.exec_module(module)
    return module


def remove_extension_h_precompiler_headers() -> None:
    """Deletes the headers that :func:`load_inline` keeps compiled."""
    import shutil

    root = Path(os.environ.get("TORCH_EXTENSIONS_DIR") or get_default_build_root())
    shutil.rmtree(root / "precompiled", ignore_errors=True)
