"""Copies, conversions and fills."""

from taedagen.opdef import *
from taedagen.opdef.samples import Name, S, f, i


@kernel(
    "copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)",
    variants="method",
    any_device=True,
    files="copy",
    number="src",
    batch="copy_",
    samples=[S(f(2, 3), f(2, 3)), S(f(2, 3), f(3)), S(f(3), f(2, 3)), S(f(2, 3), i(2, 3))],
)
def copy_(self, src, non_blocking):
    """Copies ``src``, broadcast and converted, into ``self``."""


@copy_.kernel("Quantized", files="copy")
def _(self, src, non_blocking):
    """Floats are quantised as ``self`` is; a quantised ``src`` of the same dtype brings its scale along."""


@copy_.backward
def _(grad, self, src):
    return {"self": op.zeros_like(grad), "src": op.copy_backward(grad, src.sizes(), src.dtype())}


@kernel(
    "fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)", variants="method function", files="copy", batch="fill_"
)
def fill_(self, value):
    """Sets every element to ``value``."""


@fill_.kernel("Quantized", files="copy")
def _(self, value):
    """The integer nearest to ``value``."""


@fill_.backward
def _(grad, self):
    return {"self": op.zeros_like(grad)}


@composite("fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)", variants="method")
def fill_diagonal_(self, fill_value, wrap):
    """Sets the elements whose indices are all equal to ``fill_value``; with ``wrap`` the diagonal of a tall matrix goes
    on below, one row further down. RuntimeError below two dimensions, and for more of unequal sizes."""
    check(
        self.dim() >= 2,
        f"takes a tensor of two dimensions or more; got shape {self.shape}",
    )
    if self.dim() == 2:
        rows, columns = self.size(0), self.size(1)
        top = 0
        while top < (rows if wrap else min(rows, 1)):
            op.slice(self, 0, top, rows).diagonal().fill_(fill_value)
            top += columns + 1
    else:
        for size in self.shape:
            check(
                size == self.shape[0],
                f"more than two dimensions must all have the same size; got shape {self.shape}",
            )
        diagonal = self.diagonal(0, 0, 1)
        while diagonal.dim() > 1:
            diagonal = diagonal.diagonal(0, 0, -1)
        diagonal.fill_(fill_value)
    return self


@kernel("zero_(Tensor(a!) self) -> Tensor(a!)", variants="method function", files="copy", batch="fill_")
def zero_(self):
    """Sets every element to zero."""


@zero_.backward
def _(grad, self):
    return {"self": op.zeros_like(grad)}


@kernel(
    "clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
    variants="function method",
    shape="clone",
    files="copy",
    batch="alike",
)
def clone(self, memory_format):
    """A copy with the same strides where these are dense, else contiguous."""


@clone.kernel("Quantized", files="copy")
def _(self, memory_format):
    """The scale goes along."""


@clone.backward
def _(grad):
    return {"self": grad}


@kernel(
    "_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None, bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor",
    variants="function",
    any_device=True,
    files="copy",
    unbound=True,
    batch="alike",
)
def _to_copy(self, dtype, layout, device, pin_memory, non_blocking, memory_format):
    """A copy of another dtype, device or memory format."""


@_to_copy.kernel("Quantized", files="copy")
def _(self, dtype, layout, device, pin_memory, non_blocking, memory_format):
    """Of the same dtype and device only."""


@_to_copy.backward
def _(grad, self):
    return {"self": op.to_copy_backward(grad, self.dtype())}


@kernel(
    "_lazy_clone(Tensor self) -> Tensor",
    variants="function method",
    any_device=True,
    files="copy",
    batch="alike",
)
def _lazy_clone(self):
    """A clone whose bytes are those of ``self`` until one of the two is written."""


@_lazy_clone.backward
def _(grad):
    return {"self": grad}


@kernel(
    "_test_parallel_materialize(Tensor self, int num_parallel, bool skip_first=False) -> Tensor",
    any_device=True,
    files="copy",
    batch="alike",
    samples=[S(f(2), 1)],
)
def _test_parallel_materialize(self, num_parallel, skip_first):
    """Asks for bytes of its own from within a parallel loop of so many pieces, which raises for a lazy clone."""


@_test_parallel_materialize.backward
def _(grad):
    return {"self": grad}


@kernel("_local_scalar_dense(Tensor self) -> Scalar", variants="function", any_device=True, files="copy",
        not_differentiable=True, batch="refused")  # fmt: skip
def _local_scalar_dense(self):
    """The one element as a number; RuntimeError for a tensor of several."""


@_local_scalar_dense.kernel("Quantized", files="copy")
def _(self):
    """The number that the integer stands for."""


@composite(
    "contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)",
    variants="method",
)
def contiguous(self, memory_format):
    """``self`` if its memory has the format already, else a copy that has."""
    if self.is_contiguous(memory_format=memory_format):
        return self
    check(
        memory_format != preserve_format,
        "takes a format of its own, not preserve_format",
    )
    return self.clone(memory_format=memory_format)


