"""Copies, conversions and fills."""

from taedagen.opdef import *


@kernel("copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)", variants="method", files="copy")
def copy_(self, src, non_blocking):
    """Copies ``src``, broadcast and converted, into ``self``."""

@copy_.backward
def _(grad, self, src): return {"self": op.zeros_like(grad), "src": op.copy_backward(grad, src.sizes(), src.dtype())}


@kernel("fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)", variants="method function", files="copy")
def fill_(self, value):
    """Sets every element to ``value``."""

@fill_.backward
def _(grad, self): return {"self": op.zeros_like(grad)}


@kernel("zero_(Tensor(a!) self) -> Tensor(a!)", variants="method function", files="copy")
def zero_(self):
    """Sets every element to zero."""

@zero_.backward
def _(grad, self): return {"self": op.zeros_like(grad)}


@kernel("clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", variants="function method", shape="clone",
        files="copy")
def clone(self, memory_format):
    """A copy with the same strides where these are dense, else contiguous."""

@clone.backward
def _(grad): return {"self": grad}


@kernel("_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
        "bool? pin_memory=None, bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor",
        variants="function", everywhere=True, files="copy", unbound=True)
def _to_copy(self, dtype, layout, device, pin_memory, non_blocking, memory_format):
    """A copy of another dtype, device or memory format."""

@_to_copy.backward
def _(grad, self): return {"self": op.to_copy_backward(grad, self.dtype())}


@composite("contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)", variants="method",
           files="copy")
def contiguous(self, memory_format):
    """``self`` if its memory has the format already, else a copy that has."""


@composite("copy_backward(Tensor grad, SymInt[] sizes, ScalarType dtype) -> Tensor", files="copy", unbound=True)
def copy_backward(grad, sizes, dtype):
    """The gradient of a source that was broadcast and converted."""


@composite("to_copy_backward(Tensor grad, ScalarType dtype) -> Tensor", files="copy", unbound=True)
def to_copy_backward(grad, dtype):
    """The gradient of a conversion: converted back, its real part for a real input."""
