// What ops without a kernel for quantised tensors do with them: a view keeps the scale; some run on the integers or the
// numbers (arithmetic.h); one in place or with out= is the functional one and a copy; anything else is an error that
// says what to do.
#include "dispatch/fallbacks.h"

#include <algorithm>
#include <array>

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

constexpr const char* kTwoDimensions =
    "the channels of a quantised tensor must stay along one dimension; int_repr() or dequantize() first";

// Another shape over the same integers, which may have no dimension for the channels; a further one may undo that.
bool keeps_unfit(const Op& op) { return op.plain_name() == "view"; }

bool takes_part(const Op& op) {
  std::string_view name = op.plain_name();
  return std::ranges::any_of(std::array{"slice", "split", "select", "unbind"},
                             [&](const char* part) { return name.find(part) != name.npos; });
}

// A tensor of the sizes that one by channel has, over the numbers of the channels: what a view of it makes of the
// channels, its strides say.
Tensor channel_numbers(const Tensor& self, const Quantizer& by) {
  std::vector<int64_t> strides(self.sizes().size(), 0);
  strides[by.axis] = 1;
  return new_alias(ops::arange(Scalar(by.scales.numel())), self.sizes(), strides, 0);
}

// `is_part`: of an op that takes a part of a dimension, which leaves a single channel without an axis.
QuantizerRef of_view(const Tensor& numbers, const Quantizer& by, bool is_part) {
  std::optional<int64_t> axis;
  const bool single = by.scales.numel() == 1;
  for (int64_t d = 0; d < numbers.dim(); ++d)
    if (numbers.strides()[d] != 0 && (numbers.size(d) != 1 || (single && !is_part))) {
      TAEDA_CHECK(!axis || single, kTwoDimensions);
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

void set_quantizers(Value& shown, const Value& numbers, const Quantizer& by, bool is_part) {
  if (shown.is_tensor() && is_quantized(shown.to_tensor())) {
    static_cast<QuantizedImpl*>(shown.tensor_impl())->set_quantizer(of_view(numbers.to_tensor(), by, is_part));
  } else if (shown.tag() == Value::Tag::TensorList) {
    TensorList views = shown.to_tensor_list(), of = numbers.to_tensor_list();
    for (size_t i = 0; i < views.size(); ++i)
      static_cast<QuantizedImpl*>(views[i].impl())->set_quantizer(of_view(of[i], by, is_part));
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
  bool has_channels = by.is_per_channel() && fits(self, by);
  if (by.is_per_channel()) {
    TAEDA_CHECK(!op.plain_name().starts_with("as_strided"), "a tensor that is quantised by channel takes no strides");
    TAEDA_CHECK(has_channels || keeps_unfit(op), kTwoDimensions);
  }
  if (has_channels) {
    of_numbers.assign(stack.begin() + static_cast<ptrdiff_t>(base), stack.end());
    of_numbers[0] = channel_numbers(self, by);
  }
  op.call_boxed(as_dense(keys), stack);
  if (!has_channels) return;
  try {
    op.call_boxed(as_dense(keys), of_numbers);
    set_quantizers(stack.back(), of_numbers.back(), by, takes_part(op));
  } catch (const Error&) {
    TAEDA_CHECK(keeps_unfit(op) && !fits(stack.back().to_tensor(), by), kTwoDimensions);
  }
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
    TAEDA_CHECK(is_quantized(targets[i]) == is_quantized(result), "makes ", result.dtype(),
                " elements, which a tensor of ", targets[i].dtype(), " does not hold");
    resize_in_place(targets[i], result.sizes());
    ops::copy_(targets[i], result);
    stack.emplace_back(targets[i]);
  }
}

// --- detours

const Op* view_of(const std::string& name) {
  for (const char* overload : {"int", "Tensor", ""})
    if (const Op* found = find_op(name, overload)) return found;
  return nullptr;
}

// Runs the form in place on a copy, or writes to the part of a copy that `..._scatter` names; false if there is none.
bool through_copy(const Op& op, Stack& stack) {
  constexpr std::string_view kScatter = "_scatter";
  std::string name = op.info().name;
  const bool scatters = name.ends_with(kScatter);
  const Op* found =
      scatters ? view_of(name.substr(0, name.size() - kScatter.size())) : find_op(name + '_', op.info().overload);
  auto base = stack.end() - op.info().param_count;
  if (!found || (!scatters && !has_kernel(*found)) || !base->is_tensor() || !is_quantized(base->to_tensor()))
    return false;
  Tensor copy = ops::clone(base->to_tensor());
  Stack arguments{copy};
  arguments.insert(arguments.end(), base + 1 + scatters, stack.end());
  found->call_boxed(arguments);
  if (scatters) ops::copy_(arguments.back().to_tensor(), base[1].to_tensor());
  stack.erase(base, stack.end());
  stack.emplace_back(std::move(copy));
  return true;
}

// Parts of a tensor are what they are, whether or not autograd counts them as views.
const Op* safe_form(const Op& op) {
  std::string name = op.info().name;
  size_t at = name.find("unsafe_split");
  return at == name.npos ? nullptr : find_op(name.erase(at, 7), op.info().overload);
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
  if (const Op* safe = safe_form(op)) return safe->call_boxed(stack);
  if (!(info.tags & (kInplaceOp | kOutOp)) && through_copy(op, stack)) return;
  refuse(op, stack);
}

}  // namespace

}  // namespace taeda::quantized

namespace taeda {

const Kernel quantized_kernel{quantized::run, "csrc/quantized/fallback.cpp"};

}  // namespace taeda
