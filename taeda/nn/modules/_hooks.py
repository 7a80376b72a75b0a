"""The hooks of a module's call, and the call itself once there are any."""

from __future__ import annotations

import contextlib
import warnings
from _thread import get_ident
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from taeda.utils.hooks import RemovableHandle

# The tables a call looks at. They are made when first asked for; whoever asks may add a hook, so asking for one
# switches the module to the instrumented call.
CALL_TABLES = frozenset(
    {
        "_forward_pre_hooks",
        "_forward_pre_hooks_with_kwargs",
        "_forward_hooks",
        "_forward_hooks_with_kwargs",
        "_forward_hooks_always_called",
        "_backward_pre_hooks",
        "_backward_hooks",
    }
)
STATE_TABLES = frozenset(
    {"_state_dict_hooks", "_state_dict_pre_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks"}
)
HOOK_TABLES = CALL_TABLES | STATE_TABLES
_EMPTY: Any = OrderedDict()

_global_forward_pre_hooks: OrderedDict[int, Any] = OrderedDict()
_global_forward_hooks: OrderedDict[int, Any] = OrderedDict()
_global_forward_hooks_always_called: OrderedDict[int, bool] = OrderedDict()
_global_forward_hooks_with_kwargs: OrderedDict[int, bool] = OrderedDict()
_global_backward_pre_hooks: OrderedDict[int, Any] = OrderedDict()
_global_backward_hooks: OrderedDict[int, Any] = OrderedDict()
_global_legacy_backward_hooks: OrderedDict[int, Any] = OrderedDict()
_around_forward: dict[int, Callable[..., Any]] = {}  # by thread: what calls `forward`, between the hooks
_GLOBAL_CALL_TABLES = (
    _global_forward_pre_hooks,
    _global_forward_hooks,
    _global_backward_pre_hooks,
    _global_backward_hooks,
    _global_legacy_backward_hooks,
    _around_forward,
)


def set_global_hooks(name: str, hooks: Any) -> None:
    """What an assignment to a table of hooks for all modules does: the table is filled anew."""
    table = globals()[name]
    table.clear()
    table.update(hooks)
    if name == "_global_backward_hooks":  # which in PyTorch holds both kinds
        _global_legacy_backward_hooks.clear()
    HookMixin._instrumented = any(_GLOBAL_CALL_TABLES)


_global_parameter_registration_hooks: OrderedDict[int, Any] = OrderedDict()
_global_buffer_registration_hooks: OrderedDict[int, Any] = OrderedDict()
_global_module_registration_hooks: OrderedDict[int, Any] = OrderedDict()


def add_hook(table: Any, hook: Any, *marks: Any, prepend: bool = False) -> RemovableHandle:
    """Puts ``hook`` into ``table``; ``marks`` are (table, wanted) pairs that list the hooks of some property."""
    from taeda.utils.hooks import RemovableHandle

    handle = RemovableHandle(table, extra_dict=[mark for mark, _ in marks] or None)
    table[handle.id] = hook
    for mark, wanted in marks:
        if wanted:
            mark[handle.id] = True
    if prepend:
        table.move_to_end(handle.id, last=False)
    return handle


def run_registration_hooks(hooks: OrderedDict[int, Any], module: Any, name: str, value: Any) -> Any:
    """``value``, or what the last of the hooks that returned something made of it."""
    for hook in hooks.values():
        replaced = hook(module, name, value)
        if replaced is not None:
            value = replaced
    return value


def _check_kind(full: bool | None, wanted: bool, where: str) -> None:
    if full is not None and full is not wanted:
        raise RuntimeError(
            f"taeda.nn: {where} has {'full' if full else 'non-full'} backward hooks already; the two kinds cannot be "
            "mixed, use register_full_backward_hook for all"
        )


