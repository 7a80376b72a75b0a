"""A declared formula run by another library: the oracle that comes free with each pointwise op.

``evaluate(declaration, {"self": array, "alpha": 2}, "float64", functions)`` does with arrays what the compiled loop
does with vectors. ``functions`` says what the library calls each intrinsic, so that this file needs none:
``{"exp": numpy.exp, "where": numpy.where, ...}``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from taedagen.emit.formula import expand, formula_for
from taedagen.opdef.declaration import INTEGRAL, UNSIGNED, Declaration
from taedagen.opdef.expr import Expr, arg, trace, walk

Functions = Mapping[str, Callable[..., Any]]


def evaluate(declaration: Declaration, values: Mapping[str, Any], dtype: str, functions: Functions) -> list[Any]:
    """The results of the formula for ``dtype``.

    Args:
        values: arrays and numbers by parameter name, every parameter of the schema.
        functions: by the names of ``taedagen.opdef.intrinsics.CALLS``, those at least that the formula uses.

    Raises:
        LookupError: ``functions`` lacks one; the message names it.
    """
    masks = dtype == "bool" and formula_for(declaration, dtype) is not declaration.function
    if dtype in (*INTEGRAL, *UNSIGNED):  # numbers are read as the formula's dtype
        values = {k: int(v) if isinstance(v, float) else v for k, v in values.items()}
    symbols: dict[str, Any] = {}
    for argument in declaration.schema.arguments:
        name, value = argument.name, values[argument.name]
        # Words, switches and nothing reach a formula as themselves, so that it may branch on them.
        as_itself = value is None or isinstance(value, str) or argument.type.base == "bool"
        is_mask = masks or name in declaration.options.get("masks", ())
        symbols[name] = value if as_itself else arg(name, mask=is_mask and argument.type.is_tensor)
    result = trace(formula_for(declaration, dtype), symbols)
    roots = result if isinstance(result, tuple) else (result,)
    return [_run(expand(root, dtype, declaration), values, functions) for root in roots]


def _run(root: Expr, values: Mapping[str, Any], functions: Functions) -> Any:
    done: dict[int, Any] = {}
    for node in walk([root]):
        if node.kind == "arg":
            done[id(node)] = values[node.name]
        elif node.kind == "const":
            done[id(node)] = node.value
        elif node.name in functions:
            done[id(node)] = functions[node.name](*(done[id(a)] for a in node.args))
        else:
            raise LookupError(f"evaluate: the formula uses '{node.name}', which is not among the functions given")
    return done[id(root)]
