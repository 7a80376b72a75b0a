"""How exactly libraries may compute with float32: what programs allow, remembered. Taeda's kernels compute in float32.

One may be told of an op of a library, of all its ops, or of all libraries; the nearest that says something counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

NONE = "none"  # says nothing
_KNOWN = {
    "generic": (NONE, "ieee", "tf32", "bf16"), "mkldnn": (NONE, "ieee", "tf32", "bf16"), "cuda": (NONE, "ieee", "tf32"),
}  # fmt: skip
_UNTOLD = {("cuda", "conv"): "tf32", ("cuda", "rnn"): "tf32"}  # where nobody said anything
_told: dict[tuple[str, str], str] = {}


def allowed(library: str, op: str = "all") -> str:
    """What is allowed: ``"ieee"``, ``"tf32"`` or ``"bf16"``, or ``"none"`` where nobody said."""
    places = [(library, op), (library, "all"), ("generic", "all")]
    said = (value for place in places if (value := _told.get(place, NONE)) in _KNOWN[library])
    untold = _UNTOLD.get((library, op), NONE) if (library, op) not in _told else NONE
    return next((value for value in said if value != NONE), untold)


def allow(library: str, op: str, precision: str) -> None:
    """Says it.

    Raises:
        TypeError: it is no text.
        RuntimeError: the library has no such precision.
    """
    if not isinstance(precision, str):
        raise TypeError(f"taeda.backends: fp32_precision is a text; got {type(precision).__name__}")
    if precision not in _KNOWN[library]:
        raise RuntimeError(
            f"taeda.backends: fp32_precision of {library} is one of {', '.join(_KNOWN[library])}; got {precision!r}"
        )
    _told[library, op] = precision


@contextmanager
def kept() -> Iterator[None]:
    """Behind the block all is as before."""
    before = dict(_told)
    try:
        yield
    finally:
        _told.clear()
        _told.update(before)


class Precision:
    """The switch of one op of a library."""

    __slots__ = ("_library", "_op")

    def __init__(self, library: str, op: str) -> None:
        self._library, self._op = library, op

    @property
    def fp32_precision(self) -> str:
        """How exactly the op may compute with float32."""
        return allowed(self._library, self._op)

    @fp32_precision.setter
    def fp32_precision(self, precision: str) -> None:
        allow(self._library, self._op, precision)


class Switches(ModuleType):
    """A module that has the switch of all ops of a library."""

    _library = "generic"

    @property
    def fp32_precision(self) -> str:
        """How exactly its ops may compute with float32."""
        return allowed(self._library)

    @fp32_precision.setter
    def fp32_precision(self, precision: str) -> None:
        allow(self._library, "all", precision)


def set_flags(library: str, fp32_precision: Any) -> str:
    """Sets what is allowed of a library, if it says something; gives what was before."""
    before = allowed(library)
    if fp32_precision != NONE:
        allow(library, "all", fp32_precision)
    return before