class _Table:
    """A table of hooks before it is made. It stands in the class: a program's own ``__getattr__`` does not know it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, module: Any, owner: type | None = None) -> OrderedDict[int, Any]:
        if module is None:
            raise AttributeError(f"type object {owner!r} has no attribute {self.name!r}")
        return module._make_hook_table(self.name)  # type: ignore[no-any-return]


class HookMixin:
    """Registration of hooks and the instrumented call; the part of `Module` that most calls never enter."""

    # One test decides between the plain and the instrumented call. Set on a module when it may have hooks, and on this
    # class while there are hooks for all modules.
    _instrumented = False
    _is_full_backward_hook: bool | None = None
    _compiled_call_impl: Any = None
    forward: Any
    # Each is made when it is first asked for: see `_Table`.
    _forward_pre_hooks: OrderedDict[int, Any]
    _forward_pre_hooks_with_kwargs: OrderedDict[int, Any]
    _forward_hooks: OrderedDict[int, Any]
    _forward_hooks_with_kwargs: OrderedDict[int, Any]
    _forward_hooks_always_called: OrderedDict[int, Any]
    _backward_pre_hooks: OrderedDict[int, Any]
    _backward_hooks: OrderedDict[int, Any]
    _state_dict_hooks: OrderedDict[int, Any]
    _state_dict_pre_hooks: OrderedDict[int, Any]
    _load_state_dict_pre_hooks: OrderedDict[int, Any]
    _load_state_dict_post_hooks: OrderedDict[int, Any]

    def _make_hook_table(self, name: str) -> OrderedDict[int, Any]:
        table: OrderedDict[int, Any] = OrderedDict()
        self.__dict__[name] = table
        if name in CALL_TABLES:
            self.__dict__["_instrumented"] = True
        return table

    def _hook_table(self, name: str) -> Any:
        """The table to read from, without making one."""
        return self.__dict__.get(name, _EMPTY)

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Calls ``hook(module, args)`` before `forward`; what it returns, unless ``None``, becomes the arguments.

        With ``with_kwargs`` it is ``hook(module, args, kwargs)``, which returns ``None`` or a new ``(args, kwargs)``.
        """
        this: Any = self
        mark = (this._forward_pre_hooks_with_kwargs, with_kwargs)
        return add_hook(this._forward_pre_hooks, hook, mark, prepend=prepend)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Calls ``hook(module, args, output)`` after `forward`; what it returns, unless ``None``, becomes the output.

        With ``with_kwargs`` it is ``hook(module, args, kwargs, output)``; with ``always_call`` it runs even if the
        forward raised.
        """
        this: Any = self
        marks = ((this._forward_hooks_with_kwargs, with_kwargs), (this._forward_hooks_always_called, always_call))
        return add_hook(this._forward_hooks, hook, *marks, prepend=prepend)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Calls ``hook(module, grad_output)`` when the outputs' gradients are known; it may return new ones."""
        this: Any = self
        return add_hook(this._backward_pre_hooks, hook, prepend=prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Calls ``hook(module, grad_input, grad_output)`` in backward; it may return new input gradients.

        ``grad_input`` has one entry per positional argument, ``None`` for those without a gradient.
        """
        _check_kind(self._is_full_backward_hook, True, "this module")
        this: Any = self
        this._is_full_backward_hook = True
        return add_hook(this._backward_hooks, hook, prepend=prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls ``hook`` with the gradients of the module's last operation. Prefer `register_full_backward_hook`."""
        _check_kind(self._is_full_backward_hook, False, "this module")
        this: Any = self
        this._is_full_backward_hook = False
        return add_hook(this._backward_hooks, hook)

    def _wrapped_call_impl(self, *args: Any, **kwargs: Any) -> Any:
        if self._compiled_call_impl is not None:
            return self._compiled_call_impl(*args, **kwargs)
        return self._call_impl(*args, **kwargs)

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        """The call with everything that may be hooked into it."""
        if HookMixin._instrumented and not any(_GLOBAL_CALL_TABLES):
            HookMixin._instrumented = False  # the last hook for all modules is gone
        called: set[Any] = set()
        result: Any = None
        try:
            args, kwargs = self._run_forward_pre_hooks(args, kwargs)
            backward = self._full_backward_hooks()
            if backward is not None:
                args = backward.wrap_inputs(args)
            around = _around_forward.get(get_ident())
            result = self.forward(*args, **kwargs) if around is None else around(self, args, kwargs)
            result = self._run_forward_hooks(args, kwargs, result, called)
            if backward is not None:
                result = backward.wrap_outputs(result)
            self._attach_legacy_backward_hooks(args, result)
            return result
        except Exception:
            self._run_remaining_always_called(args, kwargs, result, called)
            raise

    def _run_forward_pre_hooks(self, args: Any, kwargs: Any) -> tuple[Any, Any]:
        with_kwargs = self._hook_table("_forward_pre_hooks_with_kwargs")
        hooks = [*_global_forward_pre_hooks.items(), *self._hook_table("_forward_pre_hooks").items()]
        for key, hook in hooks:
            if key in with_kwargs:
                replaced = hook(self, args, kwargs)
                if replaced is None:
                    continue
                if not (isinstance(replaced, tuple) and len(replaced) == 2):
                    raise RuntimeError(
                        "taeda.nn: a forward pre-hook registered with with_kwargs=True must return None or a tuple "
                        f"(args, kwargs); got {replaced!r}"
                    )
                args, kwargs = replaced
            else:
                replaced = hook(self, args)
                if replaced is not None:
                    args = replaced if isinstance(replaced, tuple) else (replaced,)
        return args, kwargs

    def _forward_hooks_of_call(self) -> list[tuple[tuple[bool, int], Any, bool, bool]]:
        """Each hook with its key, and whether it takes keyword arguments and whether it always runs."""
        found = [
            ((True, key), hook, key in _global_forward_hooks_with_kwargs, key in _global_forward_hooks_always_called)
            for key, hook in _global_forward_hooks.items()
        ]
        with_kwargs = self._hook_table("_forward_hooks_with_kwargs")
        always = self._hook_table("_forward_hooks_always_called")
        for key, hook in self._hook_table("_forward_hooks").items():
            found.append(((False, key), hook, key in with_kwargs, key in always))
        return found

    def _run_forward_hooks(self, args: Any, kwargs: Any, result: Any, called: set[Any]) -> Any:
        for key, hook, takes_kwargs, always in self._forward_hooks_of_call():
            if always:
                called.add(key)
            replaced = hook(self, args, kwargs, result) if takes_kwargs else hook(self, args, result)
            if replaced is not None:
                result = replaced
        return result

    def _run_remaining_always_called(self, args: Any, kwargs: Any, result: Any, called: set[Any]) -> None:
        for key, hook, takes_kwargs, always in self._forward_hooks_of_call():
            if not always or key in called:
                continue
            try:
                replaced = hook(self, args, kwargs, result) if takes_kwargs else hook(self, args, result)
                if replaced is not None:
                    result = replaced
            except Exception as error:  # the first exception is the one to report
                warnings.warn(f"a forward hook with always_call=True raised an exception: {error}", stacklevel=3)

    def _full_backward_hooks(self) -> Any:
        pre_hooks = self._get_backward_pre_hooks()
        hooks, _ = self._get_backward_hooks()
        if not hooks and not pre_hooks:
            return None
        from taeda.nn.modules._backward_hooks import BackwardHooks

        return BackwardHooks(self, hooks, pre_hooks)

    def _get_backward_pre_hooks(self) -> list[Any]:
        return [*_global_backward_pre_hooks.values(), *self._hook_table("_backward_pre_hooks").values()]

    def _get_backward_hooks(self) -> tuple[list[Any], list[Any]]:
        """The full and the non-full backward hooks, those for all modules first."""
        full, legacy = list(_global_backward_hooks.values()), list(_global_legacy_backward_hooks.values())
        own = self._hook_table("_backward_hooks").values()
        (full if self._is_full_backward_hook else legacy).extend(own)
        return full, legacy

    def _attach_legacy_backward_hooks(self, args: Any, result: Any) -> None:
        _, hooks = self._get_backward_hooks()
        if hooks:
            from taeda.nn.modules._backward_hooks import attach_legacy

            attach_legacy(self, hooks, args, result)


@contextlib.contextmanager
def forward_called_by(around: Callable[..., Any]) -> Iterator[None]:
    """Within, in this thread, calls of modules come to ``around(module, args, kwargs)`` in place of ``forward``."""
    former = _around_forward.get(get_ident())
    _around_forward[get_ident()] = around
    HookMixin._instrumented = True
    try:
        yield
    finally:
        del _around_forward[get_ident()]
        if former is not None:
            _around_forward[get_ident()] = former


for _name in HOOK_TABLES:
    setattr(HookMixin, _name, _Table(_name))


def of_this_thread(hook: Callable[..., Any]) -> Callable[..., Any]:
    """``hook`` where the thread that asks for it now calls modules; calls of others pass by."""
    owner = get_ident()
    return lambda *args: hook(*args) if get_ident() == owner else None


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """`Module.register_forward_pre_hook` for every module; these run before a module's own."""
    HookMixin._instrumented = True
    return add_hook(_global_forward_pre_hooks, hook)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """`Module.register_forward_hook` for every module; these run before a module's own."""
    HookMixin._instrumented = True
    marks = ((_global_forward_hooks_with_kwargs, with_kwargs), (_global_forward_hooks_always_called, always_call))
    return add_hook(_global_forward_hooks, hook, *marks)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """`Module.register_full_backward_pre_hook` for every module; these run before a module's own."""
    HookMixin._instrumented = True
    return add_hook(_global_backward_pre_hooks, hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """`Module.register_full_backward_hook` for every module; these run before a module's own."""
    _check_kind(False if _global_legacy_backward_hooks else None, True, "the set of hooks for all modules")
    HookMixin._instrumented = True
    return add_hook(_global_backward_hooks, hook)


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """`Module.register_backward_hook` for every module. Prefer `register_module_full_backward_hook`."""
    _check_kind(True if _global_backward_hooks else None, False, "the set of hooks for all modules")
    HookMixin._instrumented = True
    return add_hook(_global_legacy_backward_hooks, hook)


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls ``hook(module, name, param)`` whenever a module gets a parameter; it may return another one."""
    return add_hook(_global_parameter_registration_hooks, hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls ``hook(module, name, buffer)`` whenever a module gets a buffer; it may return another one."""
    return add_hook(_global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls ``hook(module, name, submodule)`` whenever a module gets a submodule; it may return another one."""
    return add_hook(_global_module_registration_hooks, hook)
