"""Makes modules of a graph one that follow one another: convolution or linear layer, norm, ReLU."""

from __future__ import annotations

from typing import Any

from taeda import fx, nn
from taeda.ao.quantization.fuser_method_mappings import _DEFAULT_OP_LIST_TO_FUSER_METHOD
from taeda.ao.quantization.fx.patterns import is_fused_relu, module_of
from taeda.nn.utils.parametrize import type_before_parametrizations as class_of


def _follower(node: fx.Node) -> fx.Node | None:
    users = list(node.users)
    return users[0] if len(users) == 1 and users[0].args[:1] == (node,) else None


def _set_module(model: nn.Module, path: str, module: nn.Module) -> None:
    parent, _, name = path.rpartition(".")
    setattr(model.get_submodule(parent), name, module)


def _types_in(chain: list[fx.Node], modules: dict[str, nn.Module]) -> tuple[Any, ...]:
    return tuple(nn.ReLU if is_fused_relu(node, modules) else class_of(module_of(node, modules)) for node in chain)


def _longest(node: fx.Node, modules: dict[str, nn.Module], table: dict[Any, Any]) -> list[fx.Node]:
    """The longest sequence from ``node`` on that can be made one; empty if there is none."""
    chain, best = [node], []
    while len(chain) < 3 and (after := _follower(chain[-1])) is not None:
        chain = [*chain, after]
        if _types_in(chain, modules) in table:
            best = chain
    return best


def fuse(model: fx.GraphModule, is_qat: bool, additional: dict[Any, Any] | None = None) -> fx.GraphModule:
    """Fuses in place; a fused module takes the place of the first of its parts.

    Args:
        is_qat: norms stay, within the fused modules, to be trained.
        additional: types of modules to functions ``f(is_qat, *modules)`` that fuse them.
    """
    table = {**_DEFAULT_OP_LIST_TO_FUSER_METHOD, **(additional or {})}
    modules = dict(model.named_modules(remove_duplicate=False))
    fused: set[fx.Node] = set()
    for node in list(model.graph.nodes):
        if node in fused or module_of(node, modules) is None:
            continue
        chain = _longest(node, modules, table)
        chains = _calls_alike(model, chain, modules, table) if chain else []
        if not chains:
            continue
        types = _types_in(chain, modules)
        parts = [
            module
            if (module := module_of(part, modules)) is not None
            else nn.ReLU().train(modules[str(node.target)].training)
            for part in chain
        ]
        made = table[types](is_qat, *parts)
        _set_module(model, str(node.target), made)
        modules[str(node.target)] = made
        for first, *rest in chains:
            for part in reversed(rest):
                part.replace_all_uses_with(first)
                model.graph.erase_node(part)
        fused |= {part for one in chains for part in one}
    model.graph.lint()
    model.delete_all_unused_submodules()
    model.recompile()
    return model


def _calls_alike(
    model: fx.GraphModule, chain: list[fx.Node], modules: dict[str, nn.Module], table: dict[Any, Any]
) -> list[list[fx.Node]]:
    """The sequences that call what ``chain`` does; none where a module with parameters is called in another one."""
    targets = [part.target for part in chain]
    calls = [node for node in model.graph.nodes if node.op == "call_module"]
    chains = [_longest(node, modules, table) for node in calls if node.target == targets[0]]
    if any([part.target for part in one] != targets for one in chains):
        return []
    for path in {str(part.target) for part in chain if part.op == "call_module"}:
        has_parameters = any(True for _ in model.get_submodule(path).parameters())
        if has_parameters and sum(node.target == path for node in calls) != len(chains):
            return []
    return chains
