#include "shape/fft_rules.h"

#include <algorithm>

#include "shape/view_rules.h"

namespace taeda::shape {

namespace {

void check_normalization(int64_t normalization) {
  TAEDA_CHECK(normalization >= 0 && normalization <= 2, "normalization must be 0, 1 or 2; got ", normalization);
}

void check_complex(const Tensor& t) {
  TAEDA_CHECK(t.dtype() == DType::Complex64 || t.dtype() == DType::Complex128,
              "complex64 or complex128 numbers are wanted; got ", t.dtype());
}

// The dimensions counted from the start, each named once and none of them empty.
Dims transformed(const Tensor& self, IntList dim) {
  Dims dims;
  for (int64_t d : dim) {
    const int64_t at = wrap_dim(d, self.dim());
    TAEDA_CHECK(self.dim() > 0, "a tensor without dimensions has none to transform");
    TAEDA_CHECK(std::find(dims.begin(), dims.end(), at) == dims.end(), "dim names the dimension ", at,
                " more than once; got ", dim);
    dims.push_back(at);
  }
  return dims;
}

void check_not_empty(IntList sizes, const Dims& dims) {
  for (int64_t d : dims)
    TAEDA_CHECK(sizes[d] > 0, "there is nothing to transform in dimension ", d, " of shape ", sizes);
}

// The first `count` of them sorted.
Dims by_falling_strides(IntList strides, Dims dims, size_t count) {
  std::sort(dims.begin(), dims.begin() + count, [&](int64_t a, int64_t b) { return strides[a] > strides[b]; });
  return dims;
}

// `read` are the strides of what is read; `order` holds the transformed dimensions, innermost last.
Spec laid_out(IntList read, Dims sizes, DType dtype, const Dims& order) {
  Dims all;
  for (size_t d = 0; d < read.size(); ++d) all.push_back(static_cast<int64_t>(d));
  auto left = [&](int64_t d) { return std::find(order.begin(), order.end(), d) == order.end(); };
  const auto others = static_cast<size_t>(std::partition(all.begin(), all.end(), left) - all.begin());
  all = by_falling_strides(read, std::move(all), others);
  std::copy(order.begin(), order.end(), all.begin() + others);
  Dims strides(sizes);
  int64_t stride = 1;
  for (size_t i = all.size(); i-- > 0; stride *= std::max<int64_t>(sizes[all[i]], 1)) strides[all[i]] = stride;
  return {std::move(sizes), dtype, std::move(strides)};
}

}  // namespace

Spec fft_c2c(const Tensor& self, IntList dim, int64_t normalization, bool) {
  check_complex(self);
  check_normalization(normalization);
  Dims dims = transformed(self, dim);
  check_not_empty(self.sizes(), dims);
  if (dims.empty()) return clone(self, std::nullopt);
  return laid_out(self.strides(), self.sizes(), self.dtype(), by_falling_strides(self.strides(), dims, dims.size()));
}

Spec fft_r2c(const Tensor& self, IntList dim, int64_t normalization, bool onesided) {
  TAEDA_CHECK(self.dtype() == DType::Float32 || self.dtype() == DType::Float64,
              "float32 or float64 numbers are wanted; got ", self.dtype());
  check_normalization(normalization);
  Dims dims = transformed(self, dim);
  TAEDA_CHECK(!dims.empty(), "a dimension to transform is wanted; dim is empty");
  check_not_empty(self.sizes(), dims);
  Dims sizes(self.sizes());
  const size_t last = static_cast<size_t>(dims[dims.size() - 1]);
  if (onesided) sizes[last] = sizes[last] / 2 + 1;
  return laid_out(self.strides(), sizes, to_complex(self.dtype()),
                  by_falling_strides(self.strides(), dims, dims.size() - 1));
}

Spec fft_c2r(const Tensor& self, IntList dim, int64_t normalization, int64_t last_dim_size) {
  check_complex(self);
  check_normalization(normalization);
  Dims dims = transformed(self, dim);
  TAEDA_CHECK(!dims.empty(), "a dimension to transform is wanted; dim is empty");
  TAEDA_CHECK(last_dim_size > 0, "last_dim_size must be positive; got ", last_dim_size);
  check_not_empty(self.sizes(), dims);
  Dims sizes(self.sizes());
  const size_t last = static_cast<size_t>(dims[dims.size() - 1]);
  TAEDA_CHECK(sizes[last] == last_dim_size / 2 + 1, "for ", last_dim_size, " real numbers ", last_dim_size / 2 + 1,
              " complex ones are wanted in dimension ", last, "; got shape ", self.sizes());
  sizes[last] = last_dim_size;
  const Dims one{dims[dims.size() - 1]};
  dims.erase(dims.size() - 1);
  if (dims.empty()) return laid_out(self.strides(), sizes, to_real(self.dtype()), one);
  // The other dimensions come first, into a tensor of their own.
  Spec between =
      laid_out(self.strides(), self.sizes(), self.dtype(), by_falling_strides(self.strides(), dims, dims.size()));
  return laid_out(between.strides, sizes, to_real(self.dtype()), one);
}

}  // namespace taeda::shape
