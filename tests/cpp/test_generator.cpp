#include <vector>

#include "backend/cpu/random/random_kernels.h"
#include "core/philox.h"
#include "taeda/core/generator.h"
#include "taeda/core/half.h"
#include "test_main.h"

using namespace taeda;

namespace {
std::vector<uint32_t> words(Generator& generator, int64_t n) {
  std::vector<uint32_t> out(n);
  generator.fill(out.data(), n);
  return out;
}

// Filling in pieces, one by one, from a clone and from a saved state all continue the same stream.
void check_stream(Generator& generator) {
  generator.manual_seed(9);
  std::vector<uint32_t> all = words(generator, 2000);
  generator.manual_seed(9);
  size_t at = 0;
  for (int64_t piece : {1, 3, 619, 1, 1, 624, 7}) {
    for (uint32_t word : words(generator, piece)) CHECK(word == all[at++]);
    CHECK(generator.next32() == all[at++]);
  }
  float odd[3];
  cpu::random::normal(generator, odd, 3, 0, 1);
  CHECK(generator.cached_normal.has_value());
  Ref<Generator> copy = generator.clone();
  std::vector<uint8_t> state = generator.get_state();
  CHECK(copy->get_state() == state);
  std::vector<uint32_t> rest = words(generator, 50);
  CHECK(words(*copy, 50) == rest);
  generator.set_state(state);
  CHECK(generator.cached_normal == copy->cached_normal && generator.initial_seed() == 9);
  CHECK(words(generator, 50) == rest);
}
}  // namespace

TEST(mt19937_gives_the_published_words) {
  Mt19937 engine(5489);
  CHECK(engine.next() == 3499211612u);
  for (int i = 2; i < 10000; ++i) engine.next();
  CHECK(engine.next() == 4123659995u);  // the C++ standard's known 10000th value
}

TEST(philox_gives_the_published_words) {
  CHECK((philox4x32(0, 0) == std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  CHECK((philox4x32(~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}) ==
         std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(generators_continue_their_stream) {
  CPUGenerator twister;
  PhiloxGenerator philox;
  check_stream(twister);
  check_stream(philox);
}

TEST(philox_goes_to_any_place) {
  PhiloxGenerator generator(3);
  std::vector<uint32_t> all = words(generator, 100);
  generator.set_offset(37);
  CHECK(generator.next32() == all[37]);
}
