"""PyTorch's system, rebuilt so that a person can see through it: ``import taeda as torch``.

The names here come from the native core at once; submodules (``nn``, ``optim``, ...) and the functions that are written
in Python load on first use, so that importing stays quick.
"""

from __future__ import annotations

import importlib as _importlib
import math as _math
import os as _os
import sys as _sys
from typing import Any as _Any

from taeda import _C
from taeda._tensor import Tensor as Tensor
from taeda._version import __version__ as __version__

# PyTorch's private modules, of which programs import some, stand in a folder of their own.
__path__.append(_os.path.join(_os.path.dirname(__file__), "_faces"))


def _take(native: _Any) -> None:
    """Makes the public names of a native module names of this one."""
    globals().update({name: value for name, value in vars(native).items() if not name.startswith("__")})


_take(_C._functions)
# Natives are pickled by the names of their modules.
_sys.modules.update({module.__name__: module for module in vars(_C).values() if isinstance(module, type(_C))})
globals().update({name: value for name, value in vars(_C).items() if not name.startswith("_")})

_OPS_ALONE = ("unique_dim",)  # forms of functions that are ops, and no names of this module
for _name in _OPS_ALONE:
    globals().pop(_name, None)
_segment_reduce = getattr(_C._functions, "segment_reduce", None)  # the name that programs found first
e, inf, nan, pi, newaxis = _math.e, _math.inf, _math.nan, _math.pi, None
# The short and the old names of dtypes. They hide the Python types of the same name in this module only.
half, float, double = _C.float16, _C.float32, _C.float64
short, int, long = _C.int16, _C.int32, _C.int64
cfloat, cdouble = _C.complex64, _C.complex128
chalf = _C.complex32
bool = _C.bool
has_lapack, has_openmp, has_spectral, has_mkl = True, True, True, False
legacy_contiguous_format = _C.contiguous_format
_mkldnn = _C._mkldnn

