// Arithmetic of whole numbers that says whether the result fits.
#pragma once
#include <cstdint>

namespace c10 {

template <class T>
bool add_overflows(T a, T b, T* out) {
  return __builtin_add_overflow(a, b, out);
}
template <class T>
bool sub_overflows(T a, T b, T* out) {
  return __builtin_sub_overflow(a, b, out);
}
template <class T>
bool mul_overflows(T a, T b, T* out) {
  return __builtin_mul_overflow(a, b, out);
}
// The product of a range, in 64 bits without a sign.
template <class It>
bool safe_multiplies_u64(It first, It last, uint64_t* out) {
  uint64_t product = 1;
  bool overflows = false, is_zero = false;
  for (; first != last; ++first) {
    overflows |= mul_overflows(product, static_cast<uint64_t>(*first), &product);
    is_zero |= *first == 0;
  }
  *out = is_zero ? 0 : product;
  return overflows && !is_zero;
}
template <class C>
bool safe_multiplies_u64(const C& items, uint64_t* out) {
  return safe_multiplies_u64(items.begin(), items.end(), out);
}

}  // namespace c10
