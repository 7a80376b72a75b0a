// The types of elements by PyTorch's names and numbers, and their ways to the core's and back.
#pragma once
#include <array>
#include <cstdint>
#include <ostream>

#include <c10/util/Exception.h>
#include <c10/util/Half.h>
#include <c10/util/Optional.h>
#include <c10/util/complex.h>
#include <taeda/core/dtype.h>

namespace c10 {

// What only moves bytes about: no element of these is computed with.
struct qint8 {
  using underlying = int8_t;
  qint8() = default;
  explicit qint8(int8_t value) : val_(value) {}
  int8_t val_;
};
struct quint8 {
  using underlying = uint8_t;
  quint8() = default;
  explicit quint8(uint8_t value) : val_(value) {}
  uint8_t val_;
};
struct qint32 {
  using underlying = int32_t;
  qint32() = default;
  explicit qint32(int32_t value) : val_(value) {}
  int32_t val_;
};

// C++ type, name, the core's name
#define TAEDA_FORALL_SCALAR_TYPES(_)                       \
  _(uint8_t, Byte, UInt8)                                  \
  _(int8_t, Char, Int8)                                    \
  _(int16_t, Short, Int16)                                 \
  _(int, Int, Int32)                                       \
  _(int64_t, Long, Int64)                                  \
  _(c10::Half, Half, Float16)                              \
  _(float, Float, Float32)                                 \
  _(double, Double, Float64)                               \
  _(c10::complex<c10::Half>, ComplexHalf, Complex32)       \
  _(c10::complex<float>, ComplexFloat, Complex64)          \
  _(c10::complex<double>, ComplexDouble, Complex128)       \
  _(bool, Bool, Bool)                                      \
  _(c10::BFloat16, BFloat16, BFloat16)                     \
  _(c10::Float8_e5m2, Float8_e5m2, Float8E5M2)             \
  _(c10::Float8_e4m3fn, Float8_e4m3fn, Float8E4M3FN)       \
  _(c10::Float8_e5m2fnuz, Float8_e5m2fnuz, Float8E5M2FNUZ) \
  _(c10::Float8_e4m3fnuz, Float8_e4m3fnuz, Float8E4M3FNUZ) \
  _(uint16_t, UInt16, UInt16)                              \
  _(uint32_t, UInt32, UInt32)                              \
  _(uint64_t, UInt64, UInt64)                              \
  _(c10::Float8_e8m0fnu, Float8_e8m0fnu, Float8E8M0FNU)

// Those that numbers are converted to.
#define TAEDA_FORALL_SCALAR_TYPES_OF_NUMBERS(_)      \
  _(uint8_t, Byte, UInt8)                            \
  _(int8_t, Char, Int8)                              \
  _(int16_t, Short, Int16)                           \
  _(int, Int, Int32)                                 \
  _(int64_t, Long, Int64)                            \
  _(c10::Half, Half, Float16)                        \
  _(float, Float, Float32)                           \
  _(double, Double, Float64)                         \
  _(c10::complex<float>, ComplexFloat, Complex64)    \
  _(c10::complex<double>, ComplexDouble, Complex128) \
  _(bool, Bool, Bool)                                \
  _(c10::BFloat16, BFloat16, BFloat16)               \
  _(uint16_t, UInt16, UInt16)                        \
  _(uint32_t, UInt32, UInt32)                        \
  _(uint64_t, UInt64, UInt64)

// Those that have no C++ type to compute in. _(name here, name in the core)
#define TAEDA_FORALL_OPAQUE_SCALAR_TYPES(_) \
  _(QInt8, QInt8)                           \
  _(QUInt8, QUInt8)                         \
  _(QInt32, QInt32)                         \
  _(QUInt4x2, QUInt4x2)                     \
  _(QUInt2x4, QUInt2x4)                     \
  _(Bits1x8, Bits1x8)                       \
  _(Bits2x4, Bits2x4)                       \
  _(Bits4x2, Bits4x2)                       \
  _(Bits8, Bits8)                           \
  _(Bits16, Bits16)                         \
  _(Float4_e2m1fn_x2, Float4E2M1FNX2)

enum class ScalarType : int8_t {
  Byte = 0,
  Char = 1,
  Short = 2,
  Int = 3,
  Long = 4,
  Half = 5,
  Float = 6,
  Double = 7,
  ComplexHalf = 8,
  ComplexFloat = 9,
  ComplexDouble = 10,
  Bool = 11,
  QInt8 = 12,
  QUInt8 = 13,
  QInt32 = 14,
  BFloat16 = 15,
  QUInt4x2 = 16,
  QUInt2x4 = 17,
  Bits1x8 = 18,
  Bits2x4 = 19,
  Bits4x2 = 20,
  Bits8 = 21,
  Bits16 = 22,
  Float8_e5m2 = 23,
  Float8_e4m3fn = 24,
  Float8_e5m2fnuz = 25,
  Float8_e4m3fnuz = 26,
  UInt16 = 27,
  UInt32 = 28,
  UInt64 = 29,
  UInt1 = 30,
  UInt2 = 31,
  UInt3 = 32,
  UInt4 = 33,
  UInt5 = 34,
  UInt6 = 35,
  UInt7 = 36,
  Int1 = 37,
  Int2 = 38,
  Int3 = 39,
  Int4 = 40,
  Int5 = 41,
  Int6 = 42,
  Int7 = 43,
  Float8_e8m0fnu = 44,
  Float4_e2m1fn_x2 = 45,
  Undefined = 46,
  NumOptions = 47
};
constexpr uint16_t NumScalarTypes = static_cast<uint16_t>(ScalarType::NumOptions);

#define TAEDA_NAME(type, name, core) constexpr ScalarType k##name = ScalarType::name;
TAEDA_FORALL_SCALAR_TYPES(TAEDA_NAME)
#undef TAEDA_NAME
constexpr ScalarType kQInt8 = ScalarType::QInt8, kQUInt8 = ScalarType::QUInt8, kQInt32 = ScalarType::QInt32;

namespace detail {
struct DTypeTables {
  std::array<::taeda::DType, static_cast<size_t>(ScalarType::NumOptions)> core{};
  std::array<ScalarType, ::taeda::kDTypes + 1> ours{};
};
constexpr DTypeTables make_dtype_tables() {
  DTypeTables tables;
  for (auto& entry : tables.core) entry = ::taeda::DType::Undefined;
  for (auto& entry : tables.ours) entry = ScalarType::Undefined;
  auto pair = [&](ScalarType ours, ::taeda::DType core) {
    tables.core[static_cast<size_t>(ours)] = core;
    tables.ours[static_cast<size_t>(core)] = ours;
  };
#define TAEDA_NAME(type, name, core) pair(ScalarType::name, ::taeda::DType::core);
  TAEDA_FORALL_SCALAR_TYPES(TAEDA_NAME)
#undef TAEDA_NAME
  for (int i = 0; i < 7; ++i) {
    pair(static_cast<ScalarType>(static_cast<int>(ScalarType::UInt1) + i),
         static_cast<::taeda::DType>(static_cast<int>(::taeda::DType::UInt1) + i));
    pair(static_cast<ScalarType>(static_cast<int>(ScalarType::Int1) + i),
         static_cast<::taeda::DType>(static_cast<int>(::taeda::DType::Int1) + i));
  }
#define TAEDA_NAME(name, core) pair(ScalarType::name, ::taeda::DType::core);
  TAEDA_FORALL_OPAQUE_SCALAR_TYPES(TAEDA_NAME)
#undef TAEDA_NAME
  return tables;
}
inline constexpr DTypeTables kDTypeTables = make_dtype_tables();
}  // namespace detail

// To the core's numbering and from it.
inline ::taeda::DType to_dtype(ScalarType type) { return detail::kDTypeTables.core[static_cast<size_t>(type)]; }
inline std::optional<::taeda::DType> to_dtype(std::optional<ScalarType> type) {
  return type ? std::optional(to_dtype(*type)) : std::nullopt;
}
inline ScalarType to_scalar_type(::taeda::DType dtype) { return detail::kDTypeTables.ours[static_cast<size_t>(dtype)]; }

template <class T>
struct CppTypeToScalarType {};
namespace impl {
template <ScalarType type>
struct ScalarTypeToCPPType;
template <ScalarType type>
using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<type>::type;
}  // namespace impl
#define TAEDA_NAME(cpp, name, core)                                                          \
  template <>                                                                                \
  struct CppTypeToScalarType<cpp> : std::integral_constant<ScalarType, ScalarType::name> {}; \
  namespace impl {                                                                           \
  template <>                                                                                \
  struct ScalarTypeToCPPType<ScalarType::name> {                                             \
    using type = cpp;                                                                        \
  };                                                                                         \
  }
TAEDA_FORALL_SCALAR_TYPES(TAEDA_NAME)
TAEDA_NAME(qint8, QInt8, QInt8)
TAEDA_NAME(quint8, QUInt8, QUInt8)
TAEDA_NAME(qint32, QInt32, QInt32)
#undef TAEDA_NAME
// long long is another type than long, of the same size.
template <>
struct CppTypeToScalarType<long long> : std::integral_constant<ScalarType, ScalarType::Long> {};

inline const char* toString(ScalarType type) {
  switch (type) {
#define TAEDA_NAME(cpp, name, core) \
  case ScalarType::name:            \
    return #name;
    TAEDA_FORALL_SCALAR_TYPES(TAEDA_NAME)
#undef TAEDA_NAME
#define TAEDA_NAME(name, core) \
  case ScalarType::name:       \
    return #name;
    TAEDA_FORALL_OPAQUE_SCALAR_TYPES(TAEDA_NAME)
#undef TAEDA_NAME
    case ScalarType::Undefined:
      return "Undefined";
    default:
      return "UNKNOWN_SCALAR";
  }
}
inline std::ostream& operator<<(std::ostream& out, ScalarType type) { return out << toString(type); }

inline size_t elementSize(ScalarType type) {
  TORCH_CHECK(to_dtype(type) != ::taeda::DType::Undefined, "a ", type, " has no size");
  return static_cast<size_t>(::taeda::itemsize(to_dtype(type)));
}
inline bool isComplexType(ScalarType type) { return ::taeda::is_complex(to_dtype(type)); }
inline bool isFloatingType(ScalarType type) {
  return type != ScalarType::Undefined && ::taeda::category(to_dtype(type)) == ::taeda::Category::Floating;
}
inline bool isReducedFloatingType(ScalarType type) {
  return type == ScalarType::Half || type == ScalarType::BFloat16 || (isFloatingType(type) && elementSize(type) == 1);
}
inline bool isIntegralType(ScalarType type, bool include_bool) {
  return ::taeda::is_integral(to_dtype(type)) || (include_bool && type == ScalarType::Bool);
}
inline bool isIntegralType(ScalarType type) { return isIntegralType(type, false); }
inline bool isFloat8Type(ScalarType type) { return isFloatingType(type) && elementSize(type) == 1; }
inline bool isQIntType(ScalarType type) { return type >= ScalarType::QInt8 && type <= ScalarType::QInt32; }
inline bool isBitsType(ScalarType type) { return type >= ScalarType::Bits1x8 && type <= ScalarType::Bits16; }
inline bool isSignedType(ScalarType type) { return ::taeda::info(to_dtype(type)).is_signed; }
inline bool canCast(ScalarType from, ScalarType to) { return ::taeda::can_cast(to_dtype(from), to_dtype(to)); }
inline ScalarType promoteTypes(ScalarType a, ScalarType b) {
  return to_scalar_type(::taeda::promote(to_dtype(a), to_dtype(b)));
}
inline ScalarType toComplexType(ScalarType type) { return to_scalar_type(::taeda::to_complex(to_dtype(type))); }
inline ScalarType toRealValueType(ScalarType type) { return to_scalar_type(::taeda::to_real(to_dtype(type))); }
inline ScalarType toOpMathType(ScalarType type) {
  return type == ScalarType::Half || type == ScalarType::BFloat16 || isFloat8Type(type) ? ScalarType::Float : type;
}

#define AT_FORALL_SCALAR_TYPES(_) \
  _(uint8_t, Byte)                \
  _(int8_t, Char)                 \
  _(int16_t, Short)               \
  _(int, Int)                     \
  _(int64_t, Long)                \
  _(float, Float)                 \
  _(double, Double)
#define AT_FORALL_INT_TYPES(_) _(uint8_t, Byte) _(int8_t, Char) _(int16_t, Short) _(int, Int) _(int64_t, Long)
#define AT_FORALL_COMPLEX_TYPES(_) _(c10::complex<float>, ComplexFloat) _(c10::complex<double>, ComplexDouble)
#define AT_FORALL_SCALAR_TYPES_AND(SCALARTYPE, _) \
  AT_FORALL_SCALAR_TYPES(_)                       \
  _(::c10::impl::ScalarTypeToCPPTypeT<::c10::ScalarType::SCALARTYPE>, SCALARTYPE)
#define AT_FORALL_SCALAR_TYPES_AND2(SCALARTYPE1, SCALARTYPE2, _) \
  AT_FORALL_SCALAR_TYPES_AND(SCALARTYPE1, _)                     \
  _(::c10::impl::ScalarTypeToCPPTypeT<::c10::ScalarType::SCALARTYPE2>, SCALARTYPE2)
#define AT_FORALL_SCALAR_TYPES_AND3(SCALARTYPE1, SCALARTYPE2, SCALARTYPE3, _) \
  AT_FORALL_SCALAR_TYPES_AND2(SCALARTYPE1, SCALARTYPE2, _)                    \
  _(::c10::impl::ScalarTypeToCPPTypeT<::c10::ScalarType::SCALARTYPE3>, SCALARTYPE3)
#define AT_FORALL_SCALAR_TYPES_WITH_COMPLEX(_) \
  AT_FORALL_SCALAR_TYPES_AND3(Half, Bool, BFloat16, _) AT_FORALL_COMPLEX_TYPES(_)
#define AT_FORALL_SCALAR_TYPES_AND_COMPLEX(_) AT_FORALL_SCALAR_TYPES(_) AT_FORALL_COMPLEX_TYPES(_)

}  // namespace c10

