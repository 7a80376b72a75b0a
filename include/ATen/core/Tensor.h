// at::Tensor: the core's handle with the methods that PyTorch's C++ gives it. It has no data of its own.
#pragma once
#include <array>
#include <functional>
#include <tuple>

#include <ATen/core/DeprecatedTypeProperties.h>
#include <ATen/core/Dimname.h>
#include <ATen/core/List.h>
#include <ATen/core/TensorAccessor.h>
#include <ATen/core/TensorIndex.h>
#include <c10/core/GeneratorImpl.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/Scalar.h>
#include <c10/core/Storage.h>
#include <c10/core/SymInt.h>
#include <c10/core/TensorOptions.h>
#include <c10/macros/Abi.h>
#include <c10/util/MaybeOwned.h>
#include <c10/util/standard.h>
#include <c10/util/string_view.h>
#include <taeda/autograd/node.h>

namespace c10 {
using TensorImpl = ::taeda::TensorImpl;
}

namespace torch::autograd {
using Node = ::taeda::autograd::Node;
using Edge = ::taeda::autograd::Edge;
}  // namespace torch::autograd

namespace at {

using TensorList = c10::ArrayRef<Tensor>;
using ITensorListRef = TensorList;

namespace detail {
inline const ::taeda::Tensor& tensor_or_none(const std::optional<Tensor>& tensor);
// The core's lists of results as lists of ours.
inline std::vector<Tensor> tensors(std::vector<::taeda::Tensor> made);
template <class Results, class Made>
Results results(Made made);
template <size_t N>
std::array<int64_t, N> ints(const std::array<bool, N>& truths) {
  std::array<int64_t, N> numbers;
  for (size_t i = 0; i < N; ++i) numbers[i] = truths[i];
  return numbers;
}
template <class T>
std::optional<std::span<const T>> list_or_none(const std::optional<c10::ArrayRef<T>>& list) {
  return list ? std::optional<std::span<const T>>(*list) : std::nullopt;
}
}  // namespace detail

// dim from -dims to dims - 1 counted from the front. A tensor without dimensions takes those of one that has one.
inline int64_t maybe_wrap_dim(int64_t dim, int64_t dims, bool wrap_scalar = true) {
  TORCH_CHECK_INDEX(dims || wrap_scalar, "dimension ", dim, " of a tensor that has none");
  return ::taeda::wrap_dim(dim, dims);
}
inline void maybe_wrap_dims(std::vector<int64_t>& dims, int64_t rank, bool wrap_scalar = true) {
  for (int64_t& dim : dims) dim = maybe_wrap_dim(dim, rank, wrap_scalar);
}

class TORCH_API Tensor : public ::taeda::Tensor {
 public:
  using hook_t = std::function<Tensor(const Tensor&)>;

  Tensor() = default;
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) = default;
  Tensor(const ::taeda::Tensor& other) : ::taeda::Tensor(other) {}
  Tensor(::taeda::Tensor&& other) noexcept : ::taeda::Tensor(std::move(other)) {}
  explicit Tensor(c10::intrusive_ptr<c10::TensorImpl> impl) : ::taeda::Tensor(std::move(impl)) {}

  static Tensor wrap_tensor_impl(c10::intrusive_ptr<c10::TensorImpl> impl) { return Tensor(std::move(impl)); }

  Tensor& operator=(const Tensor& other) & {
    ::taeda::Tensor::operator=(other);
    return *this;
  }
  Tensor& operator=(Tensor&& other) & noexcept {
    ::taeda::Tensor::operator=(std::move(other));
    return *this;
  }
  // Of what an index or a view gave: writes into it.
  Tensor& operator=(const Tensor& other) && { return copy_(other), *this; }
  Tensor& operator=(Tensor&& other) && { return copy_(other), *this; }
  Tensor& operator=(const c10::Scalar& value) && { return fill_(value), *this; }
  explicit operator bool() const = delete;

