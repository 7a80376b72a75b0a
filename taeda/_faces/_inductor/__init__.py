"""What programs import of the compiler's second half: settings, and where decompositions are registered."""

from taeda._inductor import config as config
