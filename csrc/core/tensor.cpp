#include "taeda/core/tensor.h"

#include <algorithm>
#include <array>

#include "core/alias.h"
#include "core/object_cache.h"

namespace taeda {

PythonHooks python_hooks;

namespace {

constinit thread_local ObjectList t_tensors TAEDA_TLS;

constexpr KeySet kPythonKeys = KeySet(Functionality::Python) | KeySet(Functionality::PythonSnapshot);

// Kernels keep arrays of kMaxDim dimensions that are not of size 1, which an empty tensor could exceed.
[[gnu::cold]] void check_rank(IntList sizes) {
  auto walked = std::ranges::count_if(sizes, [](int64_t size) { return size != 1; });
  TAEDA_CHECK(walked <= kMaxDim, "a tensor has at most ", kMaxDim, " dimensions of other sizes than 1; got ", walked);
}

// Why a contiguous tensor cannot have these sizes; apart, so that the common path stays small.
[[noreturn, gnu::cold, gnu::noinline]] void bad_sizes(IntList sizes) {
  numel_of(sizes);
  TAEDA_FAIL(Runtime, "sizes ", sizes, " make strides that 64 bits cannot count");
}

int64_t element_bytes(int64_t count, DType dtype, IntList sizes) {
  int64_t bytes;
  TAEDA_CHECK(!__builtin_mul_overflow(count, itemsize(dtype), &bytes), "a tensor of sizes ", sizes, " and dtype ",
              dtype, " has more bytes than 64 bits can count");
  return bytes;
}

// New sizes and strides may be spans of the tensor's own, so they are gathered before they are written. (In pairs:
// GCC turns the copy of a plain array into `rep movs`, which is slow to start.)
struct Pair {
  int64_t size, stride;
};
void commit(Geometry& geometry, Pair* fresh, int dim) {
  geometry.resize(dim);
  int64_t *sizes = geometry.sizes_data(), *strides = geometry.strides_data();
  for (int d = 0; d < dim; ++d) {
    sizes[d] = fresh[d].size;
    strides[d] = fresh[d].stride;
  }
}

// The dimensions of a channels-last format, innermost first.
constexpr std::array<int8_t, 4> kOrder2d{1, 3, 2, 0};
constexpr std::array<int8_t, 5> kOrder3d{1, 4, 3, 2, 0};
std::span<const int8_t> channels_last_order(MemoryFormat format) {
  if (format == MemoryFormat::ChannelsLast3d) return kOrder3d;
  return kOrder2d;
}

Ref<TensorImpl> alias_impl(const Tensor& base) {
  return make_ref<TensorImpl>(base->storage(), base.dtype(), base.device(), base.keys() - kPythonKeys);
}

void check_inside(const StorageImpl& storage, DType dtype, IntList sizes, IntList strides, int64_t offset) {
  int64_t bytes = element_bytes(extent(sizes, strides, offset), dtype, sizes);
  TAEDA_CHECK(static_cast<uint64_t>(bytes) <= storage.nbytes(), "sizes ", sizes, ", strides ", strides,
              " and storage offset ", offset, " with dtype ", dtype, " reach ", bytes, " bytes into a storage of ",
              static_cast<uint64_t>(storage.nbytes()));
}

}  // namespace

void* TensorImpl::operator new(size_t size) { return cached_new(t_tensors, size, sizeof(TensorImpl)); }
void TensorImpl::operator delete(void* block, size_t size) {
  cached_delete(t_tensors, block, size, sizeof(TensorImpl));
}

TensorImpl::~TensorImpl() {
  if (VersionCounter* versions = versions_.load(std::memory_order_relaxed)) versions->release();
}

void TensorImpl::on_last_release() noexcept {
  if (owns_python_object) {
    count_.store(1, std::memory_order_relaxed);  // the hook may take references and drop them
    python_hooks.tensor_died(this);
    if (!confirm_death()) return;  // a finaliser kept the tensor
  }
  RefCounted::on_last_release();
}

bool TensorImpl::is_contiguous(MemoryFormat format) const {
  if (format == MemoryFormat::Contiguous || format == MemoryFormat::Preserve) return contiguous_;
  std::span<const int8_t> order = channels_last_order(format);
  if (static_cast<size_t>(dim()) != order.size()) return false;
  IntList sizes = this->sizes(), strides = this->strides();
  int64_t expected = 1;
  for (int d : order) {
    if (sizes[d] == 1) continue;
    if (strides[d] != expected) return false;
    if (__builtin_mul_overflow(expected, sizes[d], &expected)) return false;
  }
  return true;
}

bool TensorImpl::is_non_overlapping_and_dense() const {
  if (contiguous_) return true;
  IntList sizes = this->sizes(), strides = this->strides();
  std::array<int, kMaxDim> order;
  int count = 0;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] != 1) order[count++] = static_cast<int>(d);
  std::sort(order.begin(), order.begin() + count, [&](int a, int b) { return strides[a] < strides[b]; });
  int64_t expected = 1;
  for (int i = 0; i < count; ++i) {
    if (strides[order[i]] != expected) return false;
    expected *= sizes[order[i]];
  }
  return true;
}

