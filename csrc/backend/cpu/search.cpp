// Binary search and counting.
#include <atomic>
#include <cmath>

#include "backend/cpu/ops/search.h"
#include "backend/cpu/sort/order.h"
#include "core/warn_once.h"
#include "shape/elementwise.h"
#include "taeda/core/parallel.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"

namespace taeda::cpu {

namespace {

// What halves are compared as; others as they are.
// How many of the sorted elements come before a value, equal ones included if `right`. All come before NaN, and NaN
// before all.
template <class T>
int64_t place_in(const T* sequence, const int64_t* sorter, int64_t n, Compared<T> value, bool right) {
  int64_t low = 0;
  while (n > 0) {
    int64_t half = n / 2, middle = low + half;
    auto there = static_cast<Compared<T>>(sequence[sorter ? sorter[middle] : middle]);
    bool before = right ? !(there > value) : !(there >= value);
    low = before ? middle + 1 : low;
    n = before ? n - half - 1 : half;
  }
  return low;
}

void check_sorter(const Tensor& sorter, int64_t length) {
  const int64_t* data = sorter.data<int64_t>();
  for (int64_t i = 0; i < sorter.numel(); ++i)
    TAEDA_CHECK(data[i] >= 0 && data[i] < length, "sorter holds ", data[i],
                ", which is outside the sequence of length ", length);
}

}  // namespace

void searchsorted(const Tensor& sorted_sequence, const Tensor& self, bool, bool right,
                  std::optional<std::string_view> side, const Tensor& sorter, const Tensor& out) {
  if (out.numel() == 0) return;
  const shape::Operand both[] = {sorted_sequence, self};
  DType common = shape::result_type(both);
  static std::atomic<bool> warned{false};
  if (!sorted_sequence.is_contiguous() || !self.is_contiguous())
    warn_once(warned, "taeda.searchsorted: an argument is not contiguous, and is copied in each call");
  auto as = [&](const Tensor& t) { return ops::contiguous(t.dtype() == common ? t : ops::_to_copy(t, common)); };
  Tensor sequence = as(sorted_sequence), values = as(self);
  Tensor order = sorter.defined() ? ops::contiguous(sorter) : Tensor();
  int64_t length = sequence.sizes().back(), per_row = sequence.dim() == 1 ? values.numel() : values.sizes().back();
  if (order.defined()) check_sorter(order, length);
  bool after = right || (side && *side == "right");
  visit_ordered(common, [&]<class T>() {
    parallel_for(0, values.numel(), kGrain / 16, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t first = i / per_row * length;
        int64_t place =
            place_in<T>(sequence.data<T>() + first, order.defined() ? order.data<int64_t>() + first : nullptr, length,
                        static_cast<Compared<T>>(values.data<T>()[i]), after);
        if (out.dtype() == DType::Int32)
          out.data<int32_t>()[i] = static_cast<int32_t>(place);
        else
          out.data<int64_t>()[i] = place;
      }
    });
  });
}

Tensor bincount(const Tensor& self, const Tensor& weights, int64_t minlength) {
  if (!is_integral(self.dtype())) TAEDA_FAIL(NotImplemented, "is for integers; got ", self.dtype());
  TAEDA_CHECK(minlength >= 0, "minlength must not be negative; got ", minlength);
  TAEDA_CHECK(self.dim() == 1 || self.numel() == 0, "takes a vector; got shape ", self.sizes());
  if (weights.defined())
    TAEDA_CHECK(weights.dim() == 1 && weights.numel() == self.numel(), "weights must be a vector of ", self.numel(),
                " elements; got shape ", weights.sizes());
  Tensor values = ops::contiguous(self.dtype() == DType::Int64 ? self : ops::_to_copy(self, DType::Int64));
  const int64_t* value = values.data<int64_t>();
  int64_t n = values.numel(), largest = -1;
  for (int64_t i = 0; i < n; ++i) {
    TAEDA_CHECK(value[i] >= 0, "the elements must not be negative; got ", value[i]);
    largest = std::max(largest, value[i]);
  }
  TAEDA_CHECK(largest < INT64_MAX, "there is no room for as many bins as the element ", largest, " asks for");
  const int64_t size[] = {std::max(largest + 1, minlength)};
  auto count = [&]<class T>(DType dtype, const T* weight) {
    Tensor result = ops::zeros(size, dtype);
    T* bins = result.data<T>();
    for (int64_t i = 0; i < n; ++i) bins[value[i]] += weight ? weight[i] : T(1);
    return result;
  };
  if (!weights.defined()) return count.template operator()<int64_t>(DType::Int64, nullptr);
  if (weights.dtype() == DType::Float32) return count(DType::Float32, ops::contiguous(weights).data<float>());
  Tensor doubles =
      ops::contiguous(weights.dtype() == DType::Float64 ? weights : ops::_to_copy(weights, DType::Float64));
  return count(DType::Float64, doubles.data<double>());
}

void histc(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max, const Tensor& out) {
  Tensor values = ops::contiguous(self);
  visit_floating(self.dtype(), [&]<class T>() {
    using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
    // Every step of the arithmetic is rounded to the dtype, which decides about elements near an edge.
    auto rounded = [](C x) { return static_cast<C>(static_cast<T>(x)); };
    const T* value = values.data<T>();
    C low = rounded(static_cast<C>(min.as_double())), high = rounded(static_cast<C>(max.as_double()));
    if (low == high && values.numel() > 0) {
      low = INFINITY, high = -INFINITY;
      for (int64_t i = 0; i < values.numel(); ++i) {
        C x = static_cast<C>(value[i]);
        if (x != x) low = high = x;
        low = x < low ? x : low, high = x > high ? x : high;
      }
    }
    TAEDA_CHECK(std::isfinite(low) && std::isfinite(high), "the range from ", low, " to ", high, " is not finite");
    if (low == high) low = rounded(low - 1), high = rounded(high + 1);
    TAEDA_CHECK(low < high, "max must be larger than min; got ", high, " and ", low);
    std::vector<int64_t> counts(static_cast<size_t>(bins), 0);
    C count = rounded(static_cast<C>(bins)), width = rounded(high - low);
    for (int64_t i = 0; i < values.numel(); ++i) {
      C x = static_cast<C>(value[i]);
      if (!(x >= low && x <= high)) continue;
      C place = rounded(rounded(rounded(x - low) * count) / width);
      ++counts[place < static_cast<C>(bins) ? static_cast<int64_t>(place) : bins - 1];
    }
    for (int64_t b = 0; b < bins; ++b) out.data<T>()[b] = static_cast<T>(static_cast<C>(counts[b]));
  });
}

}  // namespace taeda::cpu
