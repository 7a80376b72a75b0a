"""What programs ask about the compiler, and the class of compiled modules."""

from taeda.compiler._eager import OptimizedModule as OptimizedModule


def is_dynamo_supported() -> bool:
    """True: programs can be handed to ``taeda.compile`` and ``taeda.export``."""
    return True
