"""Random arguments for measurements: sizes drawn from distributions that a person states, and tensors of such sizes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import taeda
from taeda import Tensor

__all__ = ["FuzzedParameter", "FuzzedSparseTensor", "FuzzedTensor", "Fuzzer", "ParameterAlias"]

_TRIES = 10_000  # draws that constraints may refuse in a row


class ParameterAlias:
    """In a distribution: the value of another parameter."""

    def __init__(self, alias_to: str) -> None:
        self.alias_to = alias_to

    def __repr__(self) -> str:
        return f"ParameterAlias[alias_to: {self.alias_to}]"


class FuzzedParameter:
    """A number that is drawn.

    Args:
        name: by which tensors refer to it.
        minval: the least value; with ``maxval`` and ``distribution`` as a name.
        maxval: the greatest.
        distribution: ``"uniform"`` or ``"loguniform"``, or values with the probability of each.
        strict: probabilities must add up to 1; otherwise they are divided by their sum.

    Raises:
        ValueError: the distribution is unknown, or lacks what it needs.
    """

    def __init__(
        self,
        name: str,
        minval: float | None = None,
        maxval: float | None = None,
        distribution: str | Mapping[Any, float] | None = None,
        strict: bool = False,
    ) -> None:
        self.name, self._minval, self._maxval = name, minval, maxval
        self._distribution = self._checked(distribution, strict)

    def _checked(self, distribution: Any, strict: bool) -> Any:
        if isinstance(distribution, Mapping):
            total = sum(distribution.values())
            if total <= 0 or min(distribution.values()) < 0 or (strict and abs(total - 1) > 1e-6):
                raise ValueError(
                    f"FuzzedParameter {self.name!r}: probabilities must be positive and add up to 1; got {distribution}"
                )
            return {value: weight / total for value, weight in distribution.items()}
        if distribution not in ("uniform", "loguniform"):
            raise ValueError(
                f"FuzzedParameter {self.name!r}: distribution is 'uniform', 'loguniform' or a dict; "
                f"got {distribution!r}"
            )
        least = 0 if distribution == "loguniform" else -float("inf")
        if self._minval is None or self._maxval is None or not least < self._minval <= self._maxval:
            raise ValueError(
                f"FuzzedParameter {self.name!r}: a {distribution} distribution needs minval <= maxval"
                f"{', both above 0' if distribution == 'loguniform' else ''}; got {self._minval} and {self._maxval}"
            )
        return distribution

    def sample(self, state: random.Random) -> Any:
        """One value; an integer where both ends are integers."""
        if isinstance(self._distribution, dict):
            return state.choices(list(self._distribution), list(self._distribution.values()))[0]
        low, high = self._minval, self._maxval
        assert low is not None and high is not None
        whole = isinstance(low, int) and isinstance(high, int)
        if self._distribution == "uniform":
            return state.randint(low, high) if whole else state.uniform(low, high)  # type: ignore[arg-type]
        value = low * (high / low) ** state.random()
        return round(value) if whole else value


class FuzzedTensor:
    """A tensor whose size is drawn.

    Args:
        name: of the argument.
        size: numbers and names of parameters.
        steps: memory is larger by these factors and read in steps of them; numbers and names of parameters.
        probability_contiguous: how often the dimensions lie in memory in their order, and not shuffled.
        min_elements, max_elements: other sizes are drawn anew.
        max_allocation_bytes: likewise for the memory.
        dim_parameter: the parameter that says how many of the dimensions there are.
        roll_parameter: the parameter by which the dimensions are rotated.
        dtype: of the elements; random, between 0 and 1 or small integers.
        cuda: asks for a GPU, which there is none of.
        tensor_constructor: called with ``size``, ``dtype`` and the drawn parameters; makes the elements.
    """

    def __init__(
        self,
        name: str,
        size: Sequence[str | int],
        steps: Sequence[str | int] | None = None,
        probability_contiguous: float = 0.5,
        min_elements: int | None = None,
        max_elements: int | None = None,
        max_allocation_bytes: int | None = None,
        dim_parameter: str | None = None,
        roll_parameter: str | None = None,
        dtype: taeda.dtype = taeda.float32,
        cuda: bool = False,
        tensor_constructor: Callable[..., Tensor] | None = None,
    ) -> None:
        if cuda:
            raise RuntimeError(f"FuzzedTensor {name!r}: cuda=True, but this build of Taeda has no CUDA")
        self.name, self._size, self._steps = name, size, steps
        self._probability_contiguous = probability_contiguous
        self._min_elements, self._max_elements, self._max_bytes = min_elements, max_elements, max_allocation_bytes
        self._dim_parameter, self._roll_parameter = dim_parameter, roll_parameter
        self._dtype = dtype
        self._tensor_constructor = tensor_constructor

    @staticmethod
    def default_tensor_constructor(size: Any, dtype: taeda.dtype, **kwargs: Any) -> Tensor:
        """Random elements."""
        if dtype.is_floating_point or dtype.is_complex:
            return taeda.rand(size, dtype=dtype)
        return taeda.randint(2 if dtype == taeda.bool else 127, size, dtype=dtype)

    def _measures(self, params: Mapping[str, Any]) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """The size, the memory's size and the steps."""
        known = lambda value: int(params[value]) if isinstance(value, str) else value
        size, steps = (list(map(known, values)) for values in (self._size, self._steps or [1] * len(self._size)))
        dims = len(size) if self._dim_parameter is None else int(params[self._dim_parameter])
        size, steps = size[:dims] + [1] * (dims - len(size)), steps[:dims] + [1] * (dims - len(steps))
        return tuple(size), tuple(n * step for n, step in zip(size, steps)), tuple(steps)

    def satisfies_constraints(self, params: Mapping[str, Any]) -> bool:
        """Whether the size that the parameters give is one of those that are wanted."""
        size, allocated, _ = self._measures(params)
        elements, room = 1, self._dtype.itemsize
        for n, in_memory in zip(size, allocated):
            elements, room = elements * n, room * in_memory
        return (
            elements >= (self._min_elements or 0)
            and (self._max_elements is None or elements <= self._max_elements)
            and (self._max_bytes is None or room <= self._max_bytes)
        )

    def _make_tensor(self, params: Mapping[str, Any], state: random.Random) -> tuple[Tensor, dict[str, Any]]:
        size, allocated, steps = self._measures(params)
        make = self._tensor_constructor or self.default_tensor_constructor
        raw = make(size=allocated, dtype=self._dtype, **params)
        order = list(range(len(size)))
        is_contiguous = not order or state.random() <= self._probability_contiguous
        if not is_contiguous:
            while len(order) > 1 and order == sorted(order):
                state.shuffle(order)
            raw = raw.permute(order).contiguous().permute([order.index(d) for d in range(len(order))])
        tensor = raw[tuple(slice(0, n * step, step) for n, step in zip(size, steps))]
        if self._roll_parameter is not None and order:
            turn = int(params[self._roll_parameter]) % len(order)
            tensor = tensor.permute([*range(turn, len(order)), *range(turn)])
        return tensor, {
            "numel": tensor.numel(), "order": order, "steps": steps, "is_contiguous": tensor.is_contiguous(),
            "dtype": str(self._dtype),
        }  # fmt: skip


