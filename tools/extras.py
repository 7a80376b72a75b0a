"""Prints the requirements of the named extras of pyproject.toml, for pip."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
extras = project["optional-dependencies"]
print("numpy " + " ".join(requirement.replace(" ", "") for name in sys.argv[1:] for requirement in extras[name]))
