"""The checks of one op: each takes a case and says how Taeda differs from PyTorch, in a sentence or not at all."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from comparison import UNDEFINED, differ, error_agrees, flat, numpy_of, significant_strides

from .op_db import MAIN, SEED, WIDER, Case, Entry, Side, foreign
from .translate import MissingError

DIFFERENTIATED = ("float64", "complex128")
LACKS = ("not implemented for", "is not supported for")
POLE = 1e12  # beyond which PyTorch's value may be the infinity of a pole that it misses by rounding
LEEWAY = 4.0  # times PyTorch's own error
NEAR_RTOL = {"float16": 2e-3, "bfloat16": 8e-3}  # and of the value
SECOND_RTOL = 1e-5  # second gradients in double precision, of ill-conditioned functions too
# PyTorch itself writes outside of memory for a large transposed ``out``.
CORRUPTING = {"tril", "triu", "linalg.lu", "lu_unpack", "lu"}
NEARLY_ZERO = 1e-9  # rounding where PyTorch knows a second gradient to be zero, and gives none


@dataclass
class Outcome:
    """What a call gave: its results, or its error; and what it warned of."""

    results: list[Any]
    error: Exception | None = None
    warned: list[str] = field(default_factory=list)
    value: Any = None

    def __str__(self) -> str:
        if self.error is not None:
            return f"{type(self.error).__name__}: {(str(self.error).splitlines() or [''])[0][:160]}"
        return ", ".join(f"{r.dtype}{list(r.shape)}" if hasattr(r, "dtype") else repr(r) for r in self.results)[:160]


def attempt(side: Side, function: Callable[[], Any]) -> Outcome:
    """Calls ``function`` after seeding the side's library."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        side.library.default_generator.manual_seed(SEED)
        try:
            value = function()
            return Outcome(flat(value), None, [str(w.message) for w in caught], value)
        except Exception as error:
            return Outcome([], error)


def coarsest(entry: Entry, side: Side) -> float:
    """The tolerance of the argument with the fewest digits."""
    kinds = {str(t.dtype).removeprefix("torch.") for t in side.arguments.tensors() if t.is_floating_point()}
    return max((entry.tolerance(kind) for kind in kinds), default=0.0)


def disagreement(
    entry: Entry,
    got: Outcome,
    wanted: Outcome,
    *,
    values: bool = True,
    strides: bool = True,
    rtol: float = 0.0,
    superset: bool = True,
) -> str:
    """How two outcomes differ; ``superset`` lets us compute what PyTorch says it lacks."""
    if wanted.error is not None:
        agrees = got.error is not None and error_agrees(got.error, wanted.error)
        lacks = got.error is None and any(words in str(wanted.error) for words in LACKS)
        return "" if agrees or (lacks and superset) else f"{got}; wanted {wanted}"
    if got.error is not None or len(got.results) != len(wanted.results):
        return f"{got}; wanted {wanted}"
    for ours, theirs in zip(got.results, wanted.results):
        if difference := different(entry, ours, theirs, values=values, strides=strides, rtol=rtol):
            return difference
    return ""


def different(entry: Entry, ours: Any, theirs: Any, *, values: bool, strides: bool, rtol: float = 0.0) -> str:
    if isinstance(theirs, torch.Tensor) != hasattr(ours, "stride"):
        return f"{type(ours).__name__}, wanted {type(theirs).__name__}"
    if isinstance(theirs, torch.Tensor):
        theirs = theirs.clone() if theirs._is_zerotensor() else theirs
        rtol = max(rtol, entry.tolerance(str(theirs.dtype).removeprefix("torch.")))
        if theirs.is_floating_point() and str(ours.dtype) == str(theirs.dtype) and ours.shape == theirs.shape:
            poles = torch.tensor(numpy_of(ours)).isinf() & (theirs.abs() > POLE)
            theirs = (
                torch.where(poles, torch.tensor(numpy_of(ours)).to(theirs.dtype), theirs) if poles.any() else theirs
            )
        if theirs.is_complex() and str(ours.dtype) == str(theirs.dtype) and ours.shape == theirs.shape:
            infinite = torch.tensor(numpy_of(ours)).isinf() & theirs.isinf()  # complex infinity has no direction
            theirs = torch.where(infinite, torch.tensor(numpy_of(ours)), theirs) if infinite.any() else theirs
        return differ(ours, theirs, values=values, strides=strides, rtol=rtol)
    if isinstance(theirs, float) and isinstance(ours, float):
        same = math.isclose(ours, theirs, rel_tol=1e-5) or (math.isnan(ours) and math.isnan(theirs))
        return "" if same else f"{ours}, wanted {theirs}"
    return "" if str(ours) == str(theirs) else f"{ours!r}, wanted {theirs!r}"