class FuzzedSparseTensor(FuzzedTensor):
    """A tensor of coordinates whose size and number of entries are drawn.

    Args:
        nnz: the entries: a number or the name of a parameter.
        density: instead of ``nnz``, which part of the elements has entries.
        coalesced: whether entries are in order, each there once; a bool or the name of a parameter.
        sparse_dim: a number or the name of a parameter; all dimensions by default.
    """

    def __init__(
        self,
        name: str,
        size: Sequence[str | int],
        min_elements: int | None = None,
        max_elements: int | None = None,
        dim_parameter: str | None = None,
        sparse_dim: str | int | None = None,
        nnz: str | int | None = None,
        density: str | float | None = None,
        coalesced: str | bool | None = None,
        dtype: taeda.dtype = taeda.float32,
        cuda: bool = False,
    ) -> None:
        super().__init__(
            name, size, min_elements=min_elements, max_elements=max_elements, dim_parameter=dim_parameter, dtype=dtype,
            cuda=cuda,
        )  # fmt: skip
        self._sparse_dim, self._nnz, self._density, self._coalesced = sparse_dim, nnz, density, coalesced

    def _make_tensor(self, params: Mapping[str, Any], state: random.Random) -> tuple[Tensor, dict[str, Any]]:
        size, _, _ = self._measures(params)
        known = lambda value: params[value] if isinstance(value, str) else value
        dims = len(size) if self._sparse_dim is None else int(known(self._sparse_dim))
        places = 1
        for n in size[:dims]:
            places *= n
        count = int(known(self._nnz)) if self._nnz is not None else round(float(known(self._density) or 0) * places)
        indices = taeda.stack([taeda.randint(n, (count,)) for n in size[:dims]])
        values = self.default_tensor_constructor((count, *size[dims:]), self._dtype)
        tensor = taeda.sparse_coo_tensor(indices, values, size)
        if known(self._coalesced):
            tensor = tensor.coalesce()
        return tensor, {
            "numel": tensor.numel(), "shape": tuple(size), "is_coalesced": tensor.is_coalesced(),
            "sparse_dim": dims, "density": tensor._nnz() / places if places else 0.0, "dtype": str(self._dtype),
        }  # fmt: skip


