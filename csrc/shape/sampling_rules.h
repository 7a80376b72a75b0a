// Rules of sampling images at points, and of pooling at random places.
#pragma once
#include <tuple>

#include "shape/spec.h"

namespace taeda::shape {

// RuntimeError unless `grid` holds points of images of `rank` dimensions.
void check_grid(const Tensor& input, const Tensor& grid, int64_t rank);

Spec grid_sampler_2d(const Tensor& input, const Tensor& grid, int64_t interpolation, int64_t padding,
                     bool align_corners);
Spec grid_sampler_3d(const Tensor& input, const Tensor& grid, int64_t interpolation, int64_t padding,
                     bool align_corners);
std::tuple<Spec, Spec> grid_sampler_grads(const Tensor& grad_output, const Tensor& input, const Tensor& grid,
                                          int64_t interpolation, int64_t padding, bool align_corners,
                                          IntList output_mask);
std::tuple<Spec, Spec> fractional_max_pool2d(const Tensor& self, IntList kernel_size, IntList output_size,
                                             const Tensor& random_samples);
std::tuple<Spec, Spec> fractional_max_pool3d(const Tensor& self, IntList kernel_size, IntList output_size,
                                             const Tensor& random_samples);

}  // namespace taeda::shape
