// Distances between rows: p-norms of differences, and their gradients.
#include <cmath>
#include <limits>

#include "backend/cpu/engine/row_kernels.h"
#include "backend/cpu/ops/distance.h"
#include "core/multiversion.h"
#include "taeda/core/parallel.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/view.h"

namespace taeda::cpu {

namespace {

enum class Order { Zero, One, Two, Max, Any };

Order order_of(double p) {
  if (p == 0) return Order::Zero;
  if (p == 1) return Order::One;
  if (p == 2) return Order::Two;
  return std::isinf(p) ? Order::Max : Order::Any;
}

// A norm is a join of a term per element, in lanes of a fixed number, and a last step.
template <Order order, class T>
TAEDA_VERSIONED T joined(T total, T x, T p) {
  x = std::abs(x);
  if constexpr (order == Order::Zero) return total + (x != x ? x : x != 0 ? T(1) : T(0));
  if constexpr (order == Order::One) return total + x;
  if constexpr (order == Order::Two) return total + x * x;
  if constexpr (order == Order::Max) return x > total || x != x ? x : total;
  if constexpr (order == Order::Any) return total + std::pow(x, p);
}

template <Order order, class T>
TAEDA_VERSIONED T row_distance(const T* a, const T* b, int64_t n, T p) {
  constexpr int64_t kLanes = 64 / sizeof(T);
  T lanes[kLanes] = {}, total = 0;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t k = 0; k < kLanes; ++k) lanes[k] = joined<order>(lanes[k], a[i + k] - b[i + k], p);
  for (; i < n; ++i) total = joined<order>(total, a[i] - b[i], p);
  for (T lane : lanes) total = order == Order::Max ? joined<order>(total, lane, p) : total + lane;
  if constexpr (order == Order::Two) return std::sqrt(total);
  if constexpr (order == Order::Any) return std::pow(total, 1 / p);
  return total;
}

// out[j] = the distance of `row` and the j-th of `count` rows.
template <Order order, class T>
TAEDA_VERSIONED void distances_body(const T* row, const T* rows, int64_t count, int64_t n, T p, T* out) {
  for (int64_t j = 0; j < count; ++j) out[j] = row_distance<order>(row, rows + j * n, n, p);
}

// out += grads[j] * the slope of the distance of `row` and the j-th of `count` rows, at `row`.
template <Order order, class T>
TAEDA_VERSIONED void slopes_body(const T* row, const T* rows, int64_t count, int64_t n, T p, const T* grads,
                                 const T* distances, T* __restrict out) {
  if constexpr (order == Order::Zero) return;
  for (int64_t j = 0; j < count; ++j, rows += n) {
    const T distance = distances[j];
    if (order != Order::One && distance == 0) continue;
    const T scale = order == Order::Two   ? grads[j] / distance
                    : order == Order::Any ? grads[j] / std::pow(distance, p - 1)
                                          : grads[j];
#pragma omp simd
    for (int64_t k = 0; k < n; ++k) {
      const T x = row[k] - rows[k], signed_scale = x > 0 ? scale : x < 0 ? -scale : x;
      if constexpr (order == Order::One) out[k] += signed_scale;
      if constexpr (order == Order::Two) out[k] += scale * x;
      if constexpr (order == Order::Max) out[k] += std::abs(x) == distance ? signed_scale : T(0);
      if constexpr (order == Order::Any) out[k] += x == 0 ? T(0) : signed_scale * std::pow(std::abs(x), p - 1);
    }
  }
}

#define TAEDA_DISTANCES(T, order)                                                                                    \
  TAEDA_MULTIVERSION(void distances_##order(const T* row, const T* rows, int64_t count, int64_t n, T p, T* out),     \
                     (distances_body<Order::order, T>(row, rows, count, n, p, out)))                                 \
  TAEDA_MULTIVERSION(void slopes_##order(const T* row, const T* rows, int64_t count, int64_t n, T p, const T* grads, \
                                         const T* distances, T* out),                                                \
                     (slopes_body<Order::order, T>(row, rows, count, n, p, grads, distances, out)))
TAEDA_DISTANCES(float, Zero)
TAEDA_DISTANCES(float, One)
TAEDA_DISTANCES(float, Two)
TAEDA_DISTANCES(float, Max)
TAEDA_DISTANCES(float, Any)
TAEDA_DISTANCES(double, Zero)
TAEDA_DISTANCES(double, One)
TAEDA_DISTANCES(double, Two)
TAEDA_DISTANCES(double, Max)
TAEDA_DISTANCES(double, Any)

