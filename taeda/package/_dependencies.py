"""What modules a package needs, and what becomes of each."""

from __future__ import annotations

import importlib.machinery
import sys
from collections.abc import Callable
from enum import Enum
from types import ModuleType
from typing import Any

from taeda._serialization import names
from taeda.package._digraph import DiGraph
from taeda.package._errors import EmptyMatchError, PackagingErrorReason
from taeda.package._mangling import demangle
from taeda.package.find_file_dependencies import find_files_source_depends_on
from taeda.package.glob_group import GlobGroup, GlobPattern
from taeda.package.importer import Importer

IMPORTER, MOCKS = "torch_package_importer", "_mock"  # modules that every package has, or may have
_UNSAFE = ("sys", "io")  # of the standard library, but a package takes them only where a pattern says so


class Action(Enum):
    """What becomes of a module."""

    INTERN = 1
    EXTERN = 2
    MOCK = 3
    DENY = 4
    REPACKAGED_MOCK_MODULE = 5
    SKIP = 6


class _Pattern:
    def __init__(self, glob: GlobGroup, action: Action, allow_empty: bool) -> None:
        self.glob, self.action = glob, action
        self.was_matched = allow_empty


class Dependencies:
    """The graph of modules that need each other, and the patterns that decide.

    Args:
        importer: where modules come from.
    """

    def __init__(self, importer: Importer) -> None:
        self._importer = importer
        self._patterns: list[_Pattern] = []
        self.graph = DiGraph()

    def add_pattern(self, action: Action, include: GlobPattern, exclude: GlobPattern, allow_empty: bool) -> None:
        """From now on modules that match, and no earlier pattern, are treated so."""
        self._patterns.append(_Pattern(GlobGroup(include, exclude=exclude), action, allow_empty))

    def check_patterns(self) -> None:
        """Raises EmptyMatchError where a pattern that must match has not."""
        for pattern in self._patterns:
            if not pattern.was_matched:
                raise EmptyMatchError(
                    f"taeda.package: the pattern of {pattern.action.name.lower()}, {pattern.glob}, matched no module; "
                    "drop it, mend it, or say allow_empty=True"
                )

    def actions(self, action: Action) -> list[str]:
        """The modules that are treated so, in the order of their coming."""
        return [
            name for name, facts in self.graph.nodes.items() if facts.get("action") is action and "pickle" not in facts
        ]

    def need(self, name: str, recursive: bool = True) -> None:
        """A module is needed; the first pattern that it matches decides.

        Args:
            name: the module.
            recursive: whether what an interned one imports is needed, too.
        """
        if "action" in self.graph.nodes.get(name, ()) or "error" in self.graph.nodes.get(name, ()):
            return
        action = self._decided(name)
        if action is None:
            self.fail(name, PackagingErrorReason.NO_ACTION)
        elif action is Action.DENY:
            self.graph.add_node(name, action=action)
            self.fail(name, PackagingErrorReason.DENIED)
        elif action is Action.INTERN:
            self.intern(name, recursive)
        else:
            self.graph.add_node(name, action=action)

    def _decided(self, name: str) -> Action | None:
        if name == IMPORTER:
            return Action.SKIP
        if name == MOCKS:
            return Action.REPACKAGED_MOCK_MODULE
        top = name.partition(".")[0]
        if top in (names.FILE_ROOT, names.HERE) or (top in sys.stdlib_module_names and top not in _UNSAFE):
            return Action.EXTERN
        for pattern in self._patterns:
            if pattern.glob.matches(name):
                pattern.was_matched = True
                return pattern.action
        return None

    def fail(self, name: str, reason: PackagingErrorReason, context: str = "") -> None:
        """A module cannot be packaged."""
        self.graph.add_node(name, error=reason, error_context=context)

    def intern(self, name: str, recursive: bool = True) -> None:
        """A module goes into the package, with its source.

        Raises:
            ModuleNotFoundError: there is no such module.
        """
        module: Any = self._importer.import_module(name)
        source = _source_of(module, name)
        if source is None:
            self.graph.add_node(name, action=Action.INTERN)
            self.fail(name, *_why_without(module, name))
            return
        self.add_source(name, source, hasattr(module, "__path__"), recursive)

    def add_source(self, name: str, source: str, is_package: bool, recursive: bool) -> None:
        """A source text goes into the package as a module."""
        self.graph.add_node(name, action=Action.INTERN, source=source, is_package=is_package)
        if recursive:
            for needed in self._imports(name, source, is_package):
                self.graph.add_edge(name, needed)
                self.need(needed)

    def _imports(self, name: str, source: str, is_package: bool) -> list[str]:
        """The modules that a source imports, as far as there are such modules."""
        package = name if is_package else name.rpartition(".")[0]
        try:
            pairs = find_files_source_depends_on(source, package)
        except (SyntaxError, ValueError) as error:
            self.fail(name, PackagingErrorReason.DEPENDENCY_RESOLUTION_FAILED, str(error))
            return []
        whole = (self._module_of(module, part) for module, part in pairs)
        return list(dict.fromkeys(found for found in whole if found is not None))

    def _module_of(self, name: str, part: str | None) -> str | None:
        """The module that an import needs: one below ``name`` if its part is a module; None if there is none."""
        if name == IMPORTER:
            return name
        module = self._found(name)
        if part is None or module is None:
            return name if module is not None else None
        if hasattr(module, part) and not isinstance(getattr(module, part), ModuleType):
            return name
        return f"{name}.{part}" if self._found(f"{name}.{part}") is not None else name

    def _found(self, name: str) -> Any:
        """The module of a name, which is imported for it; None if that fails."""
        try:
            return self._importer.import_module(name)
        except Exception:  # of whatever it does when it is imported
            return None

    def write_all(self, intern: Callable[[str], None], mock: Callable[[str, bool], None],
                  extern: Callable[[str], None]) -> None:  # fmt: skip
        """Hands each module to the one who treats it."""
        for name, facts in list(self.graph.nodes.items()):
            action = facts.get("action")
            if action is Action.INTERN and "source" in facts:
                intern(name)
            elif action is Action.MOCK:
                mock(name, self._is_package(name))
            elif action is Action.EXTERN:
                extern(name)

    def _is_package(self, name: str) -> bool:
        return hasattr(self._importer.import_module(name), "__path__")


def _source_of(module: Any, name: str) -> str | None:
    """The text of a module, by its loader, else from its file."""
    loader: Any = getattr(module, "__loader__", None)
    if hasattr(loader, "get_source"):
        try:
            return loader.get_source(demangle(module.__name__))  # type: ignore[no-any-return]
        except ImportError:
            pass
    file = getattr(module, "__file__", None)
    if file is None or not str(file).endswith(".py"):
        return None
    import linecache

    return "".join(linecache.getlines(file, vars(module))) or None


def _why_without(module: Any, name: str) -> tuple[PackagingErrorReason, str]:
    """Why a module has no source, and what helps."""
    file = getattr(module, "__file__", None)
    if name.partition(".")[0] in _UNSAFE:
        return (
            PackagingErrorReason.NO_DUNDER_FILE,
            f"{name} gives packaged code access to the system: extern it if it may",
        )
    if file is None:
        return PackagingErrorReason.NO_DUNDER_FILE, ""
    if str(file).endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES)):
        return PackagingErrorReason.IS_EXTENSION_MODULE, ""
    return PackagingErrorReason.SOURCE_FILE_NOT_FOUND, f"its file is {file}"
