// Channels dealt out to pixels or to one another: views and one copy.
#include "composite/ops/pad.h"
#include "shape/view_rules.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

using shape::Dims;

namespace {

// Images whose channels come last stay so.
// `moved` in its final shape: new memory in the layout of `self`, also where nothing moved.
Tensor laid_out_like(const Tensor& self, const Tensor& moved, IntList sizes) {
  Tensor result = ops::reshape(moved, sizes);
  MemoryFormat format = shape::suggested_format(self);
  return result->storage() == self->storage() ? ops::clone(result, format) : ops::contiguous(result, format);
}

}  // namespace

Tensor pixel_shuffle(const Tensor& self, int64_t upscale_factor) {
  const int64_t r = upscale_factor;
  TAEDA_CHECK(self.dim() >= 3, "input must be (..., C, H, W); got shape ", self.sizes());
  int64_t square;
  TAEDA_CHECK(r > 0 && !__builtin_mul_overflow(r, r, &square) && self.size(-3) % square == 0,
              "the channels must be a multiple of upscale_factor squared; got ", self.size(-3), " and ", r);
  int64_t lead = self.dim() - 3, c = self.size(-3) / square, h = self.size(-2), w = self.size(-1);
  Dims split(self.sizes().first(lead)), order, joined = split;
  for (int64_t n : {c, r, r, h, w}) split.push_back(n);
  for (int64_t n : {c, h * r, w * r}) joined.push_back(n);
  for (int64_t d = 0; d < lead; ++d) order.push_back(d);
  for (int64_t d : {0, 3, 1, 4, 2}) order.push_back(lead + d);
  return laid_out_like(self, ops::permute(ops::reshape(self, split), order), joined);
}

Tensor pixel_unshuffle(const Tensor& self, int64_t downscale_factor) {
  const int64_t r = downscale_factor;
  TAEDA_CHECK(self.dim() >= 3, "input must be (..., C, H, W); got shape ", self.sizes());
  TAEDA_CHECK(r > 0 && self.size(-2) % r == 0 && self.size(-1) % r == 0,
              "height and width must be multiples of downscale_factor ", r, "; got shape ", self.sizes());
  int64_t lead = self.dim() - 3, c = self.size(-3), h = self.size(-2) / r, w = self.size(-1) / r;
  Dims split(self.sizes().first(lead)), order, joined = split;
  for (int64_t n : {c, h, r, w, r}) split.push_back(n);
  for (int64_t n : {c * r * r, h, w}) joined.push_back(n);
  for (int64_t d = 0; d < lead; ++d) order.push_back(d);
  for (int64_t d : {0, 2, 4, 1, 3}) order.push_back(lead + d);
  return laid_out_like(self, ops::permute(ops::reshape(self, split), order), joined);
}

Tensor channel_shuffle(const Tensor& self, int64_t groups) {
  TAEDA_CHECK(self.dim() >= 3, "input must be (N, C, ...); got shape ", self.sizes());
  TAEDA_CHECK(groups > 0 && self.size(1) % groups == 0, "the channels (", self.size(1),
              ") must be a multiple of the groups (", groups, ")");
  Dims split{self.size(0), groups, self.size(1) / groups};
  for (int64_t d = 2; d < self.dim(); ++d) split.push_back(self.size(d));
  return ops::reshape(ops::transpose(ops::reshape(self, split), 1, 2), self.sizes());
}

}  // namespace taeda::composite
