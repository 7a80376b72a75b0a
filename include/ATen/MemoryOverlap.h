// Whether elements share memory: those of one tensor, or of two.
#pragma once
#include <ATen/core/Tensor.h>

namespace at {

enum class MemOverlap { No, Yes, TooHard };
enum class MemOverlapStatus { Full, Partial, No, TooHard };

// Known without search: no where memory is dense, yes where a dimension of several elements has the stride 0.
TORCH_API MemOverlap has_internal_overlap(const TensorBase& t);
// Full: the same elements. Of tensors that are not dense this says TooHard.
TORCH_API MemOverlapStatus get_overlap_status(const TensorBase& a, const TensorBase& b);

// RuntimeError where it is so.
TORCH_API void assert_no_internal_overlap(const TensorBase& t);
TORCH_API void assert_no_partial_overlap(const TensorBase& a, const TensorBase& b);
TORCH_API void assert_no_overlap(const TensorBase& a, const TensorBase& b);

}  // namespace at
