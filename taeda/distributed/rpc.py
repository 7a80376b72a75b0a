"""Remote procedure calls, which this release does not have: it answers as a build of PyTorch without them does."""


def is_available() -> bool:
    """False."""
    return False
