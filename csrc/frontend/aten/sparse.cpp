// Sparse tensors as PyTorch's C++ makes them and takes them apart.
#include <torch/csrc/autograd/custom_function.h>

#include "frontend/aten/sparse_parts.h"

namespace at {

namespace {

using namespace sparse;

Tensor with_options(const Tensor& values, const TensorOptions& options) {
  return values.to(options.device_opt().value_or(values.device()),
                   options.has_dtype() ? options.dtype().toScalarType() : values.scalar_type());
}
Tensor finished(Tensor made, const TensorOptions& options) {
  return made.requires_grad() ? made : torch::detail::with_grad(std::move(made), options);
}

// The smallest size that has all of these indices.
int64_t extent_of(const Tensor& indices) {
  const int64_t last = indices.numel() ? indices.max().item<int64_t>() : -1;
  TORCH_CHECK(last < INT64_MAX, "no size has the index ", last);
  return last + 1;
}

std::vector<int64_t> smallest_sizes(const Tensor& indices, const Tensor& values) {
  std::vector<int64_t> sizes;
  for (int64_t d = 0; d < indices.size(0); ++d) sizes.push_back(extent_of(indices[d]));
  for (int64_t size : values.sizes().slice(1)) sizes.push_back(size);
  return sizes;
}

void check_order(const Tensor& indices, IntArrayRef sizes) {
  TORCH_CHECK(!(flat_keys(indices, sizes).diff() <= 0).any().item<bool>(),
              "sparse_coo_tensor: is_coalesced = true is for indices that rise, each there once");
}

Tensor coordinates(const Tensor& given, const Tensor& given_values, OptionalIntArrayRef size,
                   const TensorOptions& options, std::optional<bool> is_coalesced, bool check) {
  Tensor values = with_options(given_values, options);
  Tensor indices = given.detach().to(values.device(), kLong);
  TORCH_CHECK(indices.dim() == 2,
              "sparse_coo_tensor: indices must have shape (sparse dimensions, stored elements); got ", indices.sizes());
  if (values.dim() == 0) values = values.expand({indices.size(1)});
  std::vector<int64_t> sizes = size ? size->vec() : smallest_sizes(indices, values);
  TORCH_CHECK(static_cast<int64_t>(sizes.size()) == indices.size(0) + values.dim() - 1,
              "sparse_coo_tensor: ", indices.size(0), " rows of indices and values of shape ", values.sizes(), " make ",
              indices.size(0) + values.dim() - 1, " dimensions; got size ", IntArrayRef(sizes));
  if (check) {
    check_below(indices, IntArrayRef(sizes).slice(0, static_cast<size_t>(indices.size(0))));
    if (is_coalesced.value_or(false)) check_order(indices, IntArrayRef(sizes));
  }
  return finished(with_values({Layout::Sparse, indices, {}, sizes, is_coalesced.value_or(false)}, values), options);
}

void check_compressed(const Pattern& p, int64_t width) {
  const Tensor &pointers = p.indices, &plain = p.plain;
  const char* name = is_by_rows(p.layout) ? "column" : "row";
  auto any = [](const Tensor& marks) { return marks.any().item<bool>(); };
  const int64_t count = plain.size(-1), limit = p.sizes[static_cast<size_t>(p.batch()) + is_by_rows(p.layout)] / width;
  TORCH_CHECK(!any(pointers.select(-1, 0) != 0) && !any(pointers.select(-1, -1) != count),
              "compressed indices must begin with 0 and end with the number of elements, ", count);
  Tensor steps = pointers.diff(1, -1);
  TORCH_CHECK(!any((steps < 0).logical_or(steps > limit)), "compressed indices must rise by 0 to ", limit,
              ", the number of places in a line");
  TORCH_CHECK(plain.numel() == 0 || !any((plain < 0).logical_or(plain >= limit)), name, " indices must be from 0 to ",
              limit - 1);
  if (count < 2) return;
  std::vector<int64_t> wider = plain.sizes().vec();
  ++wider.back();
  Tensor starts = at::zeros(wider, TensorOptions(kBool)).scatter_(-1, pointers.to(kLong), true);
  TORCH_CHECK(!any((plain.diff(1, -1) <= 0).logical_and(starts.slice(-1, 1, count).logical_not())), name,
              " indices must rise within each line, each there once");
}

Tensor compressed_tensor(const Tensor& pointers, const Tensor& plain, const Tensor& given, OptionalIntArrayRef size,
                         const TensorOptions& options, Layout layout, bool check) {
  TORCH_CHECK(layout != Layout::Strided && layout != Layout::Sparse && layout != Layout::Jagged,
              "sparse_compressed_tensor: the layout must be a compressed one; got ", layout);
  Tensor values = with_options(given, options);
  const bool blocks = has_blocks(layout), rows = is_by_rows(layout);
  TORCH_CHECK(pointers.dim() > 0 && pointers.dim() == plain.dim() && values.dim() >= pointers.dim() + 2 * blocks,
              "a compressed tensor: both indices must have the same dimensions, and values no fewer; got shapes ",
              pointers.sizes(), ", ", plain.sizes(), " and ", values.sizes());
  const int64_t batch = pointers.dim() - 1, height = blocks ? values.size(batch + 1) : 1,
                width = blocks ? values.size(batch + 2) : 1;
  Pattern p{layout, pointers.detach().to(values.device()), plain.detach().to(values.device()), {}, false};
  if (size) {
    p.sizes = size->vec();
  } else {
    const int64_t lines = pointers.size(-1) - 1, across = extent_of(plain);
    TORCH_CHECK(across <= INT64_MAX / std::max<int64_t>({height, width, 1}), "no size has blocks at the index ",
                across - 1);
    p.sizes = pointers.sizes().slice(0, static_cast<size_t>(batch)).vec();
    p.sizes.push_back((rows ? lines : across) * height);
    p.sizes.push_back((rows ? across : lines) * width);
    for (int64_t d = batch + 1 + 2 * blocks; d < values.dim(); ++d) p.sizes.push_back(values.size(d));
  }
  Tensor made = with_values(p, values);
  if (check && pointers.numel()) check_compressed(p, rows ? width : height);
  return finished(made, options);
}

Tensor part(const Tensor& t, const char* name, bool first, bool by_rows) {
  const SparseImpl& impl = impl_of(t, name);
  TORCH_CHECK(impl.layout() != Layout::Sparse && is_by_rows(impl.layout()) == by_rows, name,
              "() is for tensors compressed by ", by_rows ? "rows" : "columns", "; got layout ", impl.layout());
  Pattern p = pattern_of(t);
  return first ? p.indices : p.plain;
}

// The way whose gradient is not restricted to the pattern.
struct DenseWithWholeGrad : torch::autograd::Function<DenseWithWholeGrad> {
  static Tensor forward(torch::autograd::AutogradContext*, Tensor sparse) { return sparse::to_dense(sparse.detach()); }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 torch::autograd::variable_list grads) {
    return grads;
  }
};

SparseImpl& coordinates_of(const Tensor& t, const char* name) {
  SparseImpl& impl = impl_of(t, name);
  TORCH_CHECK(impl.layout() == Layout::Sparse, name, "() is for tensors of coordinates; got layout ", impl.layout());
  return impl;
}
void check_coalesced(const Tensor& t, const char* name) {
  const SparseImpl& impl = impl_of(t, name);
  TORCH_CHECK(impl.layout() != Layout::Sparse || impl.is_coalesced(), name,
              "() takes a coalesced tensor, whose indices do not repeat: coalesce() it first, or take _", name,
              "() as they are");
}

}  // namespace

