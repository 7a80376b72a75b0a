#include "jit/primitive.h"

#include <array>
#include <unordered_map>

#include "jit/primitives/typed.h"

namespace taeda::jit {

Surroundings surroundings;

std::string_view Primitive::qualified_name() const {
  std::string_view text = schema;
  return text.substr(0, text.find('('));
}

std::span<const PrimitiveTable> primitive_tables() {
  static const std::array kTables = {
      number_primitives(), math_primitives(),   text_primitives(),   format_primitives(), list_primitives(),
      dict_primitives(),   tensor_primitives(), device_primitives(), object_primitives(), forwarding_primitives()};
  return kTables;
}

const Primitive* find_primitive(std::string_view qualified_name) {
  static const auto* kByName = [] {
    auto* by_name = new std::unordered_map<std::string_view, const Primitive*>;
    for (PrimitiveTable table : primitive_tables())
      for (const Primitive& primitive : table) by_name->emplace(primitive.qualified_name(), &primitive);
    return by_name;
  }();
  auto found = kByName->find(qualified_name);
  return found == kByName->end() ? nullptr : found->second;
}

}  // namespace taeda::jit
