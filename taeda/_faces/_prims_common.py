"""What libraries import from ``torch._prims_common``."""

from taeda._main.dtype_kinds import corresponding_complex_dtype as corresponding_complex_dtype
from taeda._main.dtype_kinds import corresponding_real_dtype as corresponding_real_dtype
from taeda._main.dtype_kinds import is_boolean_dtype as is_boolean_dtype
from taeda._main.dtype_kinds import is_complex_dtype as is_complex_dtype
from taeda._main.dtype_kinds import is_float_dtype as is_float_dtype
from taeda._main.dtype_kinds import is_integer_dtype as is_integer_dtype
from taeda._tensor.strides import make_contiguous_strides_for as make_contiguous_strides_for
from taeda._tensor.strides import suggest_memory_format as suggest_memory_format
