#include "shape/conv_rules.h"

#include "shape/elementwise.h"
#include "shape/view_rules.h"

namespace taeda::shape {

namespace {

// One value for each of `rank` dimensions; a single one counts for all.
Dims spelled_out(IntList values, int64_t rank, std::string_view name, int64_t least) {
  TAEDA_CHECK(static_cast<int64_t>(values.size()) == rank || values.size() == 1, name, " must be a number or ", rank,
              " numbers, one per spatial dimension; got ", values);
  Dims result;
  for (int64_t i = 0; i < rank; ++i) {
    result.push_back(values[values.size() == 1 ? 0 : i]);
    TAEDA_CHECK(result[i] >= least, name, " must be at least ", least, " everywhere; got ", values);
  }
  return result;
}

// Whether the strides say that channels vary fastest, those of dimensions of size 1 included.
bool is_channels_last(const Tensor& t) { return suggested_format(t) != MemoryFormat::Contiguous; }

Dims strides_like(const Tensor& input, const Tensor& weight, const Dims& sizes) {
  if (!is_channels_last(input) && !is_channels_last(weight)) return {};
  return contiguous_strides(sizes, sizes.size() == 4 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d);
}

void check_ranks(const Tensor& input, const Tensor& weight, int64_t groups) {
  TAEDA_CHECK(input.dim() >= 3 && input.dim() <= 5,
              "input must have a batch, a channel and 1 to 3 spatial dimensions; got shape ", input.sizes());
  TAEDA_CHECK(weight.dim() == input.dim(), "weight must have as many dimensions as input (", input.dim(),
              "); got input of shape ", input.sizes(), " and weight of shape ", weight.sizes());
  TAEDA_CHECK(groups > 0, "groups must be positive; got ", groups);
}

void check_channels(const Tensor& input, const Tensor& weight, const Tensor& bias, bool transposed, int64_t groups) {
  int64_t wanted = transposed ? weight.sizes()[0] : weight.sizes()[1] * groups;
  TAEDA_CHECK(weight.sizes()[0] % groups == 0 && weight.sizes()[0] > 0,
              "the first size of weight must be a positive multiple of groups (", groups, "); got weight of shape ",
              weight.sizes());
  TAEDA_CHECK(input.sizes()[1] == wanted, "with groups=", groups, " and weight of shape ", weight.sizes(),
              ", input must have ", wanted, " channels; got shape ", input.sizes());
  if (!bias.defined()) return;
  int64_t channels = transposed ? weight.sizes()[1] * groups : weight.sizes()[0];
  TAEDA_CHECK(bias.dim() == 1 && bias.sizes()[0] == channels, "bias must have shape (", channels,
              ",) to go with weight of shape ", weight.sizes(), "; got ", bias.sizes());
}

void check_dtypes(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  TAEDA_CHECK(input.dtype() == weight.dtype() && (!bias.defined() || bias.dtype() == input.dtype()),
              "input, weight and bias must have one dtype; got ", input.dtype(), ", ", weight.dtype(), " and ",
              bias.defined() ? name(bias.dtype()) : "no bias");
}

// factor * value + more, where the caller may have given absurd numbers.
int64_t scaled(int64_t factor, int64_t value, int64_t more) {
  int64_t result;
  TAEDA_CHECK(!__builtin_mul_overflow(factor, value, &result) && !__builtin_add_overflow(result, more, &result),
              "the size ", factor, " * ", value, " + ", more, " is too large");
  return result;
}

int64_t padded(int64_t size, int64_t padding) { return scaled(2, padding, size); }

}  // namespace

int64_t reach(int64_t kernel, int64_t dilation) { return scaled(dilation, kernel - 1, 1); }

ConvGeometry conv_geometry(const Tensor& input, const Tensor& weight, IntList stride, IntList padding, IntList dilation,
                           bool transposed, IntList output_padding, int64_t groups) {
  check_ranks(input, weight, groups);
  int64_t rank = input.dim() - 2;
  ConvGeometry g{transposed,
                 groups,
                 spelled_out(stride, rank, "stride", 1),
                 spelled_out(padding, rank, "padding", 0),
                 spelled_out(dilation, rank, "dilation", 1),
                 spelled_out(output_padding, rank, "output_padding", 0)};
  for (int64_t i = 0; i < rank; ++i)
    TAEDA_CHECK(!transposed || g.output_padding[i] < std::max(g.stride[i], g.dilation[i]),
                "output_padding must be smaller than stride or dilation; got output_padding ", output_padding,
                ", stride ", stride, " and dilation ", dilation);
  return g;
}

Spec convolution(const Tensor& input, const Tensor& weight, const Tensor& bias, IntList stride, IntList padding,
                 IntList dilation, bool transposed, IntList output_padding, int64_t groups) {
  ConvGeometry g = conv_geometry(input, weight, stride, padding, dilation, transposed, output_padding, groups);
  check_dtypes(input, weight, bias);
  check_channels(input, weight, bias, transposed, groups);
  Dims sizes{input.sizes()[0], transposed ? weight.sizes()[1] * groups : weight.sizes()[0]};
  for (size_t i = 0; i < g.stride.size(); ++i) {
    int64_t in = input.sizes()[i + 2], kernel = weight.sizes()[i + 2], span = reach(kernel, g.dilation[i]);
    TAEDA_CHECK(kernel > 0, "the kernel must not be empty; got weight of shape ", weight.sizes());
    int64_t out;
    if (transposed) {
      out = scaled(1, g.output_padding[i], scaled(-2, g.padding[i], scaled(g.stride[i], in - 1, span)));
      TAEDA_CHECK(out > 0, "the result would have size ", out, " in spatial dimension ", i, "; got input of shape ",
                  input.sizes(), ", weight of shape ", weight.sizes(), " and padding ", padding);
    } else {
      int64_t room = padded(in, g.padding[i]);
      TAEDA_CHECK(room >= span, "the kernel spans ", span, " elements of spatial dimension ", i,
                  ", where the padded input has only ", room, "; got input of shape ", input.sizes(),
                  " and weight of shape ", weight.sizes());
      out = (room - span) / g.stride[i] + 1;
    }
    sizes.push_back(out);
  }
  return {sizes, input.dtype(), strides_like(input, weight, sizes)};
}

Spec convolution_weight_grad(const Tensor& grad, const Tensor& input, IntList kernel_size, IntList stride,
                             IntList padding, IntList dilation, int64_t groups) {
  TAEDA_CHECK(grad.dtype() == input.dtype(), "grad and input must have one dtype; got ", grad.dtype(), " and ",
              input.dtype());
  ConvGeometry g = conv_geometry(input, grad, stride, padding, dilation, false, Dims{0}, groups);
  const int64_t rank = input.dim() - 2;
  TAEDA_CHECK(grad.sizes()[0] == input.sizes()[0] && grad.sizes()[1] % groups == 0 && input.sizes()[1] % groups == 0,
              "features and input must have one batch and channels that are multiples of groups (", groups,
              "); got shapes ", grad.sizes(), " and ", input.sizes());
  Dims kernel = spelled_out(kernel_size, rank, "kernel_size", 1);
  Dims sizes{grad.sizes()[1], input.sizes()[1] / groups};
  for (int64_t i = 0; i < rank; ++i) {
    int64_t room = padded(input.sizes()[i + 2], g.padding[i]) - reach(kernel[i], g.dilation[i]);
    TAEDA_CHECK(room >= 0 && grad.sizes()[i + 2] <= room / g.stride[i] + 1, "features of shape ", grad.sizes(),
                " are more than a kernel of size ", kernel_size, " gives over an input of shape ", input.sizes());
    sizes.push_back(kernel[i]);
  }
  return {sizes, input.dtype(), strides_like(input, grad, sizes)};
}

// --- windows as columns
namespace {

int64_t window_count(IntList image, IntList kernel, IntList dilation, IntList padding, IntList stride) {
  int64_t count = 1;
  for (int i = 0; i < 2; ++i) {
    TAEDA_CHECK(kernel[i] > 0 && dilation[i] > 0 && stride[i] > 0 && padding[i] >= 0,
                "kernel_size, dilation and stride must be positive and padding not negative; got ", kernel, ", ",
                dilation, ", ", stride, " and ", padding);
    int64_t room = padded(image[i], padding[i]) - reach(kernel[i], dilation[i]);
    TAEDA_CHECK(room >= 0, "a window of kernel_size ", kernel, " and dilation ", dilation, " does not fit an image of ",
                image, " with padding ", padding);
    count = scaled(count, room / stride[i] + 1, 0);
  }
  return count;
}

Dims pair(IntList values, std::string_view name) { return spelled_out(values, 2, name, 0); }

}  // namespace

Spec im2col(const Tensor& self, IntList kernel_size, IntList dilation, IntList padding, IntList stride) {
  TAEDA_CHECK(self.dim() == 3 || self.dim() == 4, "input must have shape (C, H, W) or (N, C, H, W); got ",
              self.sizes());
  Dims kernel = pair(kernel_size, "kernel_size");
  IntList image = self.sizes().last(2);
  int64_t channels = self.sizes()[self.dim() - 3];
  TAEDA_CHECK(channels > 0 && image[0] > 0 && image[1] > 0, "input may be empty in its batch only; got shape ",
              self.sizes());
  int64_t windows =
      window_count(image, kernel, pair(dilation, "dilation"), pair(padding, "padding"), pair(stride, "stride"));
  Dims sizes;
  if (self.dim() == 4) sizes.push_back(self.sizes()[0]);
  sizes.push_back(scaled(scaled(channels, kernel[0], 0), kernel[1], 0));
  sizes.push_back(windows);
  return {sizes, self.dtype()};
}

Spec col2im(const Tensor& self, IntList output_size, IntList kernel_size, IntList dilation, IntList padding,
            IntList stride) {
  TAEDA_CHECK(self.dim() == 2 || self.dim() == 3, "input must have shape (C * kernel, L) or (N, C * kernel, L); got ",
              self.sizes());
  Dims kernel = pair(kernel_size, "kernel_size"), image = pair(output_size, "output_size");
  int64_t windows =
      window_count(image, kernel, pair(dilation, "dilation"), pair(padding, "padding"), pair(stride, "stride"));
  int64_t rows = self.sizes()[self.dim() - 2], area = scaled(kernel[0], kernel[1], 0);
  TAEDA_CHECK(rows > 0 && rows % area == 0, "the second-to-last size of input must be a multiple of the kernel's ",
              area, " elements; got shape ", self.sizes());
  TAEDA_CHECK(self.sizes().back() == windows, "output_size ", output_size, " has ", windows,
              " windows, the last size of input; got shape ", self.sizes());
  Dims sizes;
  if (self.dim() == 3) sizes.push_back(self.sizes()[0]);
  sizes.push_back(rows / area);
  sizes.push_back(image[0]);
  sizes.push_back(image[1]);
  return {sizes, self.dtype()};
}

}  // namespace taeda::shape
