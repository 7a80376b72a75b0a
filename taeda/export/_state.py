"""What a module holds while it is recorded: parameters, buffers, plain tensors; and putting it back as it was."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.export.graph_signature import InputKind

Entry = tuple[str, Tensor, InputKind, bool | None]


class State:
    """A module's tensors by their paths; one that is held twice has an entry for each, and is the first."""

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        self.entries: list[Entry] = [
            (path, p, InputKind.PARAMETER, None) for path, p in module.named_parameters(remove_duplicate=False)
        ]
        self.original: dict[str, Tensor] = dict(module.named_buffers(remove_duplicate=False))
        for path, buffer in self.original.items():
            owner, name = _owner(module, path)
            persistent = name not in owner._non_persistent_buffers_set
            self.entries.append((path, buffer, InputKind.BUFFER, persistent))
        self._plain: dict[int, list[str]] = {}
        for path, inner in module.named_modules():
            for name, value in vars(inner).items():
                if isinstance(value, Tensor):
                    self._plain.setdefault(id(value), []).append(f"{path}.{name}" if path else name)
        self._values = {p: b.detach().clone() for p, b in self.original.items() if not b.is_meta}

    def saved(self) -> dict[str, Tensor]:
        """Parameters and persistent buffers. What a loaded program has as parameters are plain tensors."""
        made: dict[int, Tensor] = {}
        found: dict[str, Tensor] = {}
        for path, tensor, kind, kept in self.entries:
            if kind is InputKind.PARAMETER and not isinstance(tensor, nn.Parameter):
                tensor = made.setdefault(id(tensor), nn.Parameter(tensor.detach(), tensor.requires_grad))
            if kind is InputKind.PARAMETER or kept:
                found[path] = tensor
        return found

    def paths_of_plain(self, tensor: Tensor) -> list[str]:
        """The paths of a tensor that is an attribute, but neither parameter nor buffer."""
        return self._plain.get(id(tensor), [])

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """On an error within, the module is put back as it was."""
        try:
            yield
        except BaseException:
            self.assigned()
            self.restore({})
            raise

    def assigned(self) -> list[tuple[str, Tensor]]:
        """Buffers in whose place the program put other tensors; the module gets the former ones back."""
        found = []
        for path, buffer in self.original.items():
            owner, name = _owner(self.module, path)
            now = owner._buffers.get(name)
            if now is not buffer:
                if now is not None:
                    found.append((path, now))
                owner._buffers[name] = buffer
        return found

    def restore(self, overwritten: dict[int, Tensor]) -> None:
        """Gives buffers and overwritten parameters their former values."""
        with taeda.no_grad():
            for path, value in self._values.items():
                buffer = self.original[path]
                if not taeda.equal(buffer, value):
                    buffer.copy_(value)
            for _, parameter, kind, _ in self.entries:
                if kind is InputKind.PARAMETER and id(parameter) in overwritten:
                    parameter.copy_(overwritten[id(parameter)])


def _owner(module: nn.Module, path: str) -> tuple[Any, str]:
    *outer, name = path.split(".")
    for part in outer:
        module = getattr(module, part)
    return module, name
