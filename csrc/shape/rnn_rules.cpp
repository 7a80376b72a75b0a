#include "shape/rnn_rules.h"

#include <algorithm>

namespace taeda::shape {

int64_t rnn_gates(std::string_view mode) {
  if (mode == "lstm") return 4;
  if (mode == "gru") return 3;
  TAEDA_CHECK_VALUE(mode == "tanh" || mode == "relu", "the mode must be lstm, gru, tanh or relu; got ", mode);
  return 1;
}

namespace {

void check(const Tensor& t, IntList sizes, const Tensor& input, const char* name) {
  TAEDA_CHECK(std::ranges::equal(t.sizes(), sizes), name, " must have shape ", sizes, "; got ", t.sizes());
  TAEDA_CHECK(t.dtype() == input.dtype(), name, " must have the dtype of the input, ", input.dtype(), "; got ",
              t.dtype());
  TAEDA_CHECK(t.device() == input.device(), name, " is on ", t.device(), " and the input on ", input.device());
}

}  // namespace

void check_batch_sizes(IntList sizes, int64_t rows) {
  int64_t left = rows;  // a sum of any sizes might overflow
  for (int64_t size : sizes) left = (size > 0 || rows == 0) && size <= left ? left - size : -1;
  TAEDA_CHECK(!sizes.empty() && left == 0 && std::ranges::is_sorted(sizes, std::greater<>()),
              "the batch sizes must fall, stay above 0 and add up to the rows of the packed sequence (", rows,
              "); got ", sizes);
}

std::array<Spec, 5> rnn_layer(const Tensor& input, const Tensor& hx, const Tensor& cx, const Tensor& w_ih,
                              const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh, IntList batch_sizes, bool,
                              std::string_view mode) {
  int64_t gates = rnn_gates(mode);
  TAEDA_CHECK(input.dim() == 2 && hx.dim() == 2, "input and state must have 2 dimensions; got ", input.sizes(), " and ",
              hx.sizes());
  DType dtype = input.dtype();
  TAEDA_CHECK(dtype == DType::Float32 || dtype == DType::Float64, "is for float32 and float64; got ", dtype);
  const int64_t rows = input.size(0), hidden = hx.size(1);
  check_batch_sizes(batch_sizes, rows);
  TAEDA_CHECK(batch_sizes[0] == hx.size(0), "the first batch size (", batch_sizes[0],
              ") must be the batch of the state (", hx.size(0), ")");
  check(w_ih, Dims{gates * hidden, input.size(1)}, input, "the input's weight");
  check(w_hh, Dims{gates * hidden, hidden}, input, "the state's weight");
  check(hx, hx.sizes(), input, "the state");
  if (b_ih.defined()) check(b_ih, Dims{gates * hidden}, input, "the input's bias");
  if (b_hh.defined()) check(b_hh, Dims{gates * hidden}, input, "the state's bias");
  bool is_lstm = mode == "lstm";
  TAEDA_CHECK(cx.defined() == is_lstm, "an lstm has a cell state, other modes have none");
  if (is_lstm) check(cx, hx.sizes(), input, "the cell state");
  Spec output{{rows, hidden}, dtype}, none{{0}, dtype};
  return {output,
          {hx.sizes(), dtype},
          is_lstm ? Spec{hx.sizes(), dtype} : none,
          is_lstm ? output : none,
          gates > 1 ? Spec{{rows, 4 * hidden}, dtype} : none};
}

void check_rnn_backward(const Tensor& grad_output, const Tensor& grad_hy, const Tensor& grad_cy, const Tensor& input,
                        const Tensor& hx, const Tensor& cx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih,
                        const Tensor& b_hh, IntList batch_sizes, bool reverse, std::string_view mode,
                        const Tensor& output, const Tensor& cells, const Tensor& gates) {
  auto results = rnn_layer(input, hx, cx, w_ih, w_hh, b_ih, b_hh, batch_sizes, reverse, mode);
  check(grad_output, results[0].sizes, input, "the gradient of the output");
  check(grad_hy, results[1].sizes, input, "the gradient of the state");
  if (cx.defined()) check(grad_cy, results[2].sizes, input, "the gradient of the cell state");
  check(output, results[0].sizes, input, "the output");
  check(cells, results[3].sizes, input, "the cells");
  check(gates, results[4].sizes, input, "the gates");
  TAEDA_CHECK(output.is_contiguous() && cells.is_contiguous() && gates.is_contiguous(),
              "the saved output, cells and gates must be contiguous");
}

}  // namespace taeda::shape
