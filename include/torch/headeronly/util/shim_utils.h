// What a function of the stable interface in C returned, as an exception where it failed.
#pragma once
#include <sstream>
#include <stdexcept>

#define TORCH_SUCCESS 0
#define TORCH_FAILURE 1

namespace torch::headeronly::detail {
[[noreturn, gnu::noinline, gnu::cold]] inline void failed_call(const char* call, const char* file, int line,
                                                               const char* why) {
  std::ostringstream message;
  if (why && *why) message << why << "\n";
  message << call << " API call failed at " << file << ":" << line;
  throw std::runtime_error(message.str());
}
}  // namespace torch::headeronly::detail

#define TORCH_ERROR_CODE_CHECK(call)                                                \
  do {                                                                              \
    if ((call) != TORCH_SUCCESS) [[unlikely]]                                       \
      ::torch::headeronly::detail::failed_call(#call, __FILE__, __LINE__, nullptr); \
  } while (false)