  // --- geometry
  c10::IntArrayRef sizes() const { return defined() ? as_list(impl()->sizes()) : c10::IntArrayRef(); }
  c10::IntArrayRef strides() const { return as_list(impl()->strides()); }
  c10::SymIntArrayRef sym_sizes() const { return c10::fromIntArrayRef(sizes()); }
  c10::SymIntArrayRef sym_strides() const { return c10::fromIntArrayRef(strides()); }
  c10::SymInt sym_size(int64_t dim) const { return size(dim); }
  c10::SymInt sym_stride(int64_t dim) const { return stride(dim); }
  c10::SymInt sym_nbytes() const { return static_cast<int64_t>(nbytes()); }
  c10::SymInt sym_numel() const { return numel(); }
  c10::SymInt sym_storage_offset() const { return storage_offset(); }
  int64_t dim() const { return impl()->dim(); }
  int64_t size(int64_t dim) const { return impl()->sizes()[::taeda::wrap_dim(dim, impl()->dim())]; }
  int64_t stride(int64_t dim) const { return impl()->strides()[::taeda::wrap_dim(dim, impl()->dim())]; }
  int64_t ndimension() const { return dim(); }
  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const { return impl()->is_contiguous(format); }
  bool is_non_overlapping_and_dense() const { return impl()->is_non_overlapping_and_dense(); }
  MemoryFormat suggest_memory_format(bool channels_last_exactly = false) const;
  Tensor contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
  // The same, without a count where the tensor is contiguous; it must then live on.
  c10::MaybeOwned<Tensor> expect_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const& {
    using Maybe = c10::MaybeOwned<Tensor>;
    return is_contiguous(format) ? Maybe::borrowed(*this) : Maybe::owned(contiguous(format));
  }
  c10::MaybeOwned<Tensor> expect_contiguous(MemoryFormat format = MemoryFormat::Contiguous) && = delete;
  size_t nbytes() const { return static_cast<size_t>(numel() * itemsize()); }
  int64_t element_size() const { return itemsize(); }
  size_t itemsize() const { return static_cast<size_t>(::taeda::Tensor::itemsize()); }

  // --- facts
  ScalarType scalar_type() const { return c10::to_scalar_type(impl()->dtype()); }
  caffe2::TypeMeta dtype() const { return scalar_type(); }
  c10::Device device() const { return impl()->device(); }
  int64_t get_device() const { return device().index(); }
  Layout layout() const { return impl()->layout(); }
  c10::TensorOptions options() const { return c10::TensorOptions().dtype(dtype()).device(device()).layout(layout()); }
  DeprecatedTypeProperties& type() const;
  std::string toString() const { return defined() ? type().toString() : "UndefinedType"; }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_cuda() const { return device().is_cuda(); }
  bool is_xpu() const { return device().is_xpu(); }
  bool is_mps() const { return device().is_mps(); }
  bool is_hip() const { return device().is_hip(); }
  bool is_xla() const { return device().is_xla(); }
  bool is_hpu() const { return device().is_hpu(); }
  bool is_mtia() const { return device().is_mtia(); }
  bool is_vulkan() const { return device().is_vulkan(); }
  bool is_meta() const { return device().is_meta(); }
  bool is_privateuseone() const { return device().is_privateuseone(); }
  bool is_sparse() const { return layout() == Layout::Sparse; }
  bool is_sparse_csr() const { return layout() == Layout::SparseCsr; }
  bool is_quantized() const { return impl()->keys().has(::taeda::Functionality::Quantized); }
  bool is_nested() const { return impl()->keys().has(::taeda::Functionality::Nested); }
  bool is_mkldnn() const { return false; }
  bool is_floating_point() const { return c10::isFloatingType(scalar_type()); }
  bool is_complex() const { return c10::isComplexType(scalar_type()); }
  bool is_signed() const { return c10::isSignedType(scalar_type()); }
  bool is_conj() const { return impl()->is_conj(); }
  bool is_neg() const { return impl()->is_neg(); }
  bool is_inference() const { return impl()->is_inference(); }
  bool is_nonzero() const { return item().toBool(); }
  bool is_pinned(std::optional<c10::Device> device = std::nullopt) const;
  bool is_same(const Tensor& other) const { return is(other); }
  // Names of dimensions: ATen/core/Dimname.h
  bool has_names() const;
  DimnameList names() const;
  Tensor rename(std::optional<DimnameList> names) const;
  Tensor refine_names(DimnameList names) const;
  Tensor unflatten(Dimname dim, IntArrayRef sizes, DimnameList names) const;
  size_t use_count() const { return defined() ? static_cast<size_t>(impl()->use_count()) : 0; }
  bool is_uniquely_owned() const { return use_count() == 1; }
  size_t weak_use_count() const { return defined() ? 1 : 0; }
  c10::DispatchKeySet key_set() const { return impl()->keys(); }
  const c10::Storage& storage() const { return reinterpret_cast<const c10::Storage&>(impl()->storage()); }
  bool has_storage() const { return defined() && impl()->storage(); }
  bool is_alias_of(const Tensor& other) const { return storage().is_alias_of(other.storage()); }
  c10::TensorImpl* unsafeGetTensorImpl() const { return impl(); }
  c10::intrusive_ptr<c10::TensorImpl> getIntrusivePtr() const { return ref(); }
  c10::TensorImpl* unsafeReleaseTensorImpl() { return detach_ref(); }
  c10::intrusive_ptr<c10::TensorImpl> unsafeReleaseIntrusivePtr() {
    return c10::intrusive_ptr<c10::TensorImpl>::reclaim(detach_ref());
  }
  const Tensor& unsafeGetTensor() const { return *this; }
  // f(tensor, arguments...), in the order of calls: t.m(relu).m(pow, 2)
  template <class F, class... Args>
  auto m(F f, Args&&... args) const -> decltype(f(*this, std::forward<Args>(args)...)) {
    return f(*this, std::forward<Args>(args)...);
  }

