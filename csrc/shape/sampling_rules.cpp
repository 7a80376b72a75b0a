#include "shape/sampling_rules.h"

#include <algorithm>

namespace taeda::shape {

namespace {

Spec sampled(const Tensor& input, const Tensor& grid, int64_t rank) {
  check_grid(input, grid, rank);
  check_floating(input);
  Dims sizes(input.sizes().first(2));
  for (int64_t n : grid.sizes().subspan(1, rank)) sizes.push_back(n);
  return {sizes, input.dtype()};
}

std::tuple<Spec, Spec> fractional(const Tensor& self, IntList kernel_size, IntList output_size,
                                  const Tensor& random_samples, int64_t rank) {
  check_floating(self);
  const int64_t outer = self.dim() - rank;
  TAEDA_CHECK(outer == 1 || outer == 2, "input must have a channel and ", rank,
              " pooled dimensions, with a batch before them or not; got shape ", self.sizes());
  for (int64_t d = outer - 1; d < self.dim(); ++d)
    TAEDA_CHECK(self.sizes()[d] > 0, "only the batch may be empty; got shape ", self.sizes());
  TAEDA_CHECK(static_cast<int64_t>(kernel_size.size()) == rank && static_cast<int64_t>(output_size.size()) == rank,
              "kernel_size and output_size must have ", rank, " numbers; got ", kernel_size, " and ", output_size);
  TAEDA_CHECK(random_samples.dtype() == self.dtype(), "the random samples must have the input's dtype ", self.dtype(),
              "; got ", random_samples.dtype());
  const int64_t batch = outer == 2 ? self.sizes()[0] : 1, channels = self.sizes()[outer - 1];
  TAEDA_CHECK(random_samples.dim() == 3 && random_samples.sizes()[0] >= batch &&
                  random_samples.sizes()[1] == channels && random_samples.sizes()[2] == rank,
              "the random samples must be of shape ", Dims{batch, channels, rank}, "; got ", random_samples.sizes());
  Dims sizes(self.sizes().first(outer));
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t image = self.sizes()[outer + d];
    TAEDA_CHECK(kernel_size[d] > 0, "kernel_size must be positive; got ", kernel_size);
    int64_t most = image - kernel_size[d] + (rank == 3 ? 0 : 1);  // PyTorch's volumes want one to spare
    TAEDA_CHECK(output_size[d] >= 0 && output_size[d] <= most, output_size[d], " windows of ", kernel_size[d],
                " do not fit into ", image, " elements");
    sizes.push_back(output_size[d]);
  }
  return {Spec{sizes, self.dtype()}, Spec{sizes, DType::Int64}};
}

}  // namespace

void check_grid(const Tensor& input, const Tensor& grid, int64_t rank) {
  TAEDA_CHECK(input.dim() == rank + 2 && grid.dim() == rank + 2, "input and grid must have ", rank + 2,
              " dimensions; got shapes ", input.sizes(), " and ", grid.sizes());
  TAEDA_CHECK(input.sizes()[0] == grid.sizes()[0], "input and grid must have the same batch size; got shapes ",
              input.sizes(), " and ", grid.sizes());
  TAEDA_CHECK(grid.sizes().back() == rank, "the grid's last dimension must be of size ", rank, "; got shape ",
              grid.sizes());
  TAEDA_CHECK(std::ranges::all_of(input.sizes().subspan(2), [](int64_t n) { return n > 0; }),
              "the image must not be empty; got shape ", input.sizes());
  TAEDA_CHECK(input.dtype() == grid.dtype(), "input and grid must have the same dtype; got ", input.dtype(), " and ",
              grid.dtype());
}

Spec grid_sampler_2d(const Tensor& input, const Tensor& grid, int64_t, int64_t, bool) {
  return sampled(input, grid, 2);
}
Spec grid_sampler_3d(const Tensor& input, const Tensor& grid, int64_t interpolation, int64_t, bool) {
  TAEDA_CHECK(interpolation != 2, "cubic interpolation is for images of two dimensions; got shape ", input.sizes());
  return sampled(input, grid, 3);
}

std::tuple<Spec, Spec> grid_sampler_grads(const Tensor& grad_output, const Tensor& input, const Tensor& grid, int64_t,
                                          int64_t, bool, IntList output_mask) {
  Spec result = sampled(input, grid, input.dim() - 2);
  TAEDA_CHECK(std::ranges::equal(result.sizes, grad_output.sizes()) && grad_output.dtype() == input.dtype(),
              "the gradient must be ", input.dtype(), " of shape ", result.sizes, "; got ", grad_output.dtype(),
              " of shape ", grad_output.sizes());
  return {Spec{output_mask[0] ? Dims(input.sizes()) : Dims{0}, input.dtype()},
          Spec{output_mask[1] ? Dims(grid.sizes()) : Dims{0}, grid.dtype()}};
}

std::tuple<Spec, Spec> fractional_max_pool2d(const Tensor& self, IntList kernel_size, IntList output_size,
                                             const Tensor& random_samples) {
  return fractional(self, kernel_size, output_size, random_samples, 2);
}
std::tuple<Spec, Spec> fractional_max_pool3d(const Tensor& self, IntList kernel_size, IntList output_size,
                                             const Tensor& random_samples) {
  return fractional(self, kernel_size, output_size, random_samples, 3);
}

}  // namespace taeda::shape
