"""Versions: of this library, and of what it was built with."""

from taeda._version import __version__ as __version__

cuda = None
hip = None
rocm = None
xpu = None
git_version = ""
debug = False
