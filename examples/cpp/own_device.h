// A device of one's own: memory, a guard, kernels, and the CPU for all ops that have none.
//
// The device is called "toy" and has two of itself. Its memory is the host's, so that kernels here can be plain loops;
// a real device would launch its own. own_device.cpp makes a library of it that Python loads.
#pragma once
#include <ATen/Context.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>
#include <torch/types.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

namespace toy {

// How often a kernel was called, by name.
inline std::mutex counts_mutex;
inline std::map<std::string, int64_t> counts;
inline int64_t calls(const std::string& name) {
  std::lock_guard lock(counts_mutex);
  return counts[name];
}
inline void count(const std::string& name) {
  std::lock_guard lock(counts_mutex);
  ++counts[name];
}

// 1. Memory.
inline std::atomic<int64_t> blocks{0};
inline int64_t live_blocks() { return blocks; }

inline thread_local c10::DeviceIndex current = 0;
inline c10::DeviceIndex current_device() { return current; }

struct Allocator final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    void* block = bytes ? std::malloc(bytes) : nullptr;
    if (block) ++blocks;
    return {block, block, &free_block, c10::Device(c10::DeviceType::PrivateUse1, current)};
  }
  static void free_block(void* block) {
    if (block) --blocks;
    std::free(block);
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_block; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }
};
inline Allocator allocator;
REGISTER_ALLOCATOR(c10::DeviceType::PrivateUse1, &allocator)

// 2. Which of the devices is the current one.
struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return c10::DeviceType::PrivateUse1; }
  c10::Device exchangeDevice(c10::Device device) const override {
    c10::Device before = getDevice();
    setDevice(device);
    return before;
  }
  c10::Device getDevice() const override { return c10::Device(c10::DeviceType::PrivateUse1, current); }
  void setDevice(c10::Device device) const override {
    TORCH_CHECK(device.index() < deviceCount(), "there are two devices; got index ", static_cast<int>(device.index()));
    current = std::max<c10::DeviceIndex>(device.index(), 0);
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    current = std::max<c10::DeviceIndex>(device.index(), 0);
  }
  c10::Stream getStream(c10::Device device) const override { return c10::Stream(c10::Stream::DEFAULT, device); }
  c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
  c10::DeviceIndex deviceCount() const noexcept override { return 2; }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

// 3. Kernels: of float, dense tensors; what else comes goes to the CPU.
inline bool is_plain(const at::Tensor& t) { return t.scalar_type() == at::kFloat && t.is_contiguous(); }

inline at::Tensor add(const at::Tensor& a, const at::Tensor& b, const at::Scalar& alpha) {
  count("add");
  TORCH_CHECK(a.device() == b.device() || a.dim() == 0 || b.dim() == 0, "toy: add takes tensors of one device; got ",
              a.device(), " and ", b.device());
  if (!is_plain(a) || !is_plain(b) || a.sizes() != b.sizes()) {
    at::Tensor host = at::add(a.cpu(), b.cpu(), alpha);
    return host.to(a.is_privateuseone() ? a.device() : b.device());
  }
  at::Tensor out = at::empty(a.sizes(), a.options());
  const float *x = a.const_data_ptr<float>(), *y = b.const_data_ptr<float>();
  float *z = out.mutable_data_ptr<float>(), by = alpha.to<float>();
  for (int64_t i = 0; i < a.numel(); ++i) z[i] = x[i] + by * y[i];
  return out;
}
inline at::Tensor mm(const at::Tensor& a, const at::Tensor& b) {
  count("mm");
  at::Tensor left = a.contiguous(), right = b.contiguous();
  const int64_t n = left.size(0), k = left.size(1), m = right.size(1);
  at::Tensor out = at::empty({n, m}, a.options());
  const float *x = left.const_data_ptr<float>(), *y = right.const_data_ptr<float>();
  float* z = out.mutable_data_ptr<float>();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j) {
      float sum = 0;
      for (int64_t l = 0; l < k; ++l) sum += x[i * k + l] * y[l * m + j];
      z[i * m + j] = sum;
    }
  }
  return out;
}
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("add.Tensor", &add);
  m.impl("mm", &mm);
}

// 4. Everything else: on the CPU, between two copies.
inline void fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  count("fallback");
  at::native::cpu_fallback(op, stack);
}
TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&fallback>()); }

// 5. Hooks: random bits, and memory of the host that the device reaches sooner.
struct Generator final : at::CPUGeneratorImpl {
  explicit Generator(c10::DeviceIndex index) {
    device_ = c10::Device(c10::DeviceType::PrivateUse1, std::max<c10::DeviceIndex>(index, 0));
  }
};
inline at::Tensor& uniform_(at::Tensor& self, double from, double to, std::optional<at::Generator> generator) {
  count("uniform_");
  const at::Generator& given = generator ? *generator : at::globalContext().defaultGenerator(self.device());
  auto* bits = given.get<Generator>();
  TORCH_CHECK(is_plain(self) && given.device() == self.device(), "toy: uniform_ fills contiguous floats of ",
              given.device(), "; got ", self.toString(), " on ", self.device());
  std::lock_guard lock(bits->mutex_);
  float* out = self.mutable_data_ptr<float>();
  const double step = (to - from) / 16777216;  // 24 bits
  for (int64_t i = 0; i < self.numel(); ++i) out[i] = static_cast<float>(from + step * (bits->random() >> 8));
  return self;
}
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("uniform_", &uniform_); }

struct PinnedAllocator final : c10::Allocator {
  std::mutex mutex;
  std::map<const char*, size_t> blocks;  // by their first byte
  c10::DataPtr allocate(size_t bytes) override;
  static void free_block(void* block);
  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }
  bool holds(const void* address) {
    std::lock_guard lock(mutex);
    auto after = blocks.upper_bound(static_cast<const char*>(address));
    if (after == blocks.begin()) return false;
    const auto& [block, bytes] = *std::prev(after);
    return static_cast<const char*>(address) < block + std::max<size_t>(bytes, 1);
  }
};
inline PinnedAllocator pinned;
inline c10::DataPtr PinnedAllocator::allocate(size_t bytes) {
  void* block = std::malloc(std::max<size_t>(bytes, 1));
  std::lock_guard lock(mutex);
  blocks[static_cast<char*>(block)] = bytes;
  return {block, block, &free_block, c10::Device(c10::DeviceType::CPU)};
}
inline void PinnedAllocator::free_block(void* block) {
  {
    std::lock_guard lock(pinned.mutex);
    pinned.blocks.erase(static_cast<char*>(block));
  }
  std::free(block);
}

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  void init() const override { count("init"); }
  c10::DeviceIndex deviceCount() const override { return 2; }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex index) const override {
    static const at::Generator generators[] = {getNewGenerator(0), getNewGenerator(1)};
    return generators[index < 0 ? current : index];
  }
  at::Generator getNewGenerator(c10::DeviceIndex index) const override { return at::make_generator<Generator>(index); }
  bool isPinnedPtr(const void* address) const override { return pinned.holds(address); }
  c10::Allocator* getPinnedMemoryAllocator() const override { return &pinned; }
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override {
    count("resize");
    PrivateUse1HooksInterface::resizePrivateUse1Bytes(storage, bytes);  // by the allocator
  }
};
inline const bool hooked = [] {
  at::RegisterPrivateUse1HooksInterface(new Hooks);
  return true;
}();

// 6. A name.
inline const bool named = [] {
  c10::register_privateuse1_backend("toy");
  return true;
}();

}  // namespace toy
