"""The house map: who may include and import whom, how long a file may be, what a module may be called."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from collections.abc import Set
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CSRC, INCLUDE = ROOT / "csrc", ROOT / "include"
GOLDEN = ROOT / "tests" / "taedagen" / "golden"  # generated code, of a few declarations

# Layer (a folder of csrc, with its public headers in include/taeda) to the layers whose headers it may include.
# Standard headers are free everywhere.
ARROWS = {
    "core": {"core"},
    "shape": {"shape", "core"},
    "dispatch": {"dispatch", "core"},
    "autograd": {"autograd", "core", "dispatch"},
    "backend/cpu": {"backend/cpu", "backend", "shape", "core"},
    "backend/cuda": {"backend/cuda", "backend", "shape", "core"},
    "backend/any_device": {"backend/any_device", "backend/cpu", "backend", "shape", "core"},
    "backend/meta": {"backend/meta", "shape", "core"},
    "quantized": {"quantized", "shape", "core", "dispatch", "autograd"},
    "composite": {"composite", "shape", "core", "dispatch", "autograd", "backend", "ops"},
    "ops": {"ops", "core"},
    "distributed": {"distributed", "core"},
    "jit": {"jit", "shape", "core", "dispatch", "autograd", "ops"},
    "torch": {"torch", "autograd", "dispatch", "core", "ops", "jit", "distributed"},
    "frontend": {"frontend", "torch", "autograd", "dispatch", "core", "ops", "jit", "distributed"},
}
# What generated code may include besides. The op table names all layers' functions.
GENERATED = {
    "dispatch": {"ops", "composite", "autograd", "autocast", "backend/cpu", "backend/meta", "backend/any_device"},
    "autograd": {"ops", "shape"},
    "autocast": {"autocast", "ops", "autograd", "core"},
    "composite": set[str](),
    "shape": set[str](),
    "backend/cpu": {"ops"},
    "backend/meta": {"ops"},
    "backend/any_device": {"ops"},
    "ops": set[str](),
    "python": {"python", "ops", "dispatch"},
}
# Below ops, these may call other ops through the dispatcher (the headers of taeda/ops), from source files only.
MAY_CALL = {"shape", "autograd", "quantized", "backend/cpu", "backend/cuda", "backend/any_device"}
# Platform headers: POSIX in the core, sockets, Intel's vectors and the libraries that a backend opens.
PLATFORM = {
    "distributed": r"(sys/.*|netinet/.*|netdb|poll|unistd|fcntl|dlfcn)\.h",
    "core": r"(sys/.*|unistd|fcntl|pthread|dlfcn|omp|immintrin|malloc)\.h",
    "dispatch": r"cxxabi\.h",
    "autograd": r"",
    "frontend": r"(omp|cxxabi)\.h",
    "torch": r"(unistd\.h|pybind11/.*)",
    "backend/cpu": r"(immintrin|omp|dlfcn|unistd|link|sys/.*|dnnl)\.h",
}
STANDARD = re.compile(r"c?[a-z_0-9]+")

SOURCES = sorted(p for folder in (CSRC, INCLUDE) for p in folder.rglob("*")
                 if p.suffix in (".h", ".hpp", ".cpp", ".cu"))  # fmt: skip
PYTHON = sorted(p for package in ("taeda", "taedagen") for p in (ROOT / package).rglob("*.py")
                if "generated" not in p.parts and "_C" not in p.parts)  # fmt: skip

PYTORCH = ("torch/", "ATen/", "c10/", "caffe2/")  # its interface to C++


def layer_of(relative: str) -> str:
    """The longest folder of the map that ``relative`` lies in, else its first folder; ``taeda/`` begins public ones."""
    relative = relative.removeprefix("taeda/")
    if relative.startswith(PYTORCH):
        return "torch"
    candidates = [layer for layer in [*ARROWS, "backend", "autocast", "python"] if relative.startswith(f"{layer}/")]
    return max(candidates, key=len, default=relative.split("/")[0].removesuffix(".h"))


def includes(path: Path) -> list[str]:
    return re.findall(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', path.read_text(), re.M)


def own_layer(path: Path) -> str:
    root = next(r for r in (CSRC, INCLUDE, GOLDEN / "csrc", GOLDEN / "include") if path.is_relative_to(r))
    return layer_of(path.relative_to(root).as_posix())


def folders(paths: list[Path]) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for path in paths:
        found.setdefault(own_layer(path), []).append(path)
    return found


def forbidden(path: Path, layer: str, more: Set[str] = frozenset()) -> list[str]:
    """The includes of ``path`` that the map does not allow to ``layer``."""
    allowed, wrong = ARROWS.get(layer, set()) | more, []
    for include in includes(path):
        if include.startswith("taeda/ops") and layer in MAY_CALL and path.suffix == ".cpp":
            continue
        if "/" in include and (target := layer_of(include)) in {*ARROWS, "backend", "autocast", "python"}:
            if target not in allowed:
                wrong.append(include)
        elif not STANDARD.fullmatch(include) and not re.fullmatch(PLATFORM.get(layer, ""), include):
            wrong.append(include)
    return wrong


@pytest.mark.parametrize("layer", ARROWS)
def test_a_layer_includes_only_what_the_map_allows(layer: str) -> None:
    wrong = {str(p.relative_to(ROOT)): found for p in folders(SOURCES).get(layer, []) if (found := forbidden(p, layer))}
    assert wrong == {}, f"{layer} may include {sorted(ARROWS[layer])}"


def test_generated_code_includes_only_what_the_map_allows() -> None:
    files = [p for pattern in ("*.h", "*.cpp") for p in GOLDEN.rglob(pattern)]
    assert {own_layer(p) for p in files} <= set(GENERATED)
    wrong = {str(p.relative_to(GOLDEN)): found for p in files
             if (found := forbidden(p, own_layer(p), GENERATED[own_layer(p)]))}  # fmt: skip
    assert wrong == {}


def test_public_headers_include_public_headers_only() -> None:
    """And by their public path, so that they compile wherever they are installed."""
    wrong = {f"{p.relative_to(ROOT)}: {i}" for p in SOURCES if p.is_relative_to(INCLUDE) for i in includes(p)
             if "/" in i and not i.startswith((*PYTORCH, "taeda/", "sys/", "pybind11/"))}  # fmt: skip
    assert wrong == set()


def test_only_the_python_layer_includes_python() -> None:
    users = {own_layer(p) for p in SOURCES
             if any(i.startswith(("Python.h", "numpy/", "nanobind", "pybind11")) for i in includes(p))}  # fmt: skip
    assert users == {"python", "torch"}  # torch/python.h, which extensions include


def imported(path: Path) -> set[str]:
    """The top-level packages that a Python file imports, inside functions too."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add(str(node.module).split(".")[0])
    return names


