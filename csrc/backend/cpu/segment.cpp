// Reductions of stretches of a dimension.
#include "shape/segment_rules.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "backend/cpu/engine/row_kernels.h"
#include "backend/cpu/ops/segment.h"
#include "taeda/core/parallel.h"
#include "taeda/ops/copy.h"

namespace taeda::cpu {

namespace {

using shape::SegmentReduction;

constexpr int64_t kShort = 16;  // numbers that are summed before a call for them would have begun

// data as (outer, size, inner), and where the stretches of each outer position begin and end.
struct Segments {
  int64_t outer, size, inner, count;
  std::vector<int64_t> bounds;  // count + 1 for each outer position

  Segments(const Tensor& data, const Tensor& lengths, const Tensor& offsets, int64_t axis, bool whole) {
    const auto at = static_cast<size_t>(wrap_dim(axis, data.dim()));
    outer = numel_of(data.sizes().first(at)), size = data.sizes()[at], inner = numel_of(data.sizes().subspan(at + 1));
    const bool given = offsets.defined();
    Tensor numbers = ops::contiguous(ops::_to_copy(given ? offsets : lengths, DType::Int64));
    count = numbers.sizes().back() - given;
    const int64_t* from = numbers.data<int64_t>();
    for (int64_t o = 0; o < outer; ++o, from += count + given) given ? take(from) : add(from, whole);
  }
  int64_t begin(int64_t segment) const { return bounds[segment + segment / count]; }
  int64_t end(int64_t segment) const { return bounds[segment + segment / count + 1]; }
  // Where a stretch's first element lies.
  int64_t first(int64_t segment) const { return (segment / count * size + begin(segment)) * inner; }

 private:
  void take(const int64_t* offsets) {
    for (int64_t s = 0; s <= count; ++s)
      TAEDA_CHECK(offsets[s] >= (s ? offsets[s - 1] : 0) && offsets[s] <= size,
                  "offsets must rise from 0 to data's size along axis (", size, ") at most; got ", offsets[s]);
    bounds.insert(bounds.end(), offsets, offsets + count + 1);
  }
  void add(const int64_t* lengths, bool whole) {
    int64_t sum = 0;
    bounds.push_back(0);
    for (int64_t s = 0; s < count; ++s) {
      TAEDA_CHECK(lengths[s] >= 0, "lengths must not be negative; got ", lengths[s]);
      TAEDA_CHECK(lengths[s] <= size - sum, "lengths must not sum to more than data's size along axis, ", size);
      bounds.push_back(sum += lengths[s]);
    }
    TAEDA_CHECK(!whole || sum == size, "lengths must sum to data's size along axis, ", size, ", unless unsafe; got ",
                sum);
  }
};

// body(segment) for all, in parallel.
template <class F>
void each_segment(const Segments& s, const F& body) {
  const int64_t segments = s.outer * s.count;
  const int64_t work = s.outer * s.size * s.inner / std::max<int64_t>(segments, 1) + s.inner;
  parallel_for(0, segments, std::max<int64_t>(1, kGrain / std::max<int64_t>(work, 1)), [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) body(i);
  });
}

template <class T>
T identity(SegmentReduction kind, const std::optional<Scalar>& initial) {
  if (initial) return initial->to<T>();
  if (kind == SegmentReduction::Max) return -std::numeric_limits<T>::infinity();
  if (kind == SegmentReduction::Min) return std::numeric_limits<T>::infinity();
  return kind == SegmentReduction::Prod ? T(1) : T(0);
}

// body(join) with what joins two numbers.
template <class T, class F>
void with_join(SegmentReduction kind, const F& body) {
  switch (kind) {
    case SegmentReduction::Max:
      return body([](T a, T b) { return a != a || a > b ? a : b; });
    case SegmentReduction::Min:
      return body([](T a, T b) { return a != a || a < b ? a : b; });
    case SegmentReduction::Prod:
      return body([](T a, T b) { return a * b; });
    default:
      return body([](T a, T b) { return a + b; });
  }
}

// Of a stretch of n rows of `inner` numbers, which `to` begins as the result of.
template <class T, class Join>
void join_rows(const T* from, int64_t n, int64_t inner, const Join& join, T* to) {
  if (inner == 1) {
    T result = *to;
    for (int64_t j = 0; j < n; ++j) result = join(result, from[j]);
    *to = result;
    return;
  }
  for (int64_t j = 0; j < n; ++j, from += inner)
#pragma omp simd
    for (int64_t i = 0; i < inner; ++i) to[i] = join(to[i], from[i]);
}

template <class T>
void reduce(SegmentReduction kind, const Segments& s, const std::optional<Scalar>& initial, const T* data, T* out) {
  const T start = identity<T>(kind, initial);
  const bool adds = kind == SegmentReduction::Sum || kind == SegmentReduction::Mean;
  with_join<T>(kind, [&](auto join) {
    each_segment(s, [&](int64_t segment) {
      const int64_t n = s.end(segment) - s.begin(segment);
      const T* from = data + s.first(segment);
      T* to = out + segment * s.inner;
      std::fill_n(to, s.inner, start);
      if (adds && s.inner == 1 && n > kShort)
        *to += row_kernels<T>().sum(from, n);
      else
        join_rows(from, n, s.inner, join, to);
      if (kind == SegmentReduction::Mean && (n > 0 || !initial))
        for (int64_t i = 0; i < s.inner; ++i) to[i] /= static_cast<T>(n);
    });
  });
}

// Of one stretch of n elements, `step` apart.
template <class T>
void slopes(SegmentReduction kind, int64_t n, int64_t step, T grad, T result, T start, const T* x, T* out) {
  if (kind == SegmentReduction::Prod) {
    T product = start;  // of those before, then times those after
    for (int64_t j = 0; j < n; ++j) out[j * step] = grad * product, product *= x[j * step];
    product = 1;
    for (int64_t j = n; j-- > 0;) out[j * step] *= product, product *= x[j * step];
    return;
  }
  const bool extremum = kind == SegmentReduction::Max || kind == SegmentReduction::Min;
  auto counts = [&](int64_t j) { return !extremum || x[j * step] == result || x[j * step] != x[j * step]; };
  int64_t sharing = kind == SegmentReduction::Sum ? 1 : kind == SegmentReduction::Mean ? n : 0;
  if (extremum)
    for (int64_t j = 0; j < n; ++j) sharing += counts(j);
  for (int64_t j = 0; j < n; ++j) out[j * step] = counts(j) ? grad / static_cast<T>(sharing) : T(0);
}

// Of the slopes of a product, along `grad`: with numbers (value, change) each is the product of the others. `before`
// holds the products of what comes before each element.
template <class T>
void product_slopes(int64_t n, int64_t step, T upper, T start, const T* grad, const T* x, T* out,
                    std::vector<std::pair<T, T>>& before) {
  before.clear();
  auto times = [&](std::pair<T, T> a, int64_t j) {
    return std::pair<T, T>(a.first * x[j * step], a.second * x[j * step] + a.first * grad[j * step]);
  };
  std::pair<T, T> product(start, T(0));
  for (int64_t j = 0; j < n; ++j) before.push_back(product), product = times(product, j);
  product = {T(1), T(0)};
  for (int64_t j = n; j-- > 0; product = times(product, j))
    out[j * step] = upper * (before[j].first * product.second + before[j].second * product.first);
}

// Half types are computed in float.
Tensor wide(const Tensor& t) { return ops::contiguous(ops::to(t, compute_type(t.dtype()))); }

}  // namespace

