// Grids, combinations and diagonals.
#include "shape/ops/join.h"
#include "shape/spec.h"
#include "taeda/core/warn.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/index.h"
#include "taeda/ops/join.h"
#include "taeda/ops/ranges.h"
#include "taeda/ops/rearrange.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/view.h"
#include "taeda/ops/view_inplace.h"

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

// How many ways there are to choose r of m.
int64_t ways(int64_t m, int64_t r) {
  if (r > m) return 0;
  unsigned __int128 found = 1;
  for (int64_t i = 1, k = std::min(r, m - r); i <= k; ++i) {
    found = found * static_cast<uint64_t>(m - k + i) / static_cast<uint64_t>(i);
    TAEDA_CHECK(found <= INT64_MAX / 2, "there are too many ways to choose ", r, " of ", m);
  }
  return static_cast<int64_t>(found);
}

Tensor combinations(const Tensor& self, int64_t r, bool with_replacement) {
  TAEDA_CHECK(self.dim() == 1, "takes a vector; got shape ", self.sizes());
  TAEDA_CHECK(r >= 0 && r < INT64_MAX - self.numel(), "r must be the size of a choice; got ", r);
  if (r == 0) return ops::new_empty(self, kList<int64_t, 1, 0>);
  int64_t n = self.numel(), skip = with_replacement ? 0 : 1, rows = n > 0 ? ways(n + (1 - skip) * (r - 1), r) : 0;
  const int64_t shape[] = {rows, r};
  Tensor positions = new_tensor(shape, DType::Int64);
  std::vector<int64_t> chosen(rows ? r : 0);
  for (int64_t i = 0; i < static_cast<int64_t>(chosen.size()); ++i) chosen[i] = i * skip;
  int64_t* row = positions.data<int64_t>();
  for (bool any = rows > 0; any; row += r) {
    std::ranges::copy(chosen, row);
    int64_t i = r - 1;
    while (i >= 0 && chosen[i] == n - 1 - (r - 1 - i) * skip) --i;
    any = i >= 0;
    for (int64_t from = any ? ++chosen[i] : 0, j = i + 1; any && j < r; ++j) chosen[j] = from + (j - i) * skip;
  }
  positions = ops::to(positions, self.device(), DType::Int64);
  return ops::view(ops::index_select(self, 0, ops::flatten(positions)), shape);
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
