"""What a process prints, into a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["redirect", "redirect_stderr", "redirect_stdout"]


@contextmanager
def redirect(std: str, to_file: str) -> Iterator[None]:
    """Within it, what goes to ``"stdout"`` or ``"stderr"``, also from C, goes to the file.

    Raises:
        ValueError: another stream.
    """
    if std not in ("stdout", "stderr"):
        raise ValueError(f"taeda.distributed.elastic.redirect: std is wanted as stdout or stderr; got {std!r}")
    stream = getattr(sys, std)
    number = {"stdout": 1, "stderr": 2}[std]
    before = os.dup(number)
    stream.flush()
    with open(to_file, "wb") as file:
        os.dup2(file.fileno(), number)
    try:
        yield
    finally:
        stream.flush()
        os.dup2(before, number)
        os.close(before)


def redirect_stdout(to_file: str) -> object:
    """`redirect` of stdout."""
    return redirect("stdout", to_file)


def redirect_stderr(to_file: str) -> object:
    """`redirect` of stderr."""
    return redirect("stderr", to_file)
