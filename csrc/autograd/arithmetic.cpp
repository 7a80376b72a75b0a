#include "autograd/arithmetic.h"

#include <cmath>

#include "core/elements.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/complex_numbers.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/view.h"
#include "taeda/ops/view_gradients.h"

namespace taeda::autograd::arithmetic {

Tensor add(const Tensor& a, const Tensor& b) { return ops::add(a, b); }
void add_in_place(const Tensor& a, const Tensor& b) { ops::add_(a, b); }
Tensor zeros(IntList sizes, DType dtype, Device device) { return ops::zeros(sizes, dtype, std::nullopt, device); }
Tensor zeros_like(const Tensor& t) { return ops::zeros_like(t); }

TAEDA_API Tensor ones_like(const Tensor& t) {
  if (t.keys().has(Functionality::Python) || t_state.include.has(Functionality::Python)) return ops::ones_like(t);
  Tensor ones = new_tensor(t.sizes(), t.dtype(), t.device());
  ops::fill_(ones, 1);
  return ones;
}

Tensor clone(const Tensor& t) { return ops::clone(t); }
Tensor empty_beside(const Tensor& t, IntList sizes, IntList strides) {
  if (t.keys().has(Functionality::Python)) return ops::new_empty_strided(t, sizes, strides);
  return new_tensor_strided(sizes, strides, t.dtype(), t.device());
}
namespace {
thread_local bool t_detaches_one_level;
}
bool detaches_one_level() { return t_detaches_one_level; }
Tensor detach(const Tensor& t) {
  BelowAutograd guard;
  Scoped one(t_detaches_one_level, true);
  return ops::detach(t);
}
Tensor clone_contiguous(const Tensor& t) { return ops::clone(t, MemoryFormat::Contiguous); }
void copy(const Tensor& to, const Tensor& from) { ops::copy_(to, from); }
void fill_zero(const Tensor& t) { ops::zero_(t); }
Tensor cast(const Tensor& t, DType dtype) { return ops::_to_copy(t, dtype); }
Tensor move(const Tensor& t, Device device) { return ops::_to_copy(t, std::nullopt, std::nullopt, device); }
Tensor real(const Tensor& t) { return ops::contiguous(ops::real(t)); }
Tensor sum_to(const Tensor& t, IntList sizes) { return ops::sum_to_size(t, sizes); }
Tensor as_strided(const Tensor& t, IntList sizes, IntList strides, int64_t offset) {
  return ops::as_strided(t, sizes, strides, offset);
}

namespace {
template <class T>
bool any_nan(const T* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
      if (std::isnan(values[i].real()) || std::isnan(values[i].imag())) return true;
    } else if constexpr (!std::is_integral_v<T>) {
      if (std::isnan(convert<double>(values[i]))) return true;
    }
  }
  return false;
}
}  // namespace

bool has_nan(const Tensor& t) {
  Scoped off(t_state.grad_mode, false);
  Tensor here = ops::contiguous(t.is_cpu() ? t : move(t, {}));
  return visit(here.dtype(), [&]<class T>() { return any_nan(elements<T>(here), here.numel()); });
}

}  // namespace taeda::autograd::arithmetic
