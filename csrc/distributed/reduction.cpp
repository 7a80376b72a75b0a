#include "distributed/reduction.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/multiversion.h"

namespace taeda::distributed {

namespace {

template <class T>
constexpr bool is_half = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
constexpr bool is_complex = false;
template <class T>
constexpr bool is_complex<std::complex<T>> = true;

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>)
      return a || b;
    else
      return static_cast<T>(a + b);
  }
};
struct Multiply {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>)
      return a && b;
    else if constexpr (std::is_integral_v<T>)  // small ones would be multiplied as int, and could overflow
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else
      return a * b;
  }
};
// A value that is no number stays, whichever side it is on.
struct Least {
  template <class T>
  T operator()(T a, T b) const {
    return b < a || b != b ? b : a;
  }
};
struct Most {
  template <class T>
  T operator()(T a, T b) const {
    return a < b || b != b ? b : a;
  }
};
struct And {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

template <class T, class Op>
TAEDA_VERSIONED void loop(T* __restrict into, const T* __restrict from, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (is_half<T>)
      into[i] = T(Op()(static_cast<float>(into[i]), static_cast<float>(from[i])));
    else
      into[i] = Op()(into[i], from[i]);
  }
}

#pragma GCC push_options
#pragma GCC optimize("O3")
#define TAEDA_LOOPS(T, Op) \
  TAEDA_MULTIVERSION(void run(T* into, const T* from, int64_t count, Op), (loop<T, Op>(into, from, count)))
#define TAEDA_ARITHMETIC(T) \
  TAEDA_LOOPS(T, Add)       \
  TAEDA_LOOPS(T, Multiply)  \
  TAEDA_LOOPS(T, Least)     \
  TAEDA_LOOPS(T, Most)
#define TAEDA_BITS(T) \
  TAEDA_ARITHMETIC(T) \
  TAEDA_LOOPS(T, And) \
  TAEDA_LOOPS(T, Or)  \
  TAEDA_LOOPS(T, Xor)

TAEDA_ARITHMETIC(float)
TAEDA_ARITHMETIC(double)
TAEDA_ARITHMETIC(Half)
TAEDA_ARITHMETIC(BFloat16)
TAEDA_BITS(int8_t)
TAEDA_BITS(uint8_t)
TAEDA_BITS(int16_t)
TAEDA_BITS(uint16_t)
TAEDA_BITS(int32_t)
TAEDA_BITS(uint32_t)
TAEDA_BITS(int64_t)
TAEDA_BITS(uint64_t)
TAEDA_BITS(bool)
TAEDA_LOOPS(complex64, Add)
TAEDA_LOOPS(complex128, Add)
#pragma GCC pop_options

[[noreturn]] void fail_dtype(DType dtype) { TAEDA_FAIL(Type, "there is no such reduction of ", info(dtype).name); }

// Calls f with the operation, if elements T have it.
template <class T, class F>
void visit_kind(DType dtype, ReduceKind kind, F&& f) {
  if (kind == ReduceKind::Sum || kind == ReduceKind::Avg) return f(Add());
  if constexpr (!is_complex<T>) {
    if (kind == ReduceKind::Product) return f(Multiply());
    if (kind == ReduceKind::Min) return f(Least());
    if (kind == ReduceKind::Max) return f(Most());
  }
  if constexpr (std::is_integral_v<T>) {
    if (kind == ReduceKind::And) return f(And());
    if (kind == ReduceKind::Or) return f(Or());
    if (kind == ReduceKind::Xor) return f(Xor());
  }
  fail_dtype(dtype);
}

}  // namespace

void check_reduction(DType dtype, ReduceKind kind) {
  visit(dtype, [&]<class T>() { visit_kind<T>(dtype, kind, [](auto) {}); });
}

void combine(DType dtype, ReduceKind kind, void* into, const void* from, int64_t count) {
  visit(dtype, [&]<class T>() {
    visit_kind<T>(dtype, kind, [&](auto op) { run(static_cast<T*>(into), static_cast<const T*>(from), count, op); });
  });
}

void divide(DType dtype, void* values, int64_t count, int64_t by) {
  visit(dtype, [&]<class T>() {
    T* at = static_cast<T*>(values);
    for (int64_t i = 0; i < count; ++i) {
      if constexpr (is_half<T>)
        at[i] = T(static_cast<float>(at[i]) / static_cast<float>(by));
      else if constexpr (std::is_integral_v<T>)
        at[i] = static_cast<T>(static_cast<int64_t>(at[i]) / by);
      else
        at[i] /= static_cast<decltype(std::abs(at[i]))>(by);
    }
  });
}

}  // namespace taeda::distributed
