// A maker of generators for a device of one's own, without hooks: REGISTER_GENERATOR_PRIVATEUSE1(make)
#pragma once
#include <functional>
#include <optional>

#include <ATen/core/Generator.h>

namespace at {

using GeneratorFuncType = std::function<Generator(c10::DeviceIndex)>;
TORCH_API std::optional<GeneratorFuncType>& GetGeneratorPrivate();
TORCH_API Generator GetGeneratorForPrivateuse1(c10::DeviceIndex device_index);  // RuntimeError if there is none
class TORCH_API _GeneratorRegister {
 public:
  explicit _GeneratorRegister(const GeneratorFuncType& func);
};

}  // namespace at

#define REGISTER_GENERATOR_PRIVATEUSE1(GeneratorPrivate) \
  static auto temp##GeneratorPrivate [[maybe_unused]] = ::at::_GeneratorRegister(GeneratorPrivate);
