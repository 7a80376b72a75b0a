"""How modules become programs, under the names that libraries ask for."""

from __future__ import annotations

from typing import Any

from taeda.jit._module import RecursiveScriptModule, face_of_module, script_module


def wrap_cpp_module(cpp_module: Any) -> RecursiveScriptModule:
    """The module that stands for the object of one, ``module._c``."""
    return face_of_module(cpp_module)


def create_script_module(nn_module: Any, infer_methods: Any = None, share_types: bool = True,
                         is_tracing: bool = False) -> RecursiveScriptModule:  # fmt: skip
    """A module as a program; see `taeda.jit.script`."""
    return script_module(nn_module)
