// Settings of a program, by --name=value on its command line: FLAGS_name.
//
//   C10_DEFINE_int(steps, 100, "how many steps");
//   int main(int argc, char** argv) { c10::ParseCommandLineFlags(&argc, &argv); run(FLAGS_steps); }
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include <c10/macros/Macros.h>

namespace c10 {

TORCH_API void SetUsageMessage(const std::string& text);
TORCH_API const char* UsageMessage();
// Takes what it knows out of the arguments; false, and what is wrong on standard error, where one is unknown or has no
// value. --help prints the flags and ends the program.
TORCH_API bool ParseCommandLineFlags(int* argc, char*** argv);
TORCH_API bool CommandLineFlagsHasBeenParsed();

namespace detail {
// Sets the flag from text; false where that is no value of its type.
struct FlagEntry {
  std::string help;
  std::function<bool(const std::string&)> set;
  bool is_switch;
};
TORCH_API std::map<std::string, FlagEntry>& flags();
TORCH_API bool parse_flag(const std::string& text, int& value);
TORCH_API bool parse_flag(const std::string& text, int64_t& value);
TORCH_API bool parse_flag(const std::string& text, double& value);
TORCH_API bool parse_flag(const std::string& text, bool& value);
TORCH_API bool parse_flag(const std::string& text, std::string& value);

template <class T>
bool add_flag(const char* name, const char* help, T& value) {
  flags()[name] = {help, [&value](const std::string& text) { return parse_flag(text, value); },
                   std::is_same_v<T, bool>};
  return true;
}
}  // namespace detail

}  // namespace c10

#define C10_DEFINE_typed_var(type, name, initial, help) \
  type FLAGS_##name = initial;                          \
  static const bool flag_##name##_is_known [[maybe_unused]] = ::c10::detail::add_flag(#name, help, FLAGS_##name)
#define C10_DEFINE_int(name, initial, help) C10_DEFINE_typed_var(int, name, initial, help)
#define C10_DEFINE_int32(name, initial, help) C10_DEFINE_int(name, initial, help)
#define C10_DEFINE_int64(name, initial, help) C10_DEFINE_typed_var(int64_t, name, initial, help)
#define C10_DEFINE_double(name, initial, help) C10_DEFINE_typed_var(double, name, initial, help)
#define C10_DEFINE_bool(name, initial, help) C10_DEFINE_typed_var(bool, name, initial, help)
#define C10_DEFINE_string(name, initial, help) C10_DEFINE_typed_var(std::string, name, initial, help)
#define C10_DECLARE_typed_var(type, name) extern type FLAGS_##name
#define C10_DECLARE_int(name) C10_DECLARE_typed_var(int, name)
#define C10_DECLARE_int32(name) C10_DECLARE_int(name)
#define C10_DECLARE_int64(name) C10_DECLARE_typed_var(int64_t, name)
#define C10_DECLARE_double(name) C10_DECLARE_typed_var(double, name)
#define C10_DECLARE_bool(name) C10_DECLARE_typed_var(bool, name)
#define C10_DECLARE_string(name) C10_DECLARE_typed_var(std::string, name)
