// Sparse tensors in programs without Python.
#include <torch/types.h>

#include "../test_main.h"

using namespace torch;

namespace {

Tensor matrix() {
  return torch::tensor({{0.f, 2.f, 0.f, 1.f}, {0.f, 0.f, 0.f, 0.f}, {3.f, 0.f, 4.f, 5.f}, {0.f, 6.f, 0.f, 0.f}});
}
const at::Layout kAll[] = {kSparse, kSparseCsr, kSparseCsc, kSparseBsr, kSparseBsc};
Tensor in_layout(const Tensor& t, at::Layout layout) {
  const bool blocks = layout == kSparseBsr || layout == kSparseBsc;
  return t.to_sparse(layout, blocks ? at::OptionalIntArrayRef({2, 2}) : std::nullopt);
}

}  // namespace

TEST(sparse_layouts_hold_the_same) {
  const Tensor dense = matrix(), batch = torch::stack({matrix(), matrix().flip(1)});
  for (at::Layout from : kAll) {
    Tensor a = in_layout(dense, from);
    CHECK(a.layout() == from && torch::equal(a.to_dense(), dense));
    CHECK(torch::equal(torch::mm(a, dense), dense.mm(dense)) && torch::equal(torch::mm(dense, a), dense.mm(dense)));
    CHECK(torch::equal((a * 2 - a).to_dense(), dense));
    for (at::Layout to : kAll) CHECK(torch::equal(in_layout(a, to).to_dense(), dense));
    if (from != kSparse) CHECK(torch::equal(in_layout(batch, from).to_dense(), batch));
    if (from != kSparse) CHECK(torch::equal(in_layout(batch, from).transpose(1, 2).to_dense(), batch.mT()));
    CHECK((a.t().layout() == from) == (from == kSparse) && torch::equal(a.t().to_dense(), dense.t()));
    Tensor whole = in_layout(dense.to(kInt), from), empty = in_layout(torch::zeros({4, 4}), from);
    CHECK(torch::equal(torch::mm(whole, whole).to_dense(), dense.mm(dense).to(kInt)));
    CHECK(torch::equal(torch::mm(whole, dense.to(kInt)), dense.mm(dense).to(kInt)));
    CHECK(torch::equal(torch::mm(empty, a).to_dense(), torch::zeros({4, 4})) &&
          torch::equal((empty + a).to_dense(), dense));
    Tensor half = in_layout(dense.to(kHalf), from);
    CHECK(torch::equal(torch::mm(half, half).to_dense(), dense.mm(dense).to(kHalf)));
    CHECK(torch::equal(torch::addmm(torch::full({4, 4}, NAN), a, dense, 0), dense.mm(dense)));
    Tensor copy = a.clone();
    if (from == kSparse) copy._indices().zero_();
    if (from != kSparse)
      (copy.layout() == kSparseCsr || from == kSparseBsr ? copy.col_indices() : copy.row_indices()).zero_();
    CHECK(torch::equal(a.to_dense(), dense));
  }
  CHECK(torch::equal(batch.to_sparse(1).to_dense(), batch) && batch.to_sparse(2).dense_dim() == 1);
  CHECK(torch::equal(batch.to_sparse(kSparse, std::nullopt, 1).to_dense(), batch));
  CHECK(matrix().to_dense(kDouble).scalar_type() == kDouble && matrix().sparse_dim() == 0 && matrix().dense_dim() == 2);
}

TEST(sparse_parts) {
  Tensor a = torch::sparse_csc_tensor(torch::tensor({0, 1, 3}), torch::tensor({1, 0, 1}),
                                      torch::tensor({1.f, 2.f, 3.f}), kFloat);
  CHECK(torch::equal(a.to_dense(), torch::tensor({{0.f, 2.f}, {1.f, 3.f}})) && a._nnz() == 3);
  CHECK(torch::equal(a.ccol_indices(), torch::tensor({0, 1, 3})) &&
        torch::equal(a.row_indices(), torch::tensor({1, 0, 1})));
  CHECK_ERROR(a.crow_indices(), Runtime, "compressed by rows");
  CHECK_ERROR(a.indices(), Runtime, "coordinates");
  CHECK_ERROR(torch::ones(2)._values(), Runtime, "sparse layout");
  Tensor twice = torch::sparse_coo_tensor(torch::tensor({{1, 1}}), torch::tensor({1.f, 2.f}), {3});
  CHECK(!twice.is_coalesced() && twice.coalesce()._nnz() == 1 && twice.coalesce().values().item<float>() == 3);
  CHECK_ERROR(twice.values(), Runtime, "coalesce() it first");
  CHECK(torch::equal(twice.to_dense(), torch::tensor({0.f, 3.f, 0.f})));
  CHECK(torch::sparse_coo_tensor({2, 3}, kFloat).to_dense().sum().item<float>() == 0);
  Tensor mask = torch::sparse_coo_tensor(torch::tensor({{0, 2}}), torch::ones(2), {3});
  CHECK(torch::equal(twice.sparse_mask(mask).to_dense(), torch::zeros(3)));
}

