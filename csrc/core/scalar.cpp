#include "taeda/core/scalar.h"

namespace taeda {

TAEDA_API DType Scalar::natural_dtype() const {
  switch (kind_) {
    case Kind::Bool:
      return DType::Bool;
    case Kind::Int:
      return DType::Int64;
    case Kind::UInt:
      return DType::UInt64;
    case Kind::Float:
      return default_dtype();
    default:
      return to_complex(default_dtype());
  }
}

Scalar Scalar::operator-() const {
  switch (kind_) {
    case Kind::Float:
      return -float_[0];
    case Kind::Complex:
      return complex128(-float_[0], -float_[1]);
    default:
      return static_cast<int64_t>(0 - static_cast<uint64_t>(int_));
  }
}

void append(std::string& out, const Scalar& value) {
  switch (value.kind()) {
    case Scalar::Kind::Bool:
      append_any(out, value.to<bool>());
      break;
    case Scalar::Kind::Complex: {
      complex128 z = value.to<complex128>();
      out += str("(", z.real(), z.imag() < 0 ? "" : "+", z.imag(), "j)");
      break;
    }
    case Scalar::Kind::Float:
      append_any(out, value.to<double>());
      break;
    default:
      append_any(out, value.to<int64_t>());
  }
}

}  // namespace taeda
