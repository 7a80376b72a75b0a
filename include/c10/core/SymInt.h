// Sizes that graphs may leave open; in C++ they are numbers.
#pragma once
#include <algorithm>

#include <c10/util/OptionalArrayRef.h>

namespace c10 {

class SymInt {
 public:
  SymInt(int64_t value = 0) : value_(value) {}
  operator int64_t() const { return value_; }
  int64_t expect_int() const { return value_; }
  int64_t guard_int(const char*, int64_t) const { return value_; }
  std::optional<int64_t> maybe_as_int() const { return value_; }
  bool is_symbolic() const { return false; }
  bool is_heap_allocated() const { return false; }
  int64_t as_int_unchecked() const { return value_; }
  bool has_hint() const { return true; }
  SymInt clone() const { return *this; }
  SymInt min(SymInt other) const { return std::min(value_, other.value_); }
  SymInt max(SymInt other) const { return std::max(value_, other.value_); }
  bool sym_eq(SymInt other) const { return value_ == other.value_; }
  bool sym_ne(SymInt other) const { return value_ != other.value_; }
  bool sym_lt(SymInt other) const { return value_ < other.value_; }
  bool sym_le(SymInt other) const { return value_ <= other.value_; }
  bool sym_gt(SymInt other) const { return value_ > other.value_; }
  bool sym_ge(SymInt other) const { return value_ >= other.value_; }
  friend std::ostream& operator<<(std::ostream& out, const SymInt& size) { return out << size.value_; }

 private:
  int64_t value_;
};
static_assert(sizeof(SymInt) == sizeof(int64_t));
using SymIntArrayRef = ArrayRef<SymInt>;
using OptionalSymIntArrayRef = OptionalArrayRef<SymInt>;
using SymFloat = double;
using SymBool = bool;

inline IntArrayRef asIntArrayRefUnchecked(SymIntArrayRef sizes) {
  return {reinterpret_cast<const int64_t*>(sizes.data()), sizes.size()};
}
inline IntArrayRef asIntArrayRefSlow(SymIntArrayRef sizes) { return asIntArrayRefUnchecked(sizes); }
inline OptionalIntArrayRef asIntArrayRefSlowOpt(OptionalSymIntArrayRef sizes) {
  return sizes ? OptionalIntArrayRef(asIntArrayRefUnchecked(*sizes)) : std::nullopt;
}
#define C10_AS_INTARRAYREF_SLOW(a) c10::asIntArrayRefSlow(a)
inline SymIntArrayRef fromIntArrayRef(IntArrayRef sizes) {
  return {reinterpret_cast<const SymInt*>(sizes.data()), sizes.size()};
}
inline SymIntArrayRef fromIntArrayRefSlow(IntArrayRef sizes) { return fromIntArrayRef(sizes); }

}  // namespace c10
