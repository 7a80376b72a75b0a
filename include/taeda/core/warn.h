// Warnings to the user. The binding raises them as Python warnings; a C++ program gets them on stderr.
#pragma once
#include <string>

#include "taeda/core/error.h"

namespace taeda {

using WarnHandler = void (*)(const std::string& message);
// Null restores stderr. The handler may throw: a warning that Python turned into an error.
TAEDA_API void set_warn_handler(WarnHandler handler);
TAEDA_API void warn(const std::string& message);

}  // namespace taeda
