// Memory for nodes and autograd metas, which come and go with every recorded call.
#pragma once
#include <atomic>
#include <cstddef>

#include "taeda/core/error.h"

namespace taeda::autograd {

// Per-thread free lists by size; what is freed on another thread joins that thread's lists.
TAEDA_API void* pool_allocate(size_t bytes);
TAEDA_API void pool_free(void* block, size_t bytes) noexcept;

// One byte, for critical sections of a few instructions or one gradient update.
class SpinLock {
 public:
  void lock() noexcept {
    while (locked_.exchange(true, std::memory_order_acquire)) locked_.wait(true, std::memory_order_relaxed);
  }
  void unlock() noexcept {
    locked_.store(false, std::memory_order_release);
    locked_.notify_one();
  }

 private:
  std::atomic<bool> locked_{false};
};

}  // namespace taeda::autograd
