"""Settings for the compiler that programs make. They are kept; while nothing is compiled, nothing reads them."""

import types as _types

from taeda._inert import settings as _settings

debug = False
verbose_progress = False
fx_graph_cache = True
max_autotune = False
max_autotune_gemm = False
max_autotune_pointwise = False
max_autotune_gemm_backends = "ATEN,TRITON,CPP"
coordinate_descent_tuning = False
coordinate_descent_check_all_directions = False
force_fuse_int_mm_with_mul = False
use_mixed_mm = True
epilogue_fusion = True
pattern_matcher = True
freezing = False
cpp_wrapper = False
compile_threads = 1
size_asserts = True
fallback_random = False
reorder_for_peak_memory = True
triton = _types.SimpleNamespace(cudagraphs=False, unique_kernel_names=True, cudagraph_trees=True)
cpp = _types.SimpleNamespace(threads=-1, simdlen=None, enable_kernel_profile=False)

patch = _settings.patch_of(__name__)
