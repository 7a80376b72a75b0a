// What ops are told to be: m.def("f(Tensor x) -> Tensor", {at::Tag::pt2_compliant_tag}).
#pragma once
#include <torch/headeronly/core/enum_tag.h>
