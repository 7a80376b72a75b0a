// Warnings that concern a whole program: they show the first time only, unless it wants to see all.
#pragma once
#include <atomic>

#include "taeda/core/warn.h"

namespace taeda {

TAEDA_API void warn_once(std::atomic<bool>& warned, const std::string& message);

}  // namespace taeda
