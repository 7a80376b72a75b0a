// The cache of oneDNN's primitives as its users see it, and the end of the library.
#pragma once
#include <cstdint>

#include "taeda/core/error.h"

namespace taeda::cpu::onednn {

struct CacheStats {
  int64_t capacity, size, hits, misses;
};
TAEDA_API CacheStats cache_stats();
// For the end of the process, which destroys what oneDNN's code lies in: waits a while for calls in progress; threads
// that call it afterwards stop for good.
TAEDA_API void close_library() noexcept;
TAEDA_API void set_cache_capacity(int64_t capacity);  // ValueError below 0; 0 keeps nothing

}  // namespace taeda::cpu::onednn
