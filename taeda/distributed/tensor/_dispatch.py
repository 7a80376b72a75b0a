"""Running an op on DTensors: each process on its part, after what its rule says must be moved is moved."""

from __future__ import annotations

import math
import re
from typing import Any

import taeda
from taeda import Tensor
from taeda.distributed.tensor._aliases import note_base, store
from taeda.distributed.tensor._norms import norm_two
from taeda.distributed.tensor._redistribute import move
from taeda.distributed.tensor._registered import run_registered, strategies
from taeda.distributed.tensor._rules import Letters, Rule, rule_for, view_letters
from taeda.distributed.tensor._spec import DTensorSpec, Placements, local_shape
from taeda.distributed.tensor._special import special_for, state
from taeda.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard
from taeda.utils._pytree import tree_flatten, tree_unflatten

_VIEWS = {"view", "_unsafe_view", "reshape", "expand"}


def run(func: Any, args: Any, kwargs: Any, kind: Any) -> Any:
    """The op's result; ``kind`` is the class of DTensors."""
    name = func._schema.name.partition("::")[2]
    if name.startswith(("_foreach_", "_fused_")) and isinstance(args[0], (list, tuple)):
        return _run_lists(func, args, kwargs, kind)
    if name == "_norm_two":
        return norm_two(func, args, kwargs, kind)
    if kwargs and func._schema.is_mutable and (outs := _outs_of(func, kwargs)):
        return _run_out(func, args, kwargs, outs, kind)
    leaves, tree = tree_flatten((args, kwargs))
    at = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
    tensors = [leaves[i] for i in at]
    mesh = next(tensor._spec.mesh for tensor in tensors if isinstance(tensor, kind))
    specs = [_spec(tensor, mesh, kind, name) for tensor in tensors]
    if func in strategies:
        return run_registered(func, args, kwargs, specs, kind)
    if (special := special_for(name, tensors, specs, args)) is not None:
        return special(func, leaves, at, tree, specs, kind)
    in_place = name.endswith("_") and not name.endswith("__") and isinstance(args[0], kind)
    if name in _VIEWS and name != "expand":
        return _view(func, args, kwargs, specs[0], kind)
    tags = func.tags
    rule = rule_for(name, taeda.Tag.pointwise in tags, tensors, args, kwargs)
    if name == "expand":
        rule = _expand_rule(tensors[0], args)
    wanted, results = propagate(rule, specs, in_place)
    for i, tensor, spec, target in zip(at, tensors, specs, wanted, strict=True):
        leaves[i] = move(_local(tensor, kind), spec, target)
    if any(leaves[i].is_meta for i in at):
        for i in at:
            leaves[i] = leaves[i].to("meta")
        if name == "_local_scalar_dense" and mesh.get_coordinate() is None:
            make = taeda.ones if tensors[0].dtype is taeda.bool else taeda.zeros  # a comparison is held for true
            return make((), dtype=tensors[0].dtype).item()
    given, named = tree_unflatten(leaves, tree)
    if name == "expand":
        sizes = local_shape(DTensorSpec(mesh, results[0], tuple(_expanded(tensors[0], args))))
        given = (given[0], list(sizes), *given[2:])
    if name.endswith("_like") and name != "full_like" and results and any(p.is_partial() for p in results[0]):
        results = [tuple(Replicate() if p.is_partial() else p for p in results[0])]
    out = func(*given, **named)
    if in_place:
        store(args[0], leaves[at[0]], wanted[0])
        return args[0]
    sizes_of = {letter: size for letters, tensor in zip(rule.operands, tensors, strict=True)
                for letter, size in zip(letters, tensor.shape, strict=True) if letter is not None}  # fmt: skip
    made = _wrap(out, mesh, rule, results, sizes_of, kind)
    if isinstance(args[0], kind):
        note_base(made, leaves[at[0]], func, args, kwargs, kind)
    return made


