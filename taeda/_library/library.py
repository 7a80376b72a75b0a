"""``Library``: registrations in a namespace, which end with it."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from taeda import _C
from taeda._library.ops import OpOverload
from taeda._main.callers import caller, location_of
from taeda._schema.tags import remember_tags

Function = Callable[..., Any]


def fallthrough_kernel() -> None:
    """To be registered as a kernel: calls pass to the next layer."""
    raise NotImplementedError("taeda.library.fallthrough_kernel is to be registered, not called")


class Library:
    """Registrations in a namespace; all of them end with ``_destroy()`` or with this object.

    Args:
        ns: the namespace, e.g. ``"mylib"``, or ``"aten"`` to register kernels of built-in ops.
        kind: ``"DEF"`` makes the namespace, of which there is one; ``"FRAGMENT"`` adds ops to it; ``"IMPL"``
            only kernels.
        dispatch_key: the key of ``impl`` and ``fallback`` where they name none.

    Raises:
        ValueError: an unknown kind.
        RuntimeError: a second ``"DEF"`` of the namespace; the message names both source locations.
    """

    __module__ = "taeda.library"

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        file, line = caller()
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self.m = _C._Library(ns, kind, f"{file}:{line}")
        self._composites: list[str] = []

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})"

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Defines an op by its schema, e.g. ``"scale(Tensor x, float by=2.0) -> Tensor"``; returns its name.

        Raises:
            RuntimeError: the schema is malformed, or the op is defined already; the message names both source
                locations.
        """
        file, line = caller()
        name = self.m.define(schema, file, line)
        remember_tags(name, schema, tags)
        for register in waiting.pop(name, ()):
            register()
        return name.partition("::")[2]

    def impl(self, op_name: str | OpOverload, fn: Function, dispatch_key: str = "", *, with_keyset: bool = False,
             allow_override: bool = True) -> None:  # fmt: skip
        """Makes ``fn`` the op's kernel for a dispatch key, in place of a built-in one if there is any.

        Args:
            op_name: ``"scale"``, ``"add.Tensor"`` or an op object.
            fn: called with the op's arguments, those that stand at their defaults in the end left out; or
                ``fallthrough_kernel``.
            with_keyset: ``fn`` gets a ``DispatchKeySet`` first, for ``op.redispatch``.
            allow_override: take the place of a kernel that another registration brought, which comes back later, and
                warn of that.

        Raises:
            RuntimeError: the key has a kernel that was registered before, and it may not be replaced; the message names
                both source locations.
        """
        key = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
        name = op_name.name() if isinstance(op_name, OpOverload) else op_name
        function, where = _kernel(fn)
        try:
            self.m.impl(name, key, function, with_keyset, where, False)
        except RuntimeError as clash:
            if not allow_override:
                raise
            self.m.impl(name, key, function, with_keyset, where, True)
            warnings.warn(f"{clash}; it has the other now (allow_override=False refuses it)", UserWarning, stacklevel=2)
        if key == "CompositeImplicitAutograd" and not with_keyset and function is not None:
            full = name if "::" in name else f"{self.ns}::{name}"
            composites[full] = function
            self._composites.append(full)

    def fallback(self, fn: Function, dispatch_key: str = "", *, with_keyset: bool = False) -> None:
        """Makes ``fn(op, *args, **kwargs)`` serve all ops that have no kernel for a dispatch key.

        Raises:
            ValueError: no dispatch key is given.
            RuntimeError: the key has a fallback.
        """
        key = dispatch_key or self.dispatch_key
        if not key:
            raise ValueError("taeda.library.Library.fallback: name the dispatch key that it is for")
        if self.ns != "_":
            raise RuntimeError(
                f"taeda.library.Library.fallback: is for all namespaces, so the library's must be '_', not '{self.ns}'"
            )
        function, where = _kernel(fn)
        self.m.fallback(key, function, with_keyset, where)

    def _destroy(self) -> None:
        """Takes all registrations back."""
        self.m.destroy()
        for name in self._composites:
            composites.pop(name, None)


def _kernel(fn: Function) -> tuple[Function | None, str]:
    if not callable(fn):
        raise TypeError(f"taeda.library: a kernel must be callable; got {type(fn).__name__}")
    if fn is fallthrough_kernel:
        file, line = caller()
        return None, f"{file}:{line}"
    return fn, location_of(fn)


composites: dict[str, Function] = {}  # what programs' ops are made of, by the ops' full names
waiting: dict[str, list[Callable[[], None]]] = {}  # shape rules that came before their ops, by the op's name
_kept: dict[str, Library] = {}  # what module-level functions register lasts as long as the process


def library_of(qualname: str, lib: Library | None) -> tuple[Library, str]:
    """The library that a registration for ``qualname`` goes into, ``lib`` if it is given, and the op's own name."""
    namespace, separator, name = qualname.partition("::")
    if not separator:
        raise ValueError(f"taeda.library: an op is named 'namespace::name'; got '{qualname}'")
    if lib is None:
        lib = _kept.get(namespace) or _kept.setdefault(namespace, Library(namespace, "FRAGMENT"))
    return lib, name


@contextlib.contextmanager
def _scoped_library(*args: Any, **kwargs: Any) -> Iterator[Library]:
    """A ``Library`` whose registrations end with the ``with`` block."""
    library = Library(*args, **kwargs)
    try:
        yield library
    finally:
        library._destroy()
