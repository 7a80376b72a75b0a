// Losses with a margin.
#include "composite/loss.h"
#include "shape/ops/loss.h"
#include "shape/spec.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/index.h"
#include "taeda/ops/mask.h"
#include "taeda/ops/norm.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/scan.h"
#include "taeda/ops/scatter.h"
#include "taeda/ops/unary.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

using shape::Dims;

Tensor hinge_embedding_loss(const Tensor& self, const Tensor& target, double margin, int64_t reduction) {
  // Whole numbers stay whole, with a whole margin.
  bool whole = !is_differentiable(self.dtype());
  Tensor distance = whole ? ops::sub(ops::full_like(self, Scalar(margin)), self) : ops::rsub(self, Scalar(margin));
  Tensor apart = ops::clamp_min(distance, Scalar(0));
  Tensor zero = ops::zeros_like(self);
  Tensor loss = ops::add(ops::where(ops::ne(target, Scalar(1)), apart, zero),
                         ops::where(ops::ne(target, Scalar(-1)), self, zero));
  return reduced(loss, reduction);
}

Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                           int64_t reduction) {
  TAEDA_CHECK(input1.dim() == target.dim() && input2.dim() == target.dim(),
              "input1, input2 and target must have the same number of dimensions; got ", input1.dim(), ", ",
              input2.dim(), " and ", target.dim());
  Tensor wrong = ops::mul(ops::neg(target), ops::sub(input1, input2));
  return reduced(ops::clamp_min(ops::add(wrong, Scalar(margin)), Scalar(0)), reduction);
}

Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                             int64_t reduction) {
  TAEDA_CHECK(target.dim() <= 1, "target must be (N) or one number; got shape ", target.sizes());
  int64_t rank = target.dim() + 1;
  TAEDA_CHECK(input1.dim() == rank && input2.dim() == rank, "a target of ", target.dim(),
              " dimensions needs inputs of ", rank, "; got shapes ", input1.sizes(), " and ", input2.sizes());
  constexpr double kEpsilon = 1e-12;
  auto squares = [&](const Tensor& x) { return ops::add(ops::sum(ops::mul(x, x), Dims{-1}), Scalar(kEpsilon)); };
  Tensor product = ops::sum(ops::mul(input1, input2), Dims{-1});
  Tensor cosine = ops::div(product, ops::sqrt(ops::mul(squares(input1), squares(input2))));
  Tensor near = ops::rsub(cosine, Scalar(1)), far = ops::clamp_min(ops::sub(cosine, Scalar(margin)), Scalar(0)),
         zero = ops::zeros_like(cosine);
  Tensor loss =
      ops::add(ops::where(ops::eq(target, Scalar(1)), near, zero), ops::where(ops::eq(target, Scalar(-1)), far, zero));
  return reduced(loss, reduction);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative, double margin,
                           double p, double eps, bool swap, int64_t reduction) {
  TAEDA_CHECK(anchor.dim() == positive.dim() && anchor.dim() == negative.dim(),
              "anchor, positive and negative must have the same number of dimensions; got ", anchor.dim(), ", ",
              positive.dim(), " and ", negative.dim());
  Tensor near = ops::pairwise_distance(anchor, positive, p, eps),
         far = ops::pairwise_distance(anchor, negative, p, eps);
  if (swap) far = ops::minimum(far, ops::pairwise_distance(positive, negative, p, eps));
  return reduced(ops::clamp_min(ops::add(ops::sub(near, far), Scalar(margin)), Scalar(0)), reduction);
}

Tensor multi_margin_loss(const Tensor& self, const Tensor& target, const Scalar& p, const Scalar& margin,
                         const Tensor& weight, int64_t reduction) {
  TAEDA_CHECK(p.equals(1) || p.equals(2), "p must be 1 or 2; got ", p);
  TAEDA_CHECK(self.dim() <= 2 && (self.dim() == 0 || self.size(-1) > 0),
              "input must be (N, C) or (C) with classes, or a number; got shape ", self.sizes());
  Tensor scores = self.dim() == 2 ? self : ops::reshape(self, Dims{1, self.numel()}),
         numbers = ops::reshape(target, Dims{-1});
  TAEDA_CHECK(numbers.size(0) == scores.size(0), "target must have one class number per sample, ", scores.size(0),
              "; got shape ", target.sizes());
  int64_t classes = scores.size(1);
  TAEDA_CHECK(!weight.defined() || (weight.dim() == 1 && weight.numel() == classes),
              "weight must have one number for each of the ", classes, " classes; got shape ", weight.sizes());
  Tensor index = ops::unsqueeze(numbers, 1);
  Tensor terms = ops::clamp_min(ops::add(ops::sub(scores, ops::gather(scores, 1, index)), margin), Scalar(0));
  if (p.equals(2)) terms = ops::mul(terms, terms);
  if (weight.defined()) terms = ops::mul(terms, ops::unsqueeze(ops::index_select(weight, 0, numbers), 1));
  terms = ops::scatter(terms, 1, index, Scalar(0));  // the class itself does not count
  Tensor loss = ops::div(ops::sum(terms, Dims{1}), Scalar(static_cast<double>(classes)));
  return reduced(self.dim() < 2 ? ops::reshape(loss, kValues<int64_t>) : loss, reduction);
}

Tensor multilabel_margin_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  TAEDA_CHECK(self.dim() <= 2 && std::ranges::equal(self.sizes(), target.sizes()),
              "input and target must both be (N, C) or (C); got shapes ", self.sizes(), " and ", target.sizes());
  int64_t classes = self.dim() == 0 ? 1 : self.size(-1);
  Tensor scores = ops::reshape(self, Dims{-1, classes}), numbers = ops::reshape(target, Dims{-1, classes});
  // Labels count up to the first -1.
  Tensor listed = ops::eq(ops::cumsum(ops::to(ops::lt(numbers, Scalar(0)), DType::Int64), 1), Scalar(0));
  Tensor index = ops::masked_fill(numbers, ops::logical_not(listed), Scalar(0));
  Tensor hits = ops::scatter_add(ops::zeros_like(index), 1, index, ops::to(listed, DType::Int64));
  Tensor others = ops::eq(hits, Scalar(0));
  Tensor own = ops::unsqueeze(ops::gather(scores, 1, index), 2);
  Tensor terms = ops::clamp_min(ops::add(ops::sub(ops::unsqueeze(scores, 1), own), Scalar(1)), Scalar(0));
  Tensor counts = ops::logical_and(ops::unsqueeze(listed, 2), ops::unsqueeze(others, 1));
  Tensor loss = ops::div(ops::sum(ops::where(counts, terms, ops::zeros_like(terms)), Dims{1, 2}),
                         Scalar(static_cast<double>(classes)));
  return reduced(self.dim() <= 1 ? ops::reshape(loss, kValues<int64_t>) : loss, reduction);
}

}  // namespace taeda::composite
