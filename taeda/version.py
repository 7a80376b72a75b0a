"""Versions: of this library, and of what it was built with."""

cuda = None
hip = None
git_version = ""
debug = False