  // --- elements
  void* data_ptr() const {
    ::taeda::prepare_write(*this);
    return impl()->data();
  }
  void* mutable_data_ptr() const { return data_ptr(); }
  const void* const_data_ptr() const { return impl()->data(); }
  template <class T>
  T* data_ptr() const {
    check_type<std::remove_const_t<T>>();
    if constexpr (std::is_const_v<T>)
      return static_cast<T*>(const_data_ptr());
    else
      return static_cast<T*>(data_ptr());
  }
  template <class T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  const T* const_data_ptr() const {
    return data_ptr<const T>();
  }
  template <class T>
  T* data() const {
    return data_ptr<T>();
  }
  c10::Scalar item() const;
  template <class T>
  T item() const {
    return item().to<T>();
  }
  template <class T, size_t N>
  TensorAccessor<T, N> accessor() const& {
    check_dim(N);
    return {data_ptr<T>(), sizes().data(), strides().data()};
  }
  template <class T, size_t N>
  TensorAccessor<T, N> accessor() && = delete;
  template <class T, size_t N, template <class U> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, PtrTraits> packed_accessor32() const& {
    TORCH_CHECK(numel() <= INT32_MAX, "packed_accessor32 takes tensors of up to 2**31 - 1 elements; this has ",
                numel());
    return generic_packed_accessor<T, N, PtrTraits, int32_t>();
  }
  template <class T, size_t N, template <class U> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, PtrTraits> packed_accessor64() const& {
    return generic_packed_accessor<T, N, PtrTraits, int64_t>();
  }
  template <class T, size_t N, template <class U> class PtrTraits = DefaultPtrTraits, class index_t = int64_t>
  GenericPackedTensorAccessor<T, N, PtrTraits, index_t> generic_packed_accessor() const& {
    check_dim(N);
    return {data_ptr<T>(), sizes().data(), strides().data()};
  }
  template <class T, size_t N, template <class U> class PtrTraits = DefaultPtrTraits, class index_t = int64_t>
  GenericPackedTensorAccessor<T, N, PtrTraits, index_t> packed_accessor() const& {
    return generic_packed_accessor<T, N, PtrTraits, index_t>();
  }

