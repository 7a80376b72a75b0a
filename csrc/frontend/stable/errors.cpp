// What went wrong, as whoever calls through C can ask for it; checks and warnings.
#include <torch/custom_class.h>

#include "frontend/stable/guarded.h"

namespace taeda::stable {

std::string& last_error() {
  static thread_local std::string message;
  return message;
}

void keep_error() noexcept {
  try {
    throw;
  } catch (const std::exception& error) {
    last_error() = error.what();
  } catch (...) {
    last_error() = "an exception of C++ that is no std::exception";
  }
}

}  // namespace taeda::stable

using namespace taeda::stable;

extern "C" {

const char* torch_exception_get_what() { return last_error().c_str(); }
const char* torch_exception_get_what_without_backtrace() { return last_error().c_str(); }

void aoti_torch_check(bool cond, const char* func, const char* file, uint32_t line, const char* msg) {
  if (!cond) ::c10::detail::fail<>({func, file, line}, "", msg ? msg : "");
}
void aoti_torch_warn(const char*, const char*, uint32_t, const char* msg) { taeda::warn(msg); }
}
