// Whether a program wants no call of which PyTorch leaves the result open.
#pragma once
#include <string_view>

#include "taeda/core/error.h"

namespace taeda {

enum class Determinism { Open, Warns, Raises };
TAEDA_API Determinism determinism();
TAEDA_API void set_determinism(Determinism wanted);
// Warns or raises where that is wanted. The results are the same in each run here; another device's need not be.
TAEDA_API void alert_open_result(std::string_view why);

}  // namespace taeda
