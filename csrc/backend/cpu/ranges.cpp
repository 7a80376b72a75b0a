// Sequences, triangles, and complex numbers from their parts.
#include <cmath>
#include <cstring>

#include "backend/cpu/moves.h"
#include "core/parallel.h"
#include "shape/create_rules.h"
#include "shape/ops/complex_numbers.h"
#include "shape/ops/ranges.h"

namespace taeda::cpu {

namespace {

template <class T, class F>
void generate(const Tensor& out, const F& value) {
  T* data = out.data<T>();
  parallel_for(0, out.numel(), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) data[i] = convert<T>(value(i));
  });
}

void steps_from(const Scalar& start, const Scalar& step, const Tensor& out) {
  visit(out.dtype(), [&]<class T>() {
    if constexpr (std::is_integral_v<T>) {
      uint64_t from = start.to<int64_t>(), by = step.to<int64_t>();  // unsigned: the last step may wrap
      generate<T>(out, [&](int64_t i) { return static_cast<int64_t>(from + by * static_cast<uint64_t>(i)); });
    } else {
      double from = start.as_double(), by = step.as_double();
      generate<T>(out, [&](int64_t i) { return from + by * static_cast<double>(i); });
    }
  });
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

// Counted from the nearer end, so that both ends are exact. Each step is rounded as PyTorch rounds it.
template <class T, class A>
auto spacing(A from, A to, int64_t steps) {
  A by = steps > 1 ? held<T>(held<T>(to - from) / held<T>(static_cast<A>(steps - 1))) : A(0);
  return [=](int64_t i) {
    return i < std::max<int64_t>(steps / 2, 1) ? multiply_add<T>(by, held<T>(static_cast<A>(i)), from)
                                               : multiply_add<T>(-by, held<T>(static_cast<A>(steps - 1 - i)), to);
  };
}

template <class T>
auto spacing_of(const Scalar& start, const Scalar& end, int64_t steps) {
  T from = start.to<T>(), to = end.to<T>();
  if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
    using Part = typename T::value_type;
    return [re = spacing<Part>(from.real(), to.real(), steps),
            im = spacing<Part>(from.imag(), to.imag(), steps)](int64_t i) { return T(re(i), im(i)); };
  } else {  // integers between the truncated bounds
    return spacing<T>(convert<Computed<T>>(from), convert<Computed<T>>(to), steps);
  }
}

}  // namespace

void arange(const Scalar& start, const Scalar&, const Scalar& step, std::optional<DType>, std::optional<Layout>,
            std::optional<Device>, std::optional<bool>, const Tensor& out) {
  steps_from(start, step, out);
}

void range(const Scalar& start, const Scalar&, const Scalar& step, std::optional<DType>, std::optional<Layout>,
           std::optional<Device>, std::optional<bool>, const Tensor& out) {
  steps_from(start, step, out);
}

void linspace(const Scalar& start, const Scalar& end, int64_t steps, std::optional<DType>, std::optional<Layout>,
              std::optional<Device>, std::optional<bool>, const Tensor& out) {
  visit(out.dtype(), [&]<class T>() { generate<T>(out, spacing_of<T>(start, end, steps)); });
}

void logspace(const Scalar& start, const Scalar& end, int64_t steps, double base, std::optional<DType>,
              std::optional<Layout>, std::optional<Device>, std::optional<bool>, const Tensor& out) {
  visit(out.dtype(), [&]<class T>() {
    if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
      auto exponent = spacing_of<complex128>(start, end, steps);
      generate<T>(out, [&](int64_t i) { return std::pow(complex128(base), exponent(i)); });
    } else {  // the exponents in double, between bounds that are a T
      using A = Computed<T>;
      bool one = steps < 2;
      A from = convert<A>(start.to<T>()), to = convert<A>(end.to<T>());
      double first = one ? start.as_double() : from, by = one ? 0 : held<T>(to - from) / static_cast<double>(steps - 1);
      generate<T>(out, [&](int64_t i) {
        return std::pow(base, i < std::max<int64_t>(steps / 2, 1) ? first + by * i : to - by * (steps - 1 - i));
      });
    }
  });
}

// --- triangles

namespace {

// Keeps columns [first(i), last(i)) of each row i.
template <class Kept>
void keep_columns(const Tensor& self, const Tensor& out, const Kept& kept) {
  if (out.numel() == 0) return;
  move_elements(out, self);
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
    move_elements(out.sizes(), {out.data<char>() + i * itemsize(part), strides.data(), part},
                  {parts[i]->data<char>(), from.data(), part});
  }
}

}  // namespace taeda::cpu
