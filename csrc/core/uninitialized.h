// In deterministic mode memory without values is filled unless that was switched off, so that a program that reads it
// does the same each time.
#pragma once
#include "taeda/core/tensor.h"

namespace taeda {

TAEDA_API bool fills_uninitialized();
TAEDA_API void set_fills_uninitialized(bool fills);
// Bytes from `first` on: NaN, the largest integer, or true.
TAEDA_API void fill_uninitialized(const Storage& storage, DType dtype, size_t first);
inline Tensor as_uninitialized(Tensor fresh) {
  if (fills_uninitialized()) fill_uninitialized(fresh->storage(), fresh.dtype(), 0);
  return fresh;
}

}  // namespace taeda