  // --- indexing: ATen/TensorIndexing.h
  Tensor operator[](const c10::Scalar& i) const {
    TORCH_CHECK_INDEX(i.isIntegral(false), "an index is an integer; got ", i);
    return select(0, i.toLong());
  }
  Tensor operator[](const Tensor& i) const;
  Tensor operator[](int64_t i) const { return select(0, i); }
  Tensor index(ArrayRef<indexing::TensorIndex> indices) const;
  Tensor index(std::initializer_list<indexing::TensorIndex> indices) const;
  Tensor index(const c10::List<std::optional<Tensor>>& indices) const;
  Tensor& index_put_(ArrayRef<indexing::TensorIndex> indices, const Tensor& values);
  Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices, const Tensor& values);
  Tensor& index_put_(ArrayRef<indexing::TensorIndex> indices, const c10::Scalar& value);
  Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices, const c10::Scalar& value);
  Tensor& index_put_(const c10::List<std::optional<Tensor>>& indices, const Tensor& values, bool accumulate = false);

  // Becomes a window on the storage: all of it in one dimension, or as the sizes and strides say.
  Tensor& set_(const c10::Storage& source) const;
  Tensor& set_(const c10::Storage& source, int64_t storage_offset, IntArrayRef size, IntArrayRef stride = {}) const;

  // --- sparse layouts: what is stored, and conversions
  int64_t _nnz() const;
  int64_t sparse_dim() const;
  int64_t dense_dim() const;
  int64_t _dimI() const { return sparse_dim(); }
  int64_t _dimV() const { return dense_dim(); }
  bool is_coalesced() const;
  Tensor coalesce() const;
  Tensor& _coalesced_(bool coalesced) const;
  Tensor indices() const;
  Tensor values() const;
  Tensor _indices() const;
  Tensor _values() const;
  Tensor crow_indices() const;
  Tensor col_indices() const;
  Tensor ccol_indices() const;
  Tensor row_indices() const;
  Tensor to_dense(std::optional<ScalarType> dtype = std::nullopt, std::optional<bool> masked_grad = std::nullopt) const;
  Tensor to_sparse(int64_t sparse_dim) const;
  Tensor to_sparse(std::optional<Layout> layout = std::nullopt, OptionalIntArrayRef blocksize = std::nullopt,
                   std::optional<int64_t> dense_dim = std::nullopt) const;
  Tensor to_sparse_csr(std::optional<int64_t> dense_dim = std::nullopt) const;
  Tensor to_sparse_csc(std::optional<int64_t> dense_dim = std::nullopt) const;
  Tensor to_sparse_bsr(IntArrayRef blocksize, std::optional<int64_t> dense_dim = std::nullopt) const;
  Tensor to_sparse_bsc(IntArrayRef blocksize, std::optional<int64_t> dense_dim = std::nullopt) const;
  Tensor sparse_mask(const Tensor& mask) const;

  // --- conversions
  Tensor cpu() const { return to(c10::Device(c10::kCPU)); }
  Tensor cuda() const { return to(c10::Device(c10::kCUDA)); }
  Tensor toType(ScalarType type) const { return to(type); }
  Tensor toBackend(c10::DeviceType type) const { return to(c10::Device(type)); }
  Tensor meta() const { return to(c10::Device(c10::kMeta)); }

  // --- autograd: torch/csrc/autograd/variable.h
  bool requires_grad() const;
  const Tensor& set_requires_grad(bool value) const;
  Tensor& requires_grad_(bool value = true) const { return set_requires_grad(value), const_cast<Tensor&>(*this); }
  bool is_leaf() const;
  int64_t output_nr() const;
  int64_t _version() const { return impl()->version_counter().current_version(); }
  Tensor& mutable_grad() const;
  const Tensor& grad() const;
  const Tensor& _fw_grad(uint64_t level) const = delete;
  std::shared_ptr<torch::autograd::Node> grad_fn() const;
  void backward(const Tensor& gradient = {}, std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
                std::optional<TensorList> inputs = std::nullopt) const;
  void retain_grad() const;
  bool retains_grad() const;
  Tensor data() const { return variable_data(); }
  Tensor variable_data() const;
  Tensor tensor_data() const { return variable_data(); }
  void set_data(const Tensor& data) const;
  Tensor& detach_() const;
  bool is_view() const { return impl()->is_view(); }
  Tensor _base() const;
  const std::string& name() const;
  unsigned add_hook(hook_t hook) const;
  template <class F>
  unsigned register_hook(F&& hook) const {
    if constexpr (std::is_void_v<std::invoke_result_t<F&, Tensor>>)
      return add_hook([hook = std::forward<F>(hook)](const Tensor& grad) mutable { return hook(grad), Tensor(); });
    else
      return add_hook(std::forward<F>(hook));
  }
  void remove_hook(unsigned position) const;

  // --- operators
  Tensor operator~() const { return bitwise_not(); }
  Tensor operator-() const { return neg(); }
