#include "jit/traceback.h"

#include <algorithm>

#include "jit/primitives/utf8.h"

namespace taeda::jit {

namespace {

// Without the modules and classes that hold it.
const char* plain_name(const Function& function) { return function.name.c_str() + function.name.rfind('.') + 1; }

Place part_of(const Function& function, size_t instruction) {
  return instruction < function.code.places.size() ? function.code.places[instruction] : Place{};
}

int64_t line_of(const Source& source, size_t start) {
  return source.first_line + std::count(source.text.begin(), source.text.begin() + static_cast<ptrdiff_t>(start), '\n');
}

}  // namespace

SourceLocation place_of(const Function& function, size_t instruction) {
  Place place = part_of(function, instruction);
  if (place.source < 0) return {plain_name(function), "", 0};
  const Source& source = function.unit->sources[static_cast<size_t>(place.source)];
  size_t start = utf8::offset(source.text, std::clamp<int64_t>(place.start, 0, utf8::length(source.text)));
  return {plain_name(function), source.file.c_str(), static_cast<uint32_t>(line_of(source, start))};
}

std::string frame_text(const Function& function, size_t instruction) {
  const char* name = plain_name(function);
  Place place = part_of(function, instruction);
  if (place.source < 0) return str("  in ", name, "\n");
  const Source& source = function.unit->sources[static_cast<size_t>(place.source)];
  std::string_view text = source.text;
  int64_t size = utf8::length(text);
  size_t start = utf8::offset(text, std::clamp<int64_t>(place.start, 0, size));
  size_t end = utf8::offset(text, std::clamp<int64_t>(place.end, 0, size));
  size_t first = start == 0 ? 0 : text.rfind('\n', start - 1) + 1;  // npos + 1 is 0
  size_t stop = std::min(text.find('\n', start), text.size());
  std::string_view shown = text.substr(first, stop - first);
  size_t indent = std::min(shown.find_first_not_of(' '), shown.size());
  int64_t before = utf8::length(shown.substr(0, start - first)) - static_cast<int64_t>(indent);
  int64_t marks = std::max<int64_t>(1, utf8::length(text.substr(start, std::max(start, std::min(end, stop)) - start)));
  return str("  File \"", source.file, "\", line ", line_of(source, start), ", in ", name, "\n    ",
             shown.substr(indent), "\n    ", std::string(static_cast<size_t>(std::max<int64_t>(0, before)), ' '),
             std::string(static_cast<size_t>(marks), '~'), " <--- HERE\n");
}

}  // namespace taeda::jit