void TensorImpl::set_contiguous(IntList sizes) {
  if (sizes.size() > kMaxDim) [[unlikely]]
    return set_geometry(sizes, contiguous_strides(sizes), offset_);
  int dim = static_cast<int>(sizes.size());
  Pair fresh[kMaxDim];
  int64_t stride = 1;
  bool empty = false, bad = false;
  for (int d = dim; d-- > 0;) {
    fresh[d] = {sizes[d], stride};
    empty |= sizes[d] == 0;
    bad |= (sizes[d] < 0) | __builtin_mul_overflow(stride, std::max<int64_t>(sizes[d], 1), &stride);
  }
  if (bad) [[unlikely]]
    bad_sizes(sizes);
  commit(geometry_, fresh, dim);
  numel_ = empty ? 0 : stride;
  contiguous_ = true;
}

void TensorImpl::set_geometry(IntList sizes, IntList strides, int64_t offset) {
  TAEDA_CHECK(sizes.size() == strides.size(), "sizes and strides must have the same length; got ", sizes, " and ",
              strides);
  if (sizes.size() > kMaxDim) [[unlikely]]
    check_rank(sizes);
  int dim = static_cast<int>(sizes.size());
  Pair few[kMaxDim];
  std::vector<Pair> many(dim > kMaxDim ? dim : 0);
  Pair* fresh = many.empty() ? few : many.data();
  int64_t count = 1;
  bool in_order = true, bad = false;
  for (int d = dim; d-- > 0;) {
    fresh[d] = {sizes[d], strides[d]};
    in_order &= (sizes[d] == 1) | (strides[d] == count);
    bad |= (sizes[d] < 0) | __builtin_mul_overflow(count, sizes[d], &count);
  }
  if (bad) [[unlikely]]
    count = numel_of(sizes);  // raises unless one of the sizes is 0
  numel_ = count;
  contiguous_ = count == 0 || in_order;
  offset_ = offset;
  commit(geometry_, fresh, dim);
}

Ref<VersionCounter> TensorImpl::shared_versions() {
  VersionCounter* shared = versions_.load(std::memory_order_acquire);
  if (!shared) {
    Ref<VersionCounter> fresh = make_ref<VersionCounter>();
    fresh->value.store(version_, std::memory_order_relaxed);
    if (versions_.compare_exchange_strong(shared, fresh.get(), std::memory_order_acq_rel)) shared = fresh.detach();
  }
  return Ref<VersionCounter>(shared);
}

void TensorImpl::set_versions(Ref<VersionCounter> versions) {
  // A fresh tensor, as here usually, is seen by nobody else: a locked instruction is saved.
  if (!versions_.load(std::memory_order_relaxed)) return versions_.store(versions.detach(), std::memory_order_release);
  if (VersionCounter* old = versions_.exchange(versions.detach(), std::memory_order_acq_rel)) old->release();
}