void segment_reduce(const Tensor& data, std::string_view reduction, const Tensor& lengths, const Tensor&,
                    const Tensor& offsets, int64_t axis, bool unsafe, const std::optional<Scalar>& initial,
                    const Tensor& out) {
  const Segments s(data, lengths, offsets, axis, !unsafe);
  const Tensor from = wide(data), to = new_tensor(out.sizes(), from.dtype());
  visit_compute(from.dtype(), [&]<class T>() {
    reduce<T>(shape::segment_reduction(reduction), s, initial, from.data<T>(), to.data<T>());
  });
  ops::copy_(out, to);
}

void segment_reduce_backward(const Tensor& upper, const Tensor& output, const Tensor& data, std::string_view reduction,
                             const Tensor& lengths, const Tensor& offsets, int64_t axis,
                             const std::optional<Scalar>& initial, const Tensor& out) {
  const Segments s(data, lengths, offsets, axis, false);
  const SegmentReduction kind = shape::segment_reduction(reduction);
  const Tensor x = wide(data), slope = wide(upper), result = wide(output), to = new_tensor(out.sizes(), x.dtype());
  visit_compute(x.dtype(), [&]<class T>() {
    std::fill_n(to.data<T>(), to.numel(), T(0));  // what is in no stretch
    const T start = identity<T>(kind, initial);
    each_segment(s, [&](int64_t segment) {
      const int64_t first = s.first(segment), at = segment * s.inner;
      for (int64_t i = 0; i < s.inner; ++i)
        slopes<T>(kind, s.end(segment) - s.begin(segment), s.inner, slope.data<T>()[at + i], result.data<T>()[at + i],
                  start, x.data<T>() + first + i, to.data<T>() + first + i);
    });
  });
  ops::copy_(out, to);
}

void segment_slopes_backward(const Tensor& grad, const Tensor& upper, const Tensor& data, std::string_view reduction,
                             const Tensor& lengths, const Tensor& offsets, int64_t axis,
                             const std::optional<Scalar>& initial, const Tensor& out) {
  const Segments s(data, lengths, offsets, axis, false);
  const SegmentReduction kind = shape::segment_reduction(reduction);
  const Tensor x = wide(data), slope = wide(upper), along = wide(grad), to = new_tensor(out.sizes(), x.dtype());
  visit_compute(x.dtype(), [&]<class T>() {
    std::fill_n(to.data<T>(), to.numel(), T(0));
    if (kind != SegmentReduction::Prod) return;
    const T start = identity<T>(kind, initial);
    each_segment(s, [&](int64_t segment) {
      std::vector<std::pair<T, T>> before;
      const int64_t first = s.first(segment), at = segment * s.inner;
      for (int64_t i = 0; i < s.inner; ++i)
        product_slopes<T>(s.end(segment) - s.begin(segment), s.inner, slope.data<T>()[at + i], start,
                          along.data<T>() + first + i, x.data<T>() + first + i, to.data<T>() + first + i, before);
    });
  });
  ops::copy_(out, to);
}

}  // namespace taeda::cpu