namespace at {
using ScalarType = c10::ScalarType;
// The type that numbers of a type are computed in.
template <class T>
struct OpMathType {
  using type = T;
};
template <>
struct OpMathType<c10::Half> {
  using type = float;
};
template <>
struct OpMathType<c10::BFloat16> {
  using type = float;
};
template <class T>
using opmath_type = typename OpMathType<T>::type;
// The type that many numbers of a type are added up in; on the CPU wider for float, too.
template <class T, bool is_cuda>
struct AccumulateType {
  using type = std::conditional_t<std::is_integral_v<T>, std::conditional_t<std::is_same_v<T, bool>, bool, int64_t>,
                                  std::conditional_t<!is_cuda && std::is_same_v<T, float>, double, opmath_type<T>>>;
};
template <class T, bool is_cuda>
struct AccumulateType<c10::complex<T>, is_cuda> {
  using type = c10::complex<typename AccumulateType<T, is_cuda>::type>;
};
template <class T, bool is_cuda>
using acc_type = typename AccumulateType<T, is_cuda>::type;
inline c10::ScalarType toAccumulateType(c10::ScalarType type, bool is_cuda) {
  using c10::ScalarType;
  if (c10::isComplexType(type)) return c10::toComplexType(toAccumulateType(c10::toRealValueType(type), is_cuda));
  if (c10::isIntegralType(type, false)) return ScalarType::Long;
  return !is_cuda && type == ScalarType::Float ? ScalarType::Double
         : c10::isReducedFloatingType(type)    ? ScalarType::Float
                                               : type;
}
}  // namespace at
