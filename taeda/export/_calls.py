"""How the modules in a program were called."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from typing import Any

from taeda import Tensor, nn
from taeda._schema.symbols import SymBool, SymFloat, _Symbol
from taeda.export._capture import Capture
from taeda.export.dynamic_shapes import signature_of
from taeda.export.exported_program import ModuleCallEntry, ModuleCallSignature
from taeda.export.graph_signature import (
    ConstantArgument,
    SymBoolArgument,
    SymFloatArgument,
    SymIntArgument,
    TensorArgument,
)
from taeda.nn.modules._hooks import of_this_thread
from taeda.utils import _pytree as pytree


def argument_names(module: nn.Module, args: Any, kwargs: Any) -> Iterator[str]:
    """The names of what a call gave."""
    parameters = list(signature_of(module).parameters.values())
    variadic = next((i for i, p in enumerate(parameters) if p.kind is inspect.Parameter.VAR_POSITIONAL), None)
    for i, _ in enumerate(args):
        if variadic is not None and i >= variadic:
            yield f"{parameters[variadic].name}_{i - variadic}"
        else:
            yield parameters[i].name
    yield from kwargs


class Calls:
    """Watches the calls of a module's children within ``with calls:``.

    Args:
        root: the module.
        capture: what records its ops.
        preserved: the paths of those whose arguments and results are wanted.

    Raises:
        ValueError: there is no module at such a path.
    """

    def __init__(self, root: nn.Module, capture: Capture, preserved: tuple[str, ...]) -> None:
        self.capture = capture
        self.paths = {id(module): path for path, module in root.named_modules() if path}
        self.preserved = {path: root.get_submodule(path) for path in preserved}
        self.called: dict[str, ModuleCallSignature | None] = {}
        self._hooks = contextlib.ExitStack()

    def __enter__(self) -> Calls:
        hook = nn.modules.module.register_module_forward_pre_hook(of_this_thread(self._note))
        self._hooks.callback(hook.remove)
        for path, module in self.preserved.items():
            watch = lambda module, args, kwargs, result, path=path: self._keep(path, module, args, kwargs, result)
            self._hooks.callback(module.register_forward_hook(watch, with_kwargs=True).remove)
        return self

    def __exit__(self, *error: Any) -> None:
        self._hooks.close()

    def entries(self) -> list[ModuleCallEntry]:
        """Those that were called, in the order of their first calls."""
        return [ModuleCallEntry(path, signature) for path, signature in self.called.items()]

    def _note(self, module: nn.Module, args: Any) -> None:
        path = self.paths.get(id(module))
        if path is not None:
            self.called.setdefault(path, None)

    def _keep(self, path: str, module: nn.Module, args: Any, kwargs: Any, result: Any) -> None:
        name, number = path, 0
        while self.called.get(name) is not None:
            number += 1
            name = f"{path}@{number}"
        inputs, in_spec = pytree.tree_flatten((args, kwargs))
        outputs, out_spec = pytree.tree_flatten(result)
        self.called[name] = ModuleCallSignature(
            list(map(self._argument, inputs)), list(map(self._argument, outputs)), in_spec, out_spec,
            list(argument_names(module, args, kwargs)),
        )  # fmt: skip

    def _argument(self, value: Any) -> Any:
        if not isinstance(value, (Tensor, _Symbol)):
            return ConstantArgument("", value)
        name = self.capture.node_of(value).name
        if isinstance(value, Tensor):
            return TensorArgument(name)
        kinds = {SymFloat: SymFloatArgument, SymBool: SymBoolArgument}
        return kinds.get(type(value), SymIntArgument)(name)
