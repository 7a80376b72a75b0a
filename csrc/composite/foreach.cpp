// Lists of tensors: one loop for each pattern of arguments, around the plain op.
#include "shape/ops/foreach.h"
#include "composite/number.h"
#include "taeda/ops.h"

namespace taeda::composite {

namespace {

using Tensors = std::vector<Tensor>;
using Scalars = std::span<const Scalar>;

// What the i-th call gets of an argument: an item of a list, or the same value every time.
const Tensor& item(TensorList list, size_t i) { return list[i]; }
const Scalar& item(Scalars list, size_t i) { return list[i]; }
const Scalar& item(const Scalar& value, size_t) { return value; }
const Tensor& item(const Tensor& value, size_t) { return value; }

void check_length(size_t length, TensorList list) {
  TAEDA_CHECK(list.size() == length, "all lists must have as many tensors as the first, ", length, "; got ",
              list.size());
}
void check_length(size_t length, Scalars list) {
  TAEDA_CHECK(list.size() == length, "there must be one number for each of the ", length, " tensors; got ",
              list.size());
}
void check_length(size_t, const Scalar&) {}
void check_length(size_t, const Tensor&) {}

template <class... Args>
size_t length_of(TensorList self, const Args&... args) {
  TAEDA_CHECK(!self.empty(), "the list must hold at least one tensor");
  (check_length(self.size(), args), ...);
  return self.size();
}

template <class Call, class... Args>
Tensors map(const Call& call, TensorList self, const Args&... args) {
  size_t length = length_of(self, args...);
  Tensors results;
  results.reserve(length);
  for (size_t i = 0; i < length; ++i) results.push_back(call(self[i], item(args, i)...));
  return results;
}
template <class Call, class... Args>
void each(const Call& call, TensorList self, const Args&... args) {
  size_t length = length_of(self, args...);
  for (size_t i = 0; i < length; ++i) call(self[i], item(args, i)...);
}

const Tensor& single(const Tensor& t) {
  TAEDA_CHECK(t.dim() == 0 && t.numel() == 1, "the operand of all tensors must have no dimensions; got shape ",
              t.sizes());
  return t;
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

// Whether a gradient is to flow to the scalars: then they stay tensors.
bool are_variables(const Tensor& scalars) {
  return t_state.grad_mode && scalars->needs_autograd() && is_differentiable(scalars.dtype());
}
Tensor scalar_at(const Tensor& scalars, size_t i) {
  return scalars.numel() == 1 ? ops::reshape(scalars, IntList()) : ops::select(scalars, 0, static_cast<int64_t>(i));
}

// A plain op as a callable.
#define TAEDA_CALL(name) [](const Tensor& x, const auto&... rest) { return ops::name(x, rest...); }

}  // namespace

#define TAEDA_UNARY(name)                                                          \
  Tensors _foreach_##name(TensorList self) { return map(TAEDA_CALL(name), self); } \
  void _foreach_##name##_(TensorList self) { each(TAEDA_CALL(name##_), self); }
TAEDA_UNARY(abs)
TAEDA_UNARY(acos)
TAEDA_UNARY(asin)
TAEDA_UNARY(atan)
TAEDA_UNARY(ceil)
TAEDA_UNARY(cos)
TAEDA_UNARY(cosh)
TAEDA_UNARY(erf)
TAEDA_UNARY(erfc)
TAEDA_UNARY(exp)
TAEDA_UNARY(expm1)
TAEDA_UNARY(floor)
TAEDA_UNARY(frac)
TAEDA_UNARY(lgamma)
TAEDA_UNARY(log)
TAEDA_UNARY(log10)
TAEDA_UNARY(log1p)
TAEDA_UNARY(log2)
TAEDA_UNARY(neg)
TAEDA_UNARY(reciprocal)
TAEDA_UNARY(round)
TAEDA_UNARY(rsqrt)
TAEDA_UNARY(sigmoid)
TAEDA_UNARY(sign)
TAEDA_UNARY(sin)
TAEDA_UNARY(sinh)
TAEDA_UNARY(sqrt)
TAEDA_UNARY(tan)
TAEDA_UNARY(tanh)
TAEDA_UNARY(trunc)

// `type` is how the second operand is passed.
#define TAEDA_BINARY(name, plain, type)                                                                \
  Tensors _foreach_##name(TensorList self, type other) { return map(TAEDA_CALL(plain), self, other); } \
  void _foreach_##name##_(TensorList self, type other) { each(TAEDA_CALL(plain##_), self, other); }
#define TAEDA_EACH_OPERAND(X, name) \
  X(name, name, const Scalar&)      \
  X(name, name, TensorList)         \
  X(name, name, Scalars)
TAEDA_EACH_OPERAND(TAEDA_BINARY, mul)
TAEDA_EACH_OPERAND(TAEDA_BINARY, div)
TAEDA_EACH_OPERAND(TAEDA_BINARY, pow)
TAEDA_EACH_OPERAND(TAEDA_BINARY, clamp_max)
TAEDA_EACH_OPERAND(TAEDA_BINARY, clamp_min)
TAEDA_BINARY(maximum, clamp_min, const Scalar&)
TAEDA_BINARY(maximum, clamp_min, Scalars)
TAEDA_BINARY(minimum, clamp_max, const Scalar&)
TAEDA_BINARY(minimum, clamp_max, Scalars)
// Ties share the gradient only in maximum and minimum, which have no in-place forms.
Tensors _foreach_maximum(TensorList self, TensorList other) { return map(TAEDA_CALL(maximum), self, other); }
Tensors _foreach_minimum(TensorList self, TensorList other) { return map(TAEDA_CALL(minimum), self, other); }
void _foreach_maximum_(TensorList self, TensorList other) { each(TAEDA_CALL(clamp_min_), self, other); }
void _foreach_minimum_(TensorList self, TensorList other) { each(TAEDA_CALL(clamp_max_), self, other); }
TAEDA_BINARY(add, add, const Scalar&)
TAEDA_BINARY(add, add, Scalars)
TAEDA_BINARY(sub, sub, const Scalar&)
TAEDA_BINARY(sub, sub, Scalars)

#define TAEDA_BINARY_TENSOR(name)                                                                                      \
  Tensors _foreach_##name(TensorList self, const Tensor& other) { return map(TAEDA_CALL(name), self, single(other)); } \
  void _foreach_##name##_(TensorList self, const Tensor& other) { each(TAEDA_CALL(name##_), self, single(other)); }
TAEDA_BINARY_TENSOR(mul)
TAEDA_BINARY_TENSOR(div)

#define TAEDA_BINARY_ALPHA(name, type)                                        \
  Tensors _foreach_##name(TensorList self, type other, const Scalar& alpha) { \
    return map(TAEDA_CALL(name), self, other, alpha);                         \
  }                                                                           \
  void _foreach_##name##_(TensorList self, type other, const Scalar& alpha) { \
    each(TAEDA_CALL(name##_), self, other, alpha);                            \
  }
TAEDA_BINARY_ALPHA(add, TensorList)
TAEDA_BINARY_ALPHA(sub, TensorList)
Tensors _foreach_add(TensorList self, const Tensor& other, const Scalar& alpha) {
  return map(TAEDA_CALL(add), self, single(other), alpha);
}
void _foreach_add_(TensorList self, const Tensor& other, const Scalar& alpha) {
  each(TAEDA_CALL(add_), self, single(other), alpha);
}

#define TAEDA_LERP(type)                                                     \
  Tensors _foreach_lerp(TensorList self, TensorList tensors1, type weight) { \
    return map(TAEDA_CALL(lerp), self, tensors1, weight);                    \
  }                                                                          \
  void _foreach_lerp_(TensorList self, TensorList tensors1, type weight) {   \
    each(TAEDA_CALL(lerp_), self, tensors1, weight);                         \
  }
TAEDA_LERP(TensorList)
TAEDA_LERP(const Scalar&)
TAEDA_LERP(Scalars)

#define TAEDA_TRIPLE(name, type)                                                                 \
  Tensors _foreach_##name(TensorList self, TensorList tensor1, TensorList tensor2, type value) { \
    return map(TAEDA_CALL(name), self, tensor1, tensor2, value);                                 \
  }                                                                                              \
  void _foreach_##name##_(TensorList self, TensorList tensor1, TensorList tensor2, type value) { \
    each(TAEDA_CALL(name##_), self, tensor1, tensor2, value);                                    \
  }
#define TAEDA_TRIPLE_TENSOR(name, join)                                                                     \
  Tensors _foreach_##name(TensorList self, TensorList tensor1, TensorList tensor2, const Tensor& scalars) { \
    std::vector<Scalar> values = numbers(scalars, self.size());                                             \
    if (!are_variables(scalars)) return _foreach_##name(self, tensor1, tensor2, Scalars(values));           \
    size_t i = 0;                                                                                           \
    auto call = [&](const Tensor& x, const Tensor& a, const Tensor& b) {                                    \
      return ops::add(x, ops::mul(ops::join(a, b), scalar_at(scalars, i++)));                               \
    };                                                                                                      \
    return map(call, self, tensor1, tensor2);                                                               \
  }                                                                                                         \
  void _foreach_##name##_(TensorList self, TensorList tensor1, TensorList tensor2, const Tensor& scalars) { \
    std::vector<Scalar> values = numbers(scalars, self.size());                                             \
    if (!are_variables(scalars)) return _foreach_##name##_(self, tensor1, tensor2, Scalars(values));        \
    size_t i = 0;                                                                                           \
    auto call = [&](const Tensor& x, const Tensor& a, const Tensor& b) {                                    \
      ops::add_(x, ops::mul(ops::join(a, b), scalar_at(scalars, i++)));                                     \
    };                                                                                                      \
    each(call, self, tensor1, tensor2);                                                                     \
  }
