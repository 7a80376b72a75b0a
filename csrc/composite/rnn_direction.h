// A recurrent layer in one direction, in the two ways it is computed.
#pragma once
#include <vector>

#include "taeda/core/tensor.h"

namespace taeda::composite {

struct RnnLayer {
  Tensor w_ih, w_hh, b_ih, b_hh, w_hr;  // the last three may be absent; w_hr projects an lstm's outputs
  std::string_view mode;
  bool reverse = false;
};
struct RnnResult {
  Tensor output, hy, cy;  // cy: lstm
};

// `input` is (rows, features), the states (N, hidden); cx only for an lstm. By plain ops, so that every gradient of
// every order and every dtype is right.
RnnResult rnn_layer_by_steps(const RnnLayer& layer, const Tensor& input, const Tensor& hx, const Tensor& cx,
                             IntList batch_sizes);

}  // namespace taeda::composite
