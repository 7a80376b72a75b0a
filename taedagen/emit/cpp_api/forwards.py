"""Older and finer paths of PyTorch's headers, each a line that includes the one with the contents."""

from __future__ import annotations

from collections.abc import Iterable

# Header with the contents, and the paths that stand for it; {a,b} as a shell's.
_FORWARDS = {
    "torch/headeronly/core/types.h": "torch/headeronly/core/{DeviceType,Layout,MemoryFormat,ScalarType}.h "
    "torch/headeronly/util/{BFloat16,Float8_e4m3fn,Float8_e4m3fnuz,Float8_e5m2,Float8_e5m2fnuz,Float8_e8m0fnu,Half,complex}"
    ".h",
    "c10/macros/Version.h": "torch/headeronly/version.h torch/version.h",
    "torch/csrc/stable/conversions.h": "torch/csrc/stable/stableivalue_conversions.h",
    "torch/csrc/stable/tensor.h": "torch/csrc/stable/{tensor_inl,tensor_struct}.h",
    "torch/csrc/stable/device.h": "torch/csrc/stable/{device_inl,device_struct}.h",
    "torch/csrc/stable/generator.h": "torch/csrc/stable/{generator_inl,generator_struct}.h",
    "c10/macros/Macros.h": "c10/macros/Export.h torch/csrc/Export.h torch/headeronly/macros/{Export,Macros}.h "
    "c10/util/{Deprecated,C++17}.h",
    "c10/util/Metaprogramming.h": "c10/util/{TypeList,TypeTraits}.h torch/headeronly/util/{Metaprogramming,TypeList,"
    "TypeTraits}.h",
    "c10/util/Exception.h": "c10/util/StringUtil.h torch/csrc/Exceptions.h",
    "c10/util/Logging.h": "c10/util/logging_is_not_google_glog.h",
    "c10/util/ArrayRef.h": "ATen/ArrayRef.h",
    "c10/util/SmallVector.h": "ATen/{DimVector,SmallVector}.h ATen/core/DimVector.h c10/util/DimVector.h",
    "c10/util/OptionalArrayRef.h": "ATen/core/OptionalArrayRef.h",
    "c10/util/Optional.h": "c10/core/OptionalRef.h torch/csrc/utils/optional.h",
    "c10/util/Half.h": "c10/util/{BFloat16,Float8_e4m3fn,Float8_e4m3fnuz,Float8_e5m2,Float8_e5m2fnuz,Float8_e8m0fnu}.h "
    "ATen/Half.h c10/util/{Half-inl,BFloat16-inl}.h",
    "c10/util/complex.h": "c10/util/{complex_math,complex_utils}.h",
    "c10/util/intrusive_ptr.h": "c10/util/ExclusivelyOwned.h",
    "c10/core/ScalarType.h": "ATen/{ScalarType,OpMathType,AccumulateType}.h "
    "c10/util/{qint8,quint8,qint32}.h ATen/core/ScalarType.h",
    "c10/util/typeid.h": "c10/core/{ScalarTypeToTypeMeta,DefaultDtype}.h",
    "c10/core/DeviceGuard.h": "ATen/DeviceGuard.h c10/core/{StreamGuard,Stream}.h c10/core/impl/"
    "{DeviceGuardImplInterface,VirtualGuardImpl,InlineDeviceGuard}.h",
    "ATen/TensorIterator.h": "ATen/native/TensorIterator.h ATen/native/cpu/Loops.h",
    "ATen/TensorUtils.h": "ATen/TensorGeometry.h",
    "ATen/record_function.h": "torch/csrc/autograd/{record_function,profiler}.h",
    "c10/core/Device.h": "c10/core/DeviceType.h ATen/Device.h",
    "c10/core/Layout.h": "c10/core/MemoryFormat.h ATen/Layout.h ATen/core/Reduction.h",
    "c10/core/Scalar.h": "ATen/{Scalar,ScalarOps}.h ATen/core/Scalar.h",
    "c10/core/SymInt.h": "c10/core/{SymIntArrayRef,SymBool,SymFloat}.h",
    "c10/core/TensorOptions.h": "ATen/TensorOptions.h c10/core/DefaultTensorOptions.h",
    "c10/core/Allocator.h": "c10/core/{CPUAllocator,RefcountedDeleter}.h ATen/core/Allocator.h "
    "c10/util/UniqueVoidPtr.h",
    "c10/core/Storage.h": "c10/core/StorageImpl.h ATen/Storage.h",
    "c10/core/DispatchKey.h": "c10/core/DispatchKeySet.h c10/core/impl/LocalDispatchKeySet.h "
    "ATen/core/{LegacyTypeDispatch,VariableHooksInterface}.h",
    "c10/core/GeneratorImpl.h": "ATen/{CPUGeneratorImpl,Generator}.h ATen/core/{Generator,DistributionsHelper}.h",
    "c10/core/InferenceMode.h": "c10/core/{GradMode,AutogradState}.h ATen/core/grad_mode.h "
    "torch/csrc/autograd/grad_mode.h torch/csrc/autograd/InferenceMode.h",
    "ATen/Functions.h": "ATen/{Operators,TensorOperators,NativeFunctions,CPUFunctions,WrapDimUtils,"
    "InferSize,Utils,NamedTensorUtils,TypeDefault,MetaFunctions,RedispatchFunctions,Formatting}.h "
    "ATen/core/{Formatting,ATenGeneral,UnsafeFromTH}.h torch/csrc/autograd/VariableTypeUtils.h",
    "ATen/core/Tensor.h": "ATen/{Tensor,TensorAccessor}.h ATen/core/{TensorBody,TensorBase,ATen_fwd}.h "
    "c10/core/{TensorImpl,UndefinedTensorImpl,WrapDimMinimal}.h",
    "ATen/core/Dimname.h": "ATen/Dimname.h",
    "ATen/core/interned_strings.h": "ATen/core/symbol.h",
    "ATen/core/DeprecatedTypeProperties.h": "ATen/core/DeprecatedTypePropertiesRegistry.h",
    "ATen/core/List.h": "ATen/core/{Dict,List_inl,Dict_inl,IListRef}.h",
    "ATen/core/ivalue.h": "ATen/core/{ivalue_inl,stack}.h torch/csrc/jit/frontend/schema_type_parser.h",
    "ATen/core/jit_type_base.h": "ATen/core/type_ptr.h",
    "ATen/core/jit_type.h": "ATen/core/{type_factory,class_type,qualified_name}.h",
    "ATen/core/dispatch/Dispatcher.h": "ATen/core/boxing/KernelFunction.h "
    "ATen/core/dispatch/OperatorEntry.h",
    "ATen/core/function_schema.h": "ATen/core/{operator_name,alias_info}.h",
    "c10/core/Backend.h": "ATen/Backend.h",
    "torch/detail/tensor_data.h": "torch/detail/TensorDataContainer.h",
    "torch/library.h": "ATen/core/op_registration/{op_registration,op_allowlist,infer_schema}.h torch/csrc/jit/runtime/"
    "{custom_operator,operator}.h",
    "ATen/Parallel.h": "ATen/{ParallelOpenMP,ParallelNative,Parallel-inl,ParallelFuture}.h c10/util/ParallelGuard.h",
    "torch/types.h": "torch/csrc/autograd/generated/VariableType.h torch/{cuda,utils,sparse}.h torch/csrc/api/include/"
    "torch/{types,cuda,utils}.h torch/csrc/utils/tensor_new.h",
    "torch/custom_class.h": "torch/custom_class_detail.h ATen/core/custom_class.h",
    "torch/torch.h": "torch/csrc/api/include/torch/torch.h",
    "torch/all.h": "torch/csrc/api/include/torch/all.h",
    "torch/jit.h": "torch/csrc/jit/{serialization/import,api/method,api/object,frontend/tracer}.h "
    "torch/csrc/api/include/torch/jit.h",
    "torch/nn/pimpl.h": "torch/nn/pimpl-inl.h",
    "torch/autograd.h": "torch/csrc/autograd/{function,autograd,edge,engine,function_hook,cpp_hook,saved_variable}.h "
    "torch/csrc/api/include/torch/autograd.h torch/csrc/autograd/functions/{utils,accumulate_grad}.h",
    "torch/python.h": "torch/csrc/{THP,Types,utils,MemoryFormat,DynamicTypes,Device,Dtype,Layout,Generator}.h "
    "torch/csrc/{python_headers,Size,Storage}.h "
    "torch/csrc/utils/{python_arg_parser,python_numbers,python_strings,object_ptr}.h "
    "torch/csrc/autograd/python_variable.h torch/csrc/api/include/torch/python.h",
    "ATen/Dispatch.h": "torch/headeronly/core/Dispatch.h",
    "ATen/Dispatch_v2.h": "torch/headeronly/core/Dispatch_v2.h",
    "ATen/core/TensorAccessor.h": "torch/headeronly/core/TensorAccessor.h",
    "torch/extension.h": "torch/csrc/api/include/torch/extension.h",
    **{f"torch/{name}.h": f"torch/csrc/api/include/torch/{name}.h"
       for name in ("nn", "optim", "data", "serialize", "enum", "ordered_dict", "arg", "expanding_array")},
    **{f"torch/nn/functional/{name}.h": f"torch/nn/options/{name}.h" for name in (
        "activation", "batchnorm", "conv", "distance", "dropout", "embedding", "fold", "instancenorm", "linear",
        "loss", "normalization", "padding", "pixelshuffle", "pooling", "upsampling", "vision")},
    "torch/nn/modules/batchnorm.h": "torch/nn/modules/instancenorm.h",
    **{f"torch/nn/modules/{name}.h": f"torch/nn/options/{name}.h" for name in (
        "adaptive", "rnn", "transformer", "transformercoder", "transformerlayer")},
    "torch/nn/functional.h": "torch/nn/options.h",
    "torch/namespaces.h": "torch/{fft,linalg,special}.h",
}  # fmt: skip


def _paths(text: str) -> list[str]:
    """The paths that ``a/{b,c}.h`` stands for."""
    head, brace, rest = text.partition("{")
    if not brace:
        return [text]
    middle, _, tail = rest.partition("}")
    return [head + part + tail for part in middle.split(",")]


def _forward(target: str) -> str:
    return f"// Made by taedagen: an older path of {target}.\n#pragma once\n#include <{target}>\n"


def forwards(functions: Iterable[str]) -> dict[str, str]:
    """File name to text, relative to the output folder; ``functions`` are paths that stand for ATen/Functions.h."""
    return {f"include/{path}": "#include <ATen/Functions.h>\n" for path in functions} | {
        f"include/{path}": _forward(target)
        for target, paths in _FORWARDS.items() for group in paths.split() for path in _paths(group) if path != target
    }  # fmt: skip
