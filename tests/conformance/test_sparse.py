"""Every op that meets a sparse operand gives what it gives for the dense one, or refuses: never something else."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from comparison import UNDEFINED, differ, flat
from declared import Op, base_ops, cases, find, report, samples_of, seed_for

import taeda
from taeda import Tensor
from taeda.testing._samples import make

SAMPLES = 3
RANDOM = {"random", "dropout"}
# They look at what is stored alone, or answer about the layout.
OF_WHAT_IS_STORED = {
    "softmax", "log_softmax", "_softmax", "_log_softmax", "special_softmax", "special_log_softmax", "softmin",
    "_safe_softmax", "ones_like", "full_like", "fill", "fill_", "sparse_dim", "dense_dim", "equal", "is_set_to",
}  # fmt: skip
# Its second result is empty for sparse matrices, and singular ones divide by what is not stored.
DIFFERENT = {"triangular_solve"}
LAYOUTS = {"sparse_coo": 0, "sparse_csr": 2, "sparse_csc": 2, "sparse_bsr": 2}


def is_tested(op: Op) -> bool:
    left_out = op.declaration.family in RANDOM or op.schema.name in {*OF_WHAT_IS_STORED, *DIFFERENT, *UNDEFINED}
    return not left_out and any(sample.fills for sample in samples_of(op))


OPS = list(filter(is_tested, base_ops()))


def with_zeros(x: Any) -> Any:
    """Some elements of a tensor of numbers become zero."""
    if isinstance(x, (list, tuple)):
        return [with_zeros(part) for part in x]
    if not isinstance(x, Tensor) or not (x.is_floating_point() or x.is_complex()) or not x.numel():
        return x
    flat_ = x.detach().clone().reshape(-1)
    flat_[::3] = 0
    return flat_.reshape(x.shape)


def places(values: list[Any]) -> Iterator[tuple[int, int | None]]:
    """Of the tensors of numbers among the arguments, those in lists too."""
    for i, value in enumerate(values):
        if isinstance(value, Tensor) and (value.is_floating_point() or value.is_complex()):
            yield i, None
        elif isinstance(value, (list, tuple)):
            yield from ((i, j) for j, x in enumerate(value) if isinstance(x, Tensor) and x.is_floating_point())


def sparse(x: Tensor, layout: str) -> Tensor:
    block = {"blocksize": (1, 1)} if layout == "sparse_bsr" else {}
    return x.to_sparse(layout=getattr(taeda, layout), **block)


def called(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any], seed: int) -> list[Any] | Exception:
    taeda.manual_seed(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return [
                r.to_dense() if isinstance(r, Tensor) and r.layout != taeda.strided else r
                for r in flat(function(*args, **kwargs))
            ]
        except Exception as error:
            return error


def copied(values: list[Any], at: tuple[int, int | None], x: Tensor) -> list[Any]:
    """The arguments with ``x`` at a place; the others are copies, as ops may write to them."""
    made = [v.clone() if isinstance(v, Tensor) else [p.clone() if isinstance(p, Tensor) else p for p in v]
            if isinstance(v, (list, tuple)) else v for v in values]  # fmt: skip
    if at[1] is None:
        made[at[0]] = x
    else:
        made[at[0]][at[1]] = x
    return made


@pytest.mark.parametrize("op", cases("sparse", OPS))
def test_as_dense_or_refused(op: Op) -> None:
    function, mistakes = find(taeda, op.schema.name, op.schema.overload), []
    for sample in samples_of(op)[:SAMPLES]:
        args, kwargs = make(sample, taeda, seed_for(op), "cpu")
        args = [with_zeros(x) for x in args]
        for at in places(args):
            x = args[at[0]] if at[1] is None else args[at[0]][at[1]]
            wanted = called(function, copied(args, at, x.clone()), kwargs, seed_for(op))
            for layout, dims in LAYOUTS.items():
                if x.dim() < dims or (dims and x.dim() > 2):
                    continue
                if x.itemsize == 1:  # is only stored, and has no zeros to leave out
                    continue
                got = called(function, copied(args, at, sparse(x, layout)), kwargs, seed_for(op))
                if isinstance(got, Exception):
                    continue
                if isinstance(wanted, Exception):
                    mistakes.append(f"{layout} at {at}: works, where the dense one raises {wanted!r:.80}")
                    continue
                mistakes += [f"{layout} at {at}: {wrong}" for g, w in zip(got, wanted, strict=True)
                             if (wrong := differ(g, w, strides=False))]  # fmt: skip
    report(op, mistakes)
