// Recurrent layers over packed weights, by steps.
#include <algorithm>
#include <functional>

#include "composite/ops/quantized_rnn.h"
#include "composite/quantized/packed.h"
#include "core/elements.h"
#include "taeda/ops/activation.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/dropout.h"
#include "taeda/ops/join.h"
#include "taeda/ops/quantized.h"
#include "taeda/ops/quantized_linear.h"
#include "taeda/ops/quantized_rnn.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/unary.h"
#include "taeda/ops/view.h"

namespace taeda::composite::quantized {

namespace {

enum class Recurrence : uint8_t { Lstm, Gru, Tanh, Relu };

enum CellSlot { kKind, kIh, kHh, kBiasIh, kBiasHh, kReduceRange };
const ClassType& cell_class() {
  static const ClassType& type =
      packed::class_named("rnn.CellParamsBase", {"_kind", "_w_ih", "_w_hh", "_b_ih", "_b_hh", "_reduce_range"});
  return type;
}

// What a step multiplies with.
struct CellWeights {
  Value ih, hh;
  bool half = false, reduce_range = true;
  Tensor by(const Value& weight, const Tensor& x) const {
    if (half) return ops::quantized::linear_dynamic_fp16(x, weight);
    return ops::quantized::linear_dynamic(x, weight, reduce_range);
  }
};

CellWeights weights_of(const Value& value) {
  const Instance& cell = packed::object(value, cell_class());
  return {cell.slots[kIh], cell.slots[kHh], cell.slots[kKind].to_string() == "quantized_fp16",
          cell.slots[kReduceRange].to_bool()};
}

struct CellState {
  Tensor h, c;  // c: of an lstm
  CellState narrowed(int64_t rows) const {
    if (h.size(0) == rows) return *this;
    return {ops::narrow(h, 0, 0, rows), c.defined() ? ops::narrow(c, 0, 0, rows) : c};
  }
};

Tensor part(const Tensor& gates, int64_t index, int64_t count) {
  int64_t width = gates.size(1) / count;
  return ops::narrow(gates, 1, index * width, width);
}

// `from_input`: the gates' part that the input gives.
CellState step(Recurrence mode, const CellWeights& w, const Tensor& from_input, const CellState& s) {
  Tensor from_state = w.by(w.hh, s.h);
  if (mode == Recurrence::Gru) {
    Tensor r = ops::sigmoid(ops::add(part(from_state, 0, 3), part(from_input, 0, 3)));
    Tensor z = ops::sigmoid(ops::add(part(from_state, 1, 3), part(from_input, 1, 3)));
    Tensor n = ops::tanh(ops::add(part(from_input, 2, 3), ops::mul(r, part(from_state, 2, 3))));
    return {ops::add(ops::mul(ops::sub(s.h, n), z), n), {}};
  }
  Tensor gates = from_state;  // a fresh one: what follows is written into it
  ops::add_(gates, from_input);
  if (mode == Recurrence::Tanh) return {ops::tanh(gates), {}};
  if (mode == Recurrence::Relu) return {ops::relu(gates), {}};
  Tensor candidate = part(gates, 2, 4), shown = part(gates, 3, 4);
  ops::sigmoid_(part(gates, 0, 2));  // what enters, what is kept
  ops::tanh_(candidate);
  ops::sigmoid_(shown);
  Tensor c = ops::mul(part(gates, 1, 4), s.c);
  ops::addcmul_(c, part(gates, 0, 4), candidate);
  Tensor h = ops::tanh(c);
  ops::mul_(h, shown);
  return {h, c};
}

Tensor stacked(const std::vector<Tensor>& parts, int64_t dim = 0) {
  return parts.size() == 1 ? parts[0] : ops::cat(parts, dim);
}

// The states of rows that end early wait for the others, of which there are fewer at each step.
struct Ended {
  std::vector<Tensor> h, c;
  void take(const CellState& s, int64_t kept) {
    int64_t rows = s.h.size(0) - kept;
    if (rows == 0) return;
    h.insert(h.begin(), ops::narrow(s.h, 0, kept, rows));
    if (s.c.defined()) c.insert(c.begin(), ops::narrow(s.c, 0, kept, rows));
  }
};

struct OneWay {
  Tensor output;
  CellState last;
};

OneWay forwards(Recurrence mode, const CellWeights& w, const Tensor& gates, CellState s, IntList batch_sizes) {
  std::vector<Tensor> outputs;
  Ended ended;
  int64_t row = 0;
  for (int64_t rows : batch_sizes) {
    ended.take(s, rows);
    s = step(mode, w, ops::narrow(gates, 0, row, rows), s.narrowed(rows));
    outputs.push_back(s.h);
    row += rows;
  }
  ended.take(s, 0);
  return {stacked(outputs), {stacked(ended.h), s.c.defined() ? stacked(ended.c) : s.c}};
}

// From the last step to the first: rows begin late, with their first states.
OneWay backwards(Recurrence mode, const CellWeights& w, const Tensor& gates, const CellState& first,
                 IntList batch_sizes) {
  std::vector<Tensor> outputs;
  int64_t row = gates.size(0);
  CellState s = first.narrowed(batch_sizes.back());
  for (size_t t = batch_sizes.size(); t-- > 0;) {
    int64_t rows = batch_sizes[t], known = s.h.size(0);
    if (rows > known) {
      auto join = [&](const Tensor& a, const Tensor& from) {
        return ops::cat(std::array{a, ops::narrow(from, 0, known, rows - known)}, 0);
      };
      s = {join(s.h, first.h), s.c.defined() ? join(s.c, first.c) : s.c};
    }
    row -= rows;
    s = step(mode, w, ops::narrow(gates, 0, row, rows), s);
    outputs.insert(outputs.begin(), s.h);
  }
  return {stacked(outputs), s};
}

struct LayerStack {
  Recurrence mode;
  const Value& params;
  Tensor hx, cx;
  int64_t layers;
  double dropout;
  bool train, both;
};
struct StackResult {
  Tensor output, h, c;
};

StackResult run_layers(const LayerStack& l, Tensor input, IntList batch_sizes) {
  packed::check_float_input(input);
  ListRef params(l.params);
  int64_t ways = l.both ? 2 : 1;
  TAEDA_CHECK(static_cast<int64_t>(params.size()) == l.layers * ways, "takes packed weights for each of ", l.layers,
              " layers and ", ways, " directions; got ", params.size());
  TAEDA_CHECK(l.hx.dim() == 3 && l.hx.size(0) == l.layers * ways, "the states must have shape (", l.layers * ways,
              ", batch, hidden); got ", l.hx.sizes());
  TAEDA_CHECK(batch_sizes.empty() || l.hx.size(1) == batch_sizes[0], "the states are of ", l.hx.size(1),
              " sequences, the input holds ", batch_sizes.empty() ? 0 : batch_sizes[0]);
  TAEDA_CHECK(!batch_sizes.empty(), "an empty sequence has no last state");
  std::vector<Tensor> h, c;
  for (int64_t layer = 0; layer < l.layers; ++layer) {
    std::vector<Tensor> outputs;
    for (int64_t way = 0; way < ways; ++way) {
      int64_t i = layer * ways + way;
      CellWeights w = weights_of(params.get(i));
      Tensor gates = w.by(w.ih, input);
      CellState first{ops::select(l.hx, 0, i), l.cx.defined() ? ops::select(l.cx, 0, i) : l.cx};
      OneWay r = way ? backwards(l.mode, w, gates, first, batch_sizes) : forwards(l.mode, w, gates, first, batch_sizes);
      outputs.push_back(r.output);
      h.push_back(r.last.h);
      if (r.last.c.defined()) c.push_back(r.last.c);
    }
    input = stacked(outputs, 1);
    if (l.train && l.dropout > 0 && layer + 1 < l.layers) input = ops::dropout(input, l.dropout, true);
  }
  return {input, ops::stack(h), c.empty() ? Tensor() : ops::stack(c)};
}

StackResult run_padded(const LayerStack& l, const Tensor& input, bool batch_first) {
  TAEDA_CHECK(input.dim() == 3, "the input must have 3 dimensions; got shape ", input.sizes());
  Tensor x = batch_first ? ops::transpose(input, 0, 1) : input;
  std::vector<int64_t> batch_sizes(static_cast<size_t>(x.size(0)), x.size(1));
  StackResult r = run_layers(l, ops::flatten(ops::contiguous(x), 0, 1), batch_sizes);
  r.output = ops::view(r.output, IntList({x.size(0), x.size(1), r.output.size(1)}));
  if (batch_first) r.output = ops::transpose(r.output, 0, 1);
  return r;
}

StackResult run_packed(const LayerStack& l, const Tensor& data, const Tensor& batch_sizes) {
  TAEDA_CHECK(batch_sizes.dtype() == DType::Int64 && batch_sizes.dim() == 1,
              "batch_sizes must be an int64 vector; got ", batch_sizes.dtype(), " of shape ", batch_sizes.sizes());
  Tensor sizes = ops::contiguous(batch_sizes);
  const int64_t *first = elements<int64_t>(sizes), *end = first + sizes.numel();
  TAEDA_CHECK(first == end || (end[-1] > 0 && std::is_sorted(first, end, std::greater<>())),
              "batch_sizes must be positive and never grow; got ", IntList(first, end));
  return run_layers(l, data, IntList(first, static_cast<size_t>(sizes.numel())));
}

const Tensor& state(TensorList hx, size_t i) {
  TAEDA_CHECK(hx.size() == 2, "hx must hold the hidden and the cell states; got ", hx.size(), " tensors");
  return hx[i];
}

Value new_cell(const char* kind, const Value& ih, const Value& hh, const Tensor& b_ih, const Tensor& b_hh,
               bool reduce_range) {
  auto made = make_ref<Instance>(&cell_class());
  made->slots = {kind, ih, hh, b_ih, b_hh, reduce_range};
  return made;
}

Value quantised_weight(const Tensor& w, const Tensor& b) {
  return ops::quantized::linear_prepack(ops::quantize_per_tensor_dynamic(w, DType::QInt8, false), b);
}

CellState one_step(Recurrence mode, const Tensor& input, const CellState& s, const Value& ih, const Value& hh) {
  CellWeights w{ih, hh, packed::is_half_linear(ih)};
  return step(mode, w, w.by(ih, input), s);
}

}  // namespace

Value make_quantized_cell_params_dynamic(const Value& w_ih, const Value& w_hh, const Tensor& bias_ih,
                                         const Tensor& bias_hh, bool reduce_range) {
  return new_cell("quantized_dynamic", w_ih, w_hh, bias_ih, bias_hh, reduce_range);
}
Value make_quantized_cell_params_fp16(const Value& w_ih, const Value& w_hh) {
  return new_cell("quantized_fp16", w_ih, w_hh, {}, {}, false);
}
Value make_quantized_cell_params(const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) {
  return new_cell("quantized_dynamic", quantised_weight(w_ih, b_ih), quantised_weight(w_hh, b_hh), b_ih, b_hh, false);
}

std::tuple<Tensor, Tensor> quantized_lstm_cell_dynamic(const Tensor& input, TensorList hx, const Value& w_ih,
                                                       const Value& w_hh, const Tensor&, const Tensor&) {
  CellState next = one_step(Recurrence::Lstm, input, {state(hx, 0), state(hx, 1)}, w_ih, w_hh);
  return {next.h, next.c};
}
Tensor quantized_gru_cell_dynamic(const Tensor& input, const Tensor& hx, const Value& w_ih, const Value& w_hh,
                                  const Tensor&, const Tensor&) {
  return one_step(Recurrence::Gru, input, {hx, {}}, w_ih, w_hh).h;
}
Tensor quantized_rnn_relu_cell_dynamic(const Tensor& input, const Tensor& hx, const Value& w_ih, const Value& w_hh,
                                       const Tensor&, const Tensor&) {
  return one_step(Recurrence::Relu, input, {hx, {}}, w_ih, w_hh).h;
}
Tensor quantized_rnn_tanh_cell_dynamic(const Tensor& input, const Tensor& hx, const Value& w_ih, const Value& w_hh,
                                       const Tensor&, const Tensor&) {
  return one_step(Recurrence::Tanh, input, {hx, {}}, w_ih, w_hh).h;
}

}  // namespace taeda::composite::quantized

