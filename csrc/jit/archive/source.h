// The declarations in a program's source: read without a compiler, and written for classes that hold data alone.
#pragma once
#include <map>
#include <optional>

#include "taeda/jit/archive.h"

namespace taeda::jit {

// What the record `code/...py` declares; nothing if there is something other than modules and plain classes.
std::optional<std::vector<DeclaredClass>> read_source(std::string_view record, std::string_view source);
// Record to text, of classes that have no methods.
std::map<std::string, std::string> write_source(std::span<const DeclaredClass> classes);

}  // namespace taeda::jit
