"""``vmap``: a function of one example as a function of a batch.

The function is called once, with tensors that hold all examples (_batched/), where that can be. Where it reads values,
or writes to what examples share, it is called once for each example and the results are stacked: that is exact for
every op, for control flow on values and for Python code. Both nest with all other transforms.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple

import taeda
from taeda import Tensor
from taeda.func._active import transforming
from taeda.func._batched.tensor import Batch, EachDraws, OneDraw, Refused, running
from taeda.func._captured import Captured, captured
from taeda.utils._python_dispatch import _disable_current_modes
from taeda.utils._pytree import TreeSpec, broadcast_prefix, tree_flatten, tree_unflatten


class Draws:
    """What the calls for single examples may draw, from the default generator and from those that they name."""

    def __init__(self, randomness: str, function: str) -> None:
        if randomness not in ("error", "different", "same"):
            raise RuntimeError(
                f"taeda.func.{function}: randomness must be 'error', 'different' or 'same'; got {randomness!r}"
            )
        self.mode, self.function = randomness, function
        self.starts = {taeda.default_generator: taeda.default_generator.get_state()}

    def start_again(self) -> None:
        """Puts the generators back to where they were before the first draw."""
        for generator, state in self.starts.items():
            generator.set_state(state)

    def run(self, call: Callable[..., Any], *args: Any) -> Any:
        if self.mode == "same":
            self.start_again()
        with self._watching():
            result = call(*args)
        if self.mode == "error" and self._drew():
            self.start_again()
            raise RuntimeError(
                f"taeda.func.{self.function}: the function draws random numbers; say with randomness='different' or "
                "'same' whether each example draws its own"
            )
        return result

    def _drew(self) -> bool:
        with _disable_current_modes():  # which record what the function does
            return any(not taeda.equal(state, generator.get_state()) for generator, state in self.starts.items())

    @contextmanager
    def _watching(self) -> Iterator[None]:
        """Notes the generators that ops are given in the block; those who watched before see them, too."""

        def note(generator: taeda.Generator) -> None:
            self.starts.setdefault(generator, generator.get_state())
            if before is not None:
                before(generator)

        before = taeda._C._watch_generators(note)
        try:
            yield
        finally:
            taeda._C._watch_generators(before)


def _check_unmapped(unmapped: Captured) -> None:
    if found := unmapped.written():
        raise RuntimeError(
            f"taeda.func.vmap: the function writes in place to a tensor of shape {tuple(found[0].shape)} that is not "
            "mapped, so that examples would see each other's writes; write to a clone, or map the tensor, too"
        )


def _mapped_dims(args: tuple[Any, ...], in_dims: Any, spec: TreeSpec) -> list[int | None]:
    """For each leaf of the arguments the dimension that runs over examples."""
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"taeda.func.vmap: in_dims must be an int or a tuple as the arguments; got {type(in_dims).__name__}"
        )
    if not args:
        raise ValueError("taeda.func.vmap: the function got no positional argument to map over")
    dims = broadcast_prefix(in_dims, spec)
    if dims is None:
        raise ValueError(f"taeda.func.vmap: in_dims {in_dims} does not fit the structure of the arguments, {spec}")
    return dims


def _checked(leaf: Any, dim: Any) -> int | None:
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ValueError(f"taeda.func.vmap: in_dims holds ints and None; got {type(dim).__name__}")
    if not isinstance(leaf, Tensor):
        raise ValueError(f"taeda.func.vmap: in_dims has {dim} for a {type(leaf).__name__}; only tensors are mapped")
    if not -leaf.dim() <= dim < leaf.dim():
        raise ValueError(f"taeda.func.vmap: in_dims has {dim} for a tensor of {leaf.dim()} dimensions")
    return dim % leaf.dim()


def _batch_size(leaves: Sequence[Any], dims: Sequence[int | None]) -> int:
    sizes = [int(leaf.shape[dim]) for leaf, dim in zip(leaves, dims, strict=True) if dim is not None]
    if not sizes:
        raise ValueError("taeda.func.vmap: in_dims maps no argument; at least one must be mapped")
    if len(set(sizes)) > 1:
        raise ValueError(f"taeda.func.vmap: mapped dimensions must have one size; got {sizes}")
    return sizes[0]


class _Outputs:
    """The examples' results, one by one, all of one structure."""

    def __init__(self) -> None:
        self.rows: list[list[Any]] = []
        self.spec: TreeSpec | None = None

    def add(self, result: Any) -> None:
        leaves, spec = tree_flatten(result)
        if self.spec is not None and spec != self.spec:
            raise RuntimeError(f"taeda.func.vmap: the structure of the result differs by example: {self.spec}, {spec}")
        for index, (one, first) in enumerate(zip(leaves, self.rows[0] if self.rows else leaves, strict=True)):
            if isinstance(one, Tensor) and (one.shape != first.shape or one.dtype != first.dtype):
                raise RuntimeError(
                    f"taeda.func.vmap: result {index} differs by example: {tuple(first.shape)} {first.dtype} and "
                    f"{tuple(one.shape)} {one.dtype}, so it has no batch"
                )
        self.spec = spec
        self.rows.append(leaves)

    def joined(self, out_dims: Any, count: int) -> Any:
        assert self.spec is not None
        dims = _result_dims(out_dims, self.spec)
        columns = list(zip(*self.rows, strict=True))
        return tree_unflatten([_joined(c, d, count) for c, d in zip(columns, dims, strict=True)], self.spec)


