// Shape functions that ask for strides or for the numbers in a tensor, or make lists of many empty tensors.
#include "composite/ops/reshape.h"
#include "shape/elementwise.h"
#include "shape/view_rules.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

Tensor reshape(const Tensor& self, IntList shape) {
  shape::Dims sizes = shape::infer_size(shape, self.numel());
  if (auto strides = shape::view_strides(self.sizes(), self.strides(), sizes)) return ops::view(self, sizes);
  return ops::_unsafe_view(ops::clone(self, MemoryFormat::Contiguous), sizes);
}

namespace {
// Sections beyond the size of a dimension are empty tensors: a number that only a mistake asks for would fill the
// memory.
void check_sections(int64_t sections, int64_t size) {
  constexpr int64_t kMostEmpty = int64_t{1} << 20;
  TAEDA_CHECK(sections - size <= kMostEmpty, "of ", sections, " sections of a dimension of size ", size, ", all but ",
              size, " would be empty; at most ", kMostEmpty, " may be");
}
}  // namespace

std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  int64_t piece = shape::chunk_size(self, chunks, dim);
  if (piece > 0) return ops::split(self, piece, dim);
  check_sections(chunks, 0);
  return ops::split_with_sizes(self, std::vector<int64_t>(chunks, 0), dim);
}

std::vector<Tensor> tensor_split(const Tensor& self, const Tensor& where, int64_t dim) {
  TAEDA_CHECK(where.is_cpu() && where.dtype() == DType::Int64 && where.dim() <= 1,
              "sections or indices must be an int64 tensor on the CPU with at most one dimension; got ", where.dtype(),
              " on ", where.device(), " of shape ", where.sizes());
  std::vector<int64_t> numbers = shape::integers_of(where);
  if (where.dim() == 0) return ops::tensor_split(self, numbers[0], dim);
  return ops::tensor_split(self, IntList(numbers), dim);
}

std::vector<Tensor> unsafe_chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  int64_t piece = shape::chunk_size(self, chunks, dim);
  if (piece > 0) return ops::unsafe_split(self, piece, dim);
  check_sections(chunks, 0);
  return ops::unsafe_split_with_sizes(self, std::vector<int64_t>(chunks, 0), dim);
}

}  // namespace taeda::composite