Tensor sparse_coo_tensor(IntArrayRef size, const TensorOptions& options) {
  Tensor indices = at::zeros({static_cast<int64_t>(size.size()), 0}, TensorOptions(kLong));
  Tensor values = at::zeros({0}, options.layout(Layout::Strided).requires_grad(false));
  return finished(with_values({Layout::Sparse, indices, {}, size.vec(), true}, values), options);
}
Tensor sparse_coo_tensor(const Tensor& indices, const Tensor& values, const TensorOptions& options,
                         std::optional<bool> is_coalesced) {
  return coordinates(indices, values, std::nullopt, options, is_coalesced, true);
}
Tensor sparse_coo_tensor(const Tensor& indices, const Tensor& values, IntArrayRef size, const TensorOptions& options,
                         std::optional<bool> is_coalesced) {
  return coordinates(indices, values, size, options, is_coalesced, true);
}
Tensor _sparse_coo_tensor_unsafe(const Tensor& indices, const Tensor& values, IntArrayRef size,
                                 const TensorOptions& options, std::optional<bool> is_coalesced) {
  return coordinates(indices, values, size, options, is_coalesced, false);
}

Tensor sparse_compressed_tensor(const Tensor& compressed_indices, const Tensor& plain_indices, const Tensor& values,
                                IntArrayRef size, const TensorOptions& options) {
  return compressed_tensor(compressed_indices, plain_indices, values, size, options, options.layout(), true);
}
Tensor sparse_compressed_tensor(const Tensor& compressed_indices, const Tensor& plain_indices, const Tensor& values,
                                const TensorOptions& options) {
  return compressed_tensor(compressed_indices, plain_indices, values, std::nullopt, options, options.layout(), true);
}
Tensor _sparse_compressed_tensor_unsafe(const Tensor& compressed_indices, const Tensor& plain_indices,
                                        const Tensor& values, IntArrayRef size, const TensorOptions& options) {
  return compressed_tensor(compressed_indices, plain_indices, values, size, options, options.layout(), false);
}
#define TAEDA_DEFINE_COMPRESSED(layout, name)                                                                        \
  Tensor sparse_##name##_tensor(const Tensor& pointers, const Tensor& plain, const Tensor& values, IntArrayRef size, \
                                const TensorOptions& options) {                                                      \
    return compressed_tensor(pointers, plain, values, size, options, Layout::layout, true);                          \
  }                                                                                                                  \
  Tensor sparse_##name##_tensor(const Tensor& pointers, const Tensor& plain, const Tensor& values,                   \
                                const TensorOptions& options) {                                                      \
    return compressed_tensor(pointers, plain, values, std::nullopt, options, Layout::layout, true);                  \
  }                                                                                                                  \
  Tensor _sparse_##name##_tensor_unsafe(const Tensor& pointers, const Tensor& plain, const Tensor& values,           \
                                        IntArrayRef size, const TensorOptions& options) {                            \
    return compressed_tensor(pointers, plain, values, size, options, Layout::layout, false);                         \
  }
