#include <ATen/Functions.h>
#include <ATen/MemoryOverlap.h>

namespace at {

MemOverlap has_internal_overlap(const TensorBase& t) {
  if (t.numel() == 0 || t.is_non_overlapping_and_dense()) return MemOverlap::No;
  for (int64_t d = 0; d < t.dim(); ++d)
    if (t.size(d) > 1 && t.stride(d) == 0) return MemOverlap::Yes;
  return MemOverlap::TooHard;
}

MemOverlapStatus get_overlap_status(const TensorBase& a, const TensorBase& b) {
  if (a.is_same(b)) return MemOverlapStatus::Full;
  if (a.numel() == 0 || b.numel() == 0) return MemOverlapStatus::No;
  if (!a.is_non_overlapping_and_dense() || !b.is_non_overlapping_and_dense()) return MemOverlapStatus::TooHard;
  if (!a.has_storage() || !b.has_storage() || !a.is_alias_of(b)) return MemOverlapStatus::No;
  const auto *a_begin = static_cast<const char*>(a.const_data_ptr()), *a_end = a_begin + a.nbytes();
  const auto *b_begin = static_cast<const char*>(b.const_data_ptr()), *b_end = b_begin + b.nbytes();
  if (a_begin == b_begin && a_end == b_end)
    return a.strides() == b.strides() ? MemOverlapStatus::Full : MemOverlapStatus::Partial;
  return a_begin < b_end && b_begin < a_end ? MemOverlapStatus::Partial : MemOverlapStatus::No;
}

void assert_no_internal_overlap(const TensorBase& t) {
  TORCH_CHECK(has_internal_overlap(t) != MemOverlap::Yes,
              "several elements of a tensor that is to be written share memory, as after expand(); clone it first");
}
void assert_no_partial_overlap(const TensorBase& a, const TensorBase& b) {
  TORCH_CHECK(get_overlap_status(a, b) != MemOverlapStatus::Partial,
              "the tensor that is written and one that is read share part of their memory; clone one of them first");
}
void assert_no_overlap(const TensorBase& a, const TensorBase& b) {
  const MemOverlapStatus status = get_overlap_status(a, b);
  TORCH_CHECK(status != MemOverlapStatus::Partial && status != MemOverlapStatus::Full,
              "the tensor that is written and one that is read share memory; clone one of them first");
}

}  // namespace at
