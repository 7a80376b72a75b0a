"""The one error of the generator: a mistake in a declaration, with its place."""

from __future__ import annotations


class DeclarationError(Exception):
    """A declaration that cannot be built; prints as ``file:line: sentence``."""

    def __init__(self, where: tuple[str, int], message: str) -> None:
        super().__init__(message)
        self.file, self.line = where
        self.message = message

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: error: {self.message}"
