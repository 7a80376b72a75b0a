// Copies and fills.
#include "backend/cpu/ops/copy.h"
#include "backend/cpu/engine/strided_copy.h"

namespace taeda::cpu {

namespace {
// As in PyTorch, one element of a half type takes a number that is too large as infinity, several do not.
Scalar for_one(const Tensor& self, const Scalar& value) {
  bool rounds = self.numel() == 1 && value.category() != Category::Complex;
  if (rounds && self.dtype() == DType::Float16) return Scalar(convert<double>(convert<Half>(value.as_double())));
  if (rounds && self.dtype() == DType::BFloat16) return Scalar(convert<double>(convert<BFloat16>(value.as_double())));
  return value;
}
}  // namespace

void fill_(const Tensor& self, const Scalar& value) {
  alignas(16) char element[sizeof(complex128)];
  store_number(self.dtype(), for_one(self, value), element);
  fill_elements(self, element);
}

void zero_(const Tensor& self) {
  constexpr char kZero[sizeof(complex128)] = {};
  fill_elements(self, kZero);
}

void clone(const Tensor& self, std::optional<MemoryFormat>, const Tensor& out) { strided_copy(out, self); }

}  // namespace taeda::cpu