# Which of equal elements is found is left open: their indices may differ where what they select does not.
TIES = {"sort", "argsort", "topk", "kthvalue", "mode", "median", "nanmedian"}


def same_up_to_choice(entry: Entry, case: Case, function: Callable[..., Any]) -> bool:
    """Whether the results agree once what is left open (the sign of an eigenvector, ties) is taken out."""
    ours, theirs = case.sides()
    got = attempt(ours, lambda: ours.arguments.process(ours.arguments.call(function)))
    wanted = attempt(theirs, lambda: theirs.arguments.process(theirs.arguments.call(entry.info.op)))
    if entry.info.name in TIES and got.error is None and wanted.error is None:
        for side, outcome in ((ours, got), (theirs, wanted)):
            outcome.results[-1] = selected(side, outcome.results[-1])
    return got.error is None and not disagreement(entry, got, wanted, strides=False)


def selected(side: Side, result: Any) -> Any:
    """What indices of the input select, in sorted order; other results as they are."""
    given = side.arguments.input
    if str(result.dtype) != "torch.int64" or not given.dim():
        return result
    named = [v for v in (*side.arguments.args, *side.arguments.kwargs.values()) if type(v) is int]
    dims = [d for d in (*reversed(named), -1) if -given.dim() <= d < given.dim()]
    for dim in dims:
        indices = result if result.dim() == given.dim() else result.unsqueeze(dim)
        others = [i for i in range(given.dim()) if i != dim % given.dim()]
        fits = indices.dim() == given.dim() and all(indices.shape[i] == given.shape[i] for i in others)
        if fits and int(indices.max()) < given.shape[dim]:
            return given.gather(dim, indices).sort(dim).values
    return result


def is_nearer(case: Case, got: list[Any], wanted: list[Any], exact: Callable[[Case], list[Any]]) -> bool:
    """Whether our results are no farther than PyTorch's from its own in the next wider dtype."""
    wide = case.wider()
    if wide is None:
        return False
    try:
        exact_results = exact(wide)
    except Exception:
        return False
    for ours, theirs, truth in zip(got, wanted, exact_results):
        if not isinstance(truth, torch.Tensor):
            continue
        wide_arrays = [np.atleast_1d(numpy_of(t)).astype(numpy_of(truth).dtype)
                       for t in (ours, theirs, truth.to(theirs.dtype))]  # fmt: skip
        arrays = [np.nan_to_num(a, nan=7.0, posinf=7e5, neginf=-7e5) for a in wide_arrays]
        errors = [np.abs(a - arrays[2]) for a in arrays[:2]]
        near = LEEWAY * errors[1].max(initial=0.0) + NEAR_RTOL.get(case.dtype, 1e-6) * np.abs(arrays[2])
        if not (errors[0] <= near).all():
            return False
    return True


# --- calls


def call(entry: Entry, case: Case, ours: Callable[..., Any], theirs: Callable[..., Any]) -> str:
    left, right = case.sides()
    got = attempt(left, lambda: left.arguments.call(ours))
    wanted = attempt(right, lambda: right.arguments.call(theirs))
    if foreign(wanted.results):
        return ""
    values = entry.info.name not in UNDEFINED
    mistake = disagreement(entry, got, wanted, values=values, rtol=coarsest(entry, right))
    if mistake.startswith("values"):
        same = same_up_to_choice(entry, case, ours) or is_nearer(
            case, got.results, wanted.results, lambda wide: flat(wide.sides()[1].arguments.call(theirs))
        )
        return "" if same else mistake
    return mistake