Ref<TensorImpl> TensorImpl::shallow_copy() const {
  Ref<TensorImpl> copy = make_ref<TensorImpl>(storage_, dtype_, device_, keys_ - kPythonKeys);
  copy->geometry_ = geometry_;
  copy->numel_ = numel_;
  copy->offset_ = offset_;
  copy->contiguous_ = contiguous_;
  copy->wrapped_number_ = wrapped_number_;
  return copy;
}

void TensorImpl::take_data_of(const TensorImpl& other) {
  TAEDA_CHECK(other.layout() == layout(),
              "a tensor takes the data of one of its own layout only; convert it first, "
              "with to_dense() or to_sparse()");
  storage_ = other.storage_;
  geometry_ = other.geometry_;
  numel_ = other.numel_;
  offset_ = other.offset_;
  contiguous_ = other.contiguous_;
  dtype_ = other.dtype_;
  device_ = other.device_;
  keys_ = (other.keys_ - kPythonKeys) | (keys_ & kPythonKeys);  // whether Python dispatches is a matter of identity
}

void Tensor::refuse_wider(size_t bytes) const {
  TAEDA_FAIL(Runtime, "expected a tensor whose elements have ", bytes, " bytes; got one of ", dtype());
}

int64_t Tensor::size(int64_t dim) const {
  TAEDA_CHECK_INDEX(this->dim() > 0, "a 0-dimensional tensor has no sizes; got dimension ", dim);
  return sizes()[wrap_dim(dim, this->dim())];
}

int64_t Tensor::stride(int64_t dim) const {
  TAEDA_CHECK_INDEX(this->dim() > 0, "a 0-dimensional tensor has no strides; got dimension ", dim);
  return strides()[wrap_dim(dim, this->dim())];
}

int64_t wrap_dim(int64_t dim, int64_t rank) {
  int64_t range = std::max<int64_t>(rank, 1);
  TAEDA_CHECK_INDEX(dim >= -range && dim < range, "dimension ", dim, " is out of range for a tensor of ", rank,
                    " dimensions; expected ", -range, " to ", range - 1);
  return dim < 0 ? dim + range : dim;
}

int64_t numel_of(IntList sizes) {
  int64_t count = 1;
  bool overflow = false, empty = false;
  for (int64_t size : sizes) {
    TAEDA_CHECK(size >= 0, "sizes cannot be negative; got ", sizes);
    empty |= size == 0;
    overflow |= __builtin_mul_overflow(count, size, &count);
  }
  if (empty) return 0;
  TAEDA_CHECK(!overflow, "sizes ", sizes, " make more elements than 64 bits can count");
  return count;
}

std::vector<int64_t> contiguous_strides(IntList sizes, MemoryFormat format) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  if (format == MemoryFormat::Contiguous || format == MemoryFormat::Preserve) {
    for (size_t d = sizes.size(); d-- > 0;) {
      strides[d] = stride;
      TAEDA_CHECK(!__builtin_mul_overflow(stride, std::max<int64_t>(sizes[d], 1), &stride), "sizes ", sizes,
                  " make strides that 64 bits cannot count");
    }
    return strides;
  }
  std::span<const int8_t> order = channels_last_order(format);
  TAEDA_CHECK(sizes.size() == order.size(), format == MemoryFormat::ChannelsLast ? "channels_last" : "channels_last_3d",
              " is for tensors of ", order.size(), " dimensions; got sizes ", sizes);
  for (int d : order) {
    strides[d] = stride;
    TAEDA_CHECK(!__builtin_mul_overflow(stride, sizes[d], &stride), "sizes ", sizes,
                " make strides that 64 bits cannot count");
  }
  return strides;
}