def _result_dims(out_dims: Any, spec: TreeSpec) -> list[int | None]:
    """For each leaf of the results where the dimension over examples goes."""
    dims = broadcast_prefix(out_dims, spec)
    if dims is None and isinstance(out_dims, list):
        dims = broadcast_prefix(tuple(out_dims), spec)
    if dims is None and spec.is_leaf() and isinstance(out_dims, (tuple, list)) and len(out_dims) == 1:
        dims = list(out_dims)
    if dims is None:
        raise ValueError(f"taeda.func.vmap: out_dims {out_dims} does not fit the structure of the result")
    return dims


def _joined(column: Sequence[Any], dim: Any, count: int) -> Any:
    first = column[0]
    if dim is None:
        if not isinstance(first, Tensor) or all(one is first or taeda.equal(one, first) for one in column):
            return first
        raise ValueError("taeda.func.vmap: out_dims has None for a result that differs by example")
    _check_result_dim(dim, first)
    if count:
        return taeda.stack(column, dim)
    shape = list(first.shape)
    shape.insert(dim % (first.dim() + 1), 0)
    return first.new_zeros(shape)


def _check_result_dim(dim: Any, result: Any) -> None:
    if not isinstance(result, Tensor):
        hint = ": item(), tolist() and their kin take numbers out of a tensor" * isinstance(result, int | float)
        raise ValueError(
            "taeda.func.vmap: the function must return tensors only, or say with None in out_dims what is one for all; "
            f"got {type(result).__name__}{hint}"
        )
    if not isinstance(dim, int):
        raise ValueError(f"taeda.func.vmap: out_dims holds ints and None; got {type(dim).__name__}")
    if not -result.dim() - 1 <= dim <= result.dim():
        raise IndexError(f"taeda.func.vmap: out_dims has {dim} for results of {result.dim()} dimensions")


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function of batches from a function of single examples.

    Args:
        func: takes trees of tensors and other values; returns a tree of tensors, of the same structure and shapes for
            each example. It should be pure.
        in_dims: for each positional argument (or leaf of it) which dimension runs over examples; None for one that all
            share. One int serves all.
        out_dims: where that dimension goes in the results; None for results that do not depend on the example, which
            may be anything.
        randomness: whether the function may draw from the default generator: ``"error"``, or ``"different"`` numbers
            for each example, or the ``"same"``, which must not depend on values of the example.
        chunk_size: how many examples run at once, to save memory; all if None.

    Returns:
        A function of the same arguments; keyword arguments are shared by all examples.

    Raises:
        ValueError: dimensions do not fit the arguments or results; the function returns something else.
        RuntimeError: results differ in shape; randomness is drawn where it must not be; a shared tensor is written to.
    """
    if chunk_size is not None and not chunk_size > 0:
        raise ValueError(f"taeda.func.vmap: chunk_size must be positive or None; got {chunk_size}")

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        leaves, spec = tree_flatten(args)
        dims = [_checked(*pair) for pair in zip(leaves, _mapped_dims(args, in_dims, spec), strict=True)]
        call = _Call(func, leaves, dims, spec, kwargs, _batch_size(leaves, dims), randomness)
        draws, shared = Draws(randomness, "vmap"), [x for x, dim in zip(leaves, dims, strict=True) if dim is None]
        unmapped = Captured([*shared, *captured(func)])
        if call.size >= _AT_ONCE:
            arguments = Captured(leaves)
            try:
                with _DRAWS[randomness]():
                    return call.at_once(draws, out_dims, chunk_size or call.size)
            except Refused:
                draws.start_again()
                raise
            except Exception:
                _check_unmapped(arguments)  # what was written to an argument cannot be taken back for another try
                draws.start_again()
        outputs = _Outputs()
        for i in range(call.size):
            outputs.add(draws.run(call.example, i))
            _check_unmapped(unmapped)
        if call.size == 0:
            outputs.add(draws.run(call.blank))
        return outputs.joined(out_dims, call.size)

    return wrapper


class _Call(NamedTuple):
    """One call of a mapped function."""

    func: Callable[..., Any]
    leaves: list[Any]  # of the arguments
    dims: list[int | None]
    spec: TreeSpec
    kwargs: dict[str, Any]
    size: int  # how many examples
    randomness: str = "error"

    def _run(self, choose: Callable[[Tensor, int], Tensor]) -> Any:
        """The function, with ``choose(leaf, dim)`` for what is mapped."""
        chosen = [x if dim is None else choose(x, dim) for x, dim in zip(self.leaves, self.dims, strict=True)]
        with transforming():
            return self.func(*tree_unflatten(chosen, self.spec), **self.kwargs)

    def example(self, i: int) -> Any:
        return self._run(lambda x, dim: x.select(dim, i))

    def blank(self) -> Any:
        """Shows the structure of an empty batch's results."""
        return self._run(lambda x, dim: x.new_zeros([*x.shape[:dim], *x.shape[dim + 1 :]]))

    def at_once(self, draws: Draws, out_dims: Any, chunk_size: int) -> Any:
        """The results of all examples, of ``chunk_size`` of them at a time."""
        starts = range(0, self.size, chunk_size)
        parts = [draws.run(self._part, start, min(chunk_size, self.size - start), out_dims) for start in starts]
        (_, spec, dims), columns = parts[0], zip(*(values for values, _, _ in parts), strict=True)
        joined = [c[0] if d is None or len(c) == 1 else taeda.cat(c, d) for c, d in zip(columns, dims, strict=True)]
        return tree_unflatten(joined, spec)

    def _part(self, start: int, size: int, out_dims: Any) -> tuple[list[Tensor], TreeSpec, list[int | None]]:
        from taeda.func._batched.rules import rule_of

        with running(size, rule_of, self.randomness) as batch:
            result = self._run(lambda x, dim: batch.wrap(_examples(x, dim, start, size)))
            return _values(batch, result, out_dims)


def _examples(x: Tensor, dim: int, start: int, size: int) -> Tensor:
    """Some examples of a batch, which come first; all of it as it is."""
    some = x if size == x.size(dim) else x.narrow(dim, start, size)
    return some.movedim(dim, 0) if dim else some


def _values(batch: Batch, result: Any, out_dims: Any) -> tuple[list[Tensor], TreeSpec, list[int | None]]:
    """The leaves of a result with the batch as a dimension of theirs, their structure, and which dimension that is."""
    leaves, spec = tree_flatten(result)
    dims = _result_dims(out_dims, spec)
    values = []
    for leaf, dim in zip(leaves, dims, strict=True):
        if dim is not None:
            _check_result_dim(dim, leaf)
        value = batch.shared(leaf) if dim is None else batch.whole(leaf)
        values.append(value.movedim(0, dim) if dim else value)  # in place, it is the argument itself
    return values, spec, dims


_AT_ONCE = 1  # the fewest examples that are tried at once; tests raise it
_DRAWS: dict[str, Callable[[], Any]] = {"error": nullcontext, "different": EachDraws, "same": OneDraw}
