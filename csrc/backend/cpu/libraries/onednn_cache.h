// The cache of oneDNN's primitives as its users see it.
#pragma once
#include <cstdint>

#include "taeda/core/error.h"

namespace taeda::cpu::onednn {

struct CacheStats {
  int64_t capacity, size, hits, misses;
};
TAEDA_API CacheStats cache_stats();
TAEDA_API void set_cache_capacity(int64_t capacity);  // ValueError below 0; 0 keeps nothing

}  // namespace taeda::cpu::onednn
