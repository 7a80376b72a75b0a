#include "taeda/core/generator.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <random>

#include "core/philox.h"

namespace taeda {
namespace {

// The state tensor of torch's CPU generator, field by field; found by saving states and looking.
struct CpuState {
  uint64_t seed;
  int32_t left;
  int32_t seeded;
  uint64_t next;
  std::array<uint64_t, Mt19937::kWords> words;  // 32 bits used of each
  double unused_normal_x;
  double cached_normal;
  double unused_normal_rho;
  int32_t has_cached_normal;
  int32_t padding;
  float cached_normal_float;
  uint32_t has_cached_normal_float;  // the lowest byte
};

struct PhiloxState {
  uint64_t seed;
  uint64_t offset;
  double cached_normal;
  uint64_t has_cached_normal;
};

template <class State>
std::vector<uint8_t> to_bytes(const State& state) {
  auto bytes = std::bit_cast<std::array<uint8_t, sizeof(State)>>(state);
  return {bytes.begin(), bytes.end()};
}

template <class State>
State from_bytes(std::span<const uint8_t> bytes) {
  TAEDA_CHECK(bytes.size() == sizeof(State), "the state of this generator has ", sizeof(State), " bytes; got ",
              bytes.size(), ". A state can only be loaded into the kind of generator that it was taken from");
  State state;
  std::memcpy(&state, bytes.data(), sizeof(State));
  return state;
}

}  // namespace

void Generator::manual_seed(uint64_t seed) {
  seed_ = seed;
  cached_normal.reset();
  restart();
}

uint64_t Generator::seed() {
  std::random_device entropy;
  uint64_t high = entropy();
  manual_seed(high << 32 | entropy());
  return seed_;
}

void Generator::copy_common(Generator& other) const {
  other.seed_ = seed_;
  other.cached_normal = cached_normal;
}

CPUGenerator::CPUGenerator(uint64_t seed) : Generator(Device{}), engine_(static_cast<uint32_t>(seed)) { seed_ = seed; }

void CPUGenerator::restart() {
  engine_ = Mt19937(static_cast<uint32_t>(seed_));
  cached_normal_float_.reset();
}

std::vector<uint8_t> CPUGenerator::get_state() const {
  static_assert(sizeof(CpuState) == kStateBytes && std::endian::native == std::endian::little);
  const Mt19937::State& engine = engine_.state();
  CpuState state{};
  state.seed = seed_;
  state.left = engine.left;
  state.seeded = 1;
  state.next = engine.next;
  for (int i = 0; i < Mt19937::kWords; ++i) state.words[i] = engine.words[i];
  state.cached_normal = cached_normal.value_or(0);
  state.has_cached_normal = cached_normal.has_value();
  state.cached_normal_float = cached_normal_float_.value_or(0);
  state.has_cached_normal_float = cached_normal_float_.has_value();
  return to_bytes(state);
}

void CPUGenerator::set_state(std::span<const uint8_t> bytes) {
  CpuState state = from_bytes<CpuState>(bytes);
  Mt19937::State engine;
  engine.left = state.left;
  engine.next = static_cast<uint32_t>(state.next);
  for (int i = 0; i < Mt19937::kWords; ++i) engine.words[i] = static_cast<uint32_t>(state.words[i]);
  TAEDA_CHECK(state.seeded != 0 && state.next <= Mt19937::kWords && engine.valid(),
              "these bytes are no state of a CPU generator: seeded ", state.seeded, ", left ", state.left, ", next ",
              state.next, "; wanted not 0, 1 to 624, 0 to 624");
  engine_ = Mt19937(engine);
  seed_ = state.seed;
  cached_normal.reset();
  cached_normal_float_.reset();
  if (state.has_cached_normal) cached_normal = state.cached_normal;
  if (state.has_cached_normal_float & 0xff) cached_normal_float_ = state.cached_normal_float;
}

Ref<Generator> CPUGenerator::clone() const {
  auto copy = make_ref<CPUGenerator>(seed_);
  copy->device_ = device_;  // a device of a program's own may draw as the CPU does
  copy->engine_ = engine_;
  copy->cached_normal_float_ = cached_normal_float_;
  copy_common(*copy);
  return copy;
}

PhiloxGenerator::PhiloxGenerator(uint64_t seed, Device device) : Generator(device) { seed_ = seed; }

std::vector<uint8_t> PhiloxGenerator::get_state() const {
  static_assert(sizeof(PhiloxState) == kStateBytes);
  return to_bytes(PhiloxState{seed_, offset_, cached_normal.value_or(0), cached_normal.has_value()});
}

void PhiloxGenerator::set_state(std::span<const uint8_t> bytes) {
  auto state = from_bytes<PhiloxState>(bytes);
  seed_ = state.seed;
  offset_ = state.offset;
  cached_normal.reset();
  if (state.has_cached_normal) cached_normal = state.cached_normal;
}

Ref<Generator> PhiloxGenerator::clone() const {
  auto copy = make_ref<PhiloxGenerator>(seed_, device());
  copy->offset_ = offset_;
  copy_common(*copy);
  return copy;
}

uint32_t PhiloxGenerator::next32() {
  uint32_t word = philox4x32(seed_, offset_ / 4)[offset_ % 4];
  ++offset_;
  return word;
}

void PhiloxGenerator::fill(uint32_t* out, int64_t n) {
  for (; n > 0 && offset_ % 4 != 0; --n) *out++ = next32();
  for (; n >= 4; n -= 4, out += 4, offset_ += 4) {
    auto words = philox4x32(seed_, offset_ / 4);
    std::memcpy(out, words.data(), sizeof words);
  }
  for (; n > 0; --n) *out++ = next32();
}

const Ref<Generator>& default_cpu_generator() {
  // Never destroyed: Python may draw numbers while the process ends.
  static const auto* generator = new Ref<Generator>(make_ref<CPUGenerator>());
  return *generator;
}

}  // namespace taeda