# Where names live that are loaded on first use: module to names.
_LAZY = {
    "serialization": ("save", "load"),
    "_tensor.printing": ("set_printoptions",),
    "random": ("manual_seed", "seed", "initial_seed", "get_rng_state", "set_rng_state", "default_generator",
               "thread_safe_generator"),
    "autograd.grad_mode": ("no_grad", "enable_grad", "set_grad_enabled", "inference_mode"),
    "functional": (
        "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors",
        "cartesian_prod",
        "cdist", "chain_matmul", "einsum", "meshgrid", "nonzero", "norm", "split", "stft", "tensordot", "unique",
        "unique_consecutive", "unravel_index",
    ),
    "_main.tensors": (
        "is_tensor", "is_storage", "numel", "typename", "is_floating_point", "is_complex", "is_signed", "is_conj",
        "is_neg", "is_inference", "is_distributed", "get_device", "result_type", "detach_", "_assert",
        "_has_compatible_shallow_copy_type",
    ),
    "_main.modes": (
        "is_grad_enabled", "is_inference_mode_enabled", "set_anomaly_enabled", "is_anomaly_enabled",
        "is_anomaly_check_nan_enabled",
    ),
    "_main.settings": (
        "use_deterministic_algorithms", "are_deterministic_algorithms_enabled",
        "is_deterministic_algorithms_warn_only_enabled", "set_deterministic_debug_mode",
        "get_deterministic_debug_mode", "set_float32_matmul_precision", "get_float32_matmul_precision",
        "set_warn_always", "is_warn_always_enabled", "set_default_tensor_type", "set_num_interop_threads",
        "get_num_interop_threads", "init_num_threads",
    ),
    "_main.sizes": (
        "sym_int", "sym_float", "sym_max", "sym_min", "sym_not", "sym_sqrt", "sym_sum", "sym_ite", "sym_fresh_size",
        "sym_constrain_range", "sym_constrain_range_for_size",
    ),
    "_main.schemes": (
        "qscheme", "per_tensor_affine", "per_channel_affine", "per_tensor_symmetric", "per_channel_symmetric",
        "per_channel_affine_float_qparams",
    ),
    "_main.devices": ("AcceleratorError", "is_vulkan_available", "get_device_module"),
    "storage": (
        "TypedStorage", "BFloat16Storage", "BoolStorage", "ByteStorage", "CharStorage", "ComplexDoubleStorage",
        "ComplexFloatStorage", "DoubleStorage", "FloatStorage", "HalfStorage", "IntStorage", "LongStorage",
        "ShortStorage", "QInt8Storage", "QUInt8Storage", "QInt32Storage", "QUInt4x2Storage", "QUInt2x4Storage",
        "_storage_classes",
    ),
    "_schema.types": (
        "AnyType", "AwaitType", "BoolType", "ClassType", "ComplexType", "DeviceObjType", "DictType", "EnumType",
        "FloatType", "FutureType", "IntType", "InterfaceType", "ListType", "NoneType", "NumberType", "OptionalType",
        "PyObjectType", "RRefType", "StreamObjType", "StringType", "SymBoolType", "SymIntType", "TensorType",
        "_GeneratorType",
        "TupleType", "Type", "UnionType",
    ),
    "_schema.function_schema": ("Argument", "FunctionSchema", "parse_schema"),
    "_schema.symbols": ("SymBool", "SymFloat", "SymInt"),
    "_tensor.old_types": (
        "BFloat16Tensor", "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor",
        "IntTensor", "LongTensor", "ShortTensor", "_tensor_classes",
    ),
    "amp.autocast_mode": ("autocast",),
    "amp.grad_scaler": ("GradScaler",),
    "amp._scaling": ("_amp_foreach_non_finite_check_and_unscale_", "_amp_update_scale_"),
    "_main.checks": (
        "_assert_async", "_check", "_check_index", "_check_is_size", "_check_not_implemented", "_check_tensor_all",
        "_check_tensor_all_with", "_check_type", "_check_value", "_check_with",
    ),
    "amp._by_device": (
        "is_autocast_cpu_enabled", "set_autocast_cpu_enabled", "get_autocast_cpu_dtype", "set_autocast_cpu_dtype",
        "get_autocast_gpu_dtype", "set_autocast_gpu_dtype",
    ),
    "nn._functional.native_attention": (
        "_fused_sdp_choice", "_native_multi_head_attention", "_transform_bias_rescale_qkv",
        "_transformer_encoder_layer_fwd",
    ),
    "_explain": ("explain", "explain_calls"),
    "_main.conversion": ("asarray", "from_file"),
    "_main.grid": ("gradient", "histogramdd"),
    "_main.lobpcg": ("lobpcg",),
    "_main.lowrank": ("lu", "pca_lowrank", "svd_lowrank"),
    "_main.removed": ("eig", "lstsq", "matrix_rank", "solve", "symeig"),
    "_schema.tags": ("Tag",),
    "_main.streams": ("Event", "Stream"),
    "utils.backend_registration": ("_register_device_module",),
    "_serialization.file_reader": ("PyTorchFileReader",),
    "_serialization.file_writer": ("PyTorchFileWriter",),
    "_main.limits": ("finfo", "iinfo"),
    "func": ("vmap",),
    "_control_flow.cond": ("cond",),
    "_control_flow.while_loop": ("while_loop",),
    "_library.dispatch_key": ("DispatchKey",),
    "testing._file_check": ("FileCheck",),
    "utils.dlpack": ("to_dlpack",),
    "_main.installation": ("compiled_with_cxx11_abi", "get_file_path", "prepare_multiprocessing_environment"),
    "futures": ("Future",),
    "nested": ("_nested_from_padded", "_nested_from_padded_and_nested_example", "_nested_tensor_from_mask"),
    "jit": ("fork", "wait"),
    "jit._containers": (
        "ScriptDict", "ScriptDictIterator", "ScriptDictKeyIterator", "ScriptList", "ScriptListIterator",
    ),
    "jit._graph": ("ScriptObject",),
    "jit.ir": ("Block", "Graph", "Node", "Value", "parse_ir"),
    "jit._module": ("ScriptMethod", "ScriptModule"),
    "jit._native_names": ("import_ir_module", "import_ir_module_from_buffer"),
    "jit._script": ("CompilationUnit", "ScriptFunction"),
    "jit.parse.declarations": ("merge_type_from_type_comment", "parse_type_comment"),
    "sparse._constructors": (
        "sparse_coo_tensor", "sparse_compressed_tensor", "sparse_csr_tensor", "sparse_csc_tensor", "sparse_bsr_tensor",
        "sparse_bsc_tensor", "_sparse_coo_tensor_unsafe", "_sparse_compressed_tensor_unsafe",
        "_validate_sparse_coo_tensor_args", "_validate_sparse_compressed_tensor_args",
        "_validate_compressed_sparse_indices", "_validate_sparse_csr_tensor_args", "_validate_sparse_csc_tensor_args",
        "_validate_sparse_bsr_tensor_args", "_validate_sparse_bsc_tensor_args",
    ),
    "sparse._products": ("dsmm", "hsmm", "hspmm", "saddmm", "smm", "spmm", "sspaddmm"),
    "sparse._functions": (
        "ccol_indices_copy", "col_indices_copy", "crow_indices_copy", "indices_copy", "native_norm",
        "resize_as_sparse_", "row_indices_copy", "values_copy", "_sparse_sum", "_sparse_softmax",
        "_sparse_broadcast_to", "_sparse_log_softmax",
    ),
    "_stand_in": ("install_as_torch",),
    "compiler._eager": ("compile",),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _LAZY.items() for name in names}
