// The vocabulary of formulas over one vector: `V<T>` holds as many T as a register of this translation unit's
// instruction set, a mask is the vector of equally wide integers with all bits of a lane set or clear.
//
// These are the compiler's own vectors, so + - * / < == & | ~ and (mask ? a : b) need no wrappers and the same source
// serves every instruction set. Loops over lanes below become one instruction where the machine has one. Complex
// numbers have no vectors: V<Complex<T>> is the number itself and its mask is bool.
#pragma once
#include <cstdint>
#include <cstring>

#include "backend/common/complex.h"
#include "backend/common/math.h"
#include "backend/cpu/engine/complex_math.h"

#if defined(__AVX512F__)
#define TAEDA_ISA avx512
#define TAEDA_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define TAEDA_ISA avx2
#define TAEDA_VECTOR_BYTES 32
#else
#define TAEDA_ISA baseline
#define TAEDA_VECTOR_BYTES 16
#endif
#define TAEDA_INLINE [[gnu::always_inline]] static inline

namespace taeda::cpu {
[[noreturn]] void integer_division_by_zero();
[[noreturn]] void integer_negative_power();
}  // namespace taeda::cpu

namespace taeda::cpu::TAEDA_ISA {

// --- types
template <int kBytes>
struct IntOf;
template <>
struct IntOf<1> {
  using type = signed char;
};
template <>
struct IntOf<2> {
  using type = short;
};
template <>
struct IntOf<4> {
  using type = int32_t;
};
template <>
struct IntOf<8> {
  using type = int64_t;
};

template <class T>
struct Lane {
  static constexpr int count = TAEDA_VECTOR_BYTES / sizeof(T);
  using Int = typename IntOf<sizeof(T)>::type;
  typedef T Vector __attribute__((vector_size(TAEDA_VECTOR_BYTES)));
  typedef Int Mask __attribute__((vector_size(TAEDA_VECTOR_BYTES)));
  typedef signed char Bytes __attribute__((vector_size(count)));
};
template <class R>
struct Lane<Complex<R>> {
  static constexpr int count = 1;
  using Vector = Complex<R>;
  using Mask = bool;
};
template <class T>
using V = typename Lane<T>::Vector;
template <class T>
using M = typename Lane<T>::Mask;
template <class T>
constexpr int N = Lane<T>::count;
template <class T>
constexpr bool is_cx = false;
template <class R>
constexpr bool is_cx<Complex<R>> = true;
template <class T>
constexpr bool is_fp = static_cast<T>(0.5f) != static_cast<T>(0);
template <class R>
constexpr bool is_fp<Complex<R>> = true;

template <class T>
TAEDA_INLINE V<T> splat(T value) {
  if constexpr (is_cx<T>) {
    return value;
  } else {
    return value - V<T>{};  // a scalar operand is broadcast; x - 0 is x, whatever its sign
  }
}

// --- memory; a partial load fills the other lanes with ones, which no formula stumbles over
#if defined(__AVX512BW__)
typedef char RegisterBytes __attribute__((vector_size(64)));
template <class T>
TAEDA_INLINE uint64_t first_bytes(int64_t n) {
  return (uint64_t{1} << n * sizeof(T)) - 1;
}  // n < N<T>
#endif
template <class T>
struct [[gnu::packed, gnu::may_alias]] Parts {  // of a complex number at any address, as loops over many can read them
  decltype(T::re) re, im;
};
template <class T>
TAEDA_INLINE V<T> load(const void* p) {
  if constexpr (is_cx<T>) {
    auto parts = static_cast<const Parts<T>*>(p);
    return {parts->re, parts->im};
  } else {
    V<T> r;
    std::memcpy(&r, p, sizeof r);
    return r;
  }
}
template <class T>
TAEDA_INLINE V<T> load(const void* p, int64_t n) {
  V<T> r = splat(T(1));
#if defined(__AVX512BW__)
  if constexpr (!is_cx<T>)
    return (V<T>)__builtin_ia32_loaddquqi512_mask(static_cast<const char*>(p), (RegisterBytes)r, first_bytes<T>(n));
#endif
  std::memcpy(&r, p, n * sizeof(T));
  return r;
}
template <class T>
TAEDA_INLINE void store(void* p, V<T> v) {
  if constexpr (is_cx<T>) {
    auto parts = static_cast<Parts<T>*>(p);
    parts->re = v.re;
    parts->im = v.im;
  } else {
    std::memcpy(p, &v, sizeof v);
  }
}
template <class T>
TAEDA_INLINE void store(void* p, V<T> v, int64_t n) {
#if defined(__AVX512BW__)
  if constexpr (!is_cx<T>)
    return __builtin_ia32_storedquqi512_mask(static_cast<char*>(p), (RegisterBytes)v, first_bytes<T>(n));
#endif
  std::memcpy(p, &v, n * sizeof(T));
}
#if defined(__AVX2__)
TAEDA_INLINE M<float> spread_bytes(const void* p) {  // of which the compiler makes several instructions
  typedef char Bytes __attribute__((vector_size(16)));
#if defined(__AVX512F__)
  Bytes bytes;
  std::memcpy(&bytes, p, sizeof bytes);
  return (M<float>)__builtin_ia32_pmovsxbd512_mask(bytes, V<int>{}, 0xffff);
#else
  typedef int64_t Halves __attribute__((vector_size(16)));
  int64_t eight;
  std::memcpy(&eight, p, sizeof eight);
  return (M<float>)__builtin_ia32_pmovsxbd256((Bytes)Halves{eight, 0});
#endif
}
#endif
template <class T>
TAEDA_INLINE M<T> load_mask(const void* p) {
  if constexpr (is_cx<T>) {
    return *static_cast<const char*>(p) != 0;
  } else {
#if defined(__AVX2__)
    if constexpr (sizeof(T) == 4) return (M<T>)spread_bytes(p) != 0;
#endif
    typename Lane<T>::Bytes bytes;
    std::memcpy(&bytes, p, sizeof bytes);
    return __builtin_convertvector(bytes, M<T>) != 0;
  }
}
template <class T>
TAEDA_INLINE M<T> load_mask(const void* p, int64_t n) {
  char bytes[N<T>] = {};
  std::memcpy(bytes, p, n);
  return load_mask<T>(bytes);
}
// n <= N<T>: whole where it can be.
template <class T>
TAEDA_INLINE V<T> partial_load(const void* p, int64_t n) {
  return n == N<T> ? load<T>(p) : load<T>(p, n);
}
template <class T>
TAEDA_INLINE void partial_store(void* p, V<T> v, int64_t n) {
  n == N<T> ? store<T>(p, v) : store<T>(p, v, n);
}
// A truth value is stored as the byte 0 or 1.
template <class T>
TAEDA_INLINE void store_mask(void* p, M<T> m) {
  if constexpr (is_cx<T>) {
    *static_cast<char*>(p) = m;
  } else {
    typename Lane<T>::Bytes bytes = __builtin_convertvector(m, typename Lane<T>::Bytes) & 1;
    std::memcpy(p, &bytes, sizeof bytes);
  }
}
template <class T>
TAEDA_INLINE void store_mask(void* p, M<T> m, int64_t n) {
  char bytes[N<T>];
  store_mask<T>(bytes, m);
  std::memcpy(p, bytes, n);
}

// --- lane by lane
template <class T, class F>
TAEDA_INLINE V<T> lanes(V<T> a, F f) {
  V<T> r;
  for (int i = 0; i < N<T>; ++i) r[i] = f(T(a[i]));
  return r;
}
template <class T, class F>
TAEDA_INLINE V<T> lanes(V<T> a, V<T> b, F f) {
  V<T> r;
  for (int i = 0; i < N<T>; ++i) r[i] = f(T(a[i]), T(b[i]));
  return r;
}

// --- masks
template <class T>
TAEDA_INLINE V<T> where(M<T> m, V<T> a, V<T> b) {
  return m ? a : b;
}
template <class T>
TAEDA_INLINE M<T> select_mask(M<T> m, M<T> a, M<T> b) {
  return m ? a : b;
}
template <class T>
TAEDA_INLINE V<T> from_mask(M<T> m) {
  return m ? splat(T(1)) : splat(T(0));
}
template <class T>
TAEDA_INLINE M<T> to_mask(V<T> v) {
  if constexpr (is_cx<T>)
    return v.re != 0 || v.im != 0;
  else
    return v != splat(T(0));
}
template <class T>
TAEDA_INLINE M<T> not_mask(M<T> m) {
  if constexpr (is_cx<T>)
    return !m;
  else
    return ~m;
}
template <class T>
TAEDA_INLINE M<T> const_mask(bool value) {
  if constexpr (is_cx<T>)
    return value;
  else
    return M<T>{} - typename Lane<T>::Int(value);
}

template <class T>
TAEDA_INLINE M<T> bits_of(V<T> v) {
  M<T> r;
  std::memcpy(&r, &v, sizeof r);
  return r;
}
template <class T>
TAEDA_INLINE V<T> of_bits(M<T> m) {
  V<T> r;
  std::memcpy(&r, &m, sizeof r);
  return r;
}
template <class T>
TAEDA_INLINE M<T> sign_bit() {
  return bits_of<T>(splat(T(-0.0)));
}

}  // namespace taeda::cpu::TAEDA_ISA

#include "backend/cpu/engine/vec_math.h"
