"""Tensors that are made of others: their elements lie in ordinary tensors, which calculate and carry the gradients.

Such a tensor requires grad where its sources do, and its ``grad`` is made of theirs. Every function that is called with
one comes to ``__torch_function__``, above autograd, and is put down to functions of the sources there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import taeda
from taeda import Tensor


class Composed(Tensor):
    """A subclass says what its sources are, and how it is made of others like them."""

    def sources(self) -> list[Tensor]:
        """The ordinary tensors that hold the elements."""
        raise NotImplementedError

    def over(self, sources: Sequence[Tensor]) -> Any:
        """The same structure over other sources, each of the old one's shape."""
        raise NotImplementedError

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> NoReturn:
        raise NotImplementedError(f"taeda.{func._schema.name.partition('::')[2]}: takes no {cls.__name__} here")

    @property
    def requires_grad(self) -> bool:  # type: ignore[override]
        return any(source.requires_grad for source in self.sources())

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad: bool = True) -> Any:  # type: ignore[override]
        for source in self.sources():
            source.requires_grad_(requires_grad)
        return self

    @property
    def is_leaf(self) -> bool:  # type: ignore[override]
        return all(source.is_leaf for source in self.sources())

    @property
    def grad_fn(self) -> Any:  # type: ignore[override]
        return next((source.grad_fn for source in self.sources() if source.grad_fn is not None), None)

    @property
    def grad(self) -> Any:  # type: ignore[override]
        return _of_gradients(self, [source.grad for source in self.sources()])

    @grad.setter
    def grad(self, value: Any) -> None:
        grads = [None] * len(self.sources()) if value is None else value.sources()
        for source, grad in zip(self.sources(), grads, strict=True):
            source.grad = grad

    @property
    def data(self) -> Any:  # type: ignore[override]
        return self.detach()

    def retain_grad(self) -> None:
        for source in self.sources():
            source.retain_grad()

    def _only_source(self, name: str) -> Tensor:
        if len(sources := self.sources()) != 1:
            raise NotImplementedError(
                f"taeda.Tensor.{name}: takes no tensor of {len(sources)} parts, whose gradients come one by one"
            )
        return sources[0]

    def register_hook(self, hook: Callable[[Any], Any]) -> Any:
        """``hook(grad)`` is called with the gradient, of this structure, and may give another one."""

        def call(grad: Tensor) -> Tensor | None:
            made = hook(self.over([grad]))
            return None if made is None else _plain(made)[0]

        return self._only_source("register_hook").register_hook(call)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Any], None]) -> Any:
        """``hook(tensor)`` is called after ``grad`` has changed."""
        source = self._only_source("register_post_accumulate_grad_hook")
        return source.register_post_accumulate_grad_hook(lambda _: hook(self))

    def backward(
        self, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None
    ) -> None:  # fmt: skip
        """``torch.autograd.backward`` from the sources."""
        given = None if gradient is None else _plain(gradient)
        wanted = None if inputs is None else _plain(inputs)
        taeda.autograd.backward(_plain(self), given, retain_graph, create_graph, inputs=wanted)

    def __hash__(self) -> int:
        return id(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            made = self.over([source.detach().clone() for source in self.sources()])
            memo[id(self)] = made.requires_grad_() if self.requires_grad else made
        return memo[id(self)]


def _of_gradients(x: Composed, grads: Sequence[Tensor | None]) -> Any:
    if all(grad is None for grad in grads):
        return None
    return x.over([taeda.zeros_like(s) if g is None else g for s, g in zip(x.sources(), grads, strict=True)])


def _plain(values: Any) -> tuple[Any, ...]:
    """The tensors under each value."""
    given = (values,) if isinstance(values, Tensor) else tuple(values)
    return tuple(source for x in given for source in (x.sources() if isinstance(x, Composed) else (x,)))


def grad(func: Any, outputs: Any, inputs: Any, grad_outputs: Any = None, **options: Any) -> tuple[Any, ...]:
    """``torch.autograd.grad`` where some of the tensors are composed: by their sources."""
    wanted = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    start = None if grad_outputs is None else _plain(grad_outputs)
    found = iter(taeda.autograd.grad(_plain(outputs), _plain(wanted), start, **options))
    made = []
    for x in wanted:
        if isinstance(x, Composed):
            made.append(_of_gradients(x, [next(found) for _ in x.sources()]))
        else:
            made.append(next(found))
    return tuple(made)