for _name in _MODULE_OF:  # the Python forms, not the natives under them
    globals().pop(_name, None)
# The submodules that are attributes without being imported.
_MODULES = frozenset([
    "accelerator", "amp", "ao", "autograd", "_awaits", "backends", "classes", "compiler", "__config__", "cpu", "cuda",
    "datasets", "distributed", "distributions", "_dynamo", "_export", "export", "fft", "func", "functional",
    "__future__",
    "_functorch", "futures", "fx", "_higher_order_ops", "hub", "_inductor", "jit", "_jit_internal", "library", "linalg",
    "_linalg_utils", "masked", "mps", "mtia", "multiprocessing", "nested", "nn", "onnx", "_ops", "ops", "optim",
    "package",
    "overrides", "profiler", "quantization", "quasirandom", "random", "return_types", "serialization", "signal",
    "sparse", "special", "storage", "_subclasses", "_tensor_str", "testing", "torch_version", "transforms", "types",
    "_utils", "utils", "version", "_VF", "_vmap_internals", "xpu",
])  # fmt: skip


def _written_in_python(native: _Any, modules: dict[str, str]) -> None:
    """Gives a native module names that are written in Python and load on first use: name to module."""

    def __getattr__(name: str) -> _Any:
        if name not in modules:
            from taeda._main import left_out

            return left_out.stand_in(native.__name__, name)
        value = getattr(_importlib.import_module(f"taeda.{modules[name]}"), name)
        setattr(native, name, value)
        return value

    native.__getattr__ = __getattr__


