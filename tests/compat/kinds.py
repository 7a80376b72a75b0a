"""Other tensors than dense ones: each op of the table on sparse and on quantised operands, where PyTorch takes them.

Where the table has samples for a layout, those are called. All other samples are dense ones, converted:
the input alone, then all tensors. What PyTorch makes must be the same here; calls that it refuses are counted where
they are made here.
"""

from __future__ import annotations

import unittest
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from math import gcd
from typing import Any

import torch
from comparison import UNDEFINED, differ, flat
from torch.testing._internal.opinfo.core import SampleInput

from .checks import Outcome, attempt, disagreement
from .op_db import SEED, Case, Entry, Side, tensors_of

Convert = Callable[[torch.Tensor], torch.Tensor]
SPARSE_CAP, QUANTIZED_CAP = 4, 3
LARGE = 100_000  # elements of a sample's input, beyond which it is left out
RANDOM = {"randn_like", "rand_like", "randint_like", "bernoulli", "multinomial", "normal", "nn.functional.dropout"}


@dataclass(frozen=True)
class Kind:
    """How a dense tensor becomes one of the kind."""

    name: str
    convert: Convert
    dtype: str
    layout: torch.layout | None = None  # of sparse tensors


def thinned(tensor: torch.Tensor) -> torch.Tensor:
    """Every third element a zero."""
    keep = torch.arange(tensor.numel()).reshape(tensor.shape) % 3 != 0
    return torch.where(keep, tensor, torch.zeros((), dtype=tensor.dtype))


def to_layout(layout: torch.layout, tensor: torch.Tensor) -> torch.Tensor:
    made = thinned(tensor.detach())
    blocks = layout in (torch.sparse_bsr, torch.sparse_bsc) and tensor.dim() > 1
    size = (gcd(tensor.shape[-2], 2), gcd(tensor.shape[-1], 2)) if blocks else None
    return made.to_sparse(layout=layout, blocksize=size).requires_grad_(tensor.requires_grad)


def by_tensor(dtype: torch.dtype, scale: float, zero_point: int, tensor: torch.Tensor) -> torch.Tensor:
    return torch.quantize_per_tensor(tensor.detach(), scale, zero_point, dtype)


def by_channel(tensor: torch.Tensor) -> torch.Tensor:
    count = tensor.shape[0]
    scales, points = torch.linspace(0.05, 0.1, count, dtype=torch.float64), torch.arange(count) % 5 - 2
    return torch.quantize_per_channel(tensor.detach(), scales, points, 0, torch.qint8)


SPARSE = tuple(
    Kind(f"sparse_{name}", partial(to_layout, layout), "float64", layout)
    for name in ("coo", "csr", "csc", "bsr", "bsc")
    for layout in [getattr(torch, f"sparse_{name}")]
)
QUANTIZED = (
    Kind("quint8", partial(by_tensor, torch.quint8, 0.07, 110), "float32"),
    Kind("qint8", partial(by_tensor, torch.qint8, 0.07, -3), "float32"),
    Kind("qint32", partial(by_tensor, torch.qint32, 0.001, 7), "float32"),
    Kind("qint8 by channel", by_channel, "float32"),
)
KINDS = (*SPARSE, *QUANTIZED)


# --- samples


def table_samples(entry: Entry, kind: Kind) -> list[SampleInput]:
    """What the table itself holds for a layout."""
    info, layout = entry.info, kind.layout
    if layout is None or not info.supports_sparse_layout(layout):
        return []
    torch.default_generator.manual_seed(SEED)
    try:
        return list(info.sample_inputs_sparse(layout, "cpu", getattr(torch, kind.dtype), requires_grad=True))
    except (unittest.SkipTest, NotImplementedError):
        return []


def converted(sample: SampleInput, convert: Convert) -> Iterator[SampleInput]:
    """The input as another kind of tensor, then all tensors; nothing where PyTorch has no such tensor."""

    def change(value: Any) -> Any:
        return convert(value) if isinstance(value, torch.Tensor) and value.is_floating_point() else value

    try:
        alone = SampleInput(sample.input).transform(change).input
        yield SampleInput(alone, args=sample.args, kwargs=sample.kwargs)
        if any(t.is_floating_point() for t in tensors_of(sample.args, sample.kwargs)):
            yield sample.transform(change)
    except (RuntimeError, IndexError, ValueError):
        return