#define TAEDA_ASSIGNING(sign, method)                                         \
  Tensor& operator sign(const Tensor& other) { return method(other), *this; } \
  Tensor& operator sign(const c10::Scalar& other) { return method(other), *this; }
  TAEDA_ASSIGNING(+=, add_)
  TAEDA_ASSIGNING(-=, sub_)
  TAEDA_ASSIGNING(*=, mul_)
  TAEDA_ASSIGNING(/=, div_)
  TAEDA_ASSIGNING(&=, bitwise_and_)
  TAEDA_ASSIGNING(|=, bitwise_or_)
  TAEDA_ASSIGNING(^=, bitwise_xor_)
#undef TAEDA_ASSIGNING
  // By Python's names.
#define TAEDA_NAMED(name, method)                                  \
  Tensor name(const Tensor& other) const { return method(other); } \
  Tensor name(const c10::Scalar& other) const { return method(other); }
  TAEDA_NAMED(__and__, bitwise_and)
  TAEDA_NAMED(__or__, bitwise_or)
  TAEDA_NAMED(__xor__, bitwise_xor)
  TAEDA_NAMED(__lshift__, bitwise_left_shift)
  TAEDA_NAMED(__rshift__, bitwise_right_shift)
#undef TAEDA_NAMED
#define TAEDA_NAMED(name, method)                                                               \
  Tensor& name(const Tensor& other) const { return method(other), const_cast<Tensor&>(*this); } \
  Tensor& name(const c10::Scalar& other) const { return method(other), const_cast<Tensor&>(*this); }
  TAEDA_NAMED(__iand__, bitwise_and_)
  TAEDA_NAMED(__ior__, bitwise_or_)
  TAEDA_NAMED(__ixor__, bitwise_xor_)
  TAEDA_NAMED(__ilshift__, bitwise_left_shift_)
  TAEDA_NAMED(__irshift__, bitwise_right_shift_)
#undef TAEDA_NAMED
  void print() const;

#include <ATen/core/methods.inc>
  Tensor var(int dim) const;
  Tensor std(int dim) const;
  Tensor to(c10::Device device, caffe2::TypeMeta dtype, bool non_blocking = false, bool copy = false,
            std::optional<c10::MemoryFormat> memory_format = std::nullopt) const {
    return to(device, dtype.toScalarType(), non_blocking, copy, memory_format);
  }

 private:
  static c10::IntArrayRef as_list(::taeda::IntList list) { return {list.data(), list.size()}; }
  template <class T>
  void check_type() const {
    TORCH_CHECK(scalar_type() == c10::CppTypeToScalarType<T>::value, "expected scalar type ",
                c10::CppTypeToScalarType<T>::value, " but found ", scalar_type());
  }
  void check_dim(size_t wanted) const {
    TORCH_CHECK(dim() == static_cast<int64_t>(wanted), "an accessor of ", wanted,
                " dimensions was asked of a tensor of ", dim());
  }
};
static_assert(sizeof(Tensor) == sizeof(::taeda::Tensor));
using TensorBase = Tensor;
using TensorImpl = c10::TensorImpl;
inline int64_t maybe_wrap_dim(int64_t dim, const Tensor& t) { return maybe_wrap_dim(dim, t.dim()); }
template <class T>
using OptionalRef = std::optional<T>;

