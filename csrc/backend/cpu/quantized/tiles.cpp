#include "backend/cpu/quantized/tiles.h"

#include <algorithm>

#include "backend/cpu/engine/isa.h"

namespace taeda::cpu::quantized {

namespace {

const Tiles* choose() {
#if defined(__x86_64__)
  if (kIsa == Isa::Avx512 && __builtin_cpu_supports("avx512vnni"))
    return __builtin_cpu_supports("amx-int8") ? nullptr : &kVnniTiles;
  if (kIsa != Isa::Default) return &kAvx2Tiles;
#endif
  return nullptr;
}

uint8_t greatest(const uint8_t* elements, int64_t count) {
  constexpr int64_t kTogether = 64;
  uint8_t each[kTogether]{}, all = 0;
  for (; count >= kTogether; count -= kTogether, elements += kTogether)
    for (int64_t i = 0; i < kTogether; ++i) each[i] = std::max(each[i], elements[i]);
  for (uint8_t e : each) all = std::max(all, e);
  for (int64_t i = 0; i < count; ++i) all = std::max(all, elements[i]);
  return all;
}

bool all_small(const uint8_t* elements, int64_t count) {
  constexpr int64_t kPiece = 4096;
  for (int64_t i = 0; i < count; i += kPiece)
    if (greatest(elements + i, std::min(kPiece, count - i)) > kSmall) return false;
  return true;
}

}  // namespace

const Tiles& Tiles::fitting(const char* elements, int64_t count) const {
  return of_small && all_small(reinterpret_cast<const uint8_t*>(elements), count) ? *of_small : *this;
}

const Tiles* tiles() {
  static const Tiles* const chosen = choose();
  return chosen;
}

}  // namespace taeda::cpu::quantized
