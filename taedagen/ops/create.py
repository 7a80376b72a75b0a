"""Tensors from sizes and numbers."""

from taedagen.opdef import *


@kernel("empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
        "bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        variants="function out", everywhere=True, files="create", not_differentiable=True)
def empty(size, dtype, layout, device, pin_memory, memory_format):
    """A tensor whose elements are not initialised."""


@composite("zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
           "bool? pin_memory=None) -> Tensor", variants="function out", files="create")
def zeros(size, dtype, layout, device, pin_memory):
    """A tensor of zeros."""


@composite("ones(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
           "bool? pin_memory=None) -> Tensor", variants="function out", files="create")
def ones(size, dtype, layout, device, pin_memory):
    """A tensor of ones."""


@kernel("zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
        "bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        variants="function", everywhere=True, files="create", not_differentiable=True)
def zeros_like(self, dtype, layout, device, pin_memory, memory_format):
    """Zeros with the shape, dtype, device and strides of ``self``, but for what is given."""