namespace taeda::composite {

namespace q = composite::quantized;

std::tuple<Tensor, Tensor, Tensor> quantized_lstm(const Tensor& input, TensorList hx, const Value& params, bool,
                                                  int64_t num_layers, double dropout, bool train, bool bidirectional,
                                                  bool batch_first, std::optional<DType>, bool) {
  q::StackResult r = q::run_padded(
      {q::Recurrence::Lstm, params, q::state(hx, 0), q::state(hx, 1), num_layers, dropout, train, bidirectional}, input,
      batch_first);
  return {r.output, r.h, r.c};
}
std::tuple<Tensor, Tensor, Tensor> quantized_lstm(const Tensor& data, const Tensor& batch_sizes, TensorList hx,
                                                  const Value& params, bool, int64_t num_layers, double dropout,
                                                  bool train, bool bidirectional, std::optional<DType>, bool) {
  q::StackResult r = q::run_packed(
      {q::Recurrence::Lstm, params, q::state(hx, 0), q::state(hx, 1), num_layers, dropout, train, bidirectional}, data,
      batch_sizes);
  return {r.output, r.h, r.c};
}
std::tuple<Tensor, Tensor> quantized_gru(const Tensor& input, const Tensor& hx, const Value& params, bool,
                                         int64_t num_layers, double dropout, bool train, bool bidirectional,
                                         bool batch_first) {
  q::StackResult r = q::run_padded({q::Recurrence::Gru, params, hx, {}, num_layers, dropout, train, bidirectional},
                                   input, batch_first);
  return {r.output, r.h};
}
std::tuple<Tensor, Tensor> quantized_gru(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx,
                                         const Value& params, bool, int64_t num_layers, double dropout, bool train,
                                         bool bidirectional) {
  q::StackResult r =
      q::run_packed({q::Recurrence::Gru, params, hx, {}, num_layers, dropout, train, bidirectional}, data, batch_sizes);
  return {r.output, r.h};
}

}  // namespace taeda::composite
