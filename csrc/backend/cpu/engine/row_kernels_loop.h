// The row loops of one instruction set; included by rows.<instruction set>.cpp.
#pragma once
#include <utility>

#include "backend/cpu/engine/row_kernels.h"
#include "backend/cpu/engine/vec.h"

// Loops are written with lambdas, which cost a call for each vector unless they are inlined.
#define TAEDA_ROW [[gnu::flatten]]

namespace taeda::cpu::TAEDA_ISA {

namespace {

// One instruction, where splat's loop over lanes may become a chain of them. (x - 0 is x, -0 included.)
template <class T>
TAEDA_INLINE V<T> broadcast(T value) {
  return value - V<T>{};
}

template <class T>
TAEDA_INLINE M<T> first_lanes(int64_t n) {
  V<T> lane;
  for (int i = 0; i < N<T>; ++i) lane[i] = static_cast<T>(i);
  return lane < broadcast(static_cast<T>(n));
}

// body(position, count) for every vector of a row; the last one may be partial.
template <class T, class F>
TAEDA_INLINE void each(int64_t n, const F& body) {
  int64_t i = 0;
  for (; i + N<T> <= n; i += N<T>) body(i, int64_t{N<T>});
  if (i < n) body(i, n - i);
}

// Lanes are moved by one instruction: a loop over them would go through memory.
template <class T, int kHalf, size_t... kLanes>
TAEDA_INLINE V<T> lowered(V<T> v, std::index_sequence<kLanes...>) {
  return __builtin_shufflevector(v, v, static_cast<int>(kLanes < kHalf ? kLanes + kHalf : kLanes)...);
}

template <class T, class Join, int kHalf = N<T> / 2>
TAEDA_INLINE T across(V<T> v, const Join& join) {
  if constexpr (kHalf == 0)
    return v[0];
  else
    return across<T, Join, kHalf / 2>(join(v, lowered<T, kHalf>(v, std::make_index_sequence<N<T>>())), join);
}

// Joins value(position, count) over a row, four vectors abreast.
template <class T, class Value, class Join>
TAEDA_INLINE T fold(int64_t n, T start, const Value& value, const Join& join) {
  V<T> a = broadcast(start), b = a, c = a, d = a;
  int64_t i = 0;
  constexpr int64_t w = N<T>;
  for (; i + 4 * w <= n; i += 4 * w) {
    a = join(a, value(i, w));
    b = join(b, value(i + w, w));
    c = join(c, value(i + 2 * w, w));
    d = join(d, value(i + 3 * w, w));
  }
  for (; i + w <= n; i += w) a = join(a, value(i, w));
  if (i < n) b = join(b, where<T>(first_lanes<T>(n - i), value(i, n - i), broadcast(start)));
  return across<T>(join(join(a, b), join(c, d)), join);
}
// Lanes that took millions of numbers would lose the small ones, so blocks are summed in double.
template <class T, class Value>
TAEDA_INLINE T total(int64_t n, const Value& value) {
  constexpr int64_t kBlock = 1 << 14;
  double sum = 0;
  for (int64_t from = 0; from < n; from += kBlock)
    sum += fold<T>(
        std::min(kBlock, n - from), T(0), [&](int64_t i, int64_t count) { return value(from + i, count); },
        [](V<T> a, V<T> b) { return a + b; });
  return static_cast<T>(sum);
}

template <class T>
constexpr T kInfinity = static_cast<T>(__builtin_inf());

// --- softmax

// exp to about 1 ULP for float, for arguments up to 88: 2^n times a polynomial on [-ln 2 / 2, ln 2 / 2], whose
// coefficients are those of the Taylor series. Results below the normal range are 0. It is inlined into the loops,
// which a library call is not, and takes half of one's time.
template <class T>
TAEDA_INLINE V<T> quick_exp(V<T> x) {
  if constexpr (sizeof(T) == 8) {
    return exp<T>(x);
  } else {
    V<T> n = round<T>(x * broadcast(1.44269504f));
    V<T> r = fma<T>(n, broadcast(-1.42860677e-6f), fma<T>(n, broadcast(-0.693145752f), x));
    V<T> p = fma<T>(broadcast(1.0f / 5040), r, broadcast(1.0f / 720));
    p = fma<T>(p, r, broadcast(1.0f / 120));
    p = fma<T>(p, r, broadcast(1.0f / 24));
    p = fma<T>(p, r, broadcast(1.0f / 6));
    p = fma<T>(p, r, broadcast(0.5f));
    p = fma<T>(p, r, broadcast(1.0f));
    p = fma<T>(p, r, broadcast(1.0f));
    M<T> bits = __builtin_convertvector(maximum<T>(n, broadcast(-127.0f)), M<T>) + 127;
    V<T> result = p * of_bits<T>(bits << 23);
    return x < broadcast(-87.3f) ? broadcast(0.0f) : x != x ? x : result;
  }
}

template <class T>
TAEDA_ROW T row_maximum(const T* x, int64_t n) {
  return fold<T>(
      n, -kInfinity<T>, [&](int64_t i, int64_t c) { return partial_load<T>(x + i, c); },
      [](V<T> a, V<T> b) { return maximum<T>(a, b); });
}

template <class T>
TAEDA_ROW T row_exp_sum(const T* x, T* y, int64_t n, T shift) {
  return total<T>(n, [&](int64_t i, int64_t c) {
    V<T> e = quick_exp<T>(partial_load<T>(x + i, c) - broadcast(shift));
    if (y) partial_store<T>(y + i, e, c);
    return e;
  });
}
template <class T>
TAEDA_ROW T row_exp_sum_inplace(T* x, int64_t n, T shift) {
  return row_exp_sum<T>(x, x, n, shift);
}

template <class T>
TAEDA_ROW T row_log_sum_exp(const T* x, int64_t n) {
  T top = row_maximum(x, n);
  if (__builtin_isinf(top)) return top;
  return top + std::log(row_exp_sum<T>(x, nullptr, n, top));
}

template <class T>
TAEDA_ROW void row_affine(const T* x, T* y, int64_t n, T a, T b) {
  each<T>(n, [&](int64_t i, int64_t c) {
    partial_store<T>(y + i, fma<T>(partial_load<T>(x + i, c), broadcast(a), broadcast(b)), c);
  });
}

template <class T>
TAEDA_ROW void row_softmax(const T* x, T* y, int64_t n) {
  T scale = 1 / row_exp_sum<T>(x, y, n, row_maximum(x, n));
  each<T>(n, [&](int64_t i, int64_t c) { partial_store<T>(y + i, partial_load<T>(y + i, c) * broadcast(scale), c); });
}
template <class T>
TAEDA_ROW void row_log_softmax(const T* x, T* y, int64_t n) {
  T top = row_maximum(x, n), rest = std::log(row_exp_sum<T>(x, nullptr, n, top));
  each<T>(n, [&](int64_t i, int64_t c) {
    partial_store<T>(y + i, partial_load<T>(x + i, c) - broadcast(top) - broadcast(rest), c);
  });
}

template <class T>
TAEDA_ROW T row_dot(const T* x, const T* y, int64_t n) {
  return total<T>(n, [&](int64_t i, int64_t c) { return partial_load<T>(x + i, c) * partial_load<T>(y + i, c); });
}
template <class T>
TAEDA_ROW T row_sum(const T* x, int64_t n) {
  return total<T>(n, [&](int64_t i, int64_t c) { return partial_load<T>(x + i, c); });
}

template <class T>
TAEDA_ROW void row_softmax_backward(const T* grad, const T* y, T* out, int64_t n) {
  V<T> mean = broadcast(row_dot(grad, y, n));
  each<T>(n, [&](int64_t i, int64_t c) {
    partial_store<T>(out + i, partial_load<T>(y + i, c) * (partial_load<T>(grad + i, c) - mean), c);
  });
}
template <class T>
TAEDA_ROW void row_log_softmax_backward(const T* grad, const T* y, T* out, int64_t n) {
  V<T> sum = broadcast(row_sum(grad, n));
  each<T>(n, [&](int64_t i, int64_t c) {
    partial_store<T>(out + i, partial_load<T>(grad + i, c) - quick_exp<T>(partial_load<T>(y + i, c)) * sum, c);
  });
}

template <class T>
TAEDA_ROW void columns_softmax(const T* x, T* y, int64_t n, int64_t width, int64_t step, bool is_log) {
  each<T>(width, [&](int64_t at, int64_t c) {
    V<T> top = broadcast(-kInfinity<T>), sum = broadcast(T(0));
    for (int64_t i = 0; i < n; ++i) top = maximum<T>(top, partial_load<T>(x + i * step + at, c));
    for (int64_t i = 0; i < n; ++i) {
      V<T> e = quick_exp<T>(partial_load<T>(x + i * step + at, c) - top);
      if (!is_log) partial_store<T>(y + i * step + at, e, c);
      sum = sum + e;
    }
    V<T> last = is_log ? log<T>(sum) : broadcast(T(1)) / sum;
    for (int64_t i = 0; i < n; ++i) {
      T* to = y + i * step + at;
      partial_store<T>(to, is_log ? partial_load<T>(x + i * step + at, c) - top - last : partial_load<T>(to, c) * last,
                       c);
    }
  });
}

template <class T>
TAEDA_ROW void columns_softmax_backward(const T* grad, const T* y, T* out, int64_t n, int64_t width, int64_t step,
                                        bool is_log) {
  each<T>(width, [&](int64_t at, int64_t c) {
    V<T> sum = broadcast(T(0));
    for (int64_t i = 0; i < n; ++i) {
      V<T> g = partial_load<T>(grad + i * step + at, c);
      sum = sum + (is_log ? g : g * partial_load<T>(y + i * step + at, c));
    }
    for (int64_t i = 0; i < n; ++i) {
      V<T> g = partial_load<T>(grad + i * step + at, c), v = partial_load<T>(y + i * step + at, c);
      partial_store<T>(out + i * step + at, is_log ? g - quick_exp<T>(v) * sum : v * (g - sum), c);
    }
  });
}

template <class T>
TAEDA_ROW void row_exp_shifted(const T* x, T* y, int64_t n, T shift, T scale) {
  each<T>(n, [&](int64_t i, int64_t c) {
    partial_store<T>(y + i, quick_exp<T>(partial_load<T>(x + i, c) - broadcast(shift)) * broadcast(scale), c);
  });
}

// --- sums

template <class T>
TAEDA_ROW Pair<T> row_moments(const T* x, int64_t n) {
  T mean = row_sum(x, n) / static_cast<T>(n);
  T squares = total<T>(n, [&](int64_t i, int64_t c) {
    V<T> d = partial_load<T>(x + i, c) - broadcast(mean);
    return d * d;
  });
  return {mean, squares};
}

template <class T>
TAEDA_ROW Pair<T> row_dots(const T* g, const T* x, int64_t n, T mean) {
  V<T> to_g = broadcast(T(0)), to_gx = to_g;
  each<T>(n, [&](int64_t i, int64_t c) {
    V<T> v = partial_load<T>(g + i, c);
    if (c < N<T>) v = where<T>(first_lanes<T>(c), v, broadcast(T(0)));
    to_g = to_g + v;
    to_gx = fma<T>(v, partial_load<T>(x + i, c) - broadcast(mean), to_gx);
  });
  auto add = [](V<T> a, V<T> b) { return a + b; };
  return {across<T>(to_g, add), across<T>(to_gx, add)};
}

// --- lines

template <class T>
TAEDA_ROW void row_affine_each(const T* x, const T* a, const T* b, T* y, int64_t n) {
  each<T>(n, [&](int64_t i, int64_t c) {
    partial_store<T>(y + i, fma<T>(partial_load<T>(x + i, c), partial_load<T>(a + i, c), partial_load<T>(b + i, c)), c);
  });
}
template <class T>
TAEDA_ROW void row_combine(const T* g, const T* x, T* y, int64_t n, T a, T b, T k) {
  each<T>(n, [&](int64_t i, int64_t c) {
    V<T> rest = fma<T>(partial_load<T>(x + i, c), broadcast(b), broadcast(k));
    partial_store<T>(y + i, fma<T>(partial_load<T>(g + i, c), broadcast(a), rest), c);
  });
}
template <class T>
TAEDA_ROW void row_combine_each(const T* g, const T* x, T* y, int64_t n, const T* a, const T* b, const T* k) {
  each<T>(n, [&](int64_t i, int64_t c) {
    V<T> rest = fma<T>(partial_load<T>(x + i, c), partial_load<T>(b + i, c), partial_load<T>(k + i, c));
    partial_store<T>(y + i, fma<T>(partial_load<T>(g + i, c), partial_load<T>(a + i, c), rest), c);
  });
}
template <class T>
TAEDA_ROW void row_scale_add(const T* x, T* y, int64_t n, T a) {
  each<T>(n, [&](int64_t i, int64_t c) {
    partial_store<T>(y + i, fma<T>(partial_load<T>(x + i, c), broadcast(a), partial_load<T>(y + i, c)), c);
  });
}
template <class T>
TAEDA_ROW void row_accumulate(const T* x, T* y, int64_t n) {
  each<T>(n, [&](int64_t i, int64_t c) {
    partial_store<T>(y + i, partial_load<T>(y + i, c) + partial_load<T>(x + i, c), c);
  });
}
template <class T>
TAEDA_ROW void row_multiply(const T* x, T* y, int64_t n) {
  each<T>(n, [&](int64_t i, int64_t c) {
    partial_store<T>(y + i, partial_load<T>(y + i, c) * partial_load<T>(x + i, c), c);
  });
}
template <class T>
TAEDA_ROW void row_accumulate_squares(const T* x, const T* mean, T* y, int64_t n) {
  each<T>(n, [&](int64_t i, int64_t c) {
    V<T> d = partial_load<T>(x + i, c) - partial_load<T>(mean + i, c);
    partial_store<T>(y + i, fma<T>(d, d, partial_load<T>(y + i, c)), c);
  });
}
template <class T>
TAEDA_ROW void row_accumulate_dots(const T* g, const T* x, const T* mean, T* to_g, T* to_gx, int64_t n) {
  each<T>(n, [&](int64_t i, int64_t c) {
    V<T> v = partial_load<T>(g + i, c), d = partial_load<T>(x + i, c) - partial_load<T>(mean + i, c);
    partial_store<T>(to_g + i, partial_load<T>(to_g + i, c) + v, c);
    partial_store<T>(to_gx + i, fma<T>(v, d, partial_load<T>(to_gx + i, c)), c);
  });
}

// --- normalised rows

template <class T>
TAEDA_ROW void row_normalise(const T* x, const T* w, const T* b, T* y, int64_t n, T mean, T rstd) {
  each<T>(n, [&](int64_t i, int64_t c) {
    V<T> v = (partial_load<T>(x + i, c) - broadcast(mean)) * broadcast(rstd);
    if (w) v = v * partial_load<T>(w + i, c);
    if (b) v = v + partial_load<T>(b + i, c);
    partial_store<T>(y + i, v, c);
  });
}

template <class T>
TAEDA_ROW void row_normalise_backward(const T* g, const T* x, const T* w, T* dx, T* dw, T* db, int64_t n, T mean,
                                      T rstd, bool centred) {
  auto weighted = [&](int64_t i, int64_t c) {
    V<T> v = partial_load<T>(g + i, c);
    return w ? v * partial_load<T>(w + i, c) : v;
  };
  auto standard = [&](int64_t i, int64_t c) { return (partial_load<T>(x + i, c) - broadcast(mean)) * broadcast(rstd); };
  T along_mean = 0, along_x = 0;
  if (dx) {
    along_mean = centred ? total<T>(n, weighted) / static_cast<T>(n) : T(0);
    along_x = total<T>(n, [&](int64_t i, int64_t c) { return weighted(i, c) * standard(i, c); }) / static_cast<T>(n);
  }
  each<T>(n, [&](int64_t i, int64_t c) {
    V<T> h = standard(i, c), v = partial_load<T>(g + i, c);
    if (dw) partial_store<T>(dw + i, fma<T>(v, h, partial_load<T>(dw + i, c)), c);
    if (db) partial_store<T>(db + i, v + partial_load<T>(db + i, c), c);
    if (dx)
      partial_store<T>(dx + i, broadcast(rstd) * (weighted(i, c) - broadcast(along_mean) - h * broadcast(along_x)), c);
  });
}

// --- windows: plain loops, which the compiler turns into vectors once it knows the step

template <class T, int64_t kStep, bool kBegins>
TAEDA_INLINE void max_loop(const T* from, int64_t any_step, T* best, int32_t* index, int64_t n, int32_t first,
                           int32_t index_step) {
  const int64_t step = kStep ? kStep : any_step;
  auto place = static_cast<uint32_t>(first);
  for (int64_t i = 0; i < n; ++i, place += static_cast<uint32_t>(index_step)) {
    T value = from[i * step];
    bool take = kBegins || (value > best[i]) | (value != value);
    best[i] = take ? value : best[i];
    index[i] = take ? static_cast<int32_t>(place) : index[i];
  }
}
template <class T, bool kBegins>
TAEDA_ROW void row_max(const T* __restrict from, int64_t step, T* __restrict best, int32_t* __restrict index, int64_t n,
                       int32_t first, int32_t index_step) {
  if (step == 1) return max_loop<T, 1, kBegins>(from, step, best, index, n, first, index_step);
  if (step == 2) return max_loop<T, 2, kBegins>(from, step, best, index, n, first, index_step);
  if (step == 3) return max_loop<T, 3, kBegins>(from, step, best, index, n, first, index_step);
  max_loop<T, 0, kBegins>(from, step, best, index, n, first, index_step);
}

template <class T>
TAEDA_ROW void row_take_sum(const T* __restrict from, int64_t step, T* __restrict sum, int64_t n) {
  if (step == 1) {
    for (int64_t i = 0; i < n; ++i) sum[i] += from[i];
  } else if (step == 2) {
    for (int64_t i = 0; i < n; ++i) sum[i] += from[2 * i];
  } else {
    for (int64_t i = 0; i < n; ++i) sum[i] += from[i * step];
  }
}
template <class T>
TAEDA_ROW void row_give_sum(const T* __restrict from, T* __restrict to, int64_t step, int64_t n) {
  if (step == 1) {
    for (int64_t i = 0; i < n; ++i) to[i] += from[i];
  } else if (step == 2) {
    for (int64_t i = 0; i < n; ++i) to[2 * i] += from[i];
  } else {
    for (int64_t i = 0; i < n; ++i) to[i * step] += from[i];
  }
}

// --- over rows: a few vectors of places stay in registers while the rows go by

template <class T>
TAEDA_ROW void row_max_of(const T* const* rows, const int32_t* places, int64_t count, int32_t first, T* best,
                          int64_t* index, int64_t n) {
  using Wide [[gnu::vector_size(N<T> * sizeof(int64_t))]] = int64_t;
  each<T>(n, [&](int64_t i, int64_t c) {
    V<T> top = broadcast(-kInfinity<T>);
    M<T> at = M<T>{} + first;
    for (int64_t k = 0; k < count; ++k) {
      V<T> v = partial_load<T>(rows[k] + i, c);
      M<T> takes = (v > top) | (v != v);
      top = where<T>(takes, v, top);
      at = (takes & places[k]) | (~takes & at);
    }
    partial_store<T>(best + i, top, c);
    Wide wide = __builtin_convertvector(at, Wide);
    __builtin_memcpy(index + i, &wide, c * sizeof(int64_t));
  });
}

template <class T>
TAEDA_ROW void row_sum_of(const T* const* rows, const T* weights, int64_t count, T scale, T* sum, int64_t n) {
  auto add = [&](int64_t k, const T* from, V<T> to, int64_t c) {
    V<T> v = partial_load<T>(from, c);
    return weights ? fma<T>(v, broadcast(weights[k]), to) : to + v;
  };
  constexpr int64_t w = N<T>;
  int64_t i = 0;
  for (; i + 4 * w <= n; i += 4 * w) {
    V<T> a{}, b{}, c{}, d{};
    for (int64_t k = 0; k < count; ++k) {
      a = add(k, rows[k] + i, a, w);
      b = add(k, rows[k] + i + w, b, w);
      c = add(k, rows[k] + i + 2 * w, c, w);
      d = add(k, rows[k] + i + 3 * w, d, w);
    }
    store<T>(sum + i, a * broadcast(scale));
    store<T>(sum + i + w, b * broadcast(scale));
    store<T>(sum + i + 2 * w, c * broadcast(scale));
    store<T>(sum + i + 3 * w, d * broadcast(scale));
  }
  each<T>(n - i, [&](int64_t j, int64_t c) {
    V<T> total{};
    for (int64_t k = 0; k < count; ++k) total = add(k, rows[k] + i + j, total, c);
    partial_store<T>(sum + i + j, total * broadcast(scale), c);
  });
}

template <class T>
constexpr RowKernels<T> kTable{
    row_softmax<T>,
    row_log_softmax<T>,
    row_softmax_backward<T>,
    row_log_softmax_backward<T>,
    columns_softmax<T>,
    columns_softmax_backward<T>,
    row_log_sum_exp<T>,
    row_exp_shifted<T>,
    row_maximum<T>,
    row_exp_sum_inplace<T>,
    row_sum<T>,
    row_dot<T>,
    row_moments<T>,
    row_dots<T>,
    row_affine<T>,
    row_affine_each<T>,
    row_combine<T>,
    row_combine_each<T>,
    row_scale_add<T>,
    row_accumulate<T>,
    row_multiply<T>,
    row_accumulate_squares<T>,
    row_accumulate_dots<T>,
    row_normalise<T>,
    row_normalise_backward<T>,
    row_max<T, true>,
    row_max<T, false>,
    row_take_sum<T>,
    row_give_sum<T>,
    row_max_of<T>,
    row_sum_of<T>,
};

}  // namespace

extern const RowKernels<float> kFloatRows;
extern const RowKernels<double> kDoubleRows;
const RowKernels<float> kFloatRows = kTable<float>;
const RowKernels<double> kDoubleRows = kTable<double>;

}  // namespace taeda::cpu::TAEDA_ISA
