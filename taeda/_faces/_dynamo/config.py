"""Settings for the compiler that programs make. They are kept; while nothing is compiled, nothing reads them."""

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
