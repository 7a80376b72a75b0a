// Rules of tables whose rows indices name.
#pragma once
#include <array>

#include "shape/spec.h"

namespace taeda::shape {

void check_table(const Tensor& weight, const Tensor& indices);
Spec embedding_dense_backward(const Tensor& grad_output, const Tensor& indices, int64_t num_weights,
                              int64_t padding_idx, bool scale_grad_by_freq);
// The bags, the bag of each index, the rows of each bag, the rows of maxima.
std::array<Spec, 4> embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                                  bool scale_grad_by_freq, int64_t mode, bool sparse, const Tensor& per_sample_weights,
                                  bool include_last_offset, int64_t padding_idx);

}  // namespace taeda::shape
