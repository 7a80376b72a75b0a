// The tensor: geometry over a storage, plus what autograd and Python hang on it.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "taeda/core/dtype.h"
#include "taeda/core/key_set.h"
#include "taeda/core/refcount.h"
#include "taeda/core/scalar.h"
#include "taeda/core/storage.h"
#include "taeda/core/thread_state.h"

namespace taeda {

using IntList = std::span<const int64_t>;
// Dimensions of more than one element: a tensor may have any number of the others, but 64 bits count its elements.
constexpr int kMaxDim = 64;

enum class MemoryFormat : uint8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };
enum class Layout : uint8_t { Strided, Sparse, SparseCsr, SparseCsc, SparseBsr, SparseBsc, Jagged };

// Sizes and strides, inline up to five dimensions.
class Geometry {
 public:
  Geometry() = default;
  Geometry(const Geometry& other) { *this = other; }
  Geometry& operator=(const Geometry& other) {
    if (this == &other) return *this;
    resize(other.dim_);
    for (int i = 0; i < 2 * dim_; ++i) values()[i] = other.values()[i];
    return *this;
  }
  int dim() const { return dim_; }
  IntList sizes() const { return {values(), static_cast<size_t>(dim_)}; }
  IntList strides() const { return {values() + dim_, static_cast<size_t>(dim_)}; }
  int64_t* sizes_data() { return values(); }
  int64_t* strides_data() { return values() + dim_; }
  void resize(int dim) {
    if (dim > kInline) heap_.reset(new int64_t[2 * dim]);
    dim_ = dim;
  }

 private:
  static constexpr int kInline = 5;
  int64_t* values() { return dim_ > kInline ? heap_.get() : inline_; }
  const int64_t* values() const { return dim_ > kInline ? heap_.get() : inline_; }
  int dim_ = 0;
  int64_t inline_[2 * kInline];
  std::unique_ptr<int64_t[]> heap_;
};

// What autograd keeps with a tensor; made on demand (taeda/autograd/meta.h defines the one subclass).
struct AutogradMetaBase {
  virtual ~AutogradMetaBase() = default;
};

// Counts in-place writes; shared by a tensor, its views and its detached twins.
struct VersionCounter : RefCounted {
  std::atomic<uint32_t> value{0};
  std::atomic<const char*> writer{nullptr};  // names the op that wrote last; a string that lives forever
};

class Tensor;

class TAEDA_API TensorImpl : public RefCounted {
 public:
  TensorImpl(Storage storage, DType dtype, Device device, KeySet keys)
      : storage_(std::move(storage)), keys_(keys), dtype_(dtype), device_(device) {}
  ~TensorImpl() override;

  // --- geometry; a subclass that sets virtual_geometry answers the virtual functions instead
  IntList sizes() const { return virtual_geometry_ ? virtual_sizes() : geometry_.sizes(); }
  IntList strides() const { return virtual_geometry_ ? virtual_strides() : geometry_.strides(); }
  int dim() const { return virtual_geometry_ ? static_cast<int>(virtual_sizes().size()) : geometry_.dim(); }
  int64_t numel() const { return numel_; }
  int64_t storage_offset() const { return offset_; }
  bool is_contiguous() const { return contiguous_; }
  bool is_contiguous(MemoryFormat format) const;
  bool is_non_overlapping_and_dense() const;
  void set_contiguous(IntList sizes);
  void set_geometry(IntList sizes, IntList strides, int64_t offset);

  // --- facts
  DType dtype() const { return dtype_; }
  Device device() const { return device_; }
  KeySet keys() const { return keys_; }
  void set_keys(KeySet keys) { keys_ = keys; }
  void set_dtype(DType dtype) { dtype_ = dtype; }
  void set_device(Device device) { device_ = device; }
  virtual Layout layout() const { return Layout::Strided; }
  bool is_conj() const { return keys_.has(Functionality::Conjugate); }
  bool is_neg() const { return keys_.has(Functionality::Negative); }
  bool is_lazy() const { return !(keys_ & kLazyKeys).empty(); }  // conjugated or negated
  bool is_inference() const { return !keys_.has(Functionality::ADInplaceOrView); }
  bool is_wrapped_number() const { return wrapped_number_; }  // a number inside a composite; promotes by category
  void set_wrapped_number(bool value) { wrapped_number_ = value; }

