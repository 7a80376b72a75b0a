"""The one error of the generator: a mistake in a declaration, with its file and line."""

from __future__ import annotations

import difflib
import traceback
from collections.abc import Iterable
from pathlib import Path


class DeclarationError(Exception):
    """A declaration that cannot be built; prints as ``file:line: sentence``."""

    def __init__(self, where: tuple[str, int], message: str) -> None:
        super().__init__(message)
        self.file, self.line = where
        self.message = message

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: error: {self.message}"


def relative(path: str) -> str:
    """As it reads in the repository: from the folder that holds ``taedagen``, else as given."""
    root = Path(__file__).resolve().parents[2]
    resolved = Path(path).resolve()
    return str(resolved.relative_to(root)) if resolved.is_relative_to(root) else path


def mistake_in(file: str, wrong: Exception, names: Iterable[str]) -> DeclarationError:
    """What Python says of a declaration file, or of a function in it, at the line of that file; ``names`` are those
    that may be meant."""
    lines = [frame.lineno for frame in traceback.extract_tb(wrong.__traceback__) if frame.filename == file]
    line = wrong.lineno if isinstance(wrong, SyntaxError) else lines[-1] if lines else 1
    message = wrong.msg if isinstance(wrong, SyntaxError) else str(wrong)
    if isinstance(wrong, (NameError, AttributeError)) and wrong.name:
        close = difflib.get_close_matches(wrong.name, names, 1)
        message += f"; did you mean '{close[0]}'?" if close else ""
    if "Expr" in message:
        message += "; formulas use the functions of taedagen.opdef (sqrt, exp, where), not those of math or NumPy"
    return DeclarationError((relative(file), line or 1), f"{type(wrong).__name__}: {message}")
