// The names in torch::headeronly of dtypes, their C++ types, devices, layouts and memory formats. Nothing here needs a
// library to link with.
#pragma once
#include <c10/core/Device.h>
#include <c10/core/Layout.h>
#include <c10/core/ScalarType.h>
#include <torch/headeronly/util/HeaderOnlyArrayRef.h>

namespace torch::headeronly {

using c10::BFloat16, c10::Float8_e4m3fn, c10::Float8_e4m3fnuz, c10::Float8_e5m2, c10::Float8_e5m2fnuz,
    c10::Float8_e8m0fnu, c10::Half;
using c10::complex;
using c10::CppTypeToScalarType, c10::ScalarType, c10::toString;
namespace impl {
using c10::impl::ScalarTypeToCPPType, c10::impl::ScalarTypeToCPPTypeT;
}
#define TAEDA_NAME(type, name, core) using c10::k##name;
TAEDA_FORALL_SCALAR_TYPES(TAEDA_NAME)
#undef TAEDA_NAME
using c10::DeviceType, c10::kCPU, c10::kCUDA, c10::kMeta, c10::kMPS, c10::kPrivateUse1, c10::kXPU;
using c10::kJagged, c10::kSparse, c10::kSparseBsc, c10::kSparseBsr, c10::kSparseCsc, c10::kSparseCsr, c10::kStrided,
    c10::Layout;
using c10::MemoryFormat;

}  // namespace torch::headeronly
