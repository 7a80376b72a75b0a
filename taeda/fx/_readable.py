"""What stands in a graph's text for people alone: what values are, and where the program made them."""

from __future__ import annotations

import os
import re
from typing import Any

from taeda import Tensor
from taeda._schema.symbols import _Symbol
from taeda.fx.node import Node

_COLOURS = {"dim": 2, "red": 31, "green": 32, "blue": 34}
_FRAME = re.compile(r'\s*File "(.+)", line (\d+), in (.+)')
_SHORT = {
    "float": "f", "bfloat": "bf", "uint": "u", "int": "i", "complex": "c", "bool": "b8", "bits1x": "b1x",
    "bits2x": "b2x", "bits4x": "b4x", "bits8": "b8x1", "bits16": "b16x1", "float4_e2m1fn_x": "f4e2m1fnx",
}  # fmt: skip


class Reader:
    """Writes for people.

    Args:
        strides: say the strides of tensors.
        devices: say the devices of tensors.
        colored: with the colours of a terminal.
        expanded: each parameter on a line of its own.
        keys: which of ``node.meta`` to say in comments.
    """

    def __init__(
        self, strides: bool = False, devices: bool = False, colored: bool = False, expanded: bool = False,
        keys: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        self.strides, self.devices, self.colored, self.expanded, self.keys = strides, devices, colored, expanded, keys
        self._place: str | None = None

    def _in(self, colour: str, text: str) -> str:
        return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if self.colored else text

    def dimmed(self, text: str) -> str:
        """What matters little."""
        return self._in("dim", text)

    def constant(self, value: Any, text: str) -> str:
        """A constant, whose text is known."""
        return self._in("blue", text) if isinstance(value, (int, float, complex, str)) else text

    def kind(self, node: Node) -> str:
        """The annotation that says what a value is: dtype and sizes; the empty string if nothing is known."""
        value = next((v for k in ("val", "tensor_meta", "example_value") if (v := node.meta.get(k)) is not None), None)
        if isinstance(value, _Symbol):
            return f': "Sym({value.node.expr})"'
        if isinstance(value, Tensor):
            strides = self._sizes(value.stride()) if self.strides else ""
            device = str(value.device) if self.devices else ""
            return f': "{self._shape(value)}{self._in("dim", strides)}{self._in("dim", device)}"'
        if hasattr(value, "dtype") and hasattr(value, "shape"):
            return f': "{self._shape(value)}"'
        return ""

    def _shape(self, value: Any) -> str:
        return self._in("red", short_dtype(value.dtype)) + self._in("blue", self._sizes(value.shape))

    @staticmethod
    def _sizes(sizes: Any) -> str:
        return f"[{', '.join(s.node.expr if isinstance(s, _Symbol) else str(s) for s in sizes)}]"

    def comment(self, node: Node) -> list[str]:
        """The lines before a node: where the program made it, if that is another place than the one before."""
        said = ", ".join(f"{key}: {node.meta[key]}" for key in self.keys if key in node.meta)
        note = f"Annotation: {node.meta['custom']} " if node.meta.get("custom") else ""
        trace = node.stack_trace
        where = _innermost(trace) if trace else "No stacktrace found for following nodes"
        place = f"{f'# {said} ' if said else ''}# {note}{where}"
        if place == self._place:
            return []
        first, self._place = self._place is None, place
        blank = [] if first or not trace else ["\n"]
        return [*blank, f"{self.dimmed(place)}\n"]


def short_dtype(dtype: Any) -> str:
    """A dtype in few letters: ``f32``, ``i64``, ``b8``."""
    name = str(dtype).removeprefix("torch.").removeprefix("taeda.")
    for long in sorted(_SHORT, key=len, reverse=True):
        if name.startswith(long):
            return _SHORT[long] + name.removeprefix(long).replace("_", "")
    return name


def _innermost(trace: str) -> str:
    """The innermost call of a recorded stack: its file, line and text."""
    lines = trace.strip().splitlines()
    at = max((i for i, line in enumerate(lines) if _FRAME.match(line)), default=None)
    if at is None:
        return lines[0] if lines else "?"
    found = _FRAME.match(lines[at])
    assert found is not None
    file, line, function = found.groups()
    code = lines[at + 1].strip() if at + 1 < len(lines) else ""
    return f"File: {os.path.normpath(file)}:{line} in {function}, code: {code}"
