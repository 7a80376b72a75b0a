// Small helpers of generated derivatives: owning what a node keeps, and arithmetic between numbers.
#pragma once
#include <algorithm>
#include <cmath>
#include <compare>
#include <optional>
#include <string>

#include "taeda/autograd/record.h"

namespace taeda {

// Number with number in a derivative, e.g. exponent - 1.
inline Scalar combine(const Scalar& a, const Scalar& b, auto&& op) {
  if (a.kind() == Scalar::Kind::Complex || b.kind() == Scalar::Kind::Complex)
    return op(a.to<complex128>(), b.to<complex128>());
  if (a.kind() == Scalar::Kind::Float || b.kind() == Scalar::Kind::Float) return op(a.as_double(), b.as_double());
  return op(a.as_int(), b.as_int());
}
inline Scalar operator+(const Scalar& a, const Scalar& b) {
  return combine(a, b, [](auto x, auto y) { return Scalar(x + y); });
}
inline Scalar operator-(const Scalar& a, const Scalar& b) {
  return combine(a, b, [](auto x, auto y) { return Scalar(x - y); });
}
inline Scalar operator*(const Scalar& a, const Scalar& b) {
  return combine(a, b, [](auto x, auto y) { return Scalar(x * y); });
}
inline Scalar operator/(const Scalar& a, const Scalar& b) {
  if (a.kind() == Scalar::Kind::Complex || b.kind() == Scalar::Kind::Complex)
    return a.to<complex128>() / b.to<complex128>();
  return a.as_double() / b.as_double();
}
inline bool operator==(const Scalar& a, double b) { return a.equals(b); }
inline std::partial_ordering operator<=>(const Scalar& a, double b) { return a.as_double() <=> b; }

namespace number {
#define TAEDA_NUMBER_FUNCTION(name) \
  inline Scalar name(const Scalar& x) { return std::name(x.as_double()); }
TAEDA_NUMBER_FUNCTION(exp)
TAEDA_NUMBER_FUNCTION(log)
TAEDA_NUMBER_FUNCTION(log1p)
TAEDA_NUMBER_FUNCTION(log2)
TAEDA_NUMBER_FUNCTION(expm1)
TAEDA_NUMBER_FUNCTION(tanh)
TAEDA_NUMBER_FUNCTION(erf)
TAEDA_NUMBER_FUNCTION(lgamma)
TAEDA_NUMBER_FUNCTION(sqrt)
TAEDA_NUMBER_FUNCTION(abs)
#undef TAEDA_NUMBER_FUNCTION
inline Scalar conj(const Scalar& x) {
  return x.kind() == Scalar::Kind::Complex ? Scalar(std::conj(x.to<complex128>())) : x;
}
inline Scalar pow(const Scalar& x, const Scalar& y) { return std::pow(x.as_double(), y.as_double()); }
inline Scalar maximum(const Scalar& x, const Scalar& y) { return std::max(x.as_double(), y.as_double()); }
inline Scalar minimum(const Scalar& x, const Scalar& y) { return std::min(x.as_double(), y.as_double()); }
}  // namespace number

namespace autograd {

// What a node keeps of an argument that only lends its memory, and that memory lent on.
TAEDA_API void keep(std::vector<int64_t>& kept, IntList list);
TAEDA_API void keep(std::vector<double>& kept, std::span<const double> list);
TAEDA_API void keep(std::vector<Scalar>& kept, std::span<const Scalar> list);
TAEDA_API void keep(std::string& kept, std::string_view text);
template <class Kept, class T>
void keep(std::optional<Kept>& kept, const std::optional<T>& lent) {
  if (lent) keep(kept.emplace(), *lent);
}
// The same for a closure.
inline std::vector<int64_t> own(IntList list) { return {list.begin(), list.end()}; }
inline std::string own(std::string_view text) { return std::string(text); }
template <class T>
auto own(const std::optional<T>& value) {
  return value ? std::make_optional(own(*value)) : std::nullopt;
}
// The sizes of every tensor of a list, each preceded by how many they are: `tensors.sizes()` in a derivative.
TAEDA_API std::vector<int64_t> pack_sizes(TensorList list);
inline IntList view_of(const std::vector<int64_t>& list) { return list; }
inline std::span<const double> view_of(const std::vector<double>& list) { return list; }
inline std::span<const Scalar> view_of(const std::vector<Scalar>& list) { return list; }
inline TensorList view_of(const std::vector<Tensor>& list) { return list; }
inline std::string_view view_of(const std::string& text) { return text; }
template <class T>
auto view_of(const std::optional<T>& value) {
  return value ? std::make_optional(view_of(*value)) : std::nullopt;
}

// As a Value, for grad_fn._saved_* in Python.
template <class T>
Value box(const T& value) {
  if constexpr (std::is_same_v<T, std::string>)
    return Value(std::string_view(value));
  else
    return Value(value);
}
template <class T>
Value box(const std::optional<T>& value) {
  return value ? box(*value) : Value();
}

TAEDA_API void fill_undefined(std::span<Tensor> grads, std::span<const InputMetadata> metadata);

// A derivative's list of gradients into the node's results.
inline void place_list(std::vector<Tensor> list, std::span<Tensor> target) {
  std::move(list.begin(), list.end(), target.begin());
}
inline size_t count_of(const Tensor&) { return 1; }
inline size_t count_of(TensorList list) { return list.size(); }

// t * factor, which is mostly an alpha that nobody set.
TAEDA_API Tensor scaled_by(const Tensor& t, const Scalar& factor);
inline Tensor scaled(const Tensor& t, const Scalar& factor) { return factor.equals(1) ? t : scaled_by(t, factor); }

// A number where an op takes only tensors; it takes part in promotion as a number.
TAEDA_API Tensor number_tensor(const Scalar& value);

TAEDA_API Tensor conj_of_complex(const Tensor& t);
inline Tensor conj_of(const Tensor& t) { return is_complex(t.dtype()) ? conj_of_complex(t) : t; }
inline Scalar conj_of(const Scalar& x) { return number::conj(x); }

// What `self` held before an in-place call whose derivative reads it, with its history and its tangents.
TAEDA_API Tensor clone_for_inplace(const Tensor& self);

}  // namespace autograd
}  // namespace taeda
