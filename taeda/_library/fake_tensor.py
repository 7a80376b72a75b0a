"""Fake tensors: shapes, dtypes and devices without memory, so that a program can be tried for a device that is absent.

A fake tensor wraps a tensor on the meta device and remembers the device that it stands for. Inside ``FakeTensorMode``
every op runs on the wrapped tensors, that is through its shape rule alone, and its results are fake again.
"""

from __future__ import annotations

import copy
import weakref
from typing import Any

import taeda
from taeda import Tensor
from taeda._schema.tags import Tag
from taeda.autograd._transforms import transforms_aside
from taeda.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from taeda.utils._pytree import tree_leaves, tree_map

__all__ = [
    "DataDependentOutputException",
    "DynamicOutputShapeException",
    "FakeTensor",
    "FakeTensorDeviceMismatchError",
    "FakeTensorMode",
    "UnsupportedFakeTensorException",
    "UnsupportedOperatorException",
    "is_fake",
]


class UnsupportedFakeTensorException(RuntimeError):
    """A tensor that cannot be made fake."""


class DynamicOutputShapeException(RuntimeError):
    """The shape of an op's result depends on values, which fake tensors lack; ``func`` is the op."""

    def __init__(self, func: Any) -> None:
        super().__init__(func)
        self.func = func


class DataDependentOutputException(RuntimeError):
    """An op's result is a Python value of an element, which fake tensors lack; ``func`` is the op."""

    def __init__(self, func: Any) -> None:
        super().__init__(func)
        self.func = func


class UnsupportedOperatorException(RuntimeError):
    """An op without a shape rule; ``func`` is the op."""

    def __init__(self, func: Any) -> None:
        super().__init__(func)
        self.func = func


class FakeTensorDeviceMismatchError(RuntimeError):
    """Fake tensors of several devices met in one op."""


_VALUES = {"_local_scalar_dense", "equal", "is_nonzero", "item"}


def is_fake(x: object) -> bool:
    """Whether ``x`` is a fake tensor, or a parameter around one."""
    return isinstance(x, FakeTensor) or (isinstance(x, Tensor) and isinstance(x.data, FakeTensor))


class FakeTensor(Tensor):
    """A tensor without elements that says of which device it is; ops on it give such tensors."""

    fake_device: taeda.device
    fake_mode: FakeTensorMode
    _meta: Tensor
    constant: Tensor | None = None  # the value of a number that the program wrote down
    _shown: tuple[Any, ...] | None = None  # the sizes of a value of a graph: symbols where they vary

    @staticmethod
    def __new__(
        cls, fake_mode: FakeTensorMode, elem: Tensor, device: Any, *, requires_grad: bool | None = None
    ) -> FakeTensor:
        if elem.device.type != "meta":
            raise ValueError(f"FakeTensor: elem must be on the meta device; got one on {elem.device}")
        shown_as = _indexed(taeda.device(device))
        grad = elem.requires_grad if requires_grad is None else requires_grad
        if elem.layout is taeda.strided:
            made: FakeTensor = Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
                cls, elem.size(), strides=elem.stride(), storage_offset=elem.storage_offset(), dtype=elem.dtype,
                device=shown_as, requires_grad=grad,
            )  # fmt: skip
        else:  # the parts of a sparse tensor say of what kind it is
            made = Tensor._make_subclass(cls, elem, grad, device_for_backend_keys=shown_as)
        made.fake_device, made.fake_mode, made._meta = shown_as, fake_mode, elem.detach()
        return made

    @property
    def shape(self) -> Any:  # type: ignore[override]
        """The sizes; those of a graph's values are ``SymInt`` where they vary."""
        return super().shape if self._shown is None else taeda.Size(self._shown)

    def size(self, dim: int | None = None) -> Any:  # type: ignore[override]
        """``shape``, or one of it."""
        if self._shown is None:
            return super().size() if dim is None else super().size(dim)
        return self.shape if dim is None else self._shown[dim]

    @staticmethod
    def from_tensor(t: Tensor, fake_mode: FakeTensorMode) -> FakeTensor:
        """``fake_mode.from_tensor(t)``."""
        return fake_mode.from_tensor(t)

    def __repr__(self, *, tensor_contents: str | None = None) -> str:  # type: ignore[override]
        parts = ["..."]
        if self.fake_device.type != "cpu":
            parts.append(f"device='{self.fake_device}'")
        parts.append(f"size={tuple(self.size())}")
        if self.dtype is not taeda.get_default_dtype():
            parts.append(f"dtype={self.dtype}")
        if self.grad_fn is not None:
            parts.append(f"grad_fn=<{self.grad_fn.name()}>")
        elif self.requires_grad:
            parts.append("requires_grad=True")
        shown = f"FakeTensor({', '.join(parts)})"
        return f"Parameter({shown})" if isinstance(self, taeda.nn.Parameter) else shown

    def __deepcopy__(self, memo: dict[int, Any]) -> FakeTensor:
        if id(self) not in memo:
            with _disable_current_modes():
                elem = self._meta.clone()
                made = FakeTensor(self.fake_mode, elem, self.fake_device, requires_grad=self.requires_grad)
            own = {k: v for k, v in self.__dict__.items() if k not in ("fake_mode", "fake_device", "_meta", "_shown")}
            made.__dict__.update(copy.deepcopy(own, memo))
            made._shown = self._shown
            memo[id(self)] = made
        return memo[id(self)]

    def tolist(self) -> Any:
        """Raises DataDependentOutputException: there are no elements."""
        raise DataDependentOutputException(taeda.ops.aten._local_scalar_dense.default)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None) -> Any:
        first = next(x for x in tree_leaves((args, kwargs)) if isinstance(x, FakeTensor))
        return first.fake_mode.dispatch(func, args, kwargs or {})


