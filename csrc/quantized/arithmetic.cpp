#include "quantized/arithmetic.h"

#include <algorithm>
#include <cmath>

#include "core/quantized.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/quantized.h"
#include "taeda/ops/quantized_table.h"

namespace taeda::quantized {

namespace {

// Names of ops with a space around each.
constexpr std::string_view kMoves =
    " flip index index_select sort topk max min repeat roll masked_select channel_shuffle pad_by_itself ";
constexpr std::string_view kComputes =
    " relu relu6 clamp hardtanh leaky_relu threshold gelu sigmoid tanh hardsigmoid cat stack mean std std_mean "
    "var_mean "
    "avg_pool2d avg_pool3d _adaptive_avg_pool2d _adaptive_avg_pool3d max_pool2d_with_indices max_pool3d_with_indices "
    "resample grid_sampler_2d constant_pad_nd masked_fill_ index_put_ _index_put_impl_ zero_ "
    "embedding _prelu_kernel ";
// Of those, the ones that scale with their argument: computed in steps of the scale, whose sums are exact.
constexpr std::string_view kInSteps = " avg_pool2d avg_pool3d _adaptive_avg_pool2d _adaptive_avg_pool3d resample ";
constexpr std::string_view kAsks = " eq ne lt le gt ge ";
constexpr std::string_view kItself = " resize_ set_ ";

bool has(std::string_view names, std::string_view name) { return names.find(str(" ", name, " ")) != names.npos; }

// Results in a range of their own: all of [0, 1), or of [-1, 1), whatever the argument's scale.
QuantizerRef result_quantizer(const Op& op, const Tensor& first) {
  std::string_view name = op.plain_name();
  QuantizedRange range = range_of(first.dtype());
  double steps = static_cast<double>(range.most - range.least + 1);
  if (name == "sigmoid" || name == "hardsigmoid")
    return make_ref<Quantizer>(1 / steps, first.dtype() == DType::QInt32 ? 0 : range.least);
  if (name == "tanh") return make_ref<Quantizer>(2 / steps, range.least + (range.most - range.least + 1) / 2);
  const Quantizer& by = per_tensor_quantizer(first);
  if (name == "gelu") return make_ref<Quantizer>(static_cast<float>(by.scale), by.zero_point);
  return quantizer_of(first);
}

// The same integers with another scale.
Tensor with_step(const Tensor& t, double scale) {
  return with_quantizer(integers(t), t.dtype(), make_ref<Quantizer>(scale, per_tensor_quantizer(t).zero_point));
}

// The arguments of a call, of which the quantised ones are replaced.
class Arguments {
 public:
  Arguments(const Op& op, Stack& stack) : op_(op), stack_(stack), base_(stack.size() - op.info().param_count) {}

  template <class F>
  void replace(const F& by) {
    for (size_t i = base_; i < stack_.size(); ++i) {
      bool is_written = op_.info().params[i - base_].is_mutable;
      if (stack_[i].is_tensor()) {
        stack_[i] = replaced(stack_[i].to_tensor(), is_written, by);
      } else if (stack_[i].tag() == Value::Tag::TensorList) {
        std::vector<Tensor> list;
        for (const Tensor& t : stack_[i].to_tensor_list()) list.push_back(replaced(t, is_written, by));
        stack_[i] = std::move(list);
      }
    }
  }
  const Tensor& first() const { return first_; }
  size_t tensors() const { return tensors_; }
  bool writes() const { return !written_.empty(); }

  // Into the originals what was written; they are the results of a call in place.
  void write_back() const {
    for (const auto& [original, stand_in] : written_) ops::copy_(original, stand_in);
    for (size_t i = base_; i < stack_.size(); ++i)
      for (const auto& [original, stand_in] : written_)
        if (stack_[i].tensor_impl() == stand_in.impl()) stack_[i] = original;
  }
  template <class F>
  void map_results(const F& map) const {
    for (size_t i = base_; i < stack_.size(); ++i)
      if (stack_[i].is_tensor()) stack_[i] = map(stack_[i].to_tensor());
  }

 private:
  template <class F>
  Tensor replaced(const Tensor& t, bool is_written, const F& by) {
    tensors_ += t.defined();
    if (!t.defined() || !is_quantized(t)) return t;
    if (!first_.defined()) first_ = t;
    Tensor stand_in = by(t);
    if (is_written) written_.emplace_back(t, stand_in);
    return stand_in;
  }

  const Op& op_;
  Stack& stack_;
  size_t base_, tensors_ = 0;
  Tensor first_;
  std::vector<std::pair<Tensor, Tensor>> written_;
};

void move(const Op& op, KeySet keys, Stack& stack) {
  Arguments arguments(op, stack);
  arguments.replace([](const Tensor& t) {
    per_tensor_quantizer(t);
    return integers(t);
  });
  op.call_boxed(keys, stack);
  const Tensor& first = arguments.first();
  DType moved = integers_of(first.dtype());
  bool is_first = true;
  arguments.map_results([&](const Tensor& t) {
    if (!std::exchange(is_first, false) || t.dtype() != moved) return t;
    return with_quantizer(t, first.dtype(), quantizer_of(first));
  });
}

void compute(const Op& op, KeySet keys, Stack& stack, bool quantise) {
  Arguments arguments(op, stack);
  // A function of one element needs computing once for each integer.
  bool by_table = quantise && op.info().tags & kPointwise && !(op.info().tags & kInplaceOp);
  if (by_table) {
    const Value& first = stack[stack.size() - op.info().param_count];
    auto others =
        std::count_if(stack.end() - op.info().param_count, stack.end(), [](const Value& v) { return v.is_tensor(); });
    by_table = others == 1 && first.is_tensor() && itemsize(first.to_tensor().dtype()) == 1;
  }
  const bool in_steps = has(kInSteps, op.plain_name());
  arguments.replace([&](const Tensor& t) {
    return by_table ? ops::quantized::_levels(t) : ops::dequantize(in_steps ? with_step(t, 1) : t);
  });
  const Tensor first = arguments.first();
  QuantizerRef by = quantise ? result_quantizer(op, first) : nullptr;
  op.call_boxed(keys, stack);
  arguments.write_back();
  if (!quantise) return;
  arguments.map_results([&](const Tensor& t) {
    if (is_quantized(t) || !is_floating(t.dtype())) return t;
    if (by_table) return ops::quantized::_look_up(first, t, by->scale, by->zero_point);
    if (in_steps) return with_step(ops::quantize_per_tensor(t, 1, by->zero_point, first.dtype()), by->scale);
    return ops::quantize_per_tensor(t, by->scale, by->zero_point, first.dtype());
  });
}

}  // namespace

Rule rule_of(const Op& op) {
  std::string_view name = op.plain_name();
  if (has(kMoves, name)) return Rule::Moves;
  if (has(kComputes, name)) return Rule::Computes;
  if (has(kAsks, name)) return Rule::Asks;
  return has(kItself, name) ? Rule::Itself : Rule::None;
}

void run_by(Rule rule, const Op& op, KeySet dense_keys, Stack& stack) {
  if (rule == Rule::Moves) return move(op, dense_keys, stack);
  if (rule == Rule::Itself) {
    per_tensor_quantizer(stack[stack.size() - op.info().param_count].to_tensor());
    return op.call_boxed(dense_keys, stack);
  }
  compute(op, dense_keys, stack, rule == Rule::Computes);
}

}  // namespace taeda::quantized
