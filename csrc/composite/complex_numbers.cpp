// The parts of complex numbers.
#include "shape/ops/complex_numbers.h"
#include "taeda/ops/complex_numbers.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

Tensor conj_physical(const Tensor& self) { return is_complex(self.dtype()) ? ops::_conj_physical(self) : self; }
Tensor conj(const Tensor& self) { return is_complex(self.dtype()) ? ops::_conj(self) : self; }
Tensor resolve_conj(const Tensor& self) { return self->is_conj() ? ops::clone(self) : self; }
Tensor resolve_neg(const Tensor& self) { return self->is_neg() ? ops::clone(self) : self; }

Tensor positive(const Tensor& self) {
  TAEDA_CHECK(self.dtype() != DType::Bool, "truth values have no sign; got a bool tensor");
  return self;
}

Tensor real(const Tensor& self) {
  if (!is_complex(self.dtype())) return self;
  return ops::select(ops::view_as_real(self->is_conj() ? ops::_conj(self) : self), -1, 0);
}

Tensor imag(const Tensor& self) {
  TAEDA_CHECK(is_complex(self.dtype()), "only complex tensors have imaginary parts; got ", self.dtype());
  if (self->is_conj()) return ops::select(ops::_neg_view(ops::view_as_real(ops::_conj(self))), -1, 1);
  return ops::select(ops::view_as_real(self), -1, 1);
}

}  // namespace taeda::composite
