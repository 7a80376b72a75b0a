"""The pieces of ``save`` and ``load``: the archive, the names in it, and its two pickle machines."""
