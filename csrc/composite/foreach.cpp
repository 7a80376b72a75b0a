// Lists of tensors beside a tensor of numbers, which stay tensors where a gradient is to flow to them.
#include "composite/ops/foreach.h"
#include "composite/number.h"
#include "taeda/ops.h"

namespace taeda::composite {

namespace {

using Tensors = std::vector<Tensor>;
using Scalars = std::span<const Scalar>;

void check_list(TensorList self, TensorList other) {
  TAEDA_CHECK(!self.empty(), "the list must hold at least one tensor");
  TAEDA_CHECK(other.size() == self.size(), "all lists must have as many tensors as the first, ", self.size(), "; got ",
              other.size());
}

// A tensor of one number for each item of the list, or one for all.
std::vector<Scalar> numbers(const Tensor& t, size_t length) {
  TAEDA_CHECK(t.dim() <= 1 && (t.numel() == 1 || t.numel() == static_cast<int64_t>(length)),
              "scalars must hold one number or one for each of the ", length, " tensors; got shape ", t.sizes());
  if (t.numel() == 1) return std::vector<Scalar>(length, number_of(t));
  std::vector<Scalar> result;
  for (int64_t i = 0; i < t.numel(); ++i) result.push_back(number_of(ops::select(t, 0, i)));
  return result;
}

// Whether a gradient is to flow to the scalars.
bool are_variables(const Tensor& scalars) {
  return t_state.grad_mode && scalars->needs_autograd() && is_differentiable(scalars.dtype());
}
Tensor scalar_at(const Tensor& scalars, size_t i) {
  return scalars.numel() == 1 ? ops::reshape(scalars, IntList()) : ops::select(scalars, 0, static_cast<int64_t>(i));
}

}  // namespace

#define TAEDA_TRIPLE_TENSOR(name, join)                                                                        \
  Tensors _foreach_##name(TensorList self, TensorList tensor1, TensorList tensor2, const Tensor& scalars) {    \
    std::vector<Scalar> values = numbers(scalars, self.size());                                                \
    if (!are_variables(scalars)) return ops::_foreach_##name(self, tensor1, tensor2, Scalars(values));         \
    check_list(self, tensor1);                                                                                 \
    check_list(self, tensor2);                                                                                 \
    Tensors result;                                                                                            \
    for (size_t i = 0; i < self.size(); ++i)                                                                   \
      result.push_back(ops::add(self[i], ops::mul(ops::join(tensor1[i], tensor2[i]), scalar_at(scalars, i)))); \
    return result;                                                                                             \
  }                                                                                                            \
  void _foreach_##name##_(TensorList self, TensorList tensor1, TensorList tensor2, const Tensor& scalars) {    \
    std::vector<Scalar> values = numbers(scalars, self.size());                                                \
    if (!are_variables(scalars)) return ops::_foreach_##name##_(self, tensor1, tensor2, Scalars(values));      \
    check_list(self, tensor1);                                                                                 \
    check_list(self, tensor2);                                                                                 \
    for (size_t i = 0; i < self.size(); ++i)                                                                   \
      ops::add_(self[i], ops::mul(ops::join(tensor1[i], tensor2[i]), scalar_at(scalars, i)));                  \
  }
TAEDA_TRIPLE_TENSOR(addcmul, mul)
TAEDA_TRIPLE_TENSOR(addcdiv, div)

}  // namespace taeda::composite
