"""Settings for the compiler that programs make. They are kept; while nothing is compiled, nothing reads them."""

from taeda._inert import settings as _settings

cache_size_limit = 8
accumulated_cache_size_limit = 256
recompile_limit = 8
suppress_errors = False
verbose = False
dynamic_shapes = True
assume_static_by_default = True
automatic_dynamic_shapes = True
capture_scalar_outputs = False
capture_dynamic_output_shape_ops = False
optimize_ddp = True
inline_inbuilt_nn_modules = True
allow_unspec_int_on_nn_module = False
error_on_nested_fx_trace = True
do_not_emit_runtime_asserts = False
specialize_int = False
specialize_float = False
guard_nn_modules = True
prefer_deferred_runtime_asserts_over_guards = False
fake_tensor_cache_enabled = True
replay_record_enabled = False
force_parameter_static_shapes = True
install_free_tensors = False
enable_compiler_collectives = False
trace_numpy = True
numpy_default_float = "float64"
numpy_default_int = "int64"
fail_on_recompile_limit_hit = False

patch = _settings.patch_of(__name__)
