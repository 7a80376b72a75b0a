// Checks that need no library: a failure is a std::runtime_error.
#pragma once
#include <sstream>
#include <stdexcept>
#include <string>

namespace torch::headeronly::detail {

template <class... Parts>
[[noreturn, gnu::noinline, gnu::cold]] void fail(const char* function, const char* file, int line,
                                                 const char* condition, const Parts&... parts) {
  std::ostringstream message;
  if constexpr (sizeof...(Parts) == 0)
    message << "this does not hold: " << condition;
  else
    (message << ... << parts);
  message << "\n(raised in " << function << " at " << file << ":" << line << ")";
  throw std::runtime_error(message.str());
}

}  // namespace torch::headeronly::detail

#define STD_TORCH_CHECK(cond, ...)                                                                     \
  if (!(cond)) [[unlikely]] {                                                                          \
    ::torch::headeronly::detail::fail(__func__, __FILE__, __LINE__, #cond __VA_OPT__(, ) __VA_ARGS__); \
  }
