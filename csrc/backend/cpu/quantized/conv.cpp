// Convolutions of 8-bit integers, an image at a time: its padded bytes stay in the cache. By conv_tiles.h, which makes
// results of sums at once, else by oneDNN, whose sums of an image stay in the cache, too, or by plain loops.
#include <utility>

#include "backend/cpu/libraries/onednn.h"
#include "backend/cpu/ops/quantized_conv.h"
#include "backend/cpu/quantized/conv_tiles.h"
#include "backend/cpu/quantized/epilogue.h"
#include "backend/cpu/quantized/scratch.h"
#include "shape/view_rules.h"
#include "taeda/core/parallel.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/view.h"

namespace taeda::cpu::quantized {

namespace {

using namespace onednn;
MemoryDesc filter_desc(const Geometry& g, bool any) {
  Sizes sizes{g.filters, g.c / g.groups};
  if (g.groups > 1) sizes = {g.groups, g.filters / g.groups, g.c / g.groups};
  sizes.insert(sizes.end(), g.kernel.begin(), g.kernel.end());
  return any ? MemoryDesc::any(DType::Int8, sizes) : MemoryDesc(DType::Int8, sizes, contiguous_strides(sizes));
}

std::shared_ptr<Operation> convolution(DType x, const Geometry& g) {
  Key key;
  key.add('Q').add(static_cast<int64_t>(x)).add(g.c).add(g.filters).add(g.groups);
  for (const Sizes* s : {&g.padded, &g.result, &g.kernel, &g.stride, &g.dilation}) key.add(*s);
  return cached(key, [&] {
    Sizes from = g.sizes(g.c, g.padded), to = g.sizes(g.filters, g.result);
    MemoryDesc x_desc(x, from, channels_last(from)), y_desc(DType::Int32, to, channels_last(to));
    MemoryDesc w_free = filter_desc(g, true);
    Sizes none(g.kernel.size(), 0), dilation;
    for (int64_t d : g.dilation) dilation.push_back(d - 1);
    dnnl_primitive_desc_t desc = nullptr;
    check(dnnl().convolution_forward_primitive_desc_create(
        &desc, engine(), dnnl_forward_inference, dnnl_convolution_direct, x_desc.get(), w_free.get(), nullptr,
        y_desc.get(), g.stride.data(), dilation.data(), none.data(), none.data(), Attributes().get()));
    std::vector<Operation::Operand> operands;
    operands.push_back({DNNL_ARG_SRC, std::move(x_desc), false});
    operands.push_back({DNNL_ARG_WEIGHTS, filter_desc(g, false), false});
    operands.push_back({DNNL_ARG_DST, std::move(y_desc), true});
    return std::make_shared<Operation>(Primitive(desc), std::move(operands));
  });
}

// What filters are packed for, as far as they alone tell: 28 places of a result along each dimension, but for those
// that a filter of fewer dimensions leaves out.
Geometry nominal(Geometry g) {
  const bool is_point = product_of(g.kernel) == 1;
  for (size_t d = 0; d < g.kernel.size(); ++d) {
    g.result[d] = g.kernel[d] == 1 && !is_point ? 1 : 28;
    g.padded[d] = (g.kernel[d] - 1) * g.dilation[d] + 1 + g.stride[d] * (g.result[d] - 1);
  }
  return g;
}

Geometry geometry_of(const Tensor& weight, IntList stride, IntList dilation, int64_t groups) {
  Geometry g{weight.size(1) * groups, weight.size(0), groups, {}, {}, {}, {}, {}};
  for (int64_t d = 2; d < weight.dim(); ++d) g.kernel.push_back(weight.size(d));
  g.stride.assign(stride.begin(), stride.end());
  g.dilation.assign(dilation.begin(), dilation.end());
  g.padded = g.result = g.kernel;
  return g;
}

// --- without instructions for it
template <class X>
void plain_sums(const Geometry& g, const X* x, const int8_t* w, int32_t* to) {
  int64_t per_group = g.c / g.groups, places = product_of(g.result), taps = product_of(g.kernel);
  size_t rank = g.kernel.size();
  auto at = [&](int64_t place, int64_t tap) {  // the place in the padded image under a tap
    int64_t index = 0;
    Sizes where(rank);
    for (size_t d = rank; d-- > 0; place /= g.result[d], tap /= g.kernel[d])
      where[d] = place % g.result[d] * g.stride[d] + tap % g.kernel[d] * g.dilation[d];
    for (size_t d = 0; d < rank; ++d) index = index * g.padded[d] + where[d];
    return index;
  };
  for (int64_t place = 0; place < places; ++place)
    for (int64_t f = 0; f < g.filters; ++f) {
      int64_t group = f / (g.filters / g.groups);
      int32_t sum = 0;
      for (int64_t tap = 0; tap < taps; ++tap) {
        const X* from = x + at(place, tap) * g.c + group * per_group;
        for (int64_t k = 0; k < per_group; ++k)
          sum += static_cast<int32_t>(from[k]) * w[(f * per_group + k) * taps + tap];
      }
      to[place * g.filters + f] = sum;
    }
}

void sums_of(const Geometry& g, DType dtype, const void* x, const Tensor& weight, const Tensor& packed, int32_t* to) {
  if (!has_native(DType::Int8)) {
    auto w = static_cast<const int8_t*>(weight.data());
    if (dtype == DType::Int8) return plain_sums(g, static_cast<const int8_t*>(x), w, to);
    return plain_sums(g, static_cast<const uint8_t*>(x), w, to);
  }
  auto operation = convolution(dtype, g);
  bool fits = packed.numel() && convolution(DType::UInt8, nominal(g))->settled_like(*operation, 1);
  if (fits) check_packed(packed, operation->bytes(1));
  void* data[] = {const_cast<void*>(x), fits ? packed.data() : weight.data(), to};
  operation->run(data, fits ? 1 : -1);
}

// The sums of x alone under the filter, by group: what a weight's zero point is multiplied with.
struct GroupSums {
  Geometry g;
  Tensor ones;
  explicit GroupSums(const Geometry& of) : g(of) {
    g.filters = g.groups;
    Sizes sizes{g.groups, g.c / g.groups};
    sizes.insert(sizes.end(), g.kernel.begin(), g.kernel.end());
    ones = ops::ones(sizes, DType::Int8);
  }
};

// Steps from one on, and groups into which the filters fall.
void check_steps(const Tensor& weight, IntList stride, IntList dilation, IntList spread, int64_t groups) {
  for (IntList list : {stride, dilation, spread})
    for (int64_t step : list)
      TAEDA_CHECK(step > 0 && step <= INT32_MAX, "strides and dilations must be positive numbers of 32 bits; got ",
                  list);
  TAEDA_CHECK(groups > 0 && weight.size(0) % groups == 0, "groups must be positive and divide the ", weight.size(0),
              " filters; got ", groups);
  for (int64_t d = 1; d < weight.dim(); ++d)
    TAEDA_CHECK(weight.size(d) > 0, "a filter must have elements; got shape ", weight.sizes());
}

Geometry checked(const Tensor& x, const Tensor& weight, IntList stride, IntList before, IntList after, IntList dilation,
                 IntList spread, int64_t groups) {
  TAEDA_CHECK((x.dtype() == DType::UInt8 || x.dtype() == DType::Int8) && weight.dtype() == DType::Int8 &&
                  weight.dim() > 2 && weight.is_contiguous(),
              "takes 8-bit integers and a contiguous int8 filter; got ", x.dtype(), " and ", weight.dtype());
  size_t rank = static_cast<size_t>(weight.dim()) - 2;
  for (IntList list : {stride, before, after, dilation, spread})
    TAEDA_CHECK(list.size() == rank, "takes ", rank, " numbers for as many dimensions; got ", list);
  check_steps(weight, stride, dilation, spread, groups);
  for (IntList list : {before, after})
    for (int64_t places : list)
      TAEDA_CHECK(std::abs(places) <= INT32_MAX, "a padding must be a number of 32 bits; got ", list);
  TAEDA_CHECK(x.dim() == weight.dim() && x.size(1) == weight.size(1) * groups, "the input (shape ", x.sizes(),
              ") must have ", weight.dim(), " dimensions and ", weight.size(1) * groups, " channels");
  Geometry g = geometry_of(weight, stride, dilation, groups);
  for (size_t d = 0; d < g.kernel.size(); ++d) {
    g.padded[d] = (x.sizes()[d + 2] - 1) * spread[d] + 1 + before[d] + after[d];
    int64_t reach = (g.kernel[d] - 1) * dilation[d] + 1;
    TAEDA_CHECK(x.sizes()[d + 2] > 0 && g.padded[d] >= reach, "the kernel reaches over ", reach,
                " elements, more than the padded input has (", g.padded[d], ") in dimension ", d + 2);
    g.result[d] = (g.padded[d] - reach) / stride[d] + 1;
  }
  double places = static_cast<double>(g.c);
  for (int64_t size : g.padded) places *= static_cast<double>(size);
  TAEDA_CHECK(places < 0x1p46, "the padded input, ", g.padded, " places of ", g.c, " channels, is too large");
  return g;
}

// Images, which are x's or its padded ones, to results.
void by_tiles(const Tiles& own, const Placement& p, IntList after, const Geometry& g, const Tensor& packed,
              const Epilogue& e, const Tensor& result) {
  const Tensor& x = p.x;
  const bool is_signed = x.dtype() == DType::Int8, as_is = own.element == 1 && !is_signed;
  const bool ready = p.lies_ready(after) && !reads_on(g);
  const Epilogue of_elements = own.epilogue(e, is_signed);
  const int64_t padded = product_of(p.padded) * g.c, bytes = product_of(g.result) * g.filters * e.result_size();
  parallel_for(0, x.size(0), 1, [&](int64_t begin, int64_t end) {
    auto image = static_cast<char*>(ready ? nullptr : scratch<Scratch::Image>(padded + kBehind));
    auto elements = static_cast<char*>(as_is ? nullptr : scratch<Scratch::Elements>((padded + kBehind) * own.element));
    for (int64_t n = begin; n < end; ++n) {
      const char* from = static_cast<const char*>(x.data()) + n * x.strides()[0];
      if (!ready) p.place(from, image), from = image;
      const Tiles& here = is_signed || is_depthwise(g) ? own : own.fitting(from, padded);
      if (here.element > 1 || is_signed) here.read(from, padded, is_signed, elements), from = elements;
      convolve(here, g, from, packed, of_elements, static_cast<char*>(result.data()) + n * bytes);
    }
  });
}

void by_onednn(const Placement& p, IntList after, const Geometry& g, const Tensor& weight, const Tensor& packed,
               const Epilogue& e, const Tensor& result) {
  const Tensor& x = p.x;
  const int64_t groups = g.groups, images = x.size(0), places = product_of(g.result);
  const int64_t padded = product_of(g.padded) * g.c;
  bool ready = p.lies_ready(after);
  Tensor packing = tiles_for(g) ? new_tensor(IntList({0}), DType::UInt8) : packed;
  std::optional<GroupSums> of_x;
  if (e.zeros) of_x.emplace(g);
  parallel_for(0, images, 1, [&](int64_t begin, int64_t end) {
    Threads own(images > 1 ? 1 : num_threads());
    auto image = static_cast<char*>(ready ? nullptr : scratch<Scratch::Image>(padded));
    auto here = static_cast<int32_t*>(scratch<Scratch::Sums>(places * g.filters * 4));
    Tensor rows = new_tensor(IntList({of_x ? places * groups : 0}), DType::Int32);
    for (int64_t n = begin; n < end; ++n) {
      const char* from = static_cast<const char*>(x.data()) + n * x.strides()[0];
      if (!ready) p.place(from, image);
      const void* data = ready ? static_cast<const void*>(from) : image;
      sums_of(g, x.dtype(), data, weight, packing, here);
      if (of_x)
        sums_of(of_x->g, x.dtype(), data, of_x->ones, Tensor(new_tensor(IntList({0}), DType::UInt8)),
                rows.data<int32_t>());
      char* to = static_cast<char*>(result.data()) + n * places * g.filters * e.result_size();
      int64_t per_group = g.filters / groups;
      parallel_for(0, places, std::max<int64_t>(kGrain / g.filters, 1), [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          const int32_t* row = here + i * g.filters;
          char* place_to = to + i * g.filters * e.result_size();
          if (!of_x) {
            e.row(row, place_to, 0, g.filters, 0);
            continue;
          }
          for (int64_t k = 0; k < groups; ++k)
            e.row(row + k * per_group, place_to + k * per_group * e.result_size(), k * per_group, per_group,
                  rows.data<int32_t>()[i * groups + k]);
        }
      });
    }
  });
}

// A filter of one place meets those alone that it steps on: the image is these.
void leave_out_others(Placement& p, IntList after, Geometry& g) {
  if (product_of(g.kernel) != 1 || product_of(g.stride) == 1) return;
  for (size_t d = 0; d < g.stride.size(); ++d)
    if (p.before[d] || after[d] || p.spread[d] != 1) return;
  Sizes sizes = g.sizes(g.c, g.result), strides(p.x.strides().begin(), p.x.strides().end());
  sizes[0] = p.x.size(0);
  for (size_t d = 0; d < g.stride.size(); ++d) strides[d + 2] *= std::exchange(g.stride[d], 1);
  p.x = ops::as_strided(p.x, sizes, strides, p.x.storage_offset());
  p.padded = g.padded = g.result;
}

}  // namespace

