// The rule of a recurrent layer.
#pragma once
#include "shape/spec.h"

namespace taeda::shape {

// How many times the hidden size the weights of a mode have rows: 4 lstm, 3 gru, 1 tanh and relu. ValueError for
// others.
int64_t rnn_gates(std::string_view mode);

// Of a packed sequence. Raises unless there are some, they fall, stay above 0 and add up to `rows`.
void check_batch_sizes(IntList sizes, int64_t rows);

std::array<Spec, 5> rnn_layer(const Tensor& input, const Tensor& hx, const Tensor& cx, const Tensor& w_ih,
                              const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh, IntList batch_sizes,
                              bool reverse, std::string_view mode);

// Raises unless the gradients and what was saved fit the arguments of a layer.
void check_rnn_backward(const Tensor& grad_output, const Tensor& grad_hy, const Tensor& grad_cy, const Tensor& input,
                        const Tensor& hx, const Tensor& cx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih,
                        const Tensor& b_hh, IntList batch_sizes, bool reverse, std::string_view mode,
                        const Tensor& output, const Tensor& cells, const Tensor& gates);

}  // namespace taeda::shape
