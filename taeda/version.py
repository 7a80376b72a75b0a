"""Versions: of this library, and of what it was built with."""

from taeda._version import __version__

cuda = None
hip = None
git_version = ""
debug = False
