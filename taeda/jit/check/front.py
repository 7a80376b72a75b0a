"""Imports every part of the checker, so that each has entered what it does. Who compiles imports this."""

from __future__ import annotations

from taeda.jit.check import builtins as builtins
from taeda.jit.check import calls as calls
from taeda.jit.check import expressions as expressions
from taeda.jit.check import members as members
from taeda.jit.check import statements as statements
from taeda.jit.check import subscripts as subscripts
