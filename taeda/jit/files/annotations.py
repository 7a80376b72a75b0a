"""Types from their text in archives: ``Dict[str, List[Tensor]]``, ``__torch__.M``."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

from taeda import _C
from taeda._schema.types import DictType, ListType, OptionalType, TupleType, Type, UnionType

_PLAIN = {
    name: name for name in (
        "Tensor", "int", "float", "bool", "str", "complex", "NoneType", "Any", "Device", "Generator", "Stream",
        "Layout", "PyObject", "SymInt", "AnyListType", "AnyTupleType", "AnyClassType", "AnyEnumType",
    )
} | {"number": "Scalar", "None": "NoneType", "Scalar": "Scalar", "list": "AnyListType", "tuple": "AnyTupleType",
     "MemoryFormat": "MemoryFormat", "ScalarType": "ScalarType"}  # fmt: skip
_DEEPEST = 100


_OF_PROGRAM = re.compile(r"__torch__(\.[A-Za-z_]\w*)+")


class TypeReader:
    """Reads the types of one archive.

    Args:
        named: gives the type of the program that is called so.
    """

    def __init__(self, named: Callable[[str], Type]) -> None:
        self._named = named
        self._known: dict[str, Any] = {}

    def read(self, text: str) -> Any:
        """The type that a text says.

        Raises:
            RuntimeError: it is no type.
        """
        found = self._known.get(text)
        if found is None:
            plain = _PLAIN.get(text)
            found = self._known[text] = _C._parse_type(plain) if plain else self._parse(text)
        return found

    def _parse(self, text: str) -> Any:
        if _OF_PROGRAM.fullmatch(text):
            return self._named(text)
        try:
            return self.from_tree(ast.parse(text, mode="eval").body)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise RuntimeError(f"taeda.jit.load: '{text[:100]}' is no type ({error})") from error

    def from_tree(self, tree: ast.expr, depth: int = 0) -> Any:
        """The type that a piece of Python's tree says."""
        if depth > _DEEPEST:
            raise RuntimeError("taeda.jit.load: a type is nested too deeply")
        if isinstance(tree, ast.Constant) and tree.value is None:
            return _C._parse_type("NoneType")
        if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
            return self.read(tree.value)
        if isinstance(tree, ast.Subscript) and isinstance(tree.value, ast.Name):
            inner = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
            return _made(tree.value.id, [self.from_tree(each, depth + 1) for each in inner])
        name = tree.id if isinstance(tree, ast.Name) else ast.unparse(tree)
        if name in _PLAIN:
            return _C._parse_type(_PLAIN[name])
        if name.startswith("__torch__."):
            return self._named(name)
        raise RuntimeError(f"taeda.jit.load: '{name[:100]}' is no type that programs know")


def _made(name: str, inner: list[Any]) -> Any:
    if name in ("Tuple", "tuple"):
        return TupleType(inner)
    if name == "Union":
        return UnionType(inner)
    if name in ("Dict", "dict") and len(inner) == 2:
        return DictType(*inner)
    if len(inner) == 1:
        if name in ("List", "list"):
            return ListType(inner[0])
        if name == "Optional":
            return OptionalType(inner[0])
        if name in ("Final", "Annotated"):
            return inner[0]
        if name in ("Future", "Await", "RRef"):
            return _C._make_type(f"{name}Type", inner)
    raise RuntimeError(f"taeda.jit.load: '{name}' is no type that is made of {len(inner)} others")
