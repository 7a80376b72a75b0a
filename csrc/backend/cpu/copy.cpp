// Copies and fills.
#include "shape/ops/copy.h"
#include "backend/cpu/engine/strided_copy.h"

namespace taeda::cpu {

void fill_(const Tensor& self, const Scalar& value) {
  alignas(16) char element[sizeof(complex128)];
  store_number(self.dtype(), value, element);
  fill_elements(self, element);
}

void zero_(const Tensor& self) {
  constexpr char kZero[sizeof(complex128)] = {};
  fill_elements(self, kZero);
}

void clone(const Tensor& self, std::optional<MemoryFormat>, const Tensor& out) { strided_copy(out, self); }

}  // namespace taeda::cpu
