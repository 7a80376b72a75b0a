// Stacks of recurrent layers, both directions, padded or packed; and single cells.
#include "composite/rnn_direction.h"

#include <algorithm>

#include "composite/ops/rnn.h"
#include "shape/rnn_rules.h"
#include "shape/view_rules.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/dropout.h"
#include "taeda/ops/join.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/rnn.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

namespace {

RnnResult fused(const RnnLayer& l, const Tensor& input, const Tensor& hx, const Tensor& cx, IntList batch_sizes) {
  auto [output, hy, cy, cells, gates] =
      ops::_rnn_layer(input, hx, cx, l.w_ih, l.w_hh, l.b_ih, l.b_hh, batch_sizes, l.reverse, l.mode);
  return {output, hy, cy};
}

// Half types are computed in float32, as their products would be.
RnnResult in_float(const RnnLayer& l, const Tensor& input, const Tensor& hx, const Tensor& cx, IntList batch_sizes) {
  auto up = [](const Tensor& t) { return t.defined() ? ops::_to_copy(t, DType::Float32) : t; };
  auto down = [&](const Tensor& t) { return ops::_to_copy(t, input.dtype()); };
  RnnLayer layer{up(l.w_ih), up(l.w_hh), up(l.b_ih), up(l.b_hh), {}, l.mode, l.reverse};
  RnnResult r = fused(layer, up(input), up(hx), up(cx), batch_sizes);
  return {down(r.output), down(r.hy), down(r.cy)};
}

RnnResult run_layer(const RnnLayer& layer, const Tensor& input, const Tensor& hx, const Tensor& cx,
                    IntList batch_sizes) {
  DType dtype = input.dtype();
  TAEDA_CHECK(is_differentiable(dtype) || layer.mode == "tanh" || layer.mode == "relu",
              "gates are for floating-point and complex tensors; got ", dtype);
  bool is_half = dtype == DType::Float16 || dtype == DType::BFloat16;
  bool has_kernel = is_half || dtype == DType::Float32 || dtype == DType::Float64;
  if (layer.w_hr.defined() || !has_kernel) return rnn_layer_by_steps(layer, input, hx, cx, batch_sizes);
  return (is_half ? in_float : fused)(layer, input, hx, cx, batch_sizes);
}

// A stack of layers as the ops' arguments give it.
struct Stack {
  std::string_view mode;
  TensorList params;
  bool has_biases;
  int64_t num_layers;
  double dropout;
  bool train, bidirectional;
  Tensor hx, cx;  // (layers * directions, N, hidden); cx only for an lstm
};

int64_t params_per_layer(const Stack& s) {
  bool projects = s.cx.defined() && s.cx.size(2) != s.hx.size(2);
  return (s.has_biases ? 4 : 2) + projects;
}

RnnLayer layer_of(const Stack& s, int64_t index) {
  int64_t each = params_per_layer(s);
  const Tensor* p = s.params.data() + index * each;
  RnnLayer layer{p[0], p[1], {}, {}, {}, s.mode, s.bidirectional && index % 2 == 1};
  if (s.has_biases) {
    layer.b_ih = p[2];
    layer.b_hh = p[3];
  }
  if (each % 2) layer.w_hr = p[each - 1];
  return layer;
}

void check(const Stack& s, const Tensor& input, int64_t batch) {
  int64_t directions = s.bidirectional ? 2 : 1, states = s.num_layers * directions;
  TAEDA_CHECK(s.hx.dim() == 3 && s.hx.size(0) == states && s.hx.size(1) == batch, "the state must have shape (", states,
              ", ", batch, ", hidden size): one for each layer and direction; got ", s.hx.sizes());
  if (s.cx.defined())
    TAEDA_CHECK(s.cx.dim() == 3 && s.cx.size(0) == states && s.cx.size(1) == batch, "the cell state must have shape (",
                states, ", ", batch, ", hidden size); got ", s.cx.sizes());
  int64_t wanted = states * params_per_layer(s);
  TAEDA_CHECK(static_cast<int64_t>(s.params.size()) == wanted, states, " layers and directions need ", wanted,
              " parameters; got ", s.params.size());
  TAEDA_CHECK(s.hx.dtype() == input.dtype(), "input and state must have one dtype; got ", input.dtype(), " and ",
              s.hx.dtype());
}

Tensor together(const std::vector<Tensor>& states) {
  return states.size() == 1 ? ops::unsqueeze(states[0], 0) : ops::stack(states, 0);
}

// `input` is (rows, features); so is the output.
RnnResult run_stack(const Stack& s, Tensor input, IntList batch_sizes) {
  int64_t directions = s.bidirectional ? 2 : 1;
  std::vector<Tensor> hy, cy;
  for (int64_t l = 0; l < s.num_layers; ++l) {
    Tensor outputs[2];
    for (int64_t d = 0; d < directions; ++d) {
      int64_t index = l * directions + d;
      Tensor cx = s.cx.defined() ? ops::select(s.cx, 0, index) : Tensor();
      RnnResult r = run_layer(layer_of(s, index), input, ops::select(s.hx, 0, index), cx, batch_sizes);
      outputs[d] = r.output;
      hy.push_back(r.hy);
      if (s.cx.defined()) cy.push_back(r.cy);
    }
    input = s.bidirectional ? ops::cat(outputs, 1) : outputs[0];
    if (s.train && s.dropout > 0 && l + 1 < s.num_layers) input = ops::dropout(input, s.dropout, true);
  }
  return {input, together(hy), s.cx.defined() ? together(cy) : Tensor()};
}

RnnResult padded(const Stack& s, const Tensor& input, bool batch_first);

// One sequence without a batch dimension.
RnnResult alone(Stack s, const Tensor& input) {
  s.hx = ops::unsqueeze(s.hx, 1);
  if (s.cx.defined()) s.cx = ops::unsqueeze(s.cx, 1);
  RnnResult r = padded(s, ops::unsqueeze(input, 1), false);
  return {ops::squeeze(r.output, 1), ops::squeeze(r.hy, 1), r.cy.defined() ? ops::squeeze(r.cy, 1) : Tensor()};
}

RnnResult padded(const Stack& s, const Tensor& input, bool batch_first) {
  if (input.dim() == 2 && s.hx.dim() == 2 && !batch_first) return alone(s, input);
  TAEDA_CHECK(input.dim() == 3, "the input must have 3 dimensions; got shape ", input.sizes());
  Tensor by_time = batch_first ? ops::transpose(input, 0, 1) : input;
  int64_t steps = by_time.size(0), batch = by_time.size(1);
  TAEDA_CHECK(steps > 0, "a sequence needs at least one step; got shape ", input.sizes());
  check(s, input, batch);
  std::vector<int64_t> batch_sizes(static_cast<size_t>(steps), batch);
  RnnResult r = run_stack(s, ops::reshape(by_time, {{steps * batch, by_time.size(2)}}), batch_sizes);
  r.output = ops::view(r.output, {{steps, batch, r.output.size(1)}});
  if (batch_first) r.output = ops::transpose(r.output, 0, 1);
  return r;
}

RnnResult packed(const Stack& s, const Tensor& data, const Tensor& batch_sizes) {
  std::vector<int64_t> sizes = shape::integers_of(batch_sizes);
  TAEDA_CHECK(!sizes.empty(), "a packed sequence needs at least one step");
  check(s, data, sizes[0]);
  return run_stack(s, data, sizes);
}

Stack lstm_stack(TensorList hx, TensorList params, bool has_biases, int64_t num_layers, double dropout, bool train,
                 bool bidirectional) {
  TAEDA_CHECK(hx.size() == 2, "hx must hold the hidden and the cell state; got ", hx.size(), " tensors");
  TAEDA_CHECK(hx[0].dim() == 3 && hx[1].dim() == 3, "the states must have 3 dimensions; got shapes ", hx[0].sizes(),
              " and ", hx[1].sizes());
  return {"lstm", params, has_biases, num_layers, dropout, train, bidirectional, hx[0], hx[1]};
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input, TensorList hx, TensorList params, bool has_biases,
                                        int64_t num_layers, double dropout, bool train, bool bidirectional,
                                        bool batch_first) {
  RnnResult r =
      padded(lstm_stack(hx, params, has_biases, num_layers, dropout, train, bidirectional), input, batch_first);
  return {r.output, r.hy, r.cy};
}
std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& data, const Tensor& batch_sizes, TensorList hx, TensorList params,
                                        bool has_biases, int64_t num_layers, double dropout, bool train,
                                        bool bidirectional) {
  RnnResult r =
      packed(lstm_stack(hx, params, has_biases, num_layers, dropout, train, bidirectional), data, batch_sizes);
  return {r.output, r.hy, r.cy};
}

