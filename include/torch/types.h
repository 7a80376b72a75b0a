// The names of namespace torch for tensors and what describes them.
#pragma once
#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <c10/util/irange.h>
#include <torch/csrc/autograd/generated/variable_factories.h>
#include <torch/csrc/autograd/variable.h>

namespace torch {

using namespace at;  // NOLINT: every name of at is one of torch

using at::Tensor;
using c10::Device;
using c10::DeviceType;
using c10::Dict;
using c10::IValue;
using c10::List;
using std::nullopt;
using std::optional;
using Dtype = at::ScalarType;
using at::ScalarType;
using Error = c10::Error;

constexpr auto kUInt8 = at::kByte;
constexpr auto kInt8 = at::kChar;
constexpr auto kInt16 = at::kShort;
constexpr auto kInt32 = at::kInt;
constexpr auto kInt64 = at::kLong;
constexpr auto kFloat16 = at::kHalf;
constexpr auto kFloat32 = at::kFloat;
constexpr auto kFloat64 = at::kDouble;
constexpr auto kComplex32 = at::kComplexHalf;
constexpr auto kComplex64 = at::kComplexFloat;
constexpr auto kComplex128 = at::kComplexDouble;
constexpr auto kU8 = kUInt8;
constexpr auto kI8 = kInt8;
constexpr auto kI16 = kInt16;
constexpr auto kI32 = kInt32;
constexpr auto kI64 = kInt64;
constexpr auto kF16 = kFloat16;
constexpr auto kF32 = kFloat32;
constexpr auto kF64 = kFloat64;

// --- seeds, numbers of threads, what computes
using at::get_num_threads;
using at::manual_seed;
using at::set_num_threads;
namespace cuda {
inline size_t device_count() { return 0; }
inline bool is_available() { return false; }
inline bool cudnn_is_available() { return false; }
inline void manual_seed(uint64_t) {}
inline void manual_seed_all(uint64_t) {}
inline void synchronize(int64_t = -1) {}
}  // namespace cuda
namespace mps {
inline bool is_available() { return false; }
}  // namespace mps

// --- recording
using at::AutoGradMode;
using at::NoGradGuard;
using c10::InferenceMode;

}  // namespace torch
