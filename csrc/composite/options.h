// How a tensor that an op creates shall be.
#pragma once
#include <optional>

#include "taeda/core/tensor.h"

namespace taeda::composite {

struct Options {
  std::optional<DType> dtype;
  std::optional<Layout> layout;
  std::optional<Device> device;
  std::optional<bool> pin_memory;
};

}  // namespace taeda::composite
