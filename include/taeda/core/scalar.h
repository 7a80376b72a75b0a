// A Python number on its way to a kernel. It takes part in promotion by its category only.
#pragma once
#include <complex>
#include <cstdint>
#include <optional>

#include "taeda/core/dtype.h"

namespace taeda {

class Scalar {
 public:
  enum class Kind : uint8_t { Bool, Int, UInt, Float, Complex };  // UInt: above int64's range

  Scalar() : Scalar(int64_t{0}) {}
  Scalar(bool value) : kind_(Kind::Bool), int_(value) {}
  Scalar(int value) : Scalar(static_cast<int64_t>(value)) {}
  Scalar(int64_t value) : kind_(Kind::Int), int_(value) {}
  Scalar(uint64_t value) : kind_(value > INT64_MAX ? Kind::UInt : Kind::Int), int_(static_cast<int64_t>(value)) {}
  Scalar(double value) : kind_(Kind::Float), float_{value, 0} {}
  Scalar(float value) : Scalar(static_cast<double>(value)) {}
  Scalar(complex128 value) : kind_(Kind::Complex), float_{value.real(), value.imag()} {}

  Kind kind() const { return kind_; }
  bool is_integral() const { return kind_ <= Kind::UInt && kind_ != Kind::Bool; }
  Category category() const {
    constexpr Category kOf[] = {Category::Bool, Category::Integral, Category::Integral, Category::Floating,
                                Category::Complex};
    return kOf[static_cast<int>(kind_)];
  }
  // The dtype a tensor made from this number alone has.
  DType natural_dtype() const;

  // Converts without a range check, as an assignment to a tensor's element does.
  template <class T>
  T to() const {
    switch (kind_) {
      case Kind::Bool:
        return convert<T>(int_ != 0);
      case Kind::Int:
        return convert<T>(int_);
      case Kind::UInt:
        return convert<T>(static_cast<uint64_t>(int_));
      case Kind::Float:
        return convert<T>(float_[0]);
      default:
        return convert<T>(complex128(float_[0], float_[1]));
    }
  }
  double as_double() const { return to<double>(); }
  int64_t as_int() const { return to<int64_t>(); }
  Scalar operator-() const;
  bool equals(double value) const {
    return kind_ == Kind::Complex ? to<complex128>() == complex128(value) : as_double() == value;
  }

 private:
  Kind kind_;
  union {
    int64_t int_;
    double float_[2];
  };
};

TAEDA_API void append(std::string& out, const Scalar& value);

}  // namespace taeda
