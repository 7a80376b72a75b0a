// How much is checked and told: TORCH_DISTRIBUTED_DEBUG is OFF, INFO or DETAIL.
#pragma once
#include <c10/macros/Macros.h>

namespace c10d {

enum class DebugLevel { Off = 0, Info = 1, Detail = 2 };
TORCH_API void setDebugLevel(DebugLevel level);
TORCH_API void setDebugLevelFromEnvironment();  // RuntimeError for another word
TORCH_API DebugLevel debug_level() noexcept;

}  // namespace c10d
