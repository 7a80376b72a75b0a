// Shape functions made of views.
#include "shape/ops/reshape.h"
#include "shape/elementwise.h"
#include "shape/view_rules.h"
#include "taeda/core/warn.h"
#include "taeda/ops/complex_numbers.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

namespace {
template <class F>
std::vector<Tensor> from_each(TensorList tensors, F&& function) {
  std::vector<Tensor> result;
  result.reserve(tensors.size());
  for (const Tensor& t : tensors) result.push_back(function(t));
  return result;
}
}  // namespace

Tensor reshape(const Tensor& self, IntList shape) {
  shape::Dims sizes = shape::infer_size(shape, self.numel());
  if (auto strides = shape::view_strides(self.sizes(), self.strides(), sizes)) return ops::view(self, sizes);
  return ops::_unsafe_view(ops::clone(self, MemoryFormat::Contiguous), sizes);
}

std::vector<Tensor> broadcast_tensors(TensorList tensors) {
  std::vector<shape::Operand> operands(tensors.begin(), tensors.end());
  shape::Dims sizes = shape::broadcast_sizes(operands);
  return from_each(tensors, [&](const Tensor& t) { return ops::expand(t, sizes); });
}

Tensor flatten(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  start_dim = wrap_dim(start_dim, self.dim());
  end_dim = wrap_dim(end_dim, self.dim());
  TAEDA_CHECK(start_dim <= end_dim, "start_dim (", start_dim, ") must not lie behind end_dim (", end_dim, ")");
  if (self.dim() == 0) return ops::reshape(self, kList<int64_t, 1, 1>);
  if (start_dim == end_dim) return self;
  shape::Dims sizes;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d > start_dim && d <= end_dim)
      sizes[sizes.size() - 1] *= self.sizes()[d];
    else
      sizes.push_back(self.sizes()[d]);
  }
  return ops::reshape(self, sizes);
}

Tensor unflatten(const Tensor& self, int64_t dim, IntList sizes) {
  dim = wrap_dim(dim, self.dim());
  TAEDA_CHECK(!sizes.empty(), "sizes must hold at least one size");
  shape::Dims all(self.sizes().first(dim));
  for (int64_t size : shape::infer_size(sizes, self.sizes()[dim])) all.push_back(size);
  for (int64_t size : self.sizes().subspan(dim + 1)) all.push_back(size);
  return ops::view(self, all);
}

Tensor ravel(const Tensor& self) { return ops::reshape(ops::contiguous(self), kValues<int64_t, -1>); }

Tensor atleast_1d(const Tensor& self) { return self.dim() == 0 ? ops::reshape(self, kList<int64_t, 1, 1>) : self; }
Tensor atleast_2d(const Tensor& self) {
  if (self.dim() >= 2) return self;
  return self.dim() == 0 ? ops::reshape(self, kList<int64_t, 2, 1>) : ops::unsqueeze(self, 0);
}
Tensor atleast_3d(const Tensor& self) {
  if (self.dim() >= 3) return self;
  if (self.dim() == 0) return ops::reshape(self, kList<int64_t, 3, 1>);
  return ops::unsqueeze(self.dim() == 1 ? ops::unsqueeze(self, 0) : self, -1);
}
std::vector<Tensor> atleast_1d(TensorList tensors) {
  return from_each(tensors, [](const Tensor& t) { return ops::atleast_1d(t); });
}
std::vector<Tensor> atleast_2d(TensorList tensors) {
  return from_each(tensors, [](const Tensor& t) { return ops::atleast_2d(t); });
}
std::vector<Tensor> atleast_3d(TensorList tensors) {
  return from_each(tensors, [](const Tensor& t) { return ops::atleast_3d(t); });
}

// --- the order of dimensions

Tensor numpy_T(const Tensor& self) {
  if (self.dim() != 2 && self.dim() != 0)
    warn(str(
        "x.T is for matrices, and deprecated for a tensor of ", self.dim(),
        " dimensions; x.mT transposes its matrices, x.permute(*range(x.dim() - 1, -1, -1)) reverses all dimensions"));
  shape::Dims dims;
  for (int64_t d = self.dim(); d-- > 0;) dims.push_back(d);
  return ops::permute(self, dims);
}

