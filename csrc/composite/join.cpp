// Joins along a dimension that the inputs' ranks decide.
#include "composite/ops/join.h"
#include "composite/fresh.h"
#include "shape/view_rules.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/join.h"
#include "taeda/ops/reshape.h"

namespace taeda::composite {

std::vector<Tensor> cat_backward(const Tensor& grad_output, IntList sizes, int64_t dim) {
  std::vector<Tensor> result;
  dim = wrap_dim(dim, grad_output.dim());
  int64_t start = 0;
  for (size_t i = 0; i < sizes.size();) {
    int64_t rank = sizes[i++], left = static_cast<int64_t>(sizes.size() - i);
    TAEDA_CHECK(rank >= 0 && rank <= left, "sizes must be counts with as many sizes after each; got ", sizes);
    IntList own = sizes.subspan(i, static_cast<size_t>(rank));
    i += own.size();
    if (own.size() == 1 && own[0] == 0) {  // passed over by cat
      result.push_back(ops::new_zeros(grad_output, own));
      continue;
    }
    TAEDA_CHECK(dim < rank, "a tensor of sizes ", own, " has no dimension ", dim);
    result.push_back(ops::narrow(grad_output, dim, start, own[dim]));
    start += own[dim];
  }
  return result;
}

Tensor block_diag(TensorList tensors) {
  std::vector<Tensor> blocks;
  DType dtype = DType::Undefined;
  int64_t rows = 0, columns = 0;
  for (const Tensor& t : tensors) {
    TAEDA_CHECK(t.dim() <= 2, "takes tensors of at most two dimensions; got shape ", t.sizes());
    TAEDA_CHECK(t.device() == tensors[0].device(), "all tensors must be on one device; got ", tensors[0].device(),
                " and ", t.device());
    blocks.push_back(ops::atleast_2d(t));
    dtype = promote(dtype, t.dtype());
    rows += blocks.back().sizes()[0];
    columns += blocks.back().sizes()[1];
  }
  if (tensors.empty()) return ops::empty(std::vector<int64_t>{1, 0});
  auto answers = [](const Tensor& t) { return t.keys().has(Functionality::Python); };
  auto own = std::ranges::find_if(blocks, answers);
  Tensor result = ops::new_zeros(own == blocks.end() ? blocks[0] : *own, std::vector<int64_t>{rows, columns}, dtype);
  int64_t row = 0, column = 0;
  for (const Tensor& block : blocks) {
    int64_t height = block.sizes()[0], width = block.sizes()[1];
    ops::copy_(ops::narrow(ops::narrow(result, 0, row, height), 1, column, width), block);
    row += height;
    column += width;
  }
  return unwritten(result);
}

Tensor _chunk_cat(TensorList tensors, int64_t dim, int64_t num_chunks) {
  TAEDA_CHECK(!tensors.empty() && num_chunks >= 1, "needs a tensor and a chunk; got ", tensors.size(), " tensors and ",
              num_chunks, " chunks");
  const Tensor& first = tensors[0];
  for (const Tensor& t : tensors) {
    TAEDA_CHECK(t.dtype() == first.dtype(), "the tensors must have one dtype; got ", first.dtype(), " and ", t.dtype());
    TAEDA_CHECK(t.numel() > 0, "the tensors must not be empty; got shape ", t.sizes());
    TAEDA_CHECK(dim >= 0 || t.dim() == first.dim(), "dim must not be negative for tensors of several ranks; got ", dim);
  }
  dim = wrap_dim(dim, first.dim());
  std::vector<Tensor> parts;
  for (const Tensor& t : tensors) {
    TAEDA_CHECK(t.dim() > dim && std::ranges::equal(t.sizes().first(dim), first.sizes().first(dim)),
                "the sizes before dimension ", dim, " must agree; got shapes ", first.sizes(), " and ", t.sizes());
    shape::Dims missing(t.sizes()), sizes(t.sizes().first(dim));
    missing[dim] = (num_chunks - t.size(dim) % num_chunks) % num_chunks;
    sizes.push_back(num_chunks);
    sizes.push_back(-1);
    Tensor whole = t;
    if (missing[dim]) {  // no ?:, within which GCC 12 cleans up a wrong place if the second item throws
      Tensor zeros = ops::new_zeros(t, missing);
      whole = ops::cat(std::array{t, zeros}, dim);
    }
    parts.push_back(ops::reshape(whole, sizes));
  }
  return ops::cat(parts, dim + 1);
}

}  // namespace taeda::composite
