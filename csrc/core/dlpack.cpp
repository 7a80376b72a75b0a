#include "taeda/core/dlpack.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <type_traits>

namespace taeda {

namespace {
constexpr uint8_t kFloat8[] = {10, 11, 12, 13, 14};
static_assert(std::size(kFloat8) == kReadDTypes - kComputedDTypes - 1);  // complex32 comes after them

template <class Managed>
constexpr bool kVersioned = std::is_same_v<Managed, DLManagedTensorVersioned>;

template <class Managed>
struct Export {
  Managed managed{};
  Tensor tensor;
};
}  // namespace

DLDataType to_dlpack(DType dtype) {
  auto bits = static_cast<uint8_t>(8 * info(dtype).size);
  if (dtype == DType::BFloat16) return {kDLBfloat, bits, 1};
  TAEDA_CHECK(static_cast<int>(dtype) < kReadDTypes, "DLPack has no number for ", dtype);
  if (is_stored_only(dtype) && dtype != DType::Complex32)
    return {kFloat8[static_cast<int>(dtype) - kComputedDTypes], bits, 1};
  switch (category(dtype)) {
    case Category::Bool:
      return {kDLBool, bits, 1};
    case Category::Integral:
      return {static_cast<uint8_t>(info(dtype).is_signed ? kDLInt : kDLUInt), bits, 1};
    case Category::Floating:
      return {kDLFloat, bits, 1};
    default:
      return {kDLComplex, bits, 1};
  }
}

DType from_dlpack(DLDataType wanted) {
  for (int i = 0; i < kReadDTypes; ++i) {
    DLDataType known = to_dlpack(static_cast<DType>(i));
    if (known.code == wanted.code && known.bits == wanted.bits && wanted.lanes == 1) return static_cast<DType>(i);
  }
  TAEDA_FAIL(Runtime, "no tensor has elements of DLPack's type code ", int{wanted.code}, " with ", int{wanted.bits},
             " bits and ", int{wanted.lanes}, " lanes");
}

DLDevice to_dlpack(Device device) {
  if (device.is_cpu()) return {kDLCPU, 0};
  TAEDA_CHECK_VALUE(device.type == DeviceType::CUDA, "DLPack has no number for the device ", device);
  return {kDLCUDA, std::max<int>(device.index, 0)};
}

Device from_dlpack(DLDevice device) {
  const int type = device.device_type;
  if (type == kDLCPU || type == kDLCUDAHost) return {DeviceType::CPU, -1};
  if (type == kDLCUDA) return {DeviceType::CUDA, static_cast<int8_t>(device.device_id)};
  TAEDA_FAIL(Runtime, "no tensor can be on DLPack's device type ", type);
}

template <class Managed>
Managed* to_dlpack(const Tensor& t, uint64_t flags) {
  TAEDA_CHECK(t.defined() && t->layout() == Layout::Strided && t->storage() && !t->is_lazy(),
              "DLPack takes a strided tensor whose memory holds what it shows; got ",
              !t.defined()   ? "an undefined one"
              : t->is_lazy() ? "one that is lazily conjugated or negated"
                             : "another layout, or none");
  auto exported = std::make_unique<Export<Managed>>();
  exported->tensor = Tensor(t->shallow_copy());
  const Tensor& kept = exported->tensor;
  prepare_write(kept);
  if (kept->storage()) kept->storage()->set_resizable(false);
  Managed& managed = exported->managed;
  managed.manager_ctx = exported.get();
  managed.deleter = [](Managed* self) { delete static_cast<Export<Managed>*>(self->manager_ctx); };
  managed.dl_tensor = {kept.data(),
                       to_dlpack(kept.device()),
                       static_cast<int32_t>(kept.dim()),
                       to_dlpack(kept.dtype()),
                       const_cast<int64_t*>(kept.sizes().data()),
                       const_cast<int64_t*>(kept.strides().data()),
                       0};
  if constexpr (kVersioned<Managed>) {
    managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    managed.flags = flags;
  }
  return &exported.release()->managed;
}

template <class Managed>
Tensor from_dlpack(Managed* managed, void (*release)(void*)) {
  if constexpr (kVersioned<Managed>)
    TAEDA_CHECK_KIND(Runtime, managed->version.major == DLPACK_MAJOR_VERSION, "the capsule follows DLPack ",
                     managed->version.major, ", this reader version ", DLPACK_MAJOR_VERSION);
  const DLTensor& source = managed->dl_tensor;
  DType dtype = from_dlpack(source.dtype);
  Device device = from_dlpack(source.device);
  TAEDA_CHECK(source.ndim >= 0, "got ", source.ndim, " dimensions");
  TAEDA_CHECK(source.shape || source.ndim == 0, "the capsule has ", source.ndim, " dimensions, but no shape");
  IntList sizes(source.shape, static_cast<size_t>(source.ndim));
  std::vector<int64_t> strides = contiguous_strides(sizes);
  if (source.strides) strides.assign(source.strides, source.strides + source.ndim);
  int64_t nbytes = extent(sizes, strides, 0) * itemsize(dtype);
  TAEDA_CHECK(source.data || nbytes == 0, "the capsule has a tensor of shape ", sizes, ", but no memory");
  void* data = static_cast<char*>(source.data) + source.byte_offset;
  // The memory is taken over last: what is refused stays the caller's.
  Storage storage = make_ref<StorageImpl>(DataPtr(data, nullptr, nullptr, device), static_cast<size_t>(nbytes), false);
  Tensor t = from_storage(storage, dtype, sizes, strides, 0);
  storage->replace(DataPtr(data, managed, release, device), static_cast<size_t>(nbytes));
  return t;
}

template TAEDA_API DLManagedTensor* to_dlpack(const Tensor&, uint64_t);
template TAEDA_API DLManagedTensorVersioned* to_dlpack(const Tensor&, uint64_t);
template TAEDA_API Tensor from_dlpack(DLManagedTensor*, void (*)(void*));
template TAEDA_API Tensor from_dlpack(DLManagedTensorVersioned*, void (*)(void*));

}  // namespace taeda
