// Philox 4x32 (Salmon and others, 2011): random words by a key and a counter, so that threads need share no state.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>

namespace at {

class philox_engine {
 public:
  explicit philox_engine(uint64_t seed = 67280421310721, uint64_t subsequence = 0, uint64_t offset = 0) {
    reset_state(seed, subsequence);
    incr_n(offset);
  }
  void reset_state(uint64_t seed = 67280421310721, uint64_t subsequence = 0) {
    key_ = seed;
    offset_ = 0;
    subsequence_ = subsequence;
    next_ = 0;
  }
  void set_offset(uint64_t offset) { offset_ = offset; }
  uint64_t get_offset() const { return offset_; }
  // The counter has 128 bits: what overflows the offset goes into the subsequence.
  void incr_n(uint64_t n) {
    offset_ += n;
    if (offset_ < n) ++subsequence_;
  }
  void incr() { incr_n(1); }

  uint32_t operator()(int32_t rounds = 10) {
    if (next_ == 0) refill(static_cast<uint32_t>(rounds));
    const uint32_t word = words_[next_];
    next_ = (next_ + 1) % 4;
    return word;
  }
  // Of the normal distribution, by Box and Muller from the first two of four words, which it leaves where they are.
  float randn(uint32_t rounds) {
    if (next_ == 0) refill(rounds);
    const float length = 1 - uniform(words_[0]), angle = 1 - uniform(words_[1]);  // in (0, 1], whose logarithm exists
    return static_cast<float>(std::sqrt(-2.0 * std::log(length)) * std::cos(2.0 * 3.14159265358979323846 * angle));
  }

 private:
  static float uniform(uint32_t word) { return static_cast<float>(word & 0x7FFFFFFFU) * 4.6566127342e-10F; }

  void refill(uint32_t rounds) {
    uint32_t key[2] = {static_cast<uint32_t>(key_), static_cast<uint32_t>(key_ >> 32)};
    words_ = {static_cast<uint32_t>(offset_), static_cast<uint32_t>(offset_ >> 32), static_cast<uint32_t>(subsequence_),
              static_cast<uint32_t>(subsequence_ >> 32)};
    for (uint32_t round = 0; round < rounds; ++round) {
      const uint64_t a = uint64_t{0xD2511F53} * words_[0], b = uint64_t{0xCD9E8D57} * words_[2];
      words_ = {static_cast<uint32_t>(b >> 32) ^ words_[1] ^ key[0], static_cast<uint32_t>(b),
                static_cast<uint32_t>(a >> 32) ^ words_[3] ^ key[1], static_cast<uint32_t>(a)};
      key[0] += 0x9E3779B9;
      key[1] += 0xBB67AE85;
    }
    incr();
  }

  uint64_t key_, offset_, subsequence_;
  std::array<uint32_t, 4> words_{};
  uint32_t next_;
};
using Philox4_32 = philox_engine;

}  // namespace at
