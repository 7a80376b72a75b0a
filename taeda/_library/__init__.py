"""Ops as objects, and what programs register about them: ``taeda.ops`` and ``taeda.library`` are faces of this."""
