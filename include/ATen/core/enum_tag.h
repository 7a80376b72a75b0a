// What ops are told to be: m.def("f(Tensor x) -> Tensor", {at::Tag::pt2_compliant_tag}).
#pragma once

namespace at {
enum class Tag {
  core,
  cudagraph_unsafe,
  data_dependent_output,
  dynamic_output_shape,
  flexible_layout,
  generated,
  inplace_view,
  maybe_aliasing_or_mutating,
  needs_contiguous_strides,
  needs_exact_strides,
  needs_fixed_stride_order,
  nondeterministic_bitwise,
  nondeterministic_seeded,
  pointwise,
  pt2_compliant_tag,
  reduction,
  view_copy
};
}  // namespace at
