// Convolutions over packed weights.
#include "composite/ops/quantized_conv.h"
#include "composite/quantized/packed.h"
#include "core/elements.h"
#include "core/quantized.h"
#include "shape/arguments.h"
#include "taeda/ops/activation.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/quantized.h"
#include "taeda/ops/quantized_conv.h"
#include "taeda/ops/rearrange.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/unary.h"
#include "taeda/ops/view.h"

namespace taeda::composite::quantized {

using namespace packed;

namespace {

using Sizes = std::vector<int64_t>;

enum Slot {
  kWeight,
  kBias,
  kStride,
  kPadding,
  kOutputPadding,
  kDilation,
  kGroups,
  kTranspose,
  kFilter,
  kPacked,
  kSums,
  kZeroPoints,
  kScales
};

const ClassType& params_class(size_t rank) {
  static constexpr auto kAttributes = {"_weight",   "_bias",        "_stride",    "_padding", "_output_padding",
                                       "_dilation", "_groups",      "_transpose", "_filter",  "_packed",
                                       "_sums",     "_zero_points", "_scales"};
  static const ClassType& in_two = class_named("quantized.Conv2dPackedParamsBase", kAttributes);
  static const ClassType& in_three = class_named("quantized.Conv3dPackedParamsBase", kAttributes);
  return rank == 3 ? in_three : in_two;
}

struct Params {
  const Instance& object;
  static const ClassType& type_of(const Value& value) {
    bool three = value.tag() == Value::Tag::Instance && value.to_instance().type == &params_class(3);
    return params_class(three ? 3 : 2);
  }
  explicit Params(const Value& value) : object(packed::object(value, type_of(value))) {}
  Tensor at(Slot slot) const { return part_of(object, slot); }
  Tensor optional(Slot slot) const { return object.slots[slot].to_tensor(); }
  IntList list(Slot slot) const { return object.slots[slot].to_int_list(); }
  int64_t groups() const { return object.slots[kGroups].to_int(); }
  bool is_transposed() const { return object.slots[kTranspose].to_int() != 0; }
  size_t rank() const { return list(kStride).size(); }
};

void check_sizes(const Tensor& weight, int64_t groups, size_t rank, std::initializer_list<IntList> lists) {
  TAEDA_CHECK(weight.dim() == static_cast<int64_t>(rank) + 2, "the weight must have ", rank + 2, " dimensions; got ",
              weight.sizes());
  TAEDA_CHECK(groups > 0 && weight.size(0) % groups == 0, "the weight's first dimension (", weight.size(0),
              ") must be divisible by groups (", groups, ")");
  for (IntList list : lists)
    TAEDA_CHECK(list.size() == rank, "stride, padding, output_padding and dilation must have ", rank, " numbers; got ",
                list);
}

// Where the input's elements lie: places before the first, after the last, and from one to the next.
struct Placement {
  Sizes before, after, spread, stride;
  explicit Placement(const Params& p) {
    IntList stride_of = p.list(kStride), padding = p.list(kPadding), more = p.list(kOutputPadding);
    Tensor filter = p.at(kFilter);
    check_sizes(filter, p.groups(), p.rank(), {padding, more, p.list(kDilation)});
    for (size_t d = 0; d < p.rank(); ++d) {
      int64_t reach = p.list(kDilation)[d] * (filter.sizes()[d + 2] - 1);
      bool t = p.is_transposed();
      before.push_back(t ? reach - padding[d] : padding[d]);
      after.push_back(t ? reach - padding[d] + more[d] : padding[d]);
      spread.push_back(t ? stride_of[d] : 1);
      stride.push_back(t ? 1 : stride_of[d]);
    }
  }
};

Tensor convolved(const Tensor& x, double scale, int64_t zero_point, const Params& p, const Quantizer* result,
                 bool relu) {
  Factors f =
      factors_of(p.at(kScales), p.optional(kBias), scale, result ? std::optional<double>(result->scale) : std::nullopt);
  Placement at(p);
  return ops::quantized::_convolve(x, p.at(kFilter), p.at(kPacked), zero_point, at.stride, at.before, at.after,
                                   p.list(kDilation), at.spread, p.groups(), p.at(kSums), p.optional(kZeroPoints),
                                   f.factors, f.bias, result ? std::optional<DType>(x.dtype()) : std::nullopt,
                                   result ? result->zero_point : 0, relu);
}

Tensor to_quantised(const Tensor& x, const Value& w, double scale, int64_t zero_point, bool relu) {
  check_quantized_input(x);
  auto quantizer = make_ref<Quantizer>(scale, zero_point);
  const Quantizer& by = per_tensor_quantizer(x);
  Tensor y = convolved(integers(x), by.scale, by.zero_point, Params(w), quantizer.get(), relu);
  return with_quantizer(y, x.dtype(), quantizer);
}

Tensor to_float(const Tensor& x, const Value& w, bool relu) {
  const Quantizer& by = per_tensor_quantizer(x);
  return convolved(integers(x), by.scale, by.zero_point, Params(w), nullptr, relu);
}

Tensor dynamic(const Tensor& x, const Value& w, bool reduce_range) {
  check_float_input(x);
  return to_float(ops::quantize_per_tensor_dynamic(x, DType::QUInt8, reduce_range), w, false);
}

// In one dimension: an image of height 1.
Tensor with_height(const Tensor& x) {
  TAEDA_CHECK(x.dim() == 3, "takes a tensor (N, channels, length); got shape ", x.sizes());
  return ops::unsqueeze(x, 2);
}
Tensor flat(const Tensor& y) { return ops::squeeze(y, 2); }

// --- packing

// A transposed convolution is one of the input, spread out, with the filter the other way round: (in, out / groups,
// ...) becomes (out, in / groups, ...) with places reversed.
Tensor turned(const Tensor& weight, int64_t groups) {
  Tensor w = integers(weight);
  Sizes apart{groups, w.size(0) / groups, w.size(1)}, order{0, 2, 1}, together{w.size(1) * groups, w.size(0) / groups},
      places;
  for (int64_t d = 2; d < w.dim(); ++d) {
    apart.push_back(w.size(d));
    together.push_back(w.size(d));
    order.push_back(d + 1);
    places.push_back(d);
  }
  w = ops::reshape(ops::permute(ops::reshape(w, apart), order), together);
  const QuantizerRef& by = quantizer_of(weight);
  QuantizerRef quantizer = by;
  check_channels(weight, *by);
  if (by->is_per_channel()) {
    TAEDA_CHECK(by->axis == 1, "a transposed weight that is quantised by channel must be so along dimension 1; got ",
                by->axis);
    quantizer = make_ref<Quantizer>(ops::repeat(by->scales, IntList({groups})),
                                    ops::repeat(by->zero_points, IntList({groups})), 0);
  }
  return with_quantizer(ops::contiguous(ops::flip(w, places)), weight.dtype(), quantizer);
}

Value prepacked(const Tensor& weight, const Tensor& bias, IntList stride, IntList padding, IntList output_padding,
                IntList dilation, int64_t groups, bool transpose) {
  size_t rank = stride.size();
  check_sizes(weight, groups, rank, {padding, output_padding, dilation});
  for (int64_t s : stride) TAEDA_CHECK(s > 0, "stride must be positive; got ", stride);
  for (int64_t p : padding) TAEDA_CHECK(p >= 0, "padding must not be negative; got ", padding);
  for (int64_t s : dilation) TAEDA_CHECK(s > 0, "dilation must be positive; got ", dilation);
  TAEDA_CHECK(is_quantized(weight), "the weight must be quantised as qint8; got ", weight.dtype());
  Tensor own = ops::contiguous(weight);
  Tensor filter = transpose ? turned(own, groups) : own;
  TAEDA_CHECK(!bias.defined() || (bias.dim() == 1 && bias.numel() == filter.size(0) && bias.dtype() == DType::Float32),
              "the bias must be a float32 vector of ", filter.size(0), " elements");
  Channels c = channels_of(filter, 0);
  Tensor ints = integers(filter);
  Sizes ones(rank, 1);
  auto made = make_ref<Instance>(&params_class(rank));
  made->slots = {own,
                 bias.defined() ? ops::contiguous(ops::detach(bias)) : bias,
                 stride,
                 padding,
                 output_padding,
                 dilation,
                 groups,
                 static_cast<int64_t>(transpose),
                 ints,
                 ops::quantized::_pack_filter(ints, transpose ? IntList(ones) : stride, dilation, groups),
                 c.sums,
                 c.zero_points,
                 c.scales};
  return made;
}

Value prepacked_flat(const Tensor& weight, const Tensor& bias, IntList stride, IntList padding, IntList output_padding,
                     IntList dilation, int64_t groups, bool transpose) {
  check_sizes(weight, groups, 1, {stride, padding, output_padding, dilation});
  Sizes s{1, stride[0]}, p{0, padding[0]}, o{0, output_padding[0]}, d{1, dilation[0]};
  return prepacked(ops::unsqueeze(weight, 2), bias, s, p, o, d, groups, transpose);
}

std::tuple<Tensor, Tensor> parts(const Value& w) {
  Params p(w);
  return {p.at(kWeight), p.optional(kBias)};
}
std::tuple<Tensor, Tensor> flat_parts(const Value& w) {
  Params p(w);
  return {flat(p.at(kWeight)), p.optional(kBias)};
}

Tensor added(const Tensor& x, const Tensor& accumulated, const Value& w, double scale, int64_t zero_point, bool relu) {
  check_quantized_input(x);
  Tensor sum = ops::add(to_float(x, w, false), ops::dequantize(accumulated));
  return ops::quantize_per_tensor(relu ? ops::relu(sum) : sum, scale, zero_point, x.dtype());
}

}  // namespace

// --- the same for each number of dimensions

#define CONV(rank)                                                                                                \
  Value conv##rank##_prepack(const Tensor& weight, const Tensor& bias, IntList stride, IntList padding,           \
                             IntList dilation, int64_t groups) {                                                  \
    TAEDA_CHECK(stride.size() == #rank[0] - '0', "stride must have a number for each of the dimensions; got ",    \
                stride);                                                                                          \
    return prepacked(weight, bias, stride, padding, Sizes(stride.size(), 0), dilation, groups, false);            \
  }                                                                                                               \
  Value conv_transpose##rank##_prepack(const Tensor& weight, const Tensor& bias, IntList stride, IntList padding, \
                                       IntList output_padding, IntList dilation, int64_t groups) {                \
    TAEDA_CHECK(stride.size() == #rank[0] - '0', "stride must have a number for each of the dimensions; got ",    \
                stride);                                                                                          \
    return prepacked(weight, bias, stride, padding, output_padding, dilation, groups, true);                      \
  }                                                                                                               \
  Tensor conv##rank(const Tensor& x, const Value& w, double scale, int64_t zero_point) {                          \
    return to_quantised(x, w, scale, zero_point, false);                                                          \
  }                                                                                                               \
  Tensor conv##rank##_relu(const Tensor& x, const Value& w, double scale, int64_t zero_point) {                   \
    return to_quantised(x, w, scale, zero_point, true);                                                           \
  }                                                                                                               \
  Tensor conv_transpose##rank(const Tensor& x, const Value& w, double scale, int64_t zero_point) {                \
    return to_quantised(x, w, scale, zero_point, false);                                                          \
  }                                                                                                               \
  Tensor conv##rank(const Tensor& x, const Value& w, IntList, IntList, IntList, int64_t, double scale,            \
                    int64_t zero_point) {                                                                         \
    return to_quantised(x, w, scale, zero_point, false);                                                          \
  }                                                                                                               \
  Tensor conv##rank##_relu(const Tensor& x, const Value& w, IntList, IntList, IntList, int64_t, double scale,     \
                           int64_t zero_point) {                                                                  \
    return to_quantised(x, w, scale, zero_point, true);                                                           \
  }                                                                                                               \
  Tensor conv##rank##_dynamic(const Tensor& x, const Value& w, bool reduce_range) {                               \
    return dynamic(x, w, reduce_range);                                                                           \
  }                                                                                                               \
  Tensor conv_transpose##rank##_dynamic(const Tensor& x, const Value& w, bool reduce_range) {                     \
    return dynamic(x, w, reduce_range);                                                                           \
  }                                                                                                               \
  std::tuple<Tensor, Tensor> conv##rank##_unpack(const Value& w) { return parts(w); }                             \
  std::tuple<Tensor, Tensor> conv_transpose##rank##_unpack(const Value& w) { return parts(w); }

