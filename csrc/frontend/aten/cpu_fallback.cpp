#include <ATen/native/CPUFallback.h>

namespace at::native {

namespace {

using c10::IValue;

bool is_elsewhere(const Tensor& t) { return t.defined() && !t.is_cpu() && !t.is_meta(); }

// One call: where its tensors came from, and which of them have a copy here.
struct Call {
  std::optional<c10::Device> device;
  std::vector<std::pair<Tensor, Tensor>> copies;  // there, here

  Tensor here(const Tensor& t) {
    if (!is_elsewhere(t)) return t;
    if (!device) device = t.device();
    for (const auto& [there, copy] : copies)
      if (there.is_same(t)) return copy;
    copies.emplace_back(t, t.to(c10::Device(c10::kCPU)));
    return copies.back().second;
  }
  IValue here(const IValue& value) {
    if (value.isTensor()) return here(value.toTensor());
    if (value.isTensorList()) {
      std::vector<Tensor> moved;
      for (const Tensor& t : value.toTensorVector()) moved.push_back(here(t));
      return moved;
    }
    if (value.isDevice() && !value.toDevice().is_cpu() && !value.toDevice().is_meta()) {
      if (!device) device = value.toDevice();
      return c10::Device(c10::kCPU);
    }
    return value;
  }
  // A result that is an argument is that argument; a new one goes where the arguments were.
  Tensor there(const Tensor& t) const {
    for (const auto& [original, copy] : copies)
      if (copy.is_same(t)) return original;
    return device && t.defined() ? t.to(*device) : t;
  }
  IValue there(const IValue& value) const {
    if (value.isTensor()) return there(value.toTensor());
    if (value.isTensorList()) {
      std::vector<Tensor> moved;
      for (const Tensor& t : value.toTensorVector()) moved.push_back(there(t));
      return moved;
    }
    return value;
  }
};

}  // namespace

void cpu_fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack, bool error_on_views) {
  const c10::FunctionSchema schema = op.schema();
  const size_t count = schema.arguments().size(), base = stack->size() - count;
  Call call;
  std::vector<Tensor> written;
  for (size_t i = 0; i < count; ++i) {
    IValue& value = (*stack)[base + i];
    const auto* alias = schema.arguments()[i].alias_info();
    TORCH_CHECK(!alias || alias->isWrite() || !error_on_views, op.operator_name(),
                " gives a view, which cannot be made by way of the CPU: the device must have a kernel of it");
    if (alias && alias->isWrite()) {
      if (value.isTensor()) written.push_back(value.toTensor());
      if (value.isTensorList())
        for (const Tensor& t : value.toTensorVector()) written.push_back(t);
    }
    value = call.here(value);
  }
  op.callBoxed(stack);
  for (const Tensor& target : written) {
    if (!is_elsewhere(target)) continue;
    const Tensor here = call.here(target);
    if (target.sizes() != here.sizes()) Tensor(target).resize_(here.sizes());
    Tensor(target).copy_(here);
  }
  for (size_t i = base; i < stack->size(); ++i) (*stack)[i] = call.there((*stack)[i]);
}

}  // namespace at::native
