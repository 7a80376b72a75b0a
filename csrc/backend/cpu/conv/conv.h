// What the convolution kernels share: three linear maps, of which transposed convolutions are the second.
#pragma once
#include "backend/cpu/libraries/gemm.h"
#include "shape/conv_rules.h"

namespace taeda::cpu::conv {

// `image` (N, Ci, ...), `weight` (Co, Ci / groups, ...), `features` (N, Co, ...) of a convolution that is not
// transposed. Forward makes features from image and weight; each gradient makes one of the three from the other two.
struct Problem {
  Tensor image, weight, features;
  shape::Dims stride, padding, dilation;
  int64_t groups;

  size_t rank() const { return stride.size(); }
  // What is read past the end of the image, by dimension; it may be negative where stride leaves a rest.
  int64_t padding_end(size_t i) const;
};

// oneDNN, for float32 and half types. `bias` may be undefined.
void forward_onednn(const Problem& p, const Tensor& bias);
void image_onednn(const Problem& p);
void weight_onednn(const Problem& p);

// Windows copied into columns and multiplied by gemm, for every floating and complex type. All tensors contiguous.
void forward_columns(const Problem& p);
void image_columns(const Problem& p);
void weight_columns(const Problem& p);

}  // namespace taeda::cpu::conv
