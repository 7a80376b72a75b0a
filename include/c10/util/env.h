// The environment of the process.
#pragma once
#include <cstdlib>
#include <string>

#include <c10/util/Exception.h>
#include <c10/util/Optional.h>

namespace c10::utils {

inline void set_env(const char* name, const char* value, bool overwrite = true) {
  TORCH_CHECK(::setenv(name, value, overwrite) == 0, "set_env: '", name, "' is no name of a variable");
}
inline std::optional<std::string> get_env(const char* name) noexcept {
  const char* value = std::getenv(name);
  return value ? std::optional<std::string>(value) : std::nullopt;
}
inline bool has_env(const char* name) noexcept { return std::getenv(name) != nullptr; }
// True of 1, false of 0; nothing of another value, with a warning.
inline std::optional<bool> check_env(const char* name) {
  const std::optional<std::string> value = get_env(name);
  if (!value) return std::nullopt;
  if (*value == "0" || *value == "1") return *value == "1";
  TORCH_WARN(name, " is '", *value, "', which is neither 0 nor 1, and is left alone");
  return std::nullopt;
}

}  // namespace c10::utils
