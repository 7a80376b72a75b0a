// Values of schemas in 64 bits, as torch/csrc/inductor/aoti_torch/c/shim.h describes them.
#pragma once
#include <taeda/dispatch/schema.h>

#include "frontend/stable/guarded.h"

namespace taeda::stable {

// Whoever gets the result owns it. NotImplementedError for a type that the interface does not know.
StableIValue pack(const Value& value, TypePtr type);
// Takes what `value` owns.
Value unpack(StableIValue value, TypePtr type);
// Gives back what was packed and never passed on.
void discard(StableIValue value, TypePtr type) noexcept;

}  // namespace taeda::stable
