// Sources of random bits. A generator hands out 32-bit words; what an op makes of them is in the backends.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "taeda/core/device.h"
#include "taeda/core/error.h"
#include "taeda/core/fork.h"
#include "taeda/core/mt19937.h"
#include "taeda/core/refcount.h"

namespace taeda {

constexpr uint64_t kDefaultSeed = 67280421310721;

// Everything but the mutex must be called with the mutex held wherever another thread may use the generator.
class TAEDA_API Generator : public RefCounted {
 public:
  explicit Generator(Device device) : device_(device) {}

  Device device() const { return device_; }
  Mutex& mutex() { return mutex_; }
  Mutex mutex_;  // programs lock it by this name

  void manual_seed(uint64_t seed);
  uint64_t initial_seed() const { return seed_; }
  // Seeds from the system's entropy and returns the seed.
  uint64_t seed();

  virtual std::vector<uint8_t> get_state() const = 0;
  virtual void set_state(std::span<const uint8_t> bytes) = 0;
  virtual Ref<Generator> clone() const = 0;

  virtual uint32_t next32() = 0;
  virtual void fill(uint32_t* out, int64_t n) = 0;
  // Two words, the first one high.
  uint64_t next64() {
    uint64_t high = next32();
    return high << 32 | next32();
  }

  // The second number of a Box-Muller pair, kept for the next draw.
  std::optional<double> cached_normal;

 protected:
  virtual void restart() = 0;
  void copy_common(Generator& other) const;
  uint64_t seed_ = kDefaultSeed;

  Device device_;
};

// The default on CPU: MT19937 seeded with the low 32 bits. The state is the 5056 bytes of torch.get_rng_state().
class TAEDA_API CPUGenerator : public Generator {
 public:
  static constexpr size_t kStateBytes = 5056;

  explicit CPUGenerator(uint64_t seed = kDefaultSeed);
  std::vector<uint8_t> get_state() const override;
  void set_state(std::span<const uint8_t> bytes) override;
  Ref<Generator> clone() const override;
  uint32_t next32() override { return engine_.next(); }
  void fill(uint32_t* out, int64_t n) override { engine_.fill(out, n); }

 private:
  void restart() override;
  Mt19937 engine_;
  std::optional<float> cached_normal_float_;  // nothing here makes one; kept so that a loaded state is saved unchanged
};

// Counter-based, so that its place can be set: `offset` is the number of words drawn so far.
class TAEDA_API PhiloxGenerator final : public Generator {
 public:
  static constexpr size_t kStateBytes = 32;  // seed, offset, the cached normal, and whether there is one, 8 bytes each

  explicit PhiloxGenerator(uint64_t seed = kDefaultSeed, Device device = {});
  std::vector<uint8_t> get_state() const override;
  void set_state(std::span<const uint8_t> bytes) override;
  Ref<Generator> clone() const override;
  uint32_t next32() override;
  void fill(uint32_t* out, int64_t n) override;
  uint64_t offset() const { return offset_; }
  void set_offset(uint64_t words) { offset_ = words; }

 private:
  void restart() override { offset_ = 0; }
  uint64_t offset_ = 0;
};

// The one that ops on CPU use when none is given; it lives as long as the process.
TAEDA_API const Ref<Generator>& default_cpu_generator();

}  // namespace taeda
