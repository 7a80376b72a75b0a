"""The one error of the generator: a mistake in a declaration, with its file and line."""

from __future__ import annotations

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
