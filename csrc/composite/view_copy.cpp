// Contiguous copies.
#include "composite/ops/view_copy.h"
#include "shape/spec.h"
#include "taeda/autograd/record.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

namespace {
void copy_each(const char* name, TensorList tensors, TensorList out) {
  TAEDA_CHECK(tensors.size() == out.size(), "out must hold ", tensors.size(), " tensors; got ", out.size());
  for (size_t i = 0; i < out.size(); ++i) {
    TAEDA_CHECK(out[i].dtype() == tensors[i].dtype(), "out must be ", tensors[i].dtype(), "; got ", out[i].dtype());
    autograd::check_out(name, tensors[i], out[i]);
    shape::resize_out(out[i], tensors[i].sizes());
    ops::copy_(out[i], tensors[i]);
  }
}
}  // namespace

void split_copy(const Tensor& self, int64_t split_size, int64_t dim, TensorList out) {
  copy_each("split_copy", ops::split(self, split_size, dim), out);
}
void split_with_sizes_copy(const Tensor& self, IntList split_sizes, int64_t dim, TensorList out) {
  copy_each("split_with_sizes_copy", ops::split_with_sizes(self, split_sizes, dim), out);
}
void unbind_copy(const Tensor& self, int64_t dim, TensorList out) {
  copy_each("unbind_copy", ops::unbind(self, dim), out);
}

}  // namespace taeda::composite
