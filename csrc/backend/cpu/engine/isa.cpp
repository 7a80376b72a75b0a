#include "backend/cpu/engine/isa.h"

#include <cstdlib>
#include <string_view>

namespace taeda::cpu {

namespace {

Isa widest() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (avx2 && avx512) return Isa::Avx512;
  if (avx2) return Isa::Avx2;
#endif
  return Isa::Default;
}

Isa choose() {
  Isa best = widest();
  const char* text = std::getenv("TAEDA_CPU_CAPABILITY");
  if (!text) return best;
  std::string_view wish(text);
  Isa wanted = wish == "default" ? Isa::Default : wish == "avx2" ? Isa::Avx2 : best;
  return wanted < best ? wanted : best;
}

}  // namespace

const Isa kIsa = choose();

const char* isa_name() {
  constexpr const char* kNames[kIsas] = {"DEFAULT", "AVX2", "AVX512"};
  return kNames[static_cast<int>(kIsa)];
}

}  // namespace taeda::cpu
