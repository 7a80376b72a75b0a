// What schemas may say of ops.
#pragma once

namespace torch::headeronly {
enum class Tag {
  core,
  cudagraph_unsafe,
  data_dependent_output,
  dynamic_output_shape,
  flexible_layout,
  generated,
  inplace_view = 7,
  maybe_aliasing_or_mutating,
  needs_contiguous_strides,
  needs_exact_strides,
  needs_fixed_stride_order,
  nondeterministic_bitwise,
  nondeterministic_seeded,
  out_variant = 15,
  pointwise,
  pt2_compliant_tag,
  reduction,
  view_copy
};
}  // namespace torch::headeronly
namespace at {
using torch::headeronly::Tag;
}
