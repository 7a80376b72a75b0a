// Tensors of which only some elements are stored: made, taken apart, converted, multiplied, differentiated.
#include <torch/torch.h>

#include <iostream>

// What is stored, in any layout that goes by rows or by coordinates.
void show(const std::string& name, const torch::Tensor& t) {
  std::cout << name << ", " << t._nnz() << " stored\n";
  if (t.is_sparse()) {
    std::cout << t._indices() << "\n";
  } else {
    std::cout << t.crow_indices() << "\n" << t.col_indices() << "\n";
  }
  std::cout << (t.is_sparse() ? t._values() : t.values()) << "\n";
}

int main() {
  // A graph of four nodes: edges by their ends. The edge from 0 to 1 is there twice.
  torch::Tensor ends = torch::tensor({{0, 0, 1, 2, 3, 0}, {1, 2, 3, 3, 0, 1}});
  torch::Tensor weights = torch::tensor({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f});
  torch::Tensor edges = torch::sparse_coo_tensor(ends, weights, {4, 4});
  show("edges", edges);
  torch::Tensor graph = edges.coalesce();
  show("coalesced", graph);
  std::cout << graph.to_dense() << "\n";

  // Compressed rows, and back.
  torch::Tensor rows = graph.to_sparse_csr();
  show("rows", rows);
  torch::Tensor same =
      torch::sparse_csr_tensor(rows.crow_indices(), rows.col_indices(), rows.values(), {4, 4}, torch::kFloat);
  std::cout << "the same: " << torch::equal(same.to_dense(), graph.to_dense()) << "\n";
  torch::Tensor blocks = graph.to_dense().to_sparse_bsr({2, 2});
  std::cout << blocks.values().sizes() << " of " << blocks.sizes() << "\n";

  // Two steps along the edges, from all nodes at once.
  torch::Tensor features = torch::arange(8, torch::kFloat).reshape({4, 2});
  std::cout << torch::mm(graph, torch::mm(rows, features)) << "\n";

  // A gradient by weights alone; what is dense at the places of a pattern.
  torch::Tensor learned = weights.clone().requires_grad_();
  torch::Tensor sums = torch::mm(at::sparse_coo_tensor(ends, learned, {4, 4}), features).sum();
  sums.backward();
  std::cout << learned.grad() << "\n";
  show("masked", torch::arange(16, torch::kFloat).reshape({4, 4}).sparse_mask(graph));
  show("stored", torch::eye(3).mul(torch::arange(3, torch::kFloat)).to_sparse());
  show("slices", torch::eye(3).to_sparse(1));
}