def is_small(sample: SampleInput) -> bool:
    return all(t.numel() < LARGE for t in tensors_of(sample.input))


def is_of(kind: Kind, sample: SampleInput) -> bool:
    """Whether the conversion found a tensor to convert."""
    found = tensors_of(sample.input, sample.args, sample.kwargs)
    return any(t.is_quantized if kind.layout is None else t.layout == kind.layout for t in found)


def cases(entry: Entry, kind: Kind) -> Iterator[Case]:
    """Some samples of a kind, evenly spaced."""
    most = SPARSE_CAP if kind.layout is not None else QUANTIZED_CAP
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        samples = [s for s in table_samples(entry, kind) if is_small(s)]
        samples = samples[:: max(1, -(-len(samples) // (4 * most)))]
        if not samples and kind.dtype in entry.dtypes:
            dense = entry.cases(kind.dtype, cap=most, requires_grad=kind.layout is not None)
            small = [c.sample for c in dense if is_small(c.sample)]
            samples = [s for sample in small for s in converted(sample, kind.convert) if is_of(kind, s)]
    yield from (Case(kind.name, i, s) for i, s in enumerate(samples))


# --- comparison


def parts(tensor: Any) -> tuple[list[Any], list[Any]]:
    """A tensor's kind with what numbers describe it, and the dense tensors that it is made of."""
    if tensor.is_quantized:
        if "per_channel" in str(tensor.qscheme()):
            scales = [tensor.q_per_channel_scales(), tensor.q_per_channel_zero_points()]
            return [str(tensor.qscheme()), tensor.q_per_channel_axis()], [tensor.int_repr(), *scales]
        return [str(tensor.qscheme()), tensor.q_scale(), tensor.q_zero_point()], [tensor.int_repr()]
    layout = str(tensor.layout)
    if layout == "torch.sparse_coo":
        whole = tensor.detach().coalesce()
        return [layout, tensor.sparse_dim(), tensor.dense_dim()], [whole.indices(), whole.values()]
    if layout in ("torch.sparse_csr", "torch.sparse_bsr"):
        return [layout], [tensor.crow_indices(), tensor.col_indices(), tensor.detach().values()]
    if layout in ("torch.sparse_csc", "torch.sparse_bsc"):
        return [layout], [tensor.ccol_indices(), tensor.row_indices(), tensor.detach().values()]
    return [layout], [tensor]


def is_plain(value: Any) -> bool:
    return not hasattr(value, "stride") or (str(value.layout) == "torch.strided" and not value.is_quantized)


def kind_differs(ours: Any, theirs: Any, values: bool) -> str:
    """How two tensors, of which one at least is not dense, differ."""
    heads = [(str(t.dtype), list(t.shape), *parts(t)[0]) for t in (ours, theirs)]
    if heads[0] != heads[1]:
        return f"{heads[0]}, wanted {heads[1]}"
    if theirs.layout == torch.sparse_coo and theirs.is_coalesced() and not ours.is_coalesced():
        return "not coalesced"
    for one, other in zip(parts(ours)[1], parts(theirs)[1]):
        if mistake := differ(one, other, strides=False, values=values):
            return mistake
    return ""


def compared(entry: Entry, got: Outcome, wanted: Outcome) -> str:
    """As `disagreement` where PyTorch makes the call, also of tensors that are not dense."""
    if wanted.error is not None:
        return ""
    if got.error is not None or len(got.results) != len(wanted.results):
        return f"{got}; wanted {wanted}"
    values = entry.info.name not in {*UNDEFINED, *RANDOM}
    plain = Outcome([]), Outcome([])
    for ours, theirs in zip(got.results, wanted.results):
        if is_plain(ours) and is_plain(theirs):
            for outcome, result in zip(plain, (ours, theirs)):
                outcome.results.append(float(result) if type(result) in (int, float) else result)
        elif not hasattr(ours, "stride") or not hasattr(theirs, "stride"):
            return f"{got}; wanted {wanted}"
        elif mistake := kind_differs(ours, theirs, values):
            return mistake
    return disagreement(entry, *plain, values=values, strides=False)


# --- checks


def forms(entry: Entry, side: Side) -> list[Callable[..., Any]]:
    """The function and the in-place method."""
    info = entry.info
    ours = side.library is not torch
    found = [entry.function() if ours else info.op]
    if info.inplace_variant is not None:
        found.append(side.make(info.inplace_variant) if ours else info.inplace_variant)
    return found


def outcomes(entry: Entry, case: Case) -> Iterator[tuple[Outcome, Outcome]]:
    """Ours and PyTorch's, form by form, each on fresh arguments; in place, the input is a result too."""
    for form in range(len(forms(entry, case.theirs()))):
        sides = case.sides()
        found = []
        for side in sides:
            function = forms(entry, side)[form]
            outcome = attempt(side, lambda side=side, function=function: side.arguments.call(function))
            outcome.results += flat(side.arguments.input) if form else []
            found.append(outcome)
        yield found[0], found[1]


@dataclass
class Tally:
    """Of one op with one kind of operand."""

    taken: int = 0  # calls that PyTorch makes
    beyond: int = 0  # that we make where PyTorch refuses
    mistakes: list[str] = field(default_factory=list)


def gradients(entry: Entry, side: Side) -> list[Any]:
    """The gradients of a call with sparse operands, along the same dense cotangents for both libraries."""
    function = forms(entry, side)[0]
    results = [r for r in flat(side.arguments.call(function)) if getattr(r, "requires_grad", False)]
    leaves = side.arguments.leaves()
    if not results or not leaves:
        return []
    dense = [r if is_plain(r) else r.to_dense() for r in results]
    torch.default_generator.manual_seed(SEED)
    along = [side.make(torch.randn(tuple(r.shape), dtype=getattr(torch, str(r.dtype)[6:]))) for r in dense]
    return list(side.library.autograd.grad(dense, leaves, along, allow_unused=True))


def gradient_differs(entry: Entry, case: Case) -> str:
    """Gradients that PyTorch has must be there, with its values; those of sparse leaves where these store elements."""
    sides = case.sides()
    got, wanted = (attempt(side, lambda side=side: [gradients(entry, side)]) for side in sides)
    if wanted.error is not None:
        return ""
    if got.error is not None:
        return str(got)
    leaves = sides[1].arguments.leaves()
    for i, (ours, theirs) in enumerate(zip(got.value[0], wanted.value[0], strict=True)):
        if theirs is None or ours is None:
            present = theirs if ours is None else ours
            if present is not None and present.to_dense().count_nonzero():
                return f"gradient {i} is {'absent' if ours is None else 'present'}"
            continue
        dense = [t if is_plain(t) else t.to_dense() for t in (ours, theirs)]
        if leaves[i].layout != torch.strided:
            dense = [t.masked_fill(s.make(leaves[i].detach().to_dense() == 0), 0) for t, s in zip(dense, sides)]
        if mistake := differ(*dense, strides=False):
            return f"gradient {i}: {mistake}"
    return ""


def check(entry: Entry, kind: Kind, case: Case, tally: Tally) -> None:
    """Every form of a call, and its gradients."""
    for form, (got, wanted) in enumerate(outcomes(entry, case)):
        tally.taken += wanted.error is None and form == 0
        tally.beyond += wanted.error is not None and got.error is None
        if mistake := compared(entry, got, wanted):
            tally.mistakes.append(f"sample {case.index}{' in place' * form}: {mistake}")
    differentiable = kind.layout is not None and entry.info.supports_autograd and entry.info.name not in RANDOM
    if differentiable and not tally.mistakes and (mistake := gradient_differs(entry, case)):
        tally.mistakes.append(f"sample {case.index}: {mistake}")


def run(entry: Entry, kind: Kind) -> Tally:
    """Every sample of a kind."""
    tally = Tally()
    for case in cases(entry, kind):
        check(entry, kind, case, tally)
    return tally
