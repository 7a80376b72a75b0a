// Ops that only derivatives call.
#include "composite/ops/derivative.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

Tensor unreduce(const Tensor& grad, IntList sizes, std::optional<IntList> dim, bool keepdim) {
  int64_t rank = static_cast<int64_t>(sizes.size());
  if (keepdim || rank == 0) return ops::expand(grad, sizes);
  std::vector<int64_t> kept(sizes.begin(), sizes.end());
  if (!dim || dim->empty())
    kept.assign(sizes.size(), 1);
  else
    for (int64_t d : *dim) kept[static_cast<size_t>(wrap_dim(d, rank))] = 1;
  return ops::expand(ops::view(ops::contiguous(grad), kept), sizes);
}

Tensor no_derivative(std::string_view what) {
  TAEDA_FAIL(NotImplemented, what, " has no derivative that can be computed; detach() that argument");
}

}  // namespace taeda::composite
