// Element types, their facts and the promotion of two of them.
#pragma once
#include <complex>
#include <cstdint>
#include <string_view>
#include <utility>

#include "taeda/core/complex_half.h"
#include "taeda/core/error.h"
#include "taeda/core/float8.h"
#include "taeda/core/half.h"

namespace taeda {

using complex64 = std::complex<float>;
using complex128 = std::complex<double>;

// enumerator, C++ type, name in Python, category
#define TAEDA_FORALL_DTYPES(X)                              \
  X(UInt8, uint8_t, "uint8", Integral)                      \
  X(Int8, int8_t, "int8", Integral)                         \
  X(Int16, int16_t, "int16", Integral)                      \
  X(Int32, int32_t, "int32", Integral)                      \
  X(Int64, int64_t, "int64", Integral)                      \
  X(Float16, ::taeda::Half, "float16", Floating)            \
  X(Float32, float, "float32", Floating)                    \
  X(Float64, double, "float64", Floating)                   \
  X(Complex64, ::taeda::complex64, "complex64", Complex)    \
  X(Complex128, ::taeda::complex128, "complex128", Complex) \
  X(Bool, bool, "bool", Bool)                               \
  X(BFloat16, ::taeda::BFloat16, "bfloat16", Floating)      \
  X(UInt16, uint16_t, "uint16", Integral)                   \
  X(UInt32, uint32_t, "uint32", Integral)                   \
  X(UInt64, uint64_t, "uint64", Integral)

// What is stored, moved and converted, but not computed with: kernels do not take these.
#define TAEDA_FORALL_STORED_DTYPES(X)                                     \
  X(Float8E4M3FN, ::taeda::Float8E4M3FN, "float8_e4m3fn", Floating)       \
  X(Float8E4M3FNUZ, ::taeda::Float8E4M3FNUZ, "float8_e4m3fnuz", Floating) \
  X(Float8E5M2, ::taeda::Float8E5M2, "float8_e5m2", Floating)             \
  X(Float8E5M2FNUZ, ::taeda::Float8E5M2FNUZ, "float8_e5m2fnuz", Floating) \
  X(Float8E8M0FNU, ::taeda::Float8E8M0FNU, "float8_e8m0fnu", Floating)    \
  X(Complex32, ::taeda::ComplexHalf, "complex32", Complex)

// Integers of less than a byte, and bits: bytes that no op here reads. What packs them is up to programs.
// enumerator, C++ type of an element, name in Python
#define TAEDA_FORALL_NARROW_DTYPES(X) \
  X(UInt1, uint8_t, "uint1")          \
  X(UInt2, uint8_t, "uint2")          \
  X(UInt3, uint8_t, "uint3")          \
  X(UInt4, uint8_t, "uint4")          \
  X(UInt5, uint8_t, "uint5")          \
  X(UInt6, uint8_t, "uint6")          \
  X(UInt7, uint8_t, "uint7")          \
  X(Int1, int8_t, "int1")             \
  X(Int2, int8_t, "int2")             \
  X(Int3, int8_t, "int3")             \
  X(Int4, int8_t, "int4")             \
  X(Int5, int8_t, "int5")             \
  X(Int6, int8_t, "int6")             \
  X(Int7, int8_t, "int7")             \
  X(Bit, uint8_t, "bit")              \
  X(Bits1x8, uint8_t, "bits1x8")      \
  X(Bits2x4, uint8_t, "bits2x4")      \
  X(Bits4x2, uint8_t, "bits4x2")      \
  X(Bits8, uint8_t, "bits8")          \
  X(Bits16, uint16_t, "bits16")       \
  X(Float4E2M1FNX2, uint8_t, "float4_e2m1fn_x2")

// Elements of quantised tensors: the integers that a scale and a zero point make numbers of. The last two hold two and
// four of them in a byte.
#define TAEDA_FORALL_QUANTIZED_DTYPES(X) \
  X(QInt8, int8_t, "qint8")              \
  X(QUInt8, uint8_t, "quint8")           \
  X(QInt32, int32_t, "qint32")           \
  X(QUInt4x2, uint8_t, "quint4x2")       \
  X(QUInt2x4, uint8_t, "quint2x4")

enum class DType : uint8_t {
#define X(name, ...) name,
  TAEDA_FORALL_DTYPES(X) TAEDA_FORALL_STORED_DTYPES(X) TAEDA_FORALL_NARROW_DTYPES(X) TAEDA_FORALL_QUANTIZED_DTYPES(X)
#undef X
      Undefined
};
constexpr int kDTypes = static_cast<int>(DType::Undefined);
#define X(name, type, text, category) +1
constexpr int kComputedDTypes = TAEDA_FORALL_DTYPES(X);
constexpr int kReadDTypes = kComputedDTypes + TAEDA_FORALL_STORED_DTYPES(X);
#undef X

// In rising order: promotion across categories takes the higher one.
enum class Category : uint8_t { Bool, Integral, Floating, Complex };

struct DTypeInfo {
  std::string_view name;
  uint8_t size;
  uint8_t alignment;
  Category category;
  bool is_signed;
};
TAEDA_API extern const DTypeInfo kDTypeInfo[kDTypes + 1];

inline const DTypeInfo& info(DType dtype) { return kDTypeInfo[static_cast<int>(dtype)]; }
inline int64_t itemsize(DType dtype) { return info(dtype).size; }
inline std::string_view name(DType dtype) { return info(dtype).name; }
inline Category category(DType dtype) { return info(dtype).category; }
constexpr bool is_quantized(DType dtype) { return dtype >= DType::QInt8 && dtype < DType::Undefined; }
constexpr bool is_stored_only(DType dtype) { return static_cast<int>(dtype) >= kComputedDTypes; }
// That ops compute with.
inline bool is_floating(DType dtype) { return category(dtype) == Category::Floating && !is_stored_only(dtype); }
inline bool is_complex(DType dtype) { return category(dtype) == Category::Complex; }
inline bool is_integral(DType dtype) { return category(dtype) == Category::Integral; }  // without bool
inline bool is_differentiable(DType dtype) { return category(dtype) >= Category::Floating; }
inline void append(std::string& out, DType dtype) { out += name(dtype); }

// The type both convert to; a table made from the rules in dtype.cpp. Mixing uint16/32/64 with another integer type
// other than themselves is an error, as no wider type is sure to hold both. Nor is there one for a dtype that is only
// stored and any other.
TAEDA_API DType promote(DType a, DType b);
// Whether a result of type `from` may be written into `to` (in-place and out=): never down a category.
TAEDA_API bool can_cast(DType from, DType to);
TAEDA_API DType to_complex(DType dtype);  // float32 -> complex64; complex stays; small floats are computed in complex64
TAEDA_API DType to_real(DType dtype);     // complex64 -> float32; real stays
TAEDA_API DType compute_type(DType dtype);  // small floats -> float32; others stay

TAEDA_API DType default_dtype();
TAEDA_API void set_default_dtype(DType dtype);

template <class T>
struct DTypeOf;
#define X(name, type, text, category)           \
  template <>                                   \
  struct DTypeOf<type> {                        \
    static constexpr DType value = DType::name; \
  };
TAEDA_FORALL_DTYPES(X)
TAEDA_FORALL_STORED_DTYPES(X)
#undef X
template <class T>
constexpr DType dtype_of = DTypeOf<T>::value;

// visit(dtype, [&]<class T>() { ... }) runs the lambda with the element type.
template <class F>
decltype(auto) visit(DType dtype, F&& body) {
  switch (dtype) {
#define X(name, type, text, category) \
  case DType::name:                   \
    return body.template operator()<type>();
    TAEDA_FORALL_DTYPES(X)
#undef X
    default:
      TAEDA_FAIL(NotImplemented, "it is not for ", dtype, " tensors; convert to another dtype first");
  }
}

// As visit, over the dtypes that are only stored too.
template <class F>
decltype(auto) visit_stored(DType dtype, F&& body) {
  switch (dtype) {
#define X(name, type, text, category) \
  case DType::name:                   \
    return body.template operator()<type>();
    TAEDA_FORALL_STORED_DTYPES(X)
#undef X
    default:
      return visit(dtype, std::forward<F>(body));
  }
}

// The floating types that are less than a float.
template <class T>
constexpr bool is_small_float = dtype_of<T> == DType::Float16 || dtype_of<T> == DType::BFloat16 ||
                                (is_stored_only(dtype_of<T>) && !std::is_same_v<T, ComplexHalf>);

// visit_floating<...>: as visit over f32, f64 and the half types, an error for the rest.
template <class F>
decltype(auto) visit_floating(DType dtype, F&& body) {
  switch (dtype) {
    case DType::Float32:
      return body.template operator()<float>();
    case DType::Float64:
      return body.template operator()<double>();
    case DType::Float16:
      return body.template operator()<Half>();
    case DType::BFloat16:
      return body.template operator()<BFloat16>();
    default:
      TAEDA_FAIL(NotImplemented, "is for floating-point tensors; got ", dtype);
  }
}

// Converts between any two element types the way a C cast does, small ones through float, complex through its real
// part.
template <class To, class From>
To convert(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<From, ComplexHalf>) {
    return convert<To>(static_cast<complex64>(value));
  } else if constexpr (std::is_same_v<To, ComplexHalf>) {
    return ComplexHalf(convert<complex64>(value));
  } else if constexpr (is_small_float<From>) {
    return convert<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<From, complex64> || std::is_same_v<From, complex128>) {
    if constexpr (std::is_same_v<To, complex64> || std::is_same_v<To, complex128>)
      return To(static_cast<typename To::value_type>(value.real()), static_cast<typename To::value_type>(value.imag()));
    else if constexpr (std::is_same_v<To, bool>)
      return value.real() != 0 || value.imag() != 0;
    else
      return convert<To>(value.real());
  } else if constexpr (is_small_float<To>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, complex64> || std::is_same_v<To, complex128>) {
    return To(static_cast<typename To::value_type>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != 0;
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // An out-of-range float has no defined C cast: go through int64 so that it wraps as on x86, and never traps.
    constexpr From kLimit = static_cast<From>(9223372036854775808.0);
    if constexpr (std::is_same_v<To, uint64_t>) {
      if (value >= kLimit && value < 2 * kLimit) return static_cast<uint64_t>(value);
    }
    if (!(value >= -kLimit && value < kLimit)) return static_cast<To>(INT64_MIN);
    return static_cast<To>(static_cast<int64_t>(value));
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace taeda