Tensor mT(const Tensor& self) {
  if (self.dim() == 0) return ops::alias(self);
  TAEDA_CHECK(self.dim() >= 2, "x.mT needs at least two dimensions; got shape ", self.sizes());
  return ops::transpose(self, -2, -1);
}

Tensor matrix_H(const Tensor& self) {
  TAEDA_CHECK(self.dim() == 2 || self.dim() == 0, "x.H is for matrices; got shape ", self.sizes(),
              ", for which there is x.mH");
  return self.dim() == 0 ? ops::conj(self) : ops::conj(ops::transpose(self, 0, 1));
}

Tensor mH(const Tensor& self) {
  if (self.dim() == 0) return ops::conj(self);
  TAEDA_CHECK(self.dim() >= 2, "x.mH needs at least two dimensions; got shape ", self.sizes());
  return ops::conj(ops::transpose(self, -2, -1));
}

Tensor adjoint(const Tensor& self) {
  TAEDA_CHECK(self.dim() >= 2 || self.dim() == 0, "a vector has no adjoint; got shape ", self.sizes());
  return self.dim() == 0 ? ops::conj(self) : ops::conj(ops::transpose(self, -2, -1));
}

Tensor movedim(const Tensor& self, IntList source, IntList destination) {
  TAEDA_CHECK(source.size() == destination.size(), "source ", source, " and destination ", destination,
              " must name as many dimensions");
  std::vector<int64_t> order(self.dim(), -1);
  std::vector<bool> moved(self.dim());
  for (size_t i = 0; i < source.size(); ++i) {
    int64_t from = wrap_dim(source[i], self.dim()), to = wrap_dim(destination[i], self.dim());
    if (self.dim() == 0) continue;
    TAEDA_CHECK(!moved[from], "source ", source, " names dimension ", from, " twice");
    TAEDA_CHECK(order[to] < 0, "destination ", destination, " names dimension ", to, " twice");
    moved[from] = true;
    order[to] = from;
  }
  int64_t next = 0;
  for (int64_t& dim : order) {
    if (dim >= 0) continue;
    while (moved[next]) ++next;
    dim = next++;
  }
  return ops::permute(self, order);
}

Tensor movedim(const Tensor& self, int64_t source, int64_t destination) {
  return composite::movedim(self, IntList(&source, 1), IntList(&destination, 1));
}

// --- parts

Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  TAEDA_CHECK(self.dim() > 0, "a tensor without dimensions cannot be narrowed");
  TAEDA_CHECK(length >= 0, "length must not be negative; got ", length);
  int64_t size = self.size(dim);
  TAEDA_CHECK_INDEX(start >= -size && start <= size, "start (", start, ") is out of range for dimension ", dim,
                    " of size ", size);
  if (start < 0) start += size;
  TAEDA_CHECK(start <= size - length, "start (", start, ") plus length (", length, ") exceeds size ", size,
              " of dimension ", dim);
  return ops::slice(self, dim, start, start + length, 1);
}

Tensor narrow(const Tensor& self, int64_t dim, const Tensor& start, int64_t length) {
  TAEDA_CHECK(start.dim() == 0 && is_integral(start.dtype()), "start must be a 0-d integer tensor; got ", start.dtype(),
              " of shape ", start.sizes());
  return ops::narrow(self, dim, shape::integers_of(start)[0], length);
}

Tensor narrow_copy(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  TAEDA_CHECK(dim < self.dim(), "dimension ", dim, " is out of range for a tensor of ", self.dim(),
              " dimensions");  // PyTorch's type of error, as nowhere else
  return ops::clone(ops::narrow(self, dim, start, length), MemoryFormat::Contiguous);
}

