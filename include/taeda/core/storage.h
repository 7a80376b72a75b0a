// Bytes that tensors share.
#pragma once
#include <algorithm>

#include "taeda/core/allocator.h"
#include "taeda/core/refcount.h"

namespace taeda {

class TAEDA_API StorageImpl final : public RefCounted {
 public:
  StorageImpl(DataPtr&& data, size_t nbytes, bool resizable)
      : data_(std::move(data)), nbytes_(nbytes), reach_(nbytes), resizable_(resizable) {}

  void* data() const { return data_.get(); }
  const DataPtr& data_ptr() const { return data_; }
  size_t nbytes() const { return nbytes_; }
  // The most bytes it ever had: views made then may still be used, so the addresses stay valid.
  size_t reach() const { return reach_; }
  Device device() const { return data_.device(); }
  bool resizable() const { return resizable_; }
  // Off once someone outside knows the address (NumPy, DLPack).
  void set_resizable(bool value) { resizable_ = value; }
  DataPtr take_data() { return std::move(data_); }  // for replace(), when the old memory must outlive the change
  // Keeps the old bytes up to the smaller size. RuntimeError for memory that came from elsewhere.
  void resize(size_t nbytes);
  void replace(DataPtr data, size_t nbytes) {
    data_ = std::move(data);
    nbytes_ = nbytes;
    reach_ = std::max(reach_, nbytes);
  }

  void* python_object = nullptr;  // borrowed, set by the binding so that a storage keeps its identity

  static void* operator new(size_t);
  static void operator delete(void*, size_t);

 private:
  void destroy() noexcept override;

  DataPtr data_;
  size_t nbytes_;
  size_t reach_;
  bool resizable_;

 public:
  bool owns_python_object = false;  // when only weak references know the object, as with tensors
};
using Storage = Ref<StorageImpl>;

TAEDA_API Storage new_storage(size_t nbytes, Device device);

}  // namespace taeda
