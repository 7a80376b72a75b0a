// What serves ops without a kernel for data of some kind, or without a derivative. They call other ops, so they are
// defined above the dispatcher.
#pragma once
#include "taeda/dispatch/op.h"

namespace taeda {

TAEDA_API extern const Kernel quantized_kernel;         // quantized/fallback.cpp
TAEDA_API extern const Kernel undifferentiated_kernel;  // autograd/undifferentiated.cpp

}  // namespace taeda
