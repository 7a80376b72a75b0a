"""Tensors in the layout that oneDNN chooses, ``Tensor.to_mkldnn()``.

Here oneDNN reorders what a call needs and keeps nothing: such a tensor is one whose elements nobody but the ops that
oneDNN serves may look at, and that ``to_dense()`` gives back.
"""

from __future__ import annotations

from typing import Any

import taeda
from taeda import _C, Tensor
from taeda.autograd import Function
from taeda.utils._pytree import tree_map

# What PyTorch computes in this layout; how many of the results are in it too, where those for weights are not.
_SERVED = {
    **dict.fromkeys((
        "convolution", "relu", "relu_", "sigmoid", "sigmoid_", "tanh", "tanh_", "gelu", "add", "add_", "sub", "mul",
        "mul_", "max_pool2d", "max_pool3d", "avg_pool2d", "avg_pool3d", "adaptive_avg_pool2d", "_adaptive_avg_pool2d",
        "softmax", "_softmax", "view", "reshape", "_unsafe_view", "transpose", "t", "clone", "detach", "alias",
        "copy_", "zero_", "empty_like", "zeros_like", "ones_like", "linear", "max_pool2d_with_indices", "threshold",
        "permute", "to", "_to_copy", "prelu", "expand",
    ), 8),
    **dict.fromkeys(("convolution_weight_grad", "sum", "sum_to_size"), 0),
    **dict.fromkeys((
        "convolution_backward", "native_batch_norm", "native_batch_norm_backward", "batch_norm", "addmm", "mm",
        "threshold_backward", "relu_backward", "max_pool2d_with_indices_backward", "avg_pool2d_backward",
        "_adaptive_avg_pool2d_backward", "sigmoid_backward", "tanh_backward", "gelu_backward", "_softmax_backward_data",
    ), 1),
}  # fmt: skip


class MkldnnTensor(Tensor):
    """A dense tensor in disguise; its ops are done on that."""

    _dense: Tensor
    layout = property(lambda self: _C._mkldnn)  # type: ignore[assignment]
    is_mkldnn = property(lambda self: True)  # type: ignore[assignment]

    @staticmethod
    def __new__(cls, dense: Tensor) -> MkldnnTensor:
        made = Tensor._make_wrapper_subclass(cls, dense.size(), dtype=dense.dtype, device=dense.device)
        made._dense = dense.detach()
        return made

    def to_dense(self, dtype: Any = None, *, masked_grad: bool | None = None) -> Tensor:
        """The elements as a strided tensor."""
        dense = _ToDense.apply(self)
        return dense if dtype is None else dense.to(dtype)

    def to_mkldnn(self, dtype: Any = None) -> Tensor:
        """This tensor."""
        return self

    def __repr__(self, *, tensor_contents: str | None = None) -> str:  # type: ignore[override]
        return f"{repr(self._dense)[:-1]}, layout=torch._mkldnn)"

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func._schema.name.partition("::")[2]
        if name not in _SERVED:
            raise RuntimeError(
                f"taeda.{name}: it is not for tensors in oneDNN's layout (torch._mkldnn); call to_dense() on them first"
            )
        dense_args, dense_kwargs = (
            tree_map(lambda x: x._dense if isinstance(x, cls) else x, part) for part in (args, kwargs or {})
        )
        result = func(*dense_args, **dense_kwargs)
        if name.endswith("_") and args and isinstance(args[0], cls):
            return args[0]
        inside = _SERVED[name]
        if isinstance(result, Tensor):
            return cls(result) if inside else result
        wrapped = [
            cls(r) if i < inside and isinstance(r, Tensor) and r.is_floating_point() else r
            for i, r in enumerate(result)
        ]
        return type(result)(wrapped)


class _ToMkldnn(Function):
    @staticmethod
    def forward(ctx: Any, dense: Tensor) -> Tensor:
        return MkldnnTensor(dense)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:  # type: ignore[override]
        return grad.to_dense() if grad.is_mkldnn else grad


class _ToDense(Function):
    @staticmethod
    def forward(ctx: Any, opaque: MkldnnTensor) -> Tensor:
        return opaque._dense.clone()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:  # type: ignore[override]
        return grad if grad.is_mkldnn else MkldnnTensor(grad)


def to_mkldnn(tensor: Tensor, dtype: Any = None) -> Tensor:
    """A copy of a dense CPU tensor of float32, bfloat16 or float16 in oneDNN's layout.

    Raises:
        RuntimeError: another device, dtype or layout.
    """
    if tensor.device.type != "cpu" or tensor.layout != taeda.strided:
        raise RuntimeError(
            f"taeda.Tensor.to_mkldnn: takes a strided tensor on the CPU; got one of {tensor.layout} on {tensor.device}"
        )
    if (dtype or tensor.dtype) not in (taeda.float32, taeda.bfloat16, taeda.float16):
        raise RuntimeError(
            f"taeda.Tensor.to_mkldnn: oneDNN's layout holds float32, bfloat16 and float16; got {dtype or tensor.dtype}"
        )
    made: Tensor = _ToMkldnn.apply(tensor.to(dtype or tensor.dtype).clone())
    return made
