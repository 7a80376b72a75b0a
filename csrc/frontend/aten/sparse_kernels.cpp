// What a program without Python computes with sparse tensors; in Python the kernels of taeda/sparse take this place.
#include <torch/library.h>

#include "frontend/aten/sparse_parts.h"

namespace at::sparse {

namespace {

Tensor in_layout_of(const Tensor& model, const Tensor& t) {
  if (!has_blocks(model.layout())) return t.to_sparse(model.layout());
  const ::taeda::Tensor& values = impl_of(model, "to_sparse").parts().values;
  const size_t batch = static_cast<size_t>(pattern_of(model).batch());
  return t.to_sparse(model.layout(), IntArrayRef{values.sizes()[batch + 1], values.sizes()[batch + 2]});
}

// The kernels compute products of these integers alone.
Tensor widened(const Tensor& t) { return c10::isIntegralType(t.scalar_type(), false) ? t.to(kLong) : t; }

struct Rows {
  Tensor pointers, columns, values;
};
Rows rows_of(const Tensor& matrix) {
  TORCH_CHECK(matrix.dim() == 2, "mm: a sparse factor must be a matrix; got sizes ", matrix.sizes());
  Tensor t = matrix.layout() == Layout::SparseCsr ? matrix : matrix.to_sparse(Layout::SparseCsr);
  return {t.crow_indices().to(kLong), t.col_indices().to(kLong), widened(values_of(t))};
}

Tensor mm(const Tensor& self, const Tensor& mat2) {
  TORCH_CHECK(self.dim() == 2 && mat2.dim() == 2 && self.size(1) == mat2.size(0), "mm: sizes do not fit together; got ",
              self.sizes(), " and ", mat2.sizes());
  const ScalarType dtype = self.scalar_type();
  TORCH_CHECK(dtype == mat2.scalar_type() && dtype != kBool, "mm: both factors must have one dtype, and not bool; got ",
              dtype, " and ", mat2.scalar_type());
  const bool left = ::taeda::sparse_impl(self), right = ::taeda::sparse_impl(mat2);
  if (left && right) {
    Rows a = rows_of(self), b = rows_of(mat2);
    auto [pointers, columns, values] =
        at::_sparse_matmul(a.pointers, a.columns, a.values, b.pointers, b.columns, b.values, mat2.size(1));
    Tensor made = with_values({Layout::SparseCsr, pointers, columns, {self.size(0), mat2.size(1)}}, values.to(dtype));
    return in_layout_of(self, made);
  }
  if (left) {
    Rows a = rows_of(self);
    return at::_csr_mm(a.pointers, a.columns, a.values, widened(mat2)).to(dtype);
  }
  Rows b = rows_of(mat2);
  return at::_sparse_mm_transposed(b.pointers, b.columns, b.values, widened(self).t(), mat2.size(1)).t().to(dtype);
}

Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  Tensor made = sparse::mm(mat1, mat2) * alpha;
  const bool unread = beta.equal(0) && !::taeda::sparse_impl(self);
  return unread ? made.to_dense() : self * beta + made;
}

Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  if (!::taeda::sparse_impl(self)) return self + sparse::to_dense(other) * alpha;
  TORCH_CHECK(::taeda::sparse_impl(other) && self.sizes() == other.sizes() && self.sparse_dim() == other.sparse_dim(),
              "add: a sparse tensor and another of its sizes, dense sizes included, can be added; got ", self.sizes(),
              " and ", other.sizes(), ::taeda::sparse_impl(other) ? "" : ", which is dense");
  Elements a = elements_of(to_coordinates(self)), b = elements_of(to_coordinates(other));
  Tensor values = at::cat({a.values, b.values * alpha});
  Tensor both = coalesced(
      with_values({Layout::Sparse, at::cat({a.indices, b.indices}, 1), {}, self.sizes().vec(), false}, values));
  return in_layout_of(self, both);
}

Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha) { return sparse::add(self, other, -alpha); }

Tensor on_values(const Tensor& self, const Tensor& values) { return with_values(pattern_of(self), values); }

