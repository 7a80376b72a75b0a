// Bytes that tensors share.
#pragma once
#include <c10/core/Allocator.h>
#include <c10/util/intrusive_ptr.h>
#include <taeda/core/storage.h>

namespace c10 {

using StorageImpl = ::taeda::StorageImpl;

class Storage : public intrusive_ptr<StorageImpl> {
 public:
  using use_byte_size_t = StorageImpl::use_byte_size_t;
  Storage() = default;
  Storage(::taeda::Storage storage) : intrusive_ptr(std::move(storage)) {}
  Storage(use_byte_size_t, size_t bytes, DataPtr data, Allocator* = nullptr, bool resizable = false)
      : intrusive_ptr(::taeda::make_ref<StorageImpl>(std::move(data), bytes, resizable)) {}
  Storage(use_byte_size_t, size_t bytes, Allocator* allocator = nullptr, bool resizable = false)
      : intrusive_ptr(allocator ? ::taeda::make_ref<StorageImpl>(allocator->allocate(bytes), bytes, resizable)
                                : ::taeda::new_storage(bytes, ::taeda::Device())) {}

  size_t nbytes() const { return get()->nbytes(); }
  size_t sym_nbytes() const { return nbytes(); }
  const void* data() const { return get()->data(); }
  void* mutable_data() const {
    get()->materialize();
    return get()->data();
  }
  const ::taeda::DataPtr& data_ptr() const { return get()->data_ptr(); }
  // The old memory is given back.
  DataPtr set_data_ptr(DataPtr&& data) const {
    DataPtr old = get()->take_data();
    get()->replace(std::move(data), nbytes());
    return old;
  }
  void set_data_ptr_noswap(DataPtr&& data) const { set_data_ptr(std::move(data)); }
  // The number alone: the memory stays as it is.
  void set_nbytes(size_t bytes) const { get()->replace(get()->take_data(), bytes); }
  Allocator* allocator() const { return GetAllocator(device_type()); }
  Device device() const { return get()->device(); }
  DeviceType device_type() const { return device().type(); }
  bool resizable() const { return get()->resizable(); }
  StorageImpl* unsafeGetStorageImpl() const { return get(); }
  StorageImpl* unsafeReleaseStorageImpl() { return release(); }
  bool is_alias_of(const Storage& other) const { return get() == other.get() || data() == other.data(); }
  explicit operator bool() const { return get() != nullptr; }
};

}  // namespace c10
namespace at {
using c10::Storage;
}
