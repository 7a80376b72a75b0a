#include "taeda/autograd/node_pool.h"

#include "core/object_cache.h"

namespace taeda::autograd {
namespace {

constexpr size_t kStep = 64;
constexpr size_t kClasses = 8;  // up to 512 bytes
thread_local constinit ObjectList t_lists[kClasses] TAEDA_TLS;

constexpr size_t rounded(size_t bytes) { return (bytes + kStep - 1) & ~(kStep - 1); }

}  // namespace

void* pool_allocate(size_t bytes) {
  size_t size = rounded(bytes);
  if (size > kStep * kClasses) return ::operator new(bytes);
  return cached_new(t_lists[size / kStep - 1], size, size);
}

void pool_free(void* block, size_t bytes) noexcept {
  size_t size = rounded(bytes);
  if (size > kStep * kClasses)
    ::operator delete(block);
  else
    cached_delete(t_lists[size / kStep - 1], block, size, size);
}

}  // namespace taeda::autograd