  // --- data
  const Storage& storage() const { return storage_; }
  void set_storage(Storage storage) { storage_ = std::move(storage); }
  void* data() const { return storage_ ? static_cast<char*>(storage_->data()) + offset_ * info(dtype_).size : nullptr; }

  // --- versions: inline until someone shares them
  uint32_t version() const {
    const VersionCounter* shared = versions_.load(std::memory_order_acquire);
    return shared ? shared->value.load(std::memory_order_relaxed) : version_;
  }
  void bump_version() {
    if (VersionCounter* shared = versions_.load(std::memory_order_acquire))
      shared->value.fetch_add(1, std::memory_order_relaxed);
    else
      ++version_;
  }
  // The counter as programs ask for it: tensors of inference mode have none.
  struct Versions {
    const TensorImpl& of;
    bool enabled() const { return !of.is_inference(); }
    uint32_t current_version() const {
      TAEDA_CHECK(enabled(), "a tensor made in inference mode counts no writes");
      return of.version();
    }
  };
  Versions version_counter() const { return {*this}; }
  Ref<VersionCounter> shared_versions();  // two threads may make views of one tensor at the same time
  void share_versions_of(TensorImpl& other) { set_versions(other.shared_versions()); }
  void set_versions(Ref<VersionCounter> versions);

  // --- autograd; the flags repeat what the meta says so that a call need not load it
  AutogradMetaBase* autograd_meta() const { return autograd_meta_.get(); }
  void set_autograd_meta(std::unique_ptr<AutogradMetaBase> meta) { autograd_meta_ = std::move(meta); }
  bool has_grad_flag() const {
    return requires_grad_;
  }  // requires_grad or has a grad_fn; stale for views, see autograd
  void set_grad_flag(bool value) { requires_grad_ = value; }
  bool is_view() const { return is_view_; }  // a differentiable view (taeda/autograd/view.h)
  void set_is_view(bool value) { is_view_ = value; }
  bool needs_autograd() const { return requires_grad_ | is_view_; }

  // A new handle's worth of the same storage and geometry, without autograd or Python state.
  virtual Ref<TensorImpl> shallow_copy() const;
  // Takes the other's storage, geometry and dtype, keeping identity (x.data = y, set_, resize).
  virtual void take_data_of(const TensorImpl& other);

  // --- Python: see csrc/python/tensor_object.cpp for who owns whom
  void* python_object = nullptr;
  bool owns_python_object = false;

  static void* operator new(size_t);
  static void operator delete(void*, size_t);

 protected:
  virtual IntList virtual_sizes() const { return geometry_.sizes(); }
  virtual IntList virtual_strides() const { return geometry_.strides(); }
  void on_last_release() noexcept override;

  Storage storage_;
  Geometry geometry_;
  int64_t numel_ = 0;
  int64_t offset_ = 0;
  KeySet keys_;
  DType dtype_;
  Device device_;
  bool contiguous_ = true;
  bool virtual_geometry_ = false;
  bool requires_grad_ = false;
  bool is_view_ = false;
  bool wrapped_number_ = false;
  uint32_t version_ = 0;
  std::atomic<VersionCounter*> versions_{nullptr};  // counted
  std::unique_ptr<AutogradMetaBase> autograd_meta_;
};