def _outs_of(func: Any, kwargs: Any) -> list[str]:
    """The names of the arguments that results are written to."""
    written = [one for one in func._schema.arguments if one.alias_info is not None and one.alias_info.is_write]
    return [one.name for one in written if one.kwarg_only and one.name in kwargs]


def _run_out(func: Any, args: Any, kwargs: Any, outs: list[str], kind: Any) -> Any:
    """The op without the arguments ``outs``, whose results then go to where those lie."""
    wanted = [one.name for one in func._schema.arguments if one.name not in outs]
    packet = func.overloadpacket
    overloads = [getattr(packet, name) for name in packet.overloads()]
    plain = next(one for one in overloads if [argument.name for argument in one._schema.arguments] == wanted)
    results = plain(*args, **{name: value for name, value in kwargs.items() if name not in outs})
    given = [kwargs[name] for name in outs]
    for out, result in zip(given, results if len(outs) > 1 else [results], strict=True):
        if not isinstance(out, kind) or result.shape != out.shape:
            raise RuntimeError(
                f"{func}: out must be a DTensor of shape {tuple(result.shape)}; got {type(out).__name__} of shape "
                f"{tuple(out.shape)}"
            )
        store(out, result._local_tensor.to(out.dtype), result._spec.placements)
    return tuple(given) if len(outs) > 1 else given[0]


def _spec(tensor: Tensor, mesh: Any, kind: Any, name: str) -> DTensorSpec:
    if isinstance(tensor, kind):
        if tensor._spec.mesh != mesh and tensor.numel() == 1 and all(p.is_replicate() for p in tensor.placements):  # type: ignore[attr-defined]
            return DTensorSpec(mesh, (Replicate(),) * mesh.ndim, tuple(tensor.shape))  # a number, such as a norm
        if tensor._spec.mesh != mesh:  # type: ignore[attr-defined]
            raise RuntimeError(f"{name}: DTensors of different meshes: {mesh} and {tensor._spec.mesh}")  # type: ignore[attr-defined]
        return tensor._spec  # type: ignore[attr-defined,no-any-return]
    # What is plain in a backward pass the formulas of gradients have made, alike on all processes.
    if tensor.numel() != 1 and not state.replicates and taeda._C._autograd._current_graph_task_id() == -1:
        raise RuntimeError(f"{name}: a DTensor and a plain Tensor of shape {tuple(tensor.shape)}; distribute both")
    return DTensorSpec(mesh, (Replicate(),) * mesh.ndim, tuple(tensor.shape))


def _local(tensor: Any, kind: Any) -> Tensor:
    return tensor._local_tensor if isinstance(tensor, kind) else tensor


def propagate(rule: Rule, specs: list[DTensorSpec], in_place: bool) -> tuple[list[Placements], list[Placements]]:
    """How each operand is to lie, and how each result does."""
    if (placed := _alike(rule, specs)) is not None:
        whole: Placements = (Replicate(),) * len(placed)
        return [placed if spec.shape else whole for spec in specs], [placed] * len(rule.results)
    wanted: list[list[Placement]] = [[] for _ in specs]
    results: list[list[Placement]] = [[] for _ in rule.results]
    for dim in range(len(specs[0].placements)):
        here = [spec.placements[dim] for spec in specs]
        terms = [p for p in here if p.is_partial()]
        letter = None if terms and _passes(rule, here) else _letter(rule, specs, dim, in_place)
        if letter is not None:
            terms_result = not any(letter in letters for letters in rule.results)
            for at, (own, letters) in enumerate(zip(wanted, rule.operands, strict=True)):
                term = Partial() if terms_result and at == rule.added else Replicate()
                own.append(Shard(letters.index(letter)) if letter in letters else term)
            for made, letters in zip(results, rule.results, strict=True):
                made.append(Shard(letters.index(letter)) if letter in letters else Partial(rule.reduction))
        elif terms and _passes(rule, here):
            for own, placement in zip(wanted, here, strict=True):
                own.append(placement)
            for made in results:
                made.append(terms[0])
        else:
            for own in wanted:
                own.append(Replicate())
            for made in results:
                made.append(Replicate())
    return [tuple(one) for one in wanted], [tuple(one) for one in results]


