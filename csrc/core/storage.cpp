#include "taeda/core/storage.h"

#include <sys/mman.h>

#include <algorithm>

#include "core/foreign_memory.h"
#include "core/object_cache.h"
#include "taeda/core/device_hooks.h"
#include "taeda/core/fork.h"
#include "taeda/core/parallel.h"
#include "taeda/core/tensor.h"

namespace taeda {

namespace {
constinit thread_local ObjectList t_storages TAEDA_TLS;

struct Reserved {
  void* data;
  size_t bytes;
};

// Addresses that hold zeros and cost no memory until they are written.
DataPtr reserve(size_t bytes, Device device) {
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  TAEDA_CHECK(data != MAP_FAILED, "the system has no ", bytes, " bytes of address space left");
  auto unmap = [](void* context) {
    auto* reserved = static_cast<Reserved*>(context);
    munmap(reserved->data, reserved->bytes);
    delete reserved;
  };
  return DataPtr(data, new Reserved{data, bytes}, unmap, device);
}
// Bytes of lazily cloned storages: each is a reference, and only a sole owner writes.
struct SharedBytes : RefCounted {
  explicit SharedBytes(DataPtr data) : data(std::move(data)) {}
  DataPtr data;
};
std::atomic<DataPtr::Deleter> g_foreign{nullptr};
void release_shared(void* bytes) { static_cast<SharedBytes*>(bytes)->release(); }

DataPtr reference_to(const SharedBytes& bytes) {
  bytes.retain();
  return DataPtr(bytes.data.get(), const_cast<SharedBytes*>(&bytes), release_shared, bytes.data.device());
}

// Guards the change between bytes of one's own and shared ones, which several threads may ask for.
Mutex& sharing() {
  static Mutex mutex;
  return mutex;
}

}  // namespace

void declare_foreign(DataPtr::Deleter deleter) { g_foreign.store(deleter, std::memory_order_relaxed); }

void* StorageImpl::operator new(size_t size) { return cached_new(t_storages, size, sizeof(StorageImpl)); }
void StorageImpl::operator delete(void* block, size_t size) {
  cached_delete(t_storages, block, size, sizeof(StorageImpl));
}

void StorageImpl::on_last_release() noexcept {
  if (owns_python_object) {
    count_.store(1, std::memory_order_relaxed);  // the hook may take references and drop them
    python_hooks.storage_died(this);
    if (!confirm_death()) return;  // somebody got the object through a weak reference
  }
  RefCounted::on_last_release();
}

void StorageImpl::resize(size_t nbytes) {
  TAEDA_CHECK(resizable(),
              "this storage cannot be resized: its memory came from elsewhere (NumPy, DLPack, a file, shared memory), "
              "or a memoryview sees it; clone() the tensor first");
  if (const DeviceHooks* hooks = device_hooks(device().type)) return hooks->resize(*this, nbytes);
  replace(new_data(nbytes), nbytes);
}

DataPtr StorageImpl::new_data(size_t nbytes) const {
  Allocator& source = allocator(device().type);
  bool stays_reachable = nbytes < reach_ && source.is_host_addressable();
  DataPtr fresh = stays_reachable ? reserve(reach_, device()) : source.allocate(nbytes, device());
  source.copy(fresh.get(), data(), std::min(nbytes, nbytes_));
  return fresh;
}

Storage StorageImpl::lazy_clone() {
  if (!resizable() || data_.deleter() == g_foreign.load(std::memory_order_relaxed))
    return make_ref<StorageImpl>(new_data(nbytes_), nbytes_, true);
  Lock lock(sharing());
  if (!is_copy_on_write()) {
    Ref<SharedBytes> bytes = make_ref<SharedBytes>(std::move(data_));
    data_ = reference_to(*bytes);  // the address is the same, so that others may read meanwhile
    copy_on_write_.store(true, std::memory_order_release);
  }
  const auto& bytes = *static_cast<SharedBytes*>(data_.context());
  Storage clone = make_ref<StorageImpl>(reference_to(bytes), nbytes_, true);
  clone->copy_on_write_.store(true, std::memory_order_release);
  return clone;
}

void StorageImpl::materialize() {
  if (!is_copy_on_write()) return;
  Lock lock(sharing());
  if (!is_copy_on_write()) return;  // another thread was faster
  TAEDA_CHECK(!in_parallel_piece(),
              "the bytes of a lazy clone cannot become its own within parallel_for, where other "
              "pieces have their address; write to the tensor, or ask for its data_ptr(), before");
  auto& bytes = *static_cast<SharedBytes*>(data_.context());
  DataPtr own = bytes.use_count() == 1 ? std::move(bytes.data) : new_data(nbytes_);
  replace(std::move(own), nbytes_);
}

Storage new_storage(size_t nbytes, Device device) {
  return make_ref<StorageImpl>(allocator(device.type).allocate(nbytes, device), nbytes, true);
}

}  // namespace taeda