// A tensor that may be absent as one that is then undefined.
inline c10::MaybeOwned<Tensor> borrow_from_optional_tensor(const std::optional<Tensor>& tensor) {
  using Maybe = c10::MaybeOwned<Tensor>;
  return tensor ? Maybe::borrowed(*tensor) : Maybe::owned(std::in_place);
}

namespace detail {
inline const ::taeda::Tensor& tensor_or_none(const std::optional<Tensor>& tensor) {
  static const ::taeda::Tensor none;
  return tensor ? *tensor : none;
}
inline std::vector<Tensor> tensors(std::vector<::taeda::Tensor> made) {
  return {std::make_move_iterator(made.begin()), std::make_move_iterator(made.end())};
}
template <class Results, class Made>
Results results(Made made) {
  auto turned = [](auto& part) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(part)>, std::vector<::taeda::Tensor>>)
      return tensors(std::move(part));
    else
      return std::move(part);
  };
  return std::apply([&](auto&... parts) { return Results(turned(parts)...); }, made);
}
}  // namespace detail

namespace indexing {

enum class TensorIndexType { None, Ellipsis, SymInt, Boolean, Slice, Tensor };

struct TensorIndex final {
  TensorIndex(std::nullopt_t) : type_(TensorIndexType::None) {}
  TensorIndex(EllipsisIndexType) : type_(TensorIndexType::Ellipsis) {}
  TensorIndex(const char* text) : type_(TensorIndexType::Ellipsis) {
    TORCH_CHECK_VALUE(std::string_view(text) == "...", "the only text that is an index is \"...\"; got \"", text, "\"");
  }
  template <class T>
    requires std::is_integral_v<T> && (!std::is_same_v<T, bool>)
  TensorIndex(T number) : number_(static_cast<int64_t>(number)), type_(TensorIndexType::SymInt) {}
  TensorIndex(c10::SymInt number) : number_(number), type_(TensorIndexType::SymInt) {}
  template <class T>
    requires std::is_same_v<T, bool>
  TensorIndex(T truth) : number_(truth), type_(TensorIndexType::Boolean) {}
  TensorIndex(Slice slice) : slice_(slice), type_(TensorIndexType::Slice) {}
  TensorIndex(Tensor tensor) : tensor_(std::move(tensor)), type_(TensorIndexType::Tensor) {}

  bool is_none() const { return type_ == TensorIndexType::None; }
  bool is_ellipsis() const { return type_ == TensorIndexType::Ellipsis; }
  bool is_integer() const { return type_ == TensorIndexType::SymInt; }
  bool is_boolean() const { return type_ == TensorIndexType::Boolean; }
  bool is_slice() const { return type_ == TensorIndexType::Slice; }
  bool is_tensor() const { return type_ == TensorIndexType::Tensor; }
  c10::SymInt integer() const { return number_; }
  bool boolean() const { return number_ != 0; }
  const Slice& slice() const { return slice_; }
  const Tensor& tensor() const { return tensor_; }

 private:
  int64_t number_ = 0;
  Slice slice_;
  Tensor tensor_;
  TensorIndexType type_;
};

}  // namespace indexing

// For OptionalDeviceGuard: none of what is undefined, and of an empty list.
inline std::optional<Device> device_of(const Tensor& t) {
  return t.defined() ? std::optional<Device>(t.device()) : std::nullopt;
}
inline std::optional<Device> device_of(const std::optional<Tensor>& t) { return t ? device_of(*t) : std::nullopt; }
inline std::optional<Device> device_of(ArrayRef<Tensor> list) {
  return list.empty() ? std::nullopt : device_of(list.front());
}

TORCH_API std::ostream& print(std::ostream& out, const Tensor& tensor, int64_t linesize);
inline std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return print(out, tensor, 80); }
TORCH_API void print(const Tensor& tensor, int64_t linesize = 80);

}  // namespace at
namespace c10 {
using at::maybe_wrap_dim;
}
