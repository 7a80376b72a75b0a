// Records that PyTorch compresses: the source of its programs.
#pragma once
#include <string>
#include <string_view>

namespace taeda::jit {

// What DEFLATE (RFC 1951) made of `size` bytes; RuntimeError if the packed ones are damaged or hold another number.
std::string inflate(std::string_view packed, size_t size);

}  // namespace taeda::jit
