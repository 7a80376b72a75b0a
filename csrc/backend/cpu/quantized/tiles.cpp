#include "backend/cpu/quantized/tiles.h"

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

}  // namespace

const Tiles* tiles() {
  static const Tiles* const chosen = choose();
  return chosen;
}

}  // namespace taeda::cpu::quantized
