"""What the main namespace asks of tensors and dtypes."""

from __future__ import annotations

from typing import Any

from taeda import _C


def is_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a tensor."""
    return isinstance(obj, _C.TensorBase)


def is_storage(obj: Any) -> bool:
    """Whether ``obj`` is a storage, with a dtype or without."""
    from taeda.storage import TypedStorage

    return isinstance(obj, (_C.UntypedStorage, TypedStorage))


@_C._overridable
def numel(input: Any) -> int:
    """The number of elements of ``input``."""
    return input.numel()


def typename(obj: Any) -> str:
    """The name of the type of ``obj``, or of a class or function itself, with its module; tensors give their old type
    name."""
    if isinstance(obj, _C.TensorBase):
        tensor: Any = obj
        return tensor.type()
    named = obj if hasattr(obj, "__qualname__") else type(obj)
    prefix = "" if named.__module__ in (None, "builtins") else f"{named.__module__}."
    return prefix + named.__qualname__


@_C._overridable
def is_floating_point(input: Any) -> bool:
    """Whether the elements of ``input`` are floating-point numbers."""
    return input.is_floating_point()


@_C._overridable
def is_complex(input: Any) -> bool:
    """Whether the elements of ``input`` are complex numbers."""
    return input.is_complex()


@_C._overridable
def is_signed(input: Any) -> bool:
    """Whether the dtype of ``input`` has negative numbers."""
    return input.is_signed()


@_C._overridable
def is_conj(input: Any) -> bool:
    """Whether ``input`` is a conjugate that is computed only when it is read."""
    return input.is_conj()


@_C._overridable
def is_inference(input: Any) -> bool:
    """Whether ``input`` was made in inference mode."""
    return input.is_inference()


@_C._overridable
def is_neg(input: Any) -> bool:
    """Whether ``input`` is a negative that is computed only when it is read."""
    return input.is_neg()


@_C._overridable
def is_distributed(input: Any) -> bool:
    """Whether ``input`` lies on several machines: never."""
    return False


@_C._overridable
def get_device(input: Any) -> int:
    """The index of the device of ``input``; -1 for the CPU."""
    return input.get_device()


def result_type(tensor1: Any, tensor2: Any) -> Any:
    """The dtype of arithmetic between two values, each a tensor or a number.

    A tensor without dimensions, and more so a number, counts only if it is of a higher category (bool, integral,
    floating, complex) than the rest.
    """
    numbers = [value for value in (tensor1, tensor2) if not is_tensor(value)]
    if len(numbers) == 2:
        return _C.promote_types(*(_C.tensor(value).dtype for value in numbers))
    outlines = [_outline(value) for value in (tensor1, tensor2) if is_tensor(value)]
    return _C._functions.mul(outlines[0], *outlines[1:], *numbers).dtype


def _outline(tensor: Any) -> Any:
    """What matters of a tensor for promotion, without its values."""
    return _C._functions.empty([0] if tensor.dim() else [], dtype=tensor.dtype, device="meta")


def detach_(input: Any) -> Any:
    """Cuts ``input`` out of the graph and returns it; see ``Tensor.detach_``."""
    return input.detach_()


@_C._overridable
def _assert(condition: Any, message: str) -> None:
    """An ``assert`` that is called.

    Raises:
        AssertionError: the condition is false.
    """
    if not condition:
        raise AssertionError(message)


def _has_compatible_shallow_copy_type(input: Any, from_: Any) -> bool:
    """Whether ``input.data = from_`` can be: both are strided with memory, or both of one other kind."""
    return input.layout == from_.layout and input.is_meta == from_.is_meta
