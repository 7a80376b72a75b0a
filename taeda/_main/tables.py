"""Tables that the generator wrote."""

from __future__ import annotations

import os

_FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "generated")


def generated_text(name: str) -> str:
    """The text of ``taeda/generated/<name>``; a checkout links the whole generated tree there.

    Raises:
        RuntimeError: there is none.
    """
    for place in (name, os.path.join("taeda", "generated", name)):
        try:
            with open(os.path.join(_FOLDER, place)) as file:
                return file.read()
        except FileNotFoundError:
            continue
    raise RuntimeError(f"taeda: {os.path.join(_FOLDER, name)} is missing; the installation is incomplete")
