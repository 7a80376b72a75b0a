// Bytes that tensors share.
#pragma once
#include <algorithm>

#include "taeda/core/allocator.h"
#include "taeda/core/refcount.h"

namespace taeda {

class StorageImpl;
using Storage = Ref<StorageImpl>;

class TAEDA_API StorageImpl final : public RefCounted {
 public:
  StorageImpl(DataPtr&& data, size_t nbytes, bool resizable)
      : data_(std::move(data)), nbytes_(nbytes), reach_(nbytes), resizable_(resizable) {}
  struct use_byte_size_t {};
  template <class From>  // as C++ programs make storages; an allocator of theirs
  StorageImpl(use_byte_size_t, size_t nbytes, DataPtr data, From* allocator, bool resizable)
      : StorageImpl(std::move(data), nbytes, resizable && allocator) {}
  template <class From>
  StorageImpl(use_byte_size_t, size_t nbytes, From* allocator, bool resizable)
      : StorageImpl(allocator->allocate(nbytes), nbytes, resizable) {}

  void* data() const { return data_.get(); }
  const DataPtr& data_ptr() const { return data_; }
  size_t nbytes() const { return nbytes_; }
  // The most bytes it ever had: views made then may still be used, so the addresses stay valid.
  size_t reach() const { return reach_; }
  Device device() const { return data_.device(); }
  bool resizable() const { return resizable_ && lent_.load(std::memory_order_relaxed) == 0; }
  // Off once someone outside knows the address (NumPy, DLPack).
  void set_resizable(bool value) { resizable_ = value; }
  // For as long as someone outside knows it (a memoryview), the bytes stay where they are.
  void lend() { lent_.fetch_add(1, std::memory_order_relaxed); }
  void take_back() { lent_.fetch_sub(1, std::memory_order_relaxed); }
  DataPtr take_data() { return std::move(data_); }  // for replace(), when the old memory must outlive the change
  // Keeps the old bytes up to the smaller size. RuntimeError for memory that came from elsewhere.
  void resize(size_t nbytes);
  void replace(DataPtr data, size_t nbytes) {
    data_ = std::move(data);
    nbytes_ = nbytes;
    reach_ = std::max(reach_, nbytes);
    copy_on_write_.store(false, std::memory_order_release);
  }

  // A storage that shares these bytes until one of the two is written. Copied at once are bytes that cannot be taken
  // back from whoever else may write them (NumPy, DLPack, other processes).
  Storage lazy_clone();
  bool is_copy_on_write() const { return copy_on_write_.load(std::memory_order_acquire); }
  // Makes the bytes its own: a copy, or the old ones where nobody shares them any more. To the storage's other users
  // it is a write of all bytes. RuntimeError in a piece of parallel_for, where other pieces know the address already.
  void materialize();

  void* python_object = nullptr;  // borrowed, set by the binding so that a storage keeps its identity

  static void* operator new(size_t);
  static void operator delete(void*, size_t);

 private:
  void on_last_release() noexcept override;

  DataPtr data_;
  size_t nbytes_;
  size_t reach_;
  bool resizable_;
  std::atomic<int> lent_{0};
  std::atomic<bool> copy_on_write_{false};

  DataPtr new_data(size_t nbytes) const;  // with the old bytes

 public:
  bool owns_python_object = false;  // when only weak references know the object, as with tensors
};

TAEDA_API Storage new_storage(size_t nbytes, Device device);

}  // namespace taeda
