// One batch over several devices: each has a copy of the module and computes a part.
#pragma once
#include <torch/nn/module.h>

#include <future>

namespace torch::nn::parallel {

// A copy of the module on each device. The gradients of the copies are added to the module's.
template <class ModuleType>
std::vector<std::shared_ptr<ModuleType>> replicate(const std::shared_ptr<ModuleType>& module,
                                                   const std::vector<Device>& devices) {
  std::vector<std::shared_ptr<ModuleType>> replicas;
  const std::vector<Tensor> originals = module->parameters();
  for (const Device& device : devices) {
    auto replica = std::dynamic_pointer_cast<ModuleType>(module->clone(device));
    std::vector<Tensor> copies = replica->parameters();
    for (size_t i = 0; i < copies.size(); ++i) {
      if (!copies[i].requires_grad()) continue;
      copies[i].register_hook([original = originals[i]](Tensor grad) {
        NoGradGuard no_grad;
        Tensor here = grad.to(original.device());
        Tensor& sum = original.mutable_grad();
        sum = sum.defined() ? sum + here : here.clone();
      });
    }
    replicas.push_back(std::move(replica));
  }
  return replicas;
}

// What each module makes of its input, at the same time.
template <class ModuleType>
std::vector<Tensor> parallel_apply(std::vector<ModuleType>& modules, const std::vector<Tensor>& inputs,
                                   const std::optional<std::vector<Device>>& devices = std::nullopt) {
  TORCH_CHECK(modules.size() == inputs.size(), "parallel_apply: there are ", modules.size(), " modules and ",
              inputs.size(), " inputs");
  const bool recorded = GradMode::is_enabled();
  std::vector<std::future<Tensor>> running;
  for (size_t i = 0; i < modules.size(); ++i)
    running.push_back(std::async(std::launch::async, [&, i] {
      AutoGradMode mode(recorded);
      Tensor made = modules[i]->forward(inputs[i]);
      return devices ? made.to((*devices)[i]) : made;
    }));
  std::vector<Tensor> outputs;
  for (std::future<Tensor>& each : running) outputs.push_back(each.get());
  return outputs;
}

// The module's result for input, cut along dim over the devices; backward() reaches the module's parameters.
template <class ModuleType>
Tensor data_parallel(ModuleType module, Tensor input, std::optional<std::vector<Device>> devices = std::nullopt,
                     std::optional<Device> output_device = std::nullopt, int64_t dim = 0) {
  if (!devices) devices = std::vector<Device>{Device(kCPU)};
  TORCH_CHECK(!devices->empty(), "data_parallel: expected at least one device");
  const Device to = output_device.value_or(devices->front());
  if (devices->size() == 1) return module->forward(input.to(devices->front())).to(to);
  std::vector<Tensor> parts = input.chunk(static_cast<int64_t>(devices->size()), dim);
  devices->resize(parts.size());
  auto replicas = replicate(module.ptr(), *devices);
  for (size_t i = 0; i < parts.size(); ++i) parts[i] = parts[i].to((*devices)[i]);
  std::vector<Tensor> outputs = parallel_apply(replicas, parts);
  for (Tensor& output : outputs) output = output.to(to);
  return torch::cat(outputs, dim);
}

}  // namespace torch::nn::parallel
