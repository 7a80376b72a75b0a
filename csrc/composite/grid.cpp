// Grids, combinations and diagonals.
#include "composite/ops/join.h"
#include "shape/spec.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/index.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

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

}  // namespace taeda::composite
