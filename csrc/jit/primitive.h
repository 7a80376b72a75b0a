// The language's own functions: arithmetic, text, lists, dicts, what tensors tell of themselves. One table of schemas
// and functions, in primitives/*.cpp; the checker resolves overloads over it and the op table alike.
#pragma once
#include <span>
#include <string_view>

#include "taeda/dispatch/schema.h"

namespace taeda::jit {

// Takes its `count` arguments from the top of the stack and leaves its results there.
using PrimitiveFunction = void (*)(Stack& stack, size_t count);

struct Primitive {
  const char* schema;
  PrimitiveFunction run;
  std::string_view qualified_name() const;  // "aten::add.int"
};

using PrimitiveTable = std::span<const Primitive>;
// In the order of the overloads: the first that fits is taken.
TAEDA_API std::span<const PrimitiveTable> primitive_tables();
TAEDA_API const Primitive* find_primitive(std::string_view qualified_name);  // null if there is none

// What text and tensors need from whoever embeds the language; each may be absent.
struct Surroundings {
  std::string (*tensor_text)(const Tensor&) = nullptr;  // as print shows it
  void (*print)(std::string_view line) = nullptr;       // instead of standard output
  void (*check_interrupt)() = nullptr;                  // throws where the user asked to stop
};
TAEDA_API extern Surroundings surroundings;

}  // namespace taeda::jit