@composite("copy_backward(Tensor grad, SymInt[] sizes, ScalarType dtype) -> Tensor", unbound=True)
def copy_backward(grad, sizes, dtype):
    """The gradient of a source that was broadcast and converted."""
    return op.to_copy_backward(grad.sum_to_size(sizes), dtype)


@composite("to_copy_backward(Tensor grad, ScalarType dtype) -> Tensor", unbound=True)
def to_copy_backward(grad, dtype):
    """The gradient of a conversion: converted back, its real part for a real input."""
    if grad.dtype == dtype:
        return grad
    part = op.real(grad) if grad.is_complex() and not dtype.is_complex else grad
    return part if part.dtype == dtype else op._to_copy(part, dtype=dtype)


@kernel(
    "fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)",
    variants="method function",
    any_device=True,
    files="copy",
    batch="write_elements",
    samples=[S(f(2, 3), f())],
)
def fill_with_(self, value):
    """Sets every element to the number in the 0-d tensor ``value``."""


@fill_with_.kernel("Quantized", files="copy")
def _(self, value):
    """The integer nearest to ``value``."""


@fill_with_.backward
def _(grad):
    return {"self": op.zeros_like(grad), "value": grad}


@composite("fill.Scalar(Tensor self, Scalar value) -> Tensor", variants="function out")
def fill(self, value):
    """A tensor like ``self`` with every element ``value``."""
    return op.full_like(self, value)


@fill.backward
def _(grad):
    return {"self": op.zeros_like(grad)}


@composite(
    "fill.Tensor(Tensor self, Tensor value) -> Tensor",
    variants="function out",
    batch="fill",
    samples=[S(f(2, 3), f()), S(f(2), f(2))],
)
def fill_with(self, value):
    """A tensor like ``self`` with every element the number in the 0-d tensor ``value``."""
    result = op.empty_like(self)
    result.fill_(value)
    return result


@fill_with.backward
def _(grad):
    return {"self": op.zeros_like(grad), "value": grad}


@composite(
    "copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor",
    variants="function out",
    unbound=True,
)
def copy(self, src, non_blocking):
    """``src``, broadcast and converted to be like ``self``."""
    result = op.empty_like(self)
    result.copy_(src, non_blocking)
    return result


@composite("lift_fresh(Tensor(a) self) -> Tensor(a)", unbound=True, samples=[S(f(2))])
def lift_fresh(self):
    """``self``: where a constant enters a transformed program."""
    return self


@composite("lift(Tensor self) -> Tensor", unbound=True)
def lift(self):
    """``self``: where a constant enters a transformed program."""
    return self


@composite("lift_fresh_copy(Tensor self) -> Tensor", unbound=True)
def lift_fresh_copy(self):
    """A copy of ``self``: where a constant enters a transformed program."""
    return op.clone(self)


# --- conversions that give the tensor itself back where nothing changes


@composite(
    "to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, "
    "MemoryFormat? memory_format=None) -> Tensor(a)",
    variants="method",
    files="copy",
    samples=[S(f(2, 3), Name("float32")), S(f(2, 3), Name("float64")), S(f(2), Name("int64"), False, True)],
)
def to_dtype(self, dtype, non_blocking, copy, memory_format):
    """``self`` as another dtype; the same tensor where it has it already, unless ``copy``."""


@composite(
    "to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, "
    "MemoryFormat? memory_format=None) -> Tensor(a)",
    variants="method",
    files="copy",
    samples=[S(f(2, 3), i(2))],
)
def to_other(self, other, non_blocking, copy, memory_format):
    """``self`` with the dtype and on the device of ``other``."""


@composite(
    "to.prim_Device(Tensor(a) self, Device? device, ScalarType? dtype=None, bool non_blocking=False, "
    "bool copy=False, *, MemoryFormat? memory_format=None) -> Tensor(a)",
    variants="method",
    files="copy",
    samples=[S(f(2), "cpu"), S(f(2), "cpu", Name("float32"))],
)
def to_place(self, device, dtype, non_blocking, copy, memory_format):
    """``self`` on another device, and as another dtype if one is given."""


@composite(
    "to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, bool copy=False, "
    "MemoryFormat? memory_format=None) -> Tensor(a)",
    variants="method",
    files="copy",
    unbound=True,
    samples=[S(f(2), "cpu", Name("float32"))],
)
def to_device(self, device, dtype, non_blocking, copy, memory_format):
    """``self`` on another device as another dtype."""


@composite(
    "to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) "
    "-> Tensor(a)",
    variants="method",
    files="copy",
    samples=[S(f(2, 3), dtype=Name("float32"))],
)
def to_options(self, dtype, layout, device, pin_memory, non_blocking, copy, memory_format):
    """``self`` with what is given; the same tensor where it has that already, unless ``copy``."""


@composite(
    "to_dense(Tensor self, ScalarType? dtype=None, *, bool? masked_grad=None) -> Tensor",
    variants="method",
)
def to_dense(self, dtype, masked_grad):
    """``self``, as every tensor here is dense, as another dtype if one is given."""
    return self.to(dtype) if dtype is not None else self


@composite("type_as(Tensor self, Tensor other) -> Tensor", variants="method")
def type_as(self, other):
    """``self`` with the dtype and on the device of ``other``."""
    return self.to(other.device, other.dtype)
