"""Settings for a compiler. They are kept; while nothing is compiled, nothing reads them."""

from __future__ import annotations

job_id: str | None = None
pgo_extra_read_key: str | None = None
pgo_extra_write_key: str | None = None
cache_key_tag: str = ""
force_disable_caches: bool = False
dynamic_sources: str = ""
dynamic_values: str = ""
unbacked_sources: str = ""
force_cudagraph_gc: bool = False
dynamic_shapes: bool = True
assume_static_by_default: bool = True
automatic_dynamic_shapes: bool = True
recompile_limit: int = 8
accumulated_recompile_limit: int = 256
verbose: bool = False
capture_scalar_outputs: bool = False
capture_dynamic_output_shape_ops: bool = False
log_file_name: str | None = None
fail_on_recompile_limit_hit: bool = False
allow_unspec_int_on_nn_module: bool = False
skip_tensor_guards_with_matching_dict_tags: bool = True
enable_cpp_symbolic_shape_guards: bool = False
wrap_top_frame: bool = False
reorderable_logging_functions: set[object] = set()
