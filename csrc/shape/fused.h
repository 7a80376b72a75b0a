// Gradients of pointwise ops in one pass: what a node tries before it calls the ops that its derivative is made of.
#pragma once
#include <atomic>

#include "shape/elementwise.h"

namespace taeda::fused {

// Fills `results` from `in`, which pass the rule of the kernel's op, on one device.
using Run = void (*)(shape::Operands in, Tensor* results, std::span<const Scalar> scalars);

// What a node asks for. A backend that has it brings it when the library is loaded; on others there is none.
struct Kernel {
  std::atomic<Run> on[kDeviceTypes] = {};
};
struct Bring {
  Bring(Kernel& kernel, DeviceType device, Run run) {
    kernel.on[static_cast<int>(device)].store(run, std::memory_order_release);
  }
};

// Makes `results` with the kernel of the device and returns true where calls of ops would go straight to real loops on
// it. False, with nothing done, while grad mode is on (the gradient's own history consists of ops), for complex
// operands, other layouts, a device without the kernel, and while anything else would see the calls: a mode, a
// subclass, a transform, a recorder. The first operand is a tensor.
TAEDA_API bool run(const Kernel& kernel, std::initializer_list<shape::Operand> in,
                   std::initializer_list<Tensor*> results, std::initializer_list<Scalar> scalars = {});

}  // namespace taeda::fused
