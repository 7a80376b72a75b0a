"""Which sizes of a program may vary, and which change of ``dynamic_shapes`` would help: found by trying."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda.export.dynamic_shapes import Dim, Wish, Wishes, over

TRIES = 8
MOST_AUTOMATIC = 12


def most_varying(works: Callable[[Wishes], bool], wishes: Wishes) -> Wishes:
    """Fixes automatic sizes until the program allows for the rest: one of them if that is enough, else as many as must.

    The program is recorded up to twice for each.
    """
    automatic = [key for key, wish in wishes.items() if wish.is_auto]
    kept = {key: wish for key, wish in wishes.items() if not wish.is_auto}
    if len(automatic) > MOST_AUTOMATIC:
        return kept
    for fixed in automatic if len(automatic) > 1 else ():
        rest = {key: wish for key, wish in wishes.items() if key != fixed}
        if works(rest):
            return rest
    for key in automatic if len(automatic) > 2 else ():
        more = kept | {key: wishes[key]}
        if works(more):
            kept = more
    return kept


def suggested_fixes(works: Callable[[Wishes], bool], wishes: Wishes) -> str:
    """Lines that say which names are to be one, or a number; empty if nothing simple helps."""
    sizes: dict[str, Any] = {}
    for wish in wishes.values():
        if isinstance(wish.dim, Dim):
            sizes.setdefault(wish.dim.root.__name__, wish.dim.of(wish.hint))
    names = list(sizes)
    candidates = [
        {second: first} for i, first in enumerate(names) for second in names[i + 1 :] if sizes[first] == sizes[second]
    ]
    candidates += [{name: sizes[name]} for name in names]
    same = {name: next(n for n in names if sizes[n] == sizes[name]) for name in names}
    candidates += [{a: b for a, b in same.items() if a != b}, dict(sizes)]
    for candidate in candidates[:TRIES]:
        if candidate and works(_changed(wishes, candidate)):
            return "\nSuggested fixes:" + "".join(f"\n  {name} = {value}" for name, value in candidate.items())
    return ""


def _changed(wishes: Wishes, fixes: dict[str, Any]) -> Wishes:
    roots = {w.dim.root.__name__: w.dim.root for w in wishes.values() if isinstance(w.dim, Dim)}
    found: Wishes = {}
    for key, wish in wishes.items():
        fix = fixes.get(wish.dim.root.__name__) if isinstance(wish.dim, Dim) else None
        if isinstance(fix, str):
            found[key] = Wish(over(wish.dim, roots[fix]), wish.hint)
        elif fix is None:
            found[key] = wish
    return found
