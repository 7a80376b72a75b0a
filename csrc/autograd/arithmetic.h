// The tensor arithmetic that autograd itself needs, over the generated ops.
#pragma once
#include "taeda/core/tensor.h"

namespace taeda::autograd::arithmetic {

Tensor add(const Tensor& a, const Tensor& b);
void add_in_place(const Tensor& a, const Tensor& b);
Tensor zeros(IntList sizes, DType dtype, Device device);
Tensor zeros_like(const Tensor& t);
Tensor ones_like(const Tensor& t);
// Without values, on the device of `t` and of its class, if that answers ops itself: what is copied from `t` fits.
Tensor empty_beside(const Tensor& t, IntList sizes, IntList strides);
Tensor clone(const Tensor& t);   // keeps dense strides
Tensor detach(const Tensor& t);  // through the dispatcher, for a class that answers it
// Whether `detach` is asking: what such a class wraps then stays in the graphs that it is in.
TAEDA_API bool detaches_one_level();
Tensor clone_contiguous(const Tensor& t);
void copy(const Tensor& to, const Tensor& from);
void fill_zero(const Tensor& t);
Tensor cast(const Tensor& t, DType dtype);
Tensor move(const Tensor& t, Device device);
Tensor real(const Tensor& t);
Tensor sum_to(const Tensor& t, IntList sizes);  // undoes broadcasting from `sizes`
Tensor as_strided(const Tensor& t, IntList sizes, IntList strides, int64_t offset);
bool has_nan(const Tensor& t);

}  // namespace taeda::autograd::arithmetic
