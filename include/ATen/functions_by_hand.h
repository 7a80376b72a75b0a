// What namespace at has beside the declared ops: operators, tensors over memory of one's own, tensors from values.
#pragma once
#include <ATen/Functions.h>

namespace at {

// --- operators
#define TAEDA_BINARY(sign, function)                                                      \
  inline Tensor operator sign(const Tensor& a, const Tensor& b) { return a.function(b); } \
  inline Tensor operator sign(const Tensor& a, const c10::Scalar& b) { return a.function(b); }
TAEDA_BINARY(+, add)
TAEDA_BINARY(-, sub)
TAEDA_BINARY(*, mul)
TAEDA_BINARY(/, div)
TAEDA_BINARY(%, remainder)
TAEDA_BINARY(&, bitwise_and)
TAEDA_BINARY(|, bitwise_or)
TAEDA_BINARY(^, bitwise_xor)
TAEDA_BINARY(<, lt)
TAEDA_BINARY(<=, le)
TAEDA_BINARY(>, gt)
TAEDA_BINARY(>=, ge)
TAEDA_BINARY(==, eq)
TAEDA_BINARY(!=, ne)
#undef TAEDA_BINARY
#define TAEDA_SWAPPED(sign, expression) \
  inline Tensor operator sign(const c10::Scalar& a, const Tensor& b) { return expression; }
TAEDA_SWAPPED(+, b.add(a))
TAEDA_SWAPPED(-, b.neg().add(a))
TAEDA_SWAPPED(*, b.mul(a))
TAEDA_SWAPPED(/, b.reciprocal().mul(a))
TAEDA_SWAPPED(%, at::remainder(a, b))
TAEDA_SWAPPED(&, b.bitwise_and(a))
TAEDA_SWAPPED(|, b.bitwise_or(a))
TAEDA_SWAPPED(^, b.bitwise_xor(a))
TAEDA_SWAPPED(<, b.gt(a))
TAEDA_SWAPPED(<=, b.ge(a))
TAEDA_SWAPPED(>, b.lt(a))
TAEDA_SWAPPED(>=, b.le(a))
TAEDA_SWAPPED(==, b.eq(a))
TAEDA_SWAPPED(!=, b.ne(a))
#undef TAEDA_SWAPPED

// --- questions
inline bool is_floating_point(const Tensor& t) { return t.is_floating_point(); }
inline bool is_complex(const Tensor& t) { return t.is_complex(); }
inline bool is_signed(const Tensor& t) { return t.is_signed(); }
inline bool is_conj(const Tensor& t) { return t.is_conj(); }
inline bool is_neg(const Tensor& t) { return t.is_neg(); }
inline bool is_inference(const Tensor& t) { return t.is_inference(); }
inline int64_t size(const Tensor& t, int64_t dim) { return t.size(dim); }
inline int64_t stride(const Tensor& t, int64_t dim) { return t.stride(dim); }
inline int64_t numel(const Tensor& t) { return t.numel(); }

// --- dtypes of results
inline ScalarType promote_types(ScalarType a, ScalarType b) { return c10::promoteTypes(a, b); }
inline bool can_cast(ScalarType from, ScalarType to) {
  if (c10::isComplexType(from)) return c10::isComplexType(to);
  if (c10::isFloatingType(from)) return !c10::isIntegralType(to, true);
  return from == ScalarType::Bool || to != ScalarType::Bool;
}
// A tensor without dimensions counts only where it is of a higher kind: whole numbers, real, complex.
inline ScalarType result_type(const Tensor& a, const Tensor& b) {
  auto kind = [](ScalarType t) {
    return c10::isComplexType(t) ? 3 : c10::isFloatingType(t) ? 2 : t == ScalarType::Bool ? 0 : 1;
  };
  const ScalarType x = a.scalar_type(), y = b.scalar_type();
  if ((a.dim() == 0) == (b.dim() == 0)) return c10::promoteTypes(x, y);
  const ScalarType first = a.dim() ? x : y, second = a.dim() ? y : x;
  return kind(second) > kind(first) ? c10::promoteTypes(first, second) : first;
}

// --- tensors over memory that someone else made; `deleter`, if any, is told when the last tensor over it is gone
TORCH_API Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, int64_t offset,
                           std::function<void(void*)> deleter, const TensorOptions& options,
                           std::optional<Device> device = std::nullopt);
