// Memory for elements, without a Storage around it.
#pragma once
#include <cstdlib>

#include <c10/core/alignment.h>
#include <c10/util/Exception.h>

namespace c10 {

// Null for no bytes.
inline void* alloc_cpu(size_t bytes) {
  void* data = nullptr;
  TORCH_CHECK(bytes == 0 || ::posix_memalign(&data, gAlignment, bytes) == 0, "alloc_cpu: there is no memory for ",
              bytes, " bytes");
  return data;
}
inline void free_cpu(void* data) { std::free(data); }

}  // namespace c10
