"""``FloatTensor``, ``LongTensor`` and so on: the tensor types of before dtypes. Each stands for a dtype on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import taeda
from taeda import Tensor
from taeda._serialization.old_names import dtype_of_type_name


class TensorType(type):
    """The class of tensor types: calling one makes a tensor, and ``isinstance`` looks at the tensor's dtype."""

    dtype: taeda.dtype
    device_type: str
    layout: taeda.layout = taeda.strided

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> TensorType:
        """TypeError for a subclass of a tensor type: the class of all tensors is ``Tensor``."""
        if bases:
            raise TypeError(
                f"{name}: {bases[0].__name__} only makes tensors and cannot be subclassed; use taeda.Tensor"
            )
        return super().__new__(mcs, name, bases, namespace)

    def __call__(cls, *args: Any, device: Any = None) -> Tensor:  # type: ignore[override]
        """A tensor from sizes (its values are what was in the memory), a sequence, or a tensor of this very type.

        Raises:
            TypeError: for anything else, and for a type whose device is absent.
            RuntimeError: ``device`` is of another type.
        """
        if cls.device_type == "cuda":
            raise TypeError(f"taeda.cuda.{cls.__name__}: this build of Taeda has no CUDA")
        if device is not None and taeda.device(device).type != "cpu":
            raise RuntimeError(f"taeda.{cls.__name__}: makes tensors on the CPU; got device={device}")
        if not args:
            return taeda.empty(0, dtype=cls.dtype, device="cpu")
        first = args[0]
        if isinstance(first, int):
            return taeda.empty(*args, dtype=cls.dtype, device="cpu")
        if len(args) > 1:
            raise TypeError(f"taeda.{cls.__name__}: takes sizes, or one sequence or tensor; got {len(args)} arguments")
        if isinstance(first, Tensor) and not isinstance(first, cls):
            raise TypeError(f"taeda.{cls.__name__}: takes a tensor of that type only; got {first.type()}")
        if isinstance(first, Tensor):
            return Tensor(first)
        if isinstance(first, taeda.Size):
            return taeda.empty(first, dtype=cls.dtype, device="cpu")
        if isinstance(first, float) or first is None or isinstance(first, str):
            raise TypeError(f"taeda.{cls.__name__}: takes sizes or a sequence; got {first!r}")
        return taeda.tensor(first, dtype=cls.dtype, device="cpu")

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and (
            (instance.dtype, instance.device.type, instance.layout) == (cls.dtype, cls.device_type, cls.layout)
        )

    @property
    def is_cuda(cls) -> bool:
        """Whether it is for tensors on CUDA devices."""
        return cls.device_type == "cuda"

    @property
    def is_xpu(cls) -> bool:
        """Whether it is for tensors on Intel's GPUs: none is."""
        return False


class SparseTensorType(TensorType):
    """The class of the types in ``taeda.sparse``: calling one makes a COO tensor."""

    layout = taeda.sparse_coo

    def __call__(cls, *args: Any, device: Any = None) -> Tensor:
        """A tensor from sizes (nothing is stored), or from indices (2-d), values and perhaps the sizes.

        Raises:
            TypeError: for anything else, and for a type whose device is absent.
        """
        if cls.device_type == "cuda":
            raise TypeError(f"taeda.cuda.sparse.{cls.__name__}: this build of Taeda has no CUDA")
        if len(args) in (2, 3) and isinstance(args[0], Tensor) and isinstance(args[1], Tensor):
            return taeda.sparse_coo_tensor(*args, device=device)
        if len(args) == 1 and isinstance(args[0], taeda.Size):
            args = tuple(args[0])
        if not all(isinstance(size, int) for size in args):
            raise TypeError(f"taeda.sparse.{cls.__name__}: takes sizes, or indices, values and sizes; got {args!r}")
        return taeda.sparse_coo_tensor(args or (0,), dtype=cls.dtype, device=device or "cpu")


_NAMES = ("BFloat16", "Bool", "Byte", "Char", "Double", "Float", "Half", "Int", "Long", "Short")


def make(name: str, device_type: str = "cpu", metaclass: type[TensorType] = TensorType) -> TensorType:
    """The tensor type called ``name`` (``"FloatTensor"``)."""
    module = "torch" if device_type == "cpu" else f"torch.{device_type}"
    if metaclass is SparseTensorType:
        module += ".sparse"
    kind = metaclass(name, (), {"__module__": module, "__doc__": f"{dtype_of_type_name(name)} tensors."})
    kind.dtype, kind.device_type = dtype_of_type_name(name), device_type
    return kind


__all__ = tuple(f"{name}Tensor" for name in _NAMES)
if TYPE_CHECKING:
    BFloat16Tensor: TensorType
    BoolTensor: TensorType
    ByteTensor: TensorType
    CharTensor: TensorType
    DoubleTensor: TensorType
    FloatTensor: TensorType
    HalfTensor: TensorType
    IntTensor: TensorType
    LongTensor: TensorType
    ShortTensor: TensorType
globals().update({name: make(name) for name in __all__})
_tensor_classes: set[TensorType] = {globals()[name] for name in __all__}
