"""Who imports whom in Python: the layers of ``docs/design.md``, and circles."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Calls that need what is above them, package by package. Nothing is loaded for them before they are made.
LOOKS_UP = {
    "_tensor": {
        "backends": "oneDNN's layout is that of a class of tensors",
        "multiprocessing": "a tensor on its way to another process shares its memory",
        "nn": "a parameter prints as one",
        "sparse": "methods that are about sparse layouts; printing and pickling such tensors",
    },
    "_serialization": {
        "nn": "files hold parameters",
        "nested": "files hold nested tensors",
        "sparse": "files hold sparse tensors",
        "cuda": "whether a file's device is there",
    },
    "serialization": {"jit": "load is given a program's archive"},
    "classes": {
        "jit": "objects of a C++ class have the face of programs' objects",
        "ops": "a library is loaded as one of ops",
    },
    "_main": {
        "accelerator": "get_device_module without a device",
        "autograd": "the derivative of lobpcg",
    },
    "_library": {
        "func": "a program's own rule for vmap",
        "nn": "a fake parameter is a parameter",
    },
    "autograd": {
        "func": "gradcheck under vmap, and batches of vectors",
        "optim": "the profiler names an optimizer's steps",
        "sparse": "gradcheck of functions of sparse tensors",
        "testing": "the tolerances of gradcheck",
    },
    "nn": {
        "func": "gradients per sample are those of a call, batched",
    },
    "jit": {
        "_explain": "a program's stages end at the kernels of its ops",
    },
    "utils": {
        "ops": "rules by op objects",
        "nn": "a backend's name becomes methods of modules; checkpoint of a module",
    },
}
# Modules that need each other at calls only, or as the standard library's of the same names do.
HARMLESS = {
    "taeda._library.ops": "a pickled op is found through taeda.ops, its public name",
    "taeda._schema.types": "the type of tensors gives types of tensors of which more is known",
    "taeda.autograd._chrome_trace": "one class, in two files",
    "taeda.distributed._shard.sharding_spec": "a way to cut makes tensors, which say in which way they are cut",
    "taeda.fx._packaged": "in a package a module of a graph is its code, of which tracing makes such a module again",
    "taeda.fx.graph": "a graph makes its nodes and its code, which ask for it",
    "taeda.jit._script": "what is compiled asks for what it calls to be compiled: functions, classes and modules do",
    "taeda.jit.ir": "a graph asks for what is made of graphs: the schemas of its nodes, its text, what it calls",
    "taeda.masked.maskedtensor.core": "what is called with a tensor is found among rules, which make such tensors",
    "taeda.multiprocessing.context": "a context makes queues of its own kind",
    "taeda.multiprocessing.reductions": "sharing asks for the strategy that the package was told",
    "taeda.nested._tensor": "what is called with a tensor is found among rules, which make such tensors",
    "taeda.sparse._parts": "a gradient of another pattern is converted, by what is made of parts",
    "taeda.sparse._printing": "the parts print as dense tensors do",
    "taeda.nn._functional._pieces": "the loss is computed in pieces that compute it whole",
    "taeda.nn.modules.module": "walking a tree of modules is in a file of its own",
    "taeda.nn.utils.memory_format": "asks for the classes of modules",
}


class Import(NamedTuple):
    """That one module imports, or names as an attribute of taeda, another; at once, or in a call."""

    by: str
    target: str
    at_once: bool


def _files() -> Iterator[tuple[str, Path]]:
    for package in ("taeda", "taedagen"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            if not {"generated", "_C"} & {*parts}:
                yield ".".join(part for part in parts if part not in ("__init__", "_faces")), path


FILES = {name: path for name, path in _files() if name not in ("taeda", "taedagen")}
FACES = {name for name, path in FILES.items() if "_faces" in path.parts}


def _targets(node: ast.AST, module: str, is_package: bool) -> Iterator[str]:
    """The modules that a node names."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        up = module.split(".")[: None if is_package else -1]
        base = ".".join([*up[: len(up) - node.level + 1], *filter(None, [node.module])]) if node.level else node.module
        names = [f"{base}.{alias.name}" for alias in node.names]
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "taeda":
        names = [f"taeda.{node.attr}"]
    else:
        return
    for name in names:
        found = name if name in FILES else name.rpartition(".")[0]
        if found in FILES and found != module:
            yield found


def _imports_of(node: ast.AST, module: str, is_package: bool, at_once: bool = True) -> Iterator[Import]:
    """Those below a node; what only type checkers import is left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        now = at_once and not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for target in _targets(child, module, is_package):
            yield Import(module, target, at_once and not isinstance(child, ast.Attribute))
        yield from _imports_of(child, module, is_package, now)


@functools.cache
def imports() -> list[Import]:
    return [found for name, path in FILES.items()
            for found in _imports_of(ast.parse(path.read_text()), name, path.name == "__init__.py")]  # fmt: skip


@functools.cache
def layers() -> dict[str, int]:
    """Package or module of taeda to its layer, from the table in the design: the lowest is the first."""
    table = (ROOT / "docs" / "design.md").read_text().partition("| layer of `taeda` |")[2].partition("\n\n")[0]
    rows = [re.findall(r"`([\w.]+)`", line) for line in table.splitlines()[2:]]
    return {name: i for i, row in enumerate(rows) for name in row}


def entry_of(module: str) -> str:
    """The entry of the table that a module belongs to: the longest that its name begins with."""
    if module in FACES:
        return "_faces"
    parts = module.split(".")[1:]
    candidates = [".".join(parts[:n]) for n in range(len(parts), 0, -1)]
    return next((name for name in candidates if name in layers()), candidates[-1])


def test_every_module_of_taeda_has_a_layer() -> None:
    assert len(set(layers().values())) > 5
    assert {entry_of(name) for name in FILES if name.startswith("taeda.")} - {*layers()} == set()


def test_imports_go_down() -> None:
    wrong = []
    for by, target, at_once in imports():
        if not by.startswith("taeda.") or not target.startswith("taeda."):
            continue
        lower, upper = entry_of(by), entry_of(target)
        allowed = not at_once and upper in LOOKS_UP.get(lower, {})
        if layers()[upper] > layers()[lower] and not allowed:
            wrong.append(f"{by} ({lower}) imports {target} ({upper}){' when loaded' if at_once else ''}")
    assert sorted(set(wrong)) == []


def test_every_look_upward_is_needed() -> None:
    found = {(entry_of(i.by), entry_of(i.target)) for i in imports() if i.by.startswith("taeda.")}
    assert {(by, target) for by, targets in LOOKS_UP.items() for target in targets} - found == set()


def test_nothing_of_ours_imports_a_face() -> None:
    assert [i for i in imports() if i.target in FACES and i.by not in FACES] == []


def reached(start: str) -> set[str]:
    found: set[str] = set()
    open_ = [start]
    while open_:
        for target in edges().get(open_.pop(), set()) - found:
            found.add(target)
            open_.append(target)
    return found


@functools.cache
def edges() -> dict[str, set[str]]:
    table: dict[str, set[str]] = {}
    for by, target, _ in imports():
        table.setdefault(by, set()).add(target)
    return table


def test_there_is_no_circle_without_a_reason() -> None:
    after = {name: reached(name) for name in edges()}
    circles = {tuple(sorted(b for b in after[a] if a in after.get(b, ()))) for a in after if a in after[a]}
    assert [circle for circle in sorted(circles) if not HARMLESS.keys() & {*circle}] == []


def test_a_face_has_one_name() -> None:
    with pytest.raises(ImportError, match=r"taeda\._dynamo"):
        import taeda._faces._dynamo  # noqa: F401
