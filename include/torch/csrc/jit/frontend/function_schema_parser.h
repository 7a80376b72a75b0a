// Schemas from their text.
#pragma once
#include <ATen/core/function_schema.h>

namespace torch::jit {

// RuntimeError that shows where the text is no schema.
inline c10::FunctionSchema parseSchema(const std::string& text) { return ::taeda::parse_schema(text); }

}  // namespace torch::jit
