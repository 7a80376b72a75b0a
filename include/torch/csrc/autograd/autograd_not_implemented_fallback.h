// Kernels under Autograd for ops that have no derivative, and what calls do whose op has no kernel there.
#pragma once
#include <taeda/autograd/undifferentiated.h>
#include <torch/library.h>

namespace torch::autograd {

using AutogradFallbackMode = ::taeda::autograd::Undifferentiated;
inline AutogradFallbackMode getAutogradFallbackMode() { return ::taeda::autograd::undifferentiated_mode(); }
inline void setAutogradFallbackMode(AutogradFallbackMode mode) { ::taeda::autograd::set_undifferentiated_mode(mode); }

// m.impl("mine", torch::autograd::autogradNotImplementedFallback()): a backward pass through the op raises.
inline torch::CppFunction autogradNotImplementedFallback() {
  return torch::CppFunction::makeFromBoxedKernel(::taeda::autograd::call_without_derivative);
}
// The same under ADInplaceOrView: writes are counted.
inline torch::CppFunction autogradNotImplementedInplaceOrViewFallback() {
  return torch::CppFunction::makeFromBoxedKernel(::taeda::autograd::call_counting_writes);
}

}  // namespace torch::autograd
