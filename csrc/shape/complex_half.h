// complex32 among the other dtypes: two float16 make one, and formulas compute it in complex64.
#pragma once
#include "taeda/core/dtype.h"

namespace taeda::shape {

// The complex dtype whose parts have this one; that of bfloat16 is wider than it.
inline DType with_imaginary(DType dtype) { return dtype == DType::Float16 ? DType::Complex32 : to_complex(dtype); }

// Whether a rule's `dtypes` (a bit for each that there is a formula for) hold this one.
inline bool has_formula(uint16_t dtypes, DType dtype) {
  if (dtype == DType::Complex32) dtype = DType::Complex64;
  return !is_stored_only(dtype) && dtypes >> static_cast<int>(dtype) & 1;
}

}  // namespace taeda::shape