std::vector<Tensor> split(const Tensor& self, IntList split_size, int64_t dim) {
  return ops::split_with_sizes(self, split_size, dim);
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

std::vector<Tensor> tensor_split(const Tensor& self, int64_t sections, int64_t dim) {
  TAEDA_CHECK(self.dim() > 0, "a tensor without dimensions cannot be split");
  dim = wrap_dim(dim, self.dim());
  TAEDA_CHECK(sections > 0, "the number of sections must be positive; got ", sections);
  int64_t size = self.sizes()[dim], larger = size % sections, start = 0;
  check_sections(sections, size);
  std::vector<Tensor> result;
  result.reserve(sections);
  for (int64_t i = 0; i < sections; ++i) {
    int64_t end = start + size / sections + (i < larger);
    result.push_back(ops::slice(self, dim, start, end));
    start = end;
  }
  return result;
}

std::vector<Tensor> tensor_split(const Tensor& self, IntList indices, int64_t dim) {
  TAEDA_CHECK(self.dim() > 0, "a tensor without dimensions cannot be split");
  dim = wrap_dim(dim, self.dim());
  std::vector<Tensor> result;
  int64_t start = 0;
  for (int64_t end : indices) {
    result.push_back(ops::slice(self, dim, start, end));
    start = end;
  }
  result.push_back(ops::slice(self, dim, start, self.sizes()[dim]));
  return result;
}

std::vector<Tensor> tensor_split(const Tensor& self, const Tensor& where, int64_t dim) {
  TAEDA_CHECK(where.is_cpu() && where.dtype() == DType::Int64 && where.dim() <= 1,
              "sections or indices must be an int64 tensor on the CPU with at most one dimension; got ", where.dtype(),
              " on ", where.device(), " of shape ", where.sizes());
  std::vector<int64_t> numbers = shape::integers_of(where);
  if (where.dim() == 0) return ops::tensor_split(self, numbers[0], dim);
  return ops::tensor_split(self, IntList(numbers), dim);
}

namespace {
int64_t check_split(const Tensor& self, int64_t rank, int64_t dim) {
  TAEDA_CHECK(self.dim() >= rank, "at least ", rank, " dimensions are needed; got shape ", self.sizes());
  return dim;
}
std::vector<Tensor> split_evenly(const Tensor& self, int64_t sections, int64_t dim) {
  TAEDA_CHECK(sections > 0 && self.sizes()[dim] % sections == 0, "dimension ", dim, " of size ", self.sizes()[dim],
              " cannot be split into ", sections, " equal pieces; tensor_split allows unequal ones");
  return ops::tensor_split(self, sections, dim);
}
int64_t hsplit_dim(const Tensor& self) { return check_split(self, 1, self.dim() == 1 ? 0 : 1); }
}  // namespace

std::vector<Tensor> hsplit(const Tensor& self, int64_t sections) {
  return split_evenly(self, sections, hsplit_dim(self));
}
std::vector<Tensor> hsplit(const Tensor& self, IntList indices) {
  return ops::tensor_split(self, indices, hsplit_dim(self));
}
std::vector<Tensor> vsplit(const Tensor& self, int64_t sections) {
  return split_evenly(self, sections, check_split(self, 2, 0));
}
std::vector<Tensor> vsplit(const Tensor& self, IntList indices) {
  return ops::tensor_split(self, indices, check_split(self, 2, 0));
}
std::vector<Tensor> dsplit(const Tensor& self, int64_t sections) {
  return split_evenly(self, sections, check_split(self, 3, 2));
}
std::vector<Tensor> dsplit(const Tensor& self, IntList indices) {
  return ops::tensor_split(self, indices, check_split(self, 3, 2));
}

std::vector<Tensor> unsafe_chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  int64_t piece = shape::chunk_size(self, chunks, dim);
  if (piece > 0) return ops::unsafe_split(self, piece, dim);
  check_sections(chunks, 0);
  return ops::unsafe_split_with_sizes(self, std::vector<int64_t>(chunks, 0), dim);
}

}  // namespace taeda::composite
