// One number as another type, by the rules of tensors' conversions.
#pragma once
#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>
#include <utility>

#include <c10/util/Exception.h>
#include <c10/util/Half.h>
#include <c10/util/complex.h>

namespace c10 {

// A complex number becomes true where either part is, and its real part elsewhere. Floats become uint8_t by way of
// int64_t, so that negative ones wrap around on every processor.
template <class To, class From>
To convert(From value) {
  if constexpr (is_complex<From>::value && is_complex<To>::value) {
    using Part = typename To::value_type;
    return To(static_cast<Part>(value.real()), static_cast<Part>(value.imag()));
  } else if constexpr (is_complex<From>::value && std::same_as<To, bool>) {
    return static_cast<bool>(value.real()) || static_cast<bool>(value.imag());
  } else if constexpr (is_complex<From>::value) {
    return convert<To>(value.real());
  } else if constexpr (is_complex<To>::value) {
    return To(static_cast<typename To::value_type>(value));
  } else if constexpr (std::same_as<To, uint8_t> && !std::integral<From>) {
    return static_cast<uint8_t>(static_cast<int64_t>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <class To, class From>
struct static_cast_with_inter_type {
  static To apply(From value) { return convert<To>(value); }
};

// Whether To cannot hold the number. Unless asked to be strict, negative whole numbers wrap around
// in types without a sign.
template <class To, class From>
bool overflows(From value, bool strict_unsigned = false) {
  using Limit = std::numeric_limits<To>;
  if constexpr (is_complex<From>::value && is_complex<To>::value) {
    using Part = typename To::value_type;
    return overflows<Part>(value.real()) || overflows<Part>(value.imag());
  } else if constexpr (is_complex<From>::value) {
    return value.imag() != 0 || overflows<To>(value.real(), strict_unsigned);
  } else if constexpr (is_complex<To>::value) {
    return overflows<typename To::value_type>(value);
  } else if constexpr (std::integral<From> && std::integral<To>) {
    if constexpr (std::signed_integral<From> && std::unsigned_integral<To>)
      if (value < 0) return strict_unsigned || uint64_t{0} - static_cast<uint64_t>(value) > Limit::max();
    if constexpr (std::same_as<From, bool> || std::same_as<To, bool>)
      return static_cast<uint64_t>(value) > static_cast<uint64_t>(Limit::max());
    else
      return !std::in_range<To>(value);
  } else {
    const double number = static_cast<double>(value);
    if (Limit::has_infinity && std::isinf(number)) return false;
    if (std::isnan(number)) return !Limit::has_quiet_NaN;
    // The first power of two that does not fit is exact in a double; the largest number may not be.
    if constexpr (std::integral<To>)
      return number >= std::ldexp(1.0, Limit::digits) || number < static_cast<double>(Limit::lowest());
    else
      return number > static_cast<double>(Limit::max()) || number < static_cast<double>(Limit::lowest());
  }
}

template <class To, class From>
To checked_convert(From value, const char* name) {
  TORCH_CHECK((std::same_as<To, bool> || !overflows<To>(value)), "the value does not fit into ", name,
              ": choose a type that holds it");
  return convert<To>(value);
}

}  // namespace c10
