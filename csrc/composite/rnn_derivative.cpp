// A recurrent layer by plain ops, and the derivative of the fused one.
#include "composite/ops/rnn.h"
#include "composite/rnn_direction.h"
#include "shape/rnn_rules.h"
#include "taeda/autograd/engine.h"
#include "taeda/autograd/forward.h"
#include "taeda/ops/activation.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/join.h"
#include "taeda/ops/linalg.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/rnn.h"
#include "taeda/ops/unary.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

namespace {

Tensor part(const Tensor& t, int64_t i, int64_t hidden) { return ops::narrow(t, 1, i * hidden, hidden); }

// One step from the inputs' products; h and c as they were before.
void step(const RnnLayer& layer, const Tensor& from_input, Tensor& h, Tensor& c) {
  Tensor from_state = ops::linear(h, layer.w_hh, layer.b_hh);
  if (layer.mode == "gru") {
    int64_t n = h.size(1);
    Tensor reset = ops::sigmoid(ops::add(part(from_input, 0, n), part(from_state, 0, n)));
    Tensor update = ops::sigmoid(ops::add(part(from_input, 1, n), part(from_state, 1, n)));
    Tensor fresh = ops::tanh(ops::add(part(from_input, 2, n), ops::mul(reset, part(from_state, 2, n))));
    h = ops::add(fresh, ops::mul(update, ops::sub(h, fresh)));
    return;
  }
  Tensor sums = ops::add(from_input, from_state);
  if (layer.mode != "lstm") {
    h = layer.mode == "tanh" ? ops::tanh(sums) : ops::relu(sums);
    return;
  }
  int64_t n = c.size(1);
  Tensor kept = ops::mul(ops::sigmoid(part(sums, 1, n)), c);
  c = ops::add(kept, ops::mul(ops::sigmoid(part(sums, 0, n)), ops::tanh(part(sums, 2, n))));
  h = ops::mul(ops::sigmoid(part(sums, 3, n)), ops::tanh(c));
  if (layer.w_hr.defined()) h = ops::linear(h, layer.w_hr);
}

// The first rows of a state replaced by new ones.
Tensor with_first_rows(const Tensor& state, const Tensor& rows) {
  int64_t count = rows.size(0), left = state.size(0) - count;
  return left ? ops::cat({{rows, ops::narrow(state, 0, count, left)}}, 0) : rows;
}

// An alias to differentiate by, because one tensor may have been given twice, or may only have a tangent.
Tensor differentiated(const Tensor& t) {
  if (autograd::requires_grad(t)) return ops::alias(t);
  Tensor leaf = autograd::without_history(t);
  autograd::set_requires_grad(leaf, true);
  return leaf;
}

}  // namespace

RnnResult rnn_layer_by_steps(const RnnLayer& layer, const Tensor& input, const Tensor& hx, const Tensor& cx,
                             IntList batch_sizes) {
  Tensor from_input = ops::linear(input, layer.w_ih, layer.b_ih), h = hx, c = cx;
  std::vector<Tensor> outputs(batch_sizes.size());
  int64_t begin = layer.reverse ? input.size(0) : 0;
  for (size_t i = 0; i < batch_sizes.size(); ++i) {
    size_t t = layer.reverse ? batch_sizes.size() - 1 - i : i;
    int64_t size = batch_sizes[t];
    if (layer.reverse) begin -= size;
    Tensor h_rows = ops::narrow(h, 0, 0, size), c_rows = c.defined() ? ops::narrow(c, 0, 0, size) : c;
    step(layer, ops::narrow(from_input, 0, begin, size), h_rows, c_rows);
    if (!layer.reverse) begin += size;
    outputs[t] = h_rows;
    h = with_first_rows(h, h_rows);
    if (c.defined()) c = with_first_rows(c, c_rows);
  }
  return {ops::cat(outputs, 0), h, c};
}

using Seven = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor>;

Seven _rnn_layer_backward(const Tensor& grad_output, const Tensor& grad_hy, const Tensor& grad_cy, const Tensor& input,
                          const Tensor& hx, const Tensor& cx, const Tensor& w_ih, const Tensor& w_hh,
                          const Tensor& b_ih, const Tensor& b_hh, IntList batch_sizes, bool reverse,
                          std::string_view mode, const Tensor& output, const Tensor& cells, const Tensor& gates,
                          IntList needs) {
  shape::check_rnn_backward(grad_output, grad_hy, grad_cy, input, hx, cx, w_ih, w_hh, b_ih, b_hh, batch_sizes, reverse,
                            mode, output, cells, gates);
  const bool recorded = t_state.grad_mode;
  if (!recorded && !t_state.forward_grad)
    return ops::_rnn_layer_backward_fused(grad_output, grad_hy, grad_cy, input, hx, cx, w_ih, w_hh, b_ih, b_hh,
                                          batch_sizes, reverse, mode, output, cells, gates, needs);
  Scoped grad_mode(t_state.grad_mode, true);
  const Tensor* given[] = {&input, &hx, &cx, &w_ih, &w_hh, &b_ih, &b_hh};
  Tensor aliases[7];
  std::vector<autograd::Edge> edges;
  for (size_t i = 0; i < 7; ++i) {
    aliases[i] = needs[i] ? differentiated(*given[i]) : *given[i];
    if (needs[i]) edges.push_back(autograd::gradient_edge(aliases[i]));
  }
  RnnLayer layer{aliases[3], aliases[4], aliases[5], aliases[6], {}, mode, reverse};
  RnnResult replayed = rnn_layer_by_steps(layer, aliases[0], aliases[1], aliases[2], batch_sizes);
  std::vector<autograd::Edge> roots{autograd::gradient_edge(replayed.output), autograd::gradient_edge(replayed.hy)};
  std::vector<Tensor> grads{grad_output, grad_hy};
  if (cx.defined()) {
    roots.push_back(autograd::gradient_edge(replayed.cy));
    grads.push_back(grad_cy);
  }
  autograd::BackwardOptions options{.keep_graph = true, .create_graph = recorded, .accumulate = false};
  std::vector<Tensor> found = autograd::run_backward(roots, grads, options, edges);
  Tensor results[7];
  for (size_t i = 0, next = 0; i < 7; ++i)
    if (needs[i]) results[i] = found[next++];
  return {results[0], results[1], results[2], results[3], results[4], results[5], results[6]};
}

}  // namespace taeda::composite
