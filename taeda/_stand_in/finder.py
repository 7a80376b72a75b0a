"""Taeda under the name ``torch``: what `install_as_torch` puts into Python's import system.

Every module of Taeda is entered into ``sys.modules`` a second time, under torch's name, as it loads. There is one
module object, so classes are identical whatever name led to them. A module that has not loaded yet `Finder` finds.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import taeda
from taeda._stand_in import private

_HEAP_TYPE = 1 << 9  # of a class that was made at run time, unlike those of C
NATIVE = {"torch._C._distributed_c10d": "taeda.distributed._c10d"}  # what PyTorch has in C++, by where it is here
_HINT = f"Taeda {taeda.__version__} does not have it; see docs/coverage.md"


def _is(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def _torchs(name: str) -> str:
    """torch's name of a module, which may be told by Taeda's."""
    return f"torch{name.removeprefix('taeda')}" if _is(name, "taeda") else name


def _rename(module: ModuleType) -> None:
    """Lets the module's classes and functions say that they are torch's: ``<class 'torch.Tensor'>``."""
    for value in vars(module).values():
        if isinstance(value, (type, FunctionType, BuiltinFunctionType)) and _is(value.__module__ or "", "taeda"):
            if isinstance(value, type) and not value.__flags__ & _HEAP_TYPE:
                taeda._C._set_type_module(value, _torchs(value.__module__))
            else:
                value.__module__ = _torchs(value.__module__)


def _enter(name: str) -> None:
    """Enters the loaded module ``name`` under torch's name too; what is missing and what is there are told by it."""
    module = sys.modules[name]
    sys.modules.setdefault(_torchs(name), module)
    _rename(module)
    if not isinstance(module, ModuleType):
        return
    own = vars(module).get("__getattr__")

    def __getattr__(attribute: str) -> Any:
        reason = _HINT
        if own is not None:
            try:
                return own(attribute)
            except AttributeError as error:
                reason = _HINT if "has no attribute" in str(error) else str(error)
        if not (attribute.startswith("__") or getattr(module.__spec__, "_initializing", False)):
            with suppress(LookupError):
                return private.find(name.partition(".")[2], attribute)
        text = f"module '{_torchs(name)}' has no attribute '{attribute}'"
        if not attribute.startswith("__"):
            text += f": {reason}"
        raise AttributeError(text, name=attribute, obj=module)

    module.__getattr__ = __getattr__  # type: ignore[method-assign]


class _Then(SourceFileLoader):
    """Loads a module from its source and calls ``then`` with its name."""

    then: Callable[[str], None]

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        self.then(module.__name__)


class _Alias:
    """The loader of a ``torch`` name: its module is Taeda's module ``there``, whose own spec and loader stay."""

    def __init__(self, there: str) -> None:
        self.there = there

    def create_module(self, spec: ModuleSpec) -> None:
        """Leaves it to Python, whose new module `exec_module` replaces."""

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = importlib.import_module(self.there)

    def _inner(self) -> Any:
        spec = importlib.util.find_spec(self.there)
        return spec.loader if spec else None

    def get_code(self, fullname: str) -> CodeType | None:
        return self._inner().get_code(self.there)

    def get_source(self, fullname: str) -> str | None:
        return self._inner().get_source(self.there)

    def is_package(self, fullname: str) -> bool:
        return bool(self._inner().is_package(self.there))


