#include "backend/cpu/engine/combine.h"

#include <cstring>
#include <limits>

#include "backend/cpu/engine/tensor_iterator.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/copy.h"

namespace taeda::cpu {

namespace {

template <class T>
T load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <class T>
void store(char* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

int64_t position(const char* index) { return load<int64_t>(index); }

template <Combine kCombine, class T>
T combined(T a, T b) {
  if constexpr (kCombine == Combine::Put) {
    return b;
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return T(combined<kCombine>(static_cast<float>(a), static_cast<float>(b)));
  } else if constexpr (std::is_same_v<T, bool>) {
    return kCombine == Combine::Sum || kCombine == Combine::Max ? a || b : a && b;
  } else if constexpr (kCombine == Combine::Max) {
    return b > a || b != b ? b : a;
  } else if constexpr (kCombine == Combine::Min) {
    return b < a || b != b ? b : a;
  } else if constexpr (std::is_integral_v<T>) {  // wraps around
    uint64_t x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    return static_cast<T>(kCombine == Combine::Sum ? x + y : x * y);
  } else {
    return kCombine == Combine::Sum ? a + b : a * b;
  }
}

template <Combine kCombine, class T>
void combine_row(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t n) {
  constexpr int64_t kSize = sizeof(T);
  if (to_step == kSize && from_step == kSize) {
    if constexpr (kCombine == Combine::Put) {
      std::memcpy(to, from, n * kSize);
    } else {
      T* target = reinterpret_cast<T*>(to);
      const T* source = reinterpret_cast<const T*>(from);
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) target[i] = combined<kCombine, T>(target[i], source[i]);
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i, to += to_step, from += from_step)
    store<T>(to, combined<kCombine, T>(load<T>(to), load<T>(from)));
}

template <Combine kCombine, class T>
int64_t combine_at(char* to, int64_t to_step, const char* index, int64_t index_step, int64_t size, int64_t stride,
                   const char* from, int64_t from_step, int64_t n) {
  if (index_step == 0) {  // one place for all: a row
    if (n == 0) return 0;
    int64_t p = position(index);
    if (static_cast<uint64_t>(p) >= static_cast<uint64_t>(size)) return 0;
    combine_row<kCombine, T>(to + p * stride, to_step, from, from_step, n);
    return n;
  }
  for (int64_t i = 0; i < n; ++i, to += to_step, index += index_step, from += from_step) {
    int64_t p = position(index);
    if (static_cast<uint64_t>(p) >= static_cast<uint64_t>(size)) [[unlikely]]
      return i;
    char* target = to + p * stride;
    store<T>(target, combined<kCombine, T>(load<T>(target), load<T>(from)));
  }
  return n;
}

template <class T>
int64_t pick(char* to, int64_t to_step, const char* from, int64_t from_step, const char* index, int64_t index_step,
             int64_t size, int64_t stride, int64_t n) {
  if (index_step == 0) {
    if (n == 0) return 0;
    int64_t p = position(index);
    if (static_cast<uint64_t>(p) >= static_cast<uint64_t>(size)) return 0;
    combine_row<Combine::Put, T>(to, to_step, from + p * stride, from_step, n);
    return n;
  }
  for (int64_t i = 0; i < n; ++i, to += to_step, from += from_step, index += index_step) {
    int64_t p = position(index);
    if (static_cast<uint64_t>(p) >= static_cast<uint64_t>(size)) [[unlikely]]
      return i;
    std::memcpy(to, from + p * stride, sizeof(T));
  }
  return n;
}

template <Combine kCombine>
RowOps ops_of(DType dtype) {
  return visit(dtype, [&]<class T>() -> RowOps {
    constexpr bool kOrdered = kCombine == Combine::Max || kCombine == Combine::Min;
    if constexpr (kOrdered && (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>))
      TAEDA_FAIL(NotImplemented, "complex numbers have no order: neither largest nor smallest can be kept");
    else
      return {combine_row<kCombine, T>, combine_at<kCombine, T>};
  });
}

}  // namespace

RowOps row_ops(Combine combine, DType dtype) {
  switch (combine) {
    case Combine::Sum:
      return ops_of<Combine::Sum>(dtype);
    case Combine::Prod:
      return ops_of<Combine::Prod>(dtype);
    case Combine::Max:
      return ops_of<Combine::Max>(dtype);
    case Combine::Min:
      return ops_of<Combine::Min>(dtype);
    default:
      return by_size(itemsize(dtype),
                     []<class T>() -> RowOps { return {combine_row<Combine::Put, T>, combine_at<Combine::Put, T>}; });
  }
}

void neutral_element(Combine combine, DType dtype, void* to) {
  visit(dtype, [&]<class T>() {
    T value{};
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      constexpr float kInfinity = std::numeric_limits<float>::infinity();
      value = T(combine == Combine::Prod  ? 1.0f
                : combine == Combine::Max ? -kInfinity
                : combine == Combine::Min ? kInfinity
                                          : 0.0f);
    } else {
      if (combine == Combine::Prod) value = T(1);
      if constexpr (std::numeric_limits<T>::is_specialized) {
        using Limits = std::numeric_limits<T>;
        if (combine == Combine::Max) value = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
        if (combine == Combine::Min) value = Limits::has_infinity ? Limits::infinity() : Limits::max();
      }
    }
    std::memcpy(to, &value, sizeof(T));
  });
}

void divide_mean(const Tensor& sums, const Tensor& count) {
  if (is_integral(sums.dtype()))
    ops::copy_(sums, ops::floor_divide(sums, count));
  else
    ops::copy_(sums, ops::div(sums, count));
}

Pick pick_of(int64_t itemsize) {
  return by_size(itemsize, []<class T>() -> Pick { return pick<T>; });
}

}  // namespace taeda::cpu
