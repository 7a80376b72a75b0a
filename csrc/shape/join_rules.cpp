#include "shape/join_rules.h"

#include "shape/view_rules.h"

namespace taeda::shape {

namespace {

// The dtype that all promote to, whatever their ranks, and a check that they share a device.
DType joint_dtype(TensorList tensors) {
  DType dtype = DType::Undefined;
  for (const Tensor& t : tensors) {
    TAEDA_CHECK(t.device() == tensors[0].device(), "all tensors must be on one device; got ", tensors[0].device(),
                " and ", t.device());
    dtype = promote(dtype, t.dtype());
  }
  return dtype;
}

Dims strides_in(IntList sizes, MemoryFormat format) {
  return format == MemoryFormat::Contiguous ? Dims() : Dims(contiguous_strides(sizes, format));
}

}  // namespace

Spec cat(TensorList tensors, int64_t dim) {
  TAEDA_CHECK_VALUE(!tensors.empty(), "at least one tensor is needed; got an empty list");
  DType dtype = joint_dtype(tensors);
  const Tensor* first = nullptr;
  Dims sizes;
  MemoryFormat format = MemoryFormat::Contiguous;
  bool contiguous = false;  // one that is settles it for the result
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    TAEDA_CHECK(t.dim() > 0, "tensor ", i,
                " has no dimensions, so that it cannot be joined; stack makes a new dimension");
    MemoryFormat own = suggested_format(t);
    contiguous |= own == MemoryFormat::Contiguous;
    if (is_skipped_by_cat(t)) continue;
    if (!first) {
      first = &t;
      dim = wrap_dim(dim, t.dim());
      sizes = t.sizes();
      format = own;
      continue;
    }
    TAEDA_CHECK(t.dim() == first->dim(), "all tensors must have as many dimensions; got shapes ", first->sizes(),
                " and ", t.sizes());
    for (int64_t d = 0; d < t.dim(); ++d)
      TAEDA_CHECK(d == dim || t.sizes()[d] == sizes[d], "all sizes but that of dimension ", dim, " must agree; tensor ",
                  i, " has shape ", t.sizes(), ", an earlier one ", first->sizes());
    sizes[dim] += t.sizes()[dim];
  }
  if (!first) return {{0}, dtype};
  return {sizes, dtype, strides_in(sizes, contiguous ? MemoryFormat::Contiguous : format)};
}

Spec stack(TensorList tensors, int64_t dim) {
  TAEDA_CHECK(!tensors.empty(), "at least one tensor is needed; got an empty list");
  DType dtype = joint_dtype(tensors);
  const Tensor& first = tensors[0];
  dim = wrap_dim(dim, first.dim() + 1);
  MemoryFormat format = suggested_format(first);
  for (const Tensor& t : tensors) {
    TAEDA_CHECK(std::ranges::equal(t.sizes(), first.sizes()), "all tensors must have one shape; entry 0 has ",
                first.sizes(), ", entry ", &t - tensors.data(), " has ", t.sizes());
    if (suggested_format(t) != format) format = MemoryFormat::Contiguous;
  }
  int64_t count = static_cast<int64_t>(tensors.size());
  Spec result{first.sizes(), dtype};
  if (format != MemoryFormat::Contiguous && dim < first.dim()) {
    Dims joined(first.sizes());
    joined[dim] *= count;
    result.strides = contiguous_strides(joined, format);
    result.strides.insert(dim, first.sizes()[dim] * result.strides[dim]);
  }
  result.sizes.insert(dim, count);
  return result;
}

Spec repeat(const Tensor& self, IntList repeats) {
  int64_t lead = static_cast<int64_t>(repeats.size()) - self.dim();
  TAEDA_CHECK(lead >= 0, "repeats ", repeats, " must have a number for each dimension of shape ", self.sizes());
  Dims sizes(repeats);
  for (int64_t d = 0; d < static_cast<int64_t>(repeats.size()); ++d) {
    TAEDA_CHECK(repeats[d] >= 0, "repeats must not be negative; got ", repeats);
    int64_t size = d < lead ? 1 : self.sizes()[d - lead];
    TAEDA_CHECK(!__builtin_mul_overflow(size, repeats[d], &sizes[d]), "repeats ", repeats, " of shape ", self.sizes(),
                " have more elements than an int64 counts");
  }
  return {sizes, self.dtype()};
}

Spec flip(const Tensor& self, IntList dims) {
  std::vector<bool> seen(std::max<int64_t>(self.dim(), 1));
  for (int64_t dim : dims) {
    int64_t d = wrap_dim(dim, self.dim());
    TAEDA_CHECK(!seen[d], "dims ", dims, " names dimension ", d, " twice");
    seen[d] = true;
  }
  return {self.sizes(), self.dtype(), strides_for(self, MemoryFormat::Preserve)};
}

Spec roll(const Tensor& self, IntList shifts, IntList dims) {
  TAEDA_CHECK(!shifts.empty(), "shifts must hold at least one number");
  TAEDA_CHECK(shifts.size() == dims.size() || (dims.empty() && shifts.size() == 1),
              "there must be a shift for each of dims; got ", shifts, " and ", dims);
  for (int64_t dim : dims) {
    TAEDA_CHECK_INDEX(self.dim() > 0, "a tensor without dimensions has no dimension ", dim);
    wrap_dim(dim, self.dim());
  }
  return {self.sizes(), self.dtype()};
}

}  // namespace taeda::shape
