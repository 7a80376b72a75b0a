"""The functions of ``taeda.library`` that register one thing about an op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import _C
from taeda._library.autocast import make_autocast_kernel
from taeda._library.autograd import make_autograd_kernel
from taeda._library.custom_ops import find_custom_op
from taeda._library.fake import as_meta_kernel
from taeda._library.keys import key_of
from taeda._library.library import Library, library_of, waiting
from taeda._library.names import existing, name_of, overload_of
from taeda._library.vmap import register_rule

Function = Callable[..., Any]


def define(qualname: Any, schema: str | None = None, *, lib: Library | None = None, tags: Any = ()) -> Any:
    """Defines ``qualname`` (``"mylib::scale"``) with a schema ``"(Tensor x) -> Tensor"``.

    ``define(library, "scale(Tensor x) -> Tensor")`` is the older form, a decorator of the op's function.

    Raises:
        ValueError: ``qualname`` has no namespace, or no schema is given.
    """
    if isinstance(qualname, Library) and schema is not None:
        qualname.define(schema, tags=tags)
        return impl(qualname, schema.partition("(")[0].strip())
    library, name = library_of(qualname, lib)
    if schema is None:
        raise ValueError(f"taeda.library.define: '{qualname}' needs a schema such as '(Tensor x) -> Tensor'")
    library.define(name + schema, tags=tags)
    return None


def impl(qualname: Any, types: str | Sequence[str] | None, func: Any = None, *,
         lib: Library | None = None) -> Any:  # fmt: skip
    """Registers a kernel for device types (``"cpu"``, ``"default"`` for all) or dispatch keys; also a decorator.

    ``impl(library, name, dispatch_key="")`` is the older form, a decorator.
    """
    if isinstance(qualname, Library):

        def register_in(function: Function) -> Function:
            name: Any = types
            qualname.impl(name, function, func or "")
            return function

        return register_in

    def register(function: Function) -> Function:
        library, name = library_of(name_of(qualname), lib)
        for kind in [types] if types is None or isinstance(types, str) else types:
            library.impl(name, function, key_of(kind))
        return function

    return register if func is None else register(func)


def register_kernel(op: Any, device_types: str | Sequence[str] | None, func: Function | None = None, /, *,
                    lib: Library | None = None) -> Any:  # fmt: skip
    """Registers the implementation of an op for device types; also a decorator."""
    custom = find_custom_op(name_of(op))
    if custom is not None:
        return custom.register_kernel(device_types, func)
    return impl(name_of(op), device_types, func, lib=lib)


def register_fake(op: Any, func: Function | None = None, /, *, lib: Library | None = None, _stacklevel: int = 1,
                  allow_override: bool = True) -> Any:  # fmt: skip
    """Registers what an op gives for tensors without memory (device ``meta``): empty results of the right shape.

    It may come before the op: it waits until one of that name is defined.
    """
    custom = find_custom_op(name_of(op))
    if custom is not None:
        return custom.register_fake if func is None else custom.register_fake(func)

    def register(function: Function) -> Function:
        qualified = name_of(op)
        library, name = library_of(qualified, lib)
        if _C._overloads_of(qualified.partition(".")[0]):
            library.impl(name, as_meta_kernel(function), "Meta", allow_override=allow_override)
        else:
            waiting.setdefault(qualified, []).append(lambda: library.impl(name, as_meta_kernel(function), "Meta"))
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
    custom = find_custom_op(name_of(op))
    if custom is not None:
        custom.register_autograd(backward, setup_context=setup_context)
        return
    library, name = library_of(name_of(op), lib)
    kernel = make_autograd_kernel(overload_of(op), backward, setup_context)
    library.impl(name, kernel, "Autograd", with_keyset=True)


def register_vmap(op: Any, func: Function | None = None, /, *, lib: Library | None = None) -> Any:
    """Registers how an op runs for all examples of a ``vmap`` at once; without, it runs for one after the other.

    Args:
        op: an op object, or its name ``"mylib::scale"``.
        func: ``func(info, in_dims, *args, **kwargs)`` gets the op's arguments with the dimension over examples, and for
            each of them which that is, or None; ``info.batch_size`` and ``info.randomness`` tell of the ``vmap``. It
            returns the result and its dimension over examples, or a tuple of each.
    """
    return register_rule(name_of(op).removesuffix(".default"), func)


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
    custom = find_custom_op(name_of(op))
    if custom is not None:
        custom.register_autocast(device_type, cast_inputs)
        return
    library, name = library_of(name_of(op), lib)
    kernel, key = make_autocast_kernel(overload_of(op), device_type, cast_inputs)
    library.impl(name, kernel, key)


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
        _C._dispatch_rules[existing(op), torch_dispatch_class] = function
        return function

    return register if func is None else register(func)
