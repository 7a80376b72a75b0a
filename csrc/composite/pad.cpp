// Padding.
#include "composite/ops/pad.h"
#include "composite/fresh.h"
#include "shape/view_rules.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/join.h"
#include "taeda/ops/pad.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

namespace {

using shape::Dims;

// Beyond which sums of paddings and sizes might not fit.
constexpr int64_t kMost = INT64_MAX / 4;

void check_pairs(const Tensor& self, IntList pad) {
  TAEDA_CHECK(pad.size() % 2 == 0 && static_cast<int64_t>(pad.size()) <= 2 * self.dim(),
              "pad must list (before, after) for at most ", self.dim(), " dimensions; got ", pad);
  for (int64_t n : pad) TAEDA_CHECK(-kMost <= n && n <= kMost, "the padding ", n, " is too large");
}

// The part of `t` that lies `before` and `after` inside along the dimensions of `pad`; negative numbers reach outside.
Tensor inner(Tensor t, IntList pad, int64_t sign) {
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    int64_t d = t.dim() - 1 - static_cast<int64_t>(i), before = std::max<int64_t>(sign * pad[2 * i], 0),
            after = std::max<int64_t>(sign * pad[2 * i + 1], 0);
    if (before || after) t = ops::narrow(t, d, before, t.size(d) - before - after);
  }
  return t;
}

}  // namespace

Tensor constant_pad_nd(const Tensor& self, IntList pad, const Scalar& value) {
  check_pairs(self, pad);
  Dims sizes(self.sizes());
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    int64_t& size = sizes[sizes.size() - 1 - i];
    size += pad[2 * i] + pad[2 * i + 1];
    TAEDA_CHECK(size >= 0, "the padding ", pad, " leaves nothing of shape ", self.sizes());
  }
  Tensor result = ops::empty(sizes, self.dtype(), {}, self.device(), {}, shape::suggested_format(self));
  ops::fill_(result, value);
  Tensor kept = inner(self, pad, -1);
  if (kept.numel() > 0) ops::copy_(inner(result, pad, 1), kept);
  return unwritten(result);
}

Tensor constant_unpad_nd(const Tensor& self, IntList pad) {
  check_pairs(self, pad);
  Dims opposite;
  for (int64_t n : pad) opposite.push_back(-n);
  return ops::constant_pad_nd(self, opposite, Scalar(0));
}

Tensor _pad_circular(const Tensor& self, IntList pad) {
  check_pairs(self, pad);
  TAEDA_CHECK(static_cast<int64_t>(pad.size()) / 2 + 2 == self.dim(),
              "circular padding is for all dimensions after (N, C); got ", pad, " for shape ", self.sizes());
  Tensor t = inner(self, pad, -1);  // what is cut off does not come round again
  bool is_view = true;
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    int64_t d = self.dim() - 1 - static_cast<int64_t>(i), size = t.size(d);
    int64_t before = std::max<int64_t>(pad[2 * i], 0), after = std::max<int64_t>(pad[2 * i + 1], 0);
    TAEDA_CHECK(before <= size && after <= size, "circular padding may go round at most once: the size is ", size,
                "; got ", before, " and ", after);
    std::vector<Tensor> parts{t};
    if (before > 0) parts.insert(parts.begin(), ops::narrow(t, d, size - before, before));
    if (after > 0) parts.push_back(ops::narrow(t, d, 0, after));
    if (parts.size() == 1) continue;
    t = ops::cat(parts, d);
    is_view = false;
  }
  return is_view || !t.is_contiguous() ? ops::clone(t, MemoryFormat::Contiguous) : t;
}

Tensor pad(const Tensor& self, IntList pad, std::string_view mode, std::optional<double> value) {
  check_pairs(self, pad);
  if (mode == "constant") return ops::constant_pad_nd(self, pad, Scalar(value.value_or(0)));
  TAEDA_CHECK(value.value_or(0) == 0, "value goes with mode 'constant'; got mode '", mode, "'");
  bool known = mode == "reflect" || mode == "replicate" || mode == "circular";
  if (!known)
    TAEDA_FAIL(NotImplemented, "mode must be 'constant', 'reflect', 'replicate' or 'circular'; got '", mode, "'");
  int64_t rank = static_cast<int64_t>(pad.size()) / 2;
  if (rank < 1 || rank > 3 || (self.dim() != rank + 1 && self.dim() != rank + 2))
    TAEDA_FAIL(NotImplemented, "mode '", mode,
               "' pads the last 1 to 3 dimensions of (N, C, ...) or (C, ...), all of them; got ", pad, " for shape ",
               self.sizes());
  using Pad = Tensor (*)(const Tensor&, IntList);
  static constexpr Pad kReflect[] = {ops::reflection_pad1d, ops::reflection_pad2d, ops::reflection_pad3d};
  static constexpr Pad kReplicate[] = {ops::replication_pad1d, ops::replication_pad2d, ops::replication_pad3d};
  if (mode != "circular") return (mode == "reflect" ? kReflect : kReplicate)[rank - 1](self, pad);
  return self.dim() == rank + 2 ? ops::_pad_circular(self, pad)
                                : ops::squeeze(ops::_pad_circular(ops::unsqueeze(self, 0), pad), 0);
}

}  // namespace taeda::composite