def _importers() -> tuple[list[str], FrameType | None]:
    """The functions of the import system that led to `Finder.find_spec`, innermost first, and who called them."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    names = []
    while frame is not None and frame.f_code.co_filename == "<frozen importlib._bootstrap>":
        names.append(frame.f_code.co_name)
        frame = frame.f_back
    return names, frame


def _is_import_statement(frame: FrameType | None) -> bool:
    from opcode import opmap

    return frame is not None and frame.f_code.co_code[frame.f_lasti] == opmap["IMPORT_NAME"]


def _refuse_name(fullname: str) -> None:
    """ImportError in ``from torch import name``, which asks for a module of that name when there is no attribute."""
    asked, frame = _importers()
    if "_handle_fromlist" in asked and _is_import_statement(frame):
        package, _, name = fullname.rpartition(".")
        raise ImportError(f"cannot import name '{name}' from '{_torchs(package)}': {_HINT}", name=package)


class Finder:
    """Answers for ``torch`` and all below it, and sees the modules of Taeda go by."""

    def find_spec(self, fullname: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if _is(fullname, "torch"):
            return self._find_ours(fullname)
        if fullname.startswith("taeda."):
            return self._find_and_enter(fullname, path, target)
        if _is(fullname, "functorch"):  # PyTorch brings this package along; an installed one goes first
            installed = self._find_elsewhere(fullname, path, target)
            return installed or self._find_at(fullname, f"taeda._stand_in.{fullname}")
        if fullname == "multiprocessing.spawn":
            return _then(self._find_elsewhere(fullname, path, target), _tell_workers)
        return None

    def _find_ours(self, fullname: str) -> ModuleSpec | None:
        there = NATIVE.get(fullname, f"taeda{fullname.removeprefix('torch')}")
        return self._find_at(fullname, private.whole(fullname.partition(".")[2]) or there)

    def _find_at(self, fullname: str, there: str) -> ModuleSpec | None:
        """The module ``there`` by the name ``fullname``."""
        try:
            spec = importlib.util.find_spec(there)
        except ModuleNotFoundError as missing:
            if not _is(missing.name or "", "taeda"):
                raise  # the parent is there, but lacks something itself
            spec = None
        except ValueError:  # a module without a spec: it was made, not loaded
            spec = ModuleSpec(there, None)
        if spec is not None:
            package = spec.submodule_search_locations is not None
            loader: Any = _Alias(there)
            return ModuleSpec(fullname, loader, origin=spec.origin, is_package=package)
        # To a mere question (importlib.util.find_spec) the answer is None. An import gets an error that says more than
        # Python's own.
        _refuse_name(fullname)
        if "_find_and_load_unlocked" in _importers()[0]:
            raise ModuleNotFoundError(f"No module named '{fullname}': {_HINT}", name=fullname)
        return None

    def _find_and_enter(self, fullname: str, path: Any, target: ModuleType | None) -> ModuleSpec | None:
        spec = self._find_elsewhere(fullname, path, target)
        if spec is None:
            _refuse_name(fullname)
        return _then(spec, _enter)

    def _find_elsewhere(self, fullname: str, path: Any, target: ModuleType | None) -> ModuleSpec | None:
        """What the other finders say."""
        for finder in sys.meta_path:
            if finder is not self and (spec := finder.find_spec(fullname, path, target)) is not None:
                return spec
        return None

    def find_distributions(self, context: Any = None) -> Iterable[Any]:
        """For `importlib.metadata`, which asks every finder: the distribution named torch."""
        from taeda._stand_in.metadata import distributions

        return distributions(context)


def _then(spec: ModuleSpec | None, then: Callable[[str], None]) -> ModuleSpec | None:
    """``spec``, made to call ``then`` with the module's name once the module is loaded."""
    if spec is not None and type(spec.loader) is SourceFileLoader:
        loader = _Then(spec.loader.name, spec.loader.path)
        loader.then = then
        spec.loader = loader
    return spec


class _InstallAgain:
    """Unpickling it installs Taeda as torch: it travels to a worker process ahead of the main module and the work."""

    def __reduce__(self) -> tuple[Any, ...]:
        folder = os.path.dirname(taeda.__path__[0])
        code = (
            f"import sys\nsys.path.insert(0, {folder!r})\ntry:\n    import taeda\n"
            f"finally:\n    sys.path.remove({folder!r})\ntaeda.install_as_torch()"
        )
        return exec, (code, {})


def _tell_workers(name: str = "multiprocessing.spawn") -> None:
    """Sends `_InstallAgain` with all that a process started by spawn or forkserver is prepared with."""
    spawn: Any = sys.modules[name]
    prepare = spawn.get_preparation_data

    def get_preparation_data(name: str) -> dict[str, Any]:
        # First of all entries: the others may need what it does when they are unpickled.
        data = {"taeda": _InstallAgain()} | prepare(name)
        if name == "ignore":  # forkserver asks what main module its server, which unpickles nothing, should preload
            data.pop("init_main_from_path", None)
        return data

    spawn.get_preparation_data = get_preparation_data


def _log_api_usage_once(event: str) -> None:
    """Libraries that belong to PyTorch tell it that they are used. Here, too, nobody listens."""


def install_as_torch() -> None:
    """From now on ``import torch`` gives Taeda in this process and in those that `multiprocessing` starts from it.

    ``torch`` and every module below it are Taeda's own module objects: ``torch.nn.Linear is taeda.nn.Linear``. The
    version that they tell is that of the PyTorch whose behaviour they follow, also through `importlib.metadata`. What
    Taeda lacks raises ``ImportError`` or ``AttributeError``. A PyTorch that is installed beside it stays as it is, but
    cannot be imported any more. Calling this twice does nothing.

    Raises:
        RuntimeError: PyTorch has been imported already.
    """
    if any(isinstance(finder, Finder) for finder in sys.meta_path):
        return
    other = next((module for name, module in sys.modules.items() if _is(name, "torch")), None)
    if other is not None:
        raise RuntimeError(
            f"taeda.install_as_torch: {getattr(other, '__name__', 'torch')} has been imported already, from "
            f"{getattr(other, '__file__', 'an unknown file')}; call this before anything imports it"
        )
    from taeda import torch_version, version
    from taeda._stand_in import extensions

    extensions.watch()
    for name in [name for name in sys.modules if _is(name, "taeda")]:
        _enter(name)
    sys.meta_path.insert(0, Finder())
    if "multiprocessing.spawn" in sys.modules:
        _tell_workers()
    taeda.__version__ = version.__version__ = torch_version.__version__
    taeda.__name__ = "torch"
    taeda.torch = taeda  # type: ignore[attr-defined]  # programs that write torch.torch.Tensor
    taeda._C.__path__ = []  # type: ignore[attr-defined]  # so that the finder is asked for what is in it
    taeda._C._log_api_usage_once = _log_api_usage_once  # type: ignore[attr-defined]
