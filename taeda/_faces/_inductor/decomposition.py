"""Decompositions for the compiler: those of ``torch._decomp``, as there is one table."""

from taeda._decompositions import register_decomposition as register_decomposition
