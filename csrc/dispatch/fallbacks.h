// What serves ops without a kernel for data of some kind. They call other ops, so they are defined above the
// dispatcher.
#pragma once
#include "taeda/dispatch/op.h"

namespace taeda {

TAEDA_API extern const Kernel quantized_kernel;  // quantized/fallback.cpp

}  // namespace taeda
