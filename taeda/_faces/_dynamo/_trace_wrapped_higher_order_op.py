"""Where programs that map mask functions look for a context."""

from contextlib import nullcontext


class TransformGetItemToIndex(nullcontext[None]):
    """Within it, ``x[i]`` with a tensor ``i`` of no dimension indexes instead of reading a number, so that ``vmap`` can
    map ``i``. Here that is always so, and the context changes nothing."""
