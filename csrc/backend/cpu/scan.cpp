// Running totals along a dimension.
#include <cmath>

#include "api/ops.h"
#include "backend/cpu/order.h"
#include "backend/cpu/walk.h"
#include "shape/ops/scan.h"

namespace taeda::cpu {

namespace {

constexpr int64_t kLanes = 32;  // neighbouring rows that are scanned together

int64_t stride_of(const Tensor& t, int64_t dim) { return (t.dim() ? t.strides()[dim] : 1) * t.itemsize(); }

// body(pointers, lanes): the walk over all dimensions but `dim`, which N tensors share.
template <int N, class F>
void each_lane(const std::array<const Tensor*, N>& tensors, int64_t dim, const F& body) {
  const Tensor& first = *tensors[0];
  Walk<N> walk;
  std::array<char*, N> data;
  for (int i = 0; i < N; ++i) data[i] = tensors[i]->template data<char>();
  for (int64_t d = 0; d < first.dim(); ++d) {
    if (d == dim) continue;
    std::array<int64_t, N> strides;
    for (int i = 0; i < N; ++i) strides[i] = stride_of(*tensors[i], d);
    walk.add(first.sizes()[d], strides);
  }
  walk.prepare();
  int64_t length = first.dim() ? first.sizes()[dim] : 1;
  auto steps = walk.steps();
  int64_t grain = std::max<int64_t>(kLanes, kGrain / std::max<int64_t>(length, 1) / kLanes * kLanes);
  if (std::abs(steps[0]) > std::abs(stride_of(first, dim))) grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(length, 1));
  walk.run(data, grain, [&](const auto& at, int64_t n) { body(at, steps, n, length); });
}

template <class T>
using Total = std::conditional_t<is_half<T>, float, std::conditional_t<std::is_same_v<T, float>, double, T>>;

template <class T>
Total<T> widened(T value) {
  return static_cast<Total<T>>(value);
}

template <class T>
T narrowed(Total<T> value) {
  if constexpr (is_half<T>)
    return T(static_cast<float>(value));
  else
    return static_cast<T>(value);
}

// to[k] = from[0] . ... . from[k] along `dim`, starting from `start`.
template <class T, class Step>
void scan(const Tensor& to, const Tensor& from, int64_t dim, Total<T> start, const Step& step) {
  int64_t to_along = stride_of(to, dim), from_along = stride_of(from, dim);
  each_lane<2>({&to, &from}, dim, [&](const auto& at, const auto& steps, int64_t n, int64_t length) {
    bool together = n >= 4 && std::abs(steps[0]) <= std::abs(to_along);
    int64_t lanes = together ? kLanes : 1;
    for (int64_t base = 0; base < n; base += lanes) {
      int64_t m = std::min(lanes, n - base);
      std::array<Total<T>, kLanes> totals;
      totals.fill(start);
      char* t = at[0] + base * steps[0];
      const char* f = at[1] + base * steps[1];
      for (int64_t k = 0; k < length; ++k, t += to_along, f += from_along)
        for (int64_t j = 0; j < m; ++j) {
          T value;
          std::memcpy(&value, f + j * steps[1], sizeof(T));
          totals[j] = step(totals[j], widened(value));
          value = narrowed<T>(totals[j]);
          std::memcpy(t + j * steps[0], &value, sizeof(T));
        }
    }
  });
}

Tensor converted(const Tensor& self, const Tensor& out) {
  return self.dtype() == out.dtype() ? self : ops::_to_copy(self, out.dtype());
}

template <class F>
void visit_numeric(DType dtype, const F& body) {
  visit(dtype, [&]<class T>() {
    if constexpr (std::is_same_v<T, bool>)
      TAEDA_FAIL(NotImplemented, "there are no totals of bool; give another dtype");
    else
      body.template operator()<T>();
  });
}

// Signed totals wrap around, which C++ has for unsigned numbers only.
template <class T>
auto added(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}

template <class T>
auto multiplied(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}

}  // namespace

void cumsum(const Tensor& self, int64_t dim, std::optional<DType>, const Tensor& out) {
  dim = wrap_dim(dim, self.dim());
  Tensor from = converted(self, out);
  visit_numeric(out.dtype(), [&]<class T>() { scan<T>(out, from, dim, Total<T>(0), added<Total<T>>); });
}

void cumprod(const Tensor& self, int64_t dim, std::optional<DType>, const Tensor& out) {
  dim = wrap_dim(dim, self.dim());
  Tensor from = converted(self, out);
  visit_numeric(out.dtype(), [&]<class T>() { scan<T>(out, from, dim, Total<T>(1), multiplied<Total<T>>); });
}

void logcumsumexp(const Tensor& self, int64_t dim, const Tensor& out) {
  dim = wrap_dim(dim, self.dim());
  visit_floating(self.dtype(), [&]<class T>() {
    using A = Total<T>;
    scan<T>(out, self, dim, -std::numeric_limits<A>::infinity(), [](A total, A x) {
      if (is_nan(total) || is_nan(x)) return std::numeric_limits<A>::quiet_NaN();
      A low = std::min(total, x), high = std::max(total, x);
      return std::isinf(high) ? high : high + std::log1p(std::exp(low - high));
    });
  });
}

namespace {

template <bool kMax>
void running_extreme(const Tensor& self, int64_t dim, const Tensor& values, const Tensor& indices) {
  dim = wrap_dim(dim, self.dim());
  int64_t along[] = {stride_of(values, dim), stride_of(self, dim), stride_of(indices, dim)};
  visit_ordered(self.dtype(), [&]<class T>() {
    each_lane<3>({&values, &self, &indices}, dim, [&](const auto& at, const auto& steps, int64_t n, int64_t length) {
      for (int64_t j = 0; j < n; ++j) {
        T best{};
        int64_t where = 0;
        for (int64_t k = 0; k < length; ++k) {
          T x;
          std::memcpy(&x, at[1] + j * steps[1] + k * along[1], sizeof(T));
          bool better = k == 0 || is_nan(x) || (!is_nan(best) && (kMax ? key_of(x) >= key_of(best) : key_of(x) <= key_of(best)));
          if (better) best = x, where = k;
          std::memcpy(at[0] + j * steps[0] + k * along[0], &best, sizeof(T));
          std::memcpy(at[2] + j * steps[2] + k * along[2], &where, sizeof(where));
        }
      }
    });
  });
}

}  // namespace

void cummax(const Tensor& self, int64_t dim, const Tensor& values, const Tensor& indices) {
  running_extreme<true>(self, dim, values, indices);
}

void cummin(const Tensor& self, int64_t dim, const Tensor& values, const Tensor& indices) {
  running_extreme<false>(self, dim, values, indices);
}

}  // namespace taeda::cpu