Tensor mul(const Tensor& self, const Tensor& other) {
  const Tensor& sparse = ::taeda::sparse_impl(self) ? self : other;
  const Tensor& factor = ::taeda::sparse_impl(self) ? other : self;
  if (!::taeda::sparse_impl(factor) && factor.dim() == 0) return on_values(sparse, values_of(sparse) * factor);
  TORCH_CHECK(self.sizes() == other.sizes(), "mul: sizes must be equal where a tensor is sparse; got ", self.sizes(),
              " and ", other.sizes());
  Tensor known = sparse.is_sparse() ? coalesced(sparse) : sparse;
  return on_values(known, values_of(known) * values_at(factor, known));
}
Tensor mul_number(const Tensor& self, const Scalar& other) { return on_values(self, values_of(self) * other); }
Tensor div(const Tensor& self, const Tensor& other) {
  TORCH_CHECK(other.dim() == 0, "div: a sparse tensor is divided by numbers; got sizes ", other.sizes());
  return on_values(self, values_of(self) / other);
}
Tensor div_number(const Tensor& self, const Scalar& other) { return on_values(self, values_of(self) / other); }
Tensor neg(const Tensor& self) { return on_values(self, -values_of(self)); }
Tensor sum(const Tensor& self, std::optional<ScalarType> dtype) { return values_of(self).sum(dtype); }
Tensor clone(const Tensor& self, std::optional<MemoryFormat>) {
  Pattern p = pattern_of(self);
  p.indices = p.indices.clone();
  if (p.plain.defined()) p.plain = p.plain.clone();
  return with_values(p, values_of(self).clone());
}
Tensor detach(const Tensor& self) { return self.variable_data(); }

Tensor empty(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout>, std::optional<Device> device,
             std::optional<bool>, std::optional<MemoryFormat>) {
  return at::sparse_coo_tensor(size, TensorOptions().dtype(dtype).device(device));
}

Layout turned(Layout layout) {
  if (has_blocks(layout)) return is_by_rows(layout) ? Layout::SparseBsc : Layout::SparseBsr;
  return is_by_rows(layout) ? Layout::SparseCsc : Layout::SparseCsr;
}

Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  const int64_t a = ::taeda::wrap_dim(dim0, self.dim()), b = ::taeda::wrap_dim(dim1, self.dim());
  if (!self.is_sparse() && a != b) {  // rows and columns change their names
    Pattern p = pattern_of(self);
    const int64_t batch = p.batch();
    TORCH_CHECK(std::min(a, b) == batch && std::max(a, b) == batch + 1, "transpose: of layout ", p.layout,
                " rows and columns change places; got dimensions ", dim0, " and ", dim1);
    Tensor values = values_of(self);
    if (has_blocks(p.layout)) values = values.transpose(batch + 1, batch + 2);
    p.layout = turned(p.layout);
    std::swap(p.sizes[static_cast<size_t>(a)], p.sizes[static_cast<size_t>(b)]);
    return with_values(p, values);
  }
  Tensor t = to_coordinates(self);
  TORCH_CHECK(a < t.sparse_dim() && b < t.sparse_dim(), "transpose: both dimensions must be sparse; got ", dim0,
              " and ", dim1, " of ", t.sparse_dim());
  Elements e = elements_of(t);
  Tensor order = at::arange(t.sparse_dim(), kLong);
  order[a] = b;
  order[b] = a;
  std::vector<int64_t> sizes = self.sizes().vec();
  std::swap(sizes[static_cast<size_t>(a)], sizes[static_cast<size_t>(b)]);
  return with_values({Layout::Sparse, e.indices.index_select(0, order), {}, sizes, a == b && t.is_coalesced()},
                     e.values);
}
Tensor t(const Tensor& self) { return sparse::transpose(self, 0, 1); }

void load_kernels() {
  ::taeda::before_first_sparse.store(nullptr, std::memory_order_release);
  for (c10::DispatchKey key : {c10::DispatchKey::SparseCPU, c10::DispatchKey::SparseCsrCPU}) {
    auto* library = new torch::Library(torch::Library::IMPL, "aten", key, __FILE__, __LINE__);
    library->impl("mm", at::sparse::mm);
    library->impl("addmm", at::sparse::addmm);
    library->impl("add.Tensor", at::sparse::add);
    library->impl("sub.Tensor", at::sparse::sub);
    library->impl("mul.Tensor", at::sparse::mul);
    library->impl("mul.Scalar", mul_number);
    library->impl("div.Tensor", at::sparse::div);
    library->impl("div.Scalar", div_number);
    library->impl("neg", at::sparse::neg);
    library->impl("sum", at::sparse::sum);
    library->impl("clone", at::sparse::clone);
    library->impl("detach", at::sparse::detach);
    library->impl("transpose.int", at::sparse::transpose);
    library->impl("t", at::sparse::t);
    if (key == c10::DispatchKey::SparseCPU) library->impl("empty.memory_format", at::sparse::empty);
  }
}
// Python's, which is there first in a process that has it, stays.
[[maybe_unused]] const bool set = [] {
  void (*none)() = nullptr;
  return !::taeda::python_hooks.decref && ::taeda::before_first_sparse.compare_exchange_strong(none, load_kernels);
}();

}  // namespace

}  // namespace at::sparse