class Fuzzer:
    """Draws parameters and makes tensors of them.

    Args:
        parameters: what is drawn; lists of them, too.
        tensors: what is made.
        constraints: functions of all parameters, by name, that say whether a draw is taken.
        seed: of all draws; the system's entropy without.
    """

    def __init__(
        self,
        parameters: Sequence[Any],
        tensors: Sequence[Any],
        constraints: Sequence[Callable[..., bool]] | None = None,
        seed: int | None = None,
    ) -> None:
        self._parameters, self._tensors = _flat(parameters, FuzzedParameter), _flat(tensors, FuzzedTensor)
        names = [item.name for item in (*self._parameters, *self._tensors)]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(f"Fuzzer: each name must be there once; got {', '.join(sorted(twice))} more than once")
        self._constraints = constraints or ()
        self._seed = random.SystemRandom().randrange(2**32) if seed is None else seed
        self._generated = self._refused = 0

    @property
    def rejection_rate(self) -> float:
        """Which part of the draws was refused."""
        total = self._generated + self._refused
        return self._refused / total if total else 0.0

    def take(self, n: int) -> Iterator[tuple[dict[str, Tensor], dict[str, Any], dict[str, Any]]]:
        """``n`` draws: the tensors by name, facts of each tensor, and the parameters.

        Raises:
            ValueError: no draw fits.
        """
        state = random.Random(self._seed)
        for _ in range(n):
            params = self._draw(state)
            with taeda.random.fork_rng():
                taeda.manual_seed(state.getrandbits(32))
                made = {tensor.name: tensor._make_tensor(params, state) for tensor in self._tensors}
            tensors, facts = ({name: pair[i] for name, pair in made.items()} for i in range(2))
            yield tensors, facts, params

    def _draw(self, state: random.Random) -> dict[str, Any]:
        for _ in range(_TRIES):
            params: dict[str, Any] = {parameter.name: parameter.sample(state) for parameter in self._parameters}
            for _ in params:  # an alias may be one of an alias
                params = {k: params[v.alias_to] if isinstance(v, ParameterAlias) else v for k, v in params.items()}
            if all(fits(**params) for fits in self._constraints) and all(
                tensor.satisfies_constraints(params) for tensor in self._tensors
            ):
                self._generated += 1
                return params
            self._refused += 1
        raise ValueError(f"Fuzzer: none of {_TRIES} draws satisfies the constraints")


def _flat(items: Sequence[Any], kind: type[Any]) -> list[Any]:
    found = []
    for item in items:
        if isinstance(item, (list, tuple)):
            found += _flat(item, kind)
        elif isinstance(item, kind):
            found.append(item)
        else:
            raise ValueError(f"Fuzzer: {kind.__name__}s are wanted; got {item!r}")
    return found