TAEDA_FORALL_COMPRESSED(TAEDA_DEFINE_COMPRESSED)
#undef TAEDA_DEFINE_COMPRESSED

// --- parts
int64_t Tensor::_nnz() const {
  const SparseImpl& impl = impl_of(*this, "_nnz");
  return impl.stored();
}
int64_t Tensor::sparse_dim() const {
  const SparseImpl* impl = ::taeda::sparse_impl(*this);
  return impl ? impl->sparse_dim() : 0;
}
int64_t Tensor::dense_dim() const {
  const SparseImpl* impl = ::taeda::sparse_impl(*this);
  return impl ? impl->dense_dim() : dim();
}
bool Tensor::is_coalesced() const { return coordinates_of(*this, "is_coalesced").is_coalesced(); }
Tensor& Tensor::_coalesced_(bool coalesced) const {
  coordinates_of(*this, "_coalesced_").set_coalesced(coalesced);
  return const_cast<Tensor&>(*this);
}
Tensor Tensor::coalesce() const {
  coordinates_of(*this, "coalesce");
  return sparse::coalesced(*this);
}
Tensor Tensor::_indices() const {
  coordinates_of(*this, "_indices");
  return pattern_of(*this).indices;
}
Tensor Tensor::_values() const {
  const SparseImpl& impl = impl_of(*this, "_values");
  return Tensor(impl.parts().values).variable_data();
}
Tensor Tensor::indices() const {
  check_coalesced(*this, "indices");
  return _indices();
}
Tensor Tensor::values() const {
  check_coalesced(*this, "values");
  return values_of(*this);
}
Tensor Tensor::crow_indices() const { return part(*this, "crow_indices", true, true); }
Tensor Tensor::col_indices() const { return part(*this, "col_indices", false, true); }
Tensor Tensor::ccol_indices() const { return part(*this, "ccol_indices", true, false); }
Tensor Tensor::row_indices() const { return part(*this, "row_indices", false, false); }

