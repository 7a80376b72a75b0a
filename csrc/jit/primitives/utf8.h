// Text is UTF-8; positions count code points, as Python's do.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace taeda::jit::utf8 {

inline bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }
inline bool is_ascii(std::string_view text) {
  for (char c : text)
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  return true;
}
inline int64_t length(std::string_view text) {
  int64_t count = 0;
  for (char c : text) count += !continues(c);
  return count;
}
// Where code point `index` starts, or ends the text; index is between 0 and the length.
inline size_t offset(std::string_view text, int64_t index) {
  size_t at = 0;
  for (; index > 0 && at < text.size(); --index) do
      ++at;
    while (at < text.size() && continues(text[at]));
  return at;
}
inline std::string_view slice(std::string_view text, int64_t start, int64_t end) {
  if (start >= end) return {};
  size_t from = offset(text, start), to = from + offset(text.substr(from), end - start);
  return text.substr(from, to - from);
}
inline std::string encode(uint32_t code) {
  std::string out;
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
  return out;
}
inline uint32_t decode(std::string_view one) {
  auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(one[i])); };
  if (one.size() == 1) return byte(0);
  if (one.size() == 2) return (byte(0) & 0x1f) << 6 | (byte(1) & 0x3f);
  if (one.size() == 3) return (byte(0) & 0xf) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
  return (byte(0) & 7) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6 | (byte(3) & 0x3f);
}

}  // namespace taeda::jit::utf8
