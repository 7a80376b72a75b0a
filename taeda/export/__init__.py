"""``taeda.export``: a module's program as a graph of ops that stands by itself.

``export(module, args)`` runs the module once and records the ops that it calls. What comes of it can be read, changed,
saved, run without the module's code, and handed to other compilers.
"""

from __future__ import annotations

from typing import Any

from taeda.export import passes as passes
from taeda.export._decompose import CustomDecompTable, default_decompositions
from taeda.export._draft_export import draft_export
from taeda.export._trace import export
from taeda.export.dynamic_shapes import AdditionalInputs, Constraint, Dim, ShapesCollection, dims
from taeda.export.exported_program import ExportedProgram, ModuleCallEntry, ModuleCallSignature
from taeda.export.files import load, save
from taeda.export.graph_signature import ExportBackwardSignature, ExportGraphSignature
from taeda.export.unflatten import FlatArgsAdapter, UnflattenedModule, unflatten

__all__ = [
    "AdditionalInputs", "Constraint", "CustomDecompTable", "Dim", "ExportBackwardSignature", "ExportGraphSignature",
    "ExportedProgram", "FlatArgsAdapter", "ModuleCallEntry", "ModuleCallSignature", "ShapesCollection",
    "UnflattenedModule", "default_decompositions", "dims", "draft_export", "export", "load", "register_dataclass",
    "save", "unflatten",
]  # fmt: skip

export_for_training = export


def register_dataclass(cls: type[Any], *, serialized_type_name: str | None = None) -> None:
    """Lets arguments and results be instances of a dataclass, which count as containers.

    Args:
        cls: the dataclass.
        serialized_type_name: its name in files; by default that of the class with its module.

    Raises:
        AssertionError: ``cls`` is no dataclass.
    """
    import dataclasses

    from taeda.utils import _pytree as pytree

    if not dataclasses.is_dataclass(cls):
        raise AssertionError(f"taeda.export.register_dataclass: takes a dataclass; got {cls!r}")
    pytree.register_dataclass(cls, serialized_type_name=serialized_type_name)
