"""A pass on a text, and what comes out."""

import re
import textwrap

from taeda.jit.ir import Graph, parse_ir


def canonical(graph: Graph) -> str:
    """The graph's text with values numbered as they appear."""
    names: dict[str, str] = {}
    return re.sub(r"%[\w.]+", lambda m: names.setdefault(m[0], f"%{len(names)}"), graph.str(False))


def text(body: str) -> str:
    """A graph's text as tests write it: without indentation."""
    return textwrap.dedent(body).strip() + "\n"


def check(change, before: str, after: str | None) -> None:
    """``change`` makes ``after`` of ``before``, says that it did, and finds nothing more to do. None: it changes
    nothing."""
    graph = parse_ir(text(before))
    expected = canonical(parse_ir(text(before if after is None else after)))
    assert change(graph) is (after is not None)
    graph.lint()
    assert canonical(graph) == expected
    assert not change(graph) or after is None
    assert canonical(graph) == expected