int64_t extent(IntList sizes, IntList strides, int64_t offset) {
  TAEDA_CHECK(sizes.size() == strides.size(), "sizes and strides must have the same length; got ", sizes, " and ",
              strides);
  TAEDA_CHECK(offset >= 0, "a storage offset cannot be negative; got ", offset);
  int64_t end = 1;
  bool overflow = __builtin_add_overflow(end, offset, &end), empty = false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    TAEDA_CHECK(sizes[d] >= 0, "sizes cannot be negative; got ", sizes);
    TAEDA_CHECK(strides[d] >= 0, "strides cannot be negative; got ", strides, "; flip() copies in reverse order");
    int64_t span = 0;
    empty |= sizes[d] == 0;
    overflow |= __builtin_mul_overflow(sizes[d] - 1, strides[d], &span);
    overflow |= __builtin_add_overflow(end, span, &end);
  }
  if (empty) return 0;
  TAEDA_CHECK(!overflow, "sizes ", sizes, ", strides ", strides, " and storage offset ", offset,
              " reach further than 64 bits can count");
  return end;
}

Tensor new_tensor(IntList sizes, DType dtype, Device device) {
  Ref<TensorImpl> impl = make_ref<TensorImpl>(Storage(), dtype, device, new_tensor_keys(device.type));
  impl->set_contiguous(sizes);
  impl->set_storage(new_storage(static_cast<size_t>(element_bytes(impl->numel(), dtype, sizes)), device));
  if (!device.is_cpu()) impl->set_device(impl->storage()->device());  // its allocator knows which one is current
  return Tensor(std::move(impl));
}

Tensor new_tensor_strided(IntList sizes, IntList strides, DType dtype, Device device) {
  int64_t bytes = element_bytes(extent(sizes, strides, 0), dtype, sizes);
  Ref<TensorImpl> impl = make_ref<TensorImpl>(new_storage(static_cast<size_t>(bytes), device), dtype, device,
                                              new_tensor_keys(device.type));
  impl->set_geometry(sizes, strides, 0);
  if (!device.is_cpu()) impl->set_device(impl->storage()->device());
  return Tensor(std::move(impl));
}

Tensor new_alias(const Tensor& base, IntList sizes, IntList strides, int64_t offset) {
  const Storage& storage = base->storage();
  TAEDA_CHECK(storage, "a tensor without a storage has no strided views");
  bool is_quantized = base.keys().has(Functionality::Quantized);  // its scale goes along
  bool is_whole = is_quantized && offset == base.storage_offset() && std::ranges::equal(sizes, base.sizes()) &&
                  std::ranges::equal(strides, base.strides());
  if (!is_whole) check_inside(*storage, base.dtype(), sizes, strides, offset);
  Ref<TensorImpl> impl = is_quantized ? base->shallow_copy() : alias_impl(base);
  impl->set_geometry(sizes, strides, offset);
  return Tensor(std::move(impl));
}

Tensor new_alias_within(const Tensor& base, IntList sizes, IntList strides, int64_t offset) {
  // Of some quantised elements there are several in a byte, which a geometry does not know.
  if (!base->storage() || base.keys().has(Functionality::Quantized)) [[unlikely]]
    return new_alias(base, sizes, strides, offset);
  Ref<TensorImpl> impl = alias_impl(base);
  impl->set_geometry(sizes, strides, offset);
  return Tensor(std::move(impl));
}

Tensor from_storage(Storage storage, DType dtype, IntList sizes, IntList strides, int64_t offset) {
  check_inside(*storage, dtype, sizes, strides, offset);
  Device device = storage->device();
  Ref<TensorImpl> impl = make_ref<TensorImpl>(std::move(storage), dtype, device, new_tensor_keys(device.type));
  impl->set_geometry(sizes, strides, offset);
  return Tensor(std::move(impl));
}

void resize_in_place(const Tensor& tensor, IntList sizes) {
  if (std::ranges::equal(sizes, tensor.sizes())) return;
  TAEDA_CHECK(tensor->storage(), "a tensor without memory of its own cannot be resized to ", sizes);
  int64_t count = numel_of(sizes);
  TAEDA_CHECK(!__builtin_add_overflow(count, count ? tensor.storage_offset() : 0, &count), "sizes ", sizes,
              " make more elements than 64 bits can count");
  size_t bytes = static_cast<size_t>(element_bytes(count, tensor.dtype(), sizes));
  if (bytes > tensor->storage()->nbytes()) tensor->storage()->resize(bytes);
  tensor->set_contiguous(sizes);
}

}  // namespace taeda
