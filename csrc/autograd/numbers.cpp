#include "autograd/numbers.h"

#include "api/binary.h"
#include "api/complex_numbers.h"
#include "api/copy.h"

namespace taeda::autograd {

Tensor scaled_by(const Tensor& t, const Scalar& factor) { return ops::mul(t, factor); }

Tensor conj_of_complex(const Tensor& t) { return ops::conj(t); }

Tensor number_tensor(const Scalar& value) {
  Tensor result = new_tensor({}, value.natural_dtype());
  visit(result.dtype(), [&]<class T>() { *result.data<T>() = value.to<T>(); });
  result->set_wrapped_number(true);
  return result;
}

Tensor clone_for_inplace(const Tensor& self) { return ops::clone(self); }

}  // namespace taeda::autograd