def function(entry: Entry, case: Case) -> str:
    return call(entry, case, entry.function(), entry.info.op)


def noncontiguous(entry: Entry, case: Case) -> str:
    """Samples with gaps between their elements, where PyTorch takes them."""
    _, right = Case(case.dtype, case.index, case.sample.noncontiguous()).sides()
    if attempt(right, lambda: right.arguments.call(entry.info.op)).error is not None:
        return ""
    return call(entry, Case(case.dtype, case.index, case.sample.noncontiguous()), entry.function(), entry.info.op)


def method(entry: Entry, case: Case) -> str:
    """The method, and the Python operator."""
    for theirs in (entry.info.method_variant, entry.info.operator_variant):
        if theirs is not None and isinstance(case.sample.input, torch.Tensor):
            left, _ = case.sides()
            if mistake := call(entry, case, left.make(theirs), theirs):
                return mistake
    return ""


def alias(entry: Entry, case: Case) -> str:
    """Other names of the op, as a function and as a method."""
    for other in entry.info.aliases:
        for theirs in (other.op, other.method_variant):
            if theirs is not None and (theirs is other.op or isinstance(case.sample.input, torch.Tensor)):
                left, _ = case.sides()
                if mistake := call(entry, case, left.make(theirs), theirs):
                    return f"{other.name}: {mistake}"
    return ""


def inplace(entry: Entry, case: Case) -> str:
    """In-place variants and operators: the input holds the result and is returned."""
    if case.sample.broadcasts_input or not isinstance(case.sample.input, torch.Tensor):
        return ""
    for theirs in (entry.info.inplace_variant, entry.info.inplace_operator_variant):
        if theirs is None:
            continue
        sides = case.sides()
        functions = (sides[0].make(theirs), theirs)
        got, wanted = (attempt(s, lambda s=s, f=f: s.arguments.call(f)) for s, f in zip(sides, functions))
        if mistake := disagreement(entry, got, wanted):
            return mistake
        same = [o.value is s.arguments.input for o, s in zip((got, wanted), sides)]
        if wanted.error is None and same[0] != same[1]:
            return "does not return its input"
        if wanted.error is None:
            inputs = [Outcome([s.arguments.input]) for s in sides]
            if mistake := disagreement(entry, *inputs):
                return f"the input: {mistake}"
    return ""


def views(entry: Entry, case: Case) -> str:
    """Which results are an argument, or share its memory, and from where."""
    sides = case.sides()
    got, wanted = (attempt(s, lambda s=s, f=f: s.arguments.call(f))
                   for s, f in zip(sides, (entry.function(), entry.info.op)))  # fmt: skip
    if got.error is not None or wanted.error is not None or len(got.results) != len(wanted.results):
        return ""  # a matter of the function check
    ours, theirs = (list(map(relation, [s] * len(o.results), o.results)) for s, o in zip(sides, (got, wanted)))
    return "" if ours == theirs else f"{ours}, wanted {theirs}"


def relation(side: Side, result: Any) -> str:
    """How a result stands to the arguments, in words."""
    if not hasattr(result, "stride") or not result.numel():
        return "none"
    for i, argument in enumerate(side.arguments.tensors()):
        if result is argument:
            return f"argument {i}"
        if argument.numel() and argument.untyped_storage().data_ptr() == result.untyped_storage().data_ptr():
            kind = "a view of" if result._is_view() else "the memory of"
            return f"{kind} argument {i} at {result.storage_offset()}"
    return "new"


# --- out=


def reversed_strides(t: torch.Tensor) -> torch.Tensor:
    order = tuple(reversed(range(t.dim())))
    return torch.ones_like(t.permute(order), memory_format=torch.contiguous_format).permute(order)


OUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "same": lambda t: torch.ones_like(t, memory_format=torch.contiguous_format),
    "transposed": reversed_strides,
    "empty": lambda t: t.new_empty((0,)),
    "wrong shape": lambda t: t.new_ones((*t.shape, 2)),
    "wider": lambda t: torch.ones_like(t, dtype=torch.promote_types(t.dtype, torch.float64)),
    "integer": lambda t: torch.ones_like(t, dtype=torch.int64 if t.dtype != torch.int64 else torch.int32),
    "requires_grad": lambda t: torch.ones_like(t).requires_grad_(t.is_floating_point() or t.is_complex()),
}


