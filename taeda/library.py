"""Ops and kernels that a program registers: ``Library`` for single registrations, ``custom_op`` for whole ops.

A kernel is a Python function for one dispatch key: a backend (``"CPU"``, ``"CUDA"``, ``"Meta"``, ``"PrivateUse1"``), a
layer (``"Autograd"``, ``"AutogradCPU"``, ``"AutocastCPU"``, ``"ADInplaceOrView"``, ``"Python"``), or
``"CompositeImplicitAutograd"`` (made of other ops, which record for it) and ``"CompositeExplicitAutograd"`` (every
backend, its derivative registered apart).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import taeda
from taeda import _C
from taeda._library.autocast import make_autocast_kernel
from taeda._library.autograd import make_autograd_kernel
from taeda._library.custom_ops import CustomOpDef, custom_op, find_custom_op
from taeda._library.fake import as_meta_kernel, get_ctx
from taeda._library.infer_schema import infer_schema
from taeda._library.keys import key_of
from taeda._library.opcheck import opcheck
from taeda._library.places import caller, place_of
from taeda._ops import OpOverload, find_overload
from taeda._tags import remember_tags

__all__ = [
    "CustomOpDef",
    "Library",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "get_ctx",
    "get_kernel",
    "impl",
    "impl_abstract",
    "infer_schema",
    "opcheck",
    "register_autocast",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_torch_dispatch",
    "register_vmap",
]

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
        RuntimeError: a second ``"DEF"`` of the namespace; the message names both places.
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        file, line = caller()
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self.m = _C._Library(ns, kind, f"{file}:{line}")

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})"

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Defines an op by its schema, e.g. ``"scale(Tensor x, float by=2.0) -> Tensor"``; returns its name.

        Raises:
            RuntimeError: the schema is malformed, or the op is defined already (the message names both places).
        """
        file, line = caller()
        name = self.m.define(schema, file, line)
        remember_tags(name, schema, tags)
        for register in _waiting.pop(name, ()):
            register()
        return name.partition("::")[2]

    def impl(self, op_name: str | OpOverload, fn: Function, dispatch_key: str = "", *, with_keyset: bool = False,
             allow_override: bool = False) -> None:  # fmt: skip
        """Makes ``fn`` the op's kernel for a dispatch key, in place of a built-in one if there is any.

        Args:
            op_name: ``"scale"``, ``"add.Tensor"`` or an op object.
            fn: called with the op's arguments, those that stand at their defaults in the end left out; or
                ``fallthrough_kernel``.
            with_keyset: ``fn`` gets a ``DispatchKeySet`` first, for ``op.redispatch``.
            allow_override: take the place of a kernel that another registration brought, which comes back later.

        Raises:
            RuntimeError: the key has a kernel that was registered before; the message names both places.
        """
        key = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
        name = op_name.name() if isinstance(op_name, OpOverload) else op_name
        function, where = _kernel(fn)
        self.m.impl(name, key, function, with_keyset, where, allow_override)

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


def _kernel(fn: Function) -> tuple[Function | None, str]:
    if not callable(fn):
        raise TypeError(f"taeda.library: a kernel must be callable; got {type(fn).__name__}")
    if fn is fallthrough_kernel:
        file, line = caller()
        return None, f"{file}:{line}"
    return fn, place_of(fn)


_waiting: dict[str, list[Callable[[], None]]] = {}  # shape rules that came before their ops, by the op's name
_kept: dict[str, Library] = {}  # what module-level functions register lasts as long as the process


def _library_of(qualname: str, lib: Library | None) -> tuple[Library, str]:
    namespace, separator, name = qualname.partition("::")
    if not separator:
        raise ValueError(f"taeda.library: an op is named 'namespace::name'; got '{qualname}'")
    if lib is None:
        lib = _kept.get(namespace) or _kept.setdefault(namespace, Library(namespace, "FRAGMENT"))
    return lib, name


