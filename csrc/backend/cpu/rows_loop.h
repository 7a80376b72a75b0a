// The row loops of one instruction set; included by rows.<instruction set>.cpp.
#pragma once
#include "backend/cpu/rows.h"
#include "backend/cpu/vec.h"

namespace taeda::cpu::TAEDA_ISA {

namespace {

template <class T>
TAEDA_INLINE M<T> first_lanes(int64_t n) {
  V<T> lane;
  for (int i = 0; i < N<T>; ++i) lane[i] = static_cast<T>(i);
  return lane < splat(static_cast<T>(n));
}

// body(position, count) for every vector of a row; the last one may be partial.
template <class T, class F>
TAEDA_INLINE void each(int64_t n, const F& body) {
  int64_t i = 0;
  for (; i + N<T> <= n; i += N<T>) body(i, int64_t{N<T>});
  if (i < n) body(i, n - i);
}

template <class T, class Join>
TAEDA_INLINE T across(V<T> v, const Join& join) {
  for (int half = N<T> / 2; half > 0; half /= 2) {
    V<T> upper = v;
    for (int i = 0; i < half; ++i) upper[i] = v[i + half];
    v = join(v, upper);
  }
  return v[0];
}

// Joins value(position, count) over a row, four vectors abreast.
template <class T, class Value, class Join>
TAEDA_INLINE T fold(int64_t n, T start, const Value& value, const Join& join) {
  V<T> a = splat(start), b = a, c = a, d = a;
  int64_t i = 0;
  constexpr int64_t w = N<T>;
  for (; i + 4 * w <= n; i += 4 * w) {
    a = join(a, value(i, w));
    b = join(b, value(i + w, w));
    c = join(c, value(i + 2 * w, w));
    d = join(d, value(i + 3 * w, w));
  }
  for (; i + w <= n; i += w) a = join(a, value(i, w));
  if (i < n) b = join(b, where<T>(first_lanes<T>(n - i), value(i, n - i), splat(start)));
  return across<T>(join(join(a, b), join(c, d)), join);
}
template <class T, class Value>
TAEDA_INLINE T total(int64_t n, const Value& value) {
  return fold<T>(n, T(0), value, [](V<T> a, V<T> b) { return a + b; });
}

template <class T>
constexpr T kInfinity = static_cast<T>(__builtin_inf());

// --- softmax

template <class T>
T row_maximum(const T* x, int64_t n) {
  return fold<T>(n, -kInfinity<T>, [&](int64_t i, int64_t c) { return partial_load<T>(x + i, c); },
                 [](V<T> a, V<T> b) { return maximum<T>(a, b); });
}

template <class T>
T row_exp_sum(const T* x, T* y, int64_t n, T shift) {
  return total<T>(n, [&](int64_t i, int64_t c) {
    V<T> e = exp<T>(partial_load<T>(x + i, c) - splat(shift));
    if (y) partial_store<T>(y + i, e, c);
    return e;
  });
}
template <class T>
T row_exp_sum_inplace(T* x, int64_t n, T shift) {
  return row_exp_sum<T>(x, x, n, shift);
}

template <class T>
T row_log_sum_exp(const T* x, int64_t n) {
  T top = row_maximum(x, n);
  if (__builtin_isinf(top)) return top;
  return top + std::log(row_exp_sum<T>(x, nullptr, n, top));
}

template <class T>
void row_affine(const T* x, T* y, int64_t n, T a, T b) {
  each<T>(n, [&](int64_t i, int64_t c) { partial_store<T>(y + i, fma<T>(partial_load<T>(x + i, c), splat(a), splat(b)), c); });
}

template <class T>
void row_softmax(const T* x, T* y, int64_t n) {
  T scale = 1 / row_exp_sum<T>(x, y, n, row_maximum(x, n));
  each<T>(n, [&](int64_t i, int64_t c) { partial_store<T>(y + i, partial_load<T>(y + i, c) * splat(scale), c); });
}
template <class T>
void row_log_softmax(const T* x, T* y, int64_t n) {
  T top = row_maximum(x, n), rest = std::log(row_exp_sum<T>(x, nullptr, n, top));
  each<T>(n, [&](int64_t i, int64_t c) { partial_store<T>(y + i, partial_load<T>(x + i, c) - splat(top) - splat(rest), c); });
}

template <class T>
T row_dot(const T* x, const T* y, int64_t n) {
  return total<T>(n, [&](int64_t i, int64_t c) { return partial_load<T>(x + i, c) * partial_load<T>(y + i, c); });
}
template <class T>
T row_sum(const T* x, int64_t n) {
  return total<T>(n, [&](int64_t i, int64_t c) { return partial_load<T>(x + i, c); });
}

template <class T>
void row_softmax_backward(const T* grad, const T* y, T* out, int64_t n) {
  V<T> mean = splat(row_dot(grad, y, n));
  each<T>(n, [&](int64_t i, int64_t c) {
    partial_store<T>(out + i, partial_load<T>(y + i, c) * (partial_load<T>(grad + i, c) - mean), c);
  });
}
template <class T>
void row_log_softmax_backward(const T* grad, const T* y, T* out, int64_t n) {
  V<T> sum = splat(row_sum(grad, n));
  each<T>(n, [&](int64_t i, int64_t c) {
    partial_store<T>(out + i, partial_load<T>(grad + i, c) - exp<T>(partial_load<T>(y + i, c)) * sum, c);
  });
}

template <class T>
void columns_softmax(const T* x, T* y, int64_t n, int64_t width, int64_t step, bool is_log) {
  each<T>(width, [&](int64_t at, int64_t c) {
    V<T> top = splat(-kInfinity<T>), sum = splat(T(0));
    for (int64_t i = 0; i < n; ++i) top = maximum<T>(top, partial_load<T>(x + i * step + at, c));
    for (int64_t i = 0; i < n; ++i) {
      V<T> e = exp<T>(partial_load<T>(x + i * step + at, c) - top);
      if (!is_log) partial_store<T>(y + i * step + at, e, c);
      sum = sum + e;
    }
    V<T> last = is_log ? log<T>(sum) : splat(T(1)) / sum;
    for (int64_t i = 0; i < n; ++i) {
      T* to = y + i * step + at;
      partial_store<T>(to, is_log ? partial_load<T>(x + i * step + at, c) - top - last : partial_load<T>(to, c) * last, c);
    }
  });
}

template <class T>
void columns_softmax_backward(const T* grad, const T* y, T* out, int64_t n, int64_t width, int64_t step, bool is_log) {
  each<T>(width, [&](int64_t at, int64_t c) {
    V<T> sum = splat(T(0));
    for (int64_t i = 0; i < n; ++i) {
      V<T> g = partial_load<T>(grad + i * step + at, c);
      sum = sum + (is_log ? g : g * partial_load<T>(y + i * step + at, c));
    }
    for (int64_t i = 0; i < n; ++i) {
      V<T> g = partial_load<T>(grad + i * step + at, c), v = partial_load<T>(y + i * step + at, c);
      partial_store<T>(out + i * step + at, is_log ? g - exp<T>(v) * sum : v * (g - sum), c);
    }
  });
}

template <class T>
void row_exp_shifted(const T* x, T* y, int64_t n, T shift, T scale) {
  each<T>(n, [&](int64_t i, int64_t c) { partial_store<T>(y + i, exp<T>(partial_load<T>(x + i, c) - splat(shift)) * splat(scale), c); });
}

// --- sums

template <class T>
Pair<T> row_moments(const T* x, int64_t n) {
  T mean = row_sum(x, n) / static_cast<T>(n);
  T squares = total<T>(n, [&](int64_t i, int64_t c) {
    V<T> d = partial_load<T>(x + i, c) - splat(mean);
    return d * d;
  });
  return {mean, squares};
}

template <class T>
Pair<T> row_dots(const T* g, const T* x, int64_t n, T mean) {
  V<T> to_g = splat(T(0)), to_gx = to_g;
  each<T>(n, [&](int64_t i, int64_t c) {
    V<T> v = partial_load<T>(g + i, c);
    if (c < N<T>) v = where<T>(first_lanes<T>(c), v, splat(T(0)));
    to_g = to_g + v;
    to_gx = fma<T>(v, partial_load<T>(x + i, c) - splat(mean), to_gx);
  });
  auto add = [](V<T> a, V<T> b) { return a + b; };
  return {across<T>(to_g, add), across<T>(to_gx, add)};
}

// --- lines

template <class T>
void row_affine_each(const T* x, const T* a, const T* b, T* y, int64_t n) {
  each<T>(n, [&](int64_t i, int64_t c) {
    partial_store<T>(y + i, fma<T>(partial_load<T>(x + i, c), partial_load<T>(a + i, c), partial_load<T>(b + i, c)), c);
  });
}
template <class T>
void row_combine(const T* g, const T* x, T* y, int64_t n, T a, T b, T k) {
  each<T>(n, [&](int64_t i, int64_t c) {
    V<T> rest = fma<T>(partial_load<T>(x + i, c), splat(b), splat(k));
    partial_store<T>(y + i, fma<T>(partial_load<T>(g + i, c), splat(a), rest), c);
  });
}
template <class T>
void row_combine_each(const T* g, const T* x, T* y, int64_t n, const T* a, const T* b, const T* k) {
  each<T>(n, [&](int64_t i, int64_t c) {
    V<T> rest = fma<T>(partial_load<T>(x + i, c), partial_load<T>(b + i, c), partial_load<T>(k + i, c));
    partial_store<T>(y + i, fma<T>(partial_load<T>(g + i, c), partial_load<T>(a + i, c), rest), c);
  });
}
template <class T>
void row_scale_add(const T* x, T* y, int64_t n, T a) {
  each<T>(n, [&](int64_t i, int64_t c) { partial_store<T>(y + i, fma<T>(partial_load<T>(x + i, c), splat(a), partial_load<T>(y + i, c)), c); });
}
template <class T>
void row_accumulate(const T* x, T* y, int64_t n) {
  each<T>(n, [&](int64_t i, int64_t c) { partial_store<T>(y + i, partial_load<T>(y + i, c) + partial_load<T>(x + i, c), c); });
}
template <class T>
void row_multiply(const T* x, T* y, int64_t n) {
  each<T>(n, [&](int64_t i, int64_t c) { partial_store<T>(y + i, partial_load<T>(y + i, c) * partial_load<T>(x + i, c), c); });
}
template <class T>
void row_accumulate_squares(const T* x, const T* mean, T* y, int64_t n) {
  each<T>(n, [&](int64_t i, int64_t c) {
    V<T> d = partial_load<T>(x + i, c) - partial_load<T>(mean + i, c);
    partial_store<T>(y + i, fma<T>(d, d, partial_load<T>(y + i, c)), c);
  });
}
template <class T>
void row_accumulate_dots(const T* g, const T* x, const T* mean, T* to_g, T* to_gx, int64_t n) {
  each<T>(n, [&](int64_t i, int64_t c) {
    V<T> v = partial_load<T>(g + i, c), d = partial_load<T>(x + i, c) - partial_load<T>(mean + i, c);
    partial_store<T>(to_g + i, partial_load<T>(to_g + i, c) + v, c);
    partial_store<T>(to_gx + i, fma<T>(v, d, partial_load<T>(to_gx + i, c)), c);
  });
}

// --- normalised rows

template <class T>
void row_normalise(const T* x, const T* w, const T* b, T* y, int64_t n, T mean, T rstd) {
  each<T>(n, [&](int64_t i, int64_t c) {
    V<T> v = (partial_load<T>(x + i, c) - splat(mean)) * splat(rstd);
    if (w) v = v * partial_load<T>(w + i, c);
    if (b) v = v + partial_load<T>(b + i, c);
    partial_store<T>(y + i, v, c);
  });
}

template <class T>
void row_normalise_backward(const T* g, const T* x, const T* w, T* dx, T* dw, T* db, int64_t n, T mean, T rstd, bool centred) {
  auto weighted = [&](int64_t i, int64_t c) {
    V<T> v = partial_load<T>(g + i, c);
    return w ? v * partial_load<T>(w + i, c) : v;
  };
  auto standard = [&](int64_t i, int64_t c) { return (partial_load<T>(x + i, c) - splat(mean)) * splat(rstd); };
  T along_mean = 0, along_x = 0;
  if (dx) {
    along_mean = centred ? total<T>(n, weighted) / static_cast<T>(n) : T(0);
    along_x = total<T>(n, [&](int64_t i, int64_t c) { return weighted(i, c) * standard(i, c); }) / static_cast<T>(n);
  }
  each<T>(n, [&](int64_t i, int64_t c) {
    V<T> h = standard(i, c), v = partial_load<T>(g + i, c);
    if (dw) partial_store<T>(dw + i, fma<T>(v, h, partial_load<T>(dw + i, c)), c);
    if (db) partial_store<T>(db + i, v + partial_load<T>(db + i, c), c);
    if (dx) partial_store<T>(dx + i, splat(rstd) * (weighted(i, c) - splat(along_mean) - h * splat(along_x)), c);
  });
}

// --- windows: plain loops, which the compiler turns into vectors once it knows the step

template <class T, int64_t kStep>
TAEDA_INLINE void max_loop(const T* from, int64_t any_step, T* best, int32_t* index, int64_t n, int32_t first, int32_t index_step) {
  const int64_t step = kStep ? kStep : any_step;
  for (int64_t i = 0; i < n; ++i) {
    T value = from[i * step];
    bool take = (value > best[i]) | (value != value);
    best[i] = take ? value : best[i];
    index[i] = take ? first + static_cast<int32_t>(i) * index_step : index[i];
  }
}
template <class T>
void row_take_max(const T* __restrict from, int64_t step, T* __restrict best, int32_t* __restrict index, int64_t n, int32_t first,
                  int32_t index_step) {
  if (step == 1) return max_loop<T, 1>(from, step, best, index, n, first, index_step);
  if (step == 2) return max_loop<T, 2>(from, step, best, index, n, first, index_step);
  max_loop<T, 0>(from, step, best, index, n, first, index_step);
}

template <class T>
void row_take_sum(const T* __restrict from, int64_t step, T* __restrict sum, int64_t n) {
  if (step == 1) {
    for (int64_t i = 0; i < n; ++i) sum[i] += from[i];
  } else if (step == 2) {
    for (int64_t i = 0; i < n; ++i) sum[i] += from[2 * i];
  } else {
    for (int64_t i = 0; i < n; ++i) sum[i] += from[i * step];
  }
}
template <class T>
void row_give_sum(const T* __restrict from, T* __restrict to, int64_t step, int64_t n) {
  if (step == 1) {
    for (int64_t i = 0; i < n; ++i) to[i] += from[i];
  } else if (step == 2) {
    for (int64_t i = 0; i < n; ++i) to[2 * i] += from[i];
  } else {
    for (int64_t i = 0; i < n; ++i) to[i * step] += from[i];
  }
}

template <class T>
constexpr RowKernels<T> kTable{
    row_softmax<T>,          row_log_softmax<T>,    row_softmax_backward<T>,
    row_log_softmax_backward<T>, columns_softmax<T>, columns_softmax_backward<T>,
    row_log_sum_exp<T>,      row_exp_shifted<T>,    row_maximum<T>,
    row_exp_sum_inplace<T>,  row_sum<T>,            row_dot<T>,
    row_moments<T>,          row_dots<T>,           row_affine<T>,
    row_affine_each<T>,      row_combine<T>,        row_combine_each<T>,
    row_scale_add<T>,        row_accumulate<T>,     row_multiply<T>, row_accumulate_squares<T>,
    row_accumulate_dots<T>,  row_normalise<T>,      row_normalise_backward<T>,
    row_take_max<T>,         row_take_sum<T>,       row_give_sum<T>,
};

}  // namespace

extern const RowKernels<float> kFloatRows;
extern const RowKernels<double> kDoubleRows;
const RowKernels<float> kFloatRows = kTable<float>;
const RowKernels<double> kDoubleRows = kTable<double>;

}  // namespace taeda::cpu::TAEDA_ISA
