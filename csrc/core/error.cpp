#include "taeda/core/error.h"

#include <charconv>

namespace taeda {

void Error::name_function(std::string_view function) {
  if (named_) return;
  named_ = true;
  message_.insert(0, str("taeda.", function, ": "));
}

void Error::add_context(std::string_view more) { message_.append("\n").append(more); }

std::string placed(const SourceLocation& place, std::string message) {
  message += str("\n(raised in ", place.function, " at ", place.file, ":", place.line, ")");
  return message;
}

void append(std::string& out, std::string_view text) { out += text; }
void append(std::string& out, int64_t number) { out += std::to_string(number); }
void append(std::string& out, uint64_t number) { out += std::to_string(number); }

void append(std::string& out, double number) {
  char buffer[32];
  auto [end, code] = std::to_chars(buffer, buffer + sizeof buffer, number);
  out.append(buffer, end);
}

void append(std::string& out, std::span<const int64_t> sizes) {
  out += '(';
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (i) out += ", ";
    append(out, sizes[i]);
  }
  out += sizes.size() == 1 ? ",)" : ")";
}

void fail(ErrorKind kind, std::string message) { throw Error(kind, std::move(message)); }

}  // namespace taeda
