// The Mersenne Twister MT19937 (Matsumoto and Nishimura, ACM TOMACS 8, 1998), 32-bit words.
#pragma once
#include <array>
#include <cstdint>

#include "taeda/core/error.h"

namespace taeda {

class TAEDA_API Mt19937 {
 public:
  static constexpr int kWords = 624;

  // What a saved generator holds. `left` counts down to the next refill, which happens when it reaches 0, and `next`
  // is the index of the next word: they add up to 625, except right after seeding (1 and 0).
  struct State {
    std::array<uint32_t, kWords> words;
    int32_t left;
    uint32_t next;
    bool valid() const { return left > 0 && left <= kWords && next <= kWords; }
  };

  explicit Mt19937(uint32_t seed);
  explicit Mt19937(const State& state) : state_(state) {}
  const State& state() const { return state_; }

  uint32_t next() {
    if (--state_.left == 0) refill();
    return temper(state_.words[state_.next++]);
  }
  // The same words as n calls of next(), several at a time.
  void fill(uint32_t* out, int64_t n);

 private:
  static uint32_t temper(uint32_t y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }
  void refill();

  State state_;
};

}  // namespace taeda
