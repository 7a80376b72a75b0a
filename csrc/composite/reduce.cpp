// Composites of taedagen/ops/reduce.py that a traced body cannot say.
#include "composite/ops/reduce.h"
#include "taeda/autograd/forward.h"
#include "taeda/autograd/meta.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/complex_numbers.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/derivative.h"
#include "taeda/ops/mask.h"
#include "taeda/ops/ranges.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/unary.h"
#include "taeda/ops/view.h"

namespace taeda {

Tensor composite::value_at_index_backward(const Tensor& grad, int64_t dim, const Tensor& indices, IntList sizes,
                                          bool keepdim) {
  int64_t rank = static_cast<int64_t>(sizes.size());
  if (rank == 0) return grad;
  int64_t at = wrap_dim(dim, rank);
  std::vector<int64_t> shape(sizes.size(), 1);
  shape[at] = sizes[at];
  Tensor positions = ops::view(ops::arange(Scalar(sizes[at]), DType::Int64, std::nullopt, grad.device()), shape);
  Tensor chosen = ops::eq(positions, keepdim ? indices : ops::unsqueeze(indices, at));
  return ops::where(chosen, keepdim ? grad : ops::unsqueeze(grad, at), Scalar(0));
}

Tensor composite::aminmax_backward(const Tensor& grad_min, const Tensor& grad_max, const Tensor& self,
                                   std::optional<int64_t> dim, bool keepdim, const Tensor& min, const Tensor& max) {
  IntList dims = dim ? IntList(&*dim, 1) : IntList();
  Tensor total;
  for (auto [grad, extreme] : {std::pair{&grad_min, &min}, std::pair{&grad_max, &max}}) {
    if (!grad->defined()) continue;
    Tensor chosen = ops::eq(self, ops::unreduce(*extreme, self.sizes(), dims, keepdim));
    Tensor share = ops::div(ops::unreduce(*grad, self.sizes(), dims, keepdim), ops::sum(chosen, dims, true));
    Tensor part = ops::where(chosen, share, Scalar(0));
    total = total.defined() ? ops::add(total, part) : part;
  }
  return total;
}

namespace {
// How many elements are not zero; its gradient is zero.
Tensor count_nonzero(const Tensor& input, IntList dims, bool keepdim) {
  Tensor is_counted = ops::ne(input, Scalar(0));
  bool is_followed = (t_state.grad_mode && autograd::requires_grad(input)) || autograd::has_tangents(input);
  Tensor ones = is_followed ? ops::masked_fill(ops::abs(input), is_counted, Scalar(1))
                            : ops::to(is_counted, to_real(input.dtype()));
  return ops::sum(ones, dims, keepdim);
}

// These norms of nothing would be infinite, or the largest of no elements.
void check_not_empty(const Tensor& self, IntList dims, const Scalar& ord) {
  bool empty = dims.empty() && self.numel() == 0;
  for (int64_t d : dims) empty |= self.dim() && self.size(d) == 0;
  TAEDA_CHECK(!empty, "the norm of order ", ord, " has no value for no elements; got shape ", self.sizes());
}
}  // namespace

Tensor composite::linalg_vector_norm(const Tensor& self, const Scalar& ord, std::optional<IntList> dim, bool keepdim,
                                     std::optional<DType> dtype) {
  TAEDA_CHECK(ord.category() != Category::Complex, "ord must be a real number; got ", ord);
  double p = ord.as_double();
  TAEDA_CHECK(is_differentiable(self.dtype()), "a norm takes a floating or complex tensor; got ", self.dtype());
  IntList dims = dim.value_or(IntList());
  if (p < 0 || p == INFINITY) check_not_empty(self, dims, ord);
  if (p == 2 || (std::isnan(p) && self.numel() == 0)) return ops::_norm_two(self, dims, keepdim, dtype);
  if (p == 1) return ops::_norm_one(self, dims, keepdim, dtype);
  bool is_extreme = std::isinf(p);
  if (!is_extreme && p != 0) return ops::_norm_p(self, ord, dims, keepdim, dtype);
  Tensor input = dtype ? ops::to(self, *dtype) : self;
  if (p == 0) return count_nonzero(input, dims, keepdim);
  Tensor size = ops::abs(input);
  return p > 0 ? ops::amax(size, dims, keepdim) : ops::amin(size, dims, keepdim);
}

Tensor composite::hash_tensor(const Tensor& self, IntList dim, bool keepdim, int64_t mode) {
  TAEDA_CHECK(mode == 0, "mode must be 0; got ", mode);
  if (is_complex(self.dtype())) TAEDA_FAIL(NotImplemented, "is for real numbers; got ", self.dtype());
  bool is_float = is_floating(self.dtype());
  Tensor wide = ops::to(ops::resolve_neg(ops::detach(self)), is_float ? DType::Float64 : DType::Int64);
  return ops::view(ops::_xor_of_all(is_float ? ops::view(wide, DType::Int64) : wide, dim, keepdim), DType::UInt64);
}

Tensor composite::norm(const Tensor& self, const std::optional<Scalar>& p, IntList dim, bool keepdim) {
  return ops::linalg_vector_norm(self, p.value_or(Scalar(2)), dim, keepdim);
}

Tensor composite::norm(const Tensor& self, const std::optional<Scalar>& p, IntList dim, bool keepdim, DType dtype) {
  return ops::linalg_vector_norm(self, p.value_or(Scalar(2)), dim, keepdim, dtype);
}

Tensor composite::norm(const Tensor& self, const std::optional<Scalar>& p, DType dtype) {
  return ops::linalg_vector_norm(self, p.value_or(Scalar(2)), std::nullopt, false, dtype);
}

}  // namespace taeda