#define TAEDA_RNN(name, mode)                                                                                         \
  std::tuple<Tensor, Tensor> name(const Tensor& input, const Tensor& hx, TensorList params, bool has_biases,          \
                                  int64_t num_layers, double dropout, bool train, bool bidirectional,                 \
                                  bool batch_first) {                                                                 \
    RnnResult r =                                                                                                     \
        padded({mode, params, has_biases, num_layers, dropout, train, bidirectional, hx, {}}, input, batch_first);    \
    return {r.output, r.hy};                                                                                          \
  }                                                                                                                   \
  std::tuple<Tensor, Tensor> name(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, TensorList params, \
                                  bool has_biases, int64_t num_layers, double dropout, bool train,                    \
                                  bool bidirectional) {                                                               \
    RnnResult r =                                                                                                     \
        packed({mode, params, has_biases, num_layers, dropout, train, bidirectional, hx, {}}, data, batch_sizes);     \
    return {r.output, r.hy};                                                                                          \
  }
TAEDA_RNN(gru, "gru")
TAEDA_RNN(rnn_tanh, "tanh")
TAEDA_RNN(rnn_relu, "relu")

// --- cells: a sequence of one step

namespace {

RnnResult cell(std::string_view mode, const Tensor& input, const Tensor& hx, const Tensor& cx, const Tensor& w_ih,
               const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) {
  TAEDA_CHECK(input.dim() == 1 || input.dim() == 2, "the input must have 1 or 2 dimensions; got shape ", input.sizes());
  TAEDA_CHECK(hx.dim() == input.dim(), "input and state must have as many dimensions; got shapes ", input.sizes(),
              " and ", hx.sizes());
  bool is_batched = input.dim() == 2;
  auto batched = [&](const Tensor& t) { return is_batched || !t.defined() ? t : ops::unsqueeze(t, 0); };
  const int64_t sizes[] = {is_batched ? input.size(0) : 1};
  RnnResult r = run_layer({w_ih, w_hh, b_ih, b_hh, {}, mode}, batched(input), batched(hx), batched(cx), sizes);
  // A GRU's new state is laid out as the old one, which it is a step away from.
  if (is_batched && mode == "gru" && hx.size(0) > 1 && hx.stride(0) > 0 && hx.stride(0) < hx.stride(1))
    r.hy = ops::transpose(ops::contiguous(ops::transpose(r.hy, 0, 1)), 0, 1);
  if (is_batched) return r;
  return {{}, ops::squeeze(r.hy, 0), cx.defined() ? ops::squeeze(r.cy, 0) : cx};
}

}  // namespace

std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, TensorList hx, const Tensor& w_ih, const Tensor& w_hh,
                                     const Tensor& b_ih, const Tensor& b_hh) {
  TAEDA_CHECK(hx.size() == 2, "hx must hold the hidden and the cell state; got ", hx.size(), " tensors");
  RnnResult r = cell("lstm", input, hx[0], hx[1], w_ih, w_hh, b_ih, b_hh);
  return {r.hy, r.cy};
}

#define TAEDA_CELL(name, mode)                                                                                   \
  Tensor name(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, \
              const Tensor& b_hh) {                                                                              \
    return cell(mode, input, hx, {}, w_ih, w_hh, b_ih, b_hh).hy;                                                 \
  }
TAEDA_CELL(gru_cell, "gru")
TAEDA_CELL(rnn_tanh_cell, "tanh")
TAEDA_CELL(rnn_relu_cell, "relu")

}  // namespace taeda::composite
