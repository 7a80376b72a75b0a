"""Why modules were wanted that could not be packaged."""

from __future__ import annotations

from taeda.package._errors import PackagingError


def find_first_use_of_broken_modules(exc: PackagingError) -> dict[str, list[str]]:
    """For each module that an error complains of, the chain of modules by which it is needed.

    Raises:
        AssertionError: the error is none of packaging.
    """
    if not isinstance(exc, PackagingError):
        raise AssertionError(
            f"taeda.package.analyze.find_first_use_of_broken_modules: wants a PackagingError; got {type(exc).__name__}"
        )
    graph = exc.dependency_graph
    return {name: graph.first_path(name) for name, facts in graph.nodes.items() if "error" in facts}
