"""Tensors from sizes and numbers."""

from taedagen.opdef import *
from taedagen.opdef.samples import Name, S, f


@kernel(
    "empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    variants="function out",
    any_device=True,
    files="create",
    not_differentiable=True,
    samples=[S([2, 3]), S([]), S([0, 2]), S([2], dtype=Name("float32"))],
    out_overload="out",
)
def empty(size, dtype, layout, device, pin_memory, memory_format):
    """A tensor whose elements are not initialised."""


@kernel(
    "empty_strided(SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor",
    any_device=True,
    files="create",
    not_differentiable=True,
    samples=[S([2, 3], [1, 2]), S([2, 3], [4, 1])],
)
def empty_strided(size, stride, dtype, layout, device, pin_memory):
    """A tensor of the given strides whose elements are not initialised."""


@composite(
    "empty_permuted(SymInt[] size, int[] physical_layout, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor",
    samples=[S([2, 3, 4], [0, 2, 1]), S([2], [0])],
)
def empty_permuted(size, physical_layout, dtype, layout, device, pin_memory):
    """A tensor not initialised whose dimensions lie in memory in the order ``physical_layout``, outermost first."""
    rank = len(size)
    check(
        len(physical_layout) == rank,
        f"physical_layout {physical_layout} must name each dimension of size {size} once",
    )
    strides = list(size)
    step = 1
    for i in range(rank - 1, -1, -1):
        d = physical_layout[i]
        check(
            0 <= d < rank and d not in physical_layout[:i],
            f"physical_layout {physical_layout} must name each dimension of size {size} once",
        )
        strides[d] = step
        step *= max(size[d], 1)
    return op.empty_strided(size, strides, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)


@composite(
    "zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    variants="function out",
    samples="empty.memory_format",
)
def zeros(size, dtype, layout, device, pin_memory):
    """A tensor of zeros."""
    result = op.empty(size, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
    with unrecorded():
        result.zero_()
    return result


@composite(
    "ones(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    variants="function out",
    samples="empty.memory_format",
)
def ones(size, dtype, layout, device, pin_memory):
    """A tensor of ones."""
    kind = dtype if dtype is not None else default_dtype()
    return op.full(size, 1, dtype=kind, layout=layout, device=device, pin_memory=pin_memory)


@composite(
    "full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    variants="function out",
    samples=[S([2, 3], 1.5), S([2], 3), S([], True), S([2], 3, dtype=Name("float32")), S([-1], 2)],
)
def full(size, fill_value, dtype, layout, device, pin_memory):
    """A tensor of copies of a number, whose kind gives the dtype where none is given."""
    natural = int64 if is_whole(fill_value) else natural_dtype(fill_value)
    kind = dtype if dtype is not None else natural
    result = op.empty(size, dtype=kind, layout=layout, device=device, pin_memory=pin_memory)
    with unrecorded():
        result.fill_(fill_value)
    return result


@composite(
    "scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    samples=[S(1.5), S(3), S(True), S(2, dtype=Name("float32"))],
)
def scalar_tensor(s, dtype, layout, device, pin_memory):
    """A 0-d tensor of the default dtype, if no other is given."""
    kind = dtype if dtype is not None else default_dtype()
    return op.full([], s, dtype=kind, layout=layout, device=device, pin_memory=pin_memory)


# --- like another tensor


@kernel(
    "empty_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    variants="function",
    any_device=True,
    geometry_only=True,
    files="create",
    not_differentiable=True,
    batch="alike",
)
def empty_like(self, dtype, layout, device, pin_memory, memory_format):
    """Not initialised, with the shape, dtype, device and strides of ``self``, but for what is given."""


@empty_like.kernel("Quantized", files="copy")
def _(self, dtype, layout, device, pin_memory, memory_format):
    """With the scale of ``self``."""


@kernel(
    "zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    variants="function",
    any_device=True,
    geometry_only=True,
    files="create",
    not_differentiable=True,
    batch="alike",
)
def zeros_like(self, dtype, layout, device, pin_memory, memory_format):
    """Zeros with the shape, dtype, device and strides of ``self``, but for what is given."""


@kernel(
    "ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    variants="function",
    any_device=True,
    geometry_only=True,
    files="create",
    not_differentiable=True,
    batch="alike",
)
def ones_like(self, dtype, layout, device, pin_memory, memory_format):
    """Ones with the shape, dtype, device and strides of ``self``, but for what is given."""


@ones_like.kernel("Quantized", files="copy")
def _(self, dtype, layout, device, pin_memory, memory_format):
    """With the scale of ``self``."""


@kernel(
    "full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    variants="function",
    any_device=True,
    geometry_only=True,
    files="create",
    not_differentiable=True,
    batch="alike",
)
def full_like(self, fill_value, dtype, layout, device, pin_memory, memory_format):
    """Copies of a number with the shape, dtype, device and strides of ``self``, but for what is given."""


@full_like.kernel("Quantized", files="copy")
def _(self, fill_value, dtype, layout, device, pin_memory, memory_format):
    """With the scale of ``self``."""


@kernel(
    "new_empty(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    variants="method",
    any_device=True,
    geometry_only=True,
    files="create",
    not_differentiable=True,
    batch="new",
    samples=[S(f(2), [2, 3]), S(f(2), [], dtype=Name("int64"))],
)
def new_empty(self, size, dtype, layout, device, pin_memory):
    """``empty`` with this tensor's dtype and device, if no others are given."""


@kernel(
    "new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, "
    "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    variants="method",
    any_device=True,
    geometry_only=True,
    files="create",
    not_differentiable=True,
    batch="new_empty_strided",
    samples=[S(f(2), [2, 3], [1, 2])],
)
def new_empty_strided(self, size, stride, dtype, layout, device, pin_memory):
    """``empty_strided`` with this tensor's dtype and device, if no others are given."""


@kernel(
    "new_full(Tensor self, SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor",
    variants="method",
    any_device=True,
    geometry_only=True,
    files="create",
    not_differentiable=True,
    batch="new",
    samples=[S(f(2), [2, 3], 7), S(f(2), [2], 1.5, dtype=Name("int64"))],
)
def new_full(self, size, fill_value, dtype, layout, device, pin_memory):
    """``full`` with this tensor's dtype and device, if no others are given."""


@kernel(
    "new_zeros(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    variants="method",
    any_device=True,
    geometry_only=True,
    files="create",
    not_differentiable=True,
    batch="new",
    samples="new_empty",
)
def new_zeros(self, size, dtype, layout, device, pin_memory):
    """``zeros`` with this tensor's dtype and device, if no others are given."""


@kernel(
    "new_ones(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor",
    variants="method",
    any_device=True,
    geometry_only=True,
    files="create",
    not_differentiable=True,
    batch="new",
    samples="new_empty",
)
def new_ones(self, size, dtype, layout, device, pin_memory):
    """``ones`` with this tensor's dtype and device, if no others are given."""