def _alike(rule: Rule, specs: list[DTensorSpec]) -> Placements | None:
    """How all operands lie, if they lie alike and each element of the result is made of one of each."""
    letters = tuple(range(max(len(spec.shape) for spec in specs)))
    if not letters or set(letters) != rule.free or any(one != letters for one in rule.results) or not rule.results:
        return None
    placed = {spec.placements for spec in specs if spec.shape}
    if len(placed) != 1 or any(one not in (letters, ()) for one in rule.operands):
        return None
    found = placed.pop()
    return None if any(one.is_partial() for one in found) else found


def _passes(rule: Rule, here: list[Placement]) -> bool:
    """Whether terms go through: the op of the terms' sums is the sum of the op of the terms."""
    terms = [p for p in here if p.is_partial()]
    if any(p != Partial() and len(here) > 1 for p in terms):
        return False
    if rule.linear == 2:
        return len(terms) == len(here)
    return rule.linear == 1 and len(terms) == 1 and all(p.is_replicate() or p.is_partial() for p in here)


def _letter(rule: Rule, specs: list[DTensorSpec], dim: int, in_place: bool) -> int | None:
    """The letter to cut along: one that is cut already, so that least must be moved."""
    costs: dict[int, int] = {}
    for spec, letters in zip(specs, rule.operands, strict=True):
        placement = spec.placements[dim]
        if not isinstance(placement, Shard):
            if in_place and spec is specs[0]:
                return None
            continue
        letter = letters[placement.dim]
        if letter is not None and letter in rule.free and not _needs_even(rule, letter, spec, placement, dim):
            costs.setdefault(letter, 0)
        if in_place and spec is specs[0]:
            return letter if letter in rule.free else None  # None: it works on the whole, and the part is kept
    for letter in costs:
        for spec, letters in zip(specs, rule.operands, strict=True):
            placement = spec.placements[dim]
            if isinstance(placement, Shard) and letters[placement.dim] != letter:
                costs[letter] += math.prod(spec.shape)
    return min(costs, key=lambda one: costs[one]) if costs else None


def _needs_even(rule: Rule, letter: int, spec: DTensorSpec, placement: Shard, dim: int) -> bool:
    """Whether parts differ in length where they may not: in a mean of parts' means, and in the greatest element of
    parts that may have none."""
    lost = not any(letter in letters for letters in rule.results)
    return lost and rule.reduction != "sum" and spec.shape[placement.dim] % spec.mesh.size(dim) != 0


def _wrap(out: Any, mesh: Any, rule: Rule, placed: list[Placements], sizes: dict[int, int], kind: Any) -> Any:
    """Results as DTensors, with the shapes of the wholes."""
    count = 0

    def one(tensor: Tensor) -> Any:
        nonlocal count
        whole: Placements = (Replicate(),) * mesh.ndim
        letters: Letters = rule.results[count] if count < len(rule.results) else ()
        where = placed[count] if count < len(rule.results) and len(letters) == tensor.dim() else whole
        count += 1
        shape = list(tensor.shape)
        for at, letter in enumerate(letters if where is not whole else ()):
            if letter in sizes and any(p == Shard(at) for p in where):
                shape[at] = sizes[letter]  # type: ignore[index]
        return kind._made(tensor, DTensorSpec(mesh, where, tuple(shape)))

    leaves, tree = tree_flatten(out)
    return tree_unflatten([one(leaf) if isinstance(leaf, Tensor) else leaf for leaf in leaves], tree)


