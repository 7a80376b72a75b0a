// Sequences, triangles, and complex numbers from their parts.
#include <cmath>
#include <cstring>

#include "backend/cpu/engine/strided_copy.h"
#include "backend/cpu/ops/complex_numbers.h"
#include "backend/cpu/ops/ranges.h"
#include "core/multiversion.h"
#include "shape/create_rules.h"
#include "taeda/core/parallel.h"
#include "taeda/core/warn.h"

namespace taeda::cpu {

namespace {

constexpr int32_t kBlock = 512;  // doubles on the way to another type

// to[i] = value(first + i); `value` is a copy, which nothing that is written changes.
template <class T, class F>
void write(T* to, double first, int32_t n, const F value) {
#pragma omp simd
  for (int32_t i = 0; i < n; ++i) to[i] = convert<T>(value(first + i));
}

// What a T is computed in, and a value of that as a T holds it.
template <class T>
using Computed =
    std::conditional_t<std::is_integral_v<T>, double, std::conditional_t<std::is_floating_point_v<T>, T, float>>;
template <class T, class A>
A held(A value) {
  if constexpr (std::is_integral_v<T> || std::is_floating_point_v<T>)
    return value;
  else
    return convert<A>(convert<T>(value));
}

// a * b + c: rounded once, for float by way of double, which leaves vectors possible; in halves rounded twice.
template <class T, class A>
A multiply_add(A a, A b, A c) {
  if constexpr (std::is_same_v<A, double>)
    return std::fma(a, b, c);
  else if constexpr (std::is_same_v<T, float>)
    return static_cast<float>(static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(c));
  else
    return held<T>(held<T>(a * b) + c);
}

// from + by * (first + step * i), each step rounded as PyTorch rounds it.
template <class T, class A>
struct Line {
  A from, by;
  double first, step;
  A operator()(double i) const { return multiply_add<T>(by, held<T>(static_cast<A>(first + step * i)), from); }
};

TAEDA_VERSIONED void fuse(double from, double by, double first, double step, int32_t n, double* to) {
#pragma omp simd
  for (int32_t i = 0; i < n; ++i) to[i] = std::fma(by, first + step * i, from);
}
TAEDA_MULTIVERSION(void fused(double from, double by, double first, double step, int32_t n, double* to),
                   fuse(from, by, first, step, n, to))

// Fused products are calls but where they are compiled for machines that have them.
template <class T>
void write(T* to, double begin, int32_t n, const Line<T, double> line) {
  double values[kBlock];
  for (int32_t i = 0; i < n; i += kBlock) {
    const int32_t count = std::min(kBlock, n - i);
    fused(line.from, line.by, line.first + line.step * (begin + i), line.step, count, values);
#pragma omp simd
    for (int32_t k = 0; k < count; ++k) to[i + k] = convert<T>(values[k]);
  }
}

// Two lines, counted from the nearer end, so that both ends are exact.
template <class T, class A>
auto spacing(A from, A to, int64_t steps) {
  A by = steps > 1 ? held<T>(held<T>(to - from) / held<T>(static_cast<A>(steps - 1))) : A(0);
  return std::pair(Line<T, A>{from, by, 0, 1}, Line<T, A>{to, -by, static_cast<double>(steps - 1), -1});
}
int64_t lower_half(int64_t steps) { return std::max<int64_t>(steps / 2, 1); }

template <class T>
auto spacing_of(const Scalar& start, const Scalar& end, int64_t steps) {
  T from = start.to<T>(), to = end.to<T>();
  if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
    using Part = typename T::value_type;
    auto re = spacing<Part>(from.real(), to.real(), steps), im = spacing<Part>(from.imag(), to.imag(), steps);
    auto joined = [](auto a, auto b) { return [=](double i) { return T(a(i), b(i)); }; };
    return std::pair(joined(re.first, im.first), joined(re.second, im.second));
  } else {  // integers between the truncated bounds
    return spacing<T>(convert<Computed<T>>(from), convert<Computed<T>>(to), steps);
  }
}

// Elements below `half` are low(i), the others high(i), of an i that is a double: a piece of a range fits 32 bits,
// which become doubles as vectors where 64 bits do not.
template <class T, class Low, class High>
void generate(const Tensor& out, int64_t half, const Low& low, const High& high) {
  auto fill = [&](int64_t begin, int64_t end, const auto& value) {
    for (int64_t i = begin; i < end; i += kGrain)
      write(out.data<T>() + i, static_cast<double>(i), static_cast<int32_t>(std::min(kGrain, end - i)), value);
  };
  parallel_for(0, out.numel(), kGrain, [&](int64_t begin, int64_t end) {
    const int64_t middle = std::clamp(half, begin, end);
    fill(begin, middle, low);
    fill(middle, end, high);
  });
}

void steps_from(const Scalar& start, const Scalar& step, const Tensor& out) {
  visit(out.dtype(), [&]<class T>() {
    if constexpr (std::is_integral_v<T>) {
      const uint64_t from = start.to<int64_t>(), by = step.to<int64_t>();  // unsigned: the last step may wrap
      T* data = out.data<T>();
      parallel_for(0, out.numel(), kGrain, [=](int64_t begin, int64_t end) {
        T* to = data + begin;
        const uint64_t step = by;
        uint64_t value = from + by * static_cast<uint64_t>(begin);
#pragma omp simd linear(value : step)
        for (int64_t i = 0; i < end - begin; ++i) {
          to[i] = convert<T>(static_cast<int64_t>(value));
          value += step;
        }
      });
    } else {
      auto value = [from = start.as_double(), by = step.as_double()](double i) { return from + by * i; };
      generate<T>(out, out.numel(), value, value);
    }
  });
}

}  // namespace

