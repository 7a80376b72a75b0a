#include <ATen/MemoryOverlap.h>

#include "taeda/core/overlap.h"

namespace at {

static_assert(static_cast<int>(MemOverlap::TooHard) == static_cast<int>(::taeda::InternalOverlap::Unknown) &&
              static_cast<int>(MemOverlapStatus::TooHard) == static_cast<int>(::taeda::Overlap::Unknown));

MemOverlap has_internal_overlap(const TensorBase& t) { return static_cast<MemOverlap>(::taeda::internal_overlap(t)); }
MemOverlapStatus get_overlap_status(const TensorBase& a, const TensorBase& b) {
  return static_cast<MemOverlapStatus>(::taeda::overlap_of(a, b));
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