def out(entry: Entry, case: Case) -> str:
    """``out=`` of the right and the wrong shape, layout and dtype."""
    _, right = case.sides()
    plain = attempt(right, lambda: right.arguments.call(entry.info.op))
    if plain.error is not None or not all(isinstance(r, torch.Tensor) for r in plain.results):
        return ""
    for name in OUTS:
        applies = name != "wrong shape" or all(r.numel() for r in plain.results)
        applies &= name != "transposed" or entry.info.name not in CORRUPTING
        if applies and (mistake := one_out(entry, case, plain, name)):
            return f"out of {name}: {mistake}"
    return ""


def one_out(entry: Entry, case: Case, plain: Outcome, name: str) -> str:
    """One form of ``out=``. Strides count where ``out`` has the result's shape. Where PyTorch strays from its
    documentation, by refusing an ``out`` to which the result may be cast, by leaving it in a wrong shape or by casting
    to a dtype that cannot hold the result, we need not follow."""
    prepare = OUTS[name]
    single = isinstance(plain.value, torch.Tensor)
    prepared = prepare(plain.value) if single else tuple(prepare(r) for r in plain.results)
    sides = case.sides()
    outs = [s.make(prepared) for s in sides]
    functions = (entry.function(), entry.info.op)
    got, wanted = (
        attempt(s, lambda s=s, f=f, o=o: s.arguments.call(f, out=o)) for s, f, o in zip(sides, functions, outs)
    )
    ours, theirs = (Outcome(flat(o)) for o in outs)
    castable = all(torch.can_cast(r.dtype, p.dtype) for r, p in zip(plain.results, flat(prepared)))
    if name == "integer" and not castable and wanted.error is None and isinstance(got.error, RuntimeError):
        return ""
    if not single and (isinstance(wanted.error, TypeError) or "failed to match any schema" in str(wanted.error)):
        return ""  # it takes no tuple
    fails = wanted.error is not None or any(t.shape != r.shape for t, r in zip(theirs.results, plain.results))
    if name == "requires_grad" and wanted.error is None and isinstance(got.error, RuntimeError):
        return ""  # PyTorch forgot to refuse
    if name != "requires_grad" and castable and fails and got.error is None:
        theirs = Outcome([r.to(p.dtype) for r, p in zip(plain.results, flat(prepared))])
    elif mistake := disagreement(entry, got, wanted, strides=False, values=False):
        return mistake
    elif wanted.error is not None:
        return ""
    kept = [[t is r for t, r in zip(flat(o), outcome.results)] for o, outcome in zip(outs, (got, wanted))]
    if wanted.error is None and kept[0] != kept[1]:
        return "returns another tensor"
    if (
        name == "wrong shape"
        and any("resized" in w for w in wanted.warned)
        and not any("resize" in w for w in got.warned)
    ):
        return f"warned {got.warned}, wanted {wanted.warned}"
    if name in ("same", "transposed"):
        moved = [o for o, p in zip(ours.results, flat(prepared)) if significant_strides(o) != significant_strides(p)]
        if moved:
            return f"moved to strides {moved[0].stride()}"
    mistake = disagreement(entry, ours, theirs, values=entry.info.name not in UNDEFINED, strides=False)
    if mistake.startswith("values"):
        same = same_up_to_choice(entry, case, functions[0]) or is_nearer(
            case, ours.results, theirs.results, lambda wide: flat(wide.sides()[1].arguments.call(entry.info.op))
        )
        return "" if same else mistake
    return mistake


# --- errors