void arange(const Scalar& start, const Scalar&, const Scalar& step, std::optional<DType>, std::optional<Layout>,
            std::optional<Device>, std::optional<bool>, const Tensor& out) {
  steps_from(start, step, out);
}

void range(const Scalar& start, const Scalar&, const Scalar& step, std::optional<DType>, std::optional<Layout>,
           std::optional<Device>, std::optional<bool>, const Tensor& out) {
  warn("taeda.range is deprecated, as it includes its end; taeda.arange does as Python's range");
  steps_from(start, step, out);
}

void linspace(const Scalar& start, const Scalar& end, int64_t steps, std::optional<DType>, std::optional<Layout>,
              std::optional<Device>, std::optional<bool>, const Tensor& out) {
  check_fits(out.dtype(), start);
  check_fits(out.dtype(), end);
  visit(out.dtype(), [&]<class T>() {
    auto [low, high] = spacing_of<T>(start, end, steps);
    generate<T>(out, lower_half(steps), low, high);
  });
}

void logspace(const Scalar& start, const Scalar& end, int64_t steps, double base, std::optional<DType>,
              std::optional<Layout>, std::optional<Device>, std::optional<bool>, const Tensor& out) {
  check_fits(out.dtype(), start);
  check_fits(out.dtype(), end);
  visit(out.dtype(), [&]<class T>() {
    if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
      auto power = [base](auto exponent) { return [=](double i) { return std::pow(complex128(base), exponent(i)); }; };
      auto [low, high] = spacing_of<complex128>(start, end, steps);
      generate<T>(out, lower_half(steps), power(low), power(high));
    } else {  // the exponents in double, between bounds that are a T
      using A = Computed<T>;
      bool one = steps < 2;
      A from = convert<A>(start.to<T>()), to = convert<A>(end.to<T>());
      double first = one ? start.as_double() : from, by = one ? 0 : held<T>(to - from) / static_cast<double>(steps - 1);
      auto low = [=](double i) { return std::pow(base, first + by * i); };
      auto high = [=, last = static_cast<double>(steps - 1)](double i) { return std::pow(base, to - by * (last - i)); };
      generate<T>(out, lower_half(steps), low, high);
    }
  });
}

// --- triangles

namespace {

// Keeps columns [first(i), last(i)) of each row i.
template <class Kept>
void keep_columns(const Tensor& self, const Tensor& out, const Kept& kept) {
  if (out.numel() == 0) return;
  strided_copy(out, self);
  int64_t rows = out.size(-2), columns = out.size(-1), item = out.itemsize();
  char* data = out.data<char>();
  parallel_for(0, out.numel() / columns, std::max<int64_t>(1, kGrain / columns), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      auto [first, last] = kept(r % rows, columns);
      char* row = data + r * columns * item;
      std::memset(row, 0, first * item);
      std::memset(row + last * item, 0, (columns - last) * item);
    }
  });
}

template <class T>
void write_indices(int64_t rows, int64_t columns, int64_t offset, bool upper, const Tensor& out) {
  T *row = out.data<T>(), *column = row + out.size(1), *end = column;
  // Rows without a place come first below the diagonal and last above it; there may be very many of them.
  for (int64_t i = upper ? 0 : std::max<int64_t>(-std::max(offset, -rows), 0); row < end; ++i) {
    int64_t first = upper ? shape::below_diagonal(i - 1, columns, offset) : 0;
    int64_t last = upper ? columns : shape::below_diagonal(i, columns, offset);
    for (int64_t j = first; j < last; ++j) {
      *row++ = static_cast<T>(i);
      *column++ = static_cast<T>(j);
    }
  }
}

void indices(int64_t rows, int64_t columns, int64_t offset, bool upper, const Tensor& out) {
  out.dtype() == DType::Int32 ? write_indices<int32_t>(rows, columns, offset, upper, out)
                              : write_indices<int64_t>(rows, columns, offset, upper, out);
}

}  // namespace

void tril(const Tensor& self, int64_t diagonal, const Tensor& out) {
  keep_columns(self, out, [&](int64_t i, int64_t columns) {
    return std::pair<int64_t, int64_t>(0, shape::below_diagonal(i, columns, diagonal));
  });
}

void triu(const Tensor& self, int64_t diagonal, const Tensor& out) {
  keep_columns(self, out, [&](int64_t i, int64_t columns) {
    return std::pair(shape::below_diagonal(i - 1, columns, diagonal), columns);
  });
}

void tril_indices(int64_t row, int64_t col, int64_t offset, std::optional<DType>, std::optional<Layout>,
                  std::optional<Device>, std::optional<bool>, const Tensor& out) {
  indices(row, col, offset, false, out);
}

void triu_indices(int64_t row, int64_t col, int64_t offset, std::optional<DType>, std::optional<Layout>,
                  std::optional<Device>, std::optional<bool>, const Tensor& out) {
  indices(row, col, offset, true, out);
}

// --- complex numbers

void complex(const Tensor& real, const Tensor& imag, const Tensor& out) {
  DType part = real.dtype();
  shape::Dims strides;
  for (int64_t stride : out.strides()) strides.push_back(stride * out.itemsize());
  const Tensor* parts[] = {&real, &imag};
  for (int i = 0; i < 2; ++i) {
    shape::Dims from(out.sizes());
    int64_t lead = out.dim() - parts[i]->dim();
    for (int64_t d = 0; d < out.dim(); ++d) {
      bool repeated = d < lead || parts[i]->sizes()[d - lead] != out.sizes()[d];
      from[d] = repeated ? 0 : parts[i]->strides()[d - lead] * parts[i]->itemsize();
    }
    strided_copy(out.sizes(), {out.data<char>() + i * itemsize(part), strides.data(), part},
                 {parts[i]->data<char>(), from.data(), part});
  }
}

}  // namespace taeda::cpu
