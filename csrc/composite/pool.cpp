// Pooling of one dimension is pooling of a plane one row high; unpooling writes where pooling read.
#include "shape/ops/pool.h"
#include "shape/view_rules.h"
#include "taeda/ops/complex_numbers.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/pool.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/scatter.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

namespace {

using shape::Dims;

// (1, n) for n; an empty list stays one.
Dims flat(IntList values, int64_t across) {
  TAEDA_CHECK(values.size() <= 1, "one dimension is pooled: one number is wanted; got ", values);
  return values.empty() ? Dims() : Dims{across, values[0]};
}

void check_line(const Tensor& self) {
  TAEDA_CHECK(self.dim() == 2 || self.dim() == 3, "input must be (N, C, L) or (C, L); got shape ", self.sizes());
}

Tensor with_row(const Tensor& self) {
  check_line(self);
  return ops::unsqueeze(self, -2);
}

Tensor unpooled(const Tensor& self, const Tensor& indices, IntList output_size, int64_t rank) {
  TAEDA_CHECK(self.dim() == rank + 1 || self.dim() == rank + 2, "input must have a channel and ", rank,
              " spatial dimensions, with a batch before them or not; got shape ", self.sizes());
  TAEDA_CHECK(static_cast<int64_t>(output_size.size()) == rank, "output_size must have ", rank, " sizes; got ",
              output_size);
  TAEDA_CHECK(indices.dtype() == DType::Int64 && std::ranges::equal(indices.sizes(), self.sizes()),
              "indices must be int64 of the input's shape ", self.sizes(), "; got ", indices.dtype(), " of shape ",
              indices.sizes());
  Dims outer(self.sizes().first(self.dim() - rank)), sizes = outer;
  for (int64_t n : output_size) sizes.push_back(n);
  Dims plane = outer;
  plane.push_back(numel_of(output_size));
  Tensor zeros = ops::new_zeros(self, plane);
  Tensor result = ops::reshape(ops::scatter(zeros, -1, ops::flatten(indices, -rank), ops::flatten(self, -rank)), sizes);
  return rank == 2 ? ops::contiguous(result, shape::suggested_format(self)) : result;
}

}  // namespace

std::tuple<Tensor, Tensor> max_pool1d_with_indices(const Tensor& self, IntList kernel_size, IntList stride,
                                                   IntList padding, IntList dilation, bool ceil_mode) {
  auto [values, indices] = ops::max_pool2d_with_indices(with_row(self), flat(kernel_size, 1), flat(stride, 1),
                                                        flat(padding, 0), flat(dilation, 1), ceil_mode);
  return {ops::squeeze(values, -2), ops::squeeze(indices, -2)};
}

Tensor avg_pool1d(const Tensor& self, IntList kernel_size, IntList stride, IntList padding, bool ceil_mode,
                  bool count_include_pad) {
  return ops::squeeze(ops::avg_pool2d(with_row(self), flat(kernel_size, 1), flat(stride, 1), flat(padding, 0),
                                      ceil_mode, count_include_pad),
                      -2);
}

namespace {

// The mean is linear: that of complex numbers is of their parts.
template <class F>
Tensor of_parts(const Tensor& self, const F& pool) {
  if (!is_complex(self.dtype())) return pool(self);
  return ops::complex(pool(ops::real(self)), pool(ops::imag(self)));
}

}  // namespace

Tensor adaptive_avg_pool2d(const Tensor& self, IntList output_size) {
  return of_parts(self, [&](const Tensor& t) { return ops::_adaptive_avg_pool2d(t, output_size); });
}

Tensor adaptive_avg_pool3d(const Tensor& self, IntList output_size) {
  return of_parts(self, [&](const Tensor& t) { return ops::_adaptive_avg_pool3d(t, output_size); });
}

Tensor adaptive_avg_pool1d(const Tensor& self, IntList output_size) {
  return ops::squeeze(ops::adaptive_avg_pool2d(with_row(self), flat(output_size, 1)), -2);
}

std::tuple<Tensor, Tensor> adaptive_max_pool1d(const Tensor& self, IntList output_size) {
  auto [values, indices] = ops::adaptive_max_pool2d(with_row(self), flat(output_size, 1));
  return {ops::squeeze(values, -2), ops::squeeze(indices, -2)};
}

Tensor take_pooled(const Tensor& self, const Tensor& indices, int64_t rank) {
  TAEDA_CHECK(rank >= 1 && rank <= 3, "a window has 1 to 3 dimensions; got ", rank);
  Tensor taken = ops::gather(ops::flatten(self, -rank), -1, ops::flatten(indices, -rank));
  return ops::reshape(taken, indices.sizes());
}

Tensor adaptive_avg_pool_again(const Tensor& self, IntList sizes, int64_t rank) {
  TAEDA_CHECK((rank == 2 || rank == 3) && static_cast<int64_t>(sizes.size()) >= rank,
              "2 or 3 dimensions are pooled to the last of the sizes; got ", rank, " and ", sizes);
  IntList wanted = sizes.last(rank);
  return rank == 2 ? ops::_adaptive_avg_pool2d(self, wanted) : ops::_adaptive_avg_pool3d(self, wanted);
}

Tensor max_unpool2d(const Tensor& self, const Tensor& indices, IntList output_size) {
  return unpooled(self, indices, output_size, 2);
}
Tensor max_unpool3d(const Tensor& self, const Tensor& indices, IntList output_size, IntList, IntList) {
  return unpooled(self, indices, output_size, 3);
}

}  // namespace taeda::composite
