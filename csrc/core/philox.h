// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
#pragma once
#include <array>
#include <cstdint>

namespace taeda {

// Four words that depend on key and counter only, so that any place of the stream is reached at once.
inline std::array<uint32_t, 4> philox4x32(uint64_t key, uint64_t counter, uint64_t subsequence = 0) {
  uint32_t c0 = static_cast<uint32_t>(counter), c1 = static_cast<uint32_t>(counter >> 32);
  uint32_t c2 = static_cast<uint32_t>(subsequence), c3 = static_cast<uint32_t>(subsequence >> 32);
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t left = uint64_t{0xd2511f53u} * c0, right = uint64_t{0xcd9e8d57u} * c2;
    c0 = static_cast<uint32_t>(right >> 32) ^ c1 ^ k0;
    c2 = static_cast<uint32_t>(left >> 32) ^ c3 ^ k1;
    c1 = static_cast<uint32_t>(right);
    c3 = static_cast<uint32_t>(left);
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  return {c0, c1, c2, c3};
}

}  // namespace taeda
