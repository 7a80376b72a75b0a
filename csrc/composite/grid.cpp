// Grids, combinations and diagonals.
#include "api/binary.h"
#include "api/copy.h"
#include "api/create.h"
#include "api/index.h"
#include "api/join.h"
#include "api/ranges.h"
#include "api/rearrange.h"
#include "api/reshape.h"
#include "api/view.h"
#include "api/view_inplace.h"
#include "core/warn.h"
#include "shape/ops/join.h"
#include "shape/spec.h"

namespace taeda::composite {

namespace {
std::vector<Tensor> grid(TensorList tensors) {
  TAEDA_CHECK(!tensors.empty(), "at least one tensor is needed; got an empty list");
  shape::Dims sizes;
  for (const Tensor& t : tensors) {
    TAEDA_CHECK(t.dim() <= 1, "takes vectors and numbers; got shape ", t.sizes());
    TAEDA_CHECK(t.dtype() == tensors[0].dtype(), "all tensors must have one dtype; got ", tensors[0].dtype(), " and ",
                t.dtype());
    TAEDA_CHECK(t.device() == tensors[0].device(), "all tensors must be on one device; got ", tensors[0].device(),
                " and ", t.device());
    sizes.push_back(t.numel());
  }
  std::vector<Tensor> result;
  for (size_t i = 0; i < tensors.size(); ++i) {
    std::vector<int64_t> axis(tensors.size(), 1);
    axis[i] = sizes[i];
    result.push_back(ops::expand(ops::view(tensors[i], axis), sizes));
  }
  return result;
}
}  // namespace

std::vector<Tensor> meshgrid(TensorList tensors) {
  warn("meshgrid will ask for indexing='ij' or 'xy' one day; without it 'ij' is meant");
  return ops::meshgrid(tensors, "ij");
}

std::vector<Tensor> meshgrid(TensorList tensors, std::string_view indexing) {
  TAEDA_CHECK(indexing == "ij" || indexing == "xy", "indexing must be 'ij' or 'xy'; got '", indexing, "'");
  if (indexing == "ij" || tensors.size() < 2) return grid(tensors);
  std::vector<Tensor> swapped(tensors.begin(), tensors.end());
  std::swap(swapped[0], swapped[1]);  // rows follow the second axis, columns the first
  std::vector<Tensor> result = grid(swapped);
  std::swap(result[0], result[1]);
  return result;
}

Tensor cartesian_prod(TensorList tensors) {
  for (const Tensor& t : tensors) TAEDA_CHECK(t.dim() == 1, "takes vectors; got shape ", t.sizes());
  if (tensors.size() == 1) return tensors[0];
  std::vector<Tensor> columns = grid(tensors);
  for (Tensor& t : columns) t = ops::flatten(t);
  return ops::stack(columns, 1);
}

Tensor combinations(const Tensor& self, int64_t r, bool with_replacement) {
  TAEDA_CHECK(self.dim() == 1, "takes a vector; got shape ", self.sizes());
  TAEDA_CHECK(r >= 0, "r must not be negative; got ", r);
  if (r == 0) return ops::new_empty(self, kList<int64_t, 1, 0>);
  std::vector<int64_t> chosen(r), all;
  int64_t n = self.numel(), skip = with_replacement ? 0 : 1;
  for (int64_t i = 0; i < r; ++i) chosen[i] = i * skip;
  bool any = n > 0 && chosen.back() < n;
  while (any) {
    all.insert(all.end(), chosen.begin(), chosen.end());
    int64_t i = r - 1;
    while (i >= 0 && chosen[i] == n - 1 - (r - 1 - i) * skip) --i;
    any = i >= 0;
    for (int64_t from = any ? ++chosen[i] : 0, j = i + 1; any && j < r; ++j) chosen[j] = from + (j - i) * skip;
  }
  int64_t count = static_cast<int64_t>(all.size());
  Tensor positions = new_tensor(IntList(&count, 1), DType::Int64);
  std::ranges::copy(all, positions.data<int64_t>());
  positions = ops::to(positions, self.device(), DType::Int64);
  return ops::view(ops::index_select(self, 0, positions), std::vector<int64_t>{count / r, r});
}

Tensor diag(const Tensor& self, int64_t diagonal) {
  TAEDA_CHECK(self.dim() == 1 || self.dim() == 2, "takes a vector or a matrix; got shape ", self.sizes());
  if (self.dim() == 1) return ops::diag_embed(self, diagonal);
  return ops::clone(ops::diagonal(self, diagonal), MemoryFormat::Contiguous);
}

Tensor diagflat(const Tensor& self, int64_t offset) { return ops::diag_embed(ops::flatten(self), offset); }

Tensor vander(const Tensor& x, std::optional<int64_t> N, bool increasing) {
  TAEDA_CHECK(x.dim() == 1, "takes a vector; got shape ", x.sizes());
  int64_t columns = N.value_or(x.numel());
  TAEDA_CHECK(columns >= 0, "N must not be negative; got ", columns);
  Tensor exponents = ops::arange(Scalar(columns), DType::Int64, std::nullopt, x.device());
  if (!increasing) exponents = ops::flip(exponents, kList<int64_t, 1, 0>);
  return ops::pow(ops::unsqueeze(x, 1), exponents);
}

}  // namespace taeda::composite
