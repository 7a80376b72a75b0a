"""Handles that take registered hooks away again."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import MutableMapping
from typing import Any

from taeda._tensor.unsaved_hooks import unserializable_hook, warn_if_has_hooks

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]

_ids = itertools.count()


class RemovableHandle:
    """Removes the hook stored under :attr:`id` in ``hooks_dict`` when asked, or at the end of a ``with`` block.

    ``extra_dict`` names further tables (one or a list) that keep facts about the hook under the same id. The tables are
    held weakly, so a handle does not keep the hooked object alive.
    """

    id: int

    def __init__(self, hooks_dict: MutableMapping[int, Any], *, extra_dict: Any = None) -> None:
        self.id = next(_ids)
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        extra = extra_dict if isinstance(extra_dict, list) else [] if extra_dict is None else [extra_dict]
        self.extra_dict_ref = tuple(weakref.ref(d) for d in extra)

    def remove(self) -> None:
        """Removes the hook; doing so twice is harmless."""
        for ref in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = ref()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __getstate__(self) -> tuple[Any, ...]:
        return (self.hooks_dict_ref(), self.id, tuple(ref() for ref in self.extra_dict_ref))

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        from collections import OrderedDict

        hooks, self.id, *extra = state
        self.hooks_dict_ref = weakref.ref(OrderedDict() if hooks is None else hooks)
        tables = extra[0] if extra else ()
        self.extra_dict_ref = tuple(weakref.ref(OrderedDict() if d is None else d) for d in tables)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()
