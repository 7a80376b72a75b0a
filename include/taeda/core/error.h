// Errors of the core. A message says what was got and what was wanted; the name of the function that the user
// called is put before it where the call entered (see csrc/python/exceptions.h), so kernels never spell it.
#pragma once
#include <complex>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#define TAEDA_API __attribute__((visibility("default")))

namespace taeda {

// Which Python exception the error becomes.
enum class ErrorKind : uint8_t {
  Runtime,
  Value,
  Type,
  Index,
  NotImplemented,
  OutOfMemory,
  LinAlg,
  Key,
  Overflow,
  Assertion,
  Dist,  // what goes wrong between processes
  DistBackend,
  DistNetwork,
  DistStore,
  QueueEmpty
};

struct SourceLocation {
  const char* function;
  const char* file;
  uint32_t line;
};

class TAEDA_API Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) { compose(); }
  Error(const SourceLocation& place, std::string message) : Error(ErrorKind::Runtime, place, std::move(message)) {}
  Error(ErrorKind kind, const SourceLocation& place, std::string message);
  ErrorKind kind() const { return kind_; }
  const char* what() const noexcept override {
    return all_.c_str();
  }  // with the contexts, and the place that raised it
  const char* what_without_backtrace() const noexcept { return said_.c_str(); }  // with the contexts
  const std::string& msg() const noexcept { return message_; }
  const std::vector<std::string>& context() const noexcept { return contexts_; }
  void add_context(std::string more);
  // "taeda.add: " is put once, by the outermost named call.
  void name_function(std::string_view function);
  bool named() const { return named_; }

 private:
  void compose();
  ErrorKind kind_;
  bool named_ = false;
  std::string message_, place_, said_, all_;
  std::vector<std::string> contexts_;
};

TAEDA_API void append(std::string& out, std::string_view text);
TAEDA_API void append(std::string& out, int64_t number);
TAEDA_API void append(std::string& out, uint64_t number);
TAEDA_API void append(std::string& out, double number);
TAEDA_API void append(std::string& out, std::span<const int64_t> sizes);  // (2, 3)

template <class T>
void append_any(std::string& out, const T& value) {
  if constexpr (std::is_same_v<T, bool>)
    append(out, std::string_view(value ? "True" : "False"));
  else if constexpr (std::is_floating_point_v<T>)
    append(out, static_cast<double>(value));
  else if constexpr (std::is_integral_v<T> && std::is_unsigned_v<T>)
    append(out, static_cast<uint64_t>(value));
  else if constexpr (std::is_integral_v<T>)
    append(out, static_cast<int64_t>(value));
  else if constexpr (std::is_convertible_v<const T&, std::string_view>)
    append(out, std::string_view(value));
  else
    append(out, value);
}

// str("dimension ", 3, " of ", sizes): the parts one after another; sizes print as (2, 3).
template <class... Parts>
std::string str(const Parts&... parts) {
  std::string out;
  (append_any(out, parts), ...);
  return out;
}

[[noreturn]] TAEDA_API void fail(ErrorKind kind, std::string message);

#define TAEDA_FAIL(kind, ...) ::taeda::fail(::taeda::ErrorKind::kind, ::taeda::str(__VA_ARGS__))
#define TAEDA_CHECK_KIND(kind, condition, ...) \
  do {                                         \
    if (!(condition)) [[unlikely]]             \
      TAEDA_FAIL(kind, __VA_ARGS__);           \
  } while (0)
#define TAEDA_CHECK(condition, ...) TAEDA_CHECK_KIND(Runtime, condition, __VA_ARGS__)
#define TAEDA_CHECK_VALUE(condition, ...) TAEDA_CHECK_KIND(Value, condition, __VA_ARGS__)
#define TAEDA_CHECK_TYPE(condition, ...) TAEDA_CHECK_KIND(Type, condition, __VA_ARGS__)
#define TAEDA_CHECK_INDEX(condition, ...) TAEDA_CHECK_KIND(Index, condition, __VA_ARGS__)

}  // namespace taeda
