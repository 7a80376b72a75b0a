// x.index({...}): numbers, slices, None and ... become views; tensors one index call over what the views left.
#include <ATen/Functions.h>
#include <taeda/ops.h>

namespace at::indexing {

namespace {

struct Selection {
  Tensor view;
  std::vector<::taeda::Tensor> indices;  // by dimension of `view`; undefined: all of it
};

bool is_mask(const ::taeda::Tensor& t) {
  return t.dtype() == ::taeda::DType::Bool || t.dtype() == ::taeda::DType::UInt8;
}

void put(Selection& selection, int64_t dim, const Tensor& index) {
  int64_t covered = 0;  // a mask before it is one index of several dimensions
  for (const ::taeda::Tensor& t : selection.indices) covered += t.defined() && is_mask(t) ? t.dim() : 1;
  selection.indices.resize(selection.indices.size() + static_cast<size_t>(dim - covered));
  selection.indices.push_back(index);
}

int64_t dims_taken(ArrayRef<TensorIndex> indices) {
  int64_t count = 0;
  for (const TensorIndex& index : indices)
    if (index.is_tensor())
      count += is_mask(index.tensor()) ? index.tensor().dim() : 1;
    else
      count += index.is_integer() || index.is_slice();
  return count;
}

void take(Selection& selection, int64_t& dim, const Tensor& index) {
  if (index.dim() > 0) {
    put(selection, dim, index);
    dim += is_mask(index) ? index.dim() : 1;
  } else if (is_mask(index)) {
    selection.view = selection.view.unsqueeze(dim);
    put(selection, dim++, index.unsqueeze(0).nonzero().select(1, 0));
  } else {
    TORCH_CHECK_INDEX(c10::isIntegralType(index.scalar_type(), false),
                      "an index is an integer or a truth value; got a ", index.scalar_type());
    selection.view = selection.view.select(dim, index.item<int64_t>());
  }
}

Tensor slice(const Tensor& self, int64_t dim, const Slice& part) {
  TORCH_CHECK_VALUE(part.step() > 0, "the step of a slice must be above 0; got ", part.step());
  return self.slice(dim, part.start(), part.stop(), part.step());
}

Selection select(const Tensor& self, ArrayRef<TensorIndex> indices) {
  Selection result{self, {}};
  int64_t taken = dims_taken(indices), dim = 0;
  TORCH_CHECK_INDEX(taken <= self.dim(), "too many indices (", taken, ") for a tensor of ", self.dim(), " dimensions");
  for (const TensorIndex& index : indices) {
    if (index.is_ellipsis()) {
      dim += self.dim() - taken;
    } else if (index.is_none()) {
      result.view = result.view.unsqueeze(dim++);
    } else if (index.is_boolean()) {
      result.view = result.view.unsqueeze(dim);
      put(result, dim++, at::zeros({index.boolean() ? 1 : 0}, kLong));
    } else if (index.is_slice()) {
      result.view = slice(result.view, dim++, index.slice());
    } else if (index.is_tensor()) {
      take(result, dim, index.tensor());
    } else {
      result.view = result.view.select(dim, index.integer());
    }
  }
  return result;
}

void check_is_given(ArrayRef<TensorIndex> indices) {
  TORCH_CHECK(!indices.empty(), "an index takes at least one position; got {}: write {\"...\"} for the whole tensor");
}

}  // namespace

Tensor get_item(const Tensor& self, ArrayRef<TensorIndex> indices, bool) {
  check_is_given(indices);
  Selection selection = select(self, indices);
  if (!selection.indices.empty()) return ::taeda::ops::index(selection.view, selection.indices);
  return selection.view.is(self) ? self.alias() : selection.view;
}

void set_item(const Tensor& self, ArrayRef<TensorIndex> indices, const Tensor& value, bool) {
  check_is_given(indices);
  Selection selection = select(self, indices);
  Tensor fitting = value;  // leading dimensions of size 1 are dropped, as assignment broadcasts from the back
  while (fitting.dim() > selection.view.dim() && fitting.sizes()[0] == 1) fitting = fitting.squeeze(0);
  if (selection.indices.empty()) {
    selection.view.copy_(fitting);
    return;
  }
  if (fitting.scalar_type() != self.scalar_type() && fitting.dim() == 0) fitting = fitting.to(self.scalar_type());
  ::taeda::ops::index_put_(selection.view, selection.indices, fitting, false);
}

void set_item(const Tensor& self, ArrayRef<TensorIndex> indices, const Scalar& value) {
  check_is_given(indices);
  Selection selection = select(self, indices);
  if (selection.indices.empty())
    selection.view.fill_(value);
  else
    ::taeda::ops::index_put_(selection.view, selection.indices,
                             at::scalar_tensor(value, self.options().requires_grad(false)), false);
}

std::ostream& operator<<(std::ostream& out, const Slice& slice) {
  return out << slice.start() << ":" << slice.stop() << ":" << slice.step();
}

std::ostream& operator<<(std::ostream& out, const TensorIndex& index) {
  if (index.is_none()) return out << "None";
  if (index.is_ellipsis()) return out << "...";
  if (index.is_integer()) return out << index.integer();
  if (index.is_boolean()) return out << (index.boolean() ? "true" : "false");
  if (index.is_slice()) return out << index.slice();
  return out << index.tensor();
}

std::ostream& operator<<(std::ostream& out, const std::vector<TensorIndex>& indices) {
  out << "(";
  for (size_t i = 0; i < indices.size(); ++i) out << (i ? ", " : "") << indices[i];
  return out << ")";
}

}  // namespace at::indexing
