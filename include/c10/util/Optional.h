// Optional values are the standard library's.
#pragma once
#include <optional>

namespace c10 {
using std::bad_optional_access;
using std::in_place_t;
using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::optional;
template <class T>
T value_or_else(const std::optional<T>& v, auto&& f) {
  return v ? *v : f();
}
}  // namespace c10
namespace at {
using std::make_optional;
using std::nullopt;
using std::optional;
}  // namespace at
