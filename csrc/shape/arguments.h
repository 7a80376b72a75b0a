// What generated functions check of a call's arguments.
#pragma once
#include <initializer_list>
#include <vector>

#include "taeda/core/tensor.h"

namespace taeda::shape {

// A call runs on the meta device as soon as one of its arguments lives there. RuntimeError unless the others do, too;
// a tensor without dimensions stands for a number and may be read from anywhere.
void check_on_meta(const Tensor& t, bool is_written);
void check_on_meta(TensorList list, bool is_written);

// Raises unless `out` has the dtype of the result, or, where that need not be the same, one that can hold it.
void check_out_dtype(const Tensor& out, DType result, bool same, ErrorKind kind);

// What is read while `outs` are written: `in`, or a copy of it where they share a storage. With `refuse`, RuntimeError
// where they share elements.
Tensor apart(const Tensor& in, std::initializer_list<const Tensor*> outs, bool refuse);
std::vector<Tensor> apart(TensorList in, std::initializer_list<const Tensor*> outs, bool refuse);

}  // namespace taeda::shape