@pytest.mark.parametrize(
    "path", [p for p in PYTHON if "taedagen" in p.parts], ids=lambda p: p.relative_to(ROOT).as_posix()
)
def test_taedagen_knows_the_standard_library_only(path: Path) -> None:
    assert imported(path) - sys.stdlib_module_names <= {"taedagen"}


@pytest.mark.parametrize("path", sorted((ROOT / "taedagen" / "ops").glob("*.py")), ids=lambda p: p.name)
def test_declarations_import_opdef_only(path: Path) -> None:
    modules = {str(n.module) for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.ImportFrom)}
    ours = {m for m in modules if m.startswith("taedagen")}
    assert all(m.startswith("taedagen.opdef") for m in ours), f"{path.name} imports {sorted(ours)}"


def test_no_file_is_longer_than_800_lines() -> None:
    files = [*SOURCES, *PYTHON, *(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]
    assert {str(p.relative_to(ROOT)): n for p in files if (n := len(p.read_text().splitlines())) > 800} == {}


def test_no_module_bears_the_name_of_a_callable() -> None:
    """Importing ``taeda/x.py`` sets the attribute ``x`` of the package, and would hide a function of that name."""
    import taeda

    modules = {p.stem for p in (ROOT / "taeda").glob("*.py")} | {
        p.parent.name for p in (ROOT / "taeda").glob("*/__init__.py")
    }
    functions = {name for name in [*dir(taeda._C._functions), *taeda._MODULE_OF] if not name.startswith("_")}
    assert modules & functions == set()


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):  # no such parent, or a module made at run time
        return name in sys.modules


def test_no_module_bears_the_name_of_a_torch_callable() -> None:
    torch = pytest.importorskip("torch")
    for folder in (ROOT / "taeda", ROOT / "taeda" / "nn", ROOT / "taeda" / "optim", ROOT / "taeda" / "autograd"):
        namespace = torch
        for part in folder.relative_to(ROOT / "taeda").parts:
            namespace = getattr(namespace, part)
        for path in [*folder.glob("*.py"), *(p.parent for p in folder.glob("*/__init__.py"))]:
            module = ".".join(("torch", *path.relative_to(ROOT / "taeda").with_suffix("").parts))
            if path.stem == "__init__" or _is_module(module):
                continue  # a module of the same place and name there
            there = getattr(namespace, path.stem, None)
            assert not callable(there) or isinstance(there, type(sys)), (
                f"{path.relative_to(ROOT)} hides torch's {path.stem}"
            )
