"""The entries of PyTorch's table of ops: which concern strided tensors on the CPU, their samples and tolerances."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from comparison import RTOL, flat
from torch.testing._internal.common_device_type import toleranceOverride
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import OpInfo, SampleInput

import taeda

from .translate import Copier, MissingError, Translator, resolve

MAIN = ("float32", "float64", "complex64", "int64")  # every sample; of other dtypes, the first few
WIDER = {"float16": "float32", "bfloat16": "float32", "float32": "float64", "complex64": "complex128"}
FEW = 2
SEED = 20


@dataclass
class Arguments:
    """One call's arguments for one library."""

    input: Any
    args: Any
    kwargs: dict[str, Any]
    process: Callable[[Any], Any]

    def tensors(self) -> list[Any]:
        """Every tensor, in an order that both libraries share."""
        found: list[Any] = []

        def visit(value: Any) -> None:
            if isinstance(value, (torch.Tensor, taeda.Tensor)):
                found.append(value)
            elif isinstance(value, (list, tuple)):
                for part in value:
                    visit(part)
            elif isinstance(value, dict):
                visit(list(value.values()))

        visit([self.input, self.args, self.kwargs])
        return found

    def leaves(self) -> list[Any]:
        """The tensors that require a gradient, each once."""
        return list({id(t): t for t in self.tensors() if t.requires_grad}.values())

    def call(self, function: Callable[..., Any], **more: Any) -> Any:
        return function(self.input, *self.args, **self.kwargs, **more)


@dataclass
class Side:
    """A library, its arguments for a sample, and the maker that gives it further values."""

    library: Any
    arguments: Arguments
    make: Callable[[Any], Any]


@dataclass
class Case:
    """A sample to be called, for a dtype."""

    dtype: str
    index: int
    sample: SampleInput

    def wider(self) -> Case | None:
        """The same sample in the next wider dtype, None without one."""
        if self.dtype not in WIDER:
            return None
        narrow, wide = getattr(torch, self.dtype), getattr(torch, WIDER[self.dtype])

        def widened(value: Any) -> Any:
            if isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex()):
                more = WIDER.get(str(value.dtype).removeprefix("torch."))
                return value.detach().to(getattr(torch, more)).requires_grad_(value.requires_grad) if more else value
            return wide if value is narrow else value

        return Case(WIDER[self.dtype], self.index, self.sample.transform(widened))

    def ours(self) -> Side:
        """Taeda's arguments, fresh, so that a call may write into them."""
        return self._side(taeda, Translator())

    def theirs(self) -> Side:
        """PyTorch's arguments, likewise."""
        return self._side(torch, Copier())

    def sides(self) -> tuple[Side, Side]:
        return self.ours(), self.theirs()

    def _side(self, library: Any, make: Callable[[Any], Any]) -> Side:
        sample = self.sample
        parts = (sample.input, sample.args, sample.kwargs, sample.output_process_fn_grad)
        return Side(library, Arguments(*map(make, parts)), make)


@dataclass(eq=False)
class Entry:
    """An entry of the table with Taeda's counterparts."""

    info: OpInfo
    made: dict[tuple[str, bool], list[Case]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return str(self.info.full_name)

    @cached_property
    def dtypes(self) -> list[str]:
        """The dtypes that it takes on the CPU and that Taeda computes with, the main ones first."""
        names = [str(d).removeprefix("torch.") for d in self.info.supported_dtypes("cpu")]
        return sorted(filter(_computes_with, names), key=lambda n: (n not in MAIN, n))

    @cached_property
    def backward_dtypes(self) -> set[str]:
        return {str(d).removeprefix("torch.") for d in self.info.supported_backward_dtypes("cpu")}

    def function(self) -> Callable[..., Any]:
        """Taeda's callable of the same name."""
        name = self.info.name.removeprefix("torch.")
        try:
            named = resolve(torch, name)
        except MissingError:
            named = None
        return resolve(taeda, name) if named is self.info.op else Translator()(self.info.op)

    def excluded(self) -> str:
        """Why it does not concern strided tensors on the CPU; empty where it does."""
        if self.info.name.startswith("sparse."):
            return "sparse tensors"
        if getattr(self.info.op, "__module__", "") == "torch.cuda.jiterator" or not self.info.supported_dtypes("cpu"):
            return "no CPU kernel in PyTorch"
        if not self.dtypes:
            return "dtypes that come later"
        return self._excluded_results()

    def _excluded_results(self) -> str:
        """Why none of its samples has a result that Taeda has a tensor for."""
        reasons = []
        for case in self.cases(self.dtypes[0], cap=4):
            _, theirs = case.sides()
            try:
                results = theirs.arguments.call(self.info.op)
            except Exception:
                results = ()
            reasons.append(foreign(results))
        return reasons[0] if reasons and all(reasons) else ""

    def samples(self, dtype: str, requires_grad: bool) -> list[Case]:
        """Every sample of a dtype but those with sparse tensors."""
        if (key := (dtype, requires_grad)) in self.made:
            return self.made[key]
        torch.default_generator.manual_seed(SEED)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            samples = list(
                self.info.sample_inputs_func(self.info, "cpu", getattr(torch, dtype), requires_grad=requires_grad)
            )
        found = [Case(dtype, i, s) for i, s in enumerate(samples) if all(map(_is_strided, _tensors(s)))]
        self.made[key] = found
        return found

    def cases(self, dtype: str, *, cap: int, requires_grad: bool = False) -> list[Case]:
        """At most ``cap`` samples of a dtype, evenly spaced."""
        found = self.samples(dtype, requires_grad)
        cap = cap if dtype in (*MAIN, "complex128") else min(cap, FEW)
        return found[:: max(1, -(-len(found) // cap))]

    def errors(self) -> Iterator[Case]:
        """The calls that must fail."""
        if self.info.error_inputs_func is None:
            return
        torch.default_generator.manual_seed(SEED)
        for i, wrong in enumerate(self.info.error_inputs_func(self.info, "cpu")):
            yield Case("", i, wrong.sample_input)

    def tolerance(self, dtype: str) -> float:
        """The table's own where it is wider than ours."""
        found = [RTOL.get(dtype, 0.0)]
        for decorate in (*self.info.decorators, *self.info.skips):
            for override in getattr(decorate, "decorators", ()):
                if isinstance(override, toleranceOverride) and decorate.device_type in (None, "cpu"):
                    found += override.d.get(getattr(torch, dtype, None), ())
        return float(max(found))


def _computes_with(dtype: str) -> bool:
    return hasattr(taeda, dtype) and not dtype.startswith(("float8", "complex32"))  # which are only stored


def foreign(results: Any) -> str:
    """What among PyTorch's results Taeda has no tensor for; empty where it has."""
    tensors = [r for r in flat(results) if isinstance(r, torch.Tensor)]
    if any(t.layout != torch.strided for t in tensors):
        return "sparse tensors"
    if not all(_computes_with(str(t.dtype).removeprefix("torch.")) for t in tensors):
        return "dtypes that come later"
    return ""


def tensors_of(*values: Any) -> list[torch.Tensor]:
    """Every tensor in nested values."""
    return Arguments(list(values), (), {}, lambda x: x).tensors()


def _tensors(sample: SampleInput) -> list[torch.Tensor]:
    return tensors_of(sample.input, sample.args, sample.kwargs)


def _is_strided(tensor: torch.Tensor) -> bool:
    return tensor.layout == torch.strided and tensor.device.type == "cpu"


def entries() -> list[Entry]:
    """The whole table."""
    return [Entry(info) for info in op_db]
