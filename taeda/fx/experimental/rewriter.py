"""`RewritingTracer`: tracing programs with assertions and annotated variables, which plain Python keeps to itself."""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import textwrap
from collections.abc import Callable
from types import FunctionType
from typing import Any

import taeda
from taeda import nn
from taeda.fx._symbolic_trace import Tracer
from taeda.fx.annotate import annotate
from taeda.fx.graph import Graph

__all__ = ["AST_Rewriter", "RewritingTracer"]

_ASSERT, _ANNOTATE = "_fx_assert", "_fx_annotate"


class AST_Rewriter(ast.NodeTransformer):
    """Replaces statements of a function by calls that a trace records."""

    def rewrite(self, fn: FunctionType) -> Any:
        """``fn`` with calls in the place of ``assert`` and of annotated assignments.

        Raises:
            OSError: there is no source of ``fn``.
        """
        tree: Any = self.visit(ast.parse(textwrap.dedent(inspect.getsource(fn))))
        ast.increment_lineno(tree, fn.__code__.co_firstlineno - 1)
        tree.body[0].decorator_list = []  # what they do was done when the function was made
        free = fn.__code__.co_freevars
        tree.body = [
            ast.FunctionDef(
                "_make", ast.arguments([], [ast.arg(name) for name in free], None, [], [], None, []),
                [tree.body[0], ast.Return(ast.Name(tree.body[0].name, ast.Load()))], [],
            )
        ]  # fmt: skip
        names = dict(fn.__globals__)
        names.update({_ASSERT: taeda._assert, _ANNOTATE: annotate})
        exec(compile(ast.fix_missing_locations(tree), inspect.getfile(fn), "exec"), names)
        made = names["_make"](*(cell.cell_contents for cell in fn.__closure__ or ()))
        made = FunctionType(made.__code__, names, fn.__name__, fn.__defaults__, made.__closure__)
        made.__kwdefaults__ = fn.__kwdefaults__
        functools.update_wrapper(made, fn, updated=())
        del made.__dict__["__wrapped__"]  # by which a tracer would find the original
        return made

    def visit_Assert(self, node: ast.Assert) -> Any:
        """``assert test, message``: a call of ``torch._assert``."""
        message = node.msg or ast.Constant("")
        call = ast.Call(ast.Name(_ASSERT, ast.Load()), [node.test, message], [])
        return ast.copy_location(ast.Expr(call), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """``name: kind = value``: the value's node gets the kind as its type."""
        if node.value is None:
            return node
        call = ast.Call(ast.Name(_ANNOTATE, ast.Load()), [node.value, node.annotation], [])
        return ast.copy_location(ast.Assign([node.target], call), node)


class RewritingTracer(Tracer):
    """A tracer that records assertions as calls of ``torch._assert``, and the annotations of variables as types."""

    def trace(self, root: nn.Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None) -> Graph:
        """`Tracer.trace` of a rewritten copy, which shares parameters and buffers with ``root``."""
        return super().trace(_rewrite(root), concrete_args)


def _rewrite(fn: nn.Module | Callable[..., Any]) -> Any:
    """A function, or a module and those in it that are none of `nn`, rewritten."""
    if not isinstance(fn, nn.Module):
        return AST_Rewriter().rewrite(inspect.unwrap(fn))  # type: ignore[arg-type]
    made = copy.copy(fn)
    made._modules = {name: None if inner is None else _rewrite(inner) for name, inner in fn._modules.items()}
    if type(fn).__module__.startswith(("taeda.nn", "torch.nn")):
        return made
    forward = AST_Rewriter().rewrite(inspect.unwrap(type(fn).forward))  # type: ignore[arg-type]
    made.__class__ = type(type(fn).__name__, (type(fn),), {"forward": forward, "__module__": type(fn).__module__})
    return made
