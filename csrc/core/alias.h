// Views whose geometry a rule worked out.
#pragma once
#include "taeda/core/tensor.h"

namespace taeda {

// As new_alias, for a geometry that reaches no element which the base's does not: it stays where the base may be read,
// also after the storage shrank.
Tensor new_alias_within(const Tensor& base, IntList sizes, IntList strides, int64_t offset);

}  // namespace taeda