def error(entry: Entry, case: Case) -> str:
    """A wrong call raises what PyTorch raises, if not already where its arguments are made."""
    right = case.theirs()
    wanted = attempt(right, lambda: right.arguments.call(entry.info.op))
    if wanted.error is None:
        return ""  # the table wants a check that is off here
    try:
        left = case.ours()
    except MissingError:
        raise
    except Exception as refused:
        return disagreement(entry, Outcome([], refused), wanted)
    got = attempt(left, lambda: left.arguments.call(entry.function()))
    if got.error is None and "refer to a single memory location" in str(wanted.error):
        return shared_memory(entry, case, got)
    return disagreement(entry, got, wanted, superset=False)


def shared_memory(entry: Entry, case: Case, got: Outcome) -> str:
    """PyTorch refuses an ``out`` that shares memory with an argument; we may read all of that first."""
    right = case.theirs()
    right.arguments.kwargs.pop("out", None)
    return disagreement(entry, got, attempt(right, lambda: right.arguments.call(entry.info.op)), strides=False)


# --- gradients


@dataclass
class Directions:
    """What PyTorch's call decides for ours: the cotangents, and which first gradients are differentiated again."""

    cotangents: list[torch.Tensor] = field(default_factory=list)
    chosen: list[int] | None = None


def differentiated(
    entry: Entry, side: Side, function: Callable[..., Any], second: bool, directions: Directions
) -> tuple[list[Any], list[bool]]:
    """First or second gradients of a call, and which of its results require one."""
    taken = iter(list(directions.cotangents))

    def cotangent(result: Any) -> Any:
        made = next(taken, None)
        if made is None:
            made = torch.randn(tuple(result.shape), dtype=getattr(torch, str(result.dtype)[6:])) + 0.5
            made.requires_grad_(second)
            directions.cotangents.append(made)
        return side.make(made)

    arguments, grad = side.arguments, side.library.autograd.grad
    wrapper = entry.info.gradcheck_wrapper
    if "masked" not in wrapper.__name__:
        wrapper = side.make(wrapper) if side.library is not torch else wrapper
        plain, function = function, lambda *args, **kwargs: wrapper(plain, *args, **kwargs)
    results = [r for r in flat(arguments.process(arguments.call(function))) if hasattr(r, "requires_grad")]
    flags = [r.requires_grad for r in results]
    outs = [r for r in results if r.requires_grad]
    leaves = arguments.leaves()
    if not outs or not leaves:
        return [], flags
    along = [cotangent(r) for r in outs]
    grads = grad(outs, leaves, along, create_graph=second, allow_unused=True)
    if not second:
        return list(grads), flags
    if directions.chosen is None:
        directions.chosen = [i for i, g in enumerate(grads) if g is not None and g.requires_grad]
    outs = [grads[i] for i in directions.chosen]
    if not outs:
        return [], flags
    again = [cotangent(g) for g in outs]
    return list(grad(outs, leaves + along, again, allow_unused=True)), flags


def gradients(entry: Entry, case: Case, second: bool, ours: Any = None, theirs: Any = None) -> str:
    left, right = case.sides()
    directions = Directions()
    theirs = theirs or entry.info.op
    wanted = attempt(right, lambda: [differentiated(entry, right, theirs, second, directions)])
    if wanted.error is not None or foreign(right.arguments.call(theirs)):
        return ""  # PyTorch has no such gradient
    got = attempt(left, lambda: [differentiated(entry, left, ours or entry.function(), second, directions)])
    if got.error is not None:
        return str(got)
    (grads, flags), (wanted_grads, wanted_flags) = got.value[0], wanted.value[0]
    if flags != wanted_flags and not all(g is None or not g.count_nonzero() for g in wanted_grads):
        return f"results require gradients {flags}, wanted {wanted_flags}"
    if second and all(g is None for g in wanted_grads):
        return ""  # PyTorch's first gradients have no gradient
    if flags != wanted_flags:
        return ""  # of a gradient that is zero
    if len(grads) != len(wanted_grads):
        return f"{len(grads)} gradients, wanted {len(wanted_grads)}"

    coarse = coarsest(entry, right)

    def exact(wide: Case) -> list[Any]:
        widened = [c.detach().to(getattr(torch, WIDER[str(c.dtype)[6:]])) for c in directions.cotangents]
        return differentiated(entry, wide.theirs(), theirs, second, Directions(widened, directions.chosen))[0]

    for i, (one, other) in enumerate(zip(grads, wanted_grads)):
        if one is None or other is None:
            present = one if other is None else other
            zero = one is other or ((second or other is None) and bool((present.abs() < NEARLY_ZERO).all()))
            if not zero and present.numel():
                return f"gradient {i} is {'absent' if one is None else 'present'}"
        elif mistake := different(
            entry, one, other, values=True, strides=False, rtol=max(coarse, SECOND_RTOL * second)
        ):
            if mistake.startswith("values") and is_nearer(case, [one], [other], lambda wide: [exact(wide)[i]]):  # noqa: B023
                continue
            return f"gradient {i}: {mistake}"
    return ""


