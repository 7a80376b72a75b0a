#include "taeda/core/error.h"

#include <charconv>

namespace taeda {

void Error::name_function(std::string_view function) {
  if (named_) return;
  named_ = true;
  message_.insert(0, str("taeda.", function, ": "));
  compose();
}

Error::Error(ErrorKind kind, const SourceLocation& place, std::string message)
    : kind_(kind),
      message_(std::move(message)),
      place_(str("\n(raised in ", place.function, " at ", place.file, ":", place.line, ")")) {
  compose();
}

void Error::add_context(std::string more) {
  contexts_.push_back(std::move(more));
  compose();
}

// One context stands behind the message, several in lines of their own.
void Error::compose() {
  said_ = message_;
  if (contexts_.size() == 1) said_ += str(" (", contexts_[0], ")");
  if (contexts_.size() > 1)
    for (const std::string& context : contexts_) said_ += str("\n  ", context);
  all_ = said_ + place_;
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
