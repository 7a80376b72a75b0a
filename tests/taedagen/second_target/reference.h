// What the functions of target.py run: formulas over one double at a time, for contiguous tensors of one shape.
#pragma once
#include <cmath>

#include "shape/fused.h"
#include "taeda/ops/create.h"

namespace taeda::reference {

// The vocabulary of formulas, where a vector is a number.
template <class T>
using V = T;
inline double splat(double x) { return x; }
template <class T>
T exp(T x) {
  return std::exp(x);
}

// results = formula(operands, numbers), which gives a tuple of as many values.
template <class F>
void fill(shape::Operands in, std::span<const Scalar> scalars, std::span<Tensor> results, F formula) {
  const Tensor& first = *in[0].tensor();
  double s[shape::kMaxScalars] = {}, x[shape::kMaxOperands];
  for (size_t i = 0; i < scalars.size(); ++i) s[i] = scalars[i].as_double();
  for (Tensor& result : results)
    if (!result.defined()) result = ops::empty_like(first, {}, {}, {}, {}, {});
  for (int64_t at = 0; at < first.numel(); ++at) {
    for (size_t i = 0; i < in.size(); ++i)
      x[i] = in[i].tensor() ? in[i].tensor()->data<float>()[at] : in[i].number().as_double();
    double out[shape::kMaxResults];
    formula(x, s, out);
    for (size_t i = 0; i < results.size(); ++i) results[i].data<float>()[at] = static_cast<float>(out[i]);
  }
}

}  // namespace taeda::reference
