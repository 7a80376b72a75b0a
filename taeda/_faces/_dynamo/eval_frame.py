"""Where programs look for the class of compiled modules."""

from taeda.compiler._eager import OptimizedModule as OptimizedModule