TAEDA_TRIPLE(addcmul, const Scalar&)
TAEDA_TRIPLE(addcmul, Scalars)
TAEDA_TRIPLE_TENSOR(addcmul, mul)
TAEDA_TRIPLE(addcdiv, const Scalar&)
TAEDA_TRIPLE(addcdiv, Scalars)
TAEDA_TRIPLE_TENSOR(addcdiv, div)

Tensors _foreach_pow(const Scalar& self, TensorList exponent) {
  return map([&](const Tensor& x) { return ops::pow(self, x); }, exponent);
}

Tensors _foreach_norm(TensorList self, const Scalar& ord, std::optional<DType> dtype) {
  return map([&](const Tensor& x) { return ops::linalg_vector_norm(x, ord, std::nullopt, false, dtype); }, self);
}
Tensors _foreach_powsum(TensorList self, const Scalar& ord, std::optional<DType> dtype) {
  return map([&](const Tensor& x) { return ops::sum(ops::pow(ops::abs(dtype ? ops::_to_copy(x, dtype) : x), ord)); },
             self);
}
Tensors _foreach_max(TensorList self) { return map(TAEDA_CALL(max), self); }
Tensors _foreach_mm(TensorList self, TensorList mat2) { return map(TAEDA_CALL(mm), self, mat2); }
Tensors _foreach_clone(TensorList self, std::optional<MemoryFormat> format) {
  return map([&](const Tensor& x) { return ops::clone(x, format); }, self);
}
void _foreach_copy_(TensorList self, TensorList src, bool non_blocking) {
  each([&](const Tensor& x, const Tensor& from) { ops::copy_(x, from, non_blocking); }, self, src);
}
void _foreach_zero_(TensorList self) { each(TAEDA_CALL(zero_), self); }

}  // namespace taeda::composite
