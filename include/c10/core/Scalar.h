// A number whose type is known when the program runs.
#pragma once
#include <c10/core/ScalarType.h>
#include <taeda/core/scalar.h>

namespace c10 {

class Scalar : public ::taeda::Scalar {
  using Base = ::taeda::Scalar;

 public:
  Scalar() = default;
  Scalar(Base value) : Base(value) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  Scalar(T value) : Base(widest(value)) {}
  Scalar(Half value) : Base(static_cast<float>(value)) {}
  Scalar(BFloat16 value) : Base(static_cast<float>(value)) {}
  template <class T>
  Scalar(std::complex<T> value)
      : Base(std::complex<double>(static_cast<double>(value.real()), static_cast<double>(value.imag()))) {}

  bool isFloatingPoint() const { return kind() == Kind::Float; }
  bool isIntegral(bool include_bool) const { return is_integral() || (include_bool && isBoolean()); }
  bool isIntegral() const { return is_integral(); }
  bool isComplex() const { return kind() == Kind::Complex; }
  bool isBoolean() const { return kind() == Kind::Bool; }
  bool isSymbolic() const { return false; }
  ScalarType type() const {
    constexpr ScalarType kOf[] = {kBool, kLong, ScalarType::UInt64, kDouble, kComplexDouble};
    return kOf[static_cast<int>(kind())];
  }

  // RuntimeError when the number is out of the type's range.
  template <class T>
  T to() const {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      check_range<T>();
      return static_cast<T>(Base::to<float>());
    } else if constexpr (is_complex<T>::value) {
      auto value = Base::to<std::complex<double>>();
      using Part = typename T::value_type;
      return T(static_cast<Part>(value.real()), static_cast<Part>(value.imag()));
    } else {
      check_range<T>();
      return Base::to<Core<T>>();
    }
  }
#define TAEDA_TO(cpp, name, core) \
  cpp to##name() const { return to<cpp>(); }
  TAEDA_FORALL_SCALAR_TYPES_OF_NUMBERS(TAEDA_TO)
#undef TAEDA_TO
  int64_t toSymInt() const { return toLong(); }

  Scalar operator-() const {
    TORCH_CHECK(!isBoolean(), "a truth value has no negative");
    return isComplex() ? Scalar(-toComplexDouble()) : isFloatingPoint() ? Scalar(-toDouble()) : Scalar(-toLong());
  }
  Scalar conj() const { return isComplex() ? Scalar(std::conj(toComplexDouble())) : *this; }
  Scalar log() const { return isComplex() ? Scalar(std::log(toComplexDouble())) : Scalar(std::log(toDouble())); }
  template <class T>
    requires std::is_arithmetic_v<T>
  bool equal(T number) const {
    return !isBoolean() && Base::equals(static_cast<double>(number));
  }
  template <class T>
  bool equal(const std::complex<T>& number) const {
    return !isBoolean() && toComplexDouble() == std::complex<double>(number);
  }
  bool equal(bool value) const { return isBoolean() && toBool() == value; }
  friend std::ostream& operator<<(std::ostream& out, const Scalar& value) {
    if (value.isBoolean()) return out << (value.toBool() ? "true" : "false");
    if (value.isComplex()) return out << value.toComplexDouble();
    return value.isFloatingPoint() ? out << value.toDouble() : out << ::taeda::str(static_cast<const Base&>(value));
  }

 private:
  // The core knows one integer of each size; long long is another type of 8 bytes.
  template <class T>
  using Core =
      std::conditional_t<std::is_same_v<T, bool> || std::is_floating_point_v<T>, T,
                         std::conditional_t<std::is_unsigned_v<T>, std::conditional_t<sizeof(T) == 8, uint64_t, T>,
                                            std::conditional_t<sizeof(T) == 8, int64_t, T>>>;
  template <class T>
  static auto widest(T value) {
    if constexpr (std::is_same_v<T, bool>)
      return value;
    else if constexpr (std::is_floating_point_v<T>)
      return static_cast<double>(value);
    else if constexpr (std::is_unsigned_v<T>)
      return static_cast<uint64_t>(value);
    else
      return static_cast<int64_t>(value);
  }
  template <class T>
  void check_range() const {
    if constexpr (!std::is_same_v<T, bool>) {
      double value = isComplex() ? Base::to<std::complex<double>>().real() : Base::as_double();
      bool fits = !isComplex() || Base::to<std::complex<double>>().imag() == 0;
      if constexpr (std::is_integral_v<T>)
        fits &= value >= static_cast<double>(std::numeric_limits<T>::lowest()) &&
                value <= static_cast<double>(std::numeric_limits<T>::max());
      else
        fits &= !(std::isfinite(value) && std::abs(value) > static_cast<double>(std::numeric_limits<T>::max()));
      fits |= std::is_unsigned_v<T> && value < 0 && value >= -static_cast<double>(std::numeric_limits<T>::max());
      if (!fits)
        throw std::runtime_error(
            c10::str("the number ", *this, " is out of the range of ", toString(CppTypeToScalarType<T>::value)));
    }
  }
};

}  // namespace c10

namespace at {
namespace detail {
inline std::optional<::taeda::Scalar> number_or_none(const std::optional<c10::Scalar>& value) {
  return value ? std::optional<::taeda::Scalar>(*value) : std::nullopt;
}
}  // namespace detail
}  // namespace at
