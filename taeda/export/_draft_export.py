"""``draft_export``: an export that says everything that stands in its way, not only the first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from taeda import nn
from taeda.export._trace import export
from taeda.export.dynamic_shapes import Dim, read_wishes
from taeda.export.errors import UserError, UserErrorType
from taeda.export.exported_program import ExportedProgram
from taeda.utils import _pytree as pytree


class DraftExportReport:
    """What had to be given up for a program to be exported.

    Attributes:
        failures: one text for each, with the program's line.
    """

    def __init__(self, failures: list[str]) -> None:
        self.failures = failures

    def successful(self) -> bool:
        """Whether nothing had to be."""
        return not self.failures

    def apply_suggested_fixes(self) -> None:
        """Refused: the fixes are the program's to make."""
        raise NotImplementedError("taeda.export: the fixes in a report are to be made by hand")

    def __str__(self) -> str:
        if not self.failures:
            return "taeda.export.draft_export: nothing stands in the way; use export()"
        texts = "\n".join(f"{i}. {text}" for i, text in enumerate(self.failures, 1))
        return f"taeda.export.draft_export: {len(self.failures)} found:\n{texts}"

    __repr__ = __str__


def draft_export(
    mod: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None = None, *, dynamic_shapes: Any = None,
    preserve_module_call_signature: tuple[str, ...] = (), strict: bool = False,
    prefer_deferred_runtime_asserts_over_guards: bool = False,
) -> ExportedProgram:  # fmt: skip
    """`export`, but where sizes cannot vary as asked they are fixed, and branches on values go the example's way.

    The program has a ``_report`` that says so; it is printed, too, unless all is well.

    Raises:
        UserError: ``dynamic_shapes`` does not fit the example.
    """
    from taeda.export import _capture

    failures: list[str] = []
    shapes = dynamic_shapes
    with _capture.permissive(failures):
        try:
            program = export(mod, args, kwargs, dynamic_shapes=shapes)
        except UserError as error:
            if error.error_type is not UserErrorType.CONSTRAINT_VIOLATION:
                raise
            read_wishes(mod, args, dict(kwargs or {}), dynamic_shapes)
            failures.append(str(error))
            program = export(mod, args, kwargs, dynamic_shapes=_auto(shapes))
    report = DraftExportReport(list(dict.fromkeys(failures)))
    program._report = report  # type: ignore[attr-defined]
    if not report.successful():
        print(report)
    return program


def _auto(shapes: Any) -> Any:
    """``dynamic_shapes`` with all names given up: sizes vary where they can."""
    return pytree.tree_map(lambda leaf: leaf if leaf is None or type(leaf) is int else Dim.AUTO, shapes)
