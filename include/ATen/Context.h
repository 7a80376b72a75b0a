// Settings of the process, and what this build has.
#pragma once
#include <atomic>

#include <ATen/Functions.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <taeda/core/determinism.h>
#include <taeda/core/parallel.h>

namespace at {

class Context {
 public:
  bool deterministicAlgorithms() const { return ::taeda::determinism() != ::taeda::Determinism::Open; }
  bool deterministicAlgorithmsWarnOnly() const { return ::taeda::determinism() == ::taeda::Determinism::Warns; }
  void setDeterministicAlgorithms(bool wanted, bool warn_only = false) {
    using ::taeda::Determinism;
    ::taeda::set_determinism(!wanted ? Determinism::Open : warn_only ? Determinism::Warns : Determinism::Raises);
  }
  // For kernels whose result varies from run to run: raises, or warns, where that is not wanted.
  static void alertNotDeterministic(std::string_view caller) {
    ::taeda::alert_open_result(c10::str(caller, " does not give the same result in each run"));
  }
  const Generator& defaultGenerator(Device device = kCPU) {
    if (device.is_privateuseone()) return detail::getPrivateUse1Hooks().getDefaultGenerator(device.index());
    TORCH_CHECK(device.is_cpu(), "defaultGenerator: there is none for ", device);
    return detail::getDefaultCPUGenerator();
  }
  const AcceleratorHooksInterface& getAcceleratorHooksInterface(std::optional<DeviceType> type = std::nullopt) {
    TORCH_CHECK(type.value_or(kPrivateUse1) == kPrivateUse1, "there are no hooks for ", *type);
    return detail::getPrivateUse1Hooks();
  }
  void lazyInitPrivateUse1() { detail::initPrivateUse1(); }

  // Remembered for those who ask; nothing here depends on them.
#define TAEDA_SWITCH(name, setter, initial)         \
  bool name() const { return name##_.load(); }      \
  void setter(bool value) { name##_.store(value); } \
                                                    \
 private:                                           \
  std::atomic<bool> name##_{initial};               \
                                                    \
 public:
  TAEDA_SWITCH(userEnabledCuDNN, setUserEnabledCuDNN, true)
  TAEDA_SWITCH(userEnabledMkldnn, setUserEnabledMkldnn, true)
  TAEDA_SWITCH(benchmarkCuDNN, setBenchmarkCuDNN, false)
  TAEDA_SWITCH(deterministicCuDNN, setDeterministicCuDNN, false)
  TAEDA_SWITCH(allowTF32CuDNN, setAllowTF32CuDNN, true)
  TAEDA_SWITCH(allowTF32CuBLAS, setAllowTF32CuBLAS, false)
  TAEDA_SWITCH(userEnabledFlashSDP, setSDPUseFlash, true)
  TAEDA_SWITCH(userEnabledMemEfficientSDP, setSDPUseMemEfficient, true)
  TAEDA_SWITCH(userEnabledMathSDP, setSDPUseMath, true)
#undef TAEDA_SWITCH

  static bool hasCUDA() { return at::hasCUDA(); }
  static bool hasMPS() { return at::hasMPS(); }
  static bool hasHIP() { return at::hasHIP(); }
  static bool hasXPU() { return at::hasXPU(); }
  static bool hasMKL() { return at::hasMKL(); }
  static bool hasMKLDNN() { return at::hasMKLDNN(); }
  static bool hasLAPACK() { return at::hasLAPACK(); }
  static bool setFlushDenormal(bool on) { return ::taeda::set_flush_denormal(on); }
  static bool hasOpenMP() { return at::hasOpenMP(); }
};
TORCH_API Context& globalContext();

}  // namespace at
