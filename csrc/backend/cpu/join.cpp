// Joining: every input is moved to its place in the result.
#include "backend/cpu/ops/join.h"
#include "backend/cpu/engine/strided_copy.h"
#include "shape/join_rules.h"

namespace taeda::cpu {

namespace {
shape::Dims byte_strides(IntList strides, int64_t item) {
  shape::Dims result;
  for (int64_t stride : strides) result.push_back(stride * item);
  return result;
}
}  // namespace

void cat(TensorList tensors, int64_t dim, const Tensor& out) {
  if (out.numel() == 0) return;
  dim = wrap_dim(dim, out.dim());
  shape::Dims to = byte_strides(out.strides(), out.itemsize());
  char* place = out.data<char>();
  for (const Tensor& t : tensors) {
    if (shape::is_skipped_by_cat(t)) continue;
    shape::Dims from = byte_strides(t.strides(), t.itemsize());
    strided_copy(t.sizes(), {place, to.data(), out.dtype()}, {t.data<char>(), from.data(), t.dtype()});
    place += t.sizes()[dim] * to[dim];
  }
}

void stack(TensorList tensors, int64_t dim, const Tensor& out) {
  if (out.numel() == 0) return;
  dim = wrap_dim(dim, out.dim());
  shape::Dims to = byte_strides(out.strides(), out.itemsize());
  int64_t step = to[dim];
  to.erase(dim);
  char* place = out.data<char>();
  for (const Tensor& t : tensors) {
    shape::Dims from = byte_strides(t.strides(), t.itemsize());
    strided_copy(t.sizes(), {place, to.data(), out.dtype()}, {t.data<char>(), from.data(), t.dtype()});
    place += step;
  }
}

}  // namespace taeda::cpu