_written_in_python(
    _C,
    {
        "DispatchKey": "_library.dispatch_key",
        "Tag": "_schema.tags",
        "_cpu": "cpu._capabilities",
        "Block": "jit.ir",
        "CompilationUnit": "jit._script",
        "_Await": "jit._awaits",
        "ScriptMethod": "jit._module",
        "parse_ir": "jit.ir",
        "merge_type_from_type_comment": "jit.parse.declarations",
        "parse_type_comment": "jit.parse.declarations",
        "parse_schema": "_schema.function_schema",
        "PyTorchFileReader": "_serialization.file_reader",
        "PyTorchFileWriter": "_serialization.file_writer",
        "_are_functorch_transforms_active": "func._active",
        "_ConvBackend": "backends._convolutions",
        "_select_conv_backend": "backends._convolutions",
        **dict.fromkeys(
            (
                "_current_autograd_node",
                "_debug_only_are_vmap_fallback_warnings_enabled",
                "_debug_only_display_vmap_fallback_warnings",
                "_current_graph_task_id",
                "_get_accelerator",
                "_get_deterministic_fill_uninitialized_memory",
                "_has_cuda",
                "_set_deterministic_fill_uninitialized_memory",
                "_infer_size",
                "_is_alias_of",
                "_is_fwd_grad_enabled",
                "_overlaps",
                "_set_fwd_grad_enabled",
                "_set_grad_enabled",
                "_TensorBase",
                "_VariableFunctions",
                "_WeakTensorRef",
                "_will_engine_execute_node",
                "has_cuda",
                "has_lapack",
                "has_mkl",
                "has_mkldnn",
                "has_openmp",
                "has_spectral",
                "is_grad_enabled",
                "is_inference_mode_enabled",
            ),  # fmt: skip
            "_main.native_names",
        ),
        **dict.fromkeys(("_get_deterministic_algorithms", "_set_deterministic_algorithms"), "_main.settings"),
        **dict.fromkeys(
            (
                "_dispatch_has_kernel",
                "_dispatch_has_kernel_for_dispatch_key",
                "_get_schema",
                "_jit_get_all_schemas",
                "_jit_get_schemas_for_operator",
            ),
            "_library.schema_names",
        ),
        **{f"_{what}_{name}_enabled": f"backends.{name}" for what in ("get", "set") for name in ("cudnn", "mkldnn")},
        **dict.fromkeys(
            (
                "InferredType",
                "_create_function_from_graph",
                "_freeze_module",
                "_get_graph_executor_optimize",
                "_jit_clear_class_registry",
                "_jit_flatten",
                "import_ir_module",
                "import_ir_module_from_buffer",
                "_jit_get_bailout_depth",
                "_jit_get_inline_everything_mode",
                "_jit_get_num_profiled_runs",
                "_jit_get_tracer_state_warn",
                "_jit_interpret_graph",
                "_jit_set_bailout_depth",
                "_jit_set_inline_everything_mode",
                "_jit_set_num_profiled_runs",
                "_jit_set_symbolic_shapes_test_mode",
                "_jit_set_tracer_state_warn",
                "_jit_symbolic_shapes_test_mode_enabled",
                "_jit_unflatten",
                "_set_graph_executor_optimize",
            ),
            "jit._native_names",
        ),
        **dict.fromkeys(
            (
                "_jit_pass_canonicalize",
                "_jit_pass_complete_shape_analysis",
                "_jit_pass_constant_pooling",
                "_jit_pass_constant_propagation",
                "_jit_pass_constant_propagation_immutable_types",
                "_jit_pass_cse",
                "_jit_pass_custom_pattern_based_rewrite",
                "_jit_pass_custom_pattern_based_rewrite_graph",
                "_jit_pass_dce",
                "_jit_pass_dce_allow_deleting_nodes_with_side_effects",
                "_jit_pass_decompose_ops",
                "_jit_pass_erase_number_types",
                "_jit_pass_erase_shape_information",
                "_jit_pass_fold_frozen_conv_add_or_sub",
                "_jit_pass_fold_frozen_conv_bn",
                "_jit_pass_fold_frozen_conv_mul_or_div",
                "_jit_pass_fold_frozen_linear_bn",
                "_jit_pass_functional_to_inplace_activation",
                "_jit_pass_fuse_add_relu",
                "_jit_pass_fuse_linear",
                "_jit_pass_inline",
                "_jit_pass_inline_fork_wait",
                "_jit_pass_inplace_to_functional_activation",
                "_jit_pass_lint",
                "_jit_pass_loop_unrolling",
                "_jit_pass_lower_all_tuples",
                "_jit_pass_lower_simple_tuples",
                "_jit_pass_optimize_frozen_graph",
                "_jit_pass_peephole",
                "_jit_pass_peephole_list_idioms",
                "_jit_erase_non_input_shape_information",
                "_jit_pass_propagate_device",
                "_jit_pass_propagate_dtype",
                "_jit_pass_propagate_shapes_on_graph",
                "_jit_pass_refine_integer_values",
                "_jit_pass_remove_list_mutation",
                "_jit_pass_remove_mutation",
                "_jit_pass_remove_tensor_mutation",
                "_jit_pass_run_decompositions",
                "_jit_pass_transpose_frozen_linear",
                "_propagate_shapes",
            ),
            "jit._native_passes",
        ),
        "_get_tracing_state": "jit.tracing.state",
        "_is_tracing": "jit.tracing.state",
        **dict.fromkeys(
            (
                "_jit_set_profiling_executor",
                "_jit_set_profiling_mode",
                "_jit_set_autocast_mode",
                "_jit_set_texpr_fuser_enabled",
                "_jit_texpr_fuser_enabled",
                "_jit_override_can_fuse_on_cpu",
                "_jit_can_fuse_on_cpu",
                "_jit_override_can_fuse_on_gpu",
                "_jit_can_fuse_on_gpu",
                "_jit_set_nvfuser_enabled",
            ),
            "_inert.script_switches",
        ),
        **{
            name: module
            for name, module in _MODULE_OF.items()
            if module in ("_schema.function_schema", "_schema.types", "jit._containers", "jit._graph", "jit.ir")
        },
    },
)
_written_in_python(
    _C._nn,
    {
        "_parse_to": "nn.modules._convert",
        **dict.fromkeys(("slow_conv3d", "thnn_conv2d"), "nn._functional.old_convolutions"),
    },
)
_written_in_python(
    _C._functions,
    {
        "AccumulateGrad": "_main.native_names",
        "DelayedError": "autograd._functions",
        "UndefinedGrad": "autograd._functions",
    },
)
_written_in_python(_C._autograd, {"_saved_tensors_hooks_is_enabled": "_main.native_names"})


def __getattr__(name: str) -> _Any:
    if name in _MODULE_OF:
        value = getattr(_importlib.import_module(f"taeda.{_MODULE_OF[name]}"), name)
        if _MODULE_OF[name].startswith("_main.") and hasattr(value, "__code__"):
            value.__module__ = __name__  # pickles and messages tell the public name
    elif name in _MODULES:
        try:
            return _importlib.import_module(f"taeda.{name}")
        except ModuleNotFoundError as missing:
            if missing.name != f"taeda.{name}":
                raise
            raise AttributeError(f"taeda.{name} is not part of this release") from None
    elif name == "Storage":  # that of the default dtype, which may change
        return _importlib.import_module("taeda.storage").Storage
    elif name in ("has_cuda", "has_cudnn", "has_mps", "has_mkldnn"):
        return _importlib.import_module("taeda._main.devices").old_question(name)
    else:
        from taeda._main import absent

        raise absent.missing("taeda", name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    from importlib.util import find_spec

    modules = (module for module in _MODULES if find_spec(f"taeda.{module}"))
    return sorted({"Storage", *globals(), *_MODULE_OF, *modules})
