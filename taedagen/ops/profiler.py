"""Marks in profiles as ops, for programs that have no Python beside them."""

from taedagen.opdef import *

_RECORD = "__torch__.torch.classes.profiler._RecordFunction"


def _declare(schema, doc):
    composite(schema, files="profiler", samples=[])(defined(f'def _(*_):\n    """{doc}"""'))


_declare(
    f"profiler::_record_function_enter_new(str name, str? args=None) -> {_RECORD}",
    "Begins a mark in this thread's profile; what it gives ends it.",
)
_declare(f"profiler::_record_function_exit._RecordFunction({_RECORD} _0) -> ()", "Ends a mark, and all inside it.")
_declare(
    "profiler::_record_function_enter(str name, str? args=None) -> Tensor",
    "The same, whose handle is a tensor.",
)
_declare("profiler::_record_function_exit(Tensor _0) -> ()", "Ends a mark whose handle is a tensor.")
