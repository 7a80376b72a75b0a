"""What every distribution is: two shapes, checked arguments, and the methods that subclasses fill in."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NoReturn, Self

import taeda
from taeda import Size, Tensor
from taeda.distributions import constraints
from taeda.distributions.constraints import Constraint
from taeda.distributions.utils import SCALAR, lazy_property

__all__ = ["Distribution"]


class Distribution:
    """The base of all distributions.

    A draw has the shape ``sample_shape + batch_shape + event_shape``: so many draws, of so many distributions side by
    side, each over things of that shape. ``log_prob`` gives one number for each event.
    """

    has_rsample: Any = False
    has_enumerate_support: Any = False
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions made without ``validate_args`` check arguments and values; at start they do unless
        Python runs with ``-O``. Raises ``ValueError`` for anything but a bool."""
        if value not in (True, False):
            raise ValueError(f"set_default_validate_args takes a bool, got {value!r}")
        Distribution._validate_args = value

    def __init__(
        self, batch_shape: Size = SCALAR, event_shape: Size = SCALAR, validate_args: bool | None = None
    ) -> None:
        self._batch_shape, self._event_shape = batch_shape, event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_arguments()
        super().__init__()

    def _check_arguments(self) -> None:
        try:
            arg_constraints = self.arg_constraints
        except NotImplementedError:
            arg_constraints = {}
            warnings.warn(
                f"{type(self)} has no arg_constraints, so its arguments are not checked; "
                "define them, or pass validate_args=False",
                stacklevel=4,
            )
        for name, constraint in arg_constraints.items():
            unread = name not in self.__dict__ and isinstance(getattr(type(self), name), lazy_property)
            if constraints.is_dependent(constraint) or unread:
                continue
            value = getattr(self, name)
            if not taeda._is_all_true(constraint.check(value)):
                raise ValueError(
                    f"{type(self).__name__}: {name}, of shape {tuple(value.shape)}, must satisfy {constraint!r}, "
                    f"but some values do not, in {self!r}:\n{value}"
                )

    def _lacks(self, what: str) -> NoReturn:
        raise NotImplementedError(f"{type(self).__name__} has no {what}")

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Self:
        """The same distribution with the batch shape expanded to ``batch_shape``; no memory is taken for parameters."""
        self._lacks("expand")

    def _expanded(self, cls: type, batch_shape: Sequence[int], instance: Any, *names: str) -> Any:
        """What ``cls.expand`` returns where the attributes ``names`` that are there begin with the batch shape."""
        new = self._get_checked_instance(cls, instance)
        batch_shape = Size(batch_shape)
        for name in names:
            if name in self.__dict__:
                value = self.__dict__[name]
                new.__dict__[name] = value.expand(batch_shape + value.shape[len(self.batch_shape) :])
        return self._finish_expanded(new, batch_shape)

    def _finish_expanded(self, new: Any, batch_shape: Sequence[int]) -> Any:
        """Gives ``new`` its shapes without checking parameters that were checked before."""
        Distribution.__init__(new, Size(batch_shape), self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        """``_instance``, or an empty object of the type of self, which must then be built as ``cls`` is."""
        if _instance is None and type(self).__init__ is not cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"{type(self).__name__} has an __init__ of its own, so it needs an expand of its own too, "
                f"beside that of {cls.__name__}"
            )
        return self.__new__(type(self)) if _instance is None else _instance

    @property
    def batch_shape(self) -> Size:
        """The shape of the distributions that stand side by side."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one event, empty for numbers."""
        return self._event_shape

    @property
    def arg_constraints(self) -> dict[str, Constraint]:
        """For each parameter's name what it must satisfy."""
        self._lacks("arg_constraints")

    @property
    def support(self) -> Any:
        """The constraint that draws satisfy."""
        self._lacks("support")

    @property
    def mean(self) -> Tensor:
        """The mean, of the shape ``batch_shape + event_shape``."""
        self._lacks("mean")

    @property
    def mode(self) -> Tensor:
        """The most probable event, of the shape ``batch_shape + event_shape``."""
        self._lacks("mode")

    @property
    def variance(self) -> Tensor:
        """The variance, of the shape ``batch_shape + event_shape``."""
        self._lacks("variance")

    @property
    def stddev(self) -> Tensor:
        """The standard deviation, of the shape ``batch_shape + event_shape``."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Sequence[int] = SCALAR) -> Tensor:
        """Draws without gradients, of the shape ``sample_shape + batch_shape + event_shape``."""
        with taeda.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = SCALAR) -> Tensor:
        """Draws that are differentiable functions of the parameters."""
        self._lacks("rsample: its draws are not differentiable")

    def sample_n(self, n: int) -> Tensor:
        """Deprecated: ``sample((n,))``."""
        warnings.warn("sample_n is deprecated, use sample((n,))", FutureWarning, stacklevel=2)
        return self.sample(Size((n,)))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density or probability of ``value``, one for each event."""
        self._lacks("log_prob")

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of a draw up to ``value``."""
        self._lacks("cdf")

    def icdf(self, value: Tensor) -> Tensor:
        """The inverse of ``cdf``: up to where the probability is ``value``."""
        self._lacks("icdf")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All events of a discrete distribution along a new first dimension, before the batch shape; without
        ``expand`` the batch shape is ones."""
        self._lacks("enumerate_support")

    def entropy(self) -> Tensor:
        """The entropy in nats, of the shape ``batch_shape``."""
        self._lacks("entropy")

    def perplexity(self) -> Tensor:
        """``exp(entropy)``."""
        return taeda.exp(self.entropy())

    def _extended_shape(self, sample_shape: Sequence[int] = SCALAR) -> Size:
        """The shape of draws."""
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _validate_sample(self, value: Any) -> None:
        """Raises ``ValueError`` unless ``value`` is a tensor of events in the support, broadcastable with the batch."""
        name = type(self).__name__
        if not isinstance(value, Tensor):
            raise ValueError(f"{name}: the value must be a tensor, got {type(value).__name__}")
        events = len(self._event_shape)
        if value.shape[value.dim() - events :] != self._event_shape:
            raise ValueError(f"{name}: values must end in event_shape {tuple(self._event_shape)}, got {value.shape}")
        expected = self._batch_shape + self._event_shape
        if any(1 != got != want != 1 for got, want in zip(reversed(value.shape), reversed(expected))):
            raise ValueError(
                f"{name}: values of shape {tuple(value.shape)} do not broadcast with batch_shape + event_shape, "
                f"{tuple(expected)}"
            )
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} has no support, so values are not checked; define it, or pass validate_args=False",
                stacklevel=3,
            )
            return
        if not taeda._is_all_true(support.check(value)):
            raise ValueError(
                f"{name}: values must be in the support, {support!r}, but some of shape {tuple(value.shape)} are not, "
                f"for {self!r}:\n{value}"
            )

    def _checked(self, value: Tensor) -> None:
        """``_validate_sample`` if this distribution validates."""
        if self._validate_args:
            self._validate_sample(value)

    def __repr__(self) -> str:
        shown = ((name, self.__dict__[name]) for name in self.arg_constraints if name in self.__dict__)
        listed = ", ".join(f"{name}: {value if value.numel() == 1 else value.shape}" for name, value in shown)
        return f"{type(self).__name__}({listed})"
