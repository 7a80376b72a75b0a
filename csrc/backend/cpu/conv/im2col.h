// Images as matrices of windows: every column holds what one position of a kernel sees.
#pragma once
#include <array>

#include "taeda/core/tensor.h"

namespace taeda::cpu {

// Up to three spatial dimensions; the first ones have size 1 where there are fewer.
struct Windows {
  std::array<int64_t, 3> image, kernel, count, stride, padding, dilation;

  Windows(IntList image_size, IntList kernel_size, IntList count_size, IntList strides, IntList paddings,
          IntList dilations);
  int64_t kernel_area() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t image_area() const { return image[0] * image[1] * image[2]; }
  int64_t columns() const { return count[0] * count[1] * count[2]; }
};

// `image` (channels, image_area) to `columns` (channels * kernel_area, columns): zeros where windows leave the image.
void im2col(DType dtype, const Windows& w, int64_t channels, const void* image, void* columns);
// The transpose of that map: `image` becomes the sum of what the columns hold of it.
void col2im(DType dtype, const Windows& w, int64_t channels, const void* columns, void* image);

}  // namespace taeda::cpu