def _name(op: Any) -> str:
    if isinstance(op, (OpOverload, CustomOpDef)):
        op = op.name() if isinstance(op, OpOverload) else op._qualname
    if not isinstance(op, str):
        raise ValueError(f"taeda.library: an op is an op object or a str; got {type(op).__name__}")
    return op


def _overload(op: Any) -> OpOverload:
    qualified, _, overload = _name(op).partition(".")
    return find_overload(qualified, overload)


class SafeKernelFunction:
    """A kernel as ``get_kernel`` found it; another that takes its place later changes nothing."""

    def __init__(self, op: OpOverload, key: str) -> None:
        self._op, self._key = op, key
        self._kernel = op._kernel_for(_C.DispatchKeySet(key))

    def call_boxed(self, dispatch_keys: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Runs it; ``dispatch_keys`` is what a kernel registered ``with_keyset`` was given."""
        return _C._call_kernel(self._kernel, dispatch_keys, *args, **kwargs)

    @property
    def op_handle(self) -> OpOverload:
        """The op."""
        return self._op

    def __repr__(self) -> str:
        return f"SafeKernelFunction({self._op.name()} for {self._key})"


def get_kernel(op: Any, dispatch_key: str) -> SafeKernelFunction:
    """The kernel that serves an op (an object, or its name with the overload) for a dispatch key now.

    A kernel that takes its place can so fall back on it, through ``call_boxed(keyset, ...)``.

    Raises:
        RuntimeError: there is no such op, or no kernel for the key.
        ValueError: ``op`` names nothing, or there is no such key.
    """
    overload = _existing(op)
    if dispatch_key not in set(_C.DispatchKey):
        raise ValueError(f"taeda.library.get_kernel: there is no dispatch key {dispatch_key!r}")
    return SafeKernelFunction(overload, str(getattr(dispatch_key, "value", dispatch_key)))


def _existing(op: Any) -> OpOverload:
    try:
        return _overload(op)
    except AttributeError as error:
        raise RuntimeError(f"taeda.library: {error}") from None


def register_torch_dispatch(op: Any, torch_dispatch_class: type, func: Function | None = None, /, *,
                            lib: Library | None = None) -> Any:  # fmt: skip
    """Registers what a class with ``__torch_dispatch__`` (a mode, or a kind of tensor) makes of one op; also a
    decorator.

    Args:
        func: ``func(mode or class, op, types, args, kwargs)``, called in place of ``__torch_dispatch__``. It is for
            this very class, not for classes derived from it.
    """
    if not hasattr(torch_dispatch_class, "__torch_dispatch__"):
        raise ValueError(
            f"taeda.library.register_torch_dispatch: the class must define __torch_dispatch__; got "
            f"{torch_dispatch_class!r}"
        )

    def register(function: Function) -> Function:
        _C._dispatch_rules[_existing(op), torch_dispatch_class] = function
        return function

    return register if func is None else register(func)


def define(qualname: str, schema: str | None = None, *, lib: Library | None = None, tags: Any = ()) -> Any:
    """Defines ``qualname`` (``"mylib::scale"``) with a schema ``"(Tensor x) -> Tensor"``.

    Raises:
        ValueError: ``qualname`` has no namespace, or no schema is given.
    """
    library, name = _library_of(qualname, lib)
    if schema is None:
        raise ValueError(f"taeda.library.define: '{qualname}' needs a schema such as '(Tensor x) -> Tensor'")
    library.define(name + schema, tags=tags)
    return None


def impl(qualname: str, types: str | Sequence[str] | None, func: Function | None = None, *,
         lib: Library | None = None) -> Any:  # fmt: skip
    """Registers a kernel for device types (``"cpu"``, ``"default"`` for all) or dispatch keys; also a decorator."""

    def register(function: Function) -> Function:
        library, name = _library_of(_name(qualname), lib)
        for kind in [types] if types is None or isinstance(types, str) else types:
            library.impl(name, function, key_of(kind))
        return function

    return register if func is None else register(func)


def register_kernel(op: Any, device_types: str | Sequence[str] | None, func: Function | None = None, /, *,
                    lib: Library | None = None) -> Any:  # fmt: skip
    """Registers the implementation of an op for device types; also a decorator."""
    custom = find_custom_op(_name(op))
    if custom is not None:
        return custom.register_kernel(device_types, func)
    return impl(_name(op), device_types, func, lib=lib)


def register_fake(op: Any, func: Function | None = None, /, *, lib: Library | None = None, _stacklevel: int = 1,
                  allow_override: bool = False) -> Any:  # fmt: skip
    """Registers what an op gives for tensors without memory (device ``meta``): empty results of the right shape.

    It may come before the op: it waits until one of that name is defined.
    """
    custom = find_custom_op(_name(op))
    if custom is not None:
        return custom.register_fake if func is None else custom.register_fake(func)

    def register(function: Function) -> Function:
        qualified = _name(op)
        library, name = _library_of(qualified, lib)
        if _C._overloads_of(qualified.partition(".")[0]):
            library.impl(name, as_meta_kernel(function), "Meta", allow_override=allow_override)
        else:
            _waiting.setdefault(qualified, []).append(lambda: library.impl(name, as_meta_kernel(function), "Meta"))
        return function

    return register if func is None else register(func)


def impl_abstract(
    qualname: str, func: Function | None = None, *, lib: Library | None = None, _stacklevel: int = 1
) -> Any:
    """The older name of ``register_fake``."""
    return register_fake(qualname, func, lib=lib)


def register_autograd(op: Any, backward: Function, /, *, setup_context: Function | None = None,
                      lib: Library | None = None) -> None:  # fmt: skip
    """Registers the derivative of an op.

    Args:
        op: an op object, or its name ``"mylib::scale"``.
        backward: ``backward(ctx, *grads)`` returns one gradient, or None, for each argument.
        setup_context: ``setup_context(ctx, inputs, output)`` keeps what ``backward`` needs.

    Raises:
        RuntimeError: the op writes to its arguments, so that it has no derivative.
    """
    custom = find_custom_op(_name(op))
    if custom is not None:
        custom.register_autograd(backward, setup_context=setup_context)
        return
    library, name = _library_of(_name(op), lib)
    kernel = make_autograd_kernel(_overload(op), backward, setup_context)
    library.impl(name, kernel, "Autograd", with_keyset=True)


def register_vmap(op: Any, func: Function | None = None, /, *, lib: Library | None = None) -> Any:
    """Registers how an op runs for all examples of a ``vmap`` at once; without, it runs for one after the other.

    Args:
        op: an op object, or its name ``"mylib::scale"``.
        func: ``func(info, in_dims, *args, **kwargs)`` gets the op's arguments with the dimension over examples, and for
            each of them which that is, or None; ``info.batch_size`` and ``info.randomness`` tell of the ``vmap``. It
            returns the result and its dimension over examples, or a tuple of each.
    """
    from taeda.func._batched.rules import register_program_rule

    def register(function: Function) -> Function:
        register_program_rule(_name(op).removesuffix(".default"), function)
        return function

    return register if func is None else register(func)


def register_autocast(op: Any, device_type: str, cast_inputs: taeda.dtype, /, *, lib: Library | None = None) -> None:
    """Says that autocast casts an op's tensors.

    Args:
        op: an op object, or its name ``"mylib::scale"``.
        device_type: where autocast is on.
        cast_inputs: the dtype that floating-point tensors on such devices, but for float64, are cast to; the op then
            runs with autocast off.

    Raises:
        ValueError: there is no autocast on such devices, or ``cast_inputs`` is no dtype.
    """
    custom = find_custom_op(_name(op))
    if custom is not None:
        custom.register_autocast(device_type, cast_inputs)
        return
    library, name = _library_of(_name(op), lib)
    kernel, key = make_autocast_kernel(_overload(op), device_type, cast_inputs)
    library.impl(name, kernel, key)


@contextlib.contextmanager
def _scoped_library(*args: Any, **kwargs: Any) -> Iterator[Library]:
    """A ``Library`` whose registrations end with the ``with`` block."""
    library = Library(*args, **kwargs)
    try:
        yield library
    finally:
        library._destroy()