#define FACTS(name)                                                                                           \
  std::vector<int64_t> name##_stride(const Value& w) { return copy(Params(w).list(kStride)); }                \
  std::vector<int64_t> name##_padding(const Value& w) { return copy(Params(w).list(kPadding)); }              \
  std::vector<int64_t> name##_output_padding(const Value& w) { return copy(Params(w).list(kOutputPadding)); } \
  std::vector<int64_t> name##_dilation(const Value& w) { return copy(Params(w).list(kDilation)); }            \
  int64_t name##_groups(const Value& w) { return Params(w).groups(); }                                        \
  int64_t name##_transpose(const Value& w) { return Params(w).is_transposed(); }

namespace {
Sizes copy(IntList list) { return {list.begin(), list.end()}; }
}  // namespace

CONV(2d)
CONV(3d)
FACTS(conv2d)
FACTS(conv3d)
FACTS(conv_transpose2d)
FACTS(conv_transpose3d)

// --- in one dimension

Value conv1d_prepack(const Tensor& weight, const Tensor& bias, IntList stride, IntList padding, IntList dilation,
                     int64_t groups) {
  return prepacked_flat(weight, bias, stride, padding, IntList({0}), dilation, groups, false);
}
Value conv_transpose1d_prepack(const Tensor& weight, const Tensor& bias, IntList stride, IntList padding,
                               IntList output_padding, IntList dilation, int64_t groups) {
  return prepacked_flat(weight, bias, stride, padding, output_padding, dilation, groups, true);
}
Tensor conv1d(const Tensor& x, const Value& w, double scale, int64_t zero_point) {
  return flat(to_quantised(with_height(x), w, scale, zero_point, false));
}
Tensor conv1d_relu(const Tensor& x, const Value& w, double scale, int64_t zero_point) {
  return flat(to_quantised(with_height(x), w, scale, zero_point, true));
}
Tensor conv_transpose1d(const Tensor& x, const Value& w, double scale, int64_t zero_point) {
  return flat(to_quantised(with_height(x), w, scale, zero_point, false));
}
Tensor conv1d_dynamic(const Tensor& x, const Value& w, bool reduce_range) {
  return flat(dynamic(with_height(x), w, reduce_range));
}
Tensor conv_transpose1d_dynamic(const Tensor& x, const Value& w, bool reduce_range) {
  return flat(dynamic(with_height(x), w, reduce_range));
}
std::tuple<Tensor, Tensor> conv1d_unpack(const Value& w) { return flat_parts(w); }
std::tuple<Tensor, Tensor> conv_transpose1d_unpack(const Value& w) { return flat_parts(w); }

// --- others

Tensor conv2d_add(const Tensor& x, const Tensor& accumulated, const Value& w, double scale, int64_t zero_point) {
  return added(x, accumulated, w, scale, zero_point, false);
}
Tensor conv2d_add_relu(const Tensor& x, const Tensor& accumulated, const Value& w, double scale, int64_t zero_point) {
  return added(x, accumulated, w, scale, zero_point, true);
}
Value conv_prepack(const Tensor& weight, const Tensor& bias, IntList stride, IntList padding, IntList dilation,
                   int64_t groups) {
  return quantized::conv2d_prepack(weight, bias, stride, padding, dilation, groups);
}
std::tuple<Tensor, Tensor> conv_unpack(const Value& w) { return parts(w); }

}  // namespace taeda::composite::quantized
