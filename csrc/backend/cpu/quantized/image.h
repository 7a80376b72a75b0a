// The images that convolutions of 8-bit integers read and write: channels are innermost.
#pragma once
#include <vector>

#include "taeda/core/tensor.h"

namespace taeda::cpu::quantized {

using Sizes = std::vector<int64_t>;

// One image: channels `c`, the places of the padded image and of the result, filters.
struct Geometry {
  int64_t c, filters, groups;
  Sizes padded, result, kernel, stride, dilation;

  Sizes sizes(int64_t channels, const Sizes& places) const {
    Sizes all{1, channels};
    all.insert(all.end(), places.begin(), places.end());
    return all;
  }
};

inline int64_t product_of(const Sizes& sizes) {
  int64_t product = 1;
  for (int64_t s : sizes) product *= s;
  return product;
}

// The strides of a tensor of those sizes whose channels are innermost.
Sizes channels_last(const Sizes& sizes);

// Where the elements of `x` lie in the padded image: after `before` places, `spread` apart, with `zero` around.
struct Placement {
  Tensor x;
  IntList before, spread;
  uint8_t zero;
  Sizes padded;

  // The padded image, made of the one that begins at `from`.
  void place(const char* from, char* to) const { place_from(from, to, 0); }
  // Whether it is the image as it lies, where `after` places follow.
  bool lies_ready(IntList after) const;

 private:
  int64_t source(size_t d, int64_t place) const;
  void place_from(const char* from, char* to, size_t d) const;
  void place_row(const char* from, char* to, size_t last) const;
  void copy_run(const char* from, char* to, int64_t count, size_t last) const;
};

}  // namespace taeda::cpu::quantized