def _of_constants(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """What an op gives where all its tensors are numbers that the program wrote down; None where not."""
    tensors = [x for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor)]
    if func._schema.is_mutable:
        for tensor in tensors:
            if isinstance(tensor, FakeTensor):
                tensor.constant = None
        return None
    known = [x.constant if isinstance(x, FakeTensor) else None for x in tensors]
    if not known or any(x is None for x in known) or func.is_view or Tag.nondeterministic_seeded in func.tags:
        return None
    values = iter(known)
    plain = tree_map(lambda x: next(values) if isinstance(x, Tensor) else x, (args, kwargs))
    with _disable_current_modes():
        return func(*plain[0], **plain[1])


def _indexed(device: taeda.device) -> taeda.device:
    """Accelerators have a number."""
    return device if device.type in ("cpu", "meta") or device.index is not None else taeda.device(device.type, 0)


class FakeTensorMode(TorchDispatchMode):
    """Inside ``with FakeTensorMode():`` new tensors are fake, on whatever device they are asked for.

    Args:
        allow_non_fake_inputs: take real tensors as operands, by their shapes; otherwise they raise AssertionError.
        allow_fallback_kernels, static_shapes, export: accepted; shapes here are always static, and every op answers
            by its shape rule.
        shape_env: must be None, since sizes are never symbols here.
    """

    def __init__(
        self,
        *,
        allow_fallback_kernels: bool = True,
        allow_non_fake_inputs: bool = False,
        shape_env: None = None,
        static_shapes: bool | None = None,
        export: bool = False,
    ) -> None:
        super().__init__()
        if shape_env is not None:
            raise ValueError("FakeTensorMode: shape_env must be None: sizes are always known numbers here")
        self.allow_non_fake_inputs = allow_non_fake_inputs
        self._made: dict[int, tuple[weakref.ref[Tensor], FakeTensor]] = {}

    def from_tensor(self, tensor: Tensor, *, static_shapes: bool | None = None) -> FakeTensor:
        """The fake tensor of a real one, always the same for the same."""
        if isinstance(tensor, FakeTensor):
            return tensor
        if tensor.layout is taeda.jagged:
            raise UnsupportedFakeTensorException(f"FakeTensorMode.from_tensor: layout {tensor.layout}")
        source, made = self._made.get(id(tensor), (None, None))
        if made is None or source is None or source() is not tensor:
            made = self._like(tensor)
            self._made[id(tensor)] = (weakref.ref(tensor), made)
        return made

    def _like(self, tensor: Tensor) -> FakeTensor:
        with _disable_current_modes():
            if tensor.layout is taeda.strided:
                meta = taeda.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device="meta")
            else:
                meta = tensor.detach().to("meta")
            return FakeTensor(self, meta, tensor.device, requires_grad=tensor.requires_grad)

    def is_our_fake(self, t: object) -> bool:
        """Whether ``t`` is a fake tensor of this mode."""
        return isinstance(t, FakeTensor) and t.fake_mode is self

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None) -> Any:
        return self.dispatch(func, args, kwargs or {})

    def dispatch(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Runs an op on the meta tensors of its arguments and makes fake tensors of its results."""
        name = func._schema.name.partition("::")[2]
        known = _of_constants(func, args, kwargs)
        if name in _VALUES:
            if known is None:
                raise DataDependentOutputException(func)
            return known
        if name == "any_anywhere":  # asked for mistakes in values, and there are none
            return taeda.tensor(False)
        if name == "lift_fresh" and not isinstance(args[0], FakeTensor):  # a constant of the program
            made = self._like(args[0])
            made.constant = args[0] if args[0].numel() == 1 else None
            return made
        device = self._device(func, args, kwargs)
        wrappers: dict[int, FakeTensor] = {}

        def meta(value: Any) -> Any:
            if isinstance(value, FakeTensor):
                wrappers[id(value._meta)] = value
                return value._meta
            if isinstance(value, Tensor):
                return self._accepted(func, value)._meta
            return taeda.device("meta") if isinstance(value, taeda.device) else value

        def fake(value: Any) -> Any:
            if not isinstance(value, Tensor):
                return value
            known = wrappers.get(id(value))
            if known is None:
                return FakeTensor(self, value, device)
            if Tensor.size(known) != value.size() or Tensor.stride(known) != value.stride():  # unsqueeze_, resize_
                with transforms_aside():
                    known.data = FakeTensor(self, value, known.fake_device, requires_grad=False)
            return known

        with _disable_current_modes():
            args, kwargs = tree_map(meta, args), tree_map(meta, kwargs)
            if any(a.name == "device" for a in func._schema.arguments):
                kwargs["device"] = taeda.device("meta")
            try:
                results = func(*args, **kwargs)
            except NotImplementedError as error:
                depends = "depends on the data" in str(error)
                raise (DynamicOutputShapeException if depends else UnsupportedOperatorException)(func) from error
            made = tree_map(fake, results)
            if isinstance(known, Tensor) and known.numel() == 1:
                made.constant = known
            return made

    def _accepted(self, func: Any, value: Tensor) -> FakeTensor:
        if not self.allow_non_fake_inputs and value.dim():  # a number may have become a tensor on its way
            raise AssertionError(
                f"FakeTensorMode: {func} got a real tensor of size {tuple(value.size())} among fake ones; convert it "
                "with FakeTensorMode.from_tensor, or make the mode with allow_non_fake_inputs=True"
            )
        return self.from_tensor(value)

    def _device(self, func: Any, args: Any, kwargs: dict[str, Any]) -> taeda.device:
        """Where the results are: where the call says, else where its operands are; numbers on the CPU go along."""
        asked = kwargs.get("device")
        if asked is not None:
            return taeda.device(asked)
        operands = [x for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor)]
        found = {x.fake_device if isinstance(x, FakeTensor) else x.device for x in operands if x.dim()}
        if len(found) > 1:
            devices = " and ".join(sorted(map(str, found)))
            raise FakeTensorDeviceMismatchError(f"{func}: all tensors must be on one device; got {devices}")
        numbers = {x.fake_device if isinstance(x, FakeTensor) else x.device for x in operands}
        found = found or {d for d in numbers if d.type != "cpu"} or numbers
        return found.pop() if found else taeda.get_default_device()


for _name in __all__:  # as PyTorch's users know them
    globals()[_name].__module__ = "taeda._subclasses.fake_tensor"
