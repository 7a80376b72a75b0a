// Running totals along a dimension.
#include <cmath>

#include "backend/cpu/engine/tensor_iterator.h"
#include "backend/cpu/ops/scan.h"
#include "backend/cpu/sort/order.h"
#include "taeda/ops/copy.h"

namespace taeda::cpu {

namespace {

constexpr int64_t kLanes = 32;  // neighbouring rows that are scanned together

// body(pointers, lanes): iterates over all dimensions but `dim`, which N tensors share.
template <int N, class F>
void each_lane(const std::array<const Tensor*, N>& tensors, int64_t dim, const F& body) {
  const Tensor& first = *tensors[0];
  if (first.numel() == 0) return;  // before the rows are counted, of which there may be more than any patience
  TensorIterator<N> iterator;
  std::array<char*, N> data;
  for (int i = 0; i < N; ++i) data[i] = tensors[i]->template data<char>();
  for (int64_t d = 0; d < first.dim(); ++d) {
    if (d == dim) continue;
    std::array<int64_t, N> strides;
    for (int i = 0; i < N; ++i) strides[i] = stride_of(*tensors[i], d);
    iterator.add(first.sizes()[d], strides);
  }
  iterator.prepare();
  int64_t length = first.dim() ? first.sizes()[dim] : 1;
  auto steps = iterator.steps();
  int64_t grain = std::max<int64_t>(kLanes, kGrain / std::max<int64_t>(length, 1) / kLanes * kLanes);
  if (std::abs(steps[0]) > std::abs(stride_of(first, dim)))
    grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(length, 1));
  iterator.run(data, grain, [&](const auto& at, int64_t n) { body(at, steps, n, length); });
}

template <class T>
using Total = std::conditional_t<is_half<T>, float,
                                 std::conditional_t<std::is_same_v<T, float>, double,
                                                    std::conditional_t<std::is_same_v<T, complex64>, complex128, T>>>;

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

// The total and one element more, which is written too.
template <class T, class Step>
void advance(Total<T>& total, char* to, const char* from, const Step& step) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  total = step(total, widened(value));
  value = narrowed<T>(total);
  std::memcpy(to, &value, sizeof(T));
}

// kLanes rows that lie side by side, as vectors.
template <class T, class Step>
void scan_dense(char* to, int64_t to_along, const char* from, int64_t from_along, int64_t length, Total<T> start,
                const Step& step) {
  Total<T> totals[kLanes];
  std::fill_n(totals, kLanes, start);
  for (int64_t k = 0; k < length; ++k, to += to_along, from += from_along)
    for (size_t j = 0; j < kLanes; ++j) advance<T>(totals[j], to + j * sizeof(T), from + j * sizeof(T), step);
}

// A few rows at once, J of them: their totals, each in a register, do not wait for one another.
template <class T, class Step, size_t... J>
void scan_rows(std::index_sequence<J...>, char* to, int64_t to_step, int64_t to_along, const char* from,
               int64_t from_step, int64_t from_along, int64_t length, Total<T> start, const Step& step) {
  Total<T> totals[] = {(static_cast<void>(J), start)...};
  char* tos[] = {to + J * to_step...};
  const char* froms[] = {from + J * from_step...};
  for (int64_t k = 0; k < length; ++k)
    (advance<T>(totals[J], tos[J] + k * to_along, froms[J] + k * from_along, step), ...);
}

