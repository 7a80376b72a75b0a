// Warnings to the user. The binding raises them as Python warnings; a C++ program gets them on stderr, or takes them
// with a handler of its own.
#pragma once
#include <string>
#include <utility>
#include <variant>

#include "taeda/core/error.h"

namespace taeda {

class Warning {
 public:
  struct UserWarning {};
  struct DeprecationWarning {};
  using warning_variant_t = std::variant<UserWarning, DeprecationWarning>;

  Warning(warning_variant_t type, SourceLocation place, std::string message, bool verbatim = false)
      : type_(type), place_(place), message_(std::move(message)), verbatim_(verbatim) {}
  warning_variant_t type() const { return type_; }
  const SourceLocation& source_location() const { return place_; }
  const std::string& msg() const { return message_; }
  bool verbatim() const { return verbatim_; }

 private:
  warning_variant_t type_;
  SourceLocation place_;
  std::string message_;
  bool verbatim_;
};

// This one's process is the process's: Python's, or a line on stderr.
class TAEDA_API WarningHandler {
 public:
  virtual ~WarningHandler() = default;
  virtual void process(const Warning& warning);
};

TAEDA_API WarningHandler* thread_warning_handler();                  // this thread's
TAEDA_API void set_thread_warning_handler(WarningHandler* handler);  // null: the process's
TAEDA_API void set_warn_handler(void (*handler)(const Warning&));    // the process's, which may throw; null: stderr

TAEDA_API void warn(const Warning& warning);
TAEDA_API void warn(const std::string& message);
// While set, what warns once warns each time.
TAEDA_API bool warns_always();
TAEDA_API void set_warn_always(bool always);

}  // namespace taeda
