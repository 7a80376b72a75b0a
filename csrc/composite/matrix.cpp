// Chains and powers of matrices, traces and norms.
#include <algorithm>

#include "composite/ops/linalg.h"
#include "shape/linalg_rules.h"
#include "taeda/core/warn.h"
#include "taeda/ops/linalg.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

namespace {

// The dynamic program of Cormen et al., "Introduction to Algorithms", 15.2: where to split each chain i..j.
std::vector<std::vector<size_t>> best_splits(const std::vector<int64_t>& sizes) {
  size_t n = sizes.size() - 1;
  std::vector<std::vector<double>> cost(n, std::vector<double>(n, 0));
  std::vector<std::vector<size_t>> split(n, std::vector<size_t>(n, 0));
  for (size_t length = 1; length < n; ++length)
    for (size_t i = 0; i + length < n; ++i) {
      size_t j = i + length;
      cost[i][j] = INFINITY;
      for (size_t k = i; k < j; ++k) {
        double price =
            cost[i][k] + cost[k + 1][j] +
            static_cast<double>(sizes[i]) * static_cast<double>(sizes[k + 1]) * static_cast<double>(sizes[j + 1]);
        if (price < cost[i][j]) cost[i][j] = price, split[i][j] = k;
      }
    }
  return split;
}

Tensor multiply_chain(TensorList matrices, const std::vector<std::vector<size_t>>& split, size_t i, size_t j) {
  if (i == j) return matrices[i];
  size_t k = split[i][j];
  return ops::mm(multiply_chain(matrices, split, i, k), multiply_chain(matrices, split, k + 1, j));
}

Tensor multiply_chain(TensorList matrices) {
  std::vector<int64_t> sizes{matrices[0].sizes()[0]};
  for (size_t i = 0; i < matrices.size(); ++i) {
    const Tensor& m = matrices[i];
    TAEDA_CHECK(m.dim() == 2, "matrix ", i, " must have 2 dimensions; got shape ", m.sizes());
    TAEDA_CHECK(m.sizes()[0] == sizes.back(), "matrix ", i, " of shape ", m.sizes(), " must have ", sizes.back(),
                " rows");
    sizes.push_back(m.sizes()[1]);
  }
  return multiply_chain(matrices, best_splits(sizes), 0, matrices.size() - 1);
}

}  // namespace

Tensor linalg_multi_dot(TensorList tensors) {
  TAEDA_CHECK(tensors.size() >= 2, "needs two or more tensors; got ", tensors.size());
  std::vector<Tensor> matrices(tensors.begin(), tensors.end());
  bool row = matrices.front().dim() == 1, column = matrices.back().dim() == 1;
  if (row) matrices.front() = ops::unsqueeze(matrices.front(), 0);
  if (column) matrices.back() = ops::unsqueeze(matrices.back(), 1);
  Tensor product = multiply_chain(matrices);
  if (column) product = ops::squeeze(product, 1);
  return row ? ops::squeeze(product, 0) : product;
}

Tensor chain_matmul(TensorList matrices) {
  TAEDA_CHECK(!matrices.empty(), "needs one or more matrices; got none");
  warn("taeda.chain_matmul is deprecated; taeda.linalg.multi_dot takes the matrices as a list");
  return multiply_chain(matrices);
}

}  // namespace taeda::composite
