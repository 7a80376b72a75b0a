#include "backend/cpu/sparse/parts.h"

#include "taeda/ops/copy.h"

namespace taeda::cpu::sparse {

Indices::Indices(const Tensor& t, const char* name) {
  TAEDA_CHECK(t.dim() == 1, name, " must be a vector; got shape ", t.sizes());
  tensor_ = ops::contiguous(t.dtype() == DType::Int64 ? t : ops::_to_copy(t, DType::Int64));
  data_ = tensor_.data<int64_t>();
}

}  // namespace taeda::cpu::sparse
