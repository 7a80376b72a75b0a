"""Classes of C++ that some tests of export use: there are none: those tests fail, the others of a file run."""

from __future__ import annotations


def init_torchbind_implementations() -> None:
    """Would register what the classes do on fake tensors."""
