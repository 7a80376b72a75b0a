#include "backend/cpu/conv/im2col.h"

#include <cstring>

#include "backend/cpu/ops/conv.h"
#include "shape/conv_rules.h"
#include "taeda/core/parallel.h"
#include "taeda/ops/copy.h"

namespace taeda::cpu {

namespace {

std::array<int64_t, 3> padded(IntList values, int64_t fill) {
  std::array<int64_t, 3> result{fill, fill, fill};
  std::copy(values.begin(), values.end(), result.end() - static_cast<int64_t>(values.size()));
  return result;
}

// The window positions in [from, to) at which element `offset` of the kernel lies inside the image.
struct Inside {
  int64_t from, to;
  Inside(int64_t offset, int64_t image, int64_t count, int64_t stride) {
    from = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
    to = offset >= image ? 0 : std::min(count, (image - 1 - offset) / stride + 1);
    from = std::min(from, count);
    to = std::max(to, from);
  }
};

// Calls row(channel, kernel element, position of its first column, image row or null) for each row of windows of one
// channel.
template <class F>
void for_each_row(const Windows& w, int64_t channel, const F& row) {
  const auto& k = w.kernel;
  for (int64_t element = 0; element < w.kernel_area(); ++element) {
    int64_t at[3] = {element / (k[1] * k[2]), element / k[2] % k[1], element % k[2]};
    int64_t offset[3];
    for (int d = 0; d < 3; ++d) offset[d] = at[d] * w.dilation[d] - w.padding[d];
    for (int64_t z = 0; z < w.count[0]; ++z) {
      int64_t in_z = z * w.stride[0] + offset[0];
      for (int64_t y = 0; y < w.count[1]; ++y) {
        int64_t in_y = y * w.stride[1] + offset[1];
        bool inside = in_z >= 0 && in_z < w.image[0] && in_y >= 0 && in_y < w.image[1];
        int64_t column = ((channel * w.kernel_area() + element) * w.count[0] + z) * w.count[1] + y;
        int64_t image_row = (channel * w.image[0] + in_z) * w.image[1] + in_y;
        row(column * w.count[2], inside ? image_row * w.image[2] + offset[2] : -1, inside, offset[2]);
      }
    }
  }
}

template <class T>
void gather(const Windows& w, int64_t channels, const T* image, T* columns) {
  const int64_t step = w.stride[2];
  parallel_for(0, channels, std::max<int64_t>(kGrain / std::max<int64_t>(w.kernel_area() * w.columns(), 1), 1),
               [&](int64_t c0, int64_t c1) {
                 for (int64_t c = c0; c < c1; ++c)
                   for_each_row(w, c, [&](int64_t column, int64_t start, bool inside, int64_t offset) {
                     T* to = columns + column;
                     if (!inside) return void(std::fill_n(to, w.count[2], T{}));
                     Inside x(offset, w.image[2], w.count[2], step);
                     std::fill_n(to, x.from, T{});
                     if (step == 1)
                       std::copy_n(image + start + x.from, x.to - x.from, to + x.from);
                     else
                       for (int64_t i = x.from; i < x.to; ++i) to[i] = image[start + i * step];
                     std::fill(to + x.to, to + w.count[2], T{});
                   });
               });
}

template <class T>
void scatter(const Windows& w, int64_t channels, const T* columns, T* image) {
  using C = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float,
                               std::conditional_t<std::is_same_v<T, bool>, int, T>>;
  const int64_t step = w.stride[2];
  parallel_for(0, channels, std::max<int64_t>(kGrain / std::max<int64_t>(w.kernel_area() * w.columns(), 1), 1),
               [&](int64_t c0, int64_t c1) {
                 std::vector<C> sums(w.image_area());  // of one channel, so that halves are rounded once
                 for (int64_t c = c0; c < c1; ++c) {
                   std::fill(sums.begin(), sums.end(), C(0));
                   for_each_row(w, c, [&](int64_t column, int64_t start, bool inside, int64_t offset) {
                     if (!inside) return;
                     C* to = sums.data() + start - c * w.image_area();
                     Inside x(offset, w.image[2], w.count[2], step);
                     for (int64_t i = x.from; i < x.to; ++i) to[i * step] += convert<C>(columns[column + i]);
                   });
                   for (int64_t i = 0; i < w.image_area(); ++i) image[c * w.image_area() + i] = convert<T>(sums[i]);
                 }
               });
}

}  // namespace

Windows::Windows(IntList image_size, IntList kernel_size, IntList count_size, IntList strides, IntList paddings,
                 IntList dilations)
    : image(padded(image_size, 1)),
      kernel(padded(kernel_size, 1)),
      count(padded(count_size, 1)),
      stride(padded(strides, 1)),
      padding(padded(paddings, 0)),
      dilation(padded(dilations, 1)) {}

void im2col(DType dtype, const Windows& w, int64_t channels, const void* image, void* columns) {
  auto run = [&]<class T>() { gather(w, channels, static_cast<const T*>(image), static_cast<T*>(columns)); };
  switch (itemsize(dtype)) {  // elements are only moved
    case 1:
      return run.operator()<uint8_t>();
    case 2:
      return run.operator()<uint16_t>();
    case 4:
      return run.operator()<float>();
    case 8:
      return run.operator()<double>();
    default:
      return run.operator()<complex128>();
  }
}

void col2im(DType dtype, const Windows& w, int64_t channels, const void* columns, void* image) {
  auto run = [&]<class T>() { scatter(w, channels, static_cast<const T*>(columns), static_cast<T*>(image)); };
  visit(dtype, run);
}

// --- unfold and fold
namespace {

Windows windows_2d(IntList image, IntList kernel_size, IntList dilation, IntList padding, IntList stride) {
  auto pair = [](IntList v) { return shape::Dims{v[0], v.back()}; };
  shape::Dims kernel = pair(kernel_size), spread = pair(dilation), pad = pair(padding), step = pair(stride), count;
  for (int i = 0; i < 2; ++i) count.push_back((image[i] + 2 * pad[i] - spread[i] * (kernel[i] - 1) - 1) / step[i] + 1);
  return {image, kernel, count, step, pad, spread};
}

}  // namespace

void im2col(const Tensor& self, IntList kernel_size, IntList dilation, IntList padding, IntList stride,
            const Tensor& out) {
  Tensor image = ops::contiguous(self);
  Windows w = windows_2d(image.sizes().last(2), kernel_size, dilation, padding, stride);
  // Channels of all images of the batch lie one after another on both sides.
  im2col(self.dtype(), w, image.numel() / w.image_area(), image.data(), out.data());
}

void col2im(const Tensor& self, IntList output_size, IntList kernel_size, IntList dilation, IntList padding,
            IntList stride, const Tensor& out) {
  TAEDA_CHECK_KIND(NotImplemented, is_differentiable(self.dtype()) || self.dtype() == DType::Bool,
                   "is for floating-point, complex and bool tensors; got ", self.dtype());
  Tensor columns = ops::contiguous(self);
  shape::Dims image{output_size[0], output_size.back()};
  Windows w = windows_2d(image, kernel_size, dilation, padding, stride);
  col2im(self.dtype(), w, out.numel() / std::max<int64_t>(w.image_area(), 1), columns.data(), out.data());
}

}  // namespace taeda::cpu