template <class T>
struct Loops {
  void (*distances)(const T* row, const T* rows, int64_t count, int64_t n, T p, T* out);
  void (*slopes)(const T* row, const T* rows, int64_t count, int64_t n, T p, const T* grads, const T* distances,
                 T* out);
};

template <class T>
Loops<T> loops_for(double p) {
  switch (order_of(p)) {
    case Order::Zero:
      return {distances_Zero, slopes_Zero};
    case Order::One:
      return {distances_One, slopes_One};
    case Order::Two:
      return {distances_Two, slopes_Two};
    case Order::Max:
      return {distances_Max, slopes_Max};
    default:
      return {distances_Any, slopes_Any};
  }
}

int64_t rows_per_piece(int64_t others, int64_t width) {
  return std::max<int64_t>(1, kGrain / std::max<int64_t>(1, others * width));
}

// (..., rows, width) of the batch that `like` has.
Tensor batched(const Tensor& t, IntList like) {
  std::vector<int64_t> sizes(like.begin(), like.end() - 2);
  sizes.push_back(t.size(-2));
  sizes.push_back(t.size(-1));
  return ops::contiguous(ops::expand(t, sizes));
}

// Of rows i < j among n, where the pairs are listed by i.
int64_t pair(int64_t i, int64_t j, int64_t n) { return i * n - i * (i + 1) / 2 + j - i - 1; }

}  // namespace

void _cdist_forward(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t>, const Tensor& out) {
  Tensor a = batched(x1, out.sizes()), b = batched(x2, out.sizes());
  const int64_t rows = x1.size(-2), others = x2.size(-2), width = x1.size(-1);
  if (out.numel() == 0) return;
  visit_compute(x1.dtype(), [&]<class T>() {
    const Loops<T> loops = loops_for<T>(p);
    parallel_for(0, out.numel() / others, rows_per_piece(others, width), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        loops.distances(a.data<T>() + i * width, b.data<T>() + i / rows * others * width, others, width,
                        static_cast<T>(p), out.data<T>() + i * others);
    });
  });
}

void cdist_gradient(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p, const Tensor& cdist,
                    const Tensor& out) {
  ops::zero_(out);
  if (out.numel() == 0) return;
  Tensor a = batched(x1, grad.sizes()), b = batched(x2, grad.sizes()), g = ops::contiguous(grad),
         distance = ops::contiguous(cdist);
  const int64_t rows = x1.size(-2), others = x2.size(-2), width = x1.size(-1);
  visit_compute(x1.dtype(), [&]<class T>() {
    const Loops<T> loops = loops_for<T>(p);
    parallel_for(0, out.numel() / width, rows_per_piece(others, width), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        loops.slopes(a.data<T>() + i * width, b.data<T>() + i / rows * others * width, others, width, static_cast<T>(p),
                     g.data<T>() + i * others, distance.data<T>() + i * others, out.data<T>() + i * width);
    });
  });
}

void _pdist_forward(const Tensor& self, double p, const Tensor& out) {
  Tensor x = ops::contiguous(self);
  const int64_t n = x.sizes()[0], width = x.sizes()[1];
  visit_compute(x.dtype(), [&]<class T>() {
    const Loops<T> loops = loops_for<T>(p);
    parallel_for(0, n - 1, rows_per_piece(n, width), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        loops.distances(x.data<T>() + i * width, x.data<T>() + (i + 1) * width, n - i - 1, width, static_cast<T>(p),
                        out.data<T>() + pair(i, i + 1, n));
    });
  });
}

// Each row sees all others, so that it owns its gradient.
void pdist_gradient(const Tensor& grad, const Tensor& self, double p, const Tensor& pdist, const Tensor& out) {
  ops::zero_(out);
  Tensor x = ops::contiguous(self), g = ops::contiguous(grad), distance = ops::contiguous(pdist);
  const int64_t n = x.sizes()[0], width = x.sizes()[1];
  visit_compute(x.dtype(), [&]<class T>() {
    const Loops<T> loops = loops_for<T>(p);
    parallel_for(0, n, rows_per_piece(n, width), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        auto add = [&](int64_t first, int64_t count, int64_t at) {
          loops.slopes(x.data<T>() + i * width, x.data<T>() + first * width, count, width, static_cast<T>(p),
                       g.data<T>() + at, distance.data<T>() + at, out.data<T>() + i * width);
        };
        for (int64_t j = 0; j < i; ++j) add(j, 1, pair(j, i, n));
        add(i + 1, n - i - 1, pair(i, i + 1, n));
      }
    });
  });
}

}  // namespace taeda::cpu
