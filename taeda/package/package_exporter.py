"""Writing packages."""

from __future__ import annotations

import os
import platform
import sys
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from taeda._serialization.archive import ArchiveWriter, bytes_of
from taeda.package._dependencies import MOCKS, Action, Dependencies
from taeda.package._digraph import DiGraph
from taeda.package._errors import EmptyMatchError, PackagingError, PackagingErrorReason
from taeda.package._mangling import demangle
from taeda.package._pickling import REDUCTION, PackagePickler, PackageStorages
from taeda.package.glob_group import GlobPattern
from taeda.package.importer import Importer, OrderedImporter, sys_importer
from taeda.types import FileLike
from taeda.utils.hooks import RemovableHandle

if TYPE_CHECKING:
    from taeda.jit.files.packaged import PackagedPrograms

__all__ = ["EmptyMatchError", "PackageExporter", "PackagingError", "PackagingErrorReason"]

ActionHook: TypeAlias = Callable[["PackageExporter", str], None]
_FORMAT_VERSION = 6  # of packages
_MOCKED = f"""\
from {MOCKS} import MockedObject


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return MockedObject(f"{{__name__}}.{{name}}", _suppress_err=True)
"""


class PackageExporter:
    """Writes a package: code, pickled objects and other data in one file.

    What the saved code imports, and what the pickles name, is followed module by module. Patterns say what becomes of
    each: `intern` puts it into the package, `extern` leaves it to the process that loads the package, `mock` replaces
    it, `deny` forbids it. The first pattern that matches decides; that of the library itself and of Python's standard
    library is `extern`. Use it in a ``with``, at whose end the package is whole.

    Args:
        f: a path, or a binary file open for writing.
        importer: where modules come from; several are asked in turn. To save again what came out of a package, put its
            `PackageImporter` before `sys_importer`.
        debug: whether errors say by which chain a module is needed.
    """

    def __init__(
        self, f: FileLike, importer: Importer | Sequence[Importer] = sys_importer, debug: bool = False
    ) -> None:
        self._opened: IO[bytes] | None = None
        file: Any = f
        stem = "archive"
        if isinstance(f, (str, os.PathLike)):
            stem = Path(f).stem or stem
            file = self._opened = open(f, "wb")  # noqa: SIM115 (closed with the package)
        self._archive = ArchiveWriter(file, stem, True, _FORMAT_VERSION, ".data/version")
        self._file = file
        self._names: set[str] = set()
        self.importer = importer if isinstance(importer, Importer) else OrderedImporter(*importer)
        self.debug = debug
        self._dependencies = Dependencies(self.importer)
        self._storages = PackageStorages()
        self._written_storages = 0
        self._programs: PackagedPrograms | None = None
        self._reductions: dict[int, tuple[Any, ...]] = {}
        self._alive: list[Any] = []  # what was reduced, so that ids stay its own
        self._ids = 0
        self._extern_hooks: OrderedDict[int, ActionHook] = OrderedDict()
        self._mock_hooks: OrderedDict[int, ActionHook] = OrderedDict()
        self._intern_hooks: OrderedDict[int, ActionHook] = OrderedDict()

    # What goes into the package

    def save_source_file(self, module_name: str, file_or_directory: str, dependencies: bool = True) -> None:
        """Puts a file of source, or all of a folder, into the package as a module.

        Args:
            module_name: what the module is to be called.
            file_or_directory: where it is; of a folder, every ``.py`` below it.
            dependencies: whether what it imports is needed, too.
        """
        path = Path(file_or_directory)
        if not path.is_dir():
            self.save_source_string(module_name, path.read_text(), False, dependencies)
            return
        for file in sorted(path.rglob("*.py")):
            inner = file.relative_to(path).with_suffix("").parts
            is_package = inner[-1] == "__init__"
            name = ".".join([module_name, *(inner[:-1] if is_package else inner)])
            self.save_source_string(name, file.read_text(), is_package, dependencies)

    def save_source_string(
        self, module_name: str, src: str, is_package: bool = False, dependencies: bool = True
    ) -> None:
        """Puts a text into the package as a module.

        Args:
            module_name: what the module is to be called.
            src: its source.
            is_package: whether it is a package, below which other modules are.
            dependencies: whether what it imports is needed, too.
        """
        self._dependencies.add_source(module_name, src, is_package, dependencies)

    def save_module(self, module_name: str, dependencies: bool = True) -> None:
        """Puts a module into the package; nothing else has to intern it.

        Args:
            module_name: the module.
            dependencies: whether what it imports is needed, too.
        """
        if not isinstance(module_name, str):
            raise TypeError(
                f"taeda.package.PackageExporter.save_module: wants the name of a module; got "
                f"{type(module_name).__name__}. A module's name is its __name__"
            )
        self._dependencies.intern(demangle(module_name), dependencies)

    def save_pickle(
        self, package: str, resource: str, obj: Any, dependencies: bool = True, pickle_protocol: int = 3
    ) -> None:
        """Puts an object into the package, pickled. Tensors of all its pickles share their storages.

        An object whose class has a method ``__reduce_package__(exporter)`` goes by what that returns: a function and
        arguments; the function is called with the importer before them.

        Args:
            package: below which package to put the file.
            resource: the file.
            obj: the object.
            dependencies: whether the modules of its classes are needed.
            pickle_protocol: of the pickle: 3 or 4.

        Raises:
            pickle.PicklingError: a class of the object is not found by the importers.
        """
        if pickle_protocol not in (3, 4):
            raise AssertionError(
                f"taeda.package.PackageExporter.save_pickle: pickle_protocol must be 3 or 4; got {pickle_protocol}"
            )
        pickler = PackagePickler(self.importer, self._storages, self._reduced, pickle_protocol)
        data = pickler.dumped(obj)
        if dependencies:
            node = f"<{package}.{resource}>"
            self.dependency_graph.add_node(node, action=Action.INTERN, pickle=True)
            for module in pickler.modules:
                self.dependency_graph.add_edge(node, module)
                self._dependencies.need(module)
                if self.dependency_graph.nodes[module].get("action") is Action.MOCK:
                    self._dependencies.fail(module, PackagingErrorReason.MOCKED_BUT_STILL_USED)
        self._write(_path(package, resource), data)
        self._write_storages()

    def save_text(self, package: str, resource: str, text: str) -> None:
        """Puts a text into the package, as the file ``resource`` below ``package``."""
        self.save_binary(package, resource, text.encode())

    def save_binary(self, package: str, resource: str, binary: bytes) -> None:
        """Puts bytes into the package, as the file ``resource`` below ``package``."""
        self._write(_path(package, resource), binary)

    def add_dependency(self, module_name: str, dependencies: bool = True) -> None:
        """Says that a module is needed, and leaves what becomes of it to the patterns."""
        self._dependencies.need(demangle(module_name), dependencies)

    def get_unique_id(self) -> str:
        """A text that no other call returns for this package."""
        self._ids += 1
        return str(self._ids - 1)

    # What becomes of modules

    def intern(self, include: GlobPattern, *, exclude: GlobPattern = (), allow_empty: bool = True) -> None:
        """Modules that match go into the package.

        Args:
            include: a pattern, or several; see `GlobGroup`.
            exclude: which of them do not match after all.
            allow_empty: False makes it an error at the end if nothing matched.
        """
        self._dependencies.add_pattern(Action.INTERN, include, exclude, allow_empty)

    def extern(self, include: GlobPattern, *, exclude: GlobPattern = (), allow_empty: bool = True) -> None:
        """Modules that match are imported by the process that loads the package. Arguments are as for `intern`."""
        self._dependencies.add_pattern(Action.EXTERN, include, exclude, allow_empty)

    def mock(self, include: GlobPattern, *, exclude: GlobPattern = (), allow_empty: bool = True) -> None:
        """Modules that match are replaced: they can be imported, and what is in them raises when it is used. Arguments
        are as for `intern`."""
        self._dependencies.add_pattern(Action.MOCK, include, exclude, allow_empty)

    def deny(self, include: GlobPattern, *, exclude: GlobPattern = ()) -> None:
        """Modules that match must not be needed. Arguments are as for `intern`."""
        self._dependencies.add_pattern(Action.DENY, include, exclude, True)

    def register_extern_hook(self, hook: ActionHook) -> RemovableHandle:
        """``hook(exporter, module_name)`` is told of each module left to the process; its handle removes it."""
        return _hooked(self._extern_hooks, hook)

    def register_mock_hook(self, hook: ActionHook) -> RemovableHandle:
        """``hook(exporter, module_name)`` is told of each module that is replaced; its handle removes it."""
        return _hooked(self._mock_hooks, hook)

    def register_intern_hook(self, hook: ActionHook) -> RemovableHandle:
        """``hook(exporter, module_name)`` is told of each module that goes into the package; its handle removes it."""
        return _hooked(self._intern_hooks, hook)

    # What is known so far

    @property
    def dependency_graph(self) -> DiGraph:
        """What needs what."""
        return self._dependencies.graph

    def dependency_graph_string(self) -> str:
        """The graph of what needs what, in the dot language."""
        return self.dependency_graph.to_dot()

    def externed_modules(self) -> list[str]:
        """The modules left to the process, sorted."""
        return sorted(self._dependencies.actions(Action.EXTERN))

    def interned_modules(self) -> list[str]:
        """The modules that go into the package, sorted."""
        return sorted(self._dependencies.actions(Action.INTERN))

    def mocked_modules(self) -> list[str]:
        """The modules that are replaced, sorted."""
        return sorted(self._dependencies.actions(Action.MOCK))

    def denied_modules(self) -> list[str]:
        """The modules that are needed and denied, sorted."""
        return sorted(self._dependencies.actions(Action.DENY))

    def get_rdeps(self, module_name: str) -> list[str]:
        """The modules that need this one; none if it is not needed."""
        known = module_name in self.dependency_graph
        return list(self.dependency_graph.predecessors(module_name)) if known else []

    def all_paths(self, src: str, dst: str) -> str:
        """How one module comes to need another, in the dot language."""
        return self.dependency_graph.all_paths(src, dst)

    # The end

    def __enter__(self) -> PackageExporter:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc_value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if exc_type is not None:  # which tells more than what is missing because of it
            self._finish()
            return
        self.close()

    def close(self) -> None:
        """Writes what is left: the modules. A ``with`` does it.

        Raises:
            PackagingError: some modules cannot go into the package.
            EmptyMatchError: a pattern that must match has not.
        """
        try:
            if any("error" in facts for facts in self.dependency_graph.nodes.values()):
                raise PackagingError(self.dependency_graph, debug=self.debug)
            self._dependencies.check_patterns()
            self._write_modules()
        finally:
            self._finish()

    def _write_modules(self) -> None:
        externed: list[str] = []

        def intern(name: str) -> None:
            self._tell(self._intern_hooks, name)
            facts = self.dependency_graph.nodes[name]
            self._write(_source_path(name, facts["is_package"]), facts["source"].encode())

        def mock(name: str, is_package: bool) -> None:
            self._tell(self._mock_hooks, name)
            self._write(_source_path(name, is_package), _MOCKED.encode())

        def extern(name: str) -> None:
            self._tell(self._extern_hooks, name)
            externed.append(name)

        self._dependencies.write_all(intern, mock, extern)
        if any(map(self._dependencies.actions, (Action.MOCK, Action.REPACKAGED_MOCK_MODULE))):
            self._write(f"{MOCKS}.py", Path(__file__).with_name("_mock.py").read_bytes())
        self._write(".data/extern_modules", "".join(f"{name}\n" for name in externed).encode())
        self._write(".data/python_version", platform.python_version().encode())
        self._write("byteorder", sys.byteorder.encode())
        if self._programs is not None:
            self._programs.finish()
            self._write_storages()

    def _finish(self) -> None:
        self._archive.finish()
        if self._opened is not None:
            self._opened.close()
        elif hasattr(self._file, "flush"):
            self._file.flush()

    def _tell(self, hooks: OrderedDict[int, ActionHook], name: str) -> None:
        for hook in list(hooks.values()):
            hook(self, name)

    def _reduced(self, obj: Any) -> tuple[Any, ...]:
        """What pickles say in place of an object with a ``__reduce_package__``."""
        if id(obj) not in self._reductions:
            self._alive.append(obj)
            self._reductions[id(obj)] = (REDUCTION, len(self._reductions), *obj.__reduce_package__(self))
        return self._reductions[id(obj)]

    def _save_program(self, module: Any) -> str:
        """Puts a compiled module into the package; returns the id that it has there."""
        from taeda.jit.files.packaged import PackagedPrograms

        if self._programs is None:
            self._programs = PackagedPrograms(self._write, self._storages)
        id = self.get_unique_id()
        self._programs.add(module, id)
        return id

    def _write(self, name: str, data: bytes) -> None:
        if name in self._names:
            raise AssertionError(f"taeda.package.PackageExporter: the package has a file {name!r} already")
        self._names.add(name)
        self._archive.write(name, data)

    def _write_storages(self) -> None:
        """Writes those storages that no pickle named before."""
        for key in range(self._written_storages, len(self._storages.storages)):
            storage = self._storages.storages[key]
            self._archive.write(
                f".data/{key}.storage", bytes_of(storage if storage.device.type == "cpu" else storage.cpu())
            )
        self._written_storages = len(self._storages.storages)


def _hooked(hooks: OrderedDict[int, ActionHook], hook: ActionHook) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def _path(package: str, resource: str) -> str:
    return f"{package.replace('.', '/')}/{resource}"


def _source_path(module: str, is_package: bool) -> str:
    return module.replace(".", "/") + ("/__init__.py" if is_package else ".py")
