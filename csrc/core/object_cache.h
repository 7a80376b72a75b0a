// Free lists for objects that come and go with every call (tensors, storages).
#pragma once
#include <cstddef>
#include <cstdint>
#include <new>

#include "taeda/core/thread_state.h"

namespace taeda {

// Blocks of one size that this thread freed. Constant-initialised, so that reaching it costs no guard.
struct ObjectList {
  void* head = nullptr;
  uint32_t count = 0;
  bool registered = false;  // its thread's exit will empty it
};
constexpr uint32_t kMaxCachedObjects = 512;

// Puts the list on those that the thread's exit empties; false once the thread is exiting.
bool register_list(ObjectList& list) noexcept;

inline void* cached_new(ObjectList& list, size_t size, size_t list_size) {
  if (size != list_size || !list.head) [[unlikely]]
    return ::operator new(size);
  void* block = list.head;
  list.head = *static_cast<void**>(block);
  --list.count;
  return block;
}

inline void cached_delete(ObjectList& list, void* block, size_t size, size_t list_size) noexcept {
  if (size != list_size || list.count >= kMaxCachedObjects || (!list.registered && !register_list(list))) [[unlikely]] {
    ::operator delete(block);
    return;
  }
  *static_cast<void**>(block) = list.head;
  list.head = block;
  ++list.count;
}

}  // namespace taeda
