// Rules of distances between rows.
#pragma once
#include "shape/spec.h"

namespace taeda::shape {

Spec cdist_forward(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode);
Spec cdist_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p, const Tensor& cdist);
Spec pdist_forward(const Tensor& self, double p);
Spec pdist_backward(const Tensor& grad, const Tensor& self, double p, const Tensor& pdist);

}  // namespace taeda::shape
