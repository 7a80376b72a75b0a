"""The words of composites' bodies, one by one, so that editors and type checkers know them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from typing import Any as _Any

from taedagen.opdef.words import dtype as _dtype
from taedagen.opdef.words import memory_format as _format
from taedagen.opdef.words import word as _word

if TYPE_CHECKING:  # what lists of a body are annotated with
    Tensor = _Any
    ScalarType = _Any

check = _word("check", "check(condition, message, kind=RuntimeError): raises unless the condition holds")
warn = _word("warn", "warn(message): a warning to the user")
alert_open_result = _word(
    "alert_open_result", "alert_open_result(why): refuses where deterministic algorithms are asked for"
)
wrap_dim = _word("wrap_dim", "wrap_dim(dim, rank): a dimension counted from the front; IndexError outside")
broadcast_shapes = _word("broadcast_shapes", "broadcast_shapes(a, b): the sizes that both expand to")
infer_size = _word("infer_size", "infer_size(sizes, numel): the sizes with one -1 replaced by what is left")
promote_types = _word("promote_types", "promote_types(a, b): the dtype that both convert to")
result_type = _word("result_type", "result_type(a, b): the dtype of a result of two tensors or numbers")
compute_dtype = _word("compute_dtype", "compute_dtype(dtype): float32 for smaller floats, else the dtype itself")
default_dtype = _word("default_dtype", "default_dtype(): that of new tensors")
is_differentiable = _word("is_differentiable", "is_differentiable(dtype): whether it is floating or complex")
is_integral = _word("is_integral", "is_integral(dtype): whether it holds integers; bool does not")
natural_dtype = _word("natural_dtype", "natural_dtype(number): the dtype of a tensor made of this number alone")
is_whole = _word("is_whole", "is_whole(number): whether it is an integer, and no bool")
suggested_format = _word("suggested_format", "suggested_format(tensor): the memory format that a result like it keeps")
may_record = _word("may_record", "may_record(*tensors): whether a gradient may itself be differentiated")
needs_autograd = _word(
    "needs_autograd", "needs_autograd(tensor): whether it requires a gradient, or is a view of one that may"
)
has_values = _word("has_values", "has_values(tensor): whether its elements can be read: not on meta, not fake")
unwritten = _word("unwritten", "unwritten(tensor): a fresh result, as if one call had made what was written into it")
written = _word("written", "written(tensor): tells what was saved of it that a kernel changed it")
copy_for = _word(
    "copy_for", "copy_for(tensor, others, memory_format=contiguous_format): a copy that others may be written to"
)
no_grad = _word("no_grad", "with no_grad(): nothing in it is recorded")
unrecorded = _word(
    "unrecorded", "with unrecorded(): fills a tensor that nobody has seen: no graph and no version knows"
)

uint8 = _dtype("uint8")
int8 = _dtype("int8")
int16 = _dtype("int16")
int32 = _dtype("int32")
int64 = _dtype("int64")
uint16 = _dtype("uint16")
uint32 = _dtype("uint32")
uint64 = _dtype("uint64")
float16 = _dtype("float16")
bfloat16 = _dtype("bfloat16")
float32 = _dtype("float32")
float64 = _dtype("float64")
complex64 = _dtype("complex64")
complex128 = _dtype("complex128")
bool_ = _dtype("bool", "bool_")

contiguous_format = _format("contiguous_format")
preserve_format = _format("preserve_format")
channels_last = _format("channels_last")
channels_last_3d = _format("channels_last_3d")
