// Sources of random bits.
#pragma once
#include <mutex>

#include <ATen/core/MT19937RNGEngine.h>
#include <c10/core/Device.h>
#include <c10/core/DispatchKey.h>
#include <c10/util/intrusive_ptr.h>
#include <taeda/core/generator.h>

namespace c10 {
using GeneratorImpl = ::taeda::Generator;
constexpr uint64_t default_rng_seed_val = ::taeda::kDefaultSeed;
}  // namespace c10

namespace at {

class Tensor;

class Generator {
 public:
  Generator() = default;
  Generator(::taeda::Ref<::taeda::Generator> impl) : impl_(std::move(impl)) {}
  explicit Generator(c10::intrusive_ptr<c10::GeneratorImpl> impl) : impl_(std::move(impl)) {}

  bool defined() const { return static_cast<bool>(impl_); }
  const ::taeda::Ref<::taeda::Generator>& ref() const { return impl_; }
  c10::GeneratorImpl* unsafeGetGeneratorImpl() const { return impl_.get(); }
  c10::intrusive_ptr<c10::GeneratorImpl> getIntrusivePtr() const { return impl_; }
  void set_current_seed(uint64_t seed) { impl_->manual_seed(seed); }
  uint64_t current_seed() const { return impl_->initial_seed(); }
  uint64_t seed() { return impl_->seed(); }
  std::mutex& mutex() const { return impl_->mutex(); }
  c10::Device device() const { return impl_->device(); }
  // The bytes of torch.get_rng_state().
  TORCH_API Tensor get_state() const;
  TORCH_API void set_state(const Tensor& state);
  Generator clone() const { return impl_->clone(); }
  template <class T>
  T* get() const {
    return static_cast<T*>(impl_.get());
  }
  friend bool operator==(const Generator& a, const Generator& b) { return a.impl_ == b.impl_; }

 private:
  ::taeda::Ref<::taeda::Generator> impl_;
};

// The generator of the CPU, with the draws that kernels of one's own ask for. It has no data of its own, so that any
// generator of the CPU may be seen as one. A device that draws as the CPU does derives from it and sets device_.
struct CPUGeneratorImpl : ::taeda::CPUGenerator {
  explicit CPUGeneratorImpl(uint64_t seed = c10::default_rng_seed_val) : CPUGenerator(seed) {}
  uint32_t random() { return next32(); }
  uint64_t random64() { return next64(); }
  uint64_t current_seed() const { return initial_seed(); }
  void set_current_seed(uint64_t seed) { manual_seed(seed); }
  std::mutex& mutex_ref() { return mutex(); }
  static c10::DeviceType device_type() { return c10::DeviceType::CPU; }

 protected:
  static inline thread_local c10::DispatchKeySet key_set_;  // set by those who derive; the device says all
};

namespace detail {
inline const Generator& getDefaultCPUGenerator() {
  static const Generator* generator = new Generator(::taeda::default_cpu_generator());
  return *generator;
}
inline Generator createCPUGenerator(uint64_t seed = c10::default_rng_seed_val) {
  return Generator(::taeda::make_ref<::taeda::CPUGenerator>(seed));
}
inline ::taeda::Ref<::taeda::Generator> generator_or_none(const std::optional<Generator>& generator) {
  return generator ? generator->ref() : nullptr;
}
}  // namespace detail

template <class Impl, class... Args>
Generator make_generator(Args&&... args) {
  using Made = std::conditional_t<std::is_same_v<Impl, CPUGeneratorImpl>, ::taeda::CPUGenerator, Impl>;
  return Generator(::taeda::Ref<::taeda::Generator>(::taeda::make_ref<Made>(std::forward<Args>(args)...)));
}
template <class T>
T* check_generator(const std::optional<Generator>& generator) {
  TORCH_CHECK(generator && generator->defined(), "expected a generator, and there is none");
  TORCH_CHECK(generator->device().type() == T::device_type(), "expected a generator on ", T::device_type(),
              "; got one on ", generator->device());
  return generator->get<T>();
}
template <class T>
T* get_generator_or_default(const std::optional<Generator>& generator, const Generator& otherwise) {
  return generator && generator->defined() ? check_generator<T>(generator) : check_generator<T>(otherwise);
}
inline const Generator& globalGeneratorOf() { return detail::getDefaultCPUGenerator(); }

}  // namespace at