Tensor _pack_filter(const Tensor& weight, IntList stride, IntList dilation, int64_t groups) {
  TAEDA_CHECK(weight.dtype() == DType::Int8 && weight.dim() > 2 && weight.is_contiguous() &&
                  stride.size() + 2 == static_cast<size_t>(weight.dim()) && dilation.size() == stride.size(),
              "takes a contiguous int8 filter, and a stride and dilation for each dimension; got ", weight.dtype(),
              " of shape ", weight.sizes());
  check_steps(weight, stride, dilation, {}, groups);
  Geometry given = geometry_of(weight, stride, dilation, groups);
  if (const Tiles* own = tiles_for(given)) return pack_filter(*own, given, weight);
  if (!has_native(DType::Int8) || weight.numel() == 0) return new_tensor(IntList({0}), DType::UInt8);
  Geometry g = nominal(given);
  Tensor packed = convolution(DType::UInt8, g)->settle(1, weight.data());
  return packed.defined() ? packed : new_tensor(IntList({0}), DType::UInt8);
}

Tensor _convolve(const Tensor& x, const Tensor& weight, const Tensor& packed, int64_t x_zero_point, IntList stride,
                 IntList before, IntList after, IntList dilation, IntList spread, int64_t groups, const Tensor& sums,
                 const Tensor& zero_points, const Tensor& factors, const Tensor& bias, std::optional<DType> dtype,
                 int64_t zero_point, bool relu) {
  Geometry g = checked(x, weight, stride, before, after, dilation, spread, groups);
  Epilogue e = epilogue_of(g.filters, x_zero_point, sums, zero_points, factors, bias, dtype, zero_point, relu);
  e.depth = g.c / groups * product_of(g.kernel);
  Sizes sizes = g.sizes(g.filters, g.result);
  sizes[0] = x.size(0);
  Tensor result = new_tensor_strided(sizes, channels_last(sizes), e.result);
  if (result.numel() == 0) return result;
  Placement p{x, before, spread, static_cast<uint8_t>(x_zero_point), g.padded};
  const Tiles* own = e.zeros && is_depthwise(g) ? nullptr : tiles_for(g);
  if (own) leave_out_others(p, after, g);
  own ? by_tiles(*own, p, after, g, packed, e, result) : by_onednn(p, after, g, weight, packed, e, result);
  return result;
}

}  // namespace taeda::cpu::quantized
