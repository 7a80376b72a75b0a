// What ops without a kernel for quantised tensors do with them: a view keeps the scale; some run on the integers or the
// numbers (arithmetic.h); one in place or with out= is the functional one and a copy; anything else is an error that
// says what to do.
#include "dispatch/fallbacks.h"

#include "core/quantized.h"
#include "quantized/arithmetic.h"
#include "taeda/dispatch/op.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/ranges.h"
#include "taeda/ops/view.h"

namespace taeda::quantized {

namespace {

KeySet as_dense(KeySet keys) { return (keys - KeySet(Functionality::Quantized)) | Functionality::Dense; }

// --- views

// A tensor of the sizes that one by channel has, over the numbers of the channels: what a view of it makes of the
// channels, its strides say.
Tensor channel_numbers(const Tensor& self, const Quantizer& by) {
  std::vector<int64_t> strides(self.sizes().size(), 0);
  strides[by.axis] = 1;
  return new_alias(ops::arange(Scalar(by.scales.numel())), self.sizes(), strides, 0);
}

QuantizerRef of_view(const Tensor& numbers, const Quantizer& by) {
  std::optional<int64_t> axis;
  for (int64_t d = 0; d < numbers.dim(); ++d)
    if (numbers.strides()[d] != 0 && (numbers.size(d) > 1 || by.scales.numel() == 1 || numbers.strides()[d] == 1)) {
      TAEDA_CHECK(!axis, "channels would lie along two dimensions; dequantize() first");
      axis = d;
    }
  int64_t first = numbers.storage_offset();
  Tensor scales = ops::slice(by.scales, 0, first), zeros = ops::slice(by.zero_points, 0, first);
  if (!axis) {
    TAEDA_CHECK(by.scheme == QScheme::PerChannelAffine, "a single channel of float zero points has no scheme");
    return make_ref<Quantizer>(ops::_local_scalar_dense(ops::select(scales, 0, 0)).to<double>(),
                               ops::_local_scalar_dense(ops::select(zeros, 0, 0)).to<int64_t>());
  }
  int64_t step = numbers.strides()[*axis], end = (numbers.size(*axis) - 1) * step + 1;
  auto part = [&](const Tensor& t) {
    return step == 1 && end == t.numel() ? t : ops::clone(ops::slice(t, 0, 0, std::max<int64_t>(end, 0), step));
  };
  return make_ref<Quantizer>(part(scales), part(zeros), *axis);
}

void set_quantizers(Value& shown, const Value& numbers, const Quantizer& by) {
  if (shown.is_tensor() && is_quantized(shown.to_tensor())) {
    static_cast<QuantizedImpl*>(shown.tensor_impl())->set_quantizer(of_view(numbers.to_tensor(), by));
  } else if (shown.tag() == Value::Tag::TensorList) {
    TensorList views = shown.to_tensor_list(), of = numbers.to_tensor_list();
    for (size_t i = 0; i < views.size(); ++i)
      static_cast<QuantizedImpl*>(views[i].impl())->set_quantizer(of_view(of[i], by));
  }
}

void view(const Op& op, KeySet keys, Stack& stack) {
  size_t base = stack.size() - op.info().param_count;
  Tensor self = stack[base].to_tensor();
  const Quantizer& by = *quantizer_of(self);
  bool same = op.info().tags & kGeometryOnly && !(op.info().tags & kViewOp);
  TAEDA_CHECK(elements_per_byte(self.dtype()) == 1 || same || op.plain_name() == "detach" || op.plain_name() == "alias",
              "elements of ", self.dtype(), " share bytes, of which there are no views; dequantize() first");
  Stack of_numbers;
  TAEDA_CHECK_KIND(NotImplemented, op.plain_name() != "_neg_view", "integers have no view with the other sign");
  if (by.is_per_channel()) {
    TAEDA_CHECK(!op.plain_name().starts_with("as_strided"), "a tensor that is quantised by channel takes no strides");
    of_numbers.assign(stack.begin() + static_cast<ptrdiff_t>(base), stack.end());
    of_numbers[0] = channel_numbers(self, by);
  }
  op.call_boxed(as_dense(keys), stack);
  if (of_numbers.empty()) return;
  op.call_boxed(as_dense(keys), of_numbers);
  set_quantizers(stack.back(), of_numbers.back(), by);
}

// --- forms of other ops

bool has_kernel(const Op& op) {
  return rule_of(op) != Rule::None ||
         std::any_of(op.info().kernels, op.info().kernels + op.info().kernel_count,
                     [](const StaticKernel& kernel) { return kernel.functionality == Functionality::Quantized; });
}

const Op* functional_form(const Op& op) {
  std::string name = op.info().name;
  std::string_view overload = op.info().overload;
  if (op.info().tags & kInplaceOp) {
    if (!name.ends_with('_')) return nullptr;
    name.pop_back();
  } else {
    overload = overload == "out" ? "" : overload.substr(0, overload.size() - std::min<size_t>(overload.size(), 4));
  }
  const Op* found = find_op(name, overload);
  if (!found && overload.empty()) found = find_op(name, "Tensor");
  return found && has_kernel(*found) ? found : nullptr;
}

void through_functional(const Op& op, const Op& functional, Stack& stack) {
  bool in_place = op.info().tags & kInplaceOp;
  size_t base = stack.size() - op.info().param_count, outs = in_place ? 0 : op.info().out_count;
  std::vector<Tensor> targets;
  if (in_place) targets.push_back(stack[base].to_tensor());
  for (size_t i = stack.size() - outs; i < stack.size(); ++i) targets.push_back(stack[i].to_tensor());
  Stack arguments(stack.begin() + static_cast<ptrdiff_t>(base), stack.end() - static_cast<ptrdiff_t>(outs));
  functional.call_boxed(arguments);
  stack.resize(base);
  for (size_t i = 0; i < targets.size(); ++i) {
    Tensor result = arguments[i].to_tensor();
    resize_in_place(targets[i], result.sizes());
    ops::copy_(targets[i], result);
    stack.emplace_back(targets[i]);
  }
}

// --- refusal

bool is_plain_float(const Value& value) {
  return value.is_tensor() && !is_quantized(value.to_tensor()) && is_floating(value.to_tensor().dtype());
}

[[noreturn]] void refuse(const Op& op, const Stack& stack) {
  bool meets_floats = std::any_of(stack.end() - op.info().param_count, stack.end(), is_plain_float);
  TAEDA_FAIL(NotImplemented, op.qualified_name(), " is not computed on quantised tensors",
             meets_floats ? ", and got a float tensor beside one" : "",
             "; a DeQuantStub, or dequantize(), must stand before it, unless a quantised module takes its place "
             "(convert() puts those where a module has a qconfig)");
}

void run(const Op& op, KeySet keys, Stack& stack) {
  const OpInfo& info = op.info();
  Rule rule = info.tags & kOutOp ? Rule::None : rule_of(op);
  if (rule != Rule::None) return run_by(rule, op, as_dense(keys), stack);
  bool is_geometry = info.tags & (kViewOp | kGeometryOnly) && info.param_count > 0;
  if (is_geometry && is_quantized(stack[stack.size() - info.param_count].to_tensor())) return view(op, keys, stack);
  const Op* functional = info.tags & (kInplaceOp | kOutOp) ? functional_form(op) : nullptr;
  if (functional) return through_functional(op, *functional, stack);
  refuse(op, stack);
}

}  // namespace

}  // namespace taeda::quantized

namespace taeda {

const Kernel quantized_kernel{quantized::run, "csrc/quantized/fallback.cpp"};

}  // namespace taeda
