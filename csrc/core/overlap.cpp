#include "taeda/core/overlap.h"

#include <algorithm>

namespace taeda {

namespace {

bool repeats_a_place(const Tensor& t) {
  for (size_t i = 0; i < t.sizes().size(); ++i)
    if (t.sizes()[i] > 1 && t.strides()[i] == 0) return true;
  return false;
}

// The strides of dimensions of size 1 say nothing.
bool same_places(const Tensor& a, const Tensor& b) {
  std::vector<int64_t> told[2];
  for (int k = 0; k < 2; ++k) {
    const Tensor& t = k == 0 ? a : b;
    for (size_t i = 0; i < t.sizes().size(); ++i)
      if (t.sizes()[i] != 1) told[k].push_back(t.strides()[i]);
  }
  return told[0] == told[1];
}

}  // namespace

InternalOverlap internal_overlap(const Tensor& t) {
  if (t.numel() == 0 || t->is_non_overlapping_and_dense()) return InternalOverlap::No;
  return repeats_a_place(t) ? InternalOverlap::Yes : InternalOverlap::Unknown;
}

Overlap overlap_of(const Tensor& a, const Tensor& b) {
  if (a.is(b)) return Overlap::Full;
  if (a.numel() == 0 || b.numel() == 0) return Overlap::None;
  if (!a->is_non_overlapping_and_dense() || !b->is_non_overlapping_and_dense()) return Overlap::Unknown;
  if (!a->storage() || a->storage() != b->storage()) return Overlap::None;
  const char *a_begin = a.data<char>(), *b_begin = b.data<char>();
  const char *a_end = a_begin + a.numel() * a.itemsize(), *b_end = b_begin + b.numel() * b.itemsize();
  if (a_begin >= b_end || b_begin >= a_end) return Overlap::None;
  return a_begin == b_begin && a_end == b_end && same_places(a, b) ? Overlap::Full : Overlap::Partial;
}

void check_no_internal_overlap(const Tensor& out) {
  TAEDA_CHECK(out.is_contiguous() || !repeats_a_place(out),
              "several elements of the tensor that is written share one place in memory (shape ", out.sizes(),
              ", strides ", out.strides(), "); clone it first");
}

void check_overlap(const Tensor& out, const Tensor& in) {
  TAEDA_CHECK(out->storage() != in->storage() || overlap_of(out, in) != Overlap::Partial,
              "the tensor that is written and one that is read share part of their memory; clone one of them first");
}

}  // namespace taeda
