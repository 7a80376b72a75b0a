// Gradients kept in bounds.
#pragma once
#include <torch/types.h>

namespace torch::nn::utils {

// Scales the gradients, in place, so that the norm of all of them together is at most max_norm; the norm before.
TORCH_API double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type = 2.0,
                                 bool error_if_nonfinite = false);
TORCH_API double clip_grad_norm_(std::initializer_list<Tensor> parameters, double max_norm, double norm_type = 2.0,
                                 bool error_if_nonfinite = false);
TORCH_API double clip_grad_norm_(Tensor parameter, double max_norm, double norm_type = 2.0,
                                 bool error_if_nonfinite = false);
TORCH_API void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value);
TORCH_API void clip_grad_value_(std::initializer_list<Tensor> parameters, double clip_value);
TORCH_API void clip_grad_value_(Tensor parameter, double clip_value);

}  // namespace torch::nn::utils
