"""Sources of ``load_inline``: headers put before, bindings behind; and the precompiled header that they share."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from taeda.utils._cpp import compile as building


def source_text(parts: Sequence[str], functions: Mapping[str, str] | None, with_headers: bool) -> str:
    """One source of ``parts``, with a module that binds ``functions`` (name to documentation)."""
    lines = ["#include <torch/extension.h>"] if with_headers else []
    lines += parts
    if functions is not None:
        lines.append("PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {")
        lines += [f'  m.def("{name}", {name}, R"taeda({text})taeda");' for name, text in functions.items()]
        lines.append("}")
    return "\n".join([*lines, ""])


def as_functions(functions: None | str | Sequence[str] | Mapping[str, str]) -> dict[str, str] | None:
    """``functions=`` of ``load_inline`` as names with documentations.

    Raises:
        ValueError: it is of another type.
    """
    if functions is None:
        return None
    if isinstance(functions, str):
        return {functions: functions}
    if isinstance(functions, Mapping):
        return dict(functions)
    if isinstance(functions, Sequence):
        return {name: name for name in functions}
    raise ValueError(f"load_inline: functions= is a name, a list of names or a dict; got {type(functions).__name__}")


def precompiled(root: Path, command: Sequence[str], header: Path, verbose: bool) -> Path:
    """A folder in which ``#include <torch/extension.h>`` finds the header compiled with these very flags."""
    folder = root / "precompiled" / hashlib.sha256("\0".join([*command, str(header)]).encode()).hexdigest()[:16]
    output = folder / "torch" / "extension.h.gch"
    depends = output.with_name("extension.h.d")
    whole = (*command, "-MD", "-MF", str(depends), "-x", "c++-header", str(header), "-o", str(output))
    building.run([building.Job(whole, output, (header,), depends)], verbose)
    plain = output.with_suffix("")  # what a source includes again, where the compiled one cannot be taken
    if not plain.exists():
        plain.write_text("#include_next <torch/extension.h>\n")
    return folder
