"""Views that share no memory with their base, since parts had to be moved for them: what is written to them is written
to the base, too."""

from __future__ import annotations

from typing import Any

from taeda.distributed.tensor._redistribute import move
from taeda.distributed.tensor._spec import Placements
from taeda.distributed.tensor.placement_types import Replicate
from taeda.utils._pytree import tree_flatten


def note_base(out: Any, local: Any, func: Any, args: Any, kwargs: Any, kind: Any) -> None:
    """Has the results of a view op remember whose they are, unless it saw the base's own part, ``local``."""
    if local is args[0]._local_tensor and args[0]._seen_from is None:
        return
    if any(one.alias_info is not None and not one.alias_info.is_write for one in func._schema.returns):
        for number, view in enumerate(tree_flatten(out)[0]):
            if isinstance(view, kind):
                view._seen_from = args[0], lambda base, n=number: tree_flatten(func(base, *args[1:], **kwargs))[0][n]


def store(tensor: Any, local: Any, placements: Placements) -> None:
    """Puts into ``tensor`` the part ``local`` of what lies as ``placements``, which may be its own part."""
    moved = move(local, tensor._spec._replace(placements=placements), tensor._spec.placements)
    if moved is not tensor._local_tensor:
        tensor._local_tensor.copy_(moved)
    if tensor._seen_from is None:
        return
    base, view = tensor._seen_from
    everywhere = (Replicate(),) * tensor._spec.mesh.ndim
    whole = move(base._local_tensor, base._spec, everywhere).clone()
    view(whole).copy_(move(tensor._local_tensor, tensor._spec, everywhere))
    store(base, whole, everywhere)
