"""Errors of the first stages, which show the line and a caret."""

from __future__ import annotations

from typing import NoReturn

from taeda.jit.source import SourceRange


class CompileError(RuntimeError):
    """A program that cannot be compiled; ``range`` is the place."""

    def __init__(self, message: str, range: SourceRange | None = None) -> None:
        self.message, self.range = message, range
        self.calls: list[tuple[str, SourceRange]] = []  # who was being compiled for whom, from the inside
        super().__init__(message)

    def __str__(self) -> str:
        text = f"{self.message}\n{self.range}" if self.range is not None else self.message
        for name, place in self.calls:
            text += f"{name} is compiled because it is called here:\n{place}"
        return text


class NotSupportedError(CompileError):
    """Python that programs cannot hold."""


def fail(range: SourceRange | None, message: str) -> NoReturn:
    """Raises a `CompileError`."""
    raise CompileError(message, range)


def not_supported(range: SourceRange | None, message: str) -> NoReturn:
    """Raises a `NotSupportedError`."""
    raise NotSupportedError(message, range)


class UnknownType(CompileError, ValueError):
    """An annotation that stands for no type of programs."""


class DeclaredOutside(CompileError, ValueError):
    """An annotation of an attribute that stands outside of ``__init__``."""
