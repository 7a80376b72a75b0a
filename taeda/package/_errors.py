"""What keeps a package from being written."""

from __future__ import annotations

from enum import Enum

from taeda.package._digraph import DiGraph


class PackagingErrorReason(Enum):
    """Why a module cannot be packaged."""

    IS_EXTENSION_MODULE = "compiled extensions cannot be packaged: extern them"
    NO_DUNDER_FILE = "modules without a __file__ cannot be packaged: extern them"
    SOURCE_FILE_NOT_FOUND = "the source of these modules was not found"
    DEPENDENCY_RESOLUTION_FAILED = "what these modules import could not be found out"
    NO_ACTION = "no pattern says what to do with these modules: intern, extern or mock them"
    DENIED = "a pattern denies these modules"
    MOCKED_BUT_STILL_USED = "pickled objects need these modules, which a pattern mocks: intern or extern them"

    def __repr__(self) -> str:
        return f"<{type(self).__name__}.{self.name}>"


class EmptyMatchError(Exception):
    """A pattern with ``allow_empty=False`` matched no module."""


class PackagingError(Exception):
    """Some modules that a package needs cannot go into it.

    Attributes:
        dependency_graph: what needs what; the nodes of these modules say why.
    """

    def __init__(self, dependency_graph: DiGraph, debug: bool = False) -> None:
        self.dependency_graph = dependency_graph
        broken: dict[PackagingErrorReason, list[str]] = {}
        for name, facts in dependency_graph.nodes.items():
            if "error" in facts:
                broken.setdefault(facts["error"], []).append(name)
        lines = ["taeda.package: the package cannot be written"]
        for reason, names in broken.items():
            lines.append(f"* {reason.value}")
            for name in names:
                lines.append(f"    {name}")
                if context := dependency_graph.nodes[name].get("error_context"):
                    lines.append(f"      ({context})")
                if debug:
                    lines.append(f"      needed by {' -> '.join(map(str, dependency_graph.first_path(name)))}")
        if not debug:
            lines.append("PackageExporter(..., debug=True) says what needs these modules")
        super().__init__("\n".join(lines))
