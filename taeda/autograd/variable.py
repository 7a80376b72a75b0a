"""``Variable``, the name that tensors with gradients once had."""

from __future__ import annotations

from typing import Any

from taeda import Tensor
from taeda._C import _autograd

__all__ = ["Variable", "VariableMeta"]


class VariableMeta(type):
    """Makes every tensor an instance of ``Variable``."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=VariableMeta):
    """``Variable(data, requires_grad=False)`` is ``data`` itself, outside the graph; every tensor is an instance."""

    _execution_engine = _autograd  # queue_callback and run_backward

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: bool | None = None) -> Any:
        import taeda

        tensor = taeda.empty(0) if data is None else data.detach()
        return tensor.requires_grad_(requires_grad)