// --- conversions
Tensor Tensor::to_dense(std::optional<ScalarType> dtype, std::optional<bool> masked_grad) const {
  Tensor dense = *this;
  if (::taeda::sparse_impl(*this))
    dense = masked_grad.value_or(true) ? sparse::to_dense(*this) : DenseWithWholeGrad::apply(*this);
  return dtype ? dense.to(*dtype) : dense;
}
Tensor Tensor::to_sparse(int64_t sparse_dim) const {
  TORCH_CHECK(sparse_dim >= (dim() > 0) && sparse_dim <= dim(), "to_sparse: sparse_dim must be from 1 to ", dim(),
              "; got ", sparse_dim);
  if (!::taeda::sparse_impl(*this)) return dense_to_coordinates(*this, sparse_dim);
  Tensor made = to_coordinates(*this);
  TORCH_CHECK(made.sparse_dim() == sparse_dim, "to_sparse: the tensor is sparse already, with ", made.sparse_dim(),
              " sparse dimensions; got sparse_dim = ", sparse_dim);
  return made;
}
Tensor Tensor::to_sparse(std::optional<Layout> layout, OptionalIntArrayRef blocksize,
                         std::optional<int64_t> dense_dim) const {
  const Layout wanted = layout.value_or(Layout::Sparse);
  if (wanted == Layout::Strided) return to_dense();
  TORCH_CHECK(blocksize.has_value() == has_blocks(wanted), "to_sparse: ",
              blocksize ? "a block size goes with layouts of blocks, not with " : "give the block size of layout ",
              wanted);
  const SparseImpl* impl = ::taeda::sparse_impl(*this);
  const int64_t dense = dense_dim.value_or(0), least = wanted == Layout::Sparse ? 0 : 2;
  TORCH_CHECK(impl || (dense >= 0 && dense <= dim() - least), "to_sparse: dense_dim must leave ", least,
              " sparse dimensions of ", dim(), "; got ", dense);
  if (impl && impl->layout() == wanted && !blocksize) return *this;
  Tensor whole = impl ? to_coordinates(*this) : dense_to_coordinates(*this, dim() - dense);
  if (wanted == Layout::Sparse) return whole;
  return compressed(sparse::coalesced(whole), wanted, whole.sparse_dim() - 2, blocksize);
}
Tensor Tensor::to_sparse_csr(std::optional<int64_t> dense_dim) const {
  return to_sparse(Layout::SparseCsr, std::nullopt, dense_dim);
}
Tensor Tensor::to_sparse_csc(std::optional<int64_t> dense_dim) const {
  return to_sparse(Layout::SparseCsc, std::nullopt, dense_dim);
}
Tensor Tensor::to_sparse_bsr(IntArrayRef blocksize, std::optional<int64_t> dense_dim) const {
  return to_sparse(Layout::SparseBsr, blocksize, dense_dim);
}
Tensor Tensor::to_sparse_bsc(IntArrayRef blocksize, std::optional<int64_t> dense_dim) const {
  return to_sparse(Layout::SparseBsc, blocksize, dense_dim);
}
Tensor Tensor::sparse_mask(const Tensor& mask) const {
  const SparseImpl& impl = impl_of(mask, "sparse_mask");
  TORCH_CHECK(sizes() == mask.sizes(), "sparse_mask: self and mask must have the same sizes; got ", sizes(), " and ",
              mask.sizes());
  Tensor places = impl.layout() == Layout::Sparse ? sparse::coalesced(mask) : mask;
  return with_values(pattern_of(places), values_at(*this, places));
}

}  // namespace at
