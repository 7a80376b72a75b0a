"""Questions about packages, and about what they would need."""

from taeda.package.analyze.find_first_use_of_broken_modules import find_first_use_of_broken_modules
from taeda.package.analyze.trace_dependencies import trace_dependencies

__all__ = ["find_first_use_of_broken_modules", "trace_dependencies"]