def gradient(entry: Entry, case: Case) -> str:
    return gradients(entry, case, second=False)


def second_gradient(entry: Entry, case: Case) -> str:
    return gradients(entry, case, second=True)


def inplace_gradient(entry: Entry, case: Case) -> str:
    """The gradient through the in-place variant, applied to a copy of the leaf."""
    if case.sample.broadcasts_input or not isinstance(case.sample.input, torch.Tensor):
        return ""
    left, _ = case.sides()
    functions = (left.make(entry.info.inplace_variant), entry.info.inplace_variant)
    ours, theirs = (lambda x, *args, _f=f, **kwargs: _f(x.clone(), *args, **kwargs) for f in functions)
    return gradients(entry, case, second=False, ours=ours, theirs=theirs)


# --- the table


@dataclass
class Check:
    """A check, for which entries and dtypes it is made, and of how many samples at most."""

    name: str
    run: Callable[[Entry, Case], str]
    applies: Callable[[Entry], bool] = lambda entry: True
    dtypes: Callable[[Entry], list[str]] = lambda entry: entry.dtypes
    cap: int = 100
    requires_grad: bool = False

    def cases(self, entry: Entry, cap: int | None = None) -> Iterator[Case]:
        """The samples to check, at most ``cap`` of a dtype."""
        if not self.applies(entry):
            return
        for dtype in self.dtypes(entry):
            yield from entry.cases(dtype, cap=min(self.cap, cap or self.cap), requires_grad=self.requires_grad)


class ErrorCheck(Check):
    def cases(self, entry: Entry, cap: int | None = None) -> Iterator[Case]:
        yield from entry.errors()


def main_dtypes(entry: Entry) -> list[str]:
    return [d for d in entry.dtypes if d in MAIN] or entry.dtypes[:1]


def backward_dtypes(entry: Entry) -> list[str]:
    """In half precision, elements of the large samples of those that sort are equal."""
    left_out = ("float16", "bfloat16") if entry.info.name in (*TIES, "msort") else ()
    return [d for d in entry.dtypes if d in entry.backward_dtypes and d not in left_out]


def smooth_dtypes(entry: Entry) -> list[str]:
    return [d for d in backward_dtypes(entry) if d in DIFFERENTIATED]


CHECKS = (
    Check("function", function),
    Check("non-contiguous", noncontiguous, dtypes=main_dtypes, cap=12),
    Check("method", method, lambda e: e.info.method_variant is not None or e.info.operator_variant is not None, cap=12),
    Check("alias", alias, lambda e: bool(e.info.aliases), main_dtypes, cap=4),
    Check("in-place", inplace, lambda e: bool(e.info.inplace_variant or e.info.inplace_operator_variant), cap=12),
    Check("views", views, dtypes=lambda e: main_dtypes(e)[:1], cap=30),
    Check("out", out, lambda e: e.info.supports_out, main_dtypes, cap=8),
    ErrorCheck("errors", error),
    Check("gradient", gradient, lambda e: e.info.supports_autograd, backward_dtypes, requires_grad=True),
    Check("in-place gradient", inplace_gradient, lambda e: bool(e.info.supports_inplace_autograd and
          e.info.inplace_variant), smooth_dtypes, cap=12, requires_grad=True),
    Check("second gradient", second_gradient, lambda e: bool(e.info.supports_autograd and e.info.supports_gradgrad),
          smooth_dtypes, cap=30, requires_grad=True),
)  # fmt: skip
