"""``taeda.Tensor``: the native tensor with what is easier said in Python: printing, copying, pickling, protocols."""

from __future__ import annotations

import copyreg
import sys
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn

from taeda import _C
from taeda._C import dtype as _dtype
from taeda._main import left_out
from taeda._tensor.sparse_methods import SPARSE, SparseMethods

if TYPE_CHECKING:

    class _Base(SparseMethods, _C.TensorBase): ...
else:
    _Base = _C.TensorBase


def _gone(name: str) -> RuntimeError:
    from taeda._main.removed import gone

    return gone(name)


def _definition(cls: type, name: str) -> Any:
    """What stands under ``name`` in the first class that has it."""
    return next(vars(base)[name] for base in cls.__mro__ if name in vars(base))


class Tensor(_Base):
    """An n-dimensional array of one dtype on one device, which remembers how it was computed if asked to."""

    __array_priority__ = 1000  # NumPy's operators leave mixed expressions to us
    __module__ = "taeda"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        names = ("__torch_dispatch__", "__torch_function__")
        answers_ops, takes_functions = (_definition(cls, name) is not _definition(Tensor, name) for name in names)
        if answers_ops and not takes_functions:
            cls.__torch_function__ = _C._disabled_torch_function_impl  # type: ignore[method-assign]

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        from taeda._tensor.printing import tensor_str

        return tensor_str(self) if tensor_contents is None else tensor_contents

    def __format__(self, spec: str) -> str:
        if self.dim() == 0 and type(self) is Tensor and not self.is_meta:
            return self.item().__format__(spec)
        return object.__format__(self, spec)

    @property
    def volatile(self) -> bool:
        """False: of the first releases, where it kept calls from being recorded."""
        import warnings

        warnings.warn("taeda.Tensor.volatile: does nothing and is always False; no_grad() keeps calls from being "
                      "recorded", stacklevel=2)  # fmt: skip
        return False

    def __iter__(self) -> Iterator[Tensor]:
        if self.dim() == 0:
            raise TypeError("taeda.Tensor.__iter__: a tensor without dimensions cannot be iterated over")
        return iter(self.unbind(0))

    def __reversed__(self) -> Tensor:
        return self if self.dim() == 0 else self.flip(0)

    def __rdiv__(self, other: Any) -> Tensor:
        """``other / self``, by the name that the operator had in Python 2."""
        return self.reciprocal() * other

    def __contains__(self, element: Any) -> bool:
        if isinstance(element, (Tensor, int, float, complex)):
            return bool((self == element).any().item())
        raise RuntimeError(f"taeda.Tensor.__contains__: takes a number or a tensor, got {type(element).__name__}")

    def __hash__(self) -> int:
        return id(self)

    def __deepcopy__(self, memo: dict[Any, Any]) -> Tensor:
        if not self.is_leaf:
            raise RuntimeError(
                "taeda.Tensor.__deepcopy__: only tensors made by the user (leaves of the graph) can be deep-copied; "
                "detach() first"
            )
        if not isinstance(memo, dict):
            raise TypeError(f"taeda.Tensor.__deepcopy__: memo is wanted as a dict; got {type(memo).__name__}")
        if id(self) in memo:
            return memo[id(self)]
        from copy import deepcopy

        known_by_class = self.layout in SPARSE or self._python_dispatch or self.is_quantized
        if known_by_class or self.is_conj() or self.is_neg():  # its class knows what it is made of
            copy = self.detach().clone()
        elif self.is_meta:  # a wrapper's class may have a clone of its own
            with _C._autograd.no_grad():
                copy = self.clone()
        else:
            storage = self.untyped_storage()
            key = ("storage", storage.data_ptr(), storage.nbytes())  # views of one memory stay views of one copy
            if key not in memo:
                memo[key] = storage.clone()
            copy = self.new_empty(0).set_(memo[key], self.storage_offset(), self.size(), self.stride())
            if type(self) is not Tensor:
                copy = copy.as_subclass(type(self))
        copy.requires_grad = self.requires_grad
        memo[id(self)] = copy
        if self.grad is not None:
            copy.grad = deepcopy(self.grad, memo)
        if self.__dict__:
            copy.__dict__.update(deepcopy(self.__dict__, memo))
        for slot in copyreg._slotnames(type(self)) if type(self) is not Tensor else ():  # type: ignore[attr-defined]
            if hasattr(self, slot):
                setattr(copy, slot, deepcopy(getattr(self, slot), memo))
        return copy

    def __reduce_ex__(self, protocol: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        if self.layout in SPARSE:
            from taeda.sparse._pickling import reduce

            return reduce(self)
        from taeda._serialization.plain_pickle import bits, rebuild_tensor, rebuild_with_state
        from taeda._tensor.unsaved_hooks import warn_if_has_hooks

        warn_if_has_hooks(self)
        if self.is_quantized:
            from taeda._serialization.plain_pickle import reduce_quantized

            return reduce_quantized(self)
        storage: Any = None if self.is_meta else self.untyped_storage()
        if self.is_cpu and sys._getframe(1).f_globals.get("__name__") == "multiprocessing.reduction":
            # A queue of the standard library, which learns from the first tensor that comes by how they are shared
            from taeda.multiprocessing.reductions import Shared

            storage = Shared(self)
        arguments = (
            storage,
            self.dtype,
            self.storage_offset(),
            tuple(self.size()),
            self.stride(),
            self.requires_grad,
            *bits(self),
        )
        if type(self) is Tensor and not self.__dict__:
            return rebuild_tensor, arguments
        return rebuild_with_state, (type(self), arguments, dict(self.__dict__))

    def __setstate__(self, state: dict[str, Any]) -> None:
        if not isinstance(state, dict):
            raise TypeError(f"taeda.Tensor.__setstate__: a dict of attributes is wanted; got {type(state).__name__}")
        self.__dict__.update(state)

    def __dir__(self) -> list[str]:
        return sorted({*dir(type(self)), *self.__dict__})

    def new(self, *args: Any, size: Sequence[int] | None = None, device: Any = None) -> Tensor:
        """A tensor of this dtype and device from sizes or data, as the constructor takes them: over the same memory as
        a tensor or a storage."""
        if device is not None and _C.device(device).type != self.device.type:
            raise RuntimeError(f"taeda.Tensor.new: the result is on {self.device.type}, as self; got device={device}")
        if size is not None:
            return self.new_empty(size)
        if self.layout in SPARSE:
            from taeda.sparse._methods import new

            return new(self, args)
        if len(args) == 1 and isinstance(args[0], Tensor):
            if device is not None:
                raise RuntimeError("taeda.Tensor.new: the result is over the tensor's memory; leave device away")
            if args[0].dtype != self.dtype:
                raise TypeError(f"taeda.Tensor.new: takes a tensor of its own dtype {self.dtype}; got {args[0].dtype}")
            return args[0].detach()
        if len(args) == 1 and hasattr(args[0], "untyped"):
            if getattr(args[0], "dtype", self.dtype) != self.dtype:
                raise RuntimeError(f"taeda.Tensor.new: a storage of {self.dtype} is wanted; got {args[0].dtype}")
            return self.new_empty(0).set_(args[0])
        if len(args) == 1 and not isinstance(args[0], int):
            return self.new_tensor(args[0]) if not isinstance(args[0], _C.Size) else self.new_empty(args[0])
        return self.new_empty(args or (0,))

    def type(self, dtype: _dtype | str | None = None, non_blocking: bool = False) -> Any:
        """Without arguments the name of the old tensor type (``torch.FloatTensor``); else a conversion."""
        from taeda._serialization.old_names import dtype_of_type_name, type_name

        if dtype is None:
            return type_name(self)
        return self.to(dtype_of_type_name(dtype), non_blocking=non_blocking)

    def qscheme(self) -> Any:
        """How the integers of a quantised tensor become numbers, e.g. ``taeda.per_tensor_affine``."""
        from taeda._main.schemes import scheme_of

        return scheme_of(self)

    def _typed_storage(self) -> Any:
        """``storage()``, by the name that PyTorch's own code calls it."""
        return self.storage()

    def storage_type(self) -> Any:
        """``FloatStorage`` or the like, by dtype."""
        return self.storage()._legacy_class()

    def is_shared(self) -> bool:
        """Whether other processes can see the memory."""
        if self.layout in SPARSE:
            from taeda.sparse._pickling import is_shared

            return is_shared(self)
        return self.untyped_storage().is_shared()

    def share_memory_(self) -> Tensor:
        """Moves the memory to where other processes can see it."""
        if self.layout in SPARSE:
            from taeda.sparse._pickling import share_memory_

            return share_memory_(self)
        self.untyped_storage().share_memory_()
        return self

    def norm(self, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: _dtype | None = None) -> Tensor:
        """The norm over ``dim`` (all dimensions by default); see ``taeda.norm``."""
        from taeda.functional import norm

        return norm(self, p, dim, keepdim, dtype=dtype)

    def lu(self, pivot: bool = True, get_infos: bool = False) -> tuple[Tensor, ...]:
        """As ``taeda.lu``."""
        from taeda._main.lowrank import lu

        return tuple(lu(self, pivot, get_infos))

    def split(self, split_size: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
        """Pieces of ``split_size`` (or of the sizes in a list) along ``dim``, as views."""
        from taeda.functional import split

        return split(self, split_size, dim)

    def stft(
        self,
        n_fft: int,
        hop_length: int | None = None,
        win_length: int | None = None,
        window: Tensor | None = None,
        center: bool = True,
        pad_mode: str = "reflect",
        normalized: bool = False,
        onesided: bool | None = None,
        return_complex: bool | None = None,
        align_to_window: bool | None = None,
    ) -> Tensor:
        """The short-time Fourier transform; see ``taeda.stft``."""
        from taeda.functional import stft

        return stft(self, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided,
                    return_complex, align_to_window)  # fmt: skip

    def nonzero(self, *, as_tuple: bool = False) -> Any:
        """The positions of the elements that are not zero; see ``taeda.nonzero``."""
        from taeda.functional import nonzero

        return nonzero(self, as_tuple=as_tuple)

    def to_mkldnn(self, dtype: _dtype | None = None) -> Tensor:
        """A copy in the layout that oneDNN chooses, for the ops that it serves; ``to_dense()`` gives a strided one.

        Raises RuntimeError unless the tensor is strided, on the CPU and of float32, bfloat16 or float16.
        """
        from taeda.backends._mkldnn_tensor import to_mkldnn

        return to_mkldnn(self, dtype)

    def eig(self, eigenvectors: bool = False) -> NoReturn:
        """Raises RuntimeError: ``linalg.eig`` took its place."""
        raise _gone("eig")

    def lstsq(self, other: Any) -> NoReturn:
        """Raises RuntimeError: ``linalg.lstsq`` took its place."""
        raise _gone("lstsq")

    def solve(self, other: Any) -> NoReturn:
        """Raises RuntimeError: ``linalg.solve`` took its place."""
        raise _gone("solve")

    def symeig(self, eigenvectors: bool = False) -> NoReturn:
        """Raises RuntimeError: ``linalg.eigh`` took its place."""
        raise _gone("symeig")

    def resize(self, *sizes: Any) -> Tensor:
        """The same elements in other sizes; ``reshape`` took its place.

        Raises:
            RuntimeError: there are not as many elements.
            TypeError: ``sizes`` are neither numbers nor a list of them.
        """
        import math
        import warnings

        from taeda._main.listed import listed

        warnings.warn("taeda.Tensor.resize is deprecated; call reshape", stacklevel=2)
        given = sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes
        shape = listed("taeda.Tensor.resize: sizes", given)
        if math.prod(shape) != self.numel():
            raise RuntimeError(
                f"taeda.Tensor.resize: {tuple(shape)} has not the {self.numel()} elements of {tuple(self.shape)}: "
                "only resize_ changes their number"
            )
        return self.reshape(shape)

    def resize_as(self, tensor: Tensor) -> Tensor:
        """`resize` to the sizes of another tensor."""
        return self.resize(tensor.shape)

    def _fix_weakref(self) -> None:
        """Does nothing: a tensor whose object C++ kept has the weak references that it had."""

    def polygamma(self, n: int) -> Tensor:
        """The ``n``-th derivative of the digamma function; see ``taeda.polygamma``."""
        return _C._functions.polygamma(n, self)

    def apply_(self, callable: Callable[[Any], Any]) -> Tensor:
        """Replaces each element by what ``callable`` makes of it, one Python call at a time, on the CPU.

        Raises RuntimeError where the tensor requires a gradient.
        """
        return self._replace_elements("apply_", callable)

    def map_(self, other: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
        """Replaces each element by what ``callable`` makes of it and the one of ``other``, which has the same dtype and
        is broadcast; see ``apply_``."""
        return self._replace_elements("map_", callable, other)

    def map2_(self, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
        """``map_`` with two more tensors."""
        return self._replace_elements("map2_", callable, x, y)

    def _replace_elements(self, name: str, callable: Callable[..., Any], *others: Tensor) -> Tensor:
        for other in (self, *others):
            if isinstance(other, Tensor) and other.requires_grad:
                raise RuntimeError(f"taeda.Tensor.{name}: a tensor requires a gradient; detach() it first")
            if not isinstance(other, Tensor) or other.dtype != self.dtype:
                kind = other.dtype if isinstance(other, Tensor) else type(other).__name__
                raise TypeError(f"taeda.Tensor.{name}: takes tensors of dtype {self.dtype}, got {kind}")
        if self.device.type == "meta":
            return self
        columns = [t.expand(self.shape).reshape(-1).tolist() for t in (self, *others)]
        values = [callable(*row) for row in zip(*columns)]
        return self.copy_(_C.tensor(values, dtype=self.dtype).reshape(self.shape))

    def dim_order(self, *, ambiguity_check: Any = False) -> tuple[int, ...]:
        """The dimensions from the outermost in memory to the innermost.

        With ``ambiguity_check`` a RuntimeError says that there are other such orders, as there are along a dimension
        of size 1; with a list of memory formats only if not exactly one of them describes the tensor.
        """
        from taeda._tensor.dim_order import dim_order

        return dim_order(self, ambiguity_check)

    def module_load(self, other: Tensor, assign: bool = False) -> Tensor:
        """What stands for ``self`` in a module that loads ``other`` from a state: a tensor that is neither."""
        return other.detach() if assign else self.copy_(other).detach()

    def where(self, condition: Tensor, other: Any) -> Tensor:
        """``self`` where ``condition`` holds, else ``other``; see ``taeda.where``."""
        return _C._functions.where(condition, self, other)

    def unique(
        self, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
    ) -> Any:
        """The distinct elements; see ``taeda.unique``."""
        from taeda.functional import unique

        return unique(self, sorted, return_inverse, return_counts, dim)

    def unique_consecutive(self, return_inverse: bool = False, return_counts: bool = False, dim: Any = None) -> Any:
        """The elements without runs of equals; see ``taeda.unique_consecutive``."""
        from taeda.functional import unique_consecutive

        return unique_consecutive(self, return_inverse, return_counts, dim)

    def to_padded_tensor(self, padding: float, output_size: Any = None) -> Tensor:
        """A nested tensor as a plain one; see ``taeda.nested.to_padded_tensor``."""
        raise NotImplementedError("taeda.Tensor.to_padded_tensor: is for nested tensors")

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Tensor:
        """What NumPy's functions give back when called with a tensor."""
        if array.dtype == bool:
            array = array.astype("uint8")
        return _C.from_numpy(array) if array.ndim else _C.tensor(array.item())


for _name, _function in [*vars(SparseMethods).items(), *vars(Tensor).items()]:
    if isinstance(_function, FunctionType) and _name not in ("__hash__", "__iter__"):
        setattr(Tensor, _name, _C._overridable(_function))
left_out.explain_on(Tensor)
_C._set_tensor_type(Tensor)