// to[k] = from[0] . ... . from[k] along `dim`, starting from `start`.
template <class T, class Step>
void scan(const Tensor& to, const Tensor& from, int64_t dim, Total<T> start, const Step& step) {
  int64_t to_along = stride_of(to, dim), from_along = stride_of(from, dim);
  each_lane<2>({&to, &from}, dim, [&](const auto& at, const auto& steps, int64_t n, int64_t length) {
    int64_t j = 0;
    auto to = [&] { return at[0] + j * steps[0]; };
    auto from = [&] { return at[1] + j * steps[1]; };
    auto rows = [&](auto several) {
      scan_rows<T>(several, to(), steps[0], to_along, from(), steps[1], from_along, length, start, step);
      j += several.size();
    };
    if (steps[0] == sizeof(T) && steps[1] == sizeof(T))
      for (; j + kLanes <= n; j += kLanes) scan_dense<T>(to(), to_along, from(), from_along, length, start, step);
    while (j + 4 <= n) rows(std::make_index_sequence<4>());
    while (j < n) rows(std::make_index_sequence<1>());
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

// Signed totals wrap around, which C++ has for unsigned numbers only. Objects, as a function's address is not inlined.
constexpr auto added = []<class T>(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
};
constexpr auto multiplied = []<class T>(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
};

}  // namespace

void cumsum(const Tensor& self, int64_t dim, std::optional<DType>, const Tensor& out) {
  dim = wrap_dim(dim, self.dim());
  Tensor from = converted(self, out);
  visit_numeric(out.dtype(), [&]<class T>() { scan<T>(out, from, dim, Total<T>(0), added); });
}

void cumprod(const Tensor& self, int64_t dim, std::optional<DType>, const Tensor& out) {
  dim = wrap_dim(dim, self.dim());
  Tensor from = converted(self, out);
  visit_numeric(out.dtype(), [&]<class T>() { scan<T>(out, from, dim, Total<T>(1), multiplied); });
}

namespace {

// log(exp(a) + exp(b)).
template <class A>
A log_sum(A a, A b) {
  if (is_nan(a) || is_nan(b)) return std::numeric_limits<A>::quiet_NaN();
  A low = std::min(a, b), high = std::max(a, b);
  return std::isinf(high) ? high : high + std::log1p(std::exp(low - high));
}

template <class R>
std::complex<R> log_sum(std::complex<R> a, std::complex<R> b) {
  constexpr R nan = std::numeric_limits<R>::quiet_NaN();
  if (a != a || b != b) return {nan, nan};
  auto [low, high] = a.real() < b.real() ? std::pair{a, b} : std::pair{b, a};
  if (std::isinf(high.real()) && low.real() == high.real())
    return high.real() < 0 ? high : std::log(std::exp(low) + std::exp(high));
  return high + std::log(std::complex<R>(1) + std::exp(low - high));
}

template <class T>
void scan_log_sum(const Tensor& self, int64_t dim, const Tensor& out) {
  using A = Total<T>;
  if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>)
    scan<T>(out, self, dim, A(-INFINITY, 0), [](A total, A x) { return log_sum(total, x); });
  else
    scan<T>(out, self, dim, -std::numeric_limits<A>::infinity(), [](A total, A x) { return log_sum(total, x); });
}

}  // namespace

void logcumsumexp(const Tensor& self, int64_t dim, const Tensor& out) {
  dim = wrap_dim(dim, self.dim());
  if (self.dtype() == DType::Complex64) return scan_log_sum<complex64>(self, dim, out);
  if (self.dtype() == DType::Complex128) return scan_log_sum<complex128>(self, dim, out);
  visit_floating(self.dtype(), [&]<class T>() { scan_log_sum<T>(self, dim, out); });
}

namespace {

// Whether `x` takes the place of `best`: also if it is equal, and any NaN does.
template <bool kMax, class C>
bool replaces(C x, C best) {
  if (x != x) return true;
  return kMax ? x >= best : x <= best;
}

template <bool kMax, class T>
void extreme_row(const std::array<char*, 3>& at, const int64_t* along, int64_t length) {
  auto [values, from, indices] = at;
  T best{};
  Compared<T> bound{};
  int64_t where = 0;
  for (int64_t k = 0; k < length; ++k, values += along[0], from += along[1], indices += along[2]) {
    T x;
    std::memcpy(&x, from, sizeof(T));
    auto compared = static_cast<Compared<T>>(x);
    if (k == 0 || replaces<kMax>(compared, bound)) best = x, bound = compared, where = k;
    std::memcpy(values, &best, sizeof(T));
    std::memcpy(indices, &where, sizeof(where));
  }
}

template <bool kMax>
void running_extreme(const Tensor& self, int64_t dim, const Tensor& values, const Tensor& indices) {
  dim = wrap_dim(dim, self.dim());
  int64_t along[] = {stride_of(values, dim), stride_of(self, dim), stride_of(indices, dim)};
  visit_ordered(self.dtype(), [&]<class T>() {
    each_lane<3>({&values, &self, &indices}, dim, [&](const auto& at, const auto& steps, int64_t n, int64_t length) {
      for (int64_t j = 0; j < n; ++j)
        extreme_row<kMax, T>({at[0] + j * steps[0], at[1] + j * steps[1], at[2] + j * steps[2]}, along, length);
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