// The handle everybody passes around. An undefined tensor (no impl) is an absent optional argument or gradient.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(Ref<TensorImpl> impl) : impl_(std::move(impl)) {}

  bool defined() const { return static_cast<bool>(impl_); }
  explicit operator bool() const { return defined(); }
  TensorImpl* impl() const { return impl_.get(); }
  TensorImpl* operator->() const { return impl_.get(); }
  const Ref<TensorImpl>& ref() const { return impl_; }
  TensorImpl* detach_ref() { return impl_.detach(); }
  bool is(const Tensor& other) const { return impl_ == other.impl_; }
  void reset() { impl_.reset(); }

  IntList sizes() const { return impl_->sizes(); }
  IntList strides() const { return impl_->strides(); }
  int64_t dim() const { return impl_->dim(); }
  int64_t numel() const { return impl_->numel(); }
  int64_t size(int64_t dim) const;  // negative dims count from the end; IndexError out of range
  int64_t stride(int64_t dim) const;
  int64_t storage_offset() const { return impl_->storage_offset(); }
  DType dtype() const { return impl_->dtype(); }
  Device device() const { return impl_->device(); }
  KeySet keys() const { return impl_->keys(); }
  int64_t itemsize() const { return info(impl_->dtype()).size; }
  bool is_contiguous() const { return impl_->is_contiguous(); }
  bool is_contiguous(MemoryFormat format) const { return impl_->is_contiguous(format); }
  bool is_cpu() const { return impl_->device().is_cpu(); }
  template <class T = void>
  T* data() const {
    if constexpr (!std::is_void_v<T>)
      if (sizeof(T) > info(impl_->dtype()).size) [[unlikely]]
        refuse_wider(sizeof(T));
    return static_cast<T*>(impl_->data());
  }

 private:
  // Whatever a caller forgot to check, elements are never read as wider than they are, which would go past their end.
  [[noreturn]] TAEDA_API void refuse_wider(size_t bytes) const;

  Ref<TensorImpl> impl_;
};
using TensorList = std::span<const Tensor>;

// Stands before every write to a tensor's elements: ops do it for what they declare as written, so that kernels need
// not. Lazy clones get bytes of their own.
inline void prepare_write(const Tensor& t) {
  if (!t.defined()) return;
  if (StorageImpl* storage = t->storage().get(); storage && storage->is_copy_on_write()) [[unlikely]]
    storage->materialize();
}
inline void prepare_write(TensorList list) {
  for (const Tensor& t : list) prepare_write(t);
}

// dim in [-rank, rank) to [0, rank); a 0-d tensor takes -1 and 0. IndexError otherwise.
TAEDA_API int64_t wrap_dim(int64_t dim, int64_t rank);
TAEDA_API int64_t numel_of(IntList sizes);  // RuntimeError on a negative size or overflow
TAEDA_API std::vector<int64_t> contiguous_strides(IntList sizes, MemoryFormat format = MemoryFormat::Contiguous);
// How many elements the storage must hold: one past the last that the geometry reaches; 0 when it reaches none.
// RuntimeError on a negative stride or offset, or overflow.
TAEDA_API int64_t extent(IntList sizes, IntList strides, int64_t offset);

// Tensors made below dispatch: memory is not initialised, no autograd.
TAEDA_API Tensor new_tensor(IntList sizes, DType dtype, Device device = {DeviceType::CPU});
TAEDA_API Tensor new_tensor_strided(IntList sizes, IntList strides, DType dtype, Device device = {DeviceType::CPU});
// Shares the base's storage and keys (a view of a conjugated or inference tensor is one); the version counter is
// shared by whoever makes it a differentiable view. RuntimeError if it would reach outside the storage.
TAEDA_API Tensor new_alias(const Tensor& base, IntList sizes, IntList strides, int64_t offset);
TAEDA_API Tensor from_storage(Storage storage, DType dtype, IntList sizes, IntList strides, int64_t offset);
// out= and in-place results that must have another shape: reallocates when the storage is too small.
TAEDA_API void resize_in_place(const Tensor& tensor, IntList sizes);
// Fills in the part of `keys` that inference mode takes away.
inline KeySet new_tensor_keys(DeviceType backend) {
  KeySet keys = dense_keys(backend);
  return t_state.inference_mode ? keys - kAutogradKeys : keys;
}

// The few things the core asks of Python; filled by the binding, null in a pure C++ program.
struct PythonHooks {
  void (*decref)(void* object) = nullptr;
  void (*tensor_died)(TensorImpl* impl) = nullptr;  // the impl owned its Python object
  void (*storage_died)(StorageImpl* impl) = nullptr;
};
TAEDA_API extern PythonHooks python_hooks;

}  // namespace taeda