inline Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const std::function<void(void*)>& deleter,
                        const TensorOptions& options = {}, std::optional<Device> device = std::nullopt) {
  return from_blob(data, sizes, strides, 0, deleter, options, device);
}
TORCH_API Tensor from_blob(void* data, IntArrayRef sizes, std::function<void(void*)> deleter,
                           const TensorOptions& options = {}, std::optional<Device> device = std::nullopt);
inline Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options = {}) {
  return from_blob(data, sizes, strides, 0, {}, options);
}
inline Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options = {}) {
  return from_blob(data, sizes, std::function<void(void*)>(), options);
}

// --- x.var(0) means the dimension, though C++ would take 0 for a bool before it takes it for a list
#define TAEDA_BY_DIMENSION(Result, function)                         \
  inline Result function(const Tensor& self, int dim) {              \
    const int64_t dims[] = {dim};                                    \
    return at::function(self, IntArrayRef(dims), /*unbiased=*/true); \
  }
#define TAEDA_PAIR std::tuple<Tensor, Tensor>
#define TAEDA_METHOD_BY_DIMENSION(function) \
  inline Tensor Tensor::function(int dim) const { return at::function(*this, dim); }
TAEDA_BY_DIMENSION(Tensor, var)
TAEDA_BY_DIMENSION(Tensor, std)
TAEDA_BY_DIMENSION(TAEDA_PAIR, var_mean)
TAEDA_BY_DIMENSION(TAEDA_PAIR, std_mean)
TAEDA_METHOD_BY_DIMENSION(var)
TAEDA_METHOD_BY_DIMENSION(std)
#undef TAEDA_BY_DIMENSION
#undef TAEDA_METHOD_BY_DIMENSION
#undef TAEDA_PAIR

// --- tensors from values
namespace detail {
TORCH_API Tensor tensor_of(const void* values, int64_t count, ScalarType type, const TensorOptions& options);
}  // namespace detail
template <class T>
Tensor tensor(ArrayRef<T> values, const TensorOptions& options) {
  return detail::tensor_of(values.data(), static_cast<int64_t>(values.size()), c10::CppTypeToScalarType<T>::value,
                           options);
}
template <class T>
Tensor tensor(ArrayRef<T> values) {
  return tensor(values, TensorOptions(c10::CppTypeToScalarType<T>::value));
}
template <class T>
Tensor tensor(std::initializer_list<T> values, const TensorOptions& options) {
  return tensor(ArrayRef<T>(values), options);
}
template <class T>
Tensor tensor(std::initializer_list<T> values) {
  return tensor(ArrayRef<T>(values));
}
template <class T>
Tensor tensor(const std::vector<T>& values, const TensorOptions& options) {
  return tensor(ArrayRef<T>(values), options);
}
template <class T>
Tensor tensor(const std::vector<T>& values) {
  return tensor(ArrayRef<T>(values));
}
// A number makes a tensor of one dimension here, and one without any in torch::tensor.
template <class T>
concept Number = std::is_arithmetic_v<T> || c10::is_complex<T>::value;
template <Number T>
Tensor tensor(T value, const TensorOptions& options) {
  return tensor(ArrayRef<T>(value), options);
}
template <Number T>
Tensor tensor(T value) {
  return tensor(ArrayRef<T>(value));
}

// --- tensors of which only some elements are stored
TORCH_API Tensor sparse_coo_tensor(IntArrayRef size, const TensorOptions& options);
TORCH_API Tensor sparse_coo_tensor(const Tensor& indices, const Tensor& values, const TensorOptions& options = {},
                                   std::optional<bool> is_coalesced = std::nullopt);
TORCH_API Tensor sparse_coo_tensor(const Tensor& indices, const Tensor& values, IntArrayRef size,
                                   const TensorOptions& options = {}, std::optional<bool> is_coalesced = std::nullopt);
// These that are called unsafe do not read the indices; who uses them later does.
TORCH_API Tensor _sparse_coo_tensor_unsafe(const Tensor& indices, const Tensor& values, IntArrayRef size,
                                           const TensorOptions& options = {},
                                           std::optional<bool> is_coalesced = std::nullopt);
TORCH_API Tensor sparse_compressed_tensor(const Tensor& compressed_indices, const Tensor& plain_indices,
                                          const Tensor& values, IntArrayRef size, const TensorOptions& options);
