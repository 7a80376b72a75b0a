"""``custom_op``: an op from a Python function with type hints."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import taeda
from taeda import _C
from taeda._library.autocast import make_autocast_kernel
from taeda._library.autograd import make_autograd_kernel
from taeda._library.fake import as_meta_kernel
from taeda._library.infer_schema import infer_schema
from taeda._library.keys import key_of
from taeda._library.library import Library
from taeda._library.vmap import register_rule
from taeda._main.callers import location_of

Function = Callable[..., Any]

_definitions: dict[str, CustomOpDef] = {}


def find_custom_op(qualname: str) -> CustomOpDef | None:
    """The definition that ``custom_op`` made under this name, if it did."""
    return _definitions.get(qualname)


def custom_op(
    name: str,
    fn: Function | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags: Any = (),
) -> Any:
    """Wraps a function into an op, which autograd, ``explain`` and whatever else looks at ops then take as a whole.

    Args:
        name: ``"mylib::numpy_sin"``.
        mutates_args: the names of the tensors that the function writes to; ``"unknown"`` for all.
        device_types: the devices that the function is for; None for all. ``register_kernel`` adds others.
        schema: ``"(Tensor x) -> Tensor"``; read from the type hints if None.

    Example::

        @taeda.library.custom_op("mylib::numpy_sin", mutates_args=())
        def numpy_sin(x: Tensor) -> Tensor:
            return taeda.from_numpy(np.sin(x.numpy()))

    Raises:
        ValueError: a malformed name, or type hints that a schema cannot say.
    """

    def make(function: Function) -> CustomOpDef:
        namespace, separator, plain = name.partition("::")
        if not separator or not plain.isidentifier():
            raise ValueError(f"taeda.library.custom_op: an op is named 'namespace::name'; got '{name}'")
        text = schema if schema is not None else infer_schema(function, mutates_args=mutates_args)
        given = [tags] if isinstance(tags, taeda.Tag) else list(tags)
        definition = CustomOpDef(namespace, plain, text, function, [taeda.Tag.pt2_compliant_tag, *given])
        if schema is not None:
            _check_written(definition, mutates_args)
        definition.register_kernel(device_types, function)
        return definition

    return make if fn is None else make(fn)


def _check_written(definition: CustomOpDef, mutates_args: str | Iterable[str]) -> None:
    said = {mutates_args} if isinstance(mutates_args, str) else set(mutates_args)
    written = {a.name for a in definition._opoverload._schema.arguments if a.is_write}
    if said != {"unknown"} and said != written:
        raise ValueError(
            f"taeda.library.custom_op: mutates_args says {sorted(said)}, but the schema writes to {sorted(written)}"
        )


class CustomOpDef:
    """An op that ``custom_op`` made: call it, or register more about it."""

    def __init__(self, namespace: str, name: str, schema: str, fn: Function, tags: Any = ()) -> None:
        self._namespace, self._name, self._schema = namespace, name, schema
        self._qualname = f"{namespace}::{name}"
        self._init_fn = fn
        self._kernels: dict[str | None, Function] = {}
        self._disabled: set[str] = set()
        self._backward: Function | None = None
        self._setup_context: Function | None = None
        self._fake: Function | None = None
        self._forget_previous()
        self._lib = Library(namespace, "FRAGMENT")
        self._lib.define(name + schema, tags=tags)
        self._opoverload = getattr(getattr(taeda.ops, namespace), name).default
        self._register_layers()
        _definitions[self._qualname] = self
        functools.update_wrapper(self, fn)

    def _forget_previous(self) -> None:
        """A second definition of the name, say in a notebook's cell that runs again, takes the first one's place."""
        previous = _definitions.pop(self._qualname, None)
        if previous is not None:
            previous._lib._destroy()
            vars(getattr(taeda.ops, self._namespace)).pop(self._name, None)

    @property
    def _mutable_positions(self) -> list[int]:
        return [i for i, a in enumerate(self._opoverload._schema.arguments) if a.is_write]

    def _register_layers(self) -> None:
        op = self._opoverload
        self._lib.impl(op, self._autograd, "Autograd", with_keyset=True)
        self._lib.impl(op, as_meta_kernel(self._shapes), "Meta")
        if op._schema.is_mutable:
            self._lib.impl(op, self._count_writes, "ADInplaceOrView", with_keyset=True)

    # --- layers
    @functools.cached_property
    def _autograd(self) -> Function:
        kernels: dict[Any, Function] = {}

        def kernel(keyset: Any, *args: Any, **kwargs: Any) -> Any:
            key = (self._backward, self._setup_context)
            if key not in kernels:
                kernels[key] = make_autograd_kernel(self._opoverload, *key)
            return kernels[key](keyset, *args, **kwargs)

        return kernel

    def _count_writes(self, keyset: Any, *args: Any, **kwargs: Any) -> Any:
        result = self._opoverload.redispatch(keyset & _C._after_ADInplaceOrView_keyset, *args, **kwargs)
        for position in self._mutable_positions:
            name = self._opoverload._schema.arguments[position].name
            value = args[position] if position < len(args) else kwargs.get(name)
            for tensor in value if isinstance(value, (list, tuple)) else [value]:
                if isinstance(tensor, taeda.Tensor) and not tensor.is_inference():
                    _C._autograd._increment_version(tensor)
        return result

    def _shapes(self, *args: Any, **kwargs: Any) -> Any:
        if self._fake is not None:
            return self._fake(*args, **kwargs)
        if not self._opoverload._schema.returns:
            return None
        raise NotImplementedError(
            f"taeda.library: {self._qualname} got tensors without memory (device meta) and cannot tell its results' "
            "shapes; register_fake gives it a function that does"
        )

    # --- registration
    def register_kernel(self, device_types: str | Sequence[str] | None, fn: Function | None = None, /) -> Any:
        """Registers the implementation for device types (None for all others); also a decorator."""

        def register(function: Function) -> Function:
            devices = [device_types] if device_types is None or isinstance(device_types, str) else device_types
            for device in devices:
                is_new = device not in self._kernels
                self._kernels[device] = function
                if is_new:
                    self._lib.impl(self._opoverload, self._kernel_for(device), key_of(device))
            return function

        return register if fn is None else register(fn)

    def _kernel_for(self, device: str | None) -> Function:
        @functools.wraps(self._kernels[device])
        def kernel(*args: Any, **kwargs: Any) -> Any:
            enabled = device not in self._disabled
            result = (self._kernels[device] if enabled else self._init_fn)(*args, **kwargs)
            _check_fresh(self._qualname, args, kwargs, result)
            return result

        return kernel

    def register_fake(self, fn: Function, /) -> Function:
        """Registers what gives empty results of the right shape for tensors on the device ``meta``."""
        self._fake = fn
        return fn

    def register_autograd(self, backward: Function, /, *, setup_context: Function | None = None) -> None:
        """Registers the derivative; see ``taeda.library.register_autograd``."""
        if self._opoverload._schema.is_mutable:
            raise RuntimeError(f"taeda.library: {self._qualname} writes to its arguments, so that it has no derivative")
        self._backward, self._setup_context = backward, setup_context

    def register_vmap(self, func: Function | None = None) -> Any:
        """Registers how the op runs under ``vmap``; see ``taeda.library.register_vmap``."""
        return register_rule(self._qualname, func)

    def register_autocast(self, device_type: str, cast_inputs: taeda.dtype) -> None:
        """Says that autocast casts the op's tensors; see ``taeda.library.register_autocast``."""
        kernel, key = make_autocast_kernel(self._opoverload, device_type, cast_inputs)
        self._lib.impl(self._opoverload, kernel, key, allow_override=True)

    @contextmanager
    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> Iterator[None]:
        """Inside the ``with`` block the kernel of a device is used, or else the function of the definition."""
        before = set(self._disabled)
        (self._disabled.discard if enabled else self._disabled.add)(device_type)
        try:
            yield
        finally:
            self._disabled = before

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._opoverload(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname}) from {location_of(self._init_fn)}>"


def _tensors(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, taeda.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


def _check_fresh(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
    """Autograd takes results for new memory, so that one that is an argument would be wrong silently."""
    results = [r for r in _tensors([result]) if r.numel()]
    if not results:
        return
    given = {t.data_ptr() for t in _tensors([args, list(kwargs.values())]) if t.device.type != "meta" and t.numel()}
    if any(r.device.type != "meta" and r.data_ptr() in given for r in results):
        raise RuntimeError(
            f"taeda.library: {name} returned memory of one of its arguments; return a clone() of it instead"
        )
