"""Tables that the generator wrote."""

from __future__ import annotations

import os

_FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "generated")


def generated_text(name: str) -> str:
    """The text of ``taeda/generated/<name>``.

    Raises:
        RuntimeError: there is none.
    """
    path = os.path.join(_FOLDER, name)
    try:
        with open(path) as file:
            return file.read()
    except FileNotFoundError:
        raise RuntimeError(f"taeda: {path} is missing; the installation is incomplete") from None
