"""Running what is in packages."""

from __future__ import annotations

import builtins
import importlib.util
import inspect
import linecache
import os
import sys
import weakref
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from taeda._serialization import names
from taeda._serialization.archive import Damaged
from taeda._serialization.file_reader import PyTorchFileReader
from taeda._serialization.locations import restorer
from taeda._serialization.storages import StorageLoader
from taeda.package._dependencies import IMPORTER
from taeda.package._directory_reader import DirectoryReader
from taeda.package._mangling import PackageMangler, demangle, get_mangle_prefix, is_mangled
from taeda.package._pickling import REDUCTION, STORAGE, PackageUnpickler
from taeda.package._resources import PackageResourceReader
from taeda.package.file_structure_representation import Directory, _create_directory_from_file_list
from taeda.package.glob_group import GlobPattern
from taeda.package.importer import Importer

__all__ = ["PackageImporter"]

# What native code imports, as if the code of the package that called it did.
_ALWAYS = ("builtins", "numpy", names.HERE)


class PackageImporter(Importer):
    """Imports the code and loads the data of a package.

    What a package has is imported from it alone; modules that it leaves to the process come from there, and no others.
    A package runs its own code: load none that you do not trust.

    Args:
        file_or_buffer: a path (of a file, or of a folder that one was unpacked into), a binary file that can seek, or
            a `taeda.PyTorchFileReader`.
        module_allowed: says of each module that the package leaves to the process whether it may have it.

    Raises:
        ImportError: it may not.
        RuntimeError: there is no such file, or it is no package.

    Attributes:
        zip_reader: the records of the file.
        modules: what was imported so far.
        extern_modules: what the package leaves to the process.
    """

    def __init__(self, file_or_buffer: Any, module_allowed: Callable[[str], bool] = lambda module_name: True) -> None:
        self.filename = "<binary>"
        self.zip_reader: Any = file_or_buffer
        if isinstance(file_or_buffer, (str, os.PathLike)):
            self.filename = os.fspath(file_or_buffer)
            is_folder = os.path.isdir(self.filename)
            self.zip_reader = (DirectoryReader if is_folder else PyTorchFileReader)(self.filename)
        elif not isinstance(file_or_buffer, PyTorchFileReader):
            self.zip_reader = PyTorchFileReader(file_or_buffer)
        self.extern_modules = self._text(".data/extern_modules").splitlines()
        for name in self.extern_modules:
            if not module_allowed(name):
                raise ImportError(
                    f"taeda.package.PackageImporter: the package {self.filename} wants the module {name!r} of this "
                    "process, which module_allowed refuses"
                )
        self._mangler = PackageMangler()
        self._places = _places(self.zip_reader.get_all_records(), self.extern_modules)
        self.modules: dict[str, Any] = {IMPORTER: self}
        self.patched_builtins = {**vars(builtins), "__import__": self.__import__}
        self._loading: _Loading | None = None
        _importers[self.id()] = self

    def __repr__(self) -> str:
        return f"PackageImporter({self.filename!r})"

    # Data

    def import_module(self, name: str, package: str | None = None) -> Any:
        """A module of the package, or one that it leaves to the process.

        Args:
            name: the module; relative ones begin with a dot.
            package: what relative names start from.

        Raises:
            ModuleNotFoundError: the package neither has it nor leaves it to the process.
        """
        if name.startswith("."):
            name = importlib.util.resolve_name(name, demangle(package) if package else package)
        return self._imported(demangle(name))

    def load_binary(self, package: str, resource: str) -> bytes:
        """The bytes of the file ``resource`` below ``package``; RuntimeError if there is none."""
        record: bytes = self.zip_reader.get_record(f"{package.replace('.', '/')}/{resource}")
        return record

    def load_text(self, package: str, resource: str, encoding: str = "utf-8", errors: str = "strict") -> str:
        """The text of the file ``resource`` below ``package``.

        Args:
            package: where it is.
            resource: the file.
            encoding: how bytes became of it.
            errors: what to do with bytes that did not, as for ``bytes.decode``.
        """
        return self.load_binary(package, resource).decode(encoding, errors)

    def load_pickle(self, package: str, resource: str, map_location: Any = None) -> Any:
        """The object that `PackageExporter.save_pickle` saved there; its classes are those of the package.

        Args:
            package: where it is.
            resource: the file.
            map_location: where tensors go, as for `taeda.load`.
        """
        data = self.load_binary(package, resource)
        before, self._loading = self._loading, _Loading(self, map_location)
        try:
            return PackageUnpickler(self, data, self._loading.load).load()
        finally:
            self._loading = before

    def id(self) -> str:
        """What the names of the package's modules begin with in this process, which those of no other package do."""
        return self._mangler.parent_name()

    def python_version(self) -> str | None:
        """The version of Python that wrote the package; None if it does not say."""
        record = ".data/python_version"
        return self._text(record).strip() if self.zip_reader.has_record(record) else None

    def file_structure(self, *, include: GlobPattern = "**", exclude: GlobPattern = ()) -> Directory:
        """The files of the package, as a tree that prints.

        Args:
            include: patterns of paths, as for `GlobGroup` with slashes.
            exclude: patterns of those that are left out.
        """
        return _create_directory_from_file_list(self.filename, self.zip_reader.get_all_records(), include, exclude)

    # What Python asks a loader

    def get_source(self, module_name: str) -> str:
        """The source of a module of the package; ImportError if it has none."""
        place = self._places.get(demangle(module_name))
        if place is None or place.record is None:
            raise ImportError(f"the package {self.filename} has no source of {demangle(module_name)}")
        return self._text(place.record)

    def get_resource_reader(self, fullname: str) -> PackageResourceReader | None:
        """The files beside a package's modules, for ``importlib.resources``; None if there is no such package."""
        name = demangle(fullname)
        place = self._places.get(name)
        known = place is not None and place.is_package and not place.is_extern
        return PackageResourceReader(self, name) if known else None

    def _text(self, record: str) -> str:
        data: bytes = self.zip_reader.get_record(record)
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise Damaged(f"{record} is no text ({error})", "package") from error

    # Importing

    def _imported(self, name: str) -> Any:
        """A module by its full name, with all that it is below."""
        if name in self.modules:
            return self.modules[name]
        parent, _, last = name.rpartition(".")
        above = self._imported(parent) if parent else None
        if name in self.modules:  # which its parent imported
            return self.modules[name]
        module = self._made(name)
        if above is not None and not hasattr(above, last):
            setattr(above, last, module)
        return module

    def _made(self, name: str) -> Any:
        if self._is_extern(name):
            module = self.modules[name] = _of_process(name)
            return module
        place = self._places.get(name)
        if place is None:
            raise ModuleNotFoundError(
                f"the package {self.filename} has no module {name!r}, and does not leave it to the process, as it does "
                f"{', '.join(self.extern_modules) or 'no module'}",
                name=name,
            )
        return self._run(name, place)

    def _is_extern(self, name: str) -> bool:
        """Whether a module, or one that it is below, is left to the process."""
        parts = name.split(".")
        if parts[0] in _ALWAYS and parts[0] not in self._places:
            return True
        if parts[0] == names.FILE_ROOT:  # where one module of it is, all are
            return any(extern.partition(".")[0] == parts[0] for extern in self.extern_modules)
        above = (self._places.get(".".join(parts[:i])) for i in range(1, len(parts) + 1))
        return any(place is not None and place.is_extern for place in above)

    def _run(self, name: str, place: _Place) -> ModuleType:
        """Makes a module and runs its source, if it has any."""
        mangled = self._mangler.mangle(name)
        spec = ModuleSpec(mangled, self, is_package=place.is_package)  # type: ignore[arg-type]
        module = importlib.util.module_from_spec(spec)
        space = vars(module)
        space.update(__loader__=self, __torch_package__=True, __builtins__=self.patched_builtins, __file__=None)
        self.modules[name] = module
        if place.record is None:
            return module
        space["__file__"] = file = f"{self.id()}.{place.record}"
        source = self._text(place.record)
        linecache.cache[file] = (
            len(source),
            None,
            source.splitlines(True),
            file,
        )  # not lazily, by a loader: it lives on
        weakref.finalize(self, linecache.cache.pop, file, None).atexit = False
        try:
            exec(compile(source, file, "exec", dont_inherit=True), space)
        except BaseException:
            self.modules.pop(name, None)
            raise
        return module

    def create_module(self, spec: ModuleSpec) -> None:
        """Modules are plain ones."""

    def exec_module(self, module: ModuleType) -> None:
        """Modules of packages are run where they are imported; Python's machinery has nothing to do."""

    def __import__(self, name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        """The ``import`` of code in the package."""
        whole = name
        if level:
            whole = importlib.util.resolve_name("." * level + name, demangle(_package_of(globals or {})))
        module = self._imported(whole)
        if not fromlist:
            above = len(name.split(".")) - 1
            return self._imported(".".join(whole.split(".")[:-above])) if above else module
        if hasattr(module, "__path__"):
            self._import_parts(whole, module, fromlist)
        return module

    def _import_parts(self, name: str, module: Any, parts: Any) -> None:
        """Imports those of the names that are modules below one."""
        for part in parts:
            if part == "*":
                self._import_parts(name, module, getattr(module, "__all__", ()))
            elif not hasattr(module, part):
                try:
                    self._imported(f"{name}.{part}")
                except ModuleNotFoundError as missing:
                    if missing.name != f"{name}.{part}":
                        raise


class _Place:
    """Where a module is: a record with source, a folder with others below it, or the process."""

    def __init__(self) -> None:
        self.record: str | None = None
        self.is_package = False
        self.is_extern = False


def _places(records: list[str], externs: list[str]) -> dict[str, _Place]:
    """The modules that a package has or leaves to the process, by name."""
    found: dict[str, _Place] = {}

    def place(parts: list[str]) -> _Place:
        for i in range(1, len(parts)):
            found.setdefault(".".join(parts[:i]), _Place()).is_package = True
        return found.setdefault(".".join(parts), _Place())

    for record in records:
        *folders, file = record.split("/")
        if folders[:1] == [".data"]:
            continue
        if file == "__init__.py" and folders:
            package = place(folders)
            package.record, package.is_package = record, True
        elif file.endswith(".py"):
            place([*folders, file.removesuffix(".py")]).record = record
        elif folders:
            place(folders).is_package = True
    for name in externs:
        place(name.split(".")).is_extern = True
    return found


def _of_process(name: str) -> Any:
    """A module of the process. The library goes by PyTorch's name, too."""
    if name.partition(".")[0] == names.FILE_ROOT and sys.modules.get(names.FILE_ROOT) is not sys.modules[names.HERE]:
        name = names.module_here(name)
    return importlib.import_module(name)


def _package_of(space: dict[str, Any]) -> str:
    """The package that relative imports in a module start from."""
    if space.get("__package__") is not None:
        return str(space["__package__"])
    name = str(space.get("__name__", ""))
    return name if "__path__" in space else name.rpartition(".")[0]


class _Loading:
    """One pickle that is being loaded: its storages, and what its reductions made."""

    def __init__(self, importer: PackageImporter, map_location: Any) -> None:
        self._importer = importer
        self._made: dict[Any, Any] = {}
        self._storages: Any = StorageLoader(
            importer.zip_reader._archive, restorer(map_location), None, False, ".data"
        )  # fmt: skip

    def load(self, saved: Any) -> Any:
        """What a pickle says by a persistent id."""
        if isinstance(saved, tuple) and len(saved) == 5 and saved[0] == STORAGE:
            tag, kind, key, *rest = saved
            return self._storages.load((tag, kind, f"{key}.storage", *rest))
        if isinstance(saved, tuple) and len(saved) == 4 and saved[0] == REDUCTION:
            _, number, rebuild, args = saved
            if number not in self._made:
                self._made[number] = rebuild(self._importer, *args)
            return self._made[number]
        raise Damaged("a pickle names something in a form that is not known", "package")

    def program(self, id: str) -> Any:
        """A compiled module of the package."""
        from taeda.jit.files.packaged import load_packaged

        if isinstance(self._importer.zip_reader, DirectoryReader):
            raise RuntimeError(
                "taeda.package.PackageImporter: compiled modules are loaded from packages that are files; this one was "
                "unpacked into a folder"
            )
        if ("program", id) not in self._made:
            self._made["program", id] = load_packaged(self._importer.zip_reader._archive, id, self._storages.load)
        return self._made["program", id]


_importers: weakref.WeakValueDictionary[str, PackageImporter] = weakref.WeakValueDictionary()  # by their ids
_getfile = inspect.getfile


def _getfile_of_packages(object: Any) -> str:
    """``inspect.getfile``, which else does not find the modules of packages' classes: they are not in sys.modules."""
    if isinstance(object, type) and is_mangled(str(object.__module__)):
        importer = _importers.get(get_mangle_prefix(object.__module__))
        module = importer.modules.get(demangle(object.__module__)) if importer is not None else None
        if getattr(module, "__file__", None) is not None:
            return str(module.__file__)  # type: ignore[union-attr]
    return _getfile(object)


inspect.getfile = _getfile_of_packages
