#include "taeda/core/mt19937.h"

#include <algorithm>

#include "core/multiversion.h"

namespace taeda {
namespace {

constexpr int kWords = Mt19937::kWords, kShift = 397;

TAEDA_VERSIONED uint32_t twist(uint32_t high, uint32_t low) {
  uint32_t mixed = (high & 0x80000000u) | (low & 0x7fffffffu);
  return (mixed >> 1) ^ (-(low & 1u) & 0x9908b0dfu);
}

// Word k needs words k + 1 and k + 397 of the old block, or k - 227 of the new one: far enough for any vector.
TAEDA_VERSIONED void next_block_body(uint32_t* words) {
  for (int k = 0; k < kWords - kShift; ++k) words[k] = words[k + kShift] ^ twist(words[k], words[k + 1]);
#pragma GCC ivdep
  for (int k = kWords - kShift; k < kWords - 1; ++k)
    words[k] = words[k + kShift - kWords] ^ twist(words[k], words[k + 1]);
  words[kWords - 1] = words[kShift - 1] ^ twist(words[kWords - 1], words[0]);
}

TAEDA_VERSIONED void temper_block_body(const uint32_t* __restrict words, uint32_t* __restrict out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    uint32_t y = words[i];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    out[i] = y ^ (y >> 18);
  }
}

TAEDA_MULTIVERSION(void next_block(uint32_t* words), next_block_body(words))
TAEDA_MULTIVERSION(void temper_block(const uint32_t* words, uint32_t* out, int64_t n), temper_block_body(words, out, n))

}  // namespace

Mt19937::Mt19937(uint32_t seed) {
  uint32_t word = seed;
  for (uint32_t i = 0; i < kWords; ++i) {
    if (i > 0) word = 1812433253u * (word ^ (word >> 30)) + i;
    state_.words[i] = word;
  }
  state_.left = 1;
  state_.next = 0;
}

void Mt19937::refill() {
  next_block(state_.words.data());
  state_.left = kWords;
  state_.next = 0;
}

void Mt19937::fill(uint32_t* out, int64_t n) {
  while (n > 0) {
    if (state_.left == 1) {
      *out++ = next();
      --n;
      continue;
    }
    int32_t count = static_cast<int32_t>(std::min<int64_t>(n, state_.left - 1));
    temper_block(state_.words.data() + state_.next, out, count);
    state_.left -= count;
    state_.next += static_cast<uint32_t>(count);
    out += count;
    n -= count;
  }
}

}  // namespace taeda