def _view(func: Any, args: Any, kwargs: Any, spec: DTensorSpec, kind: Any) -> Any:
    if isinstance(args[1], taeda.dtype):
        return kind._made(func(args[0]._local_tensor, args[1]), spec)
    new = list(args[1])
    if -1 in new:
        known = -math.prod(new)
        new[new.index(-1)] = math.prod(spec.shape) // known if known else 0
    letters = view_letters(spec.shape, new)
    placements: list[Placement] = []
    for dim, placement in enumerate(spec.placements):
        if isinstance(placement, Shard):
            count = spec.mesh.size(dim)
            fits = placement.dim in letters and spec.shape[placement.dim] % count == 0
            target = letters.index(placement.dim) if fits else 0
            same = fits and spec.shape[placement.dim] == new[target]
            placements.append(Shard(target) if fits and (same or new[target] % count == 0) else Replicate())
        else:
            placements.append(placement)
    kept = tuple(old if new_one != Replicate() or not old.is_shard() else Replicate()
                 for old, new_one in zip(spec.placements, placements, strict=True))  # fmt: skip
    made = DTensorSpec(spec.mesh, tuple(placements), tuple(new))
    local = move(args[0]._local_tensor, spec, kept)
    seen = kind._made(local.reshape(local_shape(made)), made)
    note_base(seen, local, func, args, kwargs, kind)
    return seen


def _expanded(tensor: Tensor, args: Any) -> list[int]:
    sizes = list(args[1])
    for at in range(1, tensor.dim() + 1):
        sizes[-at] = tensor.shape[-at] if sizes[-at] == -1 else sizes[-at]
    return sizes


def _expand_rule(tensor: Tensor, args: Any) -> Rule:
    sizes = _expanded(tensor, args)
    new = len(sizes) - tensor.dim()
    letters = tuple(at if size == sizes[new + at] else None for at, size in enumerate(tensor.shape))
    free = {letter for letter in letters if letter is not None}
    return Rule([letters], [(None,) * new + letters], free, linear=1)


# Ops on lists that give terms for terms; the other lists' tensors are moved to lie as the first's.
_LINEAR_LISTS = re.compile(r"_foreach_((neg|zero|copy)_?\.|(mul|div)_?\.Scalar|(add|sub)_?\.List)")


def _run_lists(func: Any, args: Any, kwargs: Any, kind: Any) -> Any:
    """An op on lists: what stands at one place in them lies as in the first."""
    first, linear = args[0], _LINEAR_LISTS.search(str(func)) is not None
    placed = [_of_list(one, linear) if isinstance(one, kind) else None for one in first]
    lists: list[tuple[Any, list[Tensor]]] = []

    def local(value: Any) -> Any:
        if not isinstance(value, (list, tuple)) or len(value) != len(first):
            return _local(value, kind) if isinstance(value, Tensor) else value
        moved = []
        for one, leader, target in zip(value, first, placed, strict=True):
            if target is not None and isinstance(one, kind) and one.shape == leader.shape:
                moved.append(move(one._local_tensor, one._spec, target))
            else:
                moved.append(_local(one, kind))
        lists.append((value, moved))
        return moved

    out = func(*(local(arg) for arg in args), **{name: local(value) for name, value in kwargs.items()})
    if func._schema.is_mutable:
        for value, moved in lists:
            for one, part, target in zip(value, moved, placed, strict=True):
                if isinstance(one, kind) and target is not None:
                    store(one, part, target)
    if not isinstance(out, (list, tuple)):
        return out
    return [kind._made(one, leader._spec._replace(placements=where)) if where and isinstance(one, Tensor) else one
            for one, leader, where in zip(out, first, placed, strict=True)]  # fmt: skip


def _of_list(tensor: Any, linear: bool) -> Placements:
    """How a tensor of the first list is to lie: whole where the op of its terms is not that of their sum."""
    return tuple(Replicate() if one.is_partial() and not linear else one for one in tensor._spec.placements)
