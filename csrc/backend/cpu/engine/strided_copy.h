// Moving elements between two geometries, converting on the way: what copies, joins, flips and repeats come down to.
#pragma once
#include "taeda/core/tensor.h"

namespace taeda::cpu {

// One side of a move. Strides count bytes, in the order of the sizes; a source's may be zero or negative.
struct Side {
  char* data;
  const int64_t* strides;
  DType dtype;
};

// Elements at one index of `sizes` go to the same index; the sides must not overlap.
void strided_copy(IntList sizes, const Side& to, const Side& from);
// The same for tensors; `from` must expand to the sizes of `to`.
void strided_copy(const Tensor& to, const Tensor& from);
// Every element of `to` becomes the one of its dtype at `element`.
void fill_elements(const Tensor& to, const void* element);

// RuntimeError where the dtype cannot hold the number. Unsigned types take negative numbers modulo their range.
void check_fits(DType dtype, const Scalar& number);
// A number that fits, as an element.
void store_number(DType dtype, const Scalar& number, void* to);

}  // namespace taeda::cpu
