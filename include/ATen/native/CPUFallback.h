// For devices that lack a kernel: an op on the CPU, between two copies.
#pragma once
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace at::native {

// Takes the op's arguments from the stack and leaves its results there, on the device that they came from. What the op
// writes to is written back. With error_on_views, an op whose result is a view is an error, since it would be none.
TORCH_API void cpu_fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack, bool error_on_views = false);

}  // namespace at::native
