// Objects of classes as arguments and results, boxed for a kernel as they are for everybody else; and lists of ints as
// results.
#pragma once
#include "taeda/dispatch/boxing.h"

namespace taeda {

template <>
struct Unbox<const Value&> {
  using Held = const Value&;
  static const Value& read(const Value& v) { return v; }
};
template <>
struct Unbox<Value> {
  using Held = Value;
  static Value read(const Value& v) { return v; }
};

template <>
struct Unbox<std::vector<int64_t>> {
  using Held = std::vector<int64_t>;
  static Held read(const Value& v) { return {v.to_int_list().begin(), v.to_int_list().end()}; }
};

}  // namespace taeda