TORCH_API Tensor sparse_compressed_tensor(const Tensor& compressed_indices, const Tensor& plain_indices,
                                          const Tensor& values, const TensorOptions& options);
TORCH_API Tensor _sparse_compressed_tensor_unsafe(const Tensor& compressed_indices, const Tensor& plain_indices,
                                                  const Tensor& values, IntArrayRef size,
                                                  const TensorOptions& options = {});
#define TAEDA_FORALL_COMPRESSED(X) X(SparseCsr, csr) X(SparseCsc, csc) X(SparseBsr, bsr) X(SparseBsc, bsc)
#define TAEDA_COMPRESSED(layout, name)                                                                                \
  TORCH_API Tensor sparse_##name##_tensor(const Tensor& compressed_indices, const Tensor& plain_indices,              \
                                          const Tensor& values, IntArrayRef size, const TensorOptions& options = {}); \
  TORCH_API Tensor sparse_##name##_tensor(const Tensor& compressed_indices, const Tensor& plain_indices,              \
                                          const Tensor& values, const TensorOptions& options = {});                   \
  TORCH_API Tensor _sparse_##name##_tensor_unsafe(const Tensor& compressed_indices, const Tensor& plain_indices,      \
                                                  const Tensor& values, IntArrayRef size,                             \
                                                  const TensorOptions& options = {});
TAEDA_FORALL_COMPRESSED(TAEDA_COMPRESSED)
#undef TAEDA_COMPRESSED

// --- several at once
inline Tensor scalar_to_tensor(const Scalar& value, Device device = Device(c10::kCPU)) {
  return at::scalar_tensor(value, TensorOptions(device).dtype(value.type()));
}

// --- who computes
inline bool hasCUDA() { return false; }
inline bool hasMPS() { return false; }
inline bool hasMAGMA() { return false; }
inline bool hasHIP() { return false; }
inline bool hasXPU() { return false; }
inline bool hasMKL() { return false; }
inline bool hasOpenMP() { return true; }
inline bool hasLAPACK() { return true; }
inline bool hasMKLDNN() { return true; }  // oneDNN, by its older name
TORCH_API void manual_seed(uint64_t seed);

// --- kernels by PyTorch's namespace are the ops themselves
namespace native {
using namespace at;  // NOLINT
// These have fewer forms there than the ops, so that an empty factor is no number.
#define TAEDA_RESIZING(name)                                               \
  inline Tensor name(const Tensor& input, OptionalIntArrayRef output_size, \
                     std::optional<ArrayRef<double>> scale_factors) {      \
    return at::name(input, output_size, scale_factors);                    \
  }
#define TAEDA_RESIZING_ALIGNED(name)                                                           \
  inline Tensor name(const Tensor& input, OptionalIntArrayRef output_size, bool align_corners, \
                     std::optional<ArrayRef<double>> scale_factors) {                          \
    return at::name(input, output_size, align_corners, scale_factors);                         \
  }
TAEDA_RESIZING(upsample_nearest1d)
TAEDA_RESIZING(upsample_nearest2d)
TAEDA_RESIZING(upsample_nearest3d)
TAEDA_RESIZING(_upsample_nearest_exact1d)
TAEDA_RESIZING(_upsample_nearest_exact2d)
TAEDA_RESIZING(_upsample_nearest_exact3d)
TAEDA_RESIZING_ALIGNED(upsample_linear1d)
TAEDA_RESIZING_ALIGNED(upsample_bilinear2d)
TAEDA_RESIZING_ALIGNED(upsample_bicubic2d)
TAEDA_RESIZING_ALIGNED(upsample_trilinear3d)
TAEDA_RESIZING_ALIGNED(_upsample_bilinear2d_aa)
TAEDA_RESIZING_ALIGNED(_upsample_bicubic2d_aa)
#undef TAEDA_RESIZING
#undef TAEDA_RESIZING_ALIGNED
inline int64_t ensure_nonempty_dim(int64_t dim) { return std::max<int64_t>(dim, 1); }
inline int64_t ensure_nonempty_size(const Tensor& t, int64_t dim) { return t.dim() ? t.size(dim) : 1; }
inline int64_t ensure_nonempty_stride(const Tensor& t, int64_t dim) { return t.dim() ? t.stride(dim) : 1; }
}  // namespace native

}  // namespace at

#include <ATen/Context.h>
#include <ATen/TensorIndexing.h>
