#include "taeda/core/storage.h"

#include <sys/mman.h>

#include <algorithm>

#include "core/object_cache.h"
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
}  // namespace

void* StorageImpl::operator new(size_t size) { return cached_new(t_storages, size, sizeof(StorageImpl)); }
void StorageImpl::operator delete(void* block, size_t size) {
  cached_delete(t_storages, block, size, sizeof(StorageImpl));
}

void StorageImpl::destroy() noexcept {
  if (owns_python_object) {
    count_.store(1, std::memory_order_relaxed);  // the hook may take references and drop them
    python_hooks.storage_died(this);
    if (!confirm_death()) return;  // somebody got the object through a weak reference
  }
  RefCounted::destroy();
}

void StorageImpl::resize(size_t nbytes) {
  TAEDA_CHECK(resizable_,
              "this storage cannot be resized: its memory came from elsewhere (NumPy, DLPack, a file, "
              "shared memory); clone() the tensor first");
  Allocator& source = allocator(device().type);
  bool stays_reachable = nbytes < reach_ && source.is_host_addressable();
  DataPtr fresh = stays_reachable ? reserve(reach_, device()) : source.allocate(nbytes, device());
  source.copy(fresh.get(), data(), std::min(nbytes, nbytes_));
  replace(std::move(fresh), nbytes);
}

Storage new_storage(size_t nbytes, Device device) {
  return make_ref<StorageImpl>(allocator(device.type).allocate(nbytes, device), nbytes, true);
}

}  // namespace taeda
