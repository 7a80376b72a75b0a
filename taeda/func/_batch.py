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
from taeda.func import _steps
from taeda.func._active import transforming
from taeda.func._batched.tensor import EachDraws, OneDraw, Refused
from taeda.func._captured import Captured, captured
from taeda.utils._python_dispatch import _disable_current_modes
from taeda.utils._pytree import TreeSpec, tree_flatten, tree_leaves, tree_unflatten


class Draws:
    """What the calls for single examples may draw, from the default generator and from those that they name."""

    def __init__(self, randomness: str, function: str) -> None:
        _steps.check_randomness(randomness, function)
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
        dims = _steps.result_dims(out_dims, self.spec)
        columns = list(zip(*self.rows, strict=True))
        return tree_unflatten([_joined(c, d, count) for c, d in zip(columns, dims, strict=True)], self.spec)


def _joined(column: Sequence[Any], dim: Any, count: int) -> Any:
    first = column[0]
    if dim is None:
        if not isinstance(first, Tensor) or all(one is first or taeda.equal(one, first) for one in column):
            return first
        raise ValueError("taeda.func.vmap: out_dims has None for a result that differs by example")
    _steps.check_result_dim(dim, first)
    if count:
        return taeda.stack(column, dim)
    shape = list(first.shape)
    shape.insert(dim % (first.dim() + 1), 0)
    return first.new_zeros(shape)


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
        size, dims, leaves, spec = _steps._process_batched_inputs(in_dims, args, func)
        call = _Call(func, leaves, dims, spec, kwargs, size, randomness)
        draws, shared = Draws(randomness, "vmap"), [x for x, dim in zip(leaves, dims, strict=True) if dim is None]
        unmapped = Captured([*shared, *captured(func)])
        # Containers that took the place of tensors in a step are batched by that step alone.
        divisible = all(isinstance(x, Tensor) for x, dim in zip(leaves, dims, strict=True) if dim is not None)
        if call.size >= _AT_ONCE or not divisible:
            arguments = Captured(leaves)
            try:
                with _DRAWS[randomness]():
                    return call.at_once(draws, out_dims, chunk_size or call.size)
            except Refused:
                draws.start_again()
                raise
            except Exception:
                if not divisible:
                    raise
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
        starts = range(0, self.size, chunk_size) or [0]
        parts = [draws.run(self._part, start, min(chunk_size, self.size - start), out_dims) for start in starts]
        if len(parts) == 1:
            return parts[0]
        spec = tree_flatten(parts[0])[1]
        columns, dims = zip(*map(tree_leaves, parts), strict=True), _steps.result_dims(out_dims, spec)
        joined = [c[0] if d is None else taeda.cat(c, d) for c, d in zip(columns, dims, strict=True)]
        return tree_unflatten(joined, spec)

    def _part(self, start: int, size: int, out_dims: Any) -> Any:
        leaves = self.leaves
        if size < self.size:
            pairs = zip(leaves, self.dims, strict=True)
            leaves = [x if dim is None else x.narrow(dim, start, size) for x, dim in pairs]
        with _steps.begun(size, self.randomness) as batch:
            args = _steps._create_batched_inputs(self.dims, leaves, batch.depth, self.spec)
            result = self.func(*args, **self.kwargs)
            return _steps._unwrap_batched(result, out_dims, batch.depth, size, self.func)


_AT_ONCE = 1  # the fewest examples that are tried at once; tests raise it
_DRAWS: dict[str, Callable[[], Any]] = {"error": nullcontext, "different": EachDraws, "same": OneDraw}
