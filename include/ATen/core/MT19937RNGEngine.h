// Matsumoto and Nishimura's generator of random words (1998), as generators on the CPU run it.
#pragma once
#include <taeda/core/mt19937.h>

namespace at {

class mt19937 {
 public:
  explicit mt19937(uint64_t seed = 5489) : seed_(seed), engine_(static_cast<uint32_t>(seed)) {}
  uint32_t operator()() { return engine_.next(); }
  uint64_t seed() const { return seed_; }

 private:
  uint64_t seed_;
  ::taeda::Mt19937 engine_;
};

}  // namespace at
