// The instruction set that the CPU kernels use, chosen once. TAEDA_CPU_CAPABILITY=default|avx2|avx512 lowers it.
#pragma once
#include "taeda/core/error.h"

namespace taeda::cpu {

enum class Isa : unsigned char { Default, Avx2, Avx512 };
constexpr int kIsas = 3;

TAEDA_API extern const Isa kIsa;
TAEDA_API const char* isa_name();  // as the environment variable spells it, in capitals as PyTorch prints it

// Tables that exist once per instruction set: their declarations, and the addresses of one in the order of Isa.
#if defined(__x86_64__)
#define TAEDA_PER_ISA(...) \
  namespace cpu {          \
  namespace baseline {     \
  __VA_ARGS__              \
  }                        \
  namespace avx2 {         \
  __VA_ARGS__              \
  }                        \
  namespace avx512 {       \
  __VA_ARGS__              \
  }                        \
  }
#define TAEDA_ISA_TABLES(table) {cpu::baseline::table, cpu::avx2::table, cpu::avx512::table}
#else
#define TAEDA_PER_ISA(...) \
  namespace cpu {          \
  namespace baseline {     \
  __VA_ARGS__              \
  }                        \
  }
#define TAEDA_ISA_TABLES(table) {cpu::baseline::table, cpu::baseline::table, cpu::baseline::table}
#endif

}  // namespace taeda::cpu
