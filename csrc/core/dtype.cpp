#include "taeda/core/dtype.h"

#include <algorithm>
#include <atomic>

namespace taeda {

template <class T>
constexpr bool kSigned = !std::is_unsigned_v<T> && !std::is_same_v<T, Float8E8M0FNU>;

const DTypeInfo kDTypeInfo[kDTypes + 1] = {
#define X(name, type, text, category) {text, sizeof(type), alignof(type), Category::category, kSigned<type>},
    TAEDA_FORALL_DTYPES(X) TAEDA_FORALL_STORED_DTYPES(X)
#undef X
#define X(name, type, text) {text, sizeof(type), alignof(type), Category::Integral, kSigned<type>},
        TAEDA_FORALL_NARROW_DTYPES(X) TAEDA_FORALL_QUANTIZED_DTYPES(X)
#undef X
            {"undefined", 0, 1, Category::Bool, false}};

namespace {

std::atomic<DType> g_default{DType::Float32};

bool is_wide_unsigned(DType dtype) {
  return dtype == DType::UInt16 || dtype == DType::UInt32 || dtype == DType::UInt64;
}

DType promote_integral(DType a, DType b) {
  TAEDA_CHECK(!is_wide_unsigned(a) && !is_wide_unsigned(b), "no integer type holds all values of both ", a, " and ", b,
              "; convert one of them first");
  if (info(a).is_signed == info(b).is_signed) return itemsize(a) >= itemsize(b) ? a : b;
  // One is uint8, the other signed: the signed one wins unless it is int8, which cannot hold 255.
  DType with_sign = info(a).is_signed ? a : b;
  return with_sign == DType::Int8 ? DType::Int16 : with_sign;
}

DType promote_floating(DType a, DType b) {
  if (itemsize(a) == itemsize(b)) return DType::Float32;  // float16 with bfloat16
  return itemsize(a) > itemsize(b) ? a : b;
}

// The common dtype of complex32 and another one.
DType promote_complex_half(DType other) {
  if (other == DType::Float16 || category(other) <= Category::Integral) return DType::Complex32;
  return promote(other, DType::Complex64);
}

}  // namespace

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (a == DType::Undefined) return b;
  if (b == DType::Undefined) return a;
  if (a == DType::Complex32 || b == DType::Complex32) return promote_complex_half(a == DType::Complex32 ? b : a);
  TAEDA_CHECK(!is_stored_only(a) && !is_stored_only(b), "nothing is computed with ", is_stored_only(a) ? a : b,
              ", here together with ", is_stored_only(a) ? b : a, "; convert it first");
  Category ca = category(a), cb = category(b);
  if (ca == Category::Complex || cb == Category::Complex) {
    bool wide = a == DType::Complex128 || b == DType::Complex128 || a == DType::Float64 || b == DType::Float64;
    return wide ? DType::Complex128 : DType::Complex64;
  }
  if (ca != cb) return ca > cb ? a : b;
  return ca == Category::Integral ? promote_integral(a, b) : promote_floating(a, b);
}

bool can_cast(DType from, DType to) { return category(from) <= category(to); }

DType to_complex(DType dtype) {
  if (is_complex(dtype)) return dtype;
  return dtype == DType::Float64 ? DType::Complex128 : DType::Complex64;
}

DType to_real(DType dtype) {
  if (dtype == DType::Complex64) return DType::Float32;
  if (dtype == DType::Complex32) return DType::Float16;
  return dtype == DType::Complex128 ? DType::Float64 : dtype;
}

DType compute_type(DType dtype) {
  bool small = dtype == DType::Float16 || dtype == DType::BFloat16 || is_stored_only(dtype);
  return small ? DType::Float32 : dtype;
}

DType default_dtype() { return g_default.load(std::memory_order_relaxed); }

void set_default_dtype(DType dtype) {
  TAEDA_CHECK_TYPE(is_floating(dtype), "only a floating-point dtype that ops compute with can be the default; got ",
                   dtype);
  g_default.store(dtype, std::memory_order_relaxed);
}

}  // namespace taeda
