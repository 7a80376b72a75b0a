#include "shape/pool_rules.h"

#include <algorithm>

#include "shape/view_rules.h"

namespace taeda::shape {

namespace {

Dims spelled_out(IntList values, int64_t rank, const char* what) {
  TAEDA_CHECK(values.size() == 1 || static_cast<int64_t>(values.size()) == rank, what, " must be one number or ", rank,
              "; got ", values);
  Dims all;
  for (int64_t i = 0; i < rank; ++i) all.push_back(values[values.size() == 1 ? 0 : i]);
  return all;
}

void check_planes(IntList sizes, int64_t rank, bool may_lack_channels = false) {
  int64_t dims = static_cast<int64_t>(sizes.size());
  TAEDA_CHECK(dims == rank + 1 || dims == rank + 2, "input must have a channel and ", rank,
              " pooled dimensions, with a batch before them or not; got shape ", sizes);
  for (int64_t d = dims - rank - !may_lack_channels; d < dims; ++d)
    TAEDA_CHECK(sizes[d] > 0, "only the batch may be empty; got shape ", sizes);
}

// How many windows fit; with ceil_mode one may hang over the end, if it starts inside the image or its left padding.
int64_t windows(int64_t image, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation, bool ceil_mode) {
  int64_t room = image + 2 * padding - dilation * (kernel - 1) - 1;
  if (room < 0 && !(ceil_mode && room + stride > 0)) return 0;
  int64_t count = (room + (ceil_mode ? stride - 1 : 0)) / stride + 1;
  if (ceil_mode && (count - 1) * stride >= image + padding) --count;
  return count;
}

// Of three-dimensional images without a batch.
bool channels_come_last(const Tensor& self) {
  IntList sizes = self.sizes(), strides = self.strides();
  return strides[0] == 1 && sizes[0] > 1 && strides[3] >= sizes[0] && strides[2] >= strides[3] * sizes[3] &&
         strides[1] >= strides[2] * sizes[2];
}

// Channels that come last stay last; of three-dimensional images only where `keeps_3d`, as in PyTorch.
Spec pooled(const Tensor& self, int64_t rank, IntList count, DType dtype, bool keeps_3d = false) {
  Dims sizes(self.sizes().first(self.dim() - rank));
  for (int64_t n : count) sizes.push_back(n);
  if (self.dim() == rank + 1 && rank == 3 && keeps_3d && channels_come_last(self)) {
    sizes.insert(0, 1);
    Dims strides = contiguous_strides(sizes, MemoryFormat::ChannelsLast3d);
    sizes.erase(0), strides.erase(0);
    return {sizes, dtype, strides};
  }
  bool keeps = self.dim() == rank + 2 && (rank == 2 || keeps_3d);
  MemoryFormat format = keeps ? suggested_format(self) : MemoryFormat::Contiguous;
  if (format == MemoryFormat::Contiguous) return {sizes, dtype};
  return {sizes, dtype, Dims(contiguous_strides(sizes, format))};
}

PooledAndIndices max_pool(const Tensor& self, int64_t rank, IntList kernel_size, IntList stride, IntList padding,
                          IntList dilation, bool ceil_mode) {
  if (is_complex(self.dtype()) || self.dtype() == DType::Bool)
    TAEDA_FAIL(NotImplemented, "is for real numbers; got ", self.dtype());
  PoolGeometry g(self.sizes(), rank, kernel_size, stride, padding, dilation, ceil_mode);
  return {pooled(self, rank, g.count, self.dtype(), true), pooled(self, rank, g.count, DType::Int64, true)};
}

Spec avg_pool(const Tensor& self, int64_t rank, IntList kernel_size, IntList stride, IntList padding, bool ceil_mode,
              std::optional<int64_t> divisor_override) {
  bool is_long = self.dtype() == DType::Int64;
  if (!is_floating(self.dtype()) && !is_long)
    TAEDA_FAIL(NotImplemented, "is for floating-point tensors; got ", self.dtype());
  TAEDA_CHECK(divisor_override.value_or(1) != 0, "divisor_override must not be 0");
  PoolGeometry g(self.sizes(), rank, kernel_size, stride, padding, Dims{1}, ceil_mode);
  return pooled(self, rank, g.count, self.dtype());
}

Spec adaptive(const Tensor& self, int64_t rank, IntList output_size, DType dtype, bool may_lack_channels = false) {
  check_planes(self.sizes(), rank, may_lack_channels || self.dim() == rank + 1);
  Dims count = spelled_out(output_size, rank, "output_size");
  for (int64_t n : count) TAEDA_CHECK(n >= 0, "output_size must not be negative; got ", count);
  bool is_mean = dtype == self.dtype() && std::ranges::all_of(count, [](int64_t n) { return n == 1; });
  return pooled(self, rank, count, dtype, is_mean);
}

}  // namespace

PoolGeometry::PoolGeometry(IntList sizes, int64_t rank, IntList kernel_size, IntList strides, IntList paddings,
                           IntList dilations, bool ceil_mode)
    : image(sizes.last(std::min<size_t>(rank, sizes.size()))),
      kernel(spelled_out(kernel_size, rank, "kernel_size")),
      stride(strides.empty() ? kernel : spelled_out(strides, rank, "stride")),
      padding(spelled_out(paddings, rank, "padding")),
      dilation(spelled_out(dilations, rank, "dilation")) {
  check_planes(sizes, rank);
  for (const Dims* values : {&kernel, &stride, &padding, &dilation})
    for (int64_t value : *values)
      TAEDA_CHECK(value <= INT32_MAX, "kernel_size, stride, padding and dilation must be below 2^31; got ", value);
  for (int64_t d = 0; d < rank; ++d) {
    TAEDA_CHECK(kernel[d] > 0 && stride[d] > 0 && dilation[d] > 0,
                "kernel_size, stride and dilation must be positive; got ", kernel, ", ", stride, " and ", dilation);
    TAEDA_CHECK(padding[d] >= 0 && padding[d] <= ((kernel[d] - 1) * dilation[d] + 1) / 2,
                "padding must be from 0 to half of the kernel ", kernel, "; got ", padding);
    count.push_back(windows(image[d], kernel[d], stride[d], padding[d], dilation[d], ceil_mode));
    TAEDA_CHECK(count[d] > 0, "a window of ", kernel, " does not fit into an image of ", image, " with padding ",
                padding);
  }
}

PooledAndIndices max_pool2d(const Tensor& self, IntList kernel_size, IntList stride, IntList padding, IntList dilation,
                            bool ceil_mode) {
  return max_pool(self, 2, kernel_size, stride, padding, dilation, ceil_mode);
}
PooledAndIndices max_pool3d(const Tensor& self, IntList kernel_size, IntList stride, IntList padding, IntList dilation,
                            bool ceil_mode) {
  return max_pool(self, 3, kernel_size, stride, padding, dilation, ceil_mode);
}

namespace {

// The gradient `upper` belongs to pooled images of `sizes`.
void check_images(const Tensor& upper, IntList sizes, int64_t rank, bool may_lack_channels = false) {
  check_floating(upper);
  TAEDA_CHECK(rank == 2 || rank == 3, "2 or 3 dimensions are pooled; got ", rank);
  check_planes(sizes, rank, may_lack_channels || static_cast<int64_t>(sizes.size()) == rank + 1);
  const size_t outer = sizes.size() - rank;
  TAEDA_CHECK(
      upper.sizes().size() == sizes.size() && std::ranges::equal(upper.sizes().first(outer), sizes.first(outer)),
      "the gradient must have the outer dimensions of the image ", sizes, "; got shape ", upper.sizes());
}

// Gradients of images are laid out as `like`, whose positions they belong to.
Spec image_like(IntList sizes, int64_t rank, const Tensor& like, DType dtype) {
  MemoryFormat format = like.dim() == rank + 2 ? suggested_format(like) : MemoryFormat::Contiguous;
  if (format == MemoryFormat::Contiguous) return {Dims(sizes), dtype};
  return {Dims(sizes), dtype, Dims(contiguous_strides(sizes, format))};
}

Spec avg_pool_backward(const Tensor& upper, IntList sizes, int64_t rank, IntList kernel_size, IntList stride,
                       IntList padding, bool ceil_mode, std::optional<int64_t> divisor_override) {
  check_images(upper, sizes, rank);
  TAEDA_CHECK(divisor_override.value_or(1) != 0, "divisor_override must not be 0");
  PoolGeometry g(sizes, rank, kernel_size, stride, padding, Dims{1}, ceil_mode);
  TAEDA_CHECK(std::ranges::equal(upper.sizes().last(rank), IntList(g.count)), "the gradient must have ",
              IntList(g.count), " windows; got shape ", upper.sizes());
  return image_like(sizes, rank, upper, upper.dtype());
}

}  // namespace

namespace {
// An image of an example that has nothing in it leads nowhere; that there is no example, or no channel, may be.
void check_has_places(const Tensor& upper, int64_t rank) {
  IntList places = upper.sizes().last(std::min<size_t>(rank, upper.sizes().size()));
  TAEDA_CHECK(std::ranges::all_of(places, [](int64_t n) { return n > 0; }),
              "images pooled to no element have no gradient; got one of shape ", upper.sizes());
}
}  // namespace

Spec max_pool_backward(const Tensor& upper, const Tensor& indices, IntList sizes, int64_t rank) {
  check_images(upper, sizes, rank);
  check_has_places(upper, rank);
  TAEDA_CHECK(std::ranges::equal(upper.sizes(), indices.sizes()) && indices.dtype() == DType::Int64,
              "indices must be int64 of the gradient's shape ", upper.sizes(), "; got ", indices.dtype(), " of shape ",
              indices.sizes());
  return image_like(sizes, rank, indices, upper.dtype());
}

Spec avg_pool2d(const Tensor& self, IntList kernel_size, IntList stride, IntList padding, bool ceil_mode, bool,
                std::optional<int64_t> divisor_override) {
  return avg_pool(self, 2, kernel_size, stride, padding, ceil_mode, divisor_override);
}
Spec avg_pool3d(const Tensor& self, IntList kernel_size, IntList stride, IntList padding, bool ceil_mode, bool,
                std::optional<int64_t> divisor_override) {
  return avg_pool(self, 3, kernel_size, stride, padding, ceil_mode, divisor_override);
}
Spec avg_pool2d_gradient(const Tensor& upper, IntList sizes, IntList kernel_size, IntList stride, IntList padding,
                         bool ceil_mode, bool, std::optional<int64_t> divisor_override) {
  return avg_pool_backward(upper, sizes, 2, kernel_size, stride, padding, ceil_mode, divisor_override);
}
Spec avg_pool3d_gradient(const Tensor& upper, IntList sizes, IntList kernel_size, IntList stride, IntList padding,
                         bool ceil_mode, bool, std::optional<int64_t> divisor_override) {
  return avg_pool_backward(upper, sizes, 3, kernel_size, stride, padding, ceil_mode, divisor_override);
}

Spec adaptive_avg_pool2d(const Tensor& self, IntList output_size) {
  check_floating(self);
  return adaptive(self, 2, output_size, self.dtype(), true);
}
Spec adaptive_avg_pool3d(const Tensor& self, IntList output_size) {
  check_floating(self);
  return adaptive(self, 3, output_size, self.dtype());
}
Spec adaptive_avg_pool_backward(const Tensor& upper, IntList sizes, int64_t rank) {
  check_images(upper, sizes, rank, rank == 2);
  check_has_places(upper, rank);
  // One number per plane says nothing of a layout.
  bool is_mean = std::ranges::all_of(upper.sizes().last(rank), [](int64_t n) { return n == 1; });
  return is_mean ? Spec{Dims(sizes), upper.dtype()} : image_like(sizes, rank, upper, upper.dtype());
}
PooledAndIndices adaptive_max_pool2d(const Tensor& self, IntList output_size) {
  check_floating(self);
  return {adaptive(self, 2, output_size, self.dtype()), adaptive(self, 2, output_size, DType::Int64)};
}
PooledAndIndices adaptive_max_pool3d(const Tensor& self, IntList output_size) {
  check_floating(self);
  return {adaptive(self, 3, output_size, self.dtype()), adaptive(self, 3, output_size, DType::Int64)};
}

}  // namespace taeda::shape
