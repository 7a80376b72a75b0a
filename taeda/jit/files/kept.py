"""The text of programs that were saved: as long as nothing of a program changes, another save writes it again."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from typing import Any, NamedTuple

from taeda import _C
from taeda.jit.check.classes import class_named
from taeda.jit.files.definitions import Definitions
from taeda.jit.files.instructions import Written, instructions_of
from taeda.jit.ir import Block

_MOST = 4  # programs


class Texts(NamedTuple):
    """What an archive says of a program beside its values."""

    records: dict[str, bytes]  # of source
    constants: list[Any]
    instructions: Written | None


_kept: OrderedDict[Any, tuple[list[Any], list[Any], Texts]] = OrderedDict()


def texts_of(root: Any, definitions: Definitions, function: Any, needed: bool) -> Texts:
    """The texts for the class of a module, of which ``definitions`` knows what it needs.

    Args:
        function: the function that is saved, if it is none of a module.
        needed: whether a program without instructions is an error.
    """
    alive: list[Any] = []
    now = _all_of(definitions, alive)
    key = root if function is None else function
    found = _kept.get(key)
    if found is not None and found[0] == now and (found[2].instructions is not None or not needed):
        _kept.move_to_end(key)
        return found[2]
    records = definitions.records()
    texts = Texts(records, definitions.constants.items, instructions_of(definitions, function, needed))
    _kept[key] = now, alive, texts
    info = class_named(root._name)
    if info is not None:
        weakref.finalize(info, _kept.pop, key, None).atexit = False
    while len(_kept) > _MOST:
        _kept.popitem(last=False)
    return texts


def _all_of(definitions: Definitions, alive: list[Any]) -> list[Any]:
    """All that the texts are made of, to be compared; what is compared by its identity stays ``alive``."""
    parts: list[Any] = []
    for type in definitions.types():
        parts.append(type)
        if type.kind() == "ClassType":
            info = class_named(type._name)
            parts.append(_C._class_attributes(type))
            parts.append({name: list(hooks) for name, hooks in info.hooks.items()} if info is not None else None)
            constants = [value for _, value in _C._class_constants(type)]
            parts += [(value.__class__, str(value)) for value in constants]
    for function in definitions.all_functions():
        parts.append(function)
        _block(function.graph, parts, alive)
    return parts


def _block(block: Block, parts: list[Any], alive: list[Any]) -> None:
    for node in (block.paramNode(), *block.nodes(), block.returnNode()):
        parts += (node, node._kind, node.overload, node.range)
        parts += node._inputs
        for value in node._outputs:
            parts += (value, value.static_type, value._name)
        for name, (_, held) in node._attributes.items():
            parts += (name, id(held))
            alive.append(held)
            if isinstance(held, Block):
                _block(held, parts, alive)
        for inner in node._blocks:
            parts.append(None)  # where one begins
            _block(inner, parts, alive)