TEST(sparse_constructors_read_the_indices) {
  Tensor one = torch::ones(1), first = torch::tensor({0, 1, 1}), zero = torch::tensor({0});
  CHECK_ERROR(torch::sparse_coo_tensor(torch::tensor({{3}}), one, {3}), Runtime, "from 0 to 2; got 3 to 3");
  CHECK_ERROR(torch::sparse_coo_tensor(torch::tensor({{-1}}), one, {3}), Runtime, "got -1");
  CHECK_ERROR(torch::sparse_coo_tensor(zero, one, {3}), Runtime, "indices must have shape");
  CHECK_ERROR(torch::sparse_coo_tensor(torch::tensor({{1, 1}}), torch::ones(2), {3}, {}, true), Runtime,
              "each there once");
  CHECK_ERROR(torch::sparse_csr_tensor(first, torch::tensor({2}), one, {2, 2}, kFloat), Runtime, "from 0 to 1");
  CHECK_ERROR(torch::sparse_csr_tensor(torch::tensor({1, 1, 1}), zero, one, {2, 2}, kFloat), Runtime, "begin with 0");
  CHECK_ERROR(torch::sparse_csr_tensor(torch::tensor({0, 2, 2}), torch::tensor({1, 0}), torch::ones(2), {2, 2}, kFloat),
              Runtime, "rise within each line");
  CHECK_ERROR(torch::sparse_coo_tensor(torch::full({1, 1}, INT64_MAX), one), Runtime, "no size has the index");
  CHECK_ERROR(torch::sparse_csr_tensor(torch::tensor({0, 1}), torch::full({1}, INT64_MAX), one), Runtime,
              "no size has");
  CHECK_ERROR(torch::sparse_bsr_tensor(torch::tensor({0, 1}), torch::full({1}, INT64_MAX - 1), torch::ones({1, 2, 2})),
              Runtime, "no size has blocks");
  CHECK_ERROR(torch::sparse_csr_tensor(torch::empty({0}, kLong), torch::empty({0}, kLong), torch::empty({0})), Runtime,
              "negative");
  CHECK_ERROR(torch::ones({2, 2}).to_sparse(1).to_sparse_csr(), Runtime, "takes a matrix");
  CHECK_ERROR(torch::mm(torch::ones({2, 2}).to_sparse(1), torch::ones({2, 2})), Runtime, "takes a matrix");
  CHECK_ERROR(torch::mm(torch::eye(2).to_sparse(), torch::eye(2, kDouble)), Runtime, "one dtype");
  Tensor wild = torch::_sparse_csr_tensor_unsafe(torch::tensor({int64_t{0}, INT64_MAX, int64_t{-2}, int64_t{1}}),
                                                 torch::tensor({0}), one, {3, 3});
  CHECK_ERROR(wild.to_dense(), Runtime, "compressed indices must rise");
  CHECK_ERROR(torch::mm(wild, torch::eye(3)), Runtime, "must not fall");
  Tensor unread = torch::_sparse_coo_tensor_unsafe(torch::tensor({{3}}), one, {3});
  CHECK_ERROR(unread.to_dense(), Runtime, "from 0 to 2");
}

TEST(sparse_gradients) {
  Tensor values = torch::tensor({1.f, 2.f, 3.f}, torch::requires_grad()), ends = torch::tensor({{0, 1, 0}, {1, 0, 1}});
  Tensor factor = torch::tensor({{1.f, 2.f}, {3.f, 4.f}}, torch::requires_grad());
  torch::mm(torch::sparse_coo_tensor(ends, values, {2, 2}), factor).sum().backward();
  CHECK(torch::equal(values.grad(), torch::tensor({7.f, 3.f, 7.f})));
  CHECK(torch::equal(factor.grad(), torch::tensor({{2.f, 2.f}, {4.f, 4.f}})));
  Tensor leaf = matrix().to_sparse().requires_grad_();
  (leaf.to_dense() * matrix()).sum().backward();
  CHECK(torch::equal(leaf.grad().to_dense(), matrix()));
  Tensor dense = matrix().requires_grad_();
  (dense.to_sparse_csr().values() * 2).sum().backward();
  CHECK(torch::equal(dense.grad(), 2 * (matrix() != 0).to(kFloat)));
  leaf = torch::eye(2).to_sparse().requires_grad_();
  leaf.to_dense(std::nullopt, /*masked_grad=*/false).sum().backward();
  CHECK(torch::equal(leaf.grad().to_dense(), torch::ones({2, 2})));
  Tensor twice = torch::sparse_coo_tensor(ends, values.detach().requires_grad_(), {2, 2});
  Tensor slope = torch::autograd::grad({twice.mul(twice).to_dense().sum()}, {twice}, {}, true, true)[0];
  Tensor second = torch::autograd::grad({slope.to_dense().sum()}, {twice})[0];
  CHECK(torch::equal(second.to_dense(), torch::tensor({{0.f, 2.f}, {2.f, 0.f}})));
}
